//! Hands scripts and expressions of policies to the script engine.

use policy::ConditionErrors;
use policy::condition::{ConditionContext, ConditionSettings, TagFacts};
use policy::model::ConditionDef;
use policy::script::PlainData;

use super::World;
use super::asking::{Asking, FoundTag};
use super::one_policy::Place;
use super::tokens::fill_expressions;

impl World {
    /// None where the script cannot be run. Ranger takes a condition that has none for met.
    pub(crate) fn script(&self, place: &Place<'_, '_>, def: &ConditionDef, script: &str) -> Option<bool> {
        if script.trim().is_empty() {
            return (self.settings.condition_errors == ConditionErrors::Ranger).then_some(true);
        }
        let data = match def.evaluator_options.get("enableJsonCtx") {
            Some(text) if text.eq_ignore_ascii_case("true") => PlainData::Always,
            Some(_) => PlainData::Never,
            None => PlainData::IfNamed,
        };
        let script = self.scripts.as_ref()?.compile(script, data).ok()?;
        self.with_circumstances(place.asking, place.tag, |context| script.is_met(context)).ok()
    }

    /// The text that an expression of a policy gives; nothing where it cannot be had.
    pub(crate) fn expression(&self, asking: &Asking<'_, '_>, text: &str) -> String {
        let script = self.scripts.as_ref().and_then(|engine| engine.compile(text, PlainData::Always).ok());
        let value = script.and_then(|script| {
            self.with_circumstances(asking, None, |context| script.text(context)).ok().flatten()
        });
        value.unwrap_or_default()
    }

    /// A mask's or filter's text with its expressions filled in.
    pub(crate) fn filled_text(&self, asking: &Asking<'_, '_>, text: &str) -> String {
        fill_expressions(text, &|expression| self.expression(asking, expression))
    }

    fn with_circumstances<T>(
        &self,
        asking: &Asking<'_, '_>,
        tag: Option<&FoundTag>,
        run: impl FnOnce(&ConditionContext<'_>) -> T,
    ) -> T {
        let settings = ConditionSettings::of(&self.settings);
        let tags: Vec<TagFacts<'_>> = asking.tags.iter().map(facts).collect();
        let zones = self.zones_of(asking);
        let zones: Vec<&str> = zones.iter().flatten().map(String::as_str).collect();
        let context = ConditionContext {
            tags: &tags,
            current_tag: tag.map(facts),
            users: &self.state.users,
            groups: &self.state.groups,
            zones: &zones,
            ..ConditionContext::new(asking.request, &settings)
        };
        run(&context)
    }
}

fn facts(tag: &FoundTag) -> TagFacts<'_> {
    TagFacts { kind: &tag.kind, attributes: &tag.attributes, found: tag.found }
}
