//! A relation and its columns by every name they have, and the policies that name them or their tags.

use smallvec::SmallVec;

use crate::Snapshot;
use crate::evaluate::asked::{Asked, ReadPath, TagHit};
use crate::evaluate::ranger::{TAG_LEVEL, nearness};
use crate::evaluate::{MatchType, Request, Resource, TableRequest};
use crate::matching::RequestPath;
use crate::model::PolicyKind;
use crate::snapshot::{CompiledPolicy, CompiledService, PolicyIndex, Reach};

/// The relation itself, then one request for each name of each column.
pub(super) struct Requests<'a> {
    table: Request<'a>,
    names: Vec<(usize, Request<'a>)>,
}

pub(super) fn requests<'a>(r: &TableRequest<'a>) -> Requests<'a> {
    let table = [("database", r.database), ("table", r.table)];
    let request = |resource: Resource<'a>| Request {
        service: r.service,
        resource,
        owner: r.owner,
        access: super::SELECT,
        who: r.who,
        now: r.now,
        client_addr: r.client_addr,
        context: r.context,
    };
    let names = r.columns.iter().enumerate().flat_map(|(at, column)| {
        let column = column.all();
        column.map(move |name| (at, request(Resource::new(table.into_iter().chain([("column", name)])))))
    });
    Requests { table: request(Resource::new(table)), names: names.collect() }
}

/// The relation and its columns, ready to be asked about.
pub(super) struct Relation<'q, 'd> {
    service: &'q CompiledService,
    table: Named<'q, 'd>,
    /// Every name of every column, with the column's place.
    names: Vec<(usize, Named<'q, 'd>)>,
}

struct Named<'q, 'd> {
    asked: Asked<'q, 'd>,
    zone: &'q str,
}

/// A policy that speaks of the relation or of columns of it.
pub(super) struct Candidate<'q> {
    pub(super) policy: &'q CompiledPolicy,
    /// The tag through which it was found.
    pub(super) tag: Option<TagHit<'q>>,
    /// Of the columns' names those that it reaches, by their places.
    pub(super) names: Vec<usize>,
    pub(super) is_on_table: bool,
}

impl<'q, 'd> Relation<'q, 'd> {
    /// `None`: the definition has no such levels, or no policy can name the relation.
    pub(super) fn new(
        snapshot: &'q Snapshot,
        service: &'q CompiledService,
        r: &TableRequest<'d>,
        requests: &'q Requests<'d>,
    ) -> Option<Self> {
        if !can_be_named(r.database) || !can_be_named(r.table) {
            return None;
        }
        let asked = Asked::new(snapshot, service, &requests.table, r.settings.condition_errors);
        let table = Named::new(asked)?;
        let names = requests.names.iter();
        let names = names
            .map(|(at, request)| {
                let column = r.columns.get(*at)?;
                let asked = table.asked.about(request).of_column(column.field, column.tags);
                Some((*at, Named::new(asked)?))
            })
            .collect::<Option<_>>()?;
        Some(Self { service, table, names })
    }

    pub(super) fn table(&self) -> &Asked<'q, 'd> {
        &self.table.asked
    }

    pub(super) fn asked(&self, name: usize) -> Option<&Asked<'q, 'd>> {
        self.names.get(name).map(|(_, named)| &named.asked)
    }

    /// The kinds of tags of each column, by any of its names.
    pub(super) fn tags_by_column(&self, n_columns: usize) -> Vec<Vec<String>> {
        let mut all = vec![Vec::new(); n_columns];
        for (at, named) in &self.names {
            let Some(kinds) = all.get_mut(*at) else { continue };
            for tag in named.asked.tags() {
                if !kinds.iter().any(|kind: &String| **kind == *tag.kind) {
                    kinds.push(tag.kind.to_string());
                }
            }
        }
        all.iter_mut().for_each(|kinds| kinds.sort());
        all
    }

    pub(super) fn column_of(&self, name: usize) -> usize {
        self.names.get(name).map_or(usize::MAX, |(column, _)| *column)
    }

    /// Tag policies first, then resource policies, each in the order of evaluation.
    pub(super) fn candidates(&self, kind: PolicyKind) -> Vec<Candidate<'q>> {
        let mut found = self.tag_candidates(kind);
        let mut zones: SmallVec<[&'q str; 2]> = SmallVec::new();
        for zone in self.names.iter().map(|(_, named)| named.zone).chain([self.table.zone]) {
            if !zones.contains(&zone) {
                zones.push(zone);
            }
        }
        let n_tag_candidates = found.len();
        for zone in zones {
            let repository = self.service.policies.of_zone(zone);
            if let Some(index) = repository.and_then(|repository| repository.of_kind(kind)) {
                self.add_of_zone(index, kind, zone, &mut found);
            }
        }
        if let Some(of_resources) = found.get_mut(n_tag_candidates..) {
            of_resources.sort_by(|a, b| a.policy.evaluated_before(b.policy));
        }
        found
    }

