//! One service, its definition and its policies read and put in the order of evaluation.

use std::collections::HashMap;

use super::access_types::AccessTypes;
use super::index::{Index, Reach};
use super::policy::CompiledPolicy;
use crate::matching::{Levels, RequestPath};
use crate::model::{Policy, PolicyKind, Service, ServiceDef};

#[derive(Clone, Debug)]
pub(crate) struct CompiledService {
    pub(crate) is_enabled: bool,
    pub(crate) def_name: String,
    pub(crate) access_types: AccessTypes,
    /// Lower-case names of the mask types that the definition has.
    pub(crate) mask_types: Vec<String>,
    pub(crate) access: PolicyIndex,
    pub(crate) masks: PolicyIndex,
    pub(crate) filters: PolicyIndex,
}

/// The policies of one kind, by the order of evaluation and by resource.
#[derive(Clone, Debug)]
pub(crate) struct PolicyIndex {
    pub(crate) levels: Levels,
    policies: Vec<CompiledPolicy>,
    index: Index,
}

impl PolicyIndex {
    /// The policies that can match the request, first to be evaluated first. Each must still be tried.
    pub(crate) fn candidates(
        &self,
        request: &RequestPath<'_>,
        reach: Reach,
    ) -> impl Iterator<Item = &CompiledPolicy> {
        self.index.find(request, reach).into_iter().filter_map(|at| self.policies.get(at))
    }

    fn new(levels: Levels, mut policies: Vec<CompiledPolicy>) -> Self {
        policies.sort_by(|a, b| a.order.cmp(&b.order));
        let mut index = Index::default();
        for (at, policy) in policies.iter().enumerate() {
            for resource in &policy.resources {
                index.insert(resource, 0, at);
            }
        }
        Self { levels, policies, index }
    }
}

/// What a service is made of.
pub(crate) struct Parts<'a> {
    pub(crate) service: &'a Service,
    pub(crate) def: &'a ServiceDef,
    pub(crate) policies: Vec<&'a Policy>,
}

impl CompiledService {
    /// # Errors
    /// Every fault of the definition and of the service's policies.
    pub(crate) fn new(parts: &Parts<'_>) -> Result<Self, Vec<String>> {
        let Parts { service, def, policies } = parts;
        let in_def = |fault: String| vec![format!("service definition `{}`: {fault}", def.name)];
        let levels = Levels::new(&def.resources, None).map_err(in_def)?;
        let mask_levels = Levels::new(&def.resources, Some(&def.mask_resources)).map_err(in_def)?;
        let filter_levels = Levels::new(&def.resources, Some(&def.filter_resources)).map_err(in_def)?;
        let access_types = AccessTypes::new(def, policies.iter().copied());

        let mut by_kind: HashMap<PolicyKind, Vec<CompiledPolicy>> = HashMap::new();
        let mut faults = Vec::new();
        for policy in policies {
            let levels = match policy.kind {
                PolicyKind::Access => &levels,
                PolicyKind::Mask => &mask_levels,
                PolicyKind::RowFilter => &filter_levels,
                // They decide what is audited, never what is allowed.
                PolicyKind::Audit => continue,
            };
            match CompiledPolicy::new(policy, def, levels, &access_types) {
                Ok(compiled) => by_kind.entry(policy.kind).or_default().push(compiled),
                // What is switched off does nothing, so it may ask for what is not offered.
                Err(_) if !policy.is_enabled => {}
                Err(fault) => {
                    faults.push(format!("policy `{}` of service `{}`: {fault}", policy.name, service.name))
                }
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut of_kind = |kind| by_kind.remove(&kind).unwrap_or_default();
        Ok(Self {
            is_enabled: service.is_enabled,
            def_name: def.name.clone(),
            mask_types: def.mask_types.iter().map(|mask| mask.name.to_lowercase()).collect(),
            access: PolicyIndex::new(levels, of_kind(PolicyKind::Access)),
            masks: PolicyIndex::new(mask_levels, of_kind(PolicyKind::Mask)),
            filters: PolicyIndex::new(filter_levels, of_kind(PolicyKind::RowFilter)),
            access_types,
        })
    }
}
