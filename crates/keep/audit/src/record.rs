//! What is kept of a decision: Ranger's fields under Ranger's names, and ours.

use policy::model::{PolicyId, Version};
use serde::{Serialize, Serializer};
use stdx::Timestamp;

use crate::Redacted;

/// How it was decided; 1 and 0 in Ranger's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditResult {
    Allowed,
    Denied,
}

/// A row filter that was put on a relation; its text is the policy's, and not repeated here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppliedFilter {
    pub table: String,
    #[serde(serialize_with = "policy_id")]
    pub policy: PolicyId,
    pub policy_version: i64,
}

/// A column that was masked or restricted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MaskedColumn {
    pub table: String,
    pub column: String,
    /// Such as `MASK_HASH`; `RESTRICTED` where the column reads as NULL.
    pub mask_type: String,
    #[serde(serialize_with = "some_policy_id", skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_version: Option<i64>,
}

/// One decision. `AuthzAuditEvent` is the name of its first half in Ranger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditRecord {
    /// Given by the log when it is empty.
    pub id: String,
    /// The number of the service's definition.
    #[serde(rename = "repoType")]
    pub repo_type: i64,
    /// The service.
    pub repo: String,
    #[serde(rename = "reqUser")]
    pub user: String,
    #[serde(rename = "evtTime", serialize_with = "rfc3339")]
    pub at: Timestamp,
    pub access: String,
    pub resource: String,
    #[serde(rename = "resType")]
    pub resource_type: String,
    /// What was done, such as `SELECT` or `GRANT`.
    pub action: String,
    #[serde(serialize_with = "one_or_zero")]
    pub result: AuditResult,
    /// The policy that decided; -1 where none did, as in Ranger.
    #[serde(serialize_with = "policy_id_or_minus_one")]
    pub policy: Option<PolicyId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_version: Option<i64>,
    /// Why, in the words of the verdict.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    pub enforcer: String,
    pub agent: String,
    #[serde(rename = "agentHost", skip_serializing_if = "String::is_empty")]
    pub agent_host: String,
    /// The client's application.
    #[serde(rename = "cliType", skip_serializing_if = "Option::is_none")]
    pub client_type: Option<String>,
    #[serde(rename = "cliIP", skip_serializing_if = "Option::is_none")]
    pub client_ip: Option<String>,
    /// The session.
    #[serde(rename = "sess", skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The statement, its literals taken out.
    #[serde(rename = "reqData", skip_serializing_if = "Option::is_none")]
    pub statement: Option<Redacted>,
    #[serde(rename = "logType")]
    pub log_type: &'static str,
    /// Given by the log: counts up from 1 in each run.
    #[serde(rename = "seq_num")]
    pub sequence: u64,
    pub event_count: u64,
    #[serde(rename = "event_dur_ms")]
    pub duration_ms: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_name: Option<String>,
    // What Ranger has no field for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub query_id: String,
    /// The protocol it came in by.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub door: String,
    /// The version of the policies that it was decided with.
    #[serde(serialize_with = "version")]
    pub snapshot_version: Version,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<AppliedFilter>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub masked_columns: Vec<MaskedColumn>,
    /// Whose rights were looked at, where that is not the user who asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated_user: Option<String>,
    /// Rows returned or written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
}

impl AuditRecord {
    /// A record that says who did what and how it was decided; the rest is empty and can be filled in.
    pub fn new(
        at: Timestamp,
        user: impl Into<String>,
        action: impl Into<String>,
        result: AuditResult,
    ) -> Self {
        Self {
            id: String::new(),
            repo_type: 0,
            repo: String::new(),
            user: user.into(),
            at,
            access: String::new(),
            resource: String::new(),
            resource_type: String::new(),
            action: action.into(),
            result,
            policy: None,
            policy_version: None,
            reason: String::new(),
            enforcer: "sluice-acl".to_owned(),
            agent: "sluice".to_owned(),
            agent_host: String::new(),
            client_type: None,
            client_ip: None,
            session: None,
            statement: None,
            log_type: "RangerAudit",
            sequence: 0,
            event_count: 1,
            duration_ms: 0,
            tags: Vec::new(),
            cluster_name: None,
            zone_name: None,
            query_id: String::new(),
            door: String::new(),
            snapshot_version: Version(0),
            filters: Vec::new(),
            masked_columns: Vec::new(),
            simulated_user: None,
            rows: None,
        }
    }
}

fn rfc3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

fn one_or_zero<S: Serializer>(result: &AuditResult, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(match result {
        AuditResult::Allowed => 1,
        AuditResult::Denied => 0,
    })
}

fn policy_id<S: Serializer>(id: &PolicyId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(id.0)
}

fn some_policy_id<S: Serializer>(id: &Option<PolicyId>, serializer: S) -> Result<S::Ok, S::Error> {
    id.map(|id| id.0).serialize(serializer)
}

fn policy_id_or_minus_one<S: Serializer>(id: &Option<PolicyId>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(id.map_or(-1, |id| id.0))
}

fn version<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(version.0)
}
