//! Asks one policy about one request: does it apply, is it audited, and what do its items say?

use std::collections::BTreeMap;

use policy::MatchType;
use policy::model::{Item, MaskInfo, PolicyKind};

use super::World;
use super::asking::{Asking, FoundTag};
use super::conditions::Met;
use super::definition::Definition;
use super::groups::{self, Groups};
use super::policies::Prepared;
use super::resource_match::{Asked, match_type};
use crate::answer::{Answer, Rank};

/// What one policy says of one access type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) is_allowed: bool,
    pub(crate) rank: Rank,
    pub(crate) policy: policy::model::PolicyId,
    pub(crate) version: i64,
    pub(crate) mask: Option<MaskInfo>,
    pub(crate) filter: Option<String>,
}

/// What has been decided so far for each access type; it is kept from one policy to the next.
pub(crate) type Entries = BTreeMap<String, Entry>;

/// Where a policy is asked.
pub(crate) struct Place<'a, 'r> {
    pub(crate) world: &'a World,
    pub(crate) asking: &'a Asking<'a, 'r>,
    pub(crate) definition: &'a Definition,
    pub(crate) kind: PolicyKind,
    /// The tag in whose name a tag policy is asked.
    pub(crate) tag: Option<&'a FoundTag>,
    pub(crate) groups: &'a Groups,
}

/// Asks the policy, and writes what it says into `entries` and `answer`.
pub(crate) fn ask(place: &Place<'_, '_>, prepared: &Prepared, entries: &mut Entries, answer: &mut Answer) {
    for map in prepared.resource_maps() {
        if answer.is_determined && answer.is_audit_determined {
            return;
        }
        let found = match place.tag {
            // A tag above the resource counts as one on it.
            Some(tag) if tag.found == MatchType::Above => Some(MatchType::Itself),
            Some(tag) => Some(tag.found),
            None => place.match_type(map),
        };
        let Some(found) = found else { continue };
        let applies = found.is_itself() || (found == MatchType::Below && place.asking.reaches_below());
        let held = match place.world.conditions(place, &prepared.policy.conditions) {
            Met::Yes if place.tag.is_some_and(|tag| place.world.is_doubtful(tag)) => Met::Unknown,
            held => held,
        };
        if !applies || held == Met::No {
            continue;
        }
        if !answer.is_audit_determined && prepared.policy.is_audit_enabled {
            answer.set_audited(true);
            answer.audit_policy = Some(prepared.policy.id);
        }
        if !answer.is_determined && place.may_say_something(prepared) {
            place.ask_items(prepared, (found, held), entries, answer);
        }
        if place.tag.is_some() {
            // A tag policy is found by its tag, whichever of its resources names it.
            return;
        }
    }
}

/// What an item does where it matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// A deny item or an allow exception.
    Take,
    /// An allow item or a deny exception.
    Give,
}

impl Place<'_, '_> {
    pub(crate) fn match_type(&self, map: &policy::model::ResourceMap) -> Option<MatchType> {
        let expression = |text: &str| self.world.expression(self.asking, text);
        let fillings = self.asking.fillings(Some(&expression));
        let asked = Asked {
            resource: self.asking.resource(),
            scopes: self.asking.element_scopes(),
            fillings: &fillings,
        };
        match_type(self.definition, self.kind, map, &asked)
    }

    /// A policy that nowhere names the access type, letter by letter, is passed over.
    fn may_say_something(&self, prepared: &Prepared) -> bool {
        if self.asking.is_any() || self.asking.is_admin() || prepared.policy.is_deny_all_else {
            return true;
        }
        let named: Vec<&str> = prepared
            .all_items()
            .into_iter()
            .flat_map(|item| &item.accesses)
            .map(|access| access.kind.as_str())
            .collect();
        let is_all = self.definition.access_types.iter().all(|name| named.contains(&name.as_str()));
        is_all || self.groups.access_types().any(|wanted| named.contains(&wanted))
    }

    fn ask_items(
        &self,
        prepared: &Prepared,
        (found, held): (MatchType, Met),
        entries: &mut Entries,
        answer: &mut Answer,
    ) {
        let context = self.asking.request.context;
        for access in self.groups.access_types() {
            let Some(said) = self.ask_access(prepared, held, access) else { continue };
            if !said.is_allowed && found == MatchType::Below && context.ignores_denials_below {
                continue;
            }
            let is_allowed = said.is_allowed;
            self.keep(entries, access, said);
            // To be allowed anything is to be allowed one thing, unless a higher priority says otherwise of that one.
            let stands = entries.get(access).is_some_and(|entry| entry.is_allowed == is_allowed);
            if self.asking.is_any() && stands && is_allowed == context.ignores_denials_below {
                break;
            }
        }
        groups::conclude(self.groups, entries, answer);
    }

