//! The physical verifier: the first physical rule, before any that could answer without scanning (L3).

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, internal_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::memory::LazyMemoryExec;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::work_table::WorkTableExec;
use enforce::QueryId;

use super::BarrierExec;

/// Refuses a physical plan with a leaf that neither bears this query's clearance nor is known to hold nothing
/// governed.
#[derive(Debug)]
pub(crate) struct VerifyGoverned {
    query: QueryId,
}

impl VerifyGoverned {
    pub(crate) fn new(query: QueryId) -> Self {
        Self { query }
    }

    fn check(&self, plan: &Arc<dyn ExecutionPlan>, is_cleared: bool) -> Result<()> {
        let is_cleared = match plan.downcast_ref::<BarrierExec>() {
            Some(barrier) if barrier.query() == self.query => true,
            Some(_) => return internal_err!("a scan bears the clearance of another query"),
            None => is_cleared,
        };
        let children = plan.children();
        if children.is_empty() && !is_cleared && !holds_nothing_governed(plan) {
            return internal_err!("a scan bears no clearance: {}", plan.name());
        }
        for child in children {
            self.check(child, is_cleared)?;
        }
        Ok(())
    }
}

/// Leaves that hold only what the statement itself says, or metadata that the logical check has allowed.
fn holds_nothing_governed(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<EmptyExec>().is_some()
        || plan.downcast_ref::<PlaceholderRowExec>().is_some()
        || plan.downcast_ref::<WorkTableExec>().is_some()
        || plan.downcast_ref::<LazyMemoryExec>().is_some()
        || plan
            .downcast_ref::<DataSourceExec>()
            .is_some_and(|source| source.data_source().downcast_ref::<MemorySourceConfig>().is_some())
}

impl PhysicalOptimizerRule for VerifyGoverned {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        self.check(&plan, false)?;
        Ok(plan)
    }

    fn name(&self) -> &str {
        "verify_governed"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
