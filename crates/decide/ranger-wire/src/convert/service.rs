//! Services to and from the model.

use policy::defs::AUDIT_FILTERS_CONFIG;
use policy::model;

use super::{audit_filters, id, required, some_text};
use crate::fault::{Faults, Path};
use crate::{Service, WireError};

impl Service {
    /// The service in the model's terms.
    pub fn to_model(&self) -> Result<model::Service, WireError> {
        let mut faults = Faults::default();
        let at = Path::Root;
        let configs_at = Path::Member(&at, "configs");
        let filters_at = Path::Member(&configs_at, AUDIT_FILTERS_CONFIG);
        let filters = self.configs.get(AUDIT_FILTERS_CONFIG).map_or("", String::as_str);
        let read = model::Service {
            id: id(self.id, &at, &mut faults),
            name: required(&self.name, "name", &at, &mut faults),
            service_def: required(&self.kind, "type", &at, &mut faults),
            tag_service: self.tag_service.clone(),
            is_enabled: self.is_enabled.unwrap_or(true),
            configs: self.configs.clone(),
            audit_filters: audit_filters(filters, &filters_at, &mut faults),
        };
        faults.unless_any(read)
    }

    /// The service in Ranger's terms; versions and times are the caller's to fill in.
    pub fn from_model(from: &model::Service) -> Self {
        Self {
            id: Some(from.id),
            is_enabled: Some(from.is_enabled),
            kind: some_text(&from.service_def),
            name: some_text(&from.name),
            tag_service: from.tag_service.clone(),
            configs: from.configs.clone(),
            ..Self::default()
        }
    }
}
