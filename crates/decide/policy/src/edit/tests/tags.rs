//! Tags on columns: bound to the field, found by name elsewhere, and what policies on them do.

use stdx::ErrorKind;

use super::World;
use super::policies::{filter, mask};
use super::role;
use crate::edit::policy::ColumnRef;
use crate::edit::{
    ColumnTags, ColumnTagsEdit, Edit, GovernedEdit, PolicyBody, PolicyEdit, PolicyTarget, UnsetColumnTags,
};
use crate::{ColumnName, ColumnRule, FieldOf, GateTwoSettings, MaskPrecedence, TableRequest};

fn tag_columns(table: &str, uuid: &str, columns: Vec<ColumnTags>) -> Edit {
    Edit::Governed(GovernedEdit::TagColumns(ColumnTagsEdit {
        service: "query".to_owned(),
        database: "acdemo".to_owned(),
        table: table.to_owned(),
        uuid: Some(uuid.to_owned()),
        owner: None,
        columns,
    }))
}

fn change(column: &str, field_id: i32, unset: UnsetColumnTags, set: &[&str]) -> ColumnTags {
    ColumnTags {
        column: ColumnRef { name: column.to_owned(), field_id: Some(field_id) },
        unset,
        set: set.iter().map(|tag| (*tag).to_owned()).collect(),
    }
}

fn set(column: &str, field_id: i32, tags: &[&str]) -> Edit {
    tag_columns("orders", "u-1", vec![change(column, field_id, UnsetColumnTags::None, tags)])
}

fn on_tag(edit: PolicyEdit, tag: &str) -> Edit {
    let body = match edit.body {
        PolicyBody::Mask { mask_type, using, .. } => {
            PolicyBody::Mask { mask_type, columns: Vec::new(), using }
        }
        PolicyBody::Filter { using } => {
            PolicyBody::Filter { using: crate::edit::CheckedExpr { columns: Vec::new(), ..using } }
        }
    };
    Edit::CreatePolicy(PolicyEdit { target: PolicyTarget::Tag(tag.to_owned()), body, ..edit })
}

/// How a column of `acdemo.<table>` reads, with its tags.
fn reads(world: &World, table: &str, uuid: &str, column: &str, field_id: i32) -> (String, Vec<String>) {
    let settings = GateTwoSettings::default();
    reads_with(world, (table, uuid), ColumnName::new(column), field_id, &settings)
}

fn reads_with(
    world: &World,
    (table, uuid): (&str, &str),
    column: ColumnName<'_>,
    field_id: i32,
    settings: &GateTwoSettings,
) -> (String, Vec<String>) {
    let who = world.who("bob");
    let columns = [ColumnName { field: Some(FieldOf { table_uuid: uuid, field_id }), ..column }];
    let rules = world.snapshot.table_rules(&TableRequest {
        service: "query",
        database: "acdemo",
        table,
        columns: &columns,
        owner: None,
        who: &who,
        now: super::NOW,
        client_addr: None,
        context: &crate::NO_CONTEXT,
        settings,
    });
    let read = match &rules.columns[0] {
        ColumnRule::Raw => "raw".to_owned(),
        ColumnRule::Parts(_) => "in parts".to_owned(),
        ColumnRule::Masked(mask) => mask.mask_type.clone(),
        ColumnRule::Restricted(_) => "restricted".to_owned(),
    };
    (read, rules.tags[0].clone())
}

fn tagged_world() -> World {
    let mut world = World::new();
    world.ok(on_tag(mask("m", "MASK_NULL", role("engineer")), "PII"));
    world.ok(set("ssn", 3, &["PII"]));
    world
}

fn rename_column(uuid: &str, from: &str, to: &str, field_id: i32) -> Edit {
    Edit::RenameColumn {
        service: "query".to_owned(),
        database: "acdemo".to_owned(),
        table: "orders".to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        field_id: Some(field_id),
        uuid: Some(uuid.to_owned()),
    }
}

