//! The policies of the service, and what each of them speaks of.

use std::collections::HashSet;

use policy::model::{
    Access, FilterItem, Item, MaskInfo, MaskItem, Policy, PolicyCondition, PolicyId, PolicyKind, ResourceMap,
    ResourceValues, ValiditySchedule,
};

use crate::names::{self, column, database, ending, table, zone};
use crate::people::{People, Who};
use crate::rng::{Rng, shuffled};
use crate::service::SERVICE;
use crate::shape::Shape;

/// Of a hundred policies, how many have which resource, in this order; exact tables are the rest.
const OF_A_HUNDRED: [(Form, u32); 8] = [
    (Form::Database, 10),
    (Form::TablesByPrefix, 3),
    (Form::DatabasesByPrefix, 1),
    (Form::TablesBySuffix, 1),
    (Form::Excludes, 3),
    (Form::Columns, 5),
    (Form::Mask, 5),
    (Form::Filter, 2),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Table,
    Database,
    TablesByPrefix,
    DatabasesByPrefix,
    TablesBySuffix,
    Excludes,
    Columns,
    Mask,
    Filter,
}

/// Which numbers of a level a policy takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    One(u32),
    /// From the first, so many.
    Run(u32, u32),
    AllBut(u32),
    All,
}

impl Pick {
    pub(crate) fn draw(self, n: u32, rng: &mut Rng) -> u32 {
        match self {
            Self::One(number) => number,
            Self::Run(first, count) => (first + rng.below(count)).min(n.saturating_sub(1)),
            Self::AllBut(number) => match rng.below(n) {
                same if same == number => (number + 1) % n.max(1),
                other => other,
            },
            Self::All => rng.below(n),
        }
    }
}

/// What a policy speaks of.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub kind: PolicyKind,
    pub(crate) database: Pick,
    pub(crate) table: Pick,
    pub(crate) column: Pick,
    pub(crate) who: Who,
}

/// How many policies of a form there are already, so that no resource comes twice.
#[derive(Default)]
struct Counts {
    by_form: [u32; 9],
    endings: HashSet<u32>,
}

pub(crate) fn policies(shape: &Shape, people: &People, rng: &mut Rng) -> (Vec<Policy>, Vec<Target>) {
    let mut counts = Counts::default();
    (0..shape.n_policies)
        .map(|number| {
            let form = if shape.is_exact { Form::Table } else { form(rng) };
            let (resources, mut target) = counts.next(form, shape, rng);
            let mut made = Policy::new(SERVICE, format!("policy {number:07}"), target.kind);
            made.id = PolicyId(i64::from(number) + 1);
            made.guid = format!("{number:08x}-0000-4000-8000-000000000000");
            made.resources = resources;
            if let Pick::One(database) = target.database {
                made.zone = shape.zone_of(database).map(zone);
            }
            target.who = if shape.is_exact {
                say_exactly(&mut made, people, rng)
            } else {
                say(&mut made, people, rng)
            };
            (made, target)
        })
        .unzip()
}

fn form(rng: &mut Rng) -> Form {
    let mut drawn = rng.below(100);
    for (form, share) in OF_A_HUNDRED {
        if drawn < share {
            return form;
        }
        drawn -= share;
    }
    Form::Table
}

impl Counts {
    fn next(&mut self, form: Form, shape: &Shape, rng: &mut Rng) -> (ResourceMap, Target) {
        let nth = self.by_form.get_mut(form as usize).map_or(0, |count| {
            *count += 1;
            *count - 1
        });
        // Tables of the different forms begin at different places, so that they overlap as if by chance.
        let place = shuffled(nth + form as u32 * 1_000, shape.n_all_tables());
        let (of_database, of_table) = (place / shape.n_tables, place % shape.n_tables);
        let by_turns = shuffled(nth, shape.n_databases);
        let mut target = Target {
            kind: PolicyKind::Access,
            database: Pick::One(of_database),
            table: Pick::One(of_table),
            column: Pick::All,
            who: Who::User(0),
        };
        let named = |number: u32| table(shape, of_database, number);
        let all = || ResourceValues::one("*");
        let (database_values, table_values, column_values) = match form {
            Form::Table => (one(database(of_database)), one(named(of_table)), Some(all())),
            Form::Database => {
                (target.database, target.table) = (Pick::One(by_turns), Pick::All);
                (one(database(by_turns)), all(), Some(all()))
            }
            Form::TablesByPrefix => {
                let tens = of_table / 10 * 10;
                target.table = Pick::Run(tens, 10);
                (one(database(of_database)), one(format!("t{}*", tens / 10)), Some(all()))
            }
            Form::DatabasesByPrefix => {
                let tens = shuffled(nth, shape.n_databases / 10);
                (target.database, target.table) = (Pick::Run(tens * 10, 10), Pick::All);
                (one(format!("db{tens:05}*")), all(), Some(all()))
            }
            Form::TablesBySuffix => {
                let (database, number) = self.new_ending(shape, rng);
                (target.database, target.table) = (Pick::One(database), Pick::One(number));
                let pattern = format!("*_s{:05}", ending(shape, database, number));
                (all(), one(pattern), Some(all()))
            }
            Form::Excludes => {
                target.database = Pick::One(by_turns);
                target.table = Pick::AllBut(of_table);
                let but = table(shape, by_turns, of_table);
                let but = ResourceValues { is_excludes: true, ..ResourceValues::one(but) };
                (one(database(by_turns)), but, Some(all()))
            }
            Form::Columns => {
                let first = rng.below(shape.n_columns - 4);
                target.column = Pick::Run(first, 4);
                let values = (first..first + 4).map(column).collect();
                let values = ResourceValues { values, is_excludes: false, is_recursive: false };
                (one(database(of_database)), one(named(of_table)), Some(values))
            }
            Form::Mask => {
                let number = rng.below(shape.n_columns);
                (target.kind, target.column) = (PolicyKind::Mask, Pick::One(number));
                (one(database(of_database)), one(named(of_table)), Some(one(column(number))))
            }
            Form::Filter => {
                target.kind = PolicyKind::RowFilter;
                (one(database(of_database)), one(named(of_table)), None)
            }
        };
        let mut resources =
            ResourceMap::from([("database".to_owned(), database_values), ("table".to_owned(), table_values)]);
        resources.extend(column_values.map(|values| ("column".to_owned(), values)));
        (resources, target)
    }

