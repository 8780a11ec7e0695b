//! What every benchmark suite tells in the same form: its report, and the machine that it ran on.

mod keep;
mod machine;
mod report;

pub use keep::{keep, write};
pub use machine::{Machine, load, versions};
pub use report::{Grid, Report, json};
