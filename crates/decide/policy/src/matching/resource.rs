//! A resource of several levels: how a policy's resource and a request's resource lie to each other.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::request::RequestLevel;
use super::{LevelMatcher, LevelOptions, Levels, MatchContext, RequestPath};
use crate::evaluate::{ElementScope, LevelValue, Resource};
use crate::model::{ResourceMap, ResourceValues};

/// How a policy's resource lies to the requested one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchType {
    Nothing,
    /// The policy names the requested thing itself.
    Itself,
    /// The policy names it and everything below it.
    ItselfAndAllBelow,
    /// The policy names something above it.
    Above,
    /// The policy names something below it.
    Below,
}

impl MatchType {
    /// Whether the policy speaks of the requested thing itself.
    pub fn is_itself(self) -> bool {
        matches!(self, Self::Itself | Self::ItselfAndAllBelow)
    }

    pub fn is_itself_or_below(self) -> bool {
        self.is_itself() || self == Self::Below
    }
}

/// Which ways of lying to each other are asked for (RangerPolicyResourceMatcher.MatchScope).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchScope {
    Itself,
    ItselfOrBelow,
    ItselfOrAbove,
    Below,
    Above,
    Any,
}

impl MatchScope {
    pub fn takes(self, found: MatchType) -> bool {
        match self {
            Self::Itself => found.is_itself(),
            Self::ItselfOrBelow => found.is_itself_or_below(),
            Self::ItselfOrAbove => found.is_itself() || found == MatchType::Above,
            Self::Below => found == MatchType::Below,
            Self::Above => found == MatchType::Above,
            Self::Any => found != MatchType::Nothing,
        }
    }
}

/// The outline of a resource that an index finds if, and only if, it matches: then nothing more need be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The levels from the root inwards.
    levels: [u8; OUTLINE_LEVELS],
    n_levels: u8,
    n_needed: u8,
}

/// More levels than most definitions have; a resource with more is compared.
const OUTLINE_LEVELS: usize = 5;

impl Outline {
    /// How the resource lies to a request for which an index found it.
    pub(crate) fn match_type(&self, request: &RequestPath<'_>) -> MatchType {
        let requested = request.levels();
        let n_levels = usize::from(self.n_levels);
        // Levels have one parent each, so that two paths that meet at a level are the same down to it.
        let last = requested.len().min(n_levels).checked_sub(1);
        let meets = last.is_none_or(|last| {
            let own = self.levels.get(last).map(|level| usize::from(*level));
            own.is_some() && own == requested.get(last).map(|given| given.level)
        });
        match requested.len().cmp(&n_levels) {
            _ if !meets => MatchType::Nothing,
            Ordering::Greater => MatchType::Above,
            Ordering::Equal => MatchType::Itself,
            Ordering::Less if requested.len() >= usize::from(self.n_needed) => MatchType::ItselfAndAllBelow,
            Ordering::Less => MatchType::Below,
        }
    }
}

/// The resource that a policy names.
#[derive(Clone, Debug)]
pub(crate) struct ResourceMatcher {
    /// From the root inwards, without holes.
    path: Box<[(usize, LevelMatcher)]>,
    /// How many levels there are up to the last that does not take everything.
    n_needed: usize,
}

impl ResourceMatcher {
    /// `Ok(None)`: the levels make no path of the definition, so that the policy never matches.
    ///
    /// # Errors
    /// A level asks for something that is not offered.
    pub(crate) fn new(levels: &Levels, resources: &ResourceMap) -> Result<Option<Self>, String> {
        Self::with_matchers(levels, resources, LevelMatcher::new)
    }

    pub(crate) fn with_matchers(
        levels: &Levels,
        resources: &ResourceMap,
        matcher: impl Fn(&LevelOptions, &ResourceValues) -> LevelMatcher,
    ) -> Result<Option<Self>, String> {
        let Some(path) = levels.path(resources.keys().map(String::as_str)) else { return Ok(None) };
        let mut matchers = Vec::with_capacity(path.len());
        for level in path {
            let named = resources.iter().find(|(name, _)| levels.number(name) == Some(*level));
            let Some((_, values)) = named else { return Ok(None) };
            matchers.push((*level, matcher(levels.options(*level)?, values)));
        }
        let n_needed = matchers.iter().rposition(|(_, matcher)| !matcher.is_any()).map_or(0, |at| at + 1);
        Ok(Some(Self { path: matchers.into_boxed_slice(), n_needed }))
    }

    pub(crate) fn path(&self) -> &[(usize, LevelMatcher)] {
        &self.path
    }

    /// `None`: what an index finds must still be compared.
    pub(crate) fn outline(&self) -> Option<Outline> {
        let is_told = self.path.iter().all(|(_, matcher)| matcher.is_told_by_keys());
        if !is_told || self.path.is_empty() || self.path.len() > OUTLINE_LEVELS {
            return None;
        }
        let mut levels = [0; OUTLINE_LEVELS];
        for (place, (level, _)) in levels.iter_mut().zip(&self.path) {
            *place = u8::try_from(*level).ok()?;
        }
        let (n_levels, n_needed) = (u8::try_from(self.path.len()).ok()?, u8::try_from(self.n_needed).ok()?);
        Some(Outline { levels, n_levels, n_needed })
    }

