//! Keeps policies, roles and users by version and hands out snapshots: the port, and a backend in memory.

#[cfg(any(test, feature = "test"))]
pub mod contract;

mod error;
mod governed;
mod memory;
mod port;

pub use error::StoreError;
pub use governed::{Governed, GovernedEntry, GovernedKind};
pub use memory::MemoryStore;
pub use port::{HistoryEntry, PolicyStore};