    /// What stands against what was said before, by priority.
    fn keep(&self, entries: &mut Entries, access: &str, new: Entry) {
        let Some(old) = entries.get(access) else {
            entries.insert(access.to_owned(), new);
            return;
        };
        let is_replaced = match (old.is_allowed, new.is_allowed) {
            (true, false) => new.rank >= old.rank,
            (true, true) if self.kind == PolicyKind::Access => new.rank > old.rank,
            (true, true) => new.rank >= old.rank,
            (false, true) if self.asking.is_any() => new.rank >= old.rank,
            (false, true) => new.rank > old.rank,
            (false, false) => new.rank > old.rank,
        };
        if is_replaced {
            entries.insert(access.to_owned(), new);
        }
    }

    fn ask_access(&self, prepared: &Prepared, held: Met, access: &str) -> Option<Entry> {
        let policy = &prepared.policy;
        let entry = |is_allowed: bool| Entry {
            is_allowed,
            rank: prepared.rank,
            policy: policy.id,
            version: policy.version,
            mask: None,
            filter: None,
        };
        match self.kind {
            PolicyKind::Mask => {
                let mut items = policy.mask_items.iter();
                let (mask, held) =
                    items.find_map(|mask| Some((mask, self.held(&mask.item, held, access)?)))?;
                // What is not known to be harmless is not shown.
                let nothing = || MaskInfo { mask_type: "MASK_NULL".to_owned(), ..MaskInfo::default() };
                let mask = if held == Met::Yes { self.filled_mask(&mask.mask) } else { nothing() };
                Some(Entry { mask: Some(mask), ..entry(true) })
            }
            PolicyKind::RowFilter => {
                let mut items = policy.filter_items.iter();
                let (filter, held) =
                    items.find_map(|filter| Some((filter, self.held(&filter.item, held, access)?)))?;
                let expr = match held {
                    Met::Yes => self.world.filled_text(self.asking, &filter.filter_expr),
                    Met::No | Met::Unknown => "false".to_owned(),
                };
                Some(Entry { filter: Some(expr), ..entry(true) })
            }
            PolicyKind::Access | PolicyKind::Audit => {
                let any = |items: &[Item], does: Does| {
                    items.iter().any(|item| match self.held(item, held, access) {
                        Some(Met::Yes) => true,
                        Some(Met::Unknown) => does == Does::Take,
                        Some(Met::No) | None => false,
                    })
                };
                if any(&policy.deny_items, Does::Take) && !any(&policy.deny_exceptions, Does::Give) {
                    return Some(entry(false));
                }
                if any(&policy.items, Does::Give) && !any(&policy.allow_exceptions, Does::Take) {
                    return Some(entry(true));
                }
                policy.is_deny_all_else.then(|| entry(false))
            }
        }
    }

    fn filled_mask(&self, mask: &MaskInfo) -> MaskInfo {
        let fill =
            |text: &Option<String>| text.as_ref().map(|text| self.world.filled_text(self.asking, text));
        MaskInfo {
            mask_type: mask.mask_type.clone(),
            condition_expr: fill(&mask.condition_expr),
            value_expr: fill(&mask.value_expr),
        }
    }

    /// What the conditions of an item and of its policy say, if the item is about the user and the access type.
    fn held(&self, item: &Item, of_policy: Met, access: &str) -> Option<Met> {
        if !self.is_for(item) {
            return None;
        }
        if self.asking.is_admin() {
            return item.delegate_admin.then_some(of_policy);
        }
        let is_granted = item
            .accesses
            .iter()
            .any(|granted| granted.is_allowed && granted.kind.eq_ignore_ascii_case(access));
        if !is_granted {
            return None;
        }
        match (self.world.conditions(self, &item.conditions), of_policy) {
            (Met::No, _) | (_, Met::No) => None,
            (Met::Unknown, _) | (_, Met::Unknown) => Some(Met::Unknown),
            (Met::Yes, Met::Yes) => Some(Met::Yes),
        }
    }

    fn is_for(&self, item: &Item) -> bool {
        let who = self.asking.request.who;
        let user = self.asking.user();
        let is_user = |named: &String| match named.as_str() {
            "{USER}" => user.is_some(),
            "{OWNER}" => user.is_some() && self.asking.request.owner == user,
            name => user == Some(name),
        };
        item.users.iter().any(is_user)
            || item.groups.iter().any(|group| group == "public" || who.groups.contains(group))
            || item.roles.iter().any(|role| who.roles.contains(role))
    }
}
