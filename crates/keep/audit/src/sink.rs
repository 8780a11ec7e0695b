//! Where records go: a file of JSON lines, or memory.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{AuditError, AuditRecord};

/// Takes records, one after the other, on the log's own thread.
pub trait AuditSink: Send {
    /// Hands the record to the operating system, or whatever stands there. After an error it is called again with
    /// the same record.
    fn write(&mut self, record: &AuditRecord) -> io::Result<()>;

    /// Returns when everything written would survive a power cut.
    fn sync(&mut self) -> io::Result<()>;
}

/// Appends JSON lines to a file, each in one write as soon as it comes.
#[derive(Debug)]
pub struct FileSink {
    file: File,
    /// Whether the last write failed and may have left a part of a line.
    is_torn: bool,
}

impl FileSink {
    /// Opens the file to append to it. A new one can be read by its owner alone; folders that lack are made.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        open_private(path)
            .map(|file| Self { file, is_torn: false })
            .map_err(|source| AuditError::Open { path: path.to_owned(), source })
    }
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut folder = DirBuilder::new();
    let mut options = OpenOptions::new();
    folder.recursive(true);
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folder.mode(0o700);
        options.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        folder.create(parent)?;
    }
    options.open(path)
}

impl AuditSink for FileSink {
    fn write(&mut self, record: &AuditRecord) -> io::Result<()> {
        let mut line = Vec::new();
        if self.is_torn {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, record).map_err(io::Error::other)?;
        line.push(b'\n');
        let written = self.file.write_all(&line);
        self.is_torn = written.is_err();
        written
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Keeps records in memory; clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemorySink(Arc<Mutex<Vec<AuditRecord>>>);

impl MemorySink {
    /// Everything taken so far. Ask the log to flush first.
    pub fn records(&self) -> Vec<AuditRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl AuditSink for MemorySink {
    fn write(&mut self, record: &AuditRecord) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
