//! A decision that touches no script costs no memory: asserted, as wall-clock figures are not.

use policy::Snapshot;
use policy::model::PolicyKind;

use crate::contenders::Contender;
use crate::ours::{Ours, memberships};
use govgen::{Mix, Shape, World, requests};

/// Asks every request once to warm up, and says what asking them all again allocates.
fn allocations(shape: Shape, mix: Mix) -> u64 {
    let world = World::new(shape, 7);
    let asked = requests(&world, mix, 2_000, 8);
    let snapshot = Snapshot::build(world.state).unwrap();
    let who = memberships(&snapshot, &asked);
    let mut ours = Ours::new("ours", &snapshot, &asked, &who).unwrap();
    ours.ask_all().unwrap();
    allocation_counter::measure(|| ours.ask_all().unwrap()).count_total
}

#[test]
fn warm_decisions_with_zones_tags_masks_and_filters_allocate_nothing() {
    assert_eq!(allocations(Shape::mixed(2_000), Mix::All), 0);
}

#[test]
fn warm_decisions_on_exact_tables_allocate_nothing() {
    assert_eq!(allocations(Shape::exact(2_000), Mix::Tables), 0);
}

#[test]
fn the_generated_world_has_policies_of_every_kind_that_decides() {
    let world = World::new(Shape::mixed(2_000), 7);
    for kind in [PolicyKind::Access, PolicyKind::Mask, PolicyKind::RowFilter] {
        assert!(world.targets.iter().any(|target| target.kind == kind), "{kind:?}");
    }
}
