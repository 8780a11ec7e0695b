//! Names that may be given to users, roles, groups and policies, and that may stand in a resource.

use super::draft::Draft;
use super::error::{FaultKind, Faults};
use super::scope::{ADMIN, Grantee, PUBLIC};

/// No name is longer; a policy's name keeps Ranger's limit.
const NAME_CHARS_MAX: usize = 255;
/// Characters that mean something in a policy's resource, or part a path.
const REFUSED: [char; 6] = ['*', '?', '{', '}', '$', '/'];

/// Whether a name says only itself wherever it is written, or what is wrong with it.
pub(crate) fn check_text(what: &str, name: &str, faults: &mut Faults) {
    if name.trim().is_empty() {
        faults.add(FaultKind::Invalid, format!("the name of a {what} is empty"));
    } else if let Some(c) = name.chars().find(|c| REFUSED.contains(c)) {
        faults.add(
            FaultKind::Invalid,
            format!("the name `{name}` holds `{c}`, which has a meaning of its own in policies"),
        );
    } else if name.chars().any(char::is_control) {
        faults.add(FaultKind::Invalid, format!("the name of a {what} holds a control character"));
    } else if name.trim() != name {
        faults.add(FaultKind::Invalid, format!("the name `{name}` begins or ends with a space"));
    } else if name.chars().count() > NAME_CHARS_MAX {
        faults.add(
            FaultKind::Invalid,
            format!("the name of a {what} is longer than {NAME_CHARS_MAX} characters"),
        );
    }
}

/// What is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    User,
    Role,
    Group,
}

impl Named {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Role => "role",
            Self::Group => "group",
        }
    }

    fn is_there(self, draft: &Draft<'_>, name: &str) -> bool {
        match self {
            Self::User => draft.user(name).is_some(),
            Self::Role => draft.role(name).is_some(),
            Self::Group => draft.group(name).is_some(),
        }
    }

    fn differing_by_case(self, draft: &Draft<'_>, name: &str) -> Option<String> {
        let lower = name.to_lowercase();
        let is_close = |other: &&str| *other != name && other.to_lowercase() == lower;
        match self {
            Self::User => draft.users().map(|u| u.name.as_str()).find(is_close),
            Self::Role => draft.roles().map(|r| r.name.as_str()).find(is_close),
            Self::Group => draft.groups().map(|g| g.name.as_str()).find(is_close),
        }
        .map(str::to_owned)
    }
}

/// What `IF NOT EXISTS` does about a name that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    IsFault,
    IsNotice,
}

/// Whether a new thing may have this name. `false` with no fault: it is there already, and that is told in a notice.
pub(crate) fn may_create(
    draft: &mut Draft<'_>,
    what: Named,
    name: &str,
    taken: Taken,
    faults: &mut Faults,
) -> bool {
    let word = what.word();
    check_text(word, name, faults);
    let lower = name.to_lowercase();
    if what.is_there(draft, name) {
        match taken {
            Taken::IsFault => faults.add(FaultKind::Exists, format!("{word} `{name}` is there already")),
            Taken::IsNotice => draft.notice(format!("{word} `{name}` is there already, skipped")),
        }
        return false;
    }
    if lower == PUBLIC || (lower == ADMIN && what != Named::User) {
        faults.add(FaultKind::Invalid, format!("the name `{name}` is reserved"));
    }
    if let Some(other) = what.differing_by_case(draft, name) {
        faults
            .add(FaultKind::Exists, format!("the name `{name}` differs from {word} `{other}` by case alone"));
    }
    faults.is_empty()
}

/// Whether a grantee is known; if not, that is a fault.
pub(crate) fn check_grantee(draft: &Draft<'_>, grantee: &Grantee, faults: &mut Faults) -> bool {
    let is_known = match grantee {
        Grantee::User(name) => draft.user(name).is_some(),
        Grantee::Role(name) => draft.role(name).is_some(),
        Grantee::Group(name) => draft.group(name).is_some(),
        Grantee::Public => true,
    };
    if !is_known {
        let word = grantee.type_name().to_lowercase();
        faults.add(FaultKind::NotFound, format!("no such {word} `{}`", grantee.name()));
    }
    is_known
}