fn rename_table(uuid: &str, from: (&str, &str), to: (&str, &str)) -> Edit {
    let owned = |(database, table): (&str, &str)| (database.to_owned(), table.to_owned());
    Edit::RenameTable {
        service: "query".to_owned(),
        catalog: "sales_wh".to_owned(),
        from: owned(from),
        to: owned(to),
        uuid: Some(uuid.to_owned()),
    }
}

#[test]
fn what_tags_protect_by_name_stays_protected_when_it_gets_another() {
    // Another table stands where the tagged one was; its fields bear numbers of their own, or the very same.
    for field_id in [3, 7] {
        let mut world = tagged_world();
        assert_eq!(reads(&world, "orders", "u-2", "ssn", field_id).0, "MASK_NULL");
        world.ok(rename_table("u-2", ("acdemo", "orders"), ("acdemo", "moved")));
        assert_eq!(reads(&world, "moved", "u-2", "ssn", field_id).0, "MASK_NULL");
        assert_eq!(reads(&world, "orders", "u-1", "ssn", 3).0, "MASK_NULL");

        let mut world = tagged_world();
        world.ok(rename_column("u-2", "ssn", "tax_no", field_id));
        assert_eq!(reads(&world, "orders", "u-2", "tax_no", field_id).0, "MASK_NULL");
        assert_eq!(reads(&world, "orders", "u-3", "ssn", 5).0, "MASK_NULL", "the name is protected still");
        assert_eq!(reads(&world, "orders", "u-1", "ssn", 3).0, "MASK_NULL");
    }
}

#[test]
fn who_moves_a_table_from_under_a_tag_of_its_schema_must_govern() {
    let mut world = tagged_world();
    let mut state = world.snapshot.state().clone();
    let mut entry = state.tagged_resources.values().next().unwrap().clone();
    entry.options.clear();
    entry.resource.remove("table");
    entry.resource.remove("column");
    state.tagged_resources.insert(entry.id, entry);
    world.snapshot = crate::Snapshot::build(state).unwrap();
    let away = rename_table("u-1", ("acdemo", "orders"), ("elsewhere", "orders"));
    world.refused(
        "bob",
        away.clone(),
        ErrorKind::Denied,
        "permission denied to rename the table `orders` to `orders`",
    );
    world.ok(away);
    world.ok(rename_table("u-1", ("acdemo", "orders"), ("acdemo", "others")));
}

#[test]
fn a_tag_holds_for_its_field_and_goes_with_it() {
    let mut world = tagged_world();
    assert_eq!(reads(&world, "orders", "u-1", "ssn", 3), ("MASK_NULL".into(), vec!["PII".into()]));
    // Another field of the same table does not inherit by name.
    assert_eq!(reads(&world, "orders", "u-1", "ssn", 9), ("raw".into(), vec![]));
    // What stands under the table's name is protected by name.
    assert_eq!(reads(&world, "orders", "u-2", "ssn", 3).0, "MASK_NULL");
    assert_eq!(reads(&world, "other", "u-1", "ssn", 3).0, "MASK_NULL", "by the field alone");
    assert_eq!(reads(&world, "other", "u-2", "ssn", 3).0, "raw");
    world.ok(rename_column("u-1", "ssn", "tax_no", 3));
    assert_eq!(reads(&world, "orders", "u-1", "tax_no", 3).0, "MASK_NULL");
    assert_eq!(reads(&world, "orders", "u-2", "tax_no", 7).0, "MASK_NULL", "engines that know names follow");
    assert_eq!(reads(&world, "orders", "u-1", "ssn", 9).0, "raw");
}

#[test]
fn tags_are_merged_and_unset_one_by_one_or_together() {
    let mut world = tagged_world();
    world.ok(set("ssn", 3, &["GEO", "PII"]));
    let tags = |world: &World| reads(world, "orders", "u-1", "ssn", 3).1;
    assert_eq!(tags(&world), ["GEO", "PII"]);
    assert!(world.ok(set("ssn", 3, &["PII"])).is_empty(), "saying it again changes nothing");
    let unset = |what| tag_columns("orders", "u-1", vec![change("ssn", 3, what, &[])]);
    let done = world.ok(unset(UnsetColumnTags::These(vec!["PII".to_owned(), "NONE".to_owned()])));
    assert_eq!(done.notices, ["column `ssn` has no tag `NONE`, skipped"]);
    assert_eq!(tags(&world), ["GEO"]);
    world.ok(unset(UnsetColumnTags::All));
    assert_eq!(tags(&world), [""; 0]);
    assert_eq!(world.ok(unset(UnsetColumnTags::All)).notices, ["column `ssn` has no tags, skipped"]);
    assert!(world.snapshot.state().tagged_resources.is_empty());
    assert!(world.snapshot.state().tags.is_empty(), "a tag that nothing carries is gone");
}

