//! What a script may take before it is stopped.

use std::time::Duration;

/// Bytes of a script's text. Scripts that people write by hand are far shorter.
pub const SCRIPT_BYTES_MAX: usize = 64 * 1024;

/// Bytes that one run may hold at a time, the engine's own (about 0.3 MiB) included.
pub const MEMORY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes of the engine's stack. Reaching it is an error within the script, as recursion without an end is.
pub const STACK_BYTES_MAX: usize = 256 * 1024;

/// How often the engine may look up from its work, which it does about once in ten thousand steps.
pub const LOOK_UPS_MAX: u32 = 100;

/// How long a run is waited for. A run that is given up ends when its engine next looks up.
pub const RUN_TIME_MAX: Duration = Duration::from_millis(500);

/// Runs at a time, those that were given up and have not ended yet included.
pub const RUNS_MAX: usize = 64;

/// Bytes of the stack of the thread that a run has to itself.
pub(crate) const THREAD_STACK_BYTES: usize = 1024 * 1024;
