//! One service: its definition and its policies read, by zone, with the tag policies that its engine listens to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Strictness;
use super::access_types::{AccessTypes, Implied};
use super::audit_filter::CompiledAuditFilter;
use super::index::Slot;
use super::names::Names;
use super::policy::{CompiledPolicy, PolicyFaults, Reading};
use super::repository::Repository;
use super::tagged::TaggedResources;
use super::zones::ZoneIndex;
use crate::condition::ConditionCompiler;
use crate::expression::ExpressionTable;
use crate::matching::{Levels, RequestPath};
use crate::model::{Policy, PolicyId, PolicyKind, Service, ServiceDef};
use crate::normalise;
use crate::schedule::ScheduleReading;
use crate::script::ScriptEngine;

/// The levels of a definition by kind of policy.
#[derive(Clone, Debug)]
pub(crate) struct KindLevels {
    access: Levels,
    masks: Levels,
    filters: Levels,
    /// By level: whether a request for it reads the same for access as for masks, and as for filters.
    reads_alike: Box<[(bool, bool)]>,
}

impl KindLevels {
    pub(crate) fn new(def: &ServiceDef) -> Result<Self, String> {
        let access = Levels::of(def, PolicyKind::Access)?;
        let masks = Levels::of(def, PolicyKind::Mask)?;
        let filters = Levels::of(def, PolicyKind::RowFilter)?;
        let alike = |level| (access.reads_alike(&masks, level), access.reads_alike(&filters, level));
        let reads_alike = (0..def.resources.len()).map(alike).collect();
        Ok(Self { access, masks, filters, reads_alike })
    }

    /// Whether a request read for access policies is the same as if it had been read for this kind.
    pub(crate) fn is_read_alike(&self, kind: PolicyKind, request: &RequestPath<'_>) -> bool {
        request.levels().iter().all(|given| match (kind, self.reads_alike.get(given.level)) {
            (PolicyKind::Access | PolicyKind::Audit, _) => true,
            (PolicyKind::Mask, Some((masks, _))) => *masks,
            (PolicyKind::RowFilter, Some((_, filters))) => *filters,
            (PolicyKind::Mask | PolicyKind::RowFilter, None) => false,
        })
    }

    pub(crate) fn of(&self, kind: PolicyKind) -> &Levels {
        match kind {
            PolicyKind::Access | PolicyKind::Audit => &self.access,
            PolicyKind::Mask => &self.masks,
            PolicyKind::RowFilter => &self.filters,
        }
    }
}

/// Policies with the definition by which they are read.
#[derive(Clone, Debug)]
pub(crate) struct Policies {
    pub(crate) levels: Arc<KindLevels>,
    pub(crate) implied: Arc<Implied>,
    pub(crate) unzoned: Repository,
    pub(crate) zones: BTreeMap<Box<str>, Repository>,
    pub(crate) audit_filters: Arc<[CompiledAuditFilter]>,
    component: Option<Box<str>>,
    def: Arc<ServiceDef>,
    places: imbl::HashMap<PolicyId, Place>,
}

/// Where a policy is kept.
#[derive(Clone, Debug)]
struct Place {
    zone: Box<str>,
    kind: PolicyKind,
    slot: Slot,
}

/// What policies are read with beside their definition.
pub(crate) struct Tables<'a> {
    pub(crate) types: &'a mut AccessTypes,
    pub(crate) names: &'a mut Names,
    pub(crate) expressions: &'a mut Arc<ExpressionTable>,
    pub(crate) scripts: Option<&'a Arc<dyn ScriptEngine>>,
    pub(crate) schedules: ScheduleReading,
    pub(crate) strictness: Strictness,
}

/// What the policies of all services are read with.
pub(crate) struct SharedTables<'a> {
    pub(crate) names: &'a mut Names,
    pub(crate) expressions: &'a mut Arc<ExpressionTable>,
    pub(crate) scripts: Option<&'a Arc<dyn ScriptEngine>>,
    pub(crate) schedules: ScheduleReading,
    pub(crate) strictness: Strictness,
}

impl SharedTables<'_> {
    fn with<'b>(&'b mut self, types: &'b mut AccessTypes) -> Tables<'b> {
        Tables {
            types,
            names: self.names,
            expressions: self.expressions,
            scripts: self.scripts,
            schedules: self.schedules,
            strictness: self.strictness,
        }
    }
}

impl Policies {
    /// # Errors
    /// A fault of the definition, without which nothing can be read.
    fn new(
        def: &ServiceDef,
        service: &Service,
        component: Option<&str>,
        with: &mut Tables<'_>,
    ) -> Result<Self, String> {
        let in_def = |fault: String| format!("service definition `{}`: {fault}", def.name);
        let levels = KindLevels::new(def).map_err(in_def)?;
        let def = match component {
            Some(component) => normalise::for_component(def, component),
            None => def.clone(),
        };
        let implied = Implied::new(&def, with.types);
        let audit_filters = service.audit_filters.iter();
        let audit_filters = audit_filters
            .map(|filter| {
                CompiledAuditFilter::new(filter, levels.of(PolicyKind::Audit), &implied, component, with)
            })
            .collect();
        Ok(Self {
            levels: Arc::new(levels),
            implied: Arc::new(implied),
            unzoned: Repository::default(),
            zones: BTreeMap::new(),
            audit_filters,
            component: component.map(Into::into),
            def: Arc::new(def),
            places: imbl::HashMap::new(),
        })
    }

