//! The condition on what a query touches besides (RangerHiveResourcesAccessedTogetherCondition).

use std::collections::BTreeMap;

use super::ConditionContext;
use crate::evaluate::Resource;
use crate::matching::{Levels, MatchContext, RequestPath, ResourceMatcher};
use crate::model::{PolicyKind, ResourceMap, ResourceValues, ServiceDef};

/// Resources that may not, or must, be touched by one query.
#[derive(Clone, Debug)]
pub(super) struct TogetherMatchers {
    levels: Levels,
    matchers: Vec<ResourceMatcher>,
}

/// The only definition that Ranger's evaluator understands.
const DEFINITION: &str = "hive";

impl TogetherMatchers {
    /// `None`: the definition is another one, or no value is `database.table.column`, `database.table` or `database`.
    pub(super) fn new(def: &ServiceDef, values: &[String]) -> Option<Self> {
        if def.name != DEFINITION {
            return None;
        }
        let levels = Levels::of(def, PolicyKind::Access).ok()?;
        let matcher = |value: &String| ResourceMatcher::new(&levels, &resources(value)?).ok().flatten();
        let matchers: Vec<_> = values.iter().filter_map(matcher).collect();
        (!matchers.is_empty()).then_some(Self { levels, matchers })
    }

    /// Whether a query that touches several resources touches what the values name, twice or more.
    pub(super) fn are_together(
        &self,
        resources: &[BTreeMap<String, String>],
        context: &ConditionContext<'_>,
    ) -> bool {
        if resources.len() < 2 {
            return false;
        }
        let tokens =
            MatchContext::new(&context.who.user, context.owner).with_attributes(&context.request.attributes);
        let matched = resources.iter().map(|resource| {
            let resource = Resource::new(resource.iter().map(|(l, v)| (l.as_str(), v.as_str())));
            let Some(path) = RequestPath::new(&self.levels, &resource) else { return 0 };
            self.matchers.iter().filter(|matcher| matcher.match_type(&path, &tokens).is_itself()).count()
        });
        matched.sum::<usize>() > 1
    }
}

fn resources(value: &str) -> Option<ResourceMap> {
    let parts: Vec<&str> = value.trim().split('.').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() || parts.len() > 3 {
        return None;
    }
    let levels = ["database", "table", "column"].iter().enumerate();
    let value = |at: usize| ResourceValues::one(*parts.get(at).unwrap_or(&"*"));
    Some(levels.map(|(at, level)| ((*level).to_owned(), value(at))).collect())
}
