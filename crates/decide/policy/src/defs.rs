//! Service definitions that are written here: those that a new authority starts with, and those of its neighbours.

mod generations;
mod hdfs;
mod hive;
mod kafka;
mod polaris;
mod tag;
mod trino;

use std::collections::BTreeMap;

pub use generations::{polaris_2_8, polaris_2_9};
pub use hdfs::hdfs;
pub use hive::hive;
pub(crate) use hive::{needs_number, takes_number};
pub use kafka::kafka;
pub use polaris::polaris;
pub use tag::{add_component, remove_component, tag};
pub use trino::trino;

use crate::model::{ConditionDef, ResourceDef};

/// The definition of gate one.
pub const POLARIS: &str = "polaris";
/// The definition of gate two.
pub const HIVE: &str = "hive";
/// The definition of tag services.
pub const TAG: &str = "tag";
/// The definition of Trino.
pub const TRINO: &str = "trino";
/// The definition of file systems.
pub const HDFS: &str = "hdfs";
/// The definition of message brokers.
pub const KAFKA: &str = "kafka";

/// The service of gate one.
pub const GATE_ONE_SERVICE: &str = "polaris";
/// The service of gate two for the first catalog.
pub const GATE_TWO_SERVICE: &str = "query";
/// The service whose policies say what tags mean.
pub const TAG_SERVICE: &str = "tags";
/// The configuration of a gate-two service that lists its catalogs, separated by commas.
pub const CATALOGS_CONFIG: &str = "sluice.catalogs";

/// The configuration of a service that holds its audit filters.
pub const AUDIT_FILTERS_CONFIG: &str = "ranger.plugin.audit.filters";

const DEFAULT_MATCHER: &str = "org.apache.ranger.plugin.resourcematcher.RangerDefaultResourceMatcher";

/// The condition on the address that a request comes from.
fn ip_range() -> ConditionDef {
    ConditionDef {
        name: "ip-range".to_owned(),
        evaluator: "org.apache.ranger.plugin.conditionevaluator.RangerIpMatcher".to_owned(),
        evaluator_options: BTreeMap::new(),
    }
}

/// A level with wildcards, without regard to case, that may stand last.
fn level(name: &str, number: i64, parent: Option<&str>) -> ResourceDef {
    ResourceDef {
        name: name.to_owned(),
        level: number,
        parent: parent.map(str::to_owned),
        is_mandatory: true,
        is_recursive_supported: false,
        is_excludes_supported: true,
        matcher: DEFAULT_MATCHER.to_owned(),
        matcher_options: options(&[("wildCard", "true"), ("ignoreCase", "true")]),
        is_valid_leaf: Some(true),
        access_type_restrictions: Vec::new(),
        validation_reg_ex: None,
    }
}

fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests;
