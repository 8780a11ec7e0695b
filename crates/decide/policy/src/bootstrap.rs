//! The state that a new authority begins with: definitions, services, one admin and two policies.

use stdx::Secret;

use crate::defs;
use crate::model::{
    Access, Item, Member, Policy, PolicyId, PolicyKind, ResourceMap, ResourceValues, Role, Service,
    ServiceDef, State, User, Version,
};

pub use crate::edit::ADMIN as ADMIN_ROLE;

/// The state of an authority for these catalogs, in which `admin_user` may do everything.
///
/// The first catalog is filtered and masked by the service `query`, every further one by a service of its own.
/// Without a credential the admin cannot log in with a password.
pub fn initial_state(catalogs: &[&str], admin_user: &str, admin_credential: Option<Secret>) -> State {
    let polaris = defs::polaris();
    let mut state = State { version: Version(1), ..State::default() };

    let mut services = vec![service(defs::GATE_ONE_SERVICE, defs::POLARIS)];
    for (at, catalog) in catalogs.iter().enumerate() {
        let name = if at == 0 { defs::GATE_TWO_SERVICE.to_owned() } else { name_for(catalog) };
        services.push(gate_two(&name, catalog));
    }
    services.push(service(defs::TAG_SERVICE, defs::TAG));
    for (id, service) in (1..).zip(services) {
        state.services.insert(service.name.clone(), Service { id, ..service });
    }

    let role = Role {
        id: 1,
        name: ADMIN_ROLE.to_owned(),
        description: "May do everything at gate one and write every policy.".to_owned(),
        users: vec![Member { name: admin_user.to_owned(), is_admin: true }],
        created_by: admin_user.to_owned(),
        ..Role::default()
    };
    state.roles.insert(role.name.clone(), role);
    let user = User {
        id: 1,
        name: admin_user.to_owned(),
        credential: admin_credential,
        attributes: Default::default(),
    };
    state.users.insert(user.name.clone(), user);

    for (id, policy) in (1..).zip([admin_everything(&polaris), owner_own_objects(&polaris)]) {
        let policy = Policy { id: PolicyId(id), created_by: admin_user.to_owned(), ..policy };
        state.policies.insert(policy.id, policy);
        state.next_policy_id = id + 1;
    }
    for def in [polaris, defs::hive(), defs::tag()] {
        state.service_defs.insert(def.name.clone(), def);
    }
    state
}

/// The gate-two services that configured catalogs still need, each with a service of its own, and the tag service.
///
/// A catalog must not be read before its service is there: no policy could name its tables. A gate-two service that
/// listens to no tag service comes back with the link, under the number that it has.
pub fn services_for(state: &State, catalogs: &[&str]) -> Vec<Service> {
    let serves = |service: &Service, catalog: &str| {
        let names = service.configs.get(defs::CATALOGS_CONFIG);
        names.is_some_and(|names| names.split(',').any(|name| name == catalog))
    };
    let next = state.services.values().map(|service| service.id).max().unwrap_or(0) + 1;
    let missing =
        catalogs.iter().filter(|catalog| !state.services.values().any(|service| serves(service, catalog)));
    let mut services: Vec<Service> = (next..)
        .zip(missing)
        .map(|(id, catalog)| Service { id, ..gate_two(&name_for(catalog), catalog) })
        .collect();
    if !state.service_defs.contains_key(defs::TAG) {
        services.iter_mut().for_each(|service| service.tag_service = None);
        return services;
    }
    match state.services.get(defs::TAG_SERVICE) {
        Some(known) if known.service_def != defs::TAG => return services,
        Some(_) => {}
        None => {
            let id = services.last().map_or(next, |service| service.id + 1);
            services.push(Service { id, ..service(defs::TAG_SERVICE, defs::TAG) });
        }
    }
    let is_deaf = |service: &&Service| {
        service.configs.contains_key(defs::CATALOGS_CONFIG) && service.tag_service.is_none()
    };
    let linked =
        |service: &Service| Service { tag_service: Some(defs::TAG_SERVICE.to_owned()), ..service.clone() };
    services.extend(state.services.values().filter(is_deaf).map(linked));
    services
}

fn name_for(catalog: &str) -> String {
    format!("{}_{catalog}", defs::GATE_TWO_SERVICE)
}

fn gate_two(name: &str, catalog: &str) -> Service {
    let mut service = service(name, defs::HIVE);
    service.configs.insert(defs::CATALOGS_CONFIG.to_owned(), catalog.to_owned());
    service.tag_service = Some(defs::TAG_SERVICE.to_owned());
    service
}

fn service(name: &str, def: &str) -> Service {
    Service { name: name.to_owned(), service_def: def.to_owned(), is_enabled: true, ..Service::default() }
}

fn admin_everything(polaris: &ServiceDef) -> Policy {
    let mut policy = Policy::new(defs::GATE_ONE_SERVICE, "admin - everything", PolicyKind::Access);
    policy.description = "Everything in every catalog, for the role `admin`.".to_owned();
    policy.resources = everything(&["root", "catalog", "namespace", "table"]);
    // Principals are a branch of their own below the realm, and policies one below the namespace.
    policy.additional_resources =
        vec![everything(&["root", "principal"]), everything(&["root", "catalog", "namespace", "policy"])];
    policy.items = vec![Item {
        accesses: polaris.access_types.iter().map(|access| Access::new(&access.name)).collect(),
        roles: vec![ADMIN_ROLE.to_owned()],
        delegate_admin: true,
        ..Item::default()
    }];
    policy
}

fn owner_own_objects(polaris: &ServiceDef) -> Policy {
    let mut policy = Policy::new(defs::GATE_ONE_SERVICE, "owner - own objects", PolicyKind::Access);
    policy.description = "Owners may do everything with their tables and views.".to_owned();
    policy.resources = everything(&["root", "catalog", "namespace", "table"]);
    let names = polaris.access_types.iter().map(|access| access.name.as_str());
    policy.items = vec![Item {
        accesses: names
            .filter(|n| n.starts_with("table-") || n.starts_with("view-"))
            .map(Access::new)
            .collect(),
        users: vec!["{OWNER}".to_owned()],
        ..Item::default()
    }];
    policy
}

fn everything(levels: &[&str]) -> ResourceMap {
    levels.iter().map(|level| ((*level).to_owned(), ResourceValues::one("*"))).collect()
}

#[cfg(test)]
mod tests;
