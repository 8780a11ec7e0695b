//! The queue between those who decide and the thread that writes it down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::limits::{FULL_QUEUE_MS, QUEUE_RECORDS_MAX, RETRY_MS};
use crate::{AuditError, AuditRecord, AuditSink};

/// Takes records and has them written by a thread of its own, in the order they came.
///
/// Nothing is dropped silently. [`AuditLog::record`] only puts the record in a queue and returns at once; when the
/// queue is full it blocks until there is room. While a sink fails, the record that failed is tried again and again
/// and new ones are refused, so that nothing is decided that cannot be told. Dropping the log waits for the queue.
#[derive(Debug)]
pub struct AuditLog {
    queue: Option<SyncSender<Message>>,
    writer: Option<JoinHandle<()>>,
    health: Arc<Health>,
    sequence: AtomicU64,
}

#[derive(Debug, Default)]
struct Health {
    is_failing: AtomicBool,
    is_closing: AtomicBool,
}

enum Message {
    Record(Box<AuditRecord>),
    /// Write it, make it durable, then answer.
    Durable(Box<AuditRecord>, SyncSender<bool>),
    /// Make everything before durable, then answer.
    Flush(SyncSender<bool>),
}

impl AuditLog {
    /// Starts the writer; every record goes to every sink.
    pub fn start(sinks: Vec<Box<dyn AuditSink>>) -> Result<Self, AuditError> {
        let (queue, messages) = sync_channel(QUEUE_RECORDS_MAX);
        let health = Arc::new(Health::default());
        let mut writer = Writer { sinks, health: Arc::clone(&health) };
        let thread = thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || writer.run(&messages))
            .map_err(AuditError::Start)?;
        Ok(Self { queue: Some(queue), writer: Some(thread), health, sequence: AtomicU64::new(0) })
    }

    /// Hands a record over; it is with the operating system soon after.
    pub fn record(&self, record: AuditRecord) -> Result<(), AuditError> {
        self.send(Message::Record(self.numbered(record)))
    }

    /// Hands a record over and waits until it is durable, as an edit's must be before the edit is told done.
    ///
    /// This takes as long as the disk does. On an error the record is kept and tried again.
    pub fn record_durably(&self, record: AuditRecord) -> Result<(), AuditError> {
        let (answer, answered) = sync_channel(1);
        self.send(Message::Durable(self.numbered(record), answer))?;
        wait(&answered)
    }

    /// Waits until everything handed over before is durable.
    pub fn flush(&self) -> Result<(), AuditError> {
        let (answer, answered) = sync_channel(1);
        self.send(Message::Flush(answer))?;
        wait(&answered)
    }

    /// Whether a sink refuses records at the moment.
    pub fn is_failing(&self) -> bool {
        self.health.is_failing.load(Ordering::Acquire)
    }

    fn numbered(&self, mut record: AuditRecord) -> Box<AuditRecord> {
        record.sequence = self.sequence.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if record.id.is_empty() {
            record.id = format!("{}-{}", record.query_id, record.sequence);
        }
        Box::new(record)
    }

    fn send(&self, mut message: Message) -> Result<(), AuditError> {
        let queue = self.queue.as_ref().ok_or(AuditError::Unavailable)?;
        loop {
            if self.is_failing() {
                return Err(AuditError::Unavailable);
            }
            match queue.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(AuditError::Unavailable),
                Err(TrySendError::Full(back)) => message = back,
            }
            thread::park_timeout(Duration::from_millis(FULL_QUEUE_MS));
        }
    }
}

fn wait(answered: &Receiver<bool>) -> Result<(), AuditError> {
    match answered.recv() {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(AuditError::Unavailable),
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.health.is_closing.store(true, Ordering::Release);
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            writer.thread().unpark();
            if writer.join().is_err() {
                tracing::error!("the audit writer ended in a panic");
            }
        }
    }
}

struct Writer {
    sinks: Vec<Box<dyn AuditSink>>,
    health: Arc<Health>,
}

impl Writer {
    fn run(&mut self, messages: &Receiver<Message>) {
        while let Ok(message) = messages.recv() {
            match message {
                Message::Record(record) => self.persist(&record, None),
                Message::Durable(record, answer) => self.persist(&record, Some(&answer)),
                Message::Flush(answer) => tell(&answer, self.sync()),
            }
        }
        self.sync();
    }

    /// Writes to every sink, again and again until each has taken it or the log is closed.
    ///
    /// Who waits for it to be durable is answered after the first try.
    fn persist(&mut self, record: &AuditRecord, mut answer: Option<&SyncSender<bool>>) {
        let mut pending: Vec<usize> = (0..self.sinks.len()).collect();
        loop {
            pending.retain(|idx| !self.try_write(*idx, record));
            let is_done = pending.is_empty();
            self.health.is_failing.store(!is_done, Ordering::Release);
            if let Some(answer) = answer.take() {
                tell(answer, is_done && self.sync());
            }
            if is_done {
                return;
            }
            if self.health.is_closing.load(Ordering::Acquire) {
                tracing::error!(
                    id = record.id,
                    query_id = record.query_id,
                    "an audit record was lost at shutdown"
                );
                return;
            }
            thread::park_timeout(Duration::from_millis(RETRY_MS));
        }
    }

    fn try_write(&mut self, idx: usize, record: &AuditRecord) -> bool {
        let Some(sink) = self.sinks.get_mut(idx) else {
            return true;
        };
        match sink.write(record) {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(%error, id = record.id, "an audit sink does not take a record");
                false
            }
        }
    }

    fn sync(&mut self) -> bool {
        let mut is_synced = true;
        for sink in &mut self.sinks {
            if let Err(error) = sink.sync() {
                tracing::error!(%error, "an audit sink cannot be synced");
                is_synced = false;
            }
        }
        is_synced
    }
}

/// The one who asked may have gone; then nobody needs the answer.
fn tell(answer: &SyncSender<bool>, is_done: bool) {
    if answer.send(is_done).is_err() {
        tracing::debug!("nobody waits for the audit log's answer");
    }
}

#[cfg(test)]
mod tests;
