//! The laws of resources of several levels.

use super::{Levels, MatchType, RequestPath, ResourceMatcher};
use crate::defs;
use crate::evaluate::fixture::{resource, resources};
use crate::matching::Tokens;

const TOKENS: Tokens<'static> = Tokens { user: "alice", owner: Some("bob") };

fn match_type(policy: &str, request: &str) -> MatchType {
    let levels = Levels::new(&defs::polaris().resources, None).unwrap();
    let Some(request) = RequestPath::new(&levels, &resource(request)) else { return MatchType::Nothing };
    match ResourceMatcher::new(&levels, &resources(policy)).unwrap() {
        Some(matcher) => matcher.match_type(&request, &TOKENS),
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
