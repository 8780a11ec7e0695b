//! One statement being run: its number, its moment, its policy snapshot, and what its user holds.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use catalog::{View, ViewSecurity};
use datafusion::arrow::temporal_conversions::timestamp_ms_to_datetime;
use datafusion::execution::session_state::SessionState;
use enforce::{QueryId, SessionFacts};
use policy::model::{Item, ResourceMap};
use policy::operation::{Object, Operation};
use policy::{GrantedColumns, Membership, Snapshot, Verdict};
use query_api::QueryError;
use stdx::{ErrorKind, Timestamp};

use crate::Engine;
use crate::names::{RelationName, SearchPath};
use crate::session::EngineSession;

/// Pinned when a statement starts: nothing in it changes while the statement runs.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) engine: Arc<Engine>,
    pub(crate) query: QueryId,
    pub(crate) now: Timestamp,
    /// What `now()` is: the same moment, but for a cursor, whose statement began when it was declared.
    pub(crate) begun: Timestamp,
    /// How many relations had got another name before the snapshot was taken.
    pub(crate) n_renames: u64,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) principal: policy::Principal,
    pub(crate) who: Membership,
    /// Who asks, where that is not the user that the statement is run as.
    pub(crate) asker: Option<String>,
    pub(crate) context: query_api::RequestContext,
    pub(crate) path: SearchPath,
    pub(crate) time_zone: Option<String>,
    pub(crate) pg: Arc<crate::pg::PgSession>,
    /// The statement's text, for the audit; literals are taken out there.
    pub(crate) text: Arc<str>,
    pub(crate) opener: Opener,
}

/// Whose rights open the relations of a text.
#[derive(Clone)]
pub(crate) enum Opener {
    /// The session's user.
    User,
    /// The owners of the views around it (SECURITY DEFINER); each must be allowed.
    Owners(Arc<Vec<Membership>>),
    /// The author of a policy, whose expression reads whatever she may write policies for, and reads it whole.
    Author(Arc<policy::edit::Actor>),
}

impl Running {
    pub(crate) fn start(session: &EngineSession, text: &str) -> Self {
        let n_renames = session.engine.n_renames.load(Ordering::SeqCst);
        let snapshot = session.engine.store.current();
        let who = snapshot.membership(&session.principal);
        let vars = session.vars();
        let mut context = session.context.clone();
        context.application = vars.settings.get("application_name").cloned();
        let now = session.engine.clock.now();
        let mut path = vars.path.clone();
        // Where she may know of no catalog, its name is that of a namespace which is not there (L8).
        path.catalogs.retain(|catalog| {
            *catalog == path.catalog
                || snapshot.sees_catalog(catalog, &who, now, context.client_addr)
                || holds_something_in(&snapshot, &who, catalog)
        });
        Self {
            engine: Arc::clone(&session.engine),
            query: QueryId(uuid::Uuid::now_v7().as_u128()),
            now,
            begun: now,
            n_renames,
            snapshot,
            principal: session.principal.clone(),
            who,
            asker: None,
            context,
            path,
            time_zone: vars.settings.get("timezone").cloned(),
            pg: Arc::clone(&session.pg),
            text: Arc::from(text),
            opener: Opener::User,
        }
    }

