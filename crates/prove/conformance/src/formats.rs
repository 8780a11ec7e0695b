//! One driver for each format of Ranger's test data.

mod gds;

use anyhow::Result;

use crate::corpus::{Corpus, DataFile};
use crate::report::Case;
use crate::run::Options;

/// The cases of a file, by the driver that its folder asks for; none for files that are only named by others.
pub(crate) fn drive(_corpus: &Corpus, file: &DataFile, _options: &Options) -> Result<Option<Vec<Case>>> {
    match file.group() {
        "gds" => Ok(Some(gds::drive(file))),
        _ => Ok(None),
    }
}
