//! Writes to the table `d`: INSERT, UPDATE, DELETE, MERGE, OVERWRITE and TRUNCATE.

use super::scope::{Column, Named, Scope};
use super::{Maker, joined};
use crate::lake::Kind;
use crate::tree::{Part, Sort, Tree, parts};

/// One write.
pub(crate) fn write(maker: &mut Maker<'_>) -> Tree {
    let columns: Vec<(String, Kind)> =
        maker.lake.table("d").columns.iter().map(|column| (column.name.to_owned(), column.kind)).collect();
    let parts = match maker.dice.roll(16) {
        0..=3 => insert(maker, &columns),
        4..=8 => update(maker, &columns),
        9..=11 => delete(maker),
        12 | 13 => merge(maker, &columns),
        14 => {
            let source = source(maker, &columns);
            parts!["INSERT OVERWRITE g.d ", source]
        }
        _ => parts!["TRUNCATE TABLE g.d"],
    };
    Tree::new(Sort::Statement, parts)
}

fn target(maker: &Maker<'_>) -> Scope {
    let columns = maker.lake.table("d").columns.iter();
    let columns = columns
        .map(|column| Column { is_digits: column.is_digits, ..Column::new(column.name, column.kind) })
        .collect();
    Scope::of(Named { text: "d".to_owned(), columns })
}

fn source(maker: &mut Maker<'_>, columns: &[(String, Kind)]) -> Tree {
    let kinds: Vec<Kind> = columns.iter().map(|(_, kind)| *kind).collect();
    maker.nested_query(&kinds, &Scope::default(), 1)
}

fn insert(maker: &mut Maker<'_>, columns: &[(String, Kind)]) -> Vec<Part> {
    let chosen: Vec<(String, Kind)> = columns.iter().filter(|_| !maker.dice.once_in(4)).cloned().collect();
    let chosen = if chosen.is_empty() { columns.to_vec() } else { chosen };
    let names: Vec<&str> = chosen.iter().map(|(name, _)| name.as_str()).collect();
    parts![format!("INSERT INTO g.d ({}) ", names.join(", ")), source(maker, &chosen)]
}

fn condition(maker: &mut Maker<'_>, scope: &Scope) -> Tree {
    if maker.dice.once_in(6) {
        return Tree::clause(Vec::new());
    }
    Tree::clause(parts![" WHERE ", maker.condition(scope, 2)])
}

fn assignments(maker: &mut Maker<'_>, columns: &[(String, Kind)], scope: &Scope) -> Vec<Part> {
    let n = 1 + maker.dice.roll(2);
    let mut chosen: Vec<(String, Kind)> = Vec::new();
    for _ in 0..n {
        let column = maker.dice.pick(columns).clone();
        if !chosen.contains(&column) {
            chosen.push(column);
        }
    }
    let mut parts = Vec::new();
    for (name, kind) in chosen {
        let value = if maker.dice.once_in(2) { maker.literal(kind) } else { maker.value(kind, scope, 1) };
        parts.push(Part::from(Tree::new(Sort::Statement, parts![format!("{name} = "), value])));
    }
    joined(parts, ", ")
}

fn update(maker: &mut Maker<'_>, columns: &[(String, Kind)]) -> Vec<Part> {
    let mut scope = target(maker);
    let mut from = Tree::clause(Vec::new());
    if maker.dice.once_in(4) {
        let (relation, named) = maker.one_relation(&Scope::default());
        from = Tree::clause(parts![" FROM ", relation]);
        scope.relations.extend(named.relations);
    }
    let mut parts = parts!["UPDATE g.d AS d SET "];
    parts.extend(assignments(maker, columns, &scope));
    parts.extend(parts![from, condition(maker, &scope)]);
    parts
}

fn delete(maker: &mut Maker<'_>) -> Vec<Part> {
    let scope = target(maker);
    parts!["DELETE FROM g.d AS d", condition(maker, &scope)]
}

fn merge(maker: &mut Maker<'_>, columns: &[(String, Kind)]) -> Vec<Part> {
    let (relation, from) = maker.one_relation(&Scope::default());
    let source = from.columns(Kind::Int);
    let scope = target(maker);
    let mut both = scope.clone();
    both.relations.extend(from.relations.clone());
    let key = match source.is_empty() {
        true => "1".to_owned(),
        false => maker.dice.pick(&source).text.clone(),
    };
    let mut parts = parts!["MERGE INTO g.d AS d USING ", relation, format!(" ON d.id = {key}")];
    if maker.dice.once_in(3) {
        let and = maker.condition(&both, 1);
        parts.push(Part::from(Tree::clause(parts![" WHEN MATCHED AND ", and, " THEN DELETE"])));
    }
    let mut matched = parts![" WHEN MATCHED THEN UPDATE SET "];
    matched.extend(assignments(maker, columns, &both));
    parts.push(Part::from(Tree::clause(matched)));
    if maker.dice.once_in(2) {
        let (name, kind) = columns[1].clone();
        let value = maker.leaf(kind, &from);
        parts.push(Part::from(Tree::clause(parts![
            format!(" WHEN NOT MATCHED THEN INSERT (id, {name}) VALUES ({key}, "),
            value,
            ")"
        ])));
    }
    parts
}
