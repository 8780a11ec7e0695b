//! A policy written back as the statement that would make it.

use policy::model::{Item, Policy, PolicyKind, Priority};

/// `ROLE a, USER b`, as grantees stand in a statement.
pub(crate) fn grantees(item: &Item) -> String {
    let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut all: Vec<String> = Vec::new();
    all.extend(item.users.iter().map(|name| format!("USER {}", quote(name))));
    all.extend(item.roles.iter().map(|name| format!("ROLE {}", quote(name))));
    all.extend(item.groups.iter().map(|name| {
        if name == policy::edit::PUBLIC { "PUBLIC".to_owned() } else { format!("GROUP {}", quote(name)) }
    }));
    all.join(", ")
}

/// The values of one level, `, `-separated.
pub(crate) fn level(policy: &Policy, level: &str) -> Option<String> {
    policy.resources.get(level).map(|values| {
        let joined = values.values.join(", ");
        if values.is_excludes { format!("all but {joined}") } else { joined }
    })
}

pub(crate) fn kind_name(kind: PolicyKind) -> &'static str {
    match kind {
        PolicyKind::Access => "ACCESS",
        PolicyKind::Mask => "COLUMN MASK",
        PolicyKind::RowFilter => "ROW FILTER",
        PolicyKind::Audit => "AUDIT",
    }
}

/// The dotted resource.
pub(crate) fn resource(policy: &Policy) -> String {
    let order = ["catalog", "namespace", "database", "table", "column", "tag"];
    let parts: Vec<String> = order.iter().filter_map(|name| level(policy, name)).collect();
    parts.join(".")
}

/// One grantee list per item, whatever its kind.
pub(crate) fn all_grantees(policy: &Policy) -> String {
    let items = policy
        .items
        .iter()
        .chain(&policy.deny_items)
        .chain(policy.mask_items.iter().map(|item| &item.item))
        .chain(policy.filter_items.iter().map(|item| &item.item));
    let lists: Vec<String> = items.map(grantees).filter(|list| !list.is_empty()).collect();
    lists.join("; ")
}

/// A mask type without the component in front of it.
fn bare(mask_type: &str) -> &str {
    mask_type.rsplit_once(':').map_or(mask_type, |(_, bare)| bare)
}

/// `TABLE t` or `TAG t`.
fn target(policy: &Policy, catalog: &str) -> Option<String> {
    let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let first = |level: &str| policy.resources.get(level).and_then(|values| values.values.first());
    if let Some(tag) = first("tag") {
        return Some(format!("TAG {}", quote(tag)));
    }
    let namespace: Vec<String> = first("database")?.split('.').map(quote).collect();
    Some(format!("TABLE {}.{}.{}", quote(catalog), namespace.join("."), quote(first("table")?)))
}

/// The statements that would make a mask or row filter: one per item that an SQL statement can say.
///
/// Items for exempt grantees come out as `EXCEPT`. A policy that SQL cannot say gives `None`.
pub(crate) fn create_statement(policy: &Policy, catalog: &str) -> Option<String> {
    let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let target = target(policy, catalog)?;
    let (body, to, except, using) = match policy.kind {
        PolicyKind::Mask => {
            let (exempt, masked): (Vec<_>, Vec<_>) =
                policy.mask_items.iter().partition(|item| bare(&item.mask.mask_type) == "MASK_NONE");
            let except: Vec<String> = exempt.iter().map(|item| grantees(&item.item)).collect();
            let [item] = masked.as_slice() else { return None };
            let columns: Vec<String> = match policy.resources.get("column") {
                Some(columns) => columns.values.iter().map(|c| quote(c)).collect(),
                None => Vec::new(),
            };
            let on = match columns.is_empty() {
                true if policy.resources.contains_key("tag") => String::new(),
                true => return None,
                false => format!(" ON COLUMN {}", columns.join(", ")),
            };
            let body = format!("COLUMN MASK {}", item.mask.mask_type);
            let using =
                item.mask.value_expr.as_ref().map(|expr| format!(" USING ({expr})")).unwrap_or_default();
            (body, grantees(&item.item), except, format!("{on}{using}"))
        }
        PolicyKind::RowFilter => {
            let (item, exempt) = policy.filter_items.split_last()?;
            let except: Vec<String> = exempt.iter().map(|item| grantees(&item.item)).collect();
            ("ROW FILTER".to_owned(), grantees(&item.item), except, format!(" USING ({})", item.filter_expr))
        }
        PolicyKind::Access | PolicyKind::Audit => return None,
    };
    let except = if except.is_empty() { String::new() } else { format!(" EXCEPT {}", except.join(", ")) };
    let priority = if policy.priority == Priority::Override { " WITH PRIORITY OVERRIDE" } else { "" };
    Some(format!("CREATE POLICY {} ON {target} {body} TO {to}{except}{using}{priority}", quote(&policy.name)))
}
