//! What is wrong with a policy's items, conditions and expressions.

use super::{
    CONDITION_INVALID, CONDITION_UNKNOWN, Checks, DENY_SWITCHED_OFF, Found, ITEMS_OF_OTHER_KIND,
    MASK_TYPE_UNKNOWN, POLICY_ACCESS_DENIED, POLICY_ACCESS_UNKNOWN, POLICY_FIELD_MISSING, POLICY_GROUP_EMPTY,
    POLICY_MASK_TYPE_MISSING, POLICY_PRINCIPALS_MISSING, POLICY_ROLE_EMPTY, POLICY_USER_EMPTY,
    SCRIPT_INVALID,
};
use crate::condition::ConditionCompiler;
use crate::limits;
use crate::model::{Item, Policy, PolicyCondition, PolicyKind, ServiceDef};
use crate::normalise;
use crate::schedule::ScheduleReading;

/// The evaluator whose first value is a script.
const SCRIPT_EVALUATOR: &str = "RangerScriptConditionEvaluator";

/// The evaluator whose script stands in the definition.
const TEMPLATE_EVALUATOR: &str = "RangerScriptTemplateConditionEvaluator";

/// The option that switches denials and exceptions off.
const DENY_OPTION: &str = "enableDenyAndExceptionsInPolicies";

pub(super) fn check(policy: &Policy, def: &ServiceDef, checks: &Checks<'_>, found: &mut Found<'_>) {
    check_kinds(policy, def, found);
    check_conditions(&policy.conditions, def, checks, found);
    let of_access = Accesses::new(def, PolicyKind::Access);
    let lists = [&policy.items, &policy.deny_items, &policy.allow_exceptions, &policy.deny_exceptions];
    for item in lists.into_iter().flatten() {
        check_item(item, &of_access, def, checks, found);
    }
    let of_masks = Accesses::new(def, PolicyKind::Mask);
    for mask in &policy.mask_items {
        check_item(&mask.item, &of_masks, def, checks, found);
        let name = &mask.mask.mask_type;
        if name.trim().is_empty() {
            found.missing(POLICY_MASK_TYPE_MISSING, "policy item datamask-type", "a mask item has no mask");
        } else if !def.mask_types.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            let reason = format!("`{}` has no mask type `{name}`", def.name);
            found.wrong(MASK_TYPE_UNKNOWN, "policy item datamask-type", reason);
        }
        for text in mask.mask.value_expr.iter().chain(&mask.mask.condition_expr) {
            found.limit(&limits::SCRIPT_CHARS_MAX, text.chars().count(), "dataMaskInfo");
            check_expressions(text, "dataMaskInfo", checks, found);
        }
    }
    let of_filters = Accesses::new(def, PolicyKind::RowFilter);
    for filter in &policy.filter_items {
        check_item(&filter.item, &of_filters, def, checks, found);
        found.limit(&limits::SCRIPT_CHARS_MAX, filter.filter_expr.chars().count(), "rowFilterInfo");
        check_expressions(&filter.filter_expr, "rowFilterInfo", checks, found);
    }
}

/// Items that nothing looks at are told: they would stand there as if they did something.
fn check_kinds(policy: &Policy, def: &ServiceDef, found: &mut Found<'_>) {
    let has_access = !(policy.items.is_empty()
        && policy.deny_items.is_empty()
        && policy.allow_exceptions.is_empty()
        && policy.deny_exceptions.is_empty());
    let has_others = match policy.kind {
        PolicyKind::Access | PolicyKind::Audit => {
            !policy.mask_items.is_empty() || !policy.filter_items.is_empty()
        }
        PolicyKind::Mask => has_access || !policy.filter_items.is_empty(),
        PolicyKind::RowFilter => has_access || !policy.mask_items.is_empty(),
    };
    if has_others {
        let reason = "it has items of another kind than its own, which nothing looks at";
        found.warn(ITEMS_OF_OTHER_KIND, "policy items", reason);
    }
    let is_switched_off =
        def.options.get(DENY_OPTION).is_some_and(|text| text.trim().eq_ignore_ascii_case("false"));
    let denies = policy.is_deny_all_else
        || !(policy.deny_items.is_empty()
            && policy.allow_exceptions.is_empty()
            && policy.deny_exceptions.is_empty());
    if is_switched_off && denies {
        let reason = format!("`{}` has denials and exceptions switched off, so they do nothing", def.name);
        found.warn(DENY_SWITCHED_OFF, "policy items", reason);
    }
}

/// The access types that items of one kind may name.
struct Accesses {
    known: Vec<String>,
}

