//! The table of privileges against its laws.

use std::collections::BTreeSet;

use super::*;
use crate::defs;
use crate::operation::{Need, Operation, required};

const CLASSES: [ObjectClass; 4] =
    [ObjectClass::Catalog, ObjectClass::Namespace, ObjectClass::Table, ObjectClass::View];

fn own_types(privilege: Privilege, class: ObjectClass) -> BTreeSet<&'static str> {
    let plan = privilege.plan(class, WriteSet::WithoutRead).unwrap();
    plan.steps.into_iter().filter(|s| !s.is_traversal).flat_map(|s| s.types).collect()
}

fn denied(privilege: Privilege, class: ObjectClass, named: &[Privilege]) -> BTreeSet<&'static str> {
    let plan = privilege.plan(class, WriteSet::WithoutRead).unwrap();
    plan.steps.iter().filter(|s| !s.is_traversal).flat_map(|s| plan.privilege.denied(s, named)).collect()
}

#[test]
fn every_name_and_alias_parses_to_its_privilege() {
    for privilege in Privilege::EVERY {
        assert_eq!(Privilege::parse(privilege.name()), Ok(privilege));
        for alias in privilege.aliases() {
            assert_eq!(Privilege::parse(alias), Ok(privilege), "{alias}");
        }
    }
}

#[test]
fn an_unknown_privilege_lists_the_known_ones() {
    let message = Privilege::parse("FLY").unwrap_err().to_string();
    assert!(
        message.starts_with("unknown privilege `FLY`; known are SELECT, SELECT VIEW, MONITOR, INSERT"),
        "{message}"
    );
}

#[test]
fn every_access_type_is_in_the_definition_of_gate_one() {
    let def = defs::polaris();
    let known: BTreeSet<&str> = def.access_types.iter().map(|a| a.name.as_str()).collect();
    for privilege in Privilege::EVERY {
        for class in CLASSES {
            let Ok(plan) = privilege.plan(class, WriteSet::WithRead) else {
                continue;
            };
            for step in plan.steps {
                for access in step.types {
                    assert!(known.contains(access), "{privilege} writes {access}");
                }
            }
        }
    }
}

#[test]
fn every_privilege_at_its_level_above_it_and_below_it() {
    for privilege in Privilege::EVERY {
        for class in CLASSES {
            let plan = privilege.plan(class, WriteSet::WithoutRead);
            let Some(for_class) = privilege.for_class(class) else {
                assert_eq!(plan, Err(PlanError::WrongClass { privilege, class }));
                continue;
            };
            if class.level() > for_class.level() {
                let level = for_class.level();
                assert_eq!(
                    plan,
                    Err(PlanError::TooDeep { privilege: for_class, level }),
                    "{privilege} on {class:?}"
                );
                continue;
            }
            let plan = plan.unwrap();
            assert_eq!(plan.is_cut_short, class.level() < for_class.level() && privilege != Privilege::Usage);
            // No step is deeper than what was named, but for ALL on a catalog.
            let is_all = matches!(privilege, Privilege::All | Privilege::Manage);
            for step in &plan.steps {
                match step.target {
                    StepTarget::Named(level) => assert!(level <= class.level()),
                    StepTarget::Everything(_) => assert!(is_all),
                }
            }
            if plan.is_cut_short {
                let types = own_types(privilege, class);
                assert!(
                    types.iter().all(|t| t.starts_with("namespace-")),
                    "{privilege} on {class:?}: {types:?}"
                );
            }
        }
    }
}

#[test]
fn writing_does_not_bring_reading_unless_told_so() {
    for privilege in Privilege::EVERY.into_iter().filter(|p| p.is_write()) {
        assert!(!own_types(privilege, ObjectClass::Table).contains("table-data-read"), "{privilege}");
        let plan = privilege.plan(ObjectClass::Table, WriteSet::WithRead).unwrap();
        assert!(plan.steps.iter().any(|s| s.types.contains(&"table-data-read")), "{privilege}");
    }
}

#[test]
fn appending_does_not_move_a_table() {
    let types = own_types(Privilege::Insert, ObjectClass::Table);
    for access in ["table-location-set", "table-uuid-assign", "table-format-version-upgrade"] {
        assert!(!types.contains(access));
        assert!(own_types(Privilege::Modify, ObjectClass::Table).contains(access));
    }
    // Nor by a type that stands for others.
    let def = defs::polaris();
    let bundles = def.access_types.iter().filter(|a| !a.implied_grants.is_empty());
    assert!(bundles.filter(|a| types.contains(a.name.as_str())).count() == 0);
}