    fn add_of_zone(
        &self,
        index: &'q PolicyIndex,
        kind: PolicyKind,
        zone: &str,
        found: &mut Vec<Candidate<'q>>,
    ) {
        let Some(table) = self.table.asked.path(kind).filter(|_| !index.is_empty()) else { return };
        let context = self.table.asked.matching();
        // Where the definition has no columns for this kind, policies cannot name any.
        let paths: Vec<Option<ReadPath<'_, 'd>>> =
            self.names.iter().map(|(_, named)| named.asked.path(kind)).collect();
        let in_zone = |name: &usize| self.names.get(*name).is_some_and(|(_, named)| named.zone == zone);
        for policy in index.candidates(&table, Reach::BELOW) {
            let is_everywhere = policy.is_everywhere && self.table.asked.counts_everywhere();
            let is_on_table = is_everywhere || policy.matches(&table, &context, MatchType::is_itself);
            let is_named = |name: &usize| {
                is_on_table
                    || paths
                        .get(*name)
                        .and_then(Option::as_ref)
                        .is_some_and(|path| policy.matches(path, &context, MatchType::is_itself))
            };
            let names: Vec<usize> = (0..self.names.len()).filter(in_zone).filter(is_named).collect();
            let is_about = is_on_table
                || !names.is_empty()
                || policy.matches(&table, &context, MatchType::is_itself_or_below);
            let is_on_table = is_on_table && self.table.zone == zone;
            if is_about {
                found.push(Candidate { policy, tag: None, names, is_on_table });
            }
        }
    }

    fn tag_candidates(&self, kind: PolicyKind) -> Vec<Candidate<'q>> {
        let mut found: Vec<Candidate<'q>> = Vec::new();
        let Some(policies) = self.service.tag_policies.as_ref().filter(|p| p.has_policies()) else {
            return found;
        };
        let Some(index) = policies.unzoned.of_kind(kind).filter(|index| !index.is_empty()) else {
            return found;
        };
        let levels = policies.levels.of(kind);
        // The filter of a tag holds for a table of which one column bears the tag.
        let filters = kind == PolicyKind::RowFilter;
        let mut add = |named: &Named<'q, 'd>, name: Option<usize>| {
            for tag in named.asked.tags() {
                let resource = Resource::new([(TAG_LEVEL, &*tag.kind)]);
                let Some(path) = RequestPath::new(levels, &resource) else { continue };
                for policy in index.candidates(&path, Reach::ITSELF) {
                    let is_named = policy.is_everywhere && named.asked.counts_everywhere()
                        || policy.matches(&path, &named.asked.matching(), MatchType::is_itself);
                    if !is_named || !self.counts_in(policy, named.zone) {
                        continue;
                    }
                    let same = found.iter_mut().find(|candidate| {
                        candidate.policy.id == policy.id
                            && candidate.tag.as_ref().is_some_and(|known| known.is_same(tag))
                    });
                    match same {
                        Some(candidate) => {
                            candidate.names.extend(name);
                            candidate.is_on_table |= filters || name.is_none();
                        }
                        None => found.push(Candidate {
                            policy,
                            tag: Some(tag.clone()),
                            names: name.into_iter().collect(),
                            is_on_table: filters || name.is_none(),
                        }),
                    }
                }
            }
        };
        for (at, (_, named)) in self.names.iter().enumerate() {
            add(named, Some(at));
        }
        add(&self.table, None);
        let lies = |candidate: &Candidate<'_>| candidate.tag.as_ref().map_or(0, |tag| nearness(tag.found));
        found.sort_by(|a, b| match kind {
            PolicyKind::Access | PolicyKind::Audit => a.policy.evaluated_before(b.policy),
            PolicyKind::Mask => lies(a).cmp(&lies(b)).then_with(|| a.policy.named_before(b.policy)),
            PolicyKind::RowFilter => a.policy.named_before(b.policy),
        });
        found
    }

    /// A zone that has tag policies of its own listens to those, every other place to those of no zone.
    fn counts_in(&self, policy: &CompiledPolicy, zone: &str) -> bool {
        let own = if self.service.zones.has_tag_service(zone) { zone } else { "" };
        &*policy.zone == own
    }
}

impl<'q, 'd> Named<'q, 'd> {
    fn new(asked: Asked<'q, 'd>) -> Option<Self> {
        let path = asked.path(PolicyKind::Access)?;
        let service = asked.service;
        let zone = match service.zones.is_empty() {
            true => "",
            false => match service.zones.of(&path).as_slice() {
                [zone] => zone,
                // In no zone, or in several, where those of no zone decide.
                _ => "",
            },
        };
        Some(Self { asked, zone })
    }
}

/// Whether a request for the name means just that: an empty one and `*` mean everything.
pub(super) fn can_be_named(name: &str) -> bool {
    !name.is_empty() && name != "*"
}
