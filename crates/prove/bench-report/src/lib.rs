//! What every benchmark suite tells in the same form: its report, and the machine that it ran on.

mod clock;
mod keep;
mod machine;
mod report;

pub use clock::{Busy, Watch, own_nanos};
pub use keep::{keep, write};
pub use machine::{Machine, load, versions};
pub use report::{Grid, Report, json};
