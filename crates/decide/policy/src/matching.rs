//! Compares the resource of a request with the resources that policies name.

mod fold;
mod glob;
mod level;
mod levels;
mod macros;
mod pattern;
mod request;
mod resource;
mod token;

use std::borrow::Cow;

pub(crate) use glob::Separator;
pub(crate) use level::{LevelKey, LevelMatcher, LevelOptions};
pub(crate) use levels::Levels;
pub(crate) use macros::with_everything_for_macros;
pub(crate) use request::{RequestLevel, RequestPath};
pub use resource::{MatchScope, MatchType, is_complete_match};
pub(crate) use resource::{Outline, ResourceMatcher};
pub use token::{Expressions, MatchContext};

use crate::evaluate::{ElementScope, LevelValue, Resource};
use crate::model::{PolicyKind, ResourceDef, ResourceMap, ResourceValues, ServiceDef};

/// Whether one level of a policy names a requested value.
///
/// # Errors
/// The level asks for something that is not offered.
pub fn level_matches(
    def: &ResourceDef,
    policy: &ResourceValues,
    value: &str,
    context: &MatchContext<'_>,
) -> Result<bool, String> {
    let options = LevelOptions::of(def)?;
    let value = LevelValue::One(Cow::Borrowed(value));
    let request = RequestLevel::new(0, &options, &value, ElementScope::Itself);
    Ok(LevelMatcher::new(&options, policy).matches(&request, context))
}

/// How the resource of an access policy lies to a requested one.
///
/// # Errors
/// A fault of the definition, or a level that asks for something that is not offered.
pub fn match_type(
    def: &ServiceDef,
    policy: &ResourceMap,
    request: &Resource<'_>,
    context: &MatchContext<'_>,
) -> Result<MatchType, String> {
    Levels::of(def, PolicyKind::Access)?.match_type(policy, request, context)
}

/// How the resource of one access policy lies to that of another, whose values count as if each was requested.
///
/// # Errors
/// Those of [`match_type`].
pub fn match_type_of_map(
    def: &ServiceDef,
    policy: &ResourceMap,
    other: &ResourceMap,
    context: &MatchContext<'_>,
) -> Result<MatchType, String> {
    let levels = Levels::of(def, PolicyKind::Access)?;
    let matcher = ResourceMatcher::new(&levels, policy)?;
    Ok(matcher.map_or(MatchType::Nothing, |matcher| matcher.match_type_of_map(&levels, other, context)))
}
