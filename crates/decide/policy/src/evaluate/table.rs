//! Gate two for one relation: its row filters, and for each column whether it is raw, masked or restricted.

use super::items::{Asker, FirstItem, Says, Wanted, first_rule, policy_says};
use super::{
    ColumnRule, FilterRule, MaskCombine, MaskRule, PassedOver, PassedOverReason, Resource, Restriction,
    RowFilterCombine, TableRequest, TableRules, Via,
};
use crate::Snapshot;
use crate::matching::{MatchType, RequestPath};
use crate::model::{MaskInfo, PolicyId};
use crate::snapshot::{CompiledPolicy, CompiledService, Held, Reach};

/// The access type that reads.
const SELECT: &str = "select";
/// The mask type that exempts.
const MASK_NONE: &str = "MASK_NONE";
/// The mask type whose expression the policy brings.
const CUSTOM: &str = "CUSTOM";

impl Snapshot {
    /// What gate two says of one relation.
    ///
    /// Where it cannot say anything (no such service, no name for the relation), every column is restricted and a
    /// broken filter ends the read.
    pub fn table_rules(&self, r: &TableRequest<'_>) -> TableRules {
        let asker = Asker {
            who: r.who,
            owner: r.owner,
            now: r.now,
            client_addr: r.client_addr,
            condition_errors: r.settings.condition_errors,
        };
        let service = match self.service(r.service) {
            None => return unavailable(r, &format!("no such policy service `{}`", r.service)),
            Some(service) if !service.is_enabled => {
                return unavailable(r, &format!("the policy service `{}` is disabled", r.service));
            }
            Some(service) => service,
        };
        let Some(relation) = Relation::new(service, r) else {
            let def = &service.def_name;
            return unavailable(
                r,
                &format!("no resource of the definition `{def}` can be named after the relation"),
            );
        };
        let mut question = Question { service, relation, r, asker, passed_over: Vec::new() };
        // Restrictions come first: no mask can lift one.
        let restrictions = question.restrictions();
        let columns = question.columns(restrictions);
        let filters = question.filters();
        TableRules { filters, columns, passed_over: question.passed_over }
    }
}

fn unavailable(r: &TableRequest<'_>, reason: &str) -> TableRules {
    let restriction = Restriction { policy: None, policy_name: None, reason: reason.to_owned() };
    let filter = FilterRule {
        policy: PolicyId(-1),
        policy_name: String::new(),
        policy_version: -1,
        expr: String::new(),
        broken: Some(reason.to_owned()),
    };
    TableRules {
        filters: vec![filter],
        columns: r.columns.iter().map(|_| ColumnRule::Restricted(restriction.clone())).collect(),
        passed_over: Vec::new(),
    }
}

/// The relation and its columns as resources.
struct Relation<'a> {
    table: RequestPath<'a>,
    /// By column: one resource for each name under which it is known.
    columns: Vec<Vec<RequestPath<'a>>>,
}

impl<'a> Relation<'a> {
    /// `None`: the definition has no such levels, or no policy can name the relation.
    fn new(service: &CompiledService, r: &TableRequest<'a>) -> Option<Self> {
        if !can_be_named(r.database) || !can_be_named(r.table) {
            return None;
        }
        let levels = &service.access.levels;
        let table = [("database", r.database), ("table", r.table)];
        let column = |name: &'a str| {
            RequestPath::new(levels, &Resource::new(table.into_iter().chain([("column", name)])))
        };
        let columns =
            r.columns.iter().map(|known| known.all().map(column).collect()).collect::<Option<_>>()?;
        Some(Self { table: RequestPath::new(levels, &Resource::new(table))?, columns })
    }
}

struct Question<'a> {
    service: &'a CompiledService,
    relation: Relation<'a>,
    r: &'a TableRequest<'a>,
    asker: Asker<'a>,
    passed_over: Vec<PassedOver>,
}

/// What one mask policy says to the user, whatever the column.
#[derive(Clone, Debug)]
enum MaskSays {
    Exempt(Via),
    Mask(MaskInfo),
    /// The mask stands and cannot be made; why.
    Broken(String),
}

struct MaskCandidate<'a> {
    policy: &'a CompiledPolicy,
    says: MaskSays,
    columns: Vec<usize>,
}

impl<'a> Question<'a> {
    /// For each column, the first denial of reading it. Allows are not asked: gate one grants.
    fn restrictions(&mut self) -> Vec<Option<Restriction>> {
        let mut found: Vec<Option<Restriction>> = vec![None; self.r.columns.len()];
        let index = &self.service.access;
        let select = self.service.access_types.number(SELECT);
        let candidates =
            index.candidates(&self.relation.table, Reach::Below).filter(|policy| policy.can_deny());
        for policy in candidates.collect::<Vec<_>>() {
            let columns = self.columns_named(policy);
            if columns.is_empty() || !self.is_in_force(policy) {
                continue;
            }
            let reason = match policy_says(policy, Wanted::Access(select), &self.asker) {
                Says::Deny(Some(via)) => format!("Denied via {via}"),
                Says::Deny(None) => "Denied by a policy that admits nobody else".to_owned(),
                Says::DenyExcepted(via) => {
                    self.pass_over(policy, None, PassedOverReason::Excepted(via));
                    continue;
                }
                Says::Allow(_) | Says::Nothing => {
                    self.pass_over(policy, None, PassedOverReason::NoItemMatches);
                    continue;
                }
            };
            for column in columns {
                if let Some(slot @ None) = found.get_mut(column) {
                    *slot = Some(restriction(policy, reason.clone()));
                }
            }
        }
        found
    }

