//! The laws of resources of several levels.

use super::{Levels, MatchType, RequestPath, ResourceMatcher};
use crate::defs;
use crate::evaluate::fixture::{resource, resources};
use crate::matching::{MatchContext, MatchScope, is_complete_match};
use crate::model::{PolicyKind, ResourceMap};

fn match_type(policy: &str, request: &str) -> MatchType {
    let levels = Levels::new(&defs::polaris().resources, None).unwrap();
    let Some(request) = RequestPath::new(&levels, &resource(request)) else { return MatchType::Nothing };
    match ResourceMatcher::new(&levels, &resources(policy)).unwrap() {
        Some(matcher) => matcher.match_type(&request, &MatchContext::new("alice", Some("bob"))),
        None => MatchType::Nothing,
    }
}

#[test]
fn the_match_type_tells_how_two_resources_lie() {
    use MatchType::{Above, Below, Itself, ItselfAndAllBelow, Nothing};
    let c = "root=* catalog=c";
    let n = "root=* catalog=c namespace=n";
    let t = "root=* catalog=c namespace=n table=t";
    for (policy, request, expected) in [
        (c, c, Itself),
        (c, n, Above),
        (c, t, Above),
        (n, c, Below),
        (t, c, Below),
        ("root=* catalog=c namespace=*", c, ItselfAndAllBelow),
        ("root=* catalog=c namespace=* table=*", c, ItselfAndAllBelow),
        ("root=* catalog=c namespace=* table=*", n, ItselfAndAllBelow),
        ("root=* catalog=c namespace=* table=*", t, Itself),
        ("root=* catalog=c namespace=* table=t*", c, Below),
        ("root=* catalog=c namespace=* table=t*", n, Below),
        ("root=* catalog=c namespace=* table=t*", t, Itself),
        ("root=* catalog=c namespace=* table=!t", t, Nothing),
        ("root=* catalog=c namespace=n table=!x", t, Itself),
        ("root=* catalog=d", c, Nothing),
        ("root=* catalog=d namespace=n", c, Nothing),
        ("root=* catalog=c namespace=n policy=p", n, Below),
        ("root=* catalog=c namespace=n policy=p", t, Nothing),
        ("root=* principal=p", c, Nothing),
        ("root=* catalog=!*", c, Nothing),
        ("root=* catalog=c table=t", t, Nothing),
        ("catalog=c", c, Nothing),
        (c, "catalog=c", Nothing),
        (c, "root=* catalog=c table=t", Nothing),
        (c, "root=* shelf=c", Nothing),
        ("root=realm catalog=c", c, Nothing),
        (c, "", Below),
    ] {
        assert_eq!(match_type(policy, request), expected, "{policy} on {request}");
    }
    assert_eq!(match_type("root=* catalog=*", ""), ItselfAndAllBelow);
    assert_eq!(match_type("", ""), Itself);
    assert_eq!(match_type("", c), Nothing);
}

#[test]
fn a_nested_namespace_is_named_in_full() {
    let policy = "root=* catalog=c namespace=a";
    assert_eq!(match_type(policy, "root=* catalog=c namespace=a.b"), MatchType::Nothing);
    assert_eq!(
        match_type("root=* catalog=c namespace=a.b", "root=* catalog=c namespace=a.b"),
        MatchType::Itself
    );
}

#[test]
fn a_resource_map_is_covered_if_every_value_is() {
    let levels = Levels::of(&defs::hive(), PolicyKind::Access).unwrap();
    let covers = |policy: &str, other: &str| {
        let matcher = ResourceMatcher::new(&levels, &resources(policy)).unwrap().unwrap();
        matcher.covers(&levels, &resources(other), &MatchContext::NONE)
    };
    for (policy, other, expected) in [
        ("database=a table=*", "database=a table=x,y", true),
        ("database=a table=*", "database=a", true),
        ("database=a table=t*", "database=a table=t1,x", false),
        ("database=a table=t*", "database=a", false),
        ("database=a", "database=a table=t", false),
        ("database=a table=t*", "database=a table=t*", true),
        ("database=a table=t*", "database=a table=*", false),
        ("database=a table=!t", "database=a table=x", true),
    ] {
        assert_eq!(covers(policy, other), expected, "{policy} covers {other}");
    }
}

#[test]
fn the_first_value_of_a_map_that_lies_anyhow_counts() {
    let levels = Levels::of(&defs::hive(), PolicyKind::Access).unwrap();
    let found = |policy: &str, other: &str| {
        let matcher = ResourceMatcher::new(&levels, &resources(policy)).unwrap().unwrap();
        matcher.match_type_of_map(&levels, &resources(other), &MatchContext::NONE)
    };
    assert_eq!(found("database=a table=t", "database=x,a table=t"), MatchType::Itself);
    assert_eq!(found("database=a table=t", "database=a"), MatchType::Below);
    assert_eq!(found("database=a", "database=a table=t"), MatchType::Above);
    assert_eq!(found("database=a table=t", "database=a table=x"), MatchType::Nothing);
    assert!(MatchScope::ItselfOrAbove.takes(MatchType::Above) && !MatchScope::Itself.takes(MatchType::Below));
}

#[test]
fn a_complete_match_has_the_same_levels_and_values() {
    let same = |a: &str, b: &str| is_complete_match(&resources(a), &resources(b));
    assert!(same("database=a,b", "database=b,a"));
    assert!(!same("database=a,b", "database=a"));
    assert!(!same("database=a", "database=a table=t"));
    assert!(is_complete_match(&ResourceMap::new(), &ResourceMap::new()));
}
