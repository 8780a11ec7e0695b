//! The few things the standard library lacks: a clock to pass in, secrets that do not print, and kinds of error.

mod clock;
mod error_kind;
mod secret;

pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use error_kind::ErrorKind;
pub use secret::Secret;
