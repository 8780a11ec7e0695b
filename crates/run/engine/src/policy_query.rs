//! Sub-queries of policy texts: what they read is looked up before the texts are bound.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use datafusion::execution::session_state::SessionState;
use policy::model::Policy;
use policy::{ColumnRule, TableRules};
use query_api::QueryError;
use sqlparser::ast::{self, SelectItem, SetExpr, Visit, Visitor};
use stdx::ErrorKind;

use crate::error::unsupported;
use crate::names::{RelationName, SearchPath};
use crate::policy_expr::{Marked, Values, parsed};
use crate::resolve::{self, Resolved};
use crate::running::Running;

/// A policy text as it was read, with the relations that its sub-queries name if it has any.
pub(crate) struct Prepared {
    pub(crate) expr: ast::Expr,
    pub(crate) resolved: Option<Resolved>,
}

/// The texts of one relation's policies, each read once.
#[derive(Default)]
pub(crate) struct PolicyQueries {
    filters: HashMap<String, Result<Prepared, QueryError>>,
    masks: HashMap<String, Result<Prepared, QueryError>>,
}

impl PolicyQueries {
    /// Looks up what the rules of a relation read. A text that cannot be had is kept as its fault, for whoever binds it.
    pub(crate) async fn of_rules(
        running: &Running,
        state: &SessionState,
        name: &RelationName,
        rules: &TableRules,
    ) -> Self {
        let mut found = Self::default();
        let policies = &running.snapshot.state().policies;
        for filter in rules.filters.iter().filter(|filter| filter.broken.is_none()) {
            // A text whose expressions cannot be bound is told so by its binding.
            if let Some(policy) = policies.get(&filter.policy)
                && let Ok(marked) = Marked::new(&filter.expr, Values::Known(&filter.expressions))
            {
                found.add(running, state, name, policy, marked.text, false).await;
            }
        }
        for rule in &rules.columns {
            if let ColumnRule::Masked(mask) = rule
                && let (Some(text), Some(policy)) = (&mask.value_expr, policies.get(&mask.policy))
                && let Ok(marked) = Marked::new(text, Values::Known(&mask.expressions))
            {
                found.add(running, state, name, policy, marked.text, true).await;
            }
        }
        found
    }

    /// The same for all texts of one policy, which need not be in force.
    pub(crate) async fn of_policy(
        running: &Running,
        state: &SessionState,
        name: &RelationName,
        policy: &Policy,
    ) -> Self {
        let mut found = Self::default();
        let filters = policy.filter_items.iter().map(|item| (&item.filter_expr, false));
        let masks = policy.mask_items.iter().filter_map(|item| item.mask.value_expr.as_ref());
        for (text, is_mask) in filters.chain(masks.map(|text| (text, true))) {
            if let Ok(marked) = Marked::new(text, Values::Unknown) {
                found.add(running, state, name, policy, marked.text, is_mask).await;
            }
        }
        found
    }

    /// Looks up what a text that is being written reads, with its author's rights.
    pub(crate) async fn of_text(
        running: &Running,
        state: &SessionState,
        name: &RelationName,
        text: &str,
        is_mask: bool,
    ) -> Result<Self, QueryError> {
        let mut found = Self::default();
        let text = Marked::new(text, Values::Unknown)?.text;
        if let Some(prepared) = prepare(running, state, name, &running.who.user, &text, is_mask).await? {
            found.of_kind(is_mask).insert(text, Ok(prepared));
        }
        Ok(found)
    }

    async fn add(
        &mut self,
        running: &Running,
        state: &SessionState,
        name: &RelationName,
        policy: &Policy,
        text: String,
        is_mask: bool,
    ) {
        if self.of_kind(is_mask).contains_key(&text) {
            return;
        }
        let author = policy::edit::author(policy);
        if let Some(prepared) = prepare(running, state, name, author, &text, is_mask).await.transpose() {
            self.of_kind(is_mask).insert(text, prepared);
        }
    }

