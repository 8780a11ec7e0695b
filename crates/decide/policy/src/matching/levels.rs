//! The levels of a definition for one kind of policy, and the paths that they make.

use smallvec::SmallVec;

use super::level::LevelOptions;
use crate::model::{PolicyKind, ResourceDef, ServiceDef};
use crate::normalise;

/// The levels of a definition for one kind of policy. A level's number is its place in the definition's own list,
/// the same for every kind.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    levels: Vec<Level>,
}

/// Levels that are held without memory of their own.
pub(crate) const LEVELS_INLINE: usize = 5;

#[derive(Clone, Debug)]
struct Level {
    name: Box<str>,
    /// `Err`: the level's matcher is not offered, which matters once a policy names the level.
    options: Result<LevelOptions, String>,
    is_offered: bool,
    /// Whether a hierarchy may end here.
    is_leaf: bool,
    /// The levels from a root down to this one.
    path: Vec<usize>,
}

impl Levels {
    /// The levels for one kind of policy.
    ///
    /// # Errors
    /// Parents that do not exist or go round in a circle.
    pub(crate) fn of(def: &ServiceDef, kind: PolicyKind) -> Result<Self, String> {
        match kind {
            PolicyKind::Access | PolicyKind::Audit => Self::new(&def.resources, None),
            PolicyKind::Mask => Self::new(&def.resources, Some(&def.mask_resources)),
            PolicyKind::RowFilter => Self::new(&def.resources, Some(&def.filter_resources)),
        }
    }

    /// The levels of a definition; `differences` is what the definition says otherwise for masks or filters.
    ///
    /// # Errors
    /// Those of [`Levels::of`].
    pub(crate) fn new(defs: &[ResourceDef], differences: Option<&[ResourceDef]>) -> Result<Self, String> {
        let is_named = |name: &str| defs.iter().position(|def| def.name == name);
        if defs.iter().enumerate().any(|(number, def)| is_named(&def.name) != Some(number)) {
            return Err("two levels have the same name".to_owned());
        }
        let completed = differences.map(|entries| normalise::completed_levels(defs, entries));
        // Of a definition that contradicts itself about its last levels, no path is valid.
        let offered = completed.as_deref().unwrap_or(defs);
        let has_below = |name: &str| offered.iter().any(|below| below.parent.as_deref() == Some(name));
        let is_valid = offered.iter().all(|def| def.is_valid_leaf != Some(false) || has_below(&def.name));
        let mut parents = Vec::with_capacity(defs.len());
        let mut levels = Vec::with_capacity(defs.len());
        for base in defs {
            let entry = completed.as_ref().map(|all| all.iter().find(|entry| entry.name == base.name));
            let (def, is_offered) = match entry {
                None => (base, true),
                Some(Some(entry)) => (entry, true),
                Some(None) => (base, false),
            };
            parents.push(match def.parent.as_deref().filter(|name| !name.is_empty()) {
                None => None,
                Some(name) => {
                    let missing = || format!("level `{}` has the unknown parent `{name}`", def.name);
                    Some(is_named(name).ok_or_else(missing)?)
                }
            });
            let is_offered = is_offered && is_valid;
            let is_leaf = def.is_valid_leaf == Some(true) || !has_below(&def.name);
            let name = base.name.as_str().into();
            levels.push(Level {
                name,
                options: LevelOptions::of(def),
                is_offered,
                is_leaf,
                path: Vec::new(),
            });
        }
        for (number, level) in levels.iter_mut().enumerate() {
            let circle = || "the parents of its levels go round in a circle".to_owned();
            level.path = path_to(number, &parents).ok_or_else(circle)?;
        }
        Ok(Self { levels })
    }

    pub(crate) fn options(&self, level: usize) -> Result<&LevelOptions, String> {
        match self.levels.get(level).map(|l| &l.options) {
            Some(Ok(options)) => Ok(options),
            Some(Err(fault)) => Err(fault.clone()),
            None => Err("no such level".to_owned()),
        }
    }

    /// Whether a request for a level reads the same by these levels as by others of the same definition.
    pub(crate) fn reads_alike(&self, other: &Self, level: usize) -> bool {
        let (Some(own), Some(other)) = (self.levels.get(level), other.levels.get(level)) else {
            return false;
        };
        let is_alike = match (&own.options, &other.options) {
            (Ok(own), Ok(other)) => own.reads_alike(other),
            _ => false,
        };
        is_alike && own.is_offered && other.is_offered && own.path == other.path
    }

    /// A definition has so few levels that looking through them is the fastest way.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.levels.iter().position(|level| &*level.name == name)
    }

    /// Whether exactly these levels are a hierarchy, from a root to where one may end.
    pub(crate) fn is_hierarchy<'n>(&self, names: impl Iterator<Item = &'n str>) -> bool {
        let last = self.path(names).and_then(<[usize]>::last);
        last.and_then(|level| self.levels.get(*level)).is_some_and(|level| level.is_leaf)
    }

    /// The path that exactly these levels make; `None` if one is unknown, is missing in between, or lies elsewhere.
    pub(crate) fn path<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<&[usize]> {
        let numbers: SmallVec<[usize; LEVELS_INLINE]> =
            names.map(|name| self.number(name)).collect::<Option<_>>()?;
        self.path_of(&numbers)
    }

    /// The same of levels by number, in whatever order.
    pub(crate) fn path_of(&self, numbers: &[usize]) -> Option<&[usize]> {
        let mut deepest: &[usize] = &[];
        for number in numbers {
            let level = self.levels.get(*number).filter(|level| level.is_offered)?;
            if level.path.len() > deepest.len() {
                deepest = &level.path;
            }
        }
        let is_path = deepest.len() == numbers.len() && deepest.iter().all(|level| numbers.contains(level));
        is_path.then_some(deepest)
    }
}

/// The levels from a root down to `level`; `None` if they go round in a circle.
fn path_to(level: usize, parents: &[Option<usize>]) -> Option<Vec<usize>> {
    let mut path = vec![level];
    let mut at = level;
    while let Some(parent) = parents.get(at).copied().flatten() {
        path.push(parent);
        at = parent;
        if path.len() > parents.len() {
            return None;
        }
    }
    path.reverse();
    Some(path)
}
