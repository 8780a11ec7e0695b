//! The codes of faults: Ranger's own below 9000, and ours from there on.

macro_rules! codes {
    ($( $name:ident = $code:literal, $what:literal; )*) => {
        $(
            #[doc = $what]
            pub const $name: u32 = $code;
        )*

        /// Every code, with what it means.
        pub const CODES: &[(u32, &str)] = &[$( ($code, $what), )*];
    };
}

codes! {
    SERVICE_NAME_MISSING = 1006, "A service without a name.";
    SERVICE_NAME_TAKEN = 1007, "Another service has the name.";
    SERVICE_DEF_MISSING = 1009, "A service without a definition.";
    SERVICE_DEF_UNKNOWN = 1010, "A service whose definition is not there.";
    SERVICE_CONFIG_MISSING = 1011, "A service without a setting that it must have.";
    SERVICE_NAME_INVALID = 3031, "A service's name with other characters than may be there, or too many.";

    DEF_FIELD_MISSING = 2002, "Something without a name in a definition.";
    DEF_NAME_MISSING = 2006, "A definition without a name.";
    DEF_NAME_TAKEN = 2007, "Another definition has the name.";
    DEF_IMPLIED_UNKNOWN = 2009, "An implied grant that is no access type.";
    DEF_IMPLIES_ITSELF = 2010, "An access type that implies itself.";
    DEF_EVALUATOR_MISSING = 2011, "A condition without an evaluator.";
    DEF_CONFIG_ENUM_UNKNOWN = 2012, "A setting whose enumeration is not there.";
    DEF_CONFIG_DEFAULT_INVALID = 2013, "A setting whose default is not in its enumeration.";
    DEF_CONFIG_TYPE_MISSING = 2014, "A setting without a type.";
    DEF_CONFIG_TYPE_UNKNOWN = 2015, "A setting of an unknown type.";
    DEF_GRAPH_INVALID = 2016, "Levels that make no forest.";
    DEF_ENUM_EMPTY = 2018, "An enumeration without elements.";
    DEF_ENUM_DEFAULT_INVALID = 2019, "An enumeration whose default is not there.";
    DEF_LEVELS_INVALID = 2021, "Levels that do not rise from parent to child.";
    DEF_LEVEL_NAME_INVALID = 2022, "A level whose name is not in lower case.";
    DEF_MANDATORY_INVALID = 2023, "A mandatory level below one that is not.";

    POLICY_FIELD_MISSING = 3002, "A policy without a name or service, or an item without accesses.";
    POLICY_NAME_TAKEN = 3006, "Another policy of the service and zone has the name.";
    POLICY_SERVICE_UNKNOWN = 3007, "A policy of a service that is not there.";
    POLICY_ITEMS_MISSING = 3008, "A policy without items that does not switch auditing on either.";
    POLICY_DEF_UNKNOWN = 3009, "A policy whose service has no definition.";
    POLICY_DUPLICATE = 3010, "Another policy is for exactly the same resources.";
    POLICY_NO_HIERARCHY = 3011, "Levels that belong to no hierarchy of the definition.";
    POLICY_MANDATORY_MISSING = 3012, "A level that must be there in each hierarchy that could be meant.";
    POLICY_EXCLUDES_UNSUPPORTED = 3015, "A level that takes no exclusions.";
    POLICY_EXCLUDES_NEEDS_ADMIN = 3016, "Exclusions by somebody who is no admin.";
    POLICY_RECURSIVE_UNSUPPORTED = 3017, "A level that has nothing below.";
    POLICY_VALUE_INVALID = 3018, "A value that is not as its level demands.";
    POLICY_MASK_TYPE_MISSING = 3019, "A mask item without a mask.";
    POLICY_PRINCIPALS_MISSING = 3020, "An item without users, groups and roles.";
    POLICY_ACCESS_UNKNOWN = 3022, "An access type that is not there, or not for this kind of policy.";
    POLICY_ACCESS_DENIED = 3023, "An access with `isAllowed` false.";
    POLICY_NO_HIERARCHY_SINGLE = 3024, "Levels that do not belong to the definition's one hierarchy.";
    POLICY_MANDATORY_MISSING_SINGLE = 3025, "A level that must be there in the one hierarchy that could be meant.";
    POLICY_VALUES_MISSING = 3026, "A level without values.";
    POLICY_MOVED = 3027, "An update that would move a policy to another service.";
    POLICY_TYPE_CHANGED = 3028, "An update that would make a policy one of another kind.";
    POLICY_SCHEDULE_INVALID = 3029, "A schedule that means nothing.";
    POLICY_ZONE_CHANGED = 3032, "An update that would move a policy to another zone.";
    POLICY_ZONE_UNKNOWN = 3033, "A policy of a zone that is not there.";
    POLICY_SERVICE_NOT_IN_ZONE = 3048, "A policy of a zone that its service has no part in.";
    POLICY_DENY_WITH_DENY_ALL_ELSE = 3049, "Denials beside `isDenyAllElse`.";
    POLICY_USER_EMPTY = 3053, "A user without a name.";
    POLICY_GROUP_EMPTY = 3054, "A group without a name.";
    POLICY_ROLE_EMPTY = 3055, "A role without a name.";
    POLICY_VALUE_DUPLICATE = 3056, "A value that stands twice.";

    ZONE_FIELD_MISSING = 3035, "A zone without a name.";
    ZONE_NAME_TAKEN = 3036, "Another zone has the name.";
    ZONE_PRINCIPALS_MISSING = 3038, "A zone without administrators or auditors.";
    ZONE_RESOURCES_MISSING = 3039, "A zone without resources of a service that it names.";
    ZONE_SERVICE_UNKNOWN = 3040, "A zone that names a service that is not there.";
    ZONE_SERVICE_TYPE_INVALID = 3041, "A zone that takes something for a tag service that is none.";
    ZONE_HIERARCHY_INVALID = 3042, "Resources of a zone that belong to no hierarchy.";
    ZONE_ALL_WILDCARDS = 3043, "A zone that would take everything of a service.";
    ZONE_SERVICES_MISSING = 3044, "A zone without services.";
    ZONE_CONFLICT = 3046, "Resources that another zone has.";
    ZONE_TAG_SERVICE_RESOURCES = 3047, "Resources of a tag service in a zone.";

    ROLE_NAME_MISSING = 4003, "A role without a name.";
    ROLE_EMPTY = 4004, "A role without members. Ranger refuses it; here it is told and kept.";
    ROLE_NAME_TAKEN = 4005, "Another role has the name.";

    LIMIT_REACHED = 9000, "More of something than there may be.";
    CONDITION_UNKNOWN = 9001, "A condition that the definition does not have.";
    SCRIPT_INVALID = 9002, "A script or expression that does not parse.";
    REGEX_INVALID = 9003, "A regular expression that does not parse.";
    MASK_TYPE_UNKNOWN = 9004, "A mask type that the definition does not have.";
    DENY_SWITCHED_OFF = 9005, "Denials or exceptions where the definition has switched them off.";
    ITEMS_OF_OTHER_KIND = 9006, "Items that a policy of this kind does not look at.";
    RESOURCE_GAP = 9007, "Levels with one missing in between: the policy would never match.";
    ROLE_RECURSION = 9008, "Roles that are members of each other.";
    NAME_INVALID = 9009, "A name that is empty, or holds a control character.";
    REFERENCE_UNKNOWN = 9010, "Something named that is not there.";
    CONDITION_INVALID = 9012, "A condition whose values its evaluator cannot read.";
    NUMBER_TAKEN = 9011, "Another thing has the number.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CODES;

    #[test]
    fn every_code_stands_once_and_on_the_page_of_codes() {
        let codes: BTreeSet<u32> = CODES.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes.len(), CODES.len());
        // Asked when it runs: folders of artifacts are shared between checkouts.
        let own = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        let page = std::fs::read_to_string(own + "/../../../docs/reference/validation.md").unwrap();
        for (code, what) in CODES {
            let row = format!("| {code} | {what} |");
            assert!(page.contains(&row), "missing from docs/reference/validation.md:\n{row}");
        }
    }
}
