//! What is kept of each decision: one audit record per query, denial and edit.

use audit::{AppliedFilter, AuditRecord, AuditResult, MaskedColumn, Redacted};
use policy::operation::{Object, Operation};
use policy::{ColumnRule, Verdict};
use query_api::QueryError;
use stdx::{ErrorKind, Timestamp};

use crate::resolve::Resolved;
use crate::running::Running;

/// The service type numbers of Ranger's records: ours have none of Ranger's own.
const REPO_TYPE: i64 = 0;

/// A query's record, kept until its last row has gone out.
pub(crate) struct QueryRecord {
    record: AuditRecord,
    started: Timestamp,
}

impl QueryRecord {
    pub(crate) fn finish(mut self, running: &Running, n_rows: u64, error: Option<&QueryError>) {
        self.record.rows = Some(n_rows);
        let elapsed = running.engine.clock.now().millis() - self.started.millis();
        self.record.duration_ms = u64::try_from(elapsed).unwrap_or(0);
        if let Some(error) = error {
            self.record.reason = format!("failed with {}", error.kind().sqlstate());
        }
        running.write(self.record);
    }
}

impl Running {
    fn record(&self, action: &str, result: AuditResult) -> AuditRecord {
        let user = self.asker.as_ref().unwrap_or(&self.who.user);
        let mut record = AuditRecord::new(self.now, user.clone(), action, result);
        record.simulated_user = self.asker.as_ref().map(|_| self.who.user.clone());
        record.repo_type = REPO_TYPE;
        record.query_id = self.query_id();
        record.door = self.context.door.name().to_owned();
        record.client_ip = self.context.client_addr.map(|addr| addr.to_string());
        record.client_type.clone_from(&self.context.application);
        record.snapshot_version = self.snapshot.version();
        record
    }

    fn write(&self, record: AuditRecord) {
        if let Err(error) = self.engine.audit.record(record) {
            tracing::error!(query_id = %self.query_id(), kind = ?error.kind(), "audit record could not be written");
        }
    }

    /// Refuses to go on where no record can be kept: what is not audited does not happen.
    pub(crate) fn check_audit(&self) -> Result<(), QueryError> {
        if self.engine.audit.is_failing() {
            return Err(QueryError::new(ErrorKind::Unavailable, "the audit log cannot be written"));
        }
        Ok(())
    }

    /// A query that was let through, with what was applied to it.
    pub(crate) fn audit_query(&self, resolved: &Resolved, text: &str) -> QueryRecord {
        let mut record = self.record("select", AuditResult::Allowed);
        let names: Vec<String> = resolved.touched.iter().map(|table| table.name.to_string()).collect();
        "select".clone_into(&mut record.access);
        record.resource = names.join(",");
        "table".clone_into(&mut record.resource_type);
        policy::edit::GATE_ONE.clone_into(&mut record.repo);
        if let Some(first) = resolved.touched.first() {
            record.policy = first.gate_one.because.policy;
            record.policy_version = first.gate_one.because.policy_version;
        }
        record.statement = Some(Redacted::statement(&dialect::redact(text)));
        for table in &resolved.touched {
            let Some(rules) = &table.rules else { continue };
            let name = table.name.to_string();
            record.filters.extend(rules.filters.iter().map(|filter| AppliedFilter {
                table: name.clone(),
                policy: filter.policy,
                policy_version: filter.policy_version,
            }));
            record.masked_columns.extend(masked(&name, &table.columns, &rules.columns));
        }
        QueryRecord { record, started: self.now }
    }

    /// A decision of gate one against the user.
    pub(crate) fn audit_denied(&self, operation: Operation, object: &Object, verdict: &Verdict) {
        let mut record = self.record(&action_name(operation), AuditResult::Denied);
        record.access = action_name(operation);
        record.resource = object.to_string();
        kind_name(object).clone_into(&mut record.resource_type);
        policy::edit::GATE_ONE.clone_into(&mut record.repo);
        record.policy = verdict.because.policy;
        record.policy_version = verdict.because.policy_version;
        record.reason.clone_from(&verdict.because.reason);
        record.statement = Some(Redacted::statement(&dialect::redact(&self.text)));
        self.write(record);
    }

    /// A change of something governed: a policy edit, a table made or dropped, rows written.
    pub(crate) fn audit_change(
        &self,
        action: &str,
        resource: &str,
        kind: &str,
        text: &str,
        n_rows: Option<u64>,
    ) {
        let mut record = self.record(action, AuditResult::Allowed);
        action.clone_into(&mut record.access);
        resource.clone_into(&mut record.resource);
        kind.clone_into(&mut record.resource_type);
        record.statement = Some(Redacted::statement(&dialect::redact(text)));
        record.rows = n_rows;
        self.write(record);
    }

    /// A statement that was refused because the user may not run it.
    pub(crate) fn audit_refused(&self, action: &str, text: &str, error: &QueryError) {
        let mut record = self.record(action, AuditResult::Denied);
        action.clone_into(&mut record.access);
        record.statement = Some(Redacted::statement(&dialect::redact(text)));
        error.message().clone_into(&mut record.reason);
        self.write(record);
    }
}

/// `SelectTable` as `select-table`.
fn action_name(operation: Operation) -> String {
    let mut name = String::new();
    for c in format!("{operation:?}").chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

const fn kind_name(object: &Object) -> &'static str {
    match object {
        Object::Catalog { .. } => "catalog",
        Object::Namespace { .. } => "schema",
        Object::Table { .. } => "table",
        Object::View { .. } => "view",
    }
}

fn masked(table: &str, names: &[String], columns: &[ColumnRule]) -> Vec<MaskedColumn> {
    let mut masked = Vec::new();
    for (name, rule) in names.iter().zip(columns) {
        match rule {
            ColumnRule::Parts(parts) => {
                masked.extend(
                    parts.iter().filter_map(|part| masked_column(table, part.name(name), &part.rule)),
                );
            }
            whole => masked.extend(masked_column(table, name.clone(), whole)),
        }
    }
    masked
}

fn masked_column(table: &str, column: String, rule: &ColumnRule) -> Option<MaskedColumn> {
    let (mask_type, policy, policy_version) = match rule {
        ColumnRule::Raw | ColumnRule::Parts(_) => return None,
        ColumnRule::Masked(mask) => (mask.mask_type.clone(), Some(mask.policy), Some(mask.policy_version)),
        ColumnRule::Restricted(restriction) => ("RESTRICTED".to_owned(), restriction.policy, None),
    };
    Some(MaskedColumn { table: table.to_owned(), column, mask_type, policy, policy_version })
}
