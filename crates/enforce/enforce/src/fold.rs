//! Session functions: what they are called, and their replacement by constants once rights are checked.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_common::{DataFusionError, Result, ScalarValue, plan_err};
use datafusion_expr::expr::ScalarFunction;
use datafusion_expr::expr_rewriter::NamePreserver;
use datafusion_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};

use crate::error::EnforceError;

/// What a session function can tell: all of it about the reader herself.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    pub user: String,
    pub groups: BTreeSet<String>,
    pub roles: BTreeSet<String>,
    pub attributes: BTreeMap<String, String>,
    pub catalog: String,
    pub schema: String,
}

/// The session functions of the SQL surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionFunction {
    User,
    IsMember,
    IsRoleInSession,
    CurrentRole,
    CurrentAvailableRoles,
    CurrentGroups,
    UserAttribute,
    CurrentCatalog,
    CurrentSchema,
}

/// Name and meaning of each.
const NAMES: [(&str, SessionFunction); 13] = [
    ("current_user", SessionFunction::User),
    ("session_user", SessionFunction::User),
    ("user", SessionFunction::User),
    ("query_user", SessionFunction::User),
    ("is_member", SessionFunction::IsMember),
    ("is_role_in_session", SessionFunction::IsRoleInSession),
    ("current_role", SessionFunction::CurrentRole),
    ("current_available_roles", SessionFunction::CurrentAvailableRoles),
    ("current_groups", SessionFunction::CurrentGroups),
    ("user_attribute", SessionFunction::UserAttribute),
    ("current_catalog", SessionFunction::CurrentCatalog),
    ("current_database", SessionFunction::CurrentCatalog),
    ("current_schema", SessionFunction::CurrentSchema),
];

/// The functions as DataFusion's planner wants them. They plan, and refuse to run: only folding gives them a value.
pub fn session_functions() -> Vec<Arc<ScalarUDF>> {
    NAMES.iter().map(|(name, function)| Arc::new(ScalarUDF::from(Unfolded::new(name, *function)))).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Unfolded {
    name: &'static str,
    function: SessionFunction,
    signature: Signature,
}

impl Unfolded {
    fn new(name: &'static str, function: SessionFunction) -> Self {
        let arguments = match function {
            SessionFunction::IsMember | SessionFunction::IsRoleInSession | SessionFunction::UserAttribute => {
                TypeSignature::String(1)
            }
            _ => TypeSignature::Nullary,
        };
        Self { name, function, signature: Signature::new(arguments, Volatility::Stable) }
    }
}

impl ScalarUDFImpl for Unfolded {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.function {
            SessionFunction::IsMember | SessionFunction::IsRoleInSession => DataType::Boolean,
            _ => DataType::Utf8,
        })
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        plan_err!("`{}` was not folded to a constant", self.name)
    }
}

/// Folds the session functions of a whole plan, sub-query plans included.
pub fn fold_plan(plan: LogicalPlan, facts: &SessionFacts) -> Result<LogicalPlan, EnforceError> {
    let folded = plan.transform_up_with_subqueries(|node| {
        // A name of an output column must not change because its expression was folded.
        let names = NamePreserver::new(&node);
        let folded = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let folded = fold(expr, facts)?;
            Ok(if folded.transformed { folded.update_data(|expr| name.restore(expr)) } else { folded })
        })?;
        if folded.transformed { folded.map_data(LogicalPlan::recompute_schema) } else { Ok(folded) }
    })?;
    Ok(folded.data)
}

/// Folds the session functions of one expression.
pub fn fold_expr(expr: Expr, facts: &SessionFacts) -> Result<Expr, EnforceError> {
    Ok(fold(expr, facts)?.data)
}

fn fold(expr: Expr, facts: &SessionFacts) -> Result<Transformed<Expr>> {
    expr.transform_up(|part| {
        let Expr::ScalarFunction(ScalarFunction { func, args }) = &part else {
            return Ok(Transformed::no(part));
        };
        let inner: &dyn Any = func.inner().as_ref();
        let Some(unfolded) = inner.downcast_ref::<Unfolded>() else {
            return Ok(Transformed::no(part));
        };
        let value = value_of(unfolded, args, facts)?;
        Ok(Transformed::yes(Expr::Literal(value, None)))
    })
}

fn value_of(unfolded: &Unfolded, args: &[Expr], facts: &SessionFacts) -> Result<ScalarValue> {
    let text = |text: &str| ScalarValue::Utf8(Some(text.to_owned()));
    Ok(match unfolded.function {
        SessionFunction::User => text(&facts.user),
        SessionFunction::IsMember => {
            let name = literal(unfolded.name, args)?;
            ScalarValue::Boolean(
                name.map(|name| {
                    facts.roles.contains(&name) || facts.groups.contains(&name) || name == "public"
                }),
            )
        }
        SessionFunction::IsRoleInSession => {
            ScalarValue::Boolean(literal(unfolded.name, args)?.map(|name| facts.roles.contains(&name)))
        }
        // There is no SET ROLE: all roles are active. The first by name stands for them, NULL for none.
        SessionFunction::CurrentRole => ScalarValue::Utf8(facts.roles.first().cloned()),
        SessionFunction::CurrentAvailableRoles => text(&json_list(&facts.roles)),
        SessionFunction::CurrentGroups => text(&json_list(&facts.groups)),
        SessionFunction::UserAttribute => {
            let key = literal(unfolded.name, args)?;
            ScalarValue::Utf8(key.and_then(|key| facts.attributes.get(&key).cloned()))
        }
        SessionFunction::CurrentCatalog => text(&facts.catalog),
        SessionFunction::CurrentSchema => text(&facts.schema),
    })
}

/// The one argument, which must be known when the statement is planned; `None` for NULL.
fn literal(function: &str, args: &[Expr]) -> Result<Option<String>> {
    let argument = match args {
        [Expr::Cast(cast)] => cast.expr.as_ref(),
        [argument] => argument,
        _ => return plan_err!("`{function}` takes one argument"),
    };
    match argument {
        Expr::Literal(value, _) if value.is_null() => Ok(None),
        Expr::Literal(value, _) => match value.try_as_str() {
            Some(text) => Ok(text.map(str::to_owned)),
            None => plan_err!("`{function}` takes a text"),
        },
        _ => Err(DataFusionError::Plan(format!("`{function}` takes a text literal"))),
    }
}

fn json_list(names: &BTreeSet<String>) -> String {
    let quoted: Vec<String> =
        names.iter().map(|name| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))).collect();
    format!("[{}]", quoted.join(","))
}

#[cfg(test)]
mod tests;