#[test]
fn a_denial_leaves_what_other_privileges_need() {
    for privilege in Privilege::EVERY {
        for class in CLASSES {
            let Ok(plan) = privilege.plan(class, WriteSet::WithoutRead) else {
                continue;
            };
            if plan.is_cut_short || matches!(privilege, Privilege::All | Privilege::Manage) {
                continue;
            }
            let taken = denied(privilege, class, &[plan.privilege]);
            let is_monitor = plan.privilege == Privilege::Monitor;
            assert_eq!(taken.is_empty(), is_monitor, "{privilege} on {class:?}");
            for other in Privilege::EVERY {
                let Ok(other_plan) = other.plan(class, WriteSet::WithoutRead) else {
                    continue;
                };
                let other = other_plan.privilege;
                if other_plan.is_cut_short || other.is_denied_with(plan.privilege) {
                    continue;
                }
                for (_, access) in other.asked(class) {
                    // A write that reads its target needs SELECT as well, and says so.
                    let is_select_asked = other.is_write() && access == "table-data-read";
                    assert!(
                        is_select_asked || !taken.contains(access),
                        "DENY {privilege} breaks {other} by {access}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_denial_takes_what_the_privilege_is_asked_for() {
    for privilege in Privilege::EVERY.into_iter().filter(|p| *p != Privilege::Monitor) {
        let class = match privilege.level() {
            Level::Catalog => ObjectClass::Catalog,
            Level::Namespace => ObjectClass::Namespace,
            Level::Table if privilege.for_class(ObjectClass::Table).is_some() => ObjectClass::Table,
            Level::Table => ObjectClass::View,
        };
        let taken = denied(privilege, class, &[privilege]);
        assert!(privilege.asked(class).iter().any(|(_, t)| taken.contains(t)), "{privilege}: {taken:?}");
    }
}

#[test]
fn denied_types_of_the_common_privileges() {
    let check = |named: &[Privilege], expected: &[&str]| {
        let taken: BTreeSet<&str> =
            named.iter().flat_map(|p| denied(*p, ObjectClass::Table, named)).collect();
        assert_eq!(taken, expected.iter().copied().collect::<BTreeSet<_>>(), "{named:?}");
    };
    use Privilege as P;
    check(&[P::Select], &["table-data-read"]);
    check(&[P::Monitor], &[]);
    check(&[P::Select, P::Monitor], &["table-data-read"]);
    check(&[P::Drop], &["table-drop"]);
    check(
        &[P::Insert],
        &[
            "table-data-write",
            "table-snapshot-add",
            "table-snapshot-ref-remove",
            "table-snapshot-ref-set",
            "table-snapshots-remove",
        ],
    );
}

#[test]
fn what_check_access_asks_is_what_the_operation_needs() {
    let check = |privilege: Privilege, class, operation| {
        let (_, need) = required(operation);
        let Need::All(types) = need else { panic!("{operation:?}") };
        let asked: BTreeSet<&str> = privilege.asked(class).into_iter().map(|(_, t)| t).collect();
        assert_eq!(asked, types.iter().copied().collect::<BTreeSet<_>>(), "{privilege}");
        let held = own_types(privilege, class);
        assert!(
            types.iter().all(|t| held.contains(t) || *t == "table-data-read"),
            "{privilege} cannot {operation:?}"
        );
    };
    use ObjectClass as C;
    use Operation as O;
    use Privilege as P;
    check(P::Select, C::Table, O::SelectTable);
    check(P::Select, C::View, O::SelectView);
    check(P::Insert, C::Table, O::InsertInto);
    check(P::Update, C::Table, O::UpdateTable);
    check(P::Delete, C::Table, O::DeleteFrom);
    check(P::Merge, C::Table, O::MergeInto);
    check(P::Truncate, C::Table, O::TruncateTable);
    check(P::Alter, C::Table, O::AlterTableAddColumn);
    check(P::Alter, C::View, O::ReplaceView);
    check(P::Drop, C::Table, O::DropTable);
    check(P::Drop, C::View, O::DropView);
    check(P::DropSchema, C::Namespace, O::DropSchema);
    check(P::CreateTable, C::Namespace, O::CreateTable);
    check(P::CreateView, C::Namespace, O::CreateView);
    check(P::CreateSchema, C::Catalog, O::CreateSchema);
}
