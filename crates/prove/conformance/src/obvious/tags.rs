//! Finds the tags of a resource, and the tag policies that speak of them.

use std::collections::BTreeMap;

use policy::model::{PolicyKind, Service, TaggedResource};
use policy::{MatchType, Resource};

use super::World;
use super::asking::{Asking, FoundTag};
use super::definition::Definition;
use super::policies::{Prepared, is_of};
use super::repository::counts;
use super::resource_match::{Asked, match_type};

/// A service's tag service, as the service sees it.
pub(crate) struct TagRepository {
    pub(crate) service: String,
    pub(crate) definition: Definition,
    /// The name of the service's own definition, which stands before access types in tag policies.
    component: String,
}

impl World {
    pub(crate) fn tag_repository(&self, service: &Service, own: &Definition) -> Option<TagRepository> {
        let tag_service = self.service(service.tag_service.as_deref()?)?;
        let def = self.state.service_defs.get(&tag_service.service_def)?;
        Some(TagRepository {
            service: tag_service.name.clone(),
            definition: Definition::of_tags(def, &own.name),
            component: own.name.clone(),
        })
    }

    /// The tags that the request brings along, or else those of the tagged resources that lie right.
    pub(crate) fn tags(&self, asking: &Asking<'_, '_>) -> Vec<FoundTag> {
        if let Some(brought) = &asking.request.context.tags {
            return brought
                .iter()
                .map(|tag| FoundTag {
                    kind: tag.kind.clone(),
                    attributes: tag.attributes.clone(),
                    validity: tag.validity.clone(),
                    found: tag.found,
                })
                .collect();
        }
        let mut tags: Vec<FoundTag> = Vec::new();
        for tagged in self.state.tagged_resources.values() {
            let Some(found) = self.tagged_match(tagged, asking) else { continue };
            for id in &tagged.tags {
                let Some(tag) = self.state.tags.get(id) else { continue };
                let tag = FoundTag {
                    kind: tag.kind.clone(),
                    attributes: tag.attributes.clone(),
                    validity: tag.validity.clone(),
                    found,
                };
                if !tags.contains(&tag) {
                    tags.push(tag);
                }
            }
        }
        tags
    }

    fn tagged_match(&self, tagged: &TaggedResource, asking: &Asking<'_, '_>) -> Option<MatchType> {
        if tagged.service != asking.request.service {
            return None;
        }
        // Whoever asks for anything anywhere asks below every tagged resource.
        if asking.resource().levels().is_empty() {
            return asking.is_any().then_some(MatchType::Below);
        }
        let service = self.service(&tagged.service)?;
        let definition = Definition::of(self.state.service_defs.get(&service.service_def)?);
        let fillings = asking.fillings(None);
        let asked =
            Asked { resource: asking.resource(), scopes: asking.element_scopes(), fillings: &fillings };
        let found = match_type(&definition, PolicyKind::Access, &tagged.resource, &asked)?;
        Some(found).filter(|found| counts(*found, asking))
    }

    /// Each tag with each policy that names it, where both are valid now.
    pub(crate) fn tag_pairs<'a>(
        &self,
        kind: PolicyKind,
        asking: &'a Asking<'_, '_>,
        zone: Option<&str>,
        repository: &TagRepository,
    ) -> Vec<(Prepared, &'a FoundTag)> {
        let now = asking.request.now;
        let own = self.state.policies.values().filter(|policy| policy.service == repository.service);
        let mut pairs = Vec::new();
        for policy in
            own.filter(|policy| is_of(policy, kind, zone) && self.is_valid_at(&policy.validity, now))
        {
            let prepared = Prepared::of_tags(policy, &repository.definition, &repository.component);
            for tag in asking.tags.iter().filter(|tag| self.tag_counts(tag, now)) {
                if names_tag(&prepared, &tag.kind, repository, asking) {
                    pairs.push((prepared.clone(), tag));
                }
            }
        }
        pairs
    }
}

fn names_tag(prepared: &Prepared, tag: &str, repository: &TagRepository, asking: &Asking<'_, '_>) -> bool {
    let resource = Resource::new([("tag", tag)]);
    let fillings = asking.fillings(None);
    let scopes = BTreeMap::new();
    let asked = Asked { resource: &resource, scopes: &scopes, fillings: &fillings };
    prepared.resource_maps().any(|map| {
        let kind = PolicyKind::Access;
        match_type(&repository.definition, kind, map, &asked).is_some_and(MatchType::is_itself)
    })
}
