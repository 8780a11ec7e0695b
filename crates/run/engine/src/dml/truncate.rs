//! TRUNCATE: every row that its writer sees goes; rows that are hidden from her stay (L9).

use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use sqlparser::ast;
use stdx::ErrorKind;

use super::change;
use super::target::Target;
use super::update::plan_all;
use crate::error::unsupported;
use crate::names::parts_of;
use crate::running::Running;
use crate::statement::Call;

pub(crate) async fn truncate(
    running: &Running,
    truncate: ast::Truncate,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let is_plain = truncate.partitions.is_none()
        && truncate.identity.is_none()
        && truncate.on_cluster.is_none()
        && !matches!(truncate.cascade, Some(ast::CascadeOption::Cascade));
    let [only] = truncate.table_names.as_slice() else {
        return Err(unsupported("TRUNCATE of several tables"));
    };
    if !is_plain || only.only || only.has_asterisk {
        return Err(unsupported("a clause of this TRUNCATE"));
    }
    let name = running.path.relation(&parts_of(&only.name)?)?;
    let plan = || -> futures::future::BoxFuture<'_, _> {
        let name = name.clone();
        Box::pin(async move {
            let state = running.state();
            let target =
                Target::named(running, &state, name, None, Operation::TruncateTable, "truncate").await?;
            plan_all(target, state)
        })
    };
    match change::run(running, call, "TRUNCATE TABLE", "truncate", &plan).await {
        // A count would be more than PostgreSQL tells.
        Ok(Outcome::Done { tag, notices, .. }) => Ok(Outcome::Done { tag, n_rows: None, notices }),
        Err(error) if truncate.if_exists && error.kind() == ErrorKind::TableNotFound => {
            let notice = format!("relation \"{name}\" does not exist, skipping");
            Ok(Outcome::Done { tag: "TRUNCATE TABLE", n_rows: None, notices: vec![notice] })
        }
        other => other,
    }
}
