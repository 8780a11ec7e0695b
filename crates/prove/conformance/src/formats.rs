//! One driver for each format of Ranger's test data.

mod administration;
mod definitions;
mod gds;
mod resource_matcher;

use anyhow::Result;

use crate::corpus::{Corpus, DataFile};
use crate::report::Case;
use crate::run::Options;

/// The cases of a file, by the driver that its folder asks for; none for files that are only named by others.
pub(crate) fn drive(corpus: &Corpus, file: &DataFile, _options: &Options) -> Result<Option<Vec<Case>>> {
    match file.group() {
        "gds" => Ok(Some(gds::drive(file))),
        "resourcematcher" => resource_matcher::drive(corpus, file).map(Some),
        "servicedef-normalize" => definitions::drive(file).map(Some),
        "admin" => administration::drive(corpus, file).map(Some),
        _ => Ok(None),
    }
}
