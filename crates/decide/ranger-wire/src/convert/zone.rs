//! Security zones to and from the model.

use policy::model;

use super::{id, required, some_text};
use crate::fault::{Faults, Path};
use crate::{WireError, Zone, ZoneService};

impl Zone {
    /// The zone in the model's terms.
    pub fn to_model(&self) -> Result<model::Zone, WireError> {
        let mut faults = Faults::default();
        let at = Path::Root;
        let read = model::Zone {
            id: id(self.id, &at, &mut faults),
            name: required(&self.name, "name", &at, &mut faults),
            description: self.description.clone().unwrap_or_default(),
            services: self
                .services
                .iter()
                .map(|(name, service)| (name.clone(), service.resources.clone()))
                .collect(),
            tag_services: self.tag_services.iter().cloned().collect(),
            admin_users: self.admin_users.iter().cloned().collect(),
            admin_groups: self.admin_user_groups.iter().cloned().collect(),
            admin_roles: self.admin_roles.iter().cloned().collect(),
            audit_users: self.audit_users.iter().cloned().collect(),
            audit_groups: self.audit_user_groups.iter().cloned().collect(),
            audit_roles: self.audit_roles.iter().cloned().collect(),
        };
        faults.unless_any(read)
    }

    /// The zone in Ranger's terms.
    pub fn from_model(from: &model::Zone) -> Self {
        Self {
            id: Some(from.id),
            name: some_text(&from.name),
            description: some_text(&from.description),
            services: from
                .services
                .iter()
                .map(|(name, resources)| (name.clone(), ZoneService { resources: resources.clone() }))
                .collect(),
            tag_services: from.tag_services.iter().cloned().collect(),
            admin_users: from.admin_users.iter().cloned().collect(),
            admin_user_groups: from.admin_groups.iter().cloned().collect(),
            admin_roles: from.admin_roles.iter().cloned().collect(),
            audit_users: from.audit_users.iter().cloned().collect(),
            audit_user_groups: from.audit_groups.iter().cloned().collect(),
            audit_roles: from.audit_roles.iter().cloned().collect(),
            ..Self::default()
        }
    }
}