    /// What cannot be honoured of the policy.
    pub(crate) fn put(&mut self, policy: &Policy, with: &mut Tables<'_>) -> PolicyFaults {
        self.remove(policy.id);
        // They decide what is audited, never what is allowed.
        if policy.kind == PolicyKind::Audit {
            return PolicyFaults::default();
        }
        let mut reading = Reading {
            def: &self.def,
            component: self.component.as_deref(),
            levels: self.levels.of(policy.kind),
            implied: &self.implied,
            types: with.types,
            names: with.names,
            conditions: ConditionCompiler {
                def: &self.def,
                scripts: with.scripts,
                schedules: with.schedules,
            },
            expressions: with.expressions,
            strictness: with.strictness,
        };
        let (compiled, faults) = CompiledPolicy::new(policy, &mut reading);
        // Tag policies of all zones stand together: which of them count is asked for each request.
        let zone = if self.component.is_some() { Box::default() } else { compiled.zone.clone() };
        let kind = policy.kind;
        let repository = match zone.is_empty() {
            true => &mut self.unzoned,
            false => self.zones.entry(zone.clone()).or_default(),
        };
        if let Some(index) = repository.of_kind_mut(kind) {
            let slot = index.insert(compiled);
            self.places.insert(policy.id, Place { zone, kind, slot });
        }
        faults
    }

    pub(crate) fn remove(&mut self, id: PolicyId) {
        let Some(place) = self.places.remove(&id) else { return };
        let repository = match place.zone.is_empty() {
            true => Some(&mut self.unzoned),
            false => self.zones.get_mut(&place.zone),
        };
        if let Some(index) = repository.and_then(|repository| repository.of_kind_mut(place.kind)) {
            index.remove(place.slot);
        }
    }

    pub(crate) fn def(&self) -> &ServiceDef {
        &self.def
    }

    /// `None`: no zone has this name, or it has no policies.
    pub(crate) fn of_zone(&self, zone: &str) -> Option<&Repository> {
        match zone.is_empty() {
            true => Some(&self.unzoned),
            false => self.zones.get(zone),
        }
    }

    pub(crate) fn has_policies(&self) -> bool {
        !self.places.is_empty()
    }
}

/// One service, ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct CompiledService {
    pub(crate) is_enabled: bool,
    pub(crate) def_name: Arc<str>,
    pub(crate) types: AccessTypes,
    /// Lower-case names of the mask types that the definition has.
    pub(crate) mask_types: Arc<[String]>,
    pub(crate) policies: Policies,
    /// The tag policies that count here; `None`: no tag service is linked.
    pub(crate) tag_policies: Option<Policies>,
    pub(crate) zones: Arc<ZoneIndex>,
    pub(crate) tagged: TaggedResources,
    pub(crate) super_users: BTreeSet<String>,
    pub(crate) super_groups: BTreeSet<String>,
    pub(crate) audit_excluded: Excluded,
}

/// Whose accesses are never audited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Excluded {
    pub(crate) users: BTreeSet<String>,
    pub(crate) groups: BTreeSet<String>,
    pub(crate) roles: BTreeSet<String>,
}

/// What a service is made of, its policies aside.
pub(crate) struct Parts<'a> {
    pub(crate) service: &'a Service,
    pub(crate) def: &'a ServiceDef,
    /// The linked tag service and its definition.
    pub(crate) tags: Option<(&'a Service, &'a ServiceDef)>,
}

impl CompiledService {
    /// # Errors
    /// A fault of the definition.
    pub(crate) fn new(parts: &Parts<'_>, shared: &mut SharedTables<'_>) -> Result<Self, String> {
        let Parts { service, def, tags } = parts;
        let mut types = AccessTypes::new(def);
        let mut with = shared.with(&mut types);
        let policies = Policies::new(def, service, None, &mut with)?;
        let tag_policies = match tags {
            None => None,
            Some((tags, tag_def)) => Some(Policies::new(tag_def, tags, Some(&def.name), &mut with)?),
        };
        let listed = |key: &str| -> BTreeSet<String> {
            let text = service.configs.get(key).map_or("", String::as_str);
            text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        Ok(Self {
            is_enabled: service.is_enabled,
            def_name: def.name.as_str().into(),
            types,
            mask_types: def.mask_types.iter().map(|mask| mask.name.to_lowercase()).collect(),
            policies,
            tag_policies,
            zones: Arc::default(),
            tagged: TaggedResources::default(),
            super_users: listed("ranger.plugin.super.users"),
            super_groups: listed("ranger.plugin.super.groups"),
            audit_excluded: Excluded {
                users: listed("ranger.plugin.audit.exclude.users"),
                groups: listed("ranger.plugin.audit.exclude.groups"),
                roles: listed("ranger.plugin.audit.exclude.roles"),
            },
        })
    }

    pub(crate) fn put(&mut self, policy: &Policy, shared: &mut SharedTables<'_>) -> PolicyFaults {
        self.policies.put(policy, &mut shared.with(&mut self.types))
    }

    pub(crate) fn put_tag_policy(&mut self, policy: &Policy, shared: &mut SharedTables<'_>) -> PolicyFaults {
        match &mut self.tag_policies {
            None => PolicyFaults::default(),
            Some(policies) => policies.put(policy, &mut shared.with(&mut self.types)),
        }
    }

    /// Forgets a policy of the service, or of the tag service that it listens to.
    pub(crate) fn remove(&mut self, id: PolicyId) {
        self.policies.remove(id);
        if let Some(policies) = &mut self.tag_policies {
            policies.remove(id);
        }
    }
}