impl Accesses {
    fn new(def: &ServiceDef, kind: PolicyKind) -> Self {
        let own: Vec<String> = match kind {
            PolicyKind::Access | PolicyKind::Audit => {
                def.access_types.iter().map(|access| access.name.to_lowercase()).collect()
            }
            PolicyKind::Mask => def.mask_access_types.iter().map(|name| name.to_lowercase()).collect(),
            PolicyKind::RowFilter => def.filter_access_types.iter().map(|name| name.to_lowercase()).collect(),
        };
        // A marker stands for all of its category, so it is known where one of those is.
        let markers = normalise::markers(&def.access_types);
        let markers = markers.iter().chain(&def.marker_access_types);
        let fits = markers.filter(|marker| {
            marker.implied_grants.iter().any(|implied| own.contains(&implied.to_lowercase()))
        });
        let fits: Vec<String> = fits.map(|marker| marker.name.to_lowercase()).collect();
        Self { known: own.into_iter().chain(fits).collect() }
    }

    fn is_known(&self, name: &str) -> bool {
        self.known.contains(&name.to_lowercase())
    }
}

fn check_item(
    item: &Item,
    accesses: &Accesses,
    def: &ServiceDef,
    checks: &Checks<'_>,
    found: &mut Found<'_>,
) {
    if item.accesses.is_empty() && !item.delegate_admin {
        found.missing(POLICY_FIELD_MISSING, "policy item accesses", "an item names no access types");
    }
    found.limit(&limits::ACCESSES_PER_ITEM_MAX, item.accesses.len(), "policy item accesses");
    for access in &item.accesses {
        if access.kind.trim().is_empty() {
            found.missing(POLICY_FIELD_MISSING, "policy item access type", "an access has no type");
        } else if !accesses.is_known(&access.kind) {
            let reason = format!("`{}` has no access type `{}` for such an item", def.name, access.kind);
            found.wrong(POLICY_ACCESS_UNKNOWN, "policy item access type", reason);
        }
        if !access.is_allowed {
            let reason = format!("the access `{}` is not allowed; write a denial instead", access.kind);
            found.wrong(POLICY_ACCESS_DENIED, "policy item access type allowed", reason);
        }
    }
    let n_principals = item.users.len().saturating_add(item.groups.len()).saturating_add(item.roles.len());
    if n_principals == 0 {
        let reason = "an item names no users, groups or roles";
        found.missing(POLICY_PRINCIPALS_MISSING, "policy item users/user-groups/roles", reason);
    }
    found.limit(&limits::PRINCIPALS_PER_ITEM_MAX, n_principals, "policy item users/user-groups/roles");
    let empties = [
        (&item.users, POLICY_USER_EMPTY, "policy item users", "user"),
        (&item.groups, POLICY_GROUP_EMPTY, "policy item groups", "group"),
        (&item.roles, POLICY_ROLE_EMPTY, "policy item roles", "role"),
    ];
    for (names, code, field, what) in empties {
        if names.iter().any(|name| name.trim().is_empty()) {
            found.missing(code, field, format!("an item names a {what} without a name"));
        }
    }
    check_conditions(&item.conditions, def, checks, found);
}

fn check_conditions(
    conditions: &[PolicyCondition],
    def: &ServiceDef,
    checks: &Checks<'_>,
    found: &mut Found<'_>,
) {
    found.limit(&limits::CONDITIONS_MAX, conditions.len(), "conditions");
    for condition in conditions {
        found.limit(&limits::CONDITION_VALUES_MAX, condition.values.len(), "conditions");
        let Some(known) = def.conditions.iter().find(|known| known.name == condition.kind) else {
            let reason = format!("`{}` has no condition `{}`", def.name, condition.kind);
            found.wrong(CONDITION_UNKNOWN, "conditions", reason);
            continue;
        };
        let class = known.evaluator.rsplit('.').next();
        let is_script = class == Some(SCRIPT_EVALUATOR);
        if let Some(script) = condition.values.first().filter(|_| is_script) {
            check_script(script, "conditions", checks, found);
        } else if class != Some(TEMPLATE_EVALUATOR) {
            let reader = ConditionCompiler { def, scripts: None, schedules: ScheduleReading::OwnZone };
            if let Some(why) = reader.compile(condition).fault() {
                found.wrong(CONDITION_INVALID, "conditions", why);
            }
        }
    }
}

fn check_script(script: &str, field: &str, checks: &Checks<'_>, found: &mut Found<'_>) {
    found.limit(&limits::SCRIPT_CHARS_MAX, script.chars().count(), field);
    if let Some(Err(why)) = checks.scripts.map(|check| check(script)) {
        found.wrong(SCRIPT_INVALID, field, format!("the script `{}` does not parse: {why}", shown(script)));
    }
}

/// Looks at the `${{…}}` in a text.
pub(super) fn check_expressions(text: &str, field: &str, checks: &Checks<'_>, found: &mut Found<'_>) {
    let mut rest = text;
    while let Some((_, from)) = rest.split_once("${{") {
        let Some((expression, after)) = from.split_once("}}") else {
            found.wrong(SCRIPT_INVALID, field, format!("an expression is not closed in `{}`", shown(text)));
            return;
        };
        check_script(expression, field, checks, found);
        rest = after;
    }
}

/// Enough of a text to find it by.
fn shown(text: &str) -> String {
    const CHARS: usize = 80;
    match text.char_indices().nth(CHARS) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
    }
}
