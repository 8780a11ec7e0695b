//! Gate two for one relation: its row filters, and for each column whether it is raw, masked or restricted.

mod masks;
mod named;

use super::asked::{Asked, TagHit, Target};
use super::items::{FirstItem, Says, first_rule, policy_says};
use super::{
    ColumnRule, FilterRule, PassedOver, PassedOverReason, Restriction, RowFilterCombine, TableRequest,
    TableRules,
};
use crate::Snapshot;
use crate::condition::Held;
use crate::expression::{TextPart, text_parts};
use crate::model::{PolicyId, PolicyKind};
use crate::snapshot::{CompiledItem, CompiledPolicy};
use named::{Candidate, Relation};

/// The access type that reads.
const SELECT: &str = "select";

impl Snapshot {
    /// What gate two says of one relation.
    ///
    /// Where it cannot say anything (no such service, no name for the relation), every column is restricted and a
    /// broken filter ends the read.
    pub fn table_rules(&self, r: &TableRequest<'_>) -> TableRules {
        let service = match self.service(r.service) {
            None => return unavailable(r, &format!("no such policy service `{}`", r.service)),
            Some(service) if !service.is_enabled => {
                return unavailable(r, &format!("the policy service `{}` is disabled", r.service));
            }
            Some(service) => service,
        };
        let requests = named::requests(r);
        let Some(relation) = Relation::new(self, service, r, &requests) else {
            let def = &service.def_name;
            return unavailable(
                r,
                &format!("no resource of the definition `{def}` can be named after the relation"),
            );
        };
        let target = Target::Access(SELECT, service.types.number(SELECT));
        let mut question = Question { relation, r, target, passed_over: Vec::new() };
        // Restrictions come first: no mask can lift one.
        let restrictions = question.restrictions();
        let columns = question.columns(restrictions);
        let filters = question.filters();
        let tags = question.relation.tags_by_column(r.columns.len());
        TableRules { filters, columns, tags, passed_over: question.passed_over }
    }
}

fn unavailable(r: &TableRequest<'_>, reason: &str) -> TableRules {
    let restriction = Restriction { policy: None, policy_name: None, reason: reason.to_owned() };
    let filter = FilterRule {
        policy: PolicyId(-1),
        policy_name: String::new(),
        policy_version: -1,
        expr: String::new(),
        expressions: Vec::new(),
        broken: Some(reason.to_owned()),
    };
    TableRules {
        filters: vec![filter],
        columns: r.columns.iter().map(|_| ColumnRule::Restricted(restriction.clone())).collect(),
        tags: r.columns.iter().map(|column| column.tags.to_vec()).collect(),
        passed_over: Vec::new(),
    }
}

struct Question<'q, 'a, 'd> {
    relation: Relation<'q, 'd>,
    r: &'a TableRequest<'a>,
    target: Target<'a>,
    passed_over: Vec<PassedOver>,
}