    fn columns(&mut self, restrictions: Vec<Option<Restriction>>) -> Vec<ColumnRule> {
        let candidates = self.mask_candidates();
        let mut by_column: Vec<Vec<&MaskCandidate<'_>>> = vec![Vec::new(); self.r.columns.len()];
        for candidate in &candidates {
            for column in &candidate.columns {
                if let Some(list) = by_column.get_mut(*column) {
                    list.push(candidate);
                }
            }
        }
        let mut rules = Vec::with_capacity(restrictions.len());
        for ((denied, masks), known) in restrictions.into_iter().zip(by_column).zip(self.r.columns) {
            rules.push(match denied {
                Some(restriction) => ColumnRule::Restricted(restriction),
                None if !can_be_named(known.name) => {
                    let reason = "no policy can name this column".to_owned();
                    ColumnRule::Restricted(Restriction { policy: None, policy_name: None, reason })
                }
                None => match self.r.settings.mask_combine {
                    MaskCombine::RestrictIfDifferent => self.combined_mask(&masks, known.name),
                    MaskCombine::RangerFirstMatch => self.first_mask(&masks, known.name),
                },
            });
        }
        rules
    }

    /// The mask policies that say something to the user, in the order of evaluation.
    fn mask_candidates(&mut self) -> Vec<MaskCandidate<'a>> {
        let index = &self.service.masks;
        let select = self.service.access_types.number(SELECT);
        let mut found = Vec::new();
        for policy in index.candidates(&self.relation.table, Reach::Below).collect::<Vec<_>>() {
            let tokens = self.asker.tokens();
            if !policy.matches(&self.relation.table, &tokens, |m| m.is_itself_or_below())
                || !self.is_in_force(policy)
            {
                continue;
            }
            let says =
                match first_rule(&policy.masks, self.asker.held(&policy.conditions), select, &self.asker) {
                    FirstItem::Nobody => {
                        self.pass_over_nobody(policy);
                        continue;
                    }
                    FirstItem::Found(mask, via) => mask_says(mask, via, &self.service.mask_types),
                    FirstItem::Unknown(_) => {
                        MaskSays::Broken("a condition of the mask cannot be evaluated".to_owned())
                    }
                };
            let columns = self.columns_named(policy);
            if columns.is_empty() {
                self.pass_over(policy, None, PassedOverReason::NoSuchColumn);
                continue;
            }
            if let MaskSays::Exempt(via) = &says {
                self.pass_over(policy, None, PassedOverReason::Exempt(via.clone()));
            }
            found.push(MaskCandidate { policy, says, columns });
        }
        found
    }

    /// The masks of the highest priority stand; where they differ the column is restricted.
    fn combined_mask(&mut self, masks: &[&MaskCandidate<'_>], column: &str) -> ColumnRule {
        // An exemption is from its own policy only, so it takes no part.
        let mut standing = masks.iter().filter(|m| !matches!(m.says, MaskSays::Exempt(_)));
        let Some(first) = standing.next() else { return ColumnRule::Raw };
        let mut rule = rule_of(first);
        for other in standing {
            if other.policy.priority < first.policy.priority {
                self.pass_over(other.policy, Some(column), PassedOverReason::Overruled(first.policy.id));
            } else if let ColumnRule::Masked(mask) = &rule {
                match rule_of(other) {
                    ColumnRule::Masked(same) if is_same_mask(mask, &same) => {}
                    ColumnRule::Masked(different) => {
                        let reason = format!(
                            "the masks of the policies `{}` and `{}` differ",
                            mask.policy_name, different.policy_name
                        );
                        rule = ColumnRule::Restricted(restriction(first.policy, reason));
                    }
                    restricted => rule = restricted,
                }
            }
        }
        rule
    }

    /// The first policy that says anything stands, an exemption too.
    fn first_mask(&mut self, masks: &[&MaskCandidate<'_>], column: &str) -> ColumnRule {
        let Some((first, rest)) = masks.split_first() else { return ColumnRule::Raw };
        for other in rest {
            self.pass_over(other.policy, Some(column), PassedOverReason::Overruled(first.policy.id));
        }
        rule_of(first)
    }

    fn filters(&mut self) -> Vec<FilterRule> {
        let index = &self.service.filters;
        let select = self.service.access_types.number(SELECT);
        let mut rules = Vec::new();
        let mut first: Option<PolicyId> = None;
        for policy in index.candidates(&self.relation.table, Reach::Itself).collect::<Vec<_>>() {
            let tokens = self.asker.tokens();
            if !policy.matches(&self.relation.table, &tokens, MatchType::is_itself)
                || !self.is_in_force(policy)
            {
                continue;
            }
            let says = first_rule(&policy.filters, self.asker.held(&policy.conditions), select, &self.asker);
            if matches!(says, FirstItem::Nobody) {
                self.pass_over_nobody(policy);
                continue;
            }
            if self.r.settings.row_filter_combine == RowFilterCombine::RangerFirstMatch
                && let Some(first) = first
            {
                self.pass_over(policy, None, PassedOverReason::Overruled(first));
                continue;
            }
            first = first.or(Some(policy.id));
            let (expr, broken) = match says {
                FirstItem::Nobody => continue,
                // A filter without text filters nothing: the item is an exemption.
                FirstItem::Found(expr, via) if expr.is_empty() => {
                    self.pass_over(policy, None, PassedOverReason::Exempt(via));
                    continue;
                }
                FirstItem::Found(expr, _) => (expr.clone(), None),
                FirstItem::Unknown(expr) => {
                    (expr.clone(), Some("a condition of the filter cannot be evaluated".to_owned()))
                }
            };
            rules.push(FilterRule {
                policy: policy.id,
                policy_name: policy.name.clone(),
                policy_version: policy.version,
                expr,
                broken,
            });
        }
        rules
    }

    /// The columns that a policy names, by any of their names. A policy of the table itself names all of them.
    fn columns_named(&self, policy: &CompiledPolicy) -> Vec<usize> {
        let tokens = self.asker.tokens();
        let n_columns = self.relation.columns.len();
        if policy.matches(&self.relation.table, &tokens, MatchType::is_itself) {
            return (0..n_columns).collect();
        }
        let is_named = |names: &Vec<RequestPath>| {
            names.iter().any(|column| policy.matches(column, &tokens, MatchType::is_itself))
        };
        let columns = self.relation.columns.iter().enumerate();
        columns.filter(|(_, names)| is_named(names)).map(|(at, _)| at).collect()
    }

    fn is_in_force(&mut self, policy: &CompiledPolicy) -> bool {
        if !policy.is_enabled {
            self.pass_over(policy, None, PassedOverReason::Disabled);
        } else if !policy.is_valid_at(self.asker.now) {
            self.pass_over(policy, None, PassedOverReason::NotValidNow);
        }
        policy.is_enabled && policy.is_valid_at(self.asker.now)
    }

    fn pass_over_nobody(&mut self, policy: &CompiledPolicy) {
        let reason = if self.asker.held(&policy.conditions) == Held::NotMet {
            PassedOverReason::ConditionNotMet
        } else {
            PassedOverReason::NoItemMatches
        };
        self.pass_over(policy, None, reason);
    }

    fn pass_over(&mut self, policy: &CompiledPolicy, column: Option<&str>, reason: PassedOverReason) {
        self.passed_over.push(PassedOver {
            policy: policy.id,
            policy_name: policy.name.clone(),
            policy_version: policy.version,
            column: column.map(str::to_owned),
            reason,
        });
    }
}

/// Whether a request for the name means just that: an empty one and `*` mean everything.
fn can_be_named(name: &str) -> bool {
    !name.is_empty() && name != "*"
}

fn mask_says(mask: &MaskInfo, via: Via, mask_types: &[String]) -> MaskSays {
    let has_text = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    if mask.mask_type.eq_ignore_ascii_case(MASK_NONE) {
        MaskSays::Exempt(via)
    } else if !mask_types.contains(&mask.mask_type.to_lowercase()) {
        MaskSays::Broken(format!("the service definition has no mask type `{}`", mask.mask_type))
    } else if has_text(&mask.condition_expr) {
        MaskSays::Broken("masks with a condition of their own are not supported".to_owned())
    } else if mask.mask_type.eq_ignore_ascii_case(CUSTOM) && !has_text(&mask.value_expr) {
        MaskSays::Broken("the custom mask has no expression".to_owned())
    } else {
        MaskSays::Mask(mask.clone())
    }
}

fn rule_of(candidate: &MaskCandidate<'_>) -> ColumnRule {
    let policy = candidate.policy;
    match &candidate.says {
        MaskSays::Exempt(_) => ColumnRule::Raw,
        MaskSays::Broken(reason) => ColumnRule::Restricted(restriction(policy, reason.clone())),
        MaskSays::Mask(mask) => ColumnRule::Masked(MaskRule {
            policy: policy.id,
            policy_name: policy.name.clone(),
            policy_version: policy.version,
            mask_type: mask.mask_type.clone(),
            value_expr: mask.value_expr.clone().filter(|_| mask.mask_type.eq_ignore_ascii_case(CUSTOM)),
        }),
    }
}

fn is_same_mask(a: &MaskRule, b: &MaskRule) -> bool {
    a.mask_type.eq_ignore_ascii_case(&b.mask_type) && a.value_expr == b.value_expr
}

fn restriction(policy: &CompiledPolicy, reason: String) -> Restriction {
    Restriction { policy: Some(policy.id), policy_name: Some(policy.name.clone()), reason }
}

#[cfg(test)]
mod tests;
