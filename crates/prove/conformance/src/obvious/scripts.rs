//! Hands scripts and expressions of policies to the script engine.

use policy::model::ConditionDef;

use super::World;
use super::asking::Asking;
use super::one_policy::Place;
use super::tokens::fill_expressions;

impl World {
    /// None where the script cannot be run.
    pub(crate) fn script(&self, _place: &Place<'_, '_>, _def: &ConditionDef, _script: &str) -> Option<bool> {
        None
    }

    /// The text that an expression of a policy gives; nothing where it cannot be had.
    pub(crate) fn expression(&self, _asking: &Asking<'_, '_>, _text: &str) -> String {
        String::new()
    }

    /// A mask's or filter's text with its expressions filled in.
    pub(crate) fn filled_text(&self, asking: &Asking<'_, '_>, text: &str) -> String {
        fill_expressions(text, &|expression| self.expression(asking, expression))
    }
}
