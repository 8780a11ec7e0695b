//! A resource of several levels: how a policy's resource and a request's resource lie to each other.

use std::collections::HashMap;

use super::{LevelMatcher, LevelOptions, Tokens, Value};
use crate::evaluate::{LevelValue, Resource};
use crate::model::{ResourceDef, ResourceMap};

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

/// The levels of a definition for one kind of policy. A level's number is its place in the definition's own list,
/// the same for every kind.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    by_name: HashMap<String, usize>,
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    parent: Option<usize>,
    /// `Err`: the level's matcher is not offered, which matters once a policy names the level.
    options: Result<LevelOptions, String>,
    is_offered: bool,
}

impl Levels {
    /// The levels of a definition; `differences` is what the definition says otherwise for masks or filters.
    ///
    /// # Errors
    /// Parents that do not exist or go round in a circle.
    pub(crate) fn new(defs: &[ResourceDef], differences: Option<&[ResourceDef]>) -> Result<Self, String> {
        let by_name: HashMap<String, usize> =
            defs.iter().enumerate().map(|(number, def)| (def.name.clone(), number)).collect();
        if by_name.len() < defs.len() {
            return Err("two levels have the same name".to_owned());
        }
        let mut levels = Vec::with_capacity(defs.len());
        for def in defs {
            let parent = match def.parent.as_deref().filter(|name| !name.is_empty()) {
                None => None,
                Some(name) => {
                    let missing = || format!("level `{}` has the unknown parent `{name}`", def.name);
                    Some(*by_name.get(name).ok_or_else(missing)?)
                }
            };
            let (merged, is_offered) = match differences {
                None => (def.clone(), true),
                Some(entries) => match entries.iter().find(|entry| entry.name == def.name) {
                    Some(entry) => (completed(entry, def), true),
                    None => (def.clone(), false),
                },
            };
            levels.push(Level { parent, options: LevelOptions::of(&merged), is_offered });
        }
        let levels = Self { by_name, levels };
        match (0..levels.levels.len()).find(|level| levels.ancestry(*level).is_none()) {
            Some(_) => Err("the parents of its levels go round in a circle".to_owned()),
            None => Ok(levels),
        }
    }

    fn options(&self, level: usize) -> Result<&LevelOptions, String> {
        match self.levels.get(level).map(|l| &l.options) {
            Some(Ok(options)) => Ok(options),
            Some(Err(fault)) => Err(fault.clone()),
            None => Err("no such level".to_owned()),
        }
    }

    /// How an index finds an exact value of a level; `None` where it cannot.
    pub(crate) fn key(&self, level: usize, value: &Value) -> Option<String> {
        self.options(level).ok()?.key(value)
    }

    /// The levels from a root down to `level`; `None` if they go round in a circle.
    fn ancestry(&self, level: usize) -> Option<Vec<usize>> {
        let mut path = vec![level];
        let mut at = level;
        while let Some(parent) = self.levels.get(at).and_then(|l| l.parent) {
            path.push(parent);
            at = parent;
            if path.len() > self.levels.len() {
                return None;
            }
        }
        path.reverse();
        Some(path)
    }

    /// The path that exactly these levels make; `None` if one is unknown, is missing in between, or lies elsewhere.
    fn path<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<Vec<usize>> {
        let mut given = Vec::new();
        for name in names {
            let number = *self.by_name.get(name)?;
            if !self.levels.get(number)?.is_offered || given.contains(&number) {
                return None;
            }
            given.push(number);
        }
        if given.is_empty() {
            return Some(given);
        }
        given
            .iter()
            .filter_map(|level| self.ancestry(*level))
            .find(|path| path.len() == given.len() && path.iter().all(|level| given.contains(level)))
    }
}

/// An entry of dataMaskDef or rowFilterDef, completed from the level that it stands for.
fn completed(entry: &ResourceDef, base: &ResourceDef) -> ResourceDef {
    let mut merged = base.clone();
    if !entry.matcher.is_empty() {
        merged.matcher.clone_from(&entry.matcher);
    }
    merged.matcher_options.extend(entry.matcher_options.clone());
    merged
}

/// A requested resource, level by level from the root, ready to be compared.
#[derive(Clone, Debug)]
pub(crate) struct RequestPath(Vec<(usize, Value)>);

impl RequestPath {
    /// `None`: the levels make no path of the definition, so that no policy can match.
    pub(crate) fn new(levels: &Levels, resource: &Resource<'_>) -> Option<Self> {
        let path = levels.path(resource.levels().iter().map(|(name, _)| name.as_ref()))?;
        let mut values = Vec::with_capacity(path.len());
        for level in path {
            let (_, value) = resource
                .levels()
                .iter()
                .find(|(name, _)| levels.by_name.get(name.as_ref()) == Some(&level))?;
            let LevelValue::One(value) = value else { return None };
            values.push((level, Value::new(value)));
        }
        Some(Self(values))
    }

    pub(crate) fn levels(&self) -> &[(usize, Value)] {
        &self.0
    }
}

/// The resource that a policy names.
#[derive(Clone, Debug)]
pub(crate) struct ResourceMatcher {
    /// From the root inwards, without holes.
    path: Vec<(usize, LevelMatcher)>,
}

impl ResourceMatcher {
    /// `Ok(None)`: the levels make no path of the definition, so that the policy never matches.
    ///
    /// # Errors
    /// A level or value asks for something that is not offered.
    pub(crate) fn new(levels: &Levels, resources: &ResourceMap) -> Result<Option<Self>, String> {
        let Some(path) = levels.path(resources.keys().map(String::as_str)) else { return Ok(None) };
        let mut matchers = Vec::with_capacity(path.len());
        for level in path {
            let Some((_, values)) =
                resources.iter().find(|(name, _)| levels.by_name.get(*name) == Some(&level))
            else {
                return Ok(None);
            };
            matchers.push((level, LevelMatcher::new(levels.options(level)?, values)?));
        }
        Ok(Some(Self { path: matchers }))
    }

    pub(crate) fn path(&self) -> &[(usize, LevelMatcher)] {
        &self.path
    }

    pub(crate) fn match_type(&self, request: &RequestPath, tokens: &Tokens<'_>) -> MatchType {
        let requested = request.levels();
        for (depth, (level, matcher)) in self.path.iter().enumerate() {
            let fits = match requested.get(depth) {
                Some((at, value)) => at == level && matcher.matches(Some(value), tokens),
                // A missing value is no obstacle unless the level takes everything and excludes it again.
                None => !matcher.is_any() || matcher.matches(None, tokens),
            };
            if !fits {
                return MatchType::Nothing;
            }
        }
        if requested.len() > self.path.len() {
            return MatchType::Above;
        }
        if requested.len() == self.path.len() {
            return MatchType::Itself;
        }
        let rest_takes_all = self.path.iter().skip(requested.len()).all(|(_, matcher)| matcher.is_any());
        if rest_takes_all { MatchType::ItselfAndAllBelow } else { MatchType::Below }
    }
}

#[cfg(test)]
mod tests;
