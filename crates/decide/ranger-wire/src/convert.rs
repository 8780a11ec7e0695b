//! Checked conversion between Ranger's objects and the policy model, every fault reported together.

mod audit;
mod policy;
mod principals;
mod service;
mod service_def;
mod tag;
mod zone;

pub use principals::EXTERNAL_ROLE_OPTION;
pub use tag::TAG_VALIDITY_OPTION;

pub(crate) use audit::audit_filters;
pub(crate) use policy::policy;
pub(crate) use principals::role;
pub(crate) use service_def::service_def;
pub(crate) use tag::{service_resource, tag, tag_def, tag_ids};

use crate::fault::{Faults, Path};

/// The text of a member that must be there.
pub(crate) fn required(text: &Option<String>, name: &str, at: &Path<'_>, faults: &mut Faults) -> String {
    if text.is_none() {
        faults.add(&Path::Member(at, name), "missing");
    }
    text.clone().unwrap_or_default()
}

/// A number given by the store: absent before that, never negative.
fn id(given: Option<i64>, at: &Path<'_>, faults: &mut Faults) -> i64 {
    let id = given.unwrap_or(0);
    if id < 0 {
        faults.add(&Path::Member(at, "id"), "must not be negative");
    }
    id
}

fn some_text(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}
