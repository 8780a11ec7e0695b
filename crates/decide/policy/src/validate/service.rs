//! What is wrong with a service.

use super::view::View;
use super::{
    Found, NUMBER_TAKEN, REFERENCE_UNKNOWN, SERVICE_CONFIG_MISSING, SERVICE_DEF_MISSING, SERVICE_DEF_UNKNOWN,
    SERVICE_NAME_INVALID, SERVICE_NAME_MISSING, SERVICE_NAME_TAKEN,
};
use crate::defs;
use crate::model::{Service, ServiceDef};

pub(super) fn check(service: &Service, view: &View<'_>, found: &mut Found<'_>) {
    check_name(service, view, found);
    if service.service_def.trim().is_empty() {
        found.missing(SERVICE_DEF_MISSING, "type", "it has no definition");
    } else {
        match view.def(&service.service_def) {
            None => {
                let reason = format!("no such definition `{}`", service.service_def);
                found.wrong(SERVICE_DEF_UNKNOWN, "type", reason);
            }
            Some(def) => check_configs(service, def, found),
        }
    }
    let Some(tags) = service.tag_service.as_deref().filter(|name| !name.is_empty()) else { return };
    match view.service(tags) {
        None => {
            found.wrong(REFERENCE_UNKNOWN, "tagService", format!("no such tag service `{tags}`"));
        }
        Some(other) if other.service_def != defs::TAG => {
            found.wrong(REFERENCE_UNKNOWN, "tagService", format!("`{tags}` is no tag service"));
        }
        Some(_) => {}
    }
}

fn check_name(service: &Service, view: &View<'_>, found: &mut Found<'_>) {
    let name = &service.name;
    let may_be = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == ' ';
    if name.trim().is_empty() {
        found.missing(SERVICE_NAME_MISSING, "name", "it has no name");
    } else if name.starts_with(' ') || !name.chars().all(may_be) {
        let reason = "a name begins with no space, and has letters, digits, `_`, `-` and spaces";
        found.wrong(SERVICE_NAME_INVALID, "name", reason);
    }
    found.name_limit(name);
    for other in view.services().filter(|other| other.name != *name) {
        if other.name.eq_ignore_ascii_case(name) {
            let reason = format!("its name differs from that of `{}` by case alone", other.name);
            found.wrong(SERVICE_NAME_TAKEN, "name", reason);
        }
        if other.id == service.id && service.id > 0 {
            found.wrong(NUMBER_TAKEN, "id", format!("`{}` has the number {}", other.name, service.id));
        }
    }
}

fn check_configs(service: &Service, def: &ServiceDef, found: &mut Found<'_>) {
    let is_given = |name: &str| service.configs.get(name).is_some_and(|value| !value.trim().is_empty());
    let missing = def.configs.iter().filter(|config| config.is_mandatory && !is_given(&config.name));
    let missing: Vec<&str> = missing.map(|config| config.name.as_str()).collect();
    if !missing.is_empty() {
        let reason = format!("settings are missing: {}", missing.join(", "));
        found
            .missing(SERVICE_CONFIG_MISSING, "configuration", reason)
            .sub(missing.first().copied().unwrap_or_default());
    }
}
