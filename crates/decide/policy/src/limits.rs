//! How much of everything there may be: each limit with its name, and an error that gives it.

use std::fmt;

/// One limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub name: &'static str,
    pub max: usize,
    /// What is counted, such as `policies of one service`.
    pub what: &'static str,
    pub why: &'static str,
}

impl Limit {
    /// What is wrong with so many; `None`: nothing.
    pub fn exceeded_by(&'static self, count: usize) -> Option<Exceeded> {
        (count > self.max).then_some(Exceeded { limit: self, count })
    }
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    pub limit: &'static Limit,
    pub count: usize,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limit { name, max, what, .. } = self.limit;
        write!(f, "{} {what} are more than {max}, the limit `{name}`", self.count)
    }
}

macro_rules! limits {
    ($( $name:ident = $max:literal, $what:literal, $why:literal; )*) => {
        $(
            #[doc = concat!("Most ", $what, ": ", $why, ".")]
            pub static $name: Limit =
                Limit { name: stringify!($name), max: $max, what: $what, why: $why };
        )*

        /// Every limit, in the order of the page that lists them.
        pub static ALL: &[&Limit] = &[$( &$name, )*];
    };
}

limits! {
    POLICIES_PER_SERVICE_MAX = 2_000_000, "policies of one service", "all of them are held in memory, compiled";
    ITEMS_PER_POLICY_MAX = 10_000, "items of one policy", "a request may try each of them";
    PRINCIPALS_PER_ITEM_MAX = 100_000, "users, groups and roles of one item", "an edit of it is read and written whole";
    ACCESSES_PER_ITEM_MAX = 1_000, "access types of one item", "more than any definition has";
    VALUES_PER_RESOURCE_MAX = 10_000, "values of one level of a resource", "each is a pattern to be tried";
    VALUE_CHARS_MAX = 4_096, "characters of one value", "longer than any path that a file system takes";
    ADDITIONAL_RESOURCES_MAX = 1_000, "additional resources of one policy", "each is matched by itself";
    CONDITIONS_MAX = 100, "conditions of one policy or item", "each is evaluated for each request";
    CONDITION_VALUES_MAX = 1_000, "values of one condition", "each may be tried for each request";
    SCRIPT_CHARS_MAX = 65_536, "characters of one script or expression", "it is parsed whenever a snapshot is built";
    SCHEDULES_MAX = 100, "validity schedules of one policy or tag", "each is looked at for each request";
    RECURRENCES_PER_SCHEDULE_MAX = 100, "recurrences of one schedule", "each is looked at for each request";
    LABELS_PER_POLICY_MAX = 100_000, "labels of one policy", "a grant leaves one each";
    DESCRIPTION_CHARS_MAX = 65_536, "characters of one description", "it stands in lists";
    NAME_CHARS_MAX = 255, "characters of a name", "Ranger's database takes no more";
    ROLE_DEPTH_MAX = 32, "roles within each other", "membership is followed from role to role";
    MEMBERS_PER_ROLE_MAX = 1_000_000, "members of one role", "an edit of it is read and written whole";
    ZONES_MAX = 1_000, "security zones", "a request is tried against the resources of all";
    RESOURCES_PER_ZONE_MAX = 10_000, "resources of one zone in one service", "each is matched by itself";
    TAGGED_RESOURCES_MAX = 10_000_000, "tagged resources", "all of them are held in memory, compiled";
    TAGS_PER_RESOURCE_MAX = 100, "tags of one resource", "each is a request to the tag service";
    ATTRIBUTES_PER_TAG_MAX = 100, "attributes of one tag", "scripts are given all of them";
    ATTRIBUTE_CHARS_MAX = 65_536, "characters of one attribute", "scripts are given all of them";
    LEVELS_PER_DEFINITION_MAX = 64, "levels of one definition", "paths between them are searched";
    ACCESS_TYPES_PER_DEFINITION_MAX = 4_096, "access types of one definition", "each policy has a bit for each";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_reached_is_told_by_name() {
        assert_eq!(ROLE_DEPTH_MAX.exceeded_by(32), None);
        assert_eq!(
            ROLE_DEPTH_MAX.exceeded_by(33).unwrap().to_string(),
            "33 roles within each other are more than 32, the limit `ROLE_DEPTH_MAX`"
        );
    }

    #[test]
    fn every_limit_stands_on_the_page_of_limits() {
        // Asked when it runs: folders of artifacts are shared between checkouts.
        let own = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        let page = std::fs::read_to_string(own + "/../../../docs/reference/limits.md").unwrap();
        for limit in ALL {
            let row = row(limit);
            assert!(page.contains(&row), "missing from docs/reference/limits.md:\n{row}");
        }
    }

    fn row(limit: &Limit) -> String {
        let digits = limit.max.to_string();
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(' ');
            }
            grouped.push(digit);
        }
        format!("| {} (`{}`) | {grouped} | {} |", limit.what, limit.name, limit.why)
    }
}
