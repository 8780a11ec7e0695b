//! One process per data folder.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::ServerError;

const LOCK_FILE: &str = "sluice.lock";

/// Holds a data folder for this process; dropped, or with the process, it is free again.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    // The lock is the file's, so the file stays open.
    _lock: File,
}

impl DataDir {
    /// Makes the folder where it is not there, and takes it.
    pub(crate) fn take(path: &Path) -> Result<Self, ServerError> {
        let failed = |source| ServerError::DataDir { path: path.to_owned(), source };
        let mut folder = DirBuilder::new();
        folder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            // Policies, password verifiers and table data are in here.
            folder.mode(0o700);
        }
        folder.create(path).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path.join(LOCK_FILE)).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                return Err(ServerError::InUse { path: path.to_owned(), pid: holder.trim().parse().ok() });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // For the reader of the other process's error; the lock holds without it.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { path: path.to_owned(), _lock: file })
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_by_one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let held = DataDir::take(&path).unwrap();
        let message = DataDir::take(&path).unwrap_err().to_string();
        assert!(message.contains(&path.display().to_string()), "{message}");
        assert!(message.contains(&std::process::id().to_string()), "{message}");
        drop(held);
        assert!(DataDir::take(&path).is_ok());
    }
}
