//! The tag service: tags on columns, and policies about tags.

use std::collections::BTreeMap;

use policy::defs;
use policy::model::{
    Access, AccessTypeDef, Item, MaskInfo, MaskItem, Policy, PolicyId, PolicyKind, ResourceMap,
    ResourceValues, Service, State, Tag, TagDef, TagId, TaggedResource, TaggedResourceId,
};

use crate::names::{column, database, table, tag};
use crate::people::People;
use crate::policies::item;
use crate::rng::{Rng, shuffled};
use crate::service::{SERVICE, TAG_SERVICE, service_def};
use crate::shape::Shape;

/// Tags of one kind that differ in their attributes.
const VARIANTS: u32 = 4;
/// Kinds of tags that one database's columns carry: those of its subject.
const KINDS_OF_DATABASE: u32 = 10;

pub(crate) fn add(state: &mut State, shape: &Shape, people: &People, rng: &mut Rng) {
    if shape.n_tags == 0 {
        return;
    }
    add_service(state);
    for number in 0..shape.n_tags {
        let name = tag(number);
        let attributes = vec![("level".to_owned(), "string".to_owned())];
        state
            .tag_defs
            .insert(name.clone(), TagDef { id: number.into(), name, attributes, ..TagDef::default() });
        for variant in 0..VARIANTS {
            let id = tag_id(number, variant);
            let attributes = BTreeMap::from([("level".to_owned(), variant.to_string())]);
            state.tags.insert(id, Tag { id, kind: tag(number), attributes, ..Tag::default() });
        }
    }
    add_policies(state, shape, people, rng);
    let n_columns = shape.n_databases.min(1_000) * shape.n_tables * shape.n_columns;
    for number in 0..shape.n_tagged {
        let place = shuffled(number, n_columns);
        let (of_table, at) = (place / shape.n_columns, place % shape.n_columns);
        let (of_database, at_table) = (of_table / shape.n_tables, of_table % shape.n_tables);
        let kind = (of_database * 7 + rng.zipf(KINDS_OF_DATABASE)) % shape.n_tags;
        let id = TaggedResourceId(i64::from(number) + 1);
        let resource = [
            ("database", database(of_database)),
            ("table", table(shape, of_database, at_table)),
            ("column", column(at)),
        ];
        let resource: ResourceMap = resource
            .into_iter()
            .map(|(level, value)| (level.to_owned(), ResourceValues::one(value)))
            .collect();
        let tags = vec![tag_id(kind, rng.below(VARIANTS))];
        let made = TaggedResource {
            id,
            guid: format!("resource-{number}"),
            service: SERVICE.to_owned(),
            resource,
            tags,
            ..TaggedResource::default()
        };
        state.tagged_resources.insert(id, made);
    }
}

fn tag_id(kind: u32, variant: u32) -> TagId {
    TagId(i64::from(kind * VARIANTS + variant) + 1)
}

/// A tag service's access types are those of the services that it serves, with the component in front.
fn add_service(state: &mut State) {
    let component = service_def();
    let mut def = defs::tag();
    let prefixed = |name: &String| format!("{}:{name}", component.name);
    def.access_types = component
        .access_types
        .iter()
        .map(|access| AccessTypeDef {
            name: prefixed(&access.name),
            implied_grants: access.implied_grants.iter().map(prefixed).collect(),
            ..access.clone()
        })
        .collect();
    def.mask_types = component
        .mask_types
        .iter()
        .map(|mask| policy::model::MaskTypeDef { name: prefixed(&mask.name), ..mask.clone() })
        .collect();
    def.mask_access_types = component.mask_access_types.iter().map(prefixed).collect();
    let service = Service {
        id: 2,
        name: TAG_SERVICE.to_owned(),
        service_def: def.name.clone(),
        is_enabled: true,
        ..Service::default()
    };
    state.services.insert(service.name.clone(), service);
    state.service_defs.insert(def.name.clone(), def);
}

/// One in ten denies, one in five masks, and the others allow.
fn add_policies(state: &mut State, shape: &Shape, people: &People, rng: &mut Rng) {
    for number in 0..shape.n_tag_policies {
        let kind = if number % 5 == 4 { PolicyKind::Mask } else { PolicyKind::Access };
        let of_tag = number % shape.n_tags;
        let mut made = Policy::new(TAG_SERVICE, format!("tag policy {number}"), kind);
        made.id = PolicyId(i64::from(shape.n_policies) + i64::from(number) + 1);
        made.resources = ResourceMap::from([("tag".to_owned(), ResourceValues::one(tag(of_tag)))]);
        let mut granted: Item = item(people, &["select"], rng);
        granted.accesses = granted.accesses.iter().map(|a| Access::new(format!("hive:{}", a.kind))).collect();
        match kind {
            PolicyKind::Mask => {
                let mask = MaskInfo { mask_type: "hive:MASK_HASH".to_owned(), ..MaskInfo::default() };
                made.mask_items.push(MaskItem { item: granted, mask });
            }
            _ if number % 10 == 3 => made.deny_items.push(granted),
            _ => made.items.push(granted),
        }
        state.policies.insert(made.id, made);
    }
}
