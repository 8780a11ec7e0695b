//! Labels that say which privilege an item stands for, and records of who granted it and when.
//!
//! A grant is labelled `chm:<TYPE>:<name>:<PRIVILEGE>`, a denial `chm-deny:<TYPE>:<name>:<PRIVILEGE>`. A name may hold
//! colons: the type is split off in front and the privilege at the back. Beside each label the policy's options keep a
//! record under `sluice.grant.<label>`, and under `sluice.traversal.<TYPE>:<name>` for access types that are there only
//! so that something below can be reached. A record is `at=<ms>;flags=<flags>;by=<name>`, the name last and to the end
//! of the text; flags are `g` for the grant option and `r` for a write set that includes reading.

use stdx::Timestamp;

use super::scope::Grantee;
use crate::model::Policy;
use crate::privilege::Privilege;

const GRANT_PREFIX: &str = "chm:";
const DENY_PREFIX: &str = "chm-deny:";
const RECORD_PREFIX: &str = "sluice.grant.";
const TRAVERSAL_PREFIX: &str = "sluice.traversal.";

/// The option that says which statement made a policy; it is also what lets a policy stand beside others on the same
/// resource.
pub const ORIGIN: &str = "sluice.origin";
/// GRANT and DENY.
pub const ORIGIN_GRANT: &str = "grant";
/// CREATE POLICY.
pub const ORIGIN_POLICY: &str = "create-policy";
/// A column list in GRANT.
pub const ORIGIN_COLUMNS: &str = "columns";
/// The value for one that a column list in DENY wrote.
pub const ORIGIN_RESTRICTION: &str = "restriction";

/// Whether a label is a grant's or a denial's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelKind {
    Grant,
    Deny,
}

/// What a label says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) grantee: Grantee,
    pub(crate) privilege: Privilege,
}

impl Label {
    pub(crate) fn text(&self, kind: LabelKind) -> String {
        let prefix = match kind {
            LabelKind::Grant => GRANT_PREFIX,
            LabelKind::Deny => DENY_PREFIX,
        };
        format!("{prefix}{}:{}:{}", self.grantee.type_name(), self.grantee.name(), self.privilege.name())
    }

    /// Reads a label; one that somebody else's tool wrote in another form is no label of ours.
    pub(crate) fn parse(text: &str, kind: LabelKind) -> Option<Self> {
        let prefix = match kind {
            LabelKind::Grant => GRANT_PREFIX,
            LabelKind::Deny => DENY_PREFIX,
        };
        let (type_name, rest) = text.strip_prefix(prefix)?.split_once(':')?;
        let (name, privilege) = rest.rsplit_once(':')?;
        let grantee = Grantee::from_parts(type_name, name)?;
        Some(Self { grantee, privilege: Privilege::parse(privilege).ok()? })
    }
}

/// The labels of one kind that a policy bears for one grantee.
pub(crate) fn labels_of(policy: &Policy, grantee: &Grantee, kind: LabelKind) -> Vec<(String, Privilege)> {
    let parsed = policy.labels.iter().filter_map(|text| Some((text.clone(), Label::parse(text, kind)?)));
    parsed
        .filter(|(_, label)| label.grantee == *grantee)
        .map(|(text, label)| (text, label.privilege))
        .collect()
}

/// Who did it, when, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) at: Timestamp,
    pub(crate) by: String,
    pub(crate) has_grant_option: bool,
    pub(crate) has_read: bool,
}

impl Record {
    fn text(&self) -> String {
        let grant = if self.has_grant_option { "g" } else { "" };
        let read = if self.has_read { "r" } else { "" };
        format!("at={};flags={grant}{read};by={}", self.at.millis(), self.by)
    }

    fn parse(text: &str) -> Option<Self> {
        let (at, rest) = text.strip_prefix("at=")?.split_once(";flags=")?;
        let (flags, by) = rest.split_once(";by=")?;
        Some(Self {
            at: Timestamp::from_millis(at.parse().ok()?),
            by: by.to_owned(),
            has_grant_option: flags.contains('g'),
            has_read: flags.contains('r'),
        })
    }
}

pub(crate) fn record_of(policy: &Policy, label: &str) -> Option<Record> {
    policy.options.get(&format!("{RECORD_PREFIX}{label}")).and_then(|text| Record::parse(text))
}

/// Adds a label with its record. What is there already stays as it is, and only gains.
pub(crate) fn put_label(policy: &mut Policy, label: &str, record: Record) {
    let record = match record_of(policy, label) {
        Some(old) if policy.labels.iter().any(|l| l == label) => Record {
            has_grant_option: old.has_grant_option || record.has_grant_option,
            has_read: old.has_read || record.has_read,
            ..old
        },
        _ => record,
    };
    put_record(policy, label, &record);
    if !policy.labels.iter().any(|l| l == label) {
        policy.labels.push(label.to_owned());
        policy.labels.sort();
    }
}

pub(crate) fn put_record(policy: &mut Policy, label: &str, record: &Record) {
    policy.options.insert(format!("{RECORD_PREFIX}{label}"), record.text());
}

pub(crate) fn drop_label(policy: &mut Policy, label: &str) {
    policy.labels.retain(|l| l != label);
    policy.options.remove(&format!("{RECORD_PREFIX}{label}"));
}

fn traversal_key(grantee: &Grantee) -> String {
    format!("{TRAVERSAL_PREFIX}{}:{}", grantee.type_name(), grantee.name())
}

pub(crate) fn traversal_of(policy: &Policy, grantee: &Grantee) -> Option<Record> {
    policy.options.get(&traversal_key(grantee)).and_then(|text| Record::parse(text))
}

pub(crate) fn put_traversal(policy: &mut Policy, grantee: &Grantee, record: &Record) {
    policy.options.entry(traversal_key(grantee)).or_insert_with(|| record.text());
}

pub(crate) fn drop_traversal(policy: &mut Policy, grantee: &Grantee) {
    policy.options.remove(&traversal_key(grantee));
}
