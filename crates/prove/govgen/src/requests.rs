//! What is asked: by Zipf's law of what policies speak of, and sometimes of what none does.

use policy::model::PolicyKind;

use crate::names::{column, database, table, user};
use crate::rng::{Rng, shuffled};
use crate::{Target, World};

/// Requests that are about what some policy says of the very user.
const HITS: f64 = 0.85;

/// What requests are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Access to tables.
    Tables,
    /// Access to columns and tables, masks and row filters.
    All,
    /// Any access to anything in a database.
    Databases,
}

/// A request as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub kind: PolicyKind,
    pub user: String,
    pub database: String,
    pub table: Option<String>,
    pub column: Option<String>,
    pub access: &'static str,
    /// One in two comes from where conditions admit it.
    pub is_inside: bool,
}

impl Asked {
    /// Database and table as one name, for engines that have no levels.
    pub fn object(&self) -> String {
        format!("{}.{}", self.database, self.table.as_deref().unwrap_or_default())
    }
}

pub fn requests(world: &World, mix: Mix, n: usize, seed: u64) -> Vec<Asked> {
    let mut rng = Rng::new(seed);
    let by_kind = |kind| -> Vec<Target> {
        world.targets.iter().filter(|target| target.kind == kind).copied().collect()
    };
    let (access, masks, filters) =
        (by_kind(PolicyKind::Access), by_kind(PolicyKind::Mask), by_kind(PolicyKind::RowFilter));
    (0..n)
        .map(|_| {
            let (kind, targets) = match (mix, rng.below(10)) {
                (Mix::All, 8) => (PolicyKind::Mask, &masks),
                (Mix::All, 9) => (PolicyKind::RowFilter, &filters),
                _ => (PolicyKind::Access, &access),
            };
            let has_column = match kind {
                PolicyKind::Mask => true,
                PolicyKind::RowFilter => false,
                PolicyKind::Access | PolicyKind::Audit => mix == Mix::All && rng.chance(0.6),
            };
            let mut asked = request(world, targets, kind, has_column, &mut rng);
            if mix == Mix::Databases {
                (asked.table, asked.column, asked.access) = (None, None, "_any");
            }
            asked
        })
        .collect()
}

fn request(world: &World, targets: &[Target], kind: PolicyKind, has_column: bool, rng: &mut Rng) -> Asked {
    let (shape, people) = (&world.shape, &world.people);
    let n_targets = u32::try_from(targets.len()).unwrap_or(u32::MAX);
    let rank = rng.zipf(n_targets.max(1));
    let target = targets.get(shuffled(rank, n_targets) as usize).filter(|_| rng.chance(HITS));
    let (of_database, of_table, at) = match target {
        Some(target) => (
            target.database.draw(shape.n_databases, rng),
            target.table.draw(shape.n_tables, rng),
            target.column.draw(shape.n_columns, rng),
        ),
        None => (rng.below(shape.n_databases), rng.below(shape.n_tables), rng.below(shape.n_columns)),
    };
    let who =
        target.and_then(|target| people.user_of(target.who, rng)).unwrap_or_else(|| people.any_user(rng));
    let is_whole = target.is_some_and(|target| target.column == crate::policies::Pick::All);
    Asked {
        kind,
        user: user(who),
        database: database(of_database),
        table: Some(table(shape, of_database, of_table)),
        column: (has_column || (target.is_some() && !is_whole)).then(|| column(at)),
        access: if shape.is_exact || kind != PolicyKind::Access || rng.chance(0.8) {
            "select"
        } else {
            "update"
        },
        is_inside: rng.chance(0.5),
    }
}
