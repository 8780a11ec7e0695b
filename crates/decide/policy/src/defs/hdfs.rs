//! The definition of file systems: one level, a path.

use super::{HDFS, level, options};
use crate::model::{AccessTypeDef, ResourceDef, ServiceDef};

const PATH_MATCHER: &str = "org.apache.ranger.plugin.resourcematcher.RangerPathResourceMatcher";

/// Name, label, category.
const ACCESS_TYPES: &[(&str, &str, &str)] =
    &[("read", "Read", "READ"), ("write", "Write", "UPDATE"), ("execute", "Execute", "READ")];

/// The definition of HDFS. Paths tell upper from lower case.
pub fn hdfs() -> ServiceDef {
    ServiceDef {
        id: 1,
        name: HDFS.to_owned(),
        display_name: HDFS.to_owned(),
        label: "Files".to_owned(),
        resources: vec![ResourceDef {
            is_recursive_supported: true,
            is_excludes_supported: false,
            matcher: PATH_MATCHER.to_owned(),
            matcher_options: options(&[("wildCard", "true"), ("ignoreCase", "false")]),
            is_valid_leaf: None,
            ..level("path", 10, None)
        }],
        access_types: ACCESS_TYPES
            .iter()
            .map(|(name, label, category)| AccessTypeDef {
                name: (*name).to_owned(),
                label: (*label).to_owned(),
                category: Some((*category).to_owned()),
                ..AccessTypeDef::default()
            })
            .collect(),
        ..ServiceDef::default()
    }
}
