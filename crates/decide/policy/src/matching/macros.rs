//! Takes the tokens and expressions of a policy's resource for whatever they may stand for.

use super::level::LevelOptions;
use super::token::Expressions;
use super::{LevelMatcher, Levels, MatchContext, ResourceMatcher};
use crate::evaluate::AttributeValue;
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

impl ResourceMatcher {
    /// Matches whatever these resources match for anybody. `None`: they make no path of the definition.
    pub(crate) fn for_any_macro(levels: &Levels, map: &ResourceMap) -> Option<Self> {
        let map = with_everything_for_macros(levels, map);
        Self::with_matchers(levels, &map, |options, values| {
            // The star that a token became counts, whatever the level says of wildcards.
            LevelMatcher::new(&LevelOptions { wild_card: true, ..options.clone() }, values)
        })
        .ok()
        .flatten()
    }
}
