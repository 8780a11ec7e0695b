//! From an edit to a durable version: apply to the newest snapshot, commit, and try again if somebody was faster.

use policy::edit::{Actor, Change, Edit, EditError};
use query_api::QueryError;
use stdx::ErrorKind;
use store::StoreError;

use crate::error::from_store;
use crate::running::Running;

/// How often an edit is tried again when another came first.
const TRIES_MAX: usize = 16;

/// Makes an edit durable and current, and says what its author should know.
pub(crate) async fn commit(
    running: &Running,
    edit: &Edit,
    action: &'static str,
    text: &str,
) -> Result<Vec<String>, QueryError> {
    let actor = Actor::new(running.who.clone());
    for _ in 0..TRIES_MAX {
        let snapshot = running.engine.store.current();
        // Rights are those of this very moment, not of the statement's start.
        let actor = Actor { membership: snapshot.membership(&principal(running)), ..actor.clone() };
        let change = policy::edit::apply(&snapshot, edit, &actor, running.now).map_err(|error| {
            let told = from_edit(&error);
            running.audit_refused(action, text, &told);
            told
        })?;
        if change.is_empty() {
            return Ok(change.notices);
        }
        match running.engine.store.commit(&change, snapshot.version(), &running.who.user, running.now).await {
            Ok(_) => {
                running.audit_change(action, &described(&change, &snapshot), "policy", text, None);
                return Ok(change.notices);
            }
            Err(StoreError::Stale { .. }) => {}
            Err(error) => return Err(from_store(&error)),
        }
    }
    Err(QueryError::new(ErrorKind::Conflict, "other edits kept coming first; try again"))
}

/// The session's user with what her door claims for her.
fn principal(running: &Running) -> policy::Principal {
    running.principal.clone()
}

fn described(change: &Change, before: &policy::Snapshot) -> String {
    let all: Vec<String> = change
        .describe(before)
        .into_iter()
        .map(|one| format!("{} {} {}", one.action.word(), one.kind, one.name))
        .collect();
    all.join(", ")
}

pub(crate) fn from_edit(error: &EditError) -> QueryError {
    let told = QueryError::new(error.kind(), error.to_string());
    match error.hint() {
        Some(hint) => told.with_hint(hint),
        None => told,
    }
}
