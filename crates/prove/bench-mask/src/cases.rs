//! What is measured: each mask over a column that it is made for, with the peer that says the same.

use anyhow::{Context, Result, bail};
use masks::{Cover, Mask, MaskSettings, MaskType, Profile};
use stdx::Secret;

use crate::columns::Kind;
use crate::peers::{Chain, Keyed, Peer, Shown};

const KEY: &str = "a key for measurements";

/// One mask over one column.
pub(crate) struct Case {
    pub(crate) mask: Mask,
    pub(crate) column: Kind,
    pub(crate) peer: Option<Box<dyn Peer>>,
}

pub(crate) fn all() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut add = |mask: MaskType, number: Option<&str>, column: Kind, peer: Option<Box<dyn Peer>>| {
        cases.push(case(mask, number, column, peer)?);
        anyhow::Ok(())
    };
    add(MaskType::Mask, None, Kind::Views, Some(Box::new(Chain::classes()?)))?;
    add(MaskType::ShowLast4, None, Kind::Views, Some(Box::new(Chain::shown(Shown::Last)?)))?;
    add(MaskType::ShowFirst4, None, Kind::Views, Some(Box::new(Chain::shown(Shown::First)?)))?;
    add(MaskType::Hash, None, Kind::Views, Some(Box::new(Keyed::new(KEY)?)))?;
    add(MaskType::Mask, None, Kind::Offsets, Some(Box::new(Chain::classes()?)))?;
    add(MaskType::ShowLast4, None, Kind::Offsets, Some(Box::new(Chain::shown(Shown::Last)?)))?;
    add(MaskType::Mask, None, Kind::Foreign, None)?;
    add(MaskType::Mask, None, Kind::Dictionary, None)?;
    add(MaskType::Mask, None, Kind::Repeated, None)?;
    add(MaskType::Hash, None, Kind::Dictionary, None)?;
    add(MaskType::Hash, None, Kind::Repeated, None)?;
    add(MaskType::Email, None, Kind::Emails, None)?;
    add(MaskType::Card, None, Kind::Cards, None)?;
    add(MaskType::Token, None, Kind::Cards, None)?;
    add(MaskType::Bucket, Some("1000"), Kind::Numbers, None)?;
    add(MaskType::DateShowYear, None, Kind::Dates, None)?;
    add(MaskType::DateShowMonth, None, Kind::Dates, None)?;
    add(MaskType::DateShift, None, Kind::Dates, None)?;
    Ok(cases)
}

fn case(mask: MaskType, number: Option<&str>, column: Kind, peer: Option<Box<dyn Peer>>) -> Result<Case> {
    let settings = MaskSettings { key: Secret::new(KEY), show_short_values: false, profile: Profile::Sluice };
    let batches = column.batches(1)?;
    let data_type = batches.first().context("a column without rows")?.data_type();
    match masks::cover(mask, data_type, number, &settings) {
        Some(Cover::Mask(mask)) => Ok(Case { mask, column, peer }),
        _ => bail!("{mask:?} computes nothing over {}", column.name()),
    }
}
