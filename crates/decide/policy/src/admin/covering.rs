//! Takes a policy's tokens and expressions for whatever they may stand for, before another policy has to cover it.

use crate::evaluate::AttributeValue;
use crate::matching::{Expressions, Levels, MatchContext};
use crate::model::ResourceMap;

/// Every token and expression stands for everything.
struct Everything;

impl Expressions for Everything {
    fn text(&self, _expr: &str) -> Option<String> {
        Some("*".to_owned())
    }
}

/// The same resources with `*` for every token and expression.
pub(crate) fn with_everything_for_macros(levels: &Levels, map: &ResourceMap) -> ResourceMap {
    let everything = AttributeValue::Text("*".to_owned());
    let context = MatchContext::of_any_token(&everything).with_expressions(&Everything);
    let mut map = map.clone();
    for (name, values) in &mut map {
        let Some(options) = levels.number(name).and_then(|level| levels.options(level).ok()) else {
            continue;
        };
        for value in &mut values.values {
            *value = context.fill(value, &options.syntax);
        }
    }
    map
}