impl<'q, 'd> Question<'q, '_, 'd> {
    /// For each column, the first denial of reading it. Allows are not asked: gate one grants.
    fn restrictions(&mut self) -> Vec<Option<Restriction>> {
        let mut found: Vec<Option<Restriction>> = vec![None; self.r.columns.len()];
        for candidate in self.relation.candidates(PolicyKind::Access) {
            let policy = candidate.policy;
            if !policy.can_deny() || candidate.names.is_empty() || !self.is_in_force(policy) {
                continue;
            }
            let mut excepted = None;
            let mut denies = false;
            for (name, says) in
                self.says(&candidate, |asked, held, tag| policy_says(policy, held, self.target, asked, tag))
            {
                let via = |item: Option<&CompiledItem>| item.and_then(|item| self.relation.table().via(item));
                let reason = match says {
                    Says::Deny(at) => match via(policy.denies().get(usize::from(at))) {
                        Some(via) => format!("Denied via {via}"),
                        None => "Denied".to_owned(),
                    },
                    Says::DenyElse => "Denied by a policy that admits nobody else".to_owned(),
                    Says::DenyExcepted(at) => {
                        excepted = via(policy.deny_exceptions().get(usize::from(at)));
                        continue;
                    }
                    Says::Allow(_) | Says::Nothing => continue,
                };
                denies = true;
                if let Some(slot @ None) = found.get_mut(self.relation.column_of(name)) {
                    *slot = Some(restriction(policy, reason));
                }
            }
            match excepted {
                _ if denies => {}
                Some(via) => self.pass_over(policy, None, PassedOverReason::Excepted(via)),
                None => self.pass_over(policy, None, PassedOverReason::NoItemMatches),
            }
        }
        found
    }

    fn filters(&mut self) -> Vec<FilterRule> {
        let mut rules: Vec<(i32, FilterRule)> = Vec::new();
        let is_first_match = self.r.settings.row_filter_combine == RowFilterCombine::RangerFirstMatch;
        for candidate in self.relation.candidates(PolicyKind::RowFilter) {
            let policy = candidate.policy;
            if !candidate.is_on_table || !self.is_in_force(policy) {
                continue;
            }
            let table = self.relation.table();
            let tag = candidate.tag.as_ref();
            let held = table.held_of(policy, tag);
            let says = first_rule(&policy.filters, held, self.target, table, tag);
            if says == FirstItem::Nobody {
                self.pass_over_nobody(policy, held);
                continue;
            }
            // A resource policy of a higher priority stands before a tag policy.
            let standing = rules.last().map(|(priority, rule)| (*priority, rule.policy));
            if let Some((priority, first)) = standing.filter(|_| is_first_match) {
                if policy.priority() <= priority {
                    self.pass_over(policy, None, PassedOverReason::Overruled(first));
                    continue;
                }
                rules.clear();
            }
            let rule = |at: u16| policy.filters.get(usize::from(at));
            let (expr, broken) = match says {
                FirstItem::Nobody => continue,
                // A filter without text filters nothing: the item is an exemption.
                FirstItem::Found(at) => match rule(at) {
                    Some((item, expr)) if expr.is_empty() => {
                        if let Some(via) = table.via(item) {
                            self.pass_over(policy, None, PassedOverReason::Exempt(via));
                        }
                        continue;
                    }
                    found => (found.map(|(_, expr)| expr), None),
                },
                FirstItem::Unknown(at) => {
                    let broken = match policy.broken() {
                        Some(fault) => format!("the policy cannot be honoured: {fault}"),
                        None => "a condition of the filter cannot be evaluated".to_owned(),
                    };
                    (rule(at).map(|(_, expr)| expr), Some(broken))
                }
            };
            let expr = expr.map(ToString::to_string).unwrap_or_default();
            let (expressions, failed) = match expressions(&expr, table, tag) {
                Ok(expressions) => (expressions, None),
                Err(fault) => (Vec::new(), Some(fault)),
            };
            let rule = FilterRule {
                policy: policy.id,
                policy_name: policy.name.to_string(),
                policy_version: policy.version,
                expr,
                expressions,
                broken: broken.or(failed),
            };
            // Several columns may bear the tag whose policy filters.
            if !rules.iter().any(|(_, known)| *known == rule) {
                rules.push((policy.priority(), rule));
            }
        }
        rules.into_iter().map(|(_, rule)| rule).collect()
    }

    /// What a policy says of each name that it reaches; once for all of them where no condition can tell them apart.
    fn says<T: Copy>(
        &self,
        candidate: &Candidate<'q>,
        ask: impl Fn(&Asked<'q, 'd>, Held, Option<&TagHit<'q>>) -> T,
    ) -> Vec<(usize, T)> {
        let policy = candidate.policy;
        let tag = candidate.tag.as_ref();
        let of = |asked: &Asked<'q, 'd>| ask(asked, asked.held_of(policy, tag), tag);
        if !policy.has_conditions {
            let same = of(self.relation.table());
            return candidate.names.iter().map(|name| (*name, same)).collect();
        }
        let names = candidate.names.iter();
        names.filter_map(|name| Some((*name, of(self.relation.asked(*name)?)))).collect()
    }

    fn is_in_force(&mut self, policy: &CompiledPolicy) -> bool {
        let is_valid = policy.is_valid_at(self.r.now) || policy.broken().is_some();
        if !policy.is_enabled {
            self.pass_over(policy, None, PassedOverReason::Disabled);
        } else if !is_valid {
            self.pass_over(policy, None, PassedOverReason::NotValidNow);
        }
        policy.is_enabled && is_valid
    }

    fn pass_over_nobody(&mut self, policy: &CompiledPolicy, held: Held) {
        let reason = match held {
            Held::NotMet => PassedOverReason::ConditionNotMet,
            Held::Met | Held::Unknown => PassedOverReason::NoItemMatches,
        };
        self.pass_over(policy, None, reason);
    }

    fn pass_over(&mut self, policy: &CompiledPolicy, column: Option<&str>, reason: PassedOverReason) {
        let passed_over = PassedOver {
            policy: policy.id,
            policy_name: policy.name.to_string(),
            policy_version: policy.version,
            column: column.map(str::to_owned),
            reason,
        };
        if !self.passed_over.contains(&passed_over) {
            self.passed_over.push(passed_over);
        }
    }
}

/// The values of the expressions in a text, to be bound as literals.
///
/// # Errors
/// One of them cannot be evaluated.
fn expressions(
    text: &str,
    asked: &Asked<'_, '_>,
    tag: Option<&TagHit<'_>>,
) -> Result<Vec<(String, Option<String>)>, String> {
    let mut values = Vec::new();
    for part in text_parts(text) {
        if let TextPart::Expression(expr) = part {
            let value = asked
                .with_circumstances(tag, |context| asked.snapshot.expressions().value(expr, context))
                .map_err(|error| format!("the expression `{expr}` cannot be evaluated: {error}"))?;
            values.push((expr.to_owned(), value));
        }
    }
    Ok(values)
}

fn restriction(policy: &CompiledPolicy, reason: String) -> Restriction {
    Restriction { policy: Some(policy.id), policy_name: Some(policy.name.to_string()), reason }
}

#[cfg(test)]
mod tests;
