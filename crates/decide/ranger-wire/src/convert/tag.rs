//! Tags and the resources that carry them, to and from the model.

use policy::model;

use super::policy::{from_resources, from_schedule, resources, schedule};
use super::{id, required, some_text};
use crate::fault::{Faults, Path};
use crate::field::Field;
use crate::lenient::parse_lenient;
use crate::{ServiceResource, Tag, TagAttributeDef, TagDef, TaggedResource, ValiditySchedule, WireError};

/// The option of a tag that holds its validity as a JSON list inside a text.
pub const TAG_VALIDITY_OPTION: &str = "TAG_VALIDITY_PERIODS";

impl TagDef {
    /// The definition in the model's terms.
    pub fn to_model(&self) -> Result<model::TagDef, WireError> {
        let mut faults = Faults::default();
        let read = tag_def(self, &Path::Root, &mut faults);
        faults.unless_any(read)
    }

    /// The definition in Ranger's terms.
    pub fn from_model(from: &model::TagDef) -> Self {
        let attribute = |(name, kind): &(String, String)| TagAttributeDef {
            name: some_text(name),
            kind: some_text(kind),
        };
        Self {
            id: Some(from.id),
            name: some_text(&from.name),
            source: some_text(&from.source),
            attribute_defs: from.attributes.iter().map(attribute).collect(),
            ..Self::default()
        }
    }
}

pub(crate) fn tag_def(from: &TagDef, at: &Path<'_>, faults: &mut Faults) -> model::TagDef {
    let attributes_at = Path::Member(at, "attributeDefs");
    let attribute = |(idx, from): (usize, &TagAttributeDef)| {
        let name = required(&from.name, "name", &Path::Element(&attributes_at, idx), faults);
        (name, from.kind.clone().unwrap_or_default())
    };
    let attributes = from.attribute_defs.iter().enumerate().map(attribute).collect();
    model::TagDef {
        id: id(from.id, at, faults),
        name: required(&from.name, "name", at, faults),
        source: from.source.clone().unwrap_or_default(),
        attributes,
    }
}

impl Tag {
    /// The tag in the model's terms.
    pub fn to_model(&self) -> Result<model::Tag, WireError> {
        let mut faults = Faults::default();
        let read = tag(self, &Path::Root, &mut faults);
        faults.unless_any(read)
    }

    /// The tag in Ranger's terms.
    pub fn from_model(from: &model::Tag) -> Self {
        Self {
            id: Some(from.id.0),
            kind: some_text(&from.kind),
            owner: Some(match from.owner {
                model::TagOwner::Resource => 0,
                model::TagOwner::Service => 1,
            }),
            attributes: from.attributes.clone(),
            options: from.options.clone(),
            validity_periods: from.validity.iter().map(from_schedule).collect(),
            ..Self::default()
        }
    }
}

pub(crate) fn tag(from: &Tag, at: &Path<'_>, faults: &mut Faults) -> model::Tag {
    let owner = match from.owner {
        None | Some(0) => model::TagOwner::Resource,
        Some(1) => model::TagOwner::Service,
        Some(other) => {
            faults.add(&Path::Member(at, "owner"), format!("no kind of owner has the number `{other}`"));
            model::TagOwner::Resource
        }
    };
    let validity = if from.validity_periods.is_empty() {
        from.options.get(TAG_VALIDITY_OPTION).map(|text| validity_option(text)).unwrap_or_default()
    } else {
        from.validity_periods.iter().map(schedule).collect()
    };
    model::Tag {
        id: model::TagId(id(from.id, at, faults)),
        kind: required(&from.kind, "type", at, faults),
        owner,
        attributes: from.attributes.clone(),
        options: from.options.clone(),
        validity,
    }
}

/// A text that does not read as schedules is kept as a schedule that does not parse: who evaluates it then knows that
/// it is broken, where an empty list would mean *always*.
fn validity_option(text: &str) -> Vec<model::ValiditySchedule> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let read = parse_lenient(text).and_then(|value| {
        let mut faults = Faults::default();
        // Some writers give the one schedule without the list.
        let read = if value.is_object() {
            vec![ValiditySchedule::read(value, &Path::Root, &mut faults)]
        } else if value.is_null() {
            Vec::new()
        } else {
            Vec::read(value, &Path::Root, &mut faults)
        };
        faults.unless_any(read)
    });
    match read {
        Ok(schedules) => schedules.iter().map(schedule).collect(),
        Err(_) => vec![model::ValiditySchedule { start_time: Some(text.to_owned()), ..Default::default() }],
    }
}

impl ServiceResource {
    /// The resource in the model's terms, without tags.
    pub fn to_model(&self) -> Result<model::TaggedResource, WireError> {
        let mut faults = Faults::default();
        let read = service_resource(self, &Path::Root, &mut faults);
        faults.unless_any(read)
    }

    /// The resource in Ranger's terms; its tags are kept apart from it.
    pub fn from_model(from: &model::TaggedResource) -> Self {
        Self {
            id: Some(from.id.0),
            guid: some_text(&from.guid),
            service_name: some_text(&from.service),
            resource_elements: from_resources(&from.resource),
            owner_user: from.owner.clone(),
            additional_info: from.options.clone(),
            ..Self::default()
        }
    }
}

pub(crate) fn service_resource(
    from: &ServiceResource,
    at: &Path<'_>,
    faults: &mut Faults,
) -> model::TaggedResource {
    model::TaggedResource {
        id: model::TaggedResourceId(id(from.id, at, faults)),
        guid: from.guid.clone().unwrap_or_default(),
        service: required(&from.service_name, "serviceName", at, faults),
        resource: resources(&from.resource_elements),
        owner: from.owner_user.clone(),
        tags: Vec::new(),
        options: from.additional_info.clone(),
    }
}

impl TaggedResource {
    /// The resource in the model's terms, with its tags.
    pub fn to_model(&self) -> Result<model::TaggedResource, WireError> {
        let mut faults = Faults::default();
        let root = Path::Root;
        let at = Path::Member(&root, "resource");
        let resource = self.resource.clone().unwrap_or_default();
        let mut read = service_resource(&resource, &at, &mut faults);
        read.tags = tag_ids(&self.tag_ids);
        faults.unless_any(read)
    }

    /// The resource with the numbers of its tags.
    pub fn from_model(from: &model::TaggedResource) -> Self {
        Self {
            resource: Some(ServiceResource::from_model(from)),
            tag_ids: from.tags.iter().map(|id| Some(id.0)).collect(),
        }
    }
}

pub(crate) fn tag_ids(from: &[Option<i64>]) -> Vec<model::TagId> {
    from.iter().flatten().map(|id| model::TagId(*id)).collect()
}