    /// Whether a value can only be compared once expressions have been evaluated.
    pub(crate) fn needs_expressions(&self) -> bool {
        self.path.iter().any(|(_, matcher)| matcher.needs_expressions())
    }

    /// Whether a value holds tokens or expressions.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.path.iter().any(|(_, matcher)| matcher.is_dynamic())
    }

    pub(crate) fn match_type(&self, request: &RequestPath<'_>, context: &MatchContext<'_>) -> MatchType {
        self.match_type_of(request.levels(), context)
    }

    fn match_type_of(&self, requested: &[RequestLevel<'_>], context: &MatchContext<'_>) -> MatchType {
        for (depth, (level, matcher)) in self.path.iter().enumerate() {
            let fits = match requested.get(depth) {
                Some(given) => given.level == *level && matcher.matches(given, context),
                // A missing value is no obstacle unless the level takes everything and excludes it again.
                None => !matcher.is_any() || matcher.takes_all(),
            };
            if !fits {
                return MatchType::Nothing;
            }
        }
        if requested.len() > self.path.len() {
            // What names nothing at all is above nothing.
            return if self.path.is_empty() { MatchType::Nothing } else { MatchType::Above };
        }
        if requested.len() == self.path.len() {
            return MatchType::Itself;
        }
        if requested.len() >= self.n_needed { MatchType::ItselfAndAllBelow } else { MatchType::Below }
    }

    /// Whether everything that another resource map names is in this one: what delegated administration asks.
    ///
    /// Every value counts, patterns as if they were names; excludes of the other map are not looked at.
    pub(crate) fn covers(&self, levels: &Levels, other: &ResourceMap, context: &MatchContext<'_>) -> bool {
        let is_named = |name: &String| self.path.iter().any(|(level, _)| levels.number(name) == Some(*level));
        if self.path.is_empty() || !other.keys().all(is_named) {
            return false;
        }
        self.path.iter().all(|(level, matcher)| {
            let given = other.iter().find(|(name, _)| levels.number(name) == Some(*level));
            match given.map(|(_, values)| &values.values).filter(|values| !values.is_empty()) {
                None => matcher.is_any(),
                Some(values) => values.iter().all(|value| {
                    request_level(levels, *level, value).is_some_and(|value| matcher.matches(&value, context))
                }),
            }
        })
    }

    /// How another resource map lies to this one, as if each of its values had been requested: level by level, the
    /// first value that lies anyhow counts.
    pub(crate) fn match_type_of_map(
        &self,
        levels: &Levels,
        other: &ResourceMap,
        context: &MatchContext<'_>,
    ) -> MatchType {
        let has_values = |values: &&ResourceValues| !values.values.is_empty();
        let given = || other.iter().filter(|(_, values)| has_values(values)).map(|(name, _)| name.as_str());
        let Some(path) = levels.path(given()) else { return MatchType::Nothing };
        let mut requested = Vec::with_capacity(path.len());
        let mut found = MatchType::Nothing;
        for level in path {
            let values = other.iter().find(|(name, _)| levels.number(name) == Some(*level));
            found = MatchType::Nothing;
            for value in values.into_iter().flat_map(|(_, values)| &values.values) {
                let Some(value) = request_level(levels, *level, value) else { return MatchType::Nothing };
                requested.push(value);
                found = self.match_type_of(&requested, context);
                if found != MatchType::Nothing {
                    break;
                }
                requested.pop();
            }
            if found == MatchType::Nothing {
                return found;
            }
        }
        found
    }
}

fn request_level<'v>(levels: &Levels, level: usize, value: &'v str) -> Option<RequestLevel<'v>> {
    let value = LevelValue::One(Cow::Borrowed(value));
    Some(RequestLevel::new(level, levels.options(level).ok()?, &value, ElementScope::Itself))
}

/// Whether two resource maps name the same levels with the same values, in whatever order.
pub fn is_complete_match(a: &ResourceMap, b: &ResourceMap) -> bool {
    let sorted = |values: &ResourceValues| {
        let mut values = values.values.clone();
        values.sort_unstable();
        values
    };
    a.len() == b.len()
        && a.iter().all(|(name, values)| b.get(name).is_some_and(|other| sorted(other) == sorted(values)))
}

impl Levels {
    /// How a policy's resource lies to a requested one.
    pub(crate) fn match_type(
        &self,
        policy: &ResourceMap,
        request: &Resource<'_>,
        context: &MatchContext<'_>,
    ) -> Result<MatchType, String> {
        let matcher = ResourceMatcher::new(self, policy)?;
        Ok(match (matcher, RequestPath::new(self, request)) {
            (Some(matcher), Some(request)) => matcher.match_type(&request, context),
            _ => MatchType::Nothing,
        })
    }
}

#[cfg(test)]
mod tests;
