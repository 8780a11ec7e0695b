//! Texts with expressions in them: `dept = '${{USER.dept}}'`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::condition::ConditionContext;
use crate::script::{PlainData, Script, ScriptEngine, ScriptError};

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart<'t> {
    Literal(&'t str),
    /// What stands between `${{` and the next `}}`.
    Expression(&'t str),
}

/// The parts of a text, in order; a text without expressions is one literal.
pub fn text_parts(text: &str) -> impl Iterator<Item = TextPart<'_>> {
    let mut rest = text;
    let mut expression = None;
    std::iter::from_fn(move || {
        if let Some(found) = expression.take() {
            return Some(TextPart::Expression(found));
        }
        if rest.is_empty() {
            return None;
        }
        let Some((literal, found, behind)) = next_expression(rest) else {
            return Some(TextPart::Literal(std::mem::take(&mut rest)));
        };
        rest = behind;
        if literal.is_empty() {
            return Some(TextPart::Expression(found));
        }
        expression = Some(found);
        Some(TextPart::Literal(literal))
    })
}

fn next_expression(text: &str) -> Option<(&str, &str, &str)> {
    let mut searched = 0;
    loop {
        let (before, behind) = text.get(searched..)?.split_once("${{")?;
        let (found, rest) = behind.split_once("}}")?;
        let literal = text.get(..searched + before.len())?;
        // As Ranger finds it: an expression does not reach over the end of a line.
        if !found.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
            return Some((literal, found, rest));
        }
        searched = literal.len() + 1;
    }
}

/// Whether a text holds an expression.
pub fn has_expressions(text: &str) -> bool {
    text_parts(text).any(|part| matches!(part, TextPart::Expression(_)))
}

/// The compiled expressions of a snapshot's texts, by what they are written as.
#[derive(Clone, Debug, Default)]
pub struct ExpressionTable {
    engine: Option<Arc<dyn ScriptEngine>>,
    compiled: BTreeMap<Box<str>, Result<Arc<dyn Script>, ScriptError>>,
}

impl ExpressionTable {
    pub fn new(engine: Option<Arc<dyn ScriptEngine>>) -> Self {
        Self { engine, compiled: BTreeMap::new() }
    }

    /// Whether no text had an expression.
    pub fn is_empty(&self) -> bool {
        self.compiled.is_empty()
    }

    /// Compiles every expression of a text; what is wrong with them is returned and kept.
    pub fn add(&mut self, text: &str) -> Vec<ScriptError> {
        let Some(engine) = &self.engine else { return Vec::new() };
        let mut faults = Vec::new();
        for part in text_parts(text) {
            if let TextPart::Expression(expr) = part
                && !self.compiled.contains_key(expr)
            {
                let compiled = engine.compile(expr, PlainData::IfNamed);
                faults.extend(compiled.as_ref().err().cloned());
                self.compiled.insert(expr.into(), compiled);
            }
        }
        faults
    }

    /// What an expression stands for in a request; `None`: it is null or undefined.
    ///
    /// # Errors
    /// It does not parse, failed or reached a limit, or nothing here runs scripts.
    pub fn value(&self, expr: &str, context: &ConditionContext<'_>) -> Result<Option<String>, ScriptError> {
        match (self.compiled.get(expr), &self.engine) {
            (Some(compiled), _) => compiled.clone()?.text(context),
            (None, Some(engine)) => engine.compile(expr, PlainData::IfNamed)?.text(context),
            (None, None) => Err(ScriptError::Failed("nothing here runs scripts".to_owned())),
        }
    }

    /// The text with its expressions replaced by what they stand for, as Ranger pastes it: nothing for what is null or
    /// fails.
    pub fn pasted(&self, text: &str, context: &ConditionContext<'_>) -> String {
        let mut pasted = String::new();
        for part in text_parts(text) {
            match part {
                TextPart::Literal(text) => pasted.push_str(text),
                TextPart::Expression(expr) => {
                    pasted.push_str(&self.value(expr, context).ok().flatten().unwrap_or_default());
                }
            }
        }
        pasted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> String {
        let part = |part| match part {
            TextPart::Literal(text) => format!("[{text}]"),
            TextPart::Expression(text) => format!("<{text}>"),
        };
        text_parts(text).map(part).collect()
    }

    #[test]
    fn the_shortest_text_between_the_braces_is_the_expression() {
        assert_eq!(parts("dept = '${{USER.dept}}' and x"), "[dept = ']<USER.dept>[' and x]");
        assert_eq!(parts("${{a}}${{b}}"), "<a><b>");
        assert_eq!(parts("${{{a:1}}}"), "<{a:1>[}]");
        assert_eq!(parts("${{a ${{b}}"), "<a ${{b>");
    }

    #[test]
    fn what_is_not_closed_on_its_line_is_no_expression() {
        assert_eq!(parts("a ${{b"), "[a ${{b]");
        assert_eq!(parts("a ${{b\n}} ${{c}}"), "[a ${{b\n}} ]<c>");
        assert_eq!(parts(""), "");
        assert!(!has_expressions("{{a}} ${b}"));
    }
}