    /// The same statement under other policies.
    pub(crate) fn under(&self, snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, ..self.clone() }
    }

    /// The same statement as another user would run it, for questions about her.
    pub(crate) fn as_user(&self, user: &str) -> Self {
        self.simulated(Arc::clone(&self.snapshot), user)
    }

    /// The same statement as it would run for a user under other policies. The audit still tells who asks.
    pub(crate) fn simulated(&self, snapshot: Arc<Snapshot>, user: &str) -> Self {
        // Of herself she asks with what her login claims.
        let is_own = self.asker.is_none() && user == self.who.user;
        let principal = if is_own { self.principal.clone() } else { policy::Principal::user(user) };
        let who = snapshot.membership(&principal);
        let asker = self.asker.clone().unwrap_or_else(|| self.who.user.clone());
        Self { principal, who, snapshot, asker: Some(asker), ..self.clone() }
    }

    /// The same user with what the authority itself knows of her.
    pub(crate) fn without_claims(self) -> Self {
        let principal = policy::Principal::user(self.who.user.clone());
        let who = self.snapshot.membership(&principal);
        Self { principal, who, ..self }
    }

    /// Names and policies of one moment: what got another name since the snapshot was taken is not known to its
    /// policies by that name.
    pub(crate) fn check_names(&self) -> Result<(), QueryError> {
        if self.engine.n_renames.load(Ordering::SeqCst) == self.n_renames {
            return Ok(());
        }
        Err(QueryError::new(ErrorKind::Conflict, "a table or view got another name meanwhile")
            .with_hint("run the statement again"))
    }

    /// A user who was dropped runs nothing more, in whatever session she has open, and whatever her login claimed.
    pub(crate) fn check_user(&self) -> Result<(), QueryError> {
        if self.snapshot.state().users.contains_key(&self.who.user) {
            return Ok(());
        }
        Err(QueryError::new(ErrorKind::Unauthenticated, format!("user `{}` does not exist", self.who.user)))
    }

    pub(crate) fn query_id(&self) -> String {
        uuid::Uuid::from_u128(self.query.0).to_string()
    }

    pub(crate) fn state(&self) -> SessionState {
        let mut state = self.engine.state_for(self.query, self.time_zone.as_deref());
        crate::pg::register_visible(&mut state, &self.pg);
        // `now()` is a constant of the statement, however often it is planned.
        state.mark_start_execution();
        let begun = timestamp_ms_to_datetime(self.begun.millis()).map(|begun| begun.and_utc());
        state.execution_props_mut().query_execution_start_time = begun;
        state
    }

    pub(crate) fn is_admin(&self) -> bool {
        self.who.roles.contains(policy::bootstrap::ADMIN_ROLE)
    }

    /// What session functions fold to.
    pub(crate) fn facts(&self) -> SessionFacts {
        let attributes = self
            .snapshot
            .state()
            .users
            .get(&self.who.user)
            .map(|user| user.attributes.clone())
            .unwrap_or_default();
        SessionFacts {
            user: self.who.user.clone(),
            groups: self.who.groups.to_set(),
            roles: self.who.roles.to_set(),
            attributes,
            catalog: self.path.catalog.clone(),
            schema: self.path.namespace.join("."),
        }
    }

    /// Asks gate one.
    pub(crate) fn may(&self, operation: Operation, object: &Object, owner: Option<&str>) -> Verdict {
        self.snapshot.may(operation, object, &self.who, owner, self.now, self.context.client_addr)
    }

    /// Asks gate one whether a relation may be read, by the rights that open it here.
    pub(crate) fn may_read(&self, operation: Operation, object: &Object, owner: Option<&str>) -> Verdict {
        let Opener::Owners(owners) = &self.opener else { return self.may(operation, object, owner) };
        owners
            .iter()
            .map(|who| self.snapshot.may(operation, object, who, owner, self.now, self.context.client_addr))
            .reduce(|first, next| if first.is_allowed() { next } else { first })
            .unwrap_or_else(|| self.may(operation, object, owner))
    }

    /// The columns that the rights by which a relation is opened here give of it; each says of all that it has.
    pub(crate) fn granted_columns(&self, object: &Object, owner: Option<&str>) -> Vec<GrantedColumns> {
        let of = |who: &Membership| {
            self.snapshot.granted_columns(object, who, owner, self.now, self.context.client_addr)
        };
        match &self.opener {
            Opener::User => vec![of(&self.who)],
            Opener::Owners(owners) => owners.iter().map(of).collect(),
            Opener::Author(_) => Vec::new(),
        }
    }

    /// The same statement within a view's text; `None`: she whose rights it is read with is gone.
    ///
    /// Below a view that reads with its owner's rights, one that reads with its reader's reads with that owner's, as
    /// far as its own author has them too: nobody reaches another's tables by rewriting what the other's view reads.
    pub(crate) fn within(&self, view: &View) -> Option<Self> {
        let mut owners = match (&self.opener, view.security) {
            (Opener::User, ViewSecurity::Invoker) | (Opener::Author(_), _) => return Some(self.clone()),
            (Opener::User | Opener::Owners(_), ViewSecurity::Definer) => Vec::new(),
            (Opener::Owners(owners), ViewSecurity::Invoker) => owners.as_ref().clone(),
        };
        if owners.iter().all(|owner: &Membership| owner.user != view.owner) {
            owners.push(self.member(&view.owner)?);
        }
        Some(Self { opener: Opener::Owners(Arc::new(owners)), ..self.clone() })
    }

    /// The same statement within the text of a policy; `None`: its author is gone.
    ///
    /// What she holds counts as the authority itself has it: her policies outlast her login.
    pub(crate) fn written_by(&self, author: &str) -> Option<Self> {
        if !self.snapshot.state().users.contains_key(author) {
            return None;
        }
        let author = self.snapshot.membership(&policy::Principal::user(author));
        let opener = Opener::Author(Arc::new(policy::edit::Actor::new(author)));
        Some(Self { opener, ..self.clone() })
    }

    /// Whether this is the text of a policy.
    pub(crate) fn is_policy_text(&self) -> bool {
        matches!(self.opener, Opener::Author(_))
    }

    /// Whether a policy's text may read a relation: its author may write policies for it.
    pub(crate) fn may_govern(&self, name: &RelationName) -> bool {
        let Opener::Author(author) = &self.opener else { return false };
        let service = self.snapshot.gate_two_service(&name.catalog);
        policy::edit::may_write_policies(&self.snapshot, author, service, &name.database(), &name.name)
    }

    /// What a user holds, if there is such a user; of the session's own also what her login claims.
    fn member(&self, user: &str) -> Option<Membership> {
        if !self.snapshot.state().users.contains_key(user) {
            return None;
        }
        let is_own = user == self.who.user;
        Some(if is_own { self.who.clone() } else { self.snapshot.membership(&policy::Principal::user(user)) })
    }

    pub(crate) fn sees_catalog(&self, catalog: &str) -> bool {
        self.engine.catalogs.contains_key(catalog)
            && self.snapshot.sees_catalog(catalog, &self.who, self.now, self.context.client_addr)
    }

    pub(crate) fn sees_namespace(&self, catalog: &str, namespace: &[String]) -> bool {
        self.snapshot.sees_namespace(catalog, namespace, &self.who, self.now, self.context.client_addr)
    }

    pub(crate) fn sees_table(&self, name: &RelationName, owner: Option<&str>) -> bool {
        self.snapshot.sees_table(
            &name.catalog,
            &name.namespace,
            &name.name,
            &self.who,
            owner,
            self.now,
            self.context.client_addr,
        )
    }

    pub(crate) fn sees_view(&self, name: &RelationName, owner: Option<&str>) -> bool {
        self.snapshot.sees_view(
            &name.catalog,
            &name.namespace,
            &name.name,
            &self.who,
            owner,
            self.now,
            self.context.client_addr,
        )
    }

    /// A catalog that the user may know of.
    pub(crate) fn catalog(&self, name: &str) -> Result<&Arc<catalog::Catalog>, QueryError> {
        self.engine.catalogs.get(name).ok_or_else(|| crate::error::catalog_not_found(name))
    }

    /// Refuses what the verdict does not allow, in words for a user who may see the object.
    pub(crate) fn require(
        &self,
        operation: Operation,
        object: &Object,
        owner: Option<&str>,
        what: &str,
    ) -> Result<(), QueryError> {
        let verdict = self.may(operation, object, owner);
        if verdict.is_allowed() {
            Ok(())
        } else {
            self.audit_denied(operation, object, &verdict);
            Err(QueryError::new(ErrorKind::Denied, format!("permission denied to {what}")))
        }
    }
}

