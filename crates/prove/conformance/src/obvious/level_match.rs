//! Matches one level of a request with the values that a policy has for that level.

use policy::model::{ResourceDef, ResourceValues};
use policy::{ElementScope, LevelValue};

use super::path_match;
use super::text_match::{Case, Shape, fold};
use super::tokens::{Fillings, TokenMarks};

/// The matcher's class in the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Text,
    Path,
    Url,
}

/// One level of a policy with the definition that says how it is compared.
pub(crate) struct LevelMatcher<'a> {
    def: &'a ResourceDef,
    values: Vec<&'a str>,
    is_excludes: bool,
    is_recursive: bool,
}

impl<'a> LevelMatcher<'a> {
    pub(crate) fn new(def: &'a ResourceDef, values: &'a ResourceValues) -> Self {
        Self {
            def,
            values: values.values.iter().map(String::as_str).filter(|value| !value.is_empty()).collect(),
            is_excludes: values.is_excludes,
            is_recursive: values.is_recursive,
        }
    }

    /// Whether the level takes whatever is asked: it has no values, or one that is all wildcard.
    pub(crate) fn is_any(&self) -> bool {
        self.values.is_empty() || self.values.iter().any(|value| self.shape(value) == Shape::Anything)
    }

    pub(crate) fn is_match(
        &self,
        request: Option<&LevelValue<'_>>,
        scope: ElementScope,
        fillings: &Fillings<'_>,
    ) -> bool {
        let is_everything = request.is_none_or(is_all_values);
        let is_found = if self.is_any() {
            true
        } else if is_everything && scope != ElementScope::ItselfOrPrefix {
            false
        } else {
            let mut texts: Vec<&str> = request.into_iter().flat_map(LevelValue::values).collect();
            if texts.is_empty() {
                // A list of nothing asks for everything, which begins with nothing.
                texts.push("");
            }
            texts
                .into_iter()
                .any(|text| self.values.iter().any(|value| self.compare(value, text, scope, fillings)))
        };
        // A request for everything is never matched by what a policy leaves out.
        let is_flipped = self.is_excludes && (!is_everything || self.is_any());
        is_found != is_flipped
    }

    fn compare(&self, value: &str, text: &str, scope: ElementScope, fillings: &Fillings<'_>) -> bool {
        let case = self.case(text);
        let text = fold(text, case);
        let marks = TokenMarks::of(self.def);
        let fill = |written: &str| fold(&marks.fill(written, fillings), case);
        let is_itself = if self.is_recursive && self.class() != Class::Text {
            let separator = self.separator();
            match (self.class(), self.option("wildCard", true)) {
                (Class::Url, true) => {
                    path_match::is_url_below(&text, &fill(&recursive(value, separator)), separator)
                }
                (Class::Url, false) => path_match::is_url_at_or_below(&text, &fill(value), separator),
                (_, true) => path_match::is_below(&text, &fill(&recursive(value, separator)), separator),
                (_, false) => path_match::is_at_or_below(&text, &fill(value), separator),
            }
        } else {
            let shape = self.shape(value);
            shape.is_match(&text, &fill(shape.stem(value)))
        };
        match scope {
            _ if is_itself => true,
            ElementScope::Itself => false,
            ElementScope::ItselfOrChild => {
                self.class() != Class::Text && path_match::is_parent(&text, &fill(value), self.separator())
            }
            ElementScope::ItselfOrPrefix => {
                let shape = self.shape(value);
                shape.is_prefix_match(&text, &fill(shape.stem(value)))
            }
        }
    }

    fn shape(&self, value: &str) -> Shape {
        Shape::of(value, self.option("wildCard", true))
    }

    fn class(&self) -> Class {
        let name = self.def.matcher.rsplit('.').next().unwrap_or("");
        match name {
            "RangerPathResourceMatcher" => Class::Path,
            "RangerURLResourceMatcher" => Class::Url,
            _ => Class::Text,
        }
    }

    /// With `quotedCaseSensitive`, a requested text in quotes is compared letter by letter.
    fn case(&self, text: &str) -> Case {
        if !self.option("ignoreCase", true) {
            return Case::Sensitive;
        }
        let quotes = self.def.matcher_options.get("quoteChars").map_or("\"", String::as_str);
        let is_quoted = text.chars().next().is_some_and(|first| quotes.contains(first));
        if self.option("quotedCaseSensitive", false) && is_quoted {
            Case::Sensitive
        } else {
            Case::Insensitive
        }
    }

    fn separator(&self) -> char {
        let option = self.def.matcher_options.get("pathSeparatorChar");
        option.and_then(|text| text.chars().next()).unwrap_or('/')
    }

    fn option(&self, name: &str, default: bool) -> bool {
        match self.def.matcher_options.get(name) {
            Some(text) if !text.is_empty() => text.eq_ignore_ascii_case("true"),
            _ => default,
        }
    }
}

/// What ends in a separator means everything below.
fn recursive(value: &str, separator: char) -> String {
    if value.ends_with(separator) { format!("{value}*") } else { value.to_owned() }
}

/// An empty text, `*` or an empty list asks for the whole level.
pub(crate) fn is_all_values(value: &LevelValue<'_>) -> bool {
    let is_all = |text: &str| text.is_empty() || text == "*";
    match value {
        LevelValue::One(text) => is_all(text),
        LevelValue::Any(texts) => match texts.as_ref() {
            [] => true,
            [one] => is_all(one),
            _ => false,
        },
    }
}
