//! Which statement runs on which connection, so that a cancel request finds the right one and no other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rand::RngCore;
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

/// Every connection that has a session.
#[derive(Debug, Default)]
pub(crate) struct Backends(Mutex<HashMap<i32, Backend>>);

struct Backend {
    key: Bytes,
    running: Arc<Running>,
}

// The key is what makes a cancel request be believed, so it is never printed.
impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend").field("running", &self.running).finish_non_exhaustive()
    }
}

/// The statement that a connection runs at this moment, if any.
#[derive(Debug, Default)]
struct Running(Mutex<Option<CancellationToken>>);

/// A connection's place among the backends, given up when dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    backends: Arc<Backends>,
    running: Arc<Running>,
    pub(crate) pid: i32,
    pub(crate) key: Bytes,
}

/// While it lives, cancel requests reach its statement.
#[derive(Debug)]
pub(crate) struct RunningStatement(Arc<Running>);

impl Backends {
    pub(crate) fn register(self: &Arc<Self>, key_bytes: usize) -> Registration {
        let mut rng = rand::rng();
        let mut key = vec![0; key_bytes];
        rng.fill_bytes(&mut key);
        let key = Bytes::from(key);
        let running = Arc::new(Running::default());
        let mut backends = lock(&self.0);
        let pid = loop {
            let pid = i32::try_from(rng.next_u32() >> 1).unwrap_or(1);
            if pid != 0 && !backends.contains_key(&pid) {
                break pid;
            }
        };
        backends.insert(pid, Backend { key: key.clone(), running: Arc::clone(&running) });
        drop(backends);
        Registration { backends: Arc::clone(self), running, pid, key }
    }

    /// Cancels what the connection runs now, if the key is hers; nothing is told either way.
    pub(crate) fn cancel(&self, pid: i32, key: &[u8]) {
        let backends = lock(&self.0);
        let Some(backend) = backends.get(&pid) else { return };
        if bool::from(backend.key.as_ref().ct_eq(key)) {
            backend.running.cancel();
        }
    }

    pub(crate) fn cancel_all(&self) {
        for backend in lock(&self.0).values() {
            backend.running.cancel();
        }
    }
}

impl Registration {
    pub(crate) fn run(&self, cancel: CancellationToken) -> RunningStatement {
        *lock(&self.running.0) = Some(cancel);
        RunningStatement(Arc::clone(&self.running))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        lock(&self.backends.0).remove(&self.pid);
    }
}

impl Running {
    fn cancel(&self) {
        if let Some(token) = lock(&self.0).as_ref() {
            token.cancel();
        }
    }
}

impl Drop for RunningStatement {
    fn drop(&mut self) {
        *lock(&self.0.0) = None;
    }
}

/// Nothing that holds these locks can leave a half-made value behind, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancel_needs_pid_and_key_and_reaches_only_a_running_statement() {
        let backends = Arc::new(Backends::default());
        let (mine, other) = (backends.register(4), backends.register(4));
        let (token, other_token) = (CancellationToken::new(), CancellationToken::new());
        let statement = mine.run(token.clone());
        let _other_statement = other.run(other_token.clone());
        let mut wrong = mine.key.to_vec();
        wrong[0] ^= 1;
        backends.cancel(mine.pid, &wrong);
        backends.cancel(mine.pid, &[]);
        assert!(!token.is_cancelled());
        backends.cancel(mine.pid, &mine.key);
        assert!(token.is_cancelled() && !other_token.is_cancelled());
        drop(statement);
        let next = CancellationToken::new();
        backends.cancel(mine.pid, &mine.key);
        let _statement = mine.run(next.clone());
        assert!(!next.is_cancelled());
    }
}
