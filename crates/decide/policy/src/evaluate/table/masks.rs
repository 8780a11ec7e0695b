//! Which mask a column has, where several policies name it.

use super::{Question, expressions, restriction};
use crate::defs::takes_number;
use crate::evaluate::asked::{Asked, TagHit};
use crate::evaluate::items::{FirstItem, first_rule};
use crate::evaluate::{
    ColumnRule, MaskCombine, MaskPrecedence, MaskRule, PassedOverReason, Restriction, Via,
};
use crate::model::{MaskInfo, PolicyKind};
use crate::snapshot::CompiledPolicy;

use super::named::can_be_named;

/// The mask type that exempts.
const MASK_NONE: &str = "MASK_NONE";
/// The mask type whose expression the policy brings.
const CUSTOM: &str = "CUSTOM";

/// What one mask policy says of one column.
#[derive(Clone, Debug)]
enum MaskSays {
    Exempt(Via),
    Mask(MaskRule),
    /// The mask stands and cannot be made; why.
    Broken(String),
}

/// One policy's word on one column.
struct Word<'q> {
    policy: &'q CompiledPolicy,
    is_of_tag: bool,
    says: MaskSays,
}

impl<'q, 'd> Question<'q, '_, 'd> {
    pub(super) fn columns(&mut self, restrictions: Vec<Option<Restriction>>) -> Vec<ColumnRule> {
        let mut words: Vec<Vec<Word<'q>>> =
            std::iter::repeat_with(Vec::new).take(restrictions.len()).collect();
        self.gather(&mut words);
        let mut rules = Vec::with_capacity(restrictions.len());
        for ((denied, words), known) in restrictions.into_iter().zip(words).zip(self.r.columns) {
            rules.push(match denied {
                Some(restriction) => ColumnRule::Restricted(restriction),
                None if !can_be_named(known.name) => {
                    let reason = "no policy can name this column".to_owned();
                    ColumnRule::Restricted(Restriction { policy: None, policy_name: None, reason })
                }
                None => match self.r.settings.mask_combine {
                    MaskCombine::RestrictIfDifferent => self.combined(&words, known.name),
                    MaskCombine::RangerFirstMatch => self.first(&words, known.name),
                },
            });
        }
        rules
    }

    /// The words of mask policies, by column, first to be evaluated first.
    fn gather(&mut self, words: &mut [Vec<Word<'q>>]) {
        for candidate in self.relation.candidates(PolicyKind::Mask) {
            let policy = candidate.policy;
            if !self.is_in_force(policy) {
                continue;
            }
            let tag = candidate.tag.as_ref();
            let table = self.relation.table();
            let held = table.held_of(policy, tag);
            if candidate.names.is_empty() {
                match first_rule(&policy.masks, held, self.target, table, tag) {
                    FirstItem::Nobody => self.pass_over_nobody(policy, held),
                    FirstItem::Found(_) | FirstItem::Unknown(_) => {
                        self.pass_over(policy, None, PassedOverReason::NoSuchColumn);
                    }
                }
                continue;
            }
            let ask = |asked: &Asked<'q, 'd>, held, tag: Option<&TagHit<'q>>| {
                first_rule(&policy.masks, held, self.target, asked, tag)
            };
            let found = self.says(&candidate, ask);
            if found.iter().all(|(_, first)| *first == FirstItem::Nobody) {
                self.pass_over_nobody(policy, held);
                continue;
            }
            for (name, first) in found {
                let Some(asked) = self.relation.asked(name) else { continue };
                let Some(says) = mask_says(policy, first, asked, tag) else { continue };
                let word = Word { policy, is_of_tag: tag.is_some(), says };
                if let MaskSays::Exempt(via) = &word.says {
                    let via = via.clone();
                    self.pass_over(policy, None, PassedOverReason::Exempt(via));
                }
                let column = self.relation.column_of(name);
                let list = words.get_mut(column);
                // A column is spoken of once, by whichever of its names.
                if let Some(list) = list
                    && !list
                        .iter()
                        .any(|known| known.policy.id == policy.id && known.is_of_tag == word.is_of_tag)
                {
                    list.push(word);
                }
            }
        }
    }

    /// The masks of one kind of policy stand before those of the other; within a kind those of the highest priority,
    /// and where they differ the column is restricted.
    fn combined(&mut self, words: &[Word<'q>], column: &str) -> ColumnRule {
        let tag_first = self.r.settings.mask_precedence == MaskPrecedence::Tag;
        // An exemption is from its own policy only, so it takes no part.
        let standing = |of_tag: bool| -> Vec<&Word<'q>> {
            let stands =
                |word: &&Word<'q>| word.is_of_tag == of_tag && !matches!(word.says, MaskSays::Exempt(_));
            let mut standing: Vec<&Word<'q>> = words.iter().filter(stands).collect();
            standing.sort_by(|a, b| a.policy.evaluated_before(b.policy));
            standing
        };
        let (first, second) = (standing(tag_first), standing(!tag_first));
        let (rule, by) = match self.of_kind(&first, column) {
            Some(decided) => decided,
            None => return self.of_kind(&second, column).map_or(ColumnRule::Raw, |(rule, _)| rule),
        };
        for word in second {
            // What cannot be made restricts whatever else stands.
            if let (MaskSays::Broken(reason), ColumnRule::Masked(_)) = (&word.says, &rule) {
                return ColumnRule::Restricted(restriction(word.policy, reason.clone()));
            }
            self.pass_over(word.policy, Some(column), PassedOverReason::Overruled(by.id));
        }
        rule
    }

    fn of_kind(&mut self, standing: &[&Word<'q>], column: &str) -> Option<(ColumnRule, &'q CompiledPolicy)> {
        let (first, rest) = standing.split_first()?;
        let mut rule = rule_of(first);
        for other in rest {
            if other.policy.priority() < first.policy.priority() {
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
        Some((rule, first.policy))
    }

    /// Ranger's single answer: the first policy that says anything stands, an exemption too. A resource policy of a
    /// higher priority stands before a tag policy.
    fn first(&mut self, words: &[Word<'q>], column: &str) -> ColumnRule {
        let of_tag = words.iter().find(|word| word.is_of_tag);
        let of_resource = words.iter().find(|word| !word.is_of_tag);
        let first = match (of_tag, of_resource) {
            (None, None) => return ColumnRule::Raw,
            (Some(tag), Some(resource)) if resource.policy.priority() > tag.policy.priority() => resource,
            (Some(first), _) | (None, Some(first)) => first,
        };
        for other in words.iter().filter(|word| !std::ptr::eq(*word, first)) {
            self.pass_over(other.policy, Some(column), PassedOverReason::Overruled(first.policy.id));
        }
        rule_of(first)
    }
}

fn mask_says(
    policy: &CompiledPolicy,
    first: FirstItem,
    asked: &Asked<'_, '_>,
    tag: Option<&TagHit<'_>>,
) -> Option<MaskSays> {
    let at = match first {
        FirstItem::Nobody => return None,
        FirstItem::Unknown(_) => {
            return Some(MaskSays::Broken(match policy.broken() {
                Some(fault) => format!("the policy cannot be honoured: {fault}"),
                None => "a condition of the mask cannot be evaluated".to_owned(),
            }));
        }
        FirstItem::Found(at) => at,
    };
    let (item, mask) = policy.masks.get(usize::from(at))?;
    let has_text = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    let is_custom = mask.mask_type.eq_ignore_ascii_case(CUSTOM);
    let broken = if mask.mask_type.eq_ignore_ascii_case(MASK_NONE) {
        return asked.via(item).map(MaskSays::Exempt);
    } else if !asked.service.mask_types.contains(&mask.mask_type.to_lowercase()) {
        format!("the service definition has no mask type `{}`", mask.mask_type)
    } else if has_text(&mask.condition_expr) {
        "masks with a condition of their own are not supported".to_owned()
    } else if is_custom && !has_text(&mask.value_expr) {
        "the custom mask has no expression".to_owned()
    } else {
        match mask_rule(policy, mask, is_custom, asked, tag) {
            Ok(rule) => return Some(MaskSays::Mask(rule)),
            Err(fault) => fault,
        }
    };
    Some(MaskSays::Broken(broken))
}

fn mask_rule(
    policy: &CompiledPolicy,
    mask: &MaskInfo,
    is_custom: bool,
    asked: &Asked<'_, '_>,
    tag: Option<&TagHit<'_>>,
) -> Result<MaskRule, String> {
    let value_expr = mask.value_expr.clone().filter(|_| is_custom || takes_number(&mask.mask_type));
    Ok(MaskRule {
        policy: policy.id,
        policy_name: policy.name.to_string(),
        policy_version: policy.version,
        mask_type: mask.mask_type.clone(),
        expressions: expressions(value_expr.as_deref().unwrap_or_default(), asked, tag)?,
        value_expr,
    })
}

fn rule_of(word: &Word<'_>) -> ColumnRule {
    match &word.says {
        MaskSays::Exempt(_) => ColumnRule::Raw,
        MaskSays::Broken(reason) => ColumnRule::Restricted(restriction(word.policy, reason.clone())),
        MaskSays::Mask(mask) => ColumnRule::Masked(mask.clone()),
    }
}

fn is_same_mask(a: &MaskRule, b: &MaskRule) -> bool {
    a.mask_type.eq_ignore_ascii_case(&b.mask_type)
        && a.value_expr == b.value_expr
        && a.expressions == b.expressions
}
