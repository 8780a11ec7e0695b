//! The service whose policies are asked, with its definition, its zones and its tag service.

use std::collections::BTreeMap;

use policy::defs;
use policy::model::{Service, ServiceDef, State, Zone};

use crate::names::{database, zone};
use crate::shape::Shape;

pub const SERVICE: &str = "query";
pub(crate) const TAG_SERVICE: &str = "tags";

pub(crate) fn service_def() -> ServiceDef {
    defs::hive()
}

pub(crate) fn add(state: &mut State, shape: &Shape) {
    let def = service_def();
    let tag_service = (shape.n_tags > 0).then(|| TAG_SERVICE.to_owned());
    let service = Service {
        id: 1,
        name: SERVICE.to_owned(),
        service_def: def.name.clone(),
        tag_service,
        is_enabled: true,
        ..Service::default()
    };
    state.services.insert(service.name.clone(), service);
    state.service_defs.insert(def.name.clone(), def);
    for number in 0..shape.n_zones {
        let databases = (0..shape.n_databases).filter(|database| shape.zone_of(*database) == Some(number));
        let resources =
            vec![BTreeMap::from([("database".to_owned(), databases.map(database).collect::<Vec<_>>())])];
        let made = Zone {
            id: i64::from(number) + 1,
            name: zone(number),
            services: BTreeMap::from([(SERVICE.to_owned(), resources)]),
            ..Zone::default()
        };
        state.zones.insert(made.name.clone(), made);
    }
}