    fn of_kind(&mut self, is_mask: bool) -> &mut HashMap<String, Result<Prepared, QueryError>> {
        if is_mask { &mut self.masks } else { &mut self.filters }
    }

    pub(crate) fn get(&self, text: &str, is_mask: bool) -> Option<&Result<Prepared, QueryError>> {
        if is_mask { self.masks.get(text) } else { self.filters.get(text) }
    }

    /// The verdicts by which all that the texts read is cleared.
    pub(crate) fn judged(&self) -> Result<Resolved, QueryError> {
        let mut judged = Resolved::default();
        for prepared in self.filters.values().chain(self.masks.values()).filter_map(|text| text.as_ref().ok())
        {
            if let Some(resolved) = &prepared.resolved {
                judged.judge_all(resolved.verdicts.clone())?;
            }
        }
        Ok(judged)
    }

    /// The relations that a text reads, by full name.
    pub(crate) fn relations(&self, text: &str, is_mask: bool) -> BTreeSet<String> {
        match self.get(text, is_mask) {
            Some(Ok(Prepared { resolved: Some(resolved), .. })) => resolved.read_by_policies.clone(),
            Some(_) | None => BTreeSet::new(),
        }
    }
}

/// `None`: the text is no expression, which its binding will tell.
async fn prepare(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
    author: &str,
    text: &str,
    is_mask: bool,
) -> Result<Option<Prepared>, QueryError> {
    let Some(expr) = parsed(text, is_mask) else { return Ok(None) };
    if !has_query(&expr) {
        return Ok(Some(Prepared { expr, resolved: None }));
    }
    let running = running.written_by(author).ok_or_else(|| {
        QueryError::new(ErrorKind::Denied, "the author of a policy with a sub-query is gone")
    })?;
    // The reader's session has no say in what a policy means: names are those of the relation's own schema.
    let path = SearchPath {
        catalogs: running.engine.catalog_order.clone(),
        catalog: name.catalog.clone(),
        namespace: name.namespace.clone(),
    };
    let mut carrier = carrier(expr)?;
    let mut resolved = Resolved::default();
    resolve::names(&running, state, &mut carrier, &mut resolved, &path).await?;
    if !resolved.files.is_empty() {
        return Err(unsupported("reading files in a policy expression"));
    }
    if resolved.read_by_policies.contains(&name.to_string()) {
        return Err(QueryError::new(
            ErrorKind::Invalid,
            "the sub-query of a policy cannot read the relation that the policy is on",
        ));
    }
    let expr = carried(carrier).ok_or_else(crate::error::internal)?;
    Ok(Some(Prepared { expr, resolved: Some(resolved) }))
}

/// Whether an expression as it was written has a query in it.
fn has_query(expr: &ast::Expr) -> bool {
    struct Finder;
    impl Visitor for Finder {
        type Break = ();

        fn pre_visit_query(&mut self, _: &ast::Query) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    expr.visit(&mut Finder).is_break()
}

/// A statement that has the expression as its only output, for what looks names up walks statements.
fn carrier(expr: ast::Expr) -> Result<ast::Statement, QueryError> {
    let parsed = dialect::parse("SELECT NULL").map_err(|_| crate::error::internal())?;
    let dialect::ast::Statement::Sql(mut statement) = parsed else { return Err(crate::error::internal()) };
    match slot(&mut statement) {
        Some(place) => *place = expr,
        None => return Err(crate::error::internal()),
    }
    Ok(*statement)
}

fn carried(mut statement: ast::Statement) -> Option<ast::Expr> {
    slot(&mut statement).map(|place| place.clone())
}

fn slot(statement: &mut ast::Statement) -> Option<&mut ast::Expr> {
    let ast::Statement::Query(query) = statement else { return None };
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    match select.projection.as_mut_slice() {
        [SelectItem::UnnamedExpr(expr)] => Some(expr),
        _ => None,
    }
}
