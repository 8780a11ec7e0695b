//! `pg_table_is_visible` and its like: true of what the catalog lists for this user, NULL of anything else.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::array::{AsArray, BooleanArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result as DfResult;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use query_api::QueryError;
use sqlparser::ast::{self, Expr, Visit, Visitor};

use super::PgSession;
use crate::names::{PG_CATALOG, RelationName};
use crate::running::Running;

/// Each function, and the table whose numbers it is asked of.
const FUNCTIONS: [(&str, &str); 5] = [
    ("pg_table_is_visible", "pg_class"),
    ("pg_type_is_visible", "pg_type"),
    ("pg_function_is_visible", "pg_proc"),
    ("pg_operator_is_visible", "pg_operator"),
    ("pg_collation_is_visible", "pg_collation"),
];

pub(super) fn has_function(table: &str) -> bool {
    FUNCTIONS.iter().any(|(_, of)| *of == table)
}

/// Adds the functions to the state of one statement.
pub(crate) fn register_visible(state: &mut SessionState, session: &Arc<PgSession>) {
    for (name, table) in FUNCTIONS {
        let function = IsVisible {
            name,
            table,
            session: Arc::clone(session),
            signature: Signature::any(1, Volatility::Stable),
        };
        // It can only fail where registering is not offered at all.
        let _ = state.register_udf(Arc::new(ScalarUDF::from(function)));
    }
}

/// Lists the tables whose numbers a statement asks about, unless it has read them itself.
pub(crate) async fn load_numbers(
    running: &Running,
    state: &SessionState,
    statement: &ast::Statement,
) -> Result<(), QueryError> {
    for table in tables_of(statement) {
        if running.pg.has_numbers(table, running.query) {
            continue;
        }
        let name = RelationName {
            catalog: running.path.catalog.clone(),
            namespace: vec![PG_CATALOG.to_owned()],
            name: table.to_owned(),
        };
        super::pg_catalog::table(running, state, &name).await?;
    }
    Ok(())
}

fn tables_of(statement: &ast::Statement) -> BTreeSet<&'static str> {
    struct Finder(BTreeSet<&'static str>);
    impl Visitor for Finder {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            if let Expr::Function(function) = expr {
                let name = function.name.to_string().to_lowercase();
                let name = name.rsplit('.').next().unwrap_or_default();
                self.0.extend(FUNCTIONS.iter().filter(|(known, _)| *known == name).map(|(_, table)| *table));
            }
            ControlFlow::Continue(())
        }
    }
    let mut finder = Finder(BTreeSet::new());
    let _ = statement.visit(&mut finder);
    finder.0
}

struct IsVisible {
    name: &'static str,
    table: &'static str,
    session: Arc<PgSession>,
    signature: Signature,
}

impl fmt::Debug for IsVisible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for IsVisible {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.session, &other.session)
    }
}

impl Eq for IsVisible {}

impl Hash for IsVisible {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for IsVisible {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let seen = self.session.numbers(self.table);
        let asked = ColumnarValue::values_to_arrays(&args.args)?;
        let answers: BooleanArray = match asked.first() {
            Some(asked) => {
                let asked = cast(asked, &DataType::Int64)?;
                let numbers = asked.as_primitive::<Int64Type>();
                numbers
                    .iter()
                    .map(|number| number.filter(|number| seen.contains(number)).map(|_| true))
                    .collect()
            }
            None => BooleanArray::new_null(args.number_rows),
        };
        Ok(ColumnarValue::Array(Arc::new(answers)))
    }
}
