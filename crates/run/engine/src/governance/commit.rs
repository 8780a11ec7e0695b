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
    match committed(running, edit).await {
        Ok((notices, described)) => {
            if let Some(described) = described {
                running.audit_change(action, &described, "policy", text, None);
            }
            Ok(notices)
        }
        Err(Failed::Refused(told)) => {
            running.audit_refused(action, text, &told);
            Err(told)
        }
        Err(Failed::Store(told)) => Err(told),
    }
}

/// The same for a statement that audits what it does as a whole.
pub(crate) async fn commit_quietly(running: &Running, edit: &Edit) -> Result<Vec<String>, QueryError> {
    match committed(running, edit).await {
        Ok((notices, _)) => Ok(notices),
        Err(Failed::Refused(told) | Failed::Store(told)) => Err(told),
    }
}

/// The same for what a statement brings about that its author need have no right to do by itself, such as the tags of
/// what she copies.
pub(crate) async fn commit_internal(running: &Running, edit: &Edit) -> Result<(), QueryError> {
    let mut membership = running.who.clone();
    membership.roles.insert(policy::edit::ADMIN.to_owned());
    let actor = Actor::new(membership);
    for _ in 0..TRIES_MAX {
        let snapshot = running.engine.store.current();
        let change =
            policy::edit::apply(&snapshot, edit, &actor, running.now).map_err(|error| from_edit(&error))?;
        if change.is_empty() {
            return Ok(());
        }
        match running.engine.store.commit(&change, snapshot.version(), &running.who.user, running.now).await {
            Ok(_) => return Ok(()),
            Err(StoreError::Stale { .. }) => {}
            Err(error) => return Err(from_store(&error)),
        }
    }
    Err(QueryError::new(ErrorKind::Conflict, "other edits kept coming first; try again"))
}

enum Failed {
    Refused(QueryError),
    Store(QueryError),
}

/// Notices, and what was changed if anything was.
async fn committed(running: &Running, edit: &Edit) -> Result<(Vec<String>, Option<String>), Failed> {
    let actor = Actor::new(running.who.clone());
    for _ in 0..TRIES_MAX {
        let snapshot = running.engine.store.current();
        // What got another name since the statement looked it up would be missed by an edit of the old one (L7).
        running.check_names().map_err(Failed::Store)?;
        // Rights are those of this very moment, not of the statement's start.
        let actor = Actor { membership: snapshot.membership(&principal(running)), ..actor.clone() };
        let change = policy::edit::apply(&snapshot, edit, &actor, running.now)
            .map_err(|error| Failed::Refused(from_edit(&error)))?;
        if change.is_empty() {
            return Ok((change.notices, None));
        }
        match running.engine.store.commit(&change, snapshot.version(), &running.who.user, running.now).await {
            Ok(_) => {
                let described = described(&change, &snapshot);
                return Ok((change.notices, Some(described)));
            }
            Err(StoreError::Stale { .. }) => {}
            Err(error) => return Err(Failed::Store(from_store(&error))),
        }
    }
    let reason = "other edits kept coming first; try again";
    Err(Failed::Store(QueryError::new(ErrorKind::Conflict, reason)))
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