/// Whether gate one names somebody in a catalog at all: a table granted without discovery can be named in full.
fn holds_something_in(snapshot: &Snapshot, who: &Membership, catalog: &str) -> bool {
    let names_catalog = |resources: &ResourceMap| {
        resources.get("catalog").is_some_and(|level| {
            level.values.iter().any(|value| value == catalog || value.contains(['*', '?']))
        })
    };
    let names_her = |item: &Item| {
        item.users.contains(&who.user)
            || item.groups.iter().any(|group| group == "public" || who.groups.contains(group))
            || item.roles.iter().any(|role| who.roles.contains(role))
    };
    snapshot.state().policies.values().any(|policy| {
        policy.service == policy::defs::GATE_ONE_SERVICE
            && std::iter::once(&policy.resources).chain(&policy.additional_resources).any(names_catalog)
            && policy.items.iter().any(names_her)
    })
}

/// The object of gate one that a relation is.
pub(crate) fn table_object(name: &RelationName) -> Object {
    Object::Table {
        catalog: name.catalog.clone(),
        namespace: name.namespace.clone(),
        table: name.name.clone(),
    }
}

pub(crate) fn view_object(name: &RelationName) -> Object {
    Object::View { catalog: name.catalog.clone(), namespace: name.namespace.clone(), view: name.name.clone() }
}

pub(crate) fn namespace_object(catalog: &str, namespace: &[String]) -> Object {
    Object::Namespace { catalog: catalog.to_owned(), namespace: namespace.to_vec() }
}
