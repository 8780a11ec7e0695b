//! What every benchmark suite tells in the same form: its report, the machine that it ran on, and the stopwatch.

mod clock;
mod keep;
mod machine;
mod report;

pub use clock::{Busy, Watch, own_nanos};
pub use keep::{exit, keep, must_be_release, tell, write};
pub use machine::{Machine, load, versions};
pub use report::{Grid, Report, json, median, remarks};