#[test]
fn a_tag_that_is_unset_after_a_rename_is_gone_from_the_field() {
    let mut world = tagged_world();
    // The store was not told of the renaming.
    let unset = change("tax_no", 3, UnsetColumnTags::All, &[]);
    world.ok(tag_columns("orders", "u-1", vec![unset]));
    assert_eq!(reads(&world, "orders", "u-1", "tax_no", 3), ("raw".into(), vec![]));
}

#[test]
fn only_a_governor_tags_and_all_or_nothing() {
    let mut world = World::new();
    let denied = "permission denied to tag columns of `acdemo.orders`";
    world.refused("bob", set("ssn", 3, &["PII"]), ErrorKind::Denied, denied);
    let both = vec![
        change("ssn", 3, UnsetColumnTags::None, &["PII"]),
        change("id", 1, UnsetColumnTags::None, &["a*"]),
    ];
    let error = world.try_as("carol", tag_columns("orders", "u-1", both)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(world.snapshot.state().tagged_resources.is_empty());
}

#[test]
fn what_the_table_itself_tells_counts_beside_the_store() {
    let mut world = World::new();
    world.ok(on_tag(mask("m", "MASK_NULL", role("engineer")), "PII"));
    let own = ["PII".to_owned()];
    let column = ColumnName { tags: &own, ..ColumnName::new("ssn") };
    let settings = GateTwoSettings::default();
    let read = reads_with(&world, ("orders", "u-1"), column, 3, &settings);
    assert_eq!(read, ("MASK_NULL".into(), vec!["PII".into()]));
}

#[test]
fn the_mask_of_a_tag_stands_before_that_of_the_column_unless_told_otherwise() {
    let mut world = tagged_world();
    world.ok(Edit::CreatePolicy(mask("own", "MASK", role("engineer"))));
    assert_eq!(reads(&world, "orders", "u-1", "ssn", 3).0, "MASK_NULL");
    let settings =
        GateTwoSettings { mask_precedence: MaskPrecedence::Resource, ..GateTwoSettings::default() };
    let read = reads_with(&world, ("orders", "u-1"), ColumnName::new("ssn"), 3, &settings);
    assert_eq!(read.0, "MASK");
}

#[test]
fn a_filter_on_a_tag_holds_where_a_column_bears_it() {
    let mut world = World::new();
    world.ok(on_tag(filter("f", "region = 'EU'", role("engineer")), "GEO"));
    assert!(world.rules("bob", "orders", &["region"]).filters.is_empty());
    world.ok(set("region", 2, &["GEO"]));
    assert_eq!(world.rules("bob", "orders", &["id", "region"]).filters[0].expr, "region = 'EU'");
    assert!(world.rules("alice", "orders", &["id", "region"]).filters.is_empty());
    assert!(world.rules("bob", "other", &["id", "region"]).filters.is_empty());
}

#[test]
fn a_mask_for_another_component_is_met_and_cannot_be_built_here() {
    let mut world = World::new();
    world.ok(on_tag(mask("m", "trino:MASK_NULL", role("engineer")), "PII"));
    world.ok(set("ssn", 3, &["PII"]));
    assert_eq!(reads(&world, "orders", "u-1", "ssn", 3).0, "restricted");
    let policy = world.snapshot.state().policies.values().find(|policy| policy.name == "m").unwrap();
    let accesses: Vec<&str> =
        policy.mask_items[0].item.accesses.iter().map(|access| access.kind.as_str()).collect();
    assert_eq!(accesses, ["hive:select", "trino:select"]);
}