    /// A table outside of all zones whose ending no policy has yet.
    fn new_ending(&mut self, shape: &Shape, rng: &mut Rng) -> (u32, u32) {
        loop {
            let (database, number) = (rng.below(shape.n_databases), rng.below(shape.n_tables));
            let is_new =
                shape.zone_of(database).is_none() && self.endings.insert(ending(shape, database, number));
            if is_new || self.endings.len() >= shape.n_endings() as usize {
                return (database, number);
            }
        }
    }
}

fn one(value: String) -> ResourceValues {
    ResourceValues::one(value)
}

/// Gives a policy its items, and says whom one of them names.
fn say(made: &mut Policy, people: &People, rng: &mut Rng) -> Who {
    let first = people.any_who(rng);
    match made.kind {
        PolicyKind::Mask => {
            let mask = MaskInfo { mask_type: "MASK_HASH".to_owned(), ..MaskInfo::default() };
            let mut masked = item_of(&["select"], first);
            add_more(&mut masked, people, rng);
            made.mask_items.push(MaskItem { item: masked, mask });
        }
        PolicyKind::RowFilter => {
            let mut filtered = item_of(&["select"], first);
            add_more(&mut filtered, people, rng);
            made.filter_items.push(FilterItem { item: filtered, filter_expr: "region = 'EU'".to_owned() });
        }
        PolicyKind::Access | PolicyKind::Audit => {
            let mut granted = item_of(&["select"], first);
            add_more(&mut granted, people, rng);
            made.items.push(granted);
            if rng.chance(0.3) {
                made.items.push(item(people, &["select", "update", "alter"], rng));
            }
            if rng.chance(0.05) {
                made.deny_items.push(item(people, &["select", "update"], rng));
                made.deny_exceptions.push(item(people, &["select"], rng));
            }
            if rng.chance(0.01) {
                made.conditions.push(PolicyCondition {
                    kind: "ip-range".to_owned(),
                    values: vec!["10.1.*".to_owned(), "10.2.*".to_owned()],
                });
            }
            if rng.chance(0.005) {
                let end = if rng.chance(0.5) { "2020/01/01 00:00:00" } else { "2090/01/01 00:00:00" };
                made.validity.push(ValiditySchedule {
                    start_time: Some("2019/01/01 00:00:00".to_owned()),
                    end_time: Some(end.to_owned()),
                    time_zone: Some("UTC".to_owned()),
                    recurrences: Vec::new(),
                });
            }
        }
    }
    first
}

/// One principal; one policy in twenty denies.
fn say_exactly(made: &mut Policy, people: &People, rng: &mut Rng) -> Who {
    let who = people.any_who(rng);
    let only = item_of(&["select"], who);
    if rng.chance(0.05) { &mut made.deny_items } else { &mut made.items }.push(only);
    who
}

/// An item that names up to three.
pub(crate) fn item(people: &People, accesses: &[&str], rng: &mut Rng) -> Item {
    let mut made = item_of(accesses, people.any_who(rng));
    add_more(&mut made, people, rng);
    made
}

fn item_of(accesses: &[&str], who: Who) -> Item {
    let mut made =
        Item { accesses: accesses.iter().map(|name| Access::new(*name)).collect(), ..Item::default() };
    add(&mut made, who);
    made
}

fn add_more(made: &mut Item, people: &People, rng: &mut Rng) {
    for _ in 0..rng.below(3) {
        add(made, people.any_who(rng));
    }
}

fn add(made: &mut Item, who: Who) {
    let (list, name) = match who {
        Who::User(number) => (&mut made.users, names::user(number)),
        Who::Group(number) => (&mut made.groups, names::group(number)),
        Who::Role(number) => (&mut made.roles, names::role(number)),
    };
    if !list.contains(&name) {
        list.push(name);
    }
}
