//! Puts what the `${{expressions}}` of a policy's text stand for in their places, as literals that no parser reads.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::logical_expr::Expr;
use policy::expression::{TextPart, text_parts};
use query_api::QueryError;
use stdx::ErrorKind;

/// What the expressions of a text stand for, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Values<'v> {
    /// The text is checked, for nobody in particular.
    Unknown,
    Known(&'v [(String, Option<String>)]),
}

/// A text with a mark in the place of each expression, and what belongs there.
#[derive(Clone, Debug)]
pub(crate) struct Marked {
    pub(crate) text: String,
    /// `None`: not known, while a text is checked.
    values: Vec<Option<String>>,
}

/// Around the number of an expression that stands within a text literal.
const WITHIN: char = '\u{E000}';
/// Around the number of one that stands by itself, in a text literal made for it.
const ALONE: char = '\u{E001}';

/// What makes it doubtful where a text literal begins and ends.
const DOUBTFUL: [&str; 5] = ["\\", "--", "/*", "$$", "`"];

impl Marked {
    /// Takes the expressions out of a text.
    ///
    /// # Errors
    /// An expression has no value, stands in a name, or stands in a text whose literals cannot be told for sure.
    pub(crate) fn new(text: &str, values: Values<'_>) -> Result<Self, QueryError> {
        let mut marked = Self { text: String::with_capacity(text.len()), values: Vec::new() };
        let has_expressions = text_parts(text).any(|part| matches!(part, TextPart::Expression(_)));
        if !has_expressions {
            text.clone_into(&mut marked.text);
            return Ok(marked);
        }
        let mut quote: Option<char> = None;
        for part in text_parts(text) {
            match part {
                TextPart::Literal(literal) => {
                    if literal.contains([WITHIN, ALONE]) || DOUBTFUL.iter().any(|mark| literal.contains(mark))
                    {
                        return Err(unfit("a text with a backslash, a comment or the like"));
                    }
                    for c in literal.chars() {
                        quote = match quote {
                            Some(open) if open == c => None,
                            None if c == '\'' || c == '"' => Some(c),
                            open => open,
                        };
                    }
                    marked.text.push_str(literal);
                }
                TextPart::Expression(expr) => {
                    let number = marked.values.len();
                    marked.values.push(value(expr, number, values)?);
                    match quote {
                        Some('\'') => marked.text.push_str(&format!("{WITHIN}{number}{WITHIN}")),
                        None => marked.text.push_str(&format!("'{ALONE}{number}{ALONE}'")),
                        Some(_) => return Err(unfit("a name")),
                    }
                }
            }
        }
        Ok(marked)
    }

    /// The planned text with every mark replaced.
    ///
    /// # Errors
    /// A mark is not where a literal is, or what belongs there does not stand by itself.
    pub(crate) fn fill(&self, expr: Expr) -> Result<Expr, QueryError> {
        if self.values.is_empty() {
            return Ok(expr);
        }
        let mut n_filled = vec![0_usize; self.values.len()];
        let mut fault = None;
        let filled = expr.transform_up(|part| {
            let Expr::Literal(literal, _) = &part else { return Ok(Transformed::no(part)) };
            let Some(Some(text)) = literal.try_as_str() else { return Ok(Transformed::no(part)) };
            if !text.contains([WITHIN, ALONE]) {
                return Ok(Transformed::no(part));
            }
            match self.literal(text, &mut n_filled) {
                Ok(value) => Ok(Transformed::yes(Expr::Literal(value, None))),
                Err(why) => {
                    fault = Some(why);
                    Err(DataFusionError::Plan("a mark cannot be filled".to_owned()))
                }
            }
        });
        match (filled, fault) {
            (_, Some(fault)) => Err(fault),
            (Ok(filled), None) if n_filled.iter().all(|n| *n == 1) => Ok(filled.data),
            _ => Err(unfit("anything but a text literal or a value")),
        }
    }

    fn literal(&self, text: &str, n_filled: &mut [usize]) -> Result<ScalarValue, QueryError> {
        let misplaced = || unfit("anything but a text literal or a value");
        if let Some(number) = text.strip_prefix(ALONE).and_then(|rest| rest.strip_suffix(ALONE)) {
            return match self.count(number, n_filled).ok_or_else(misplaced)? {
                Some(value) => by_itself(value),
                None => Ok(ScalarValue::Null),
            };
        }
        // Between two marks stands a number, and outside of them what the author wrote.
        let mut filled = String::new();
        for (at, piece) in text.split(WITHIN).enumerate() {
            if at % 2 == 0 {
                filled.push_str(piece);
            } else if let Some(value) = self.count(piece, n_filled).ok_or_else(misplaced)? {
                filled.push_str(value);
            }
        }
        Ok(ScalarValue::Utf8(Some(filled)))
    }

    fn count(&self, number: &str, n_filled: &mut [usize]) -> Option<&Option<String>> {
        let number: usize = number.parse().ok()?;
        *n_filled.get_mut(number)? += 1;
        self.values.get(number)
    }
}

/// What stands outside of quotes: a number or a truth value. A text there would be a name or a piece of SQL.
fn by_itself(value: &str) -> Result<ScalarValue, QueryError> {
    let text = value.trim();
    let is_decimal = || text.contains('.') && text.chars().all(|c| c.is_ascii_digit() || "+-.".contains(c));
    if let Ok(number) = text.parse::<i64>() {
        return Ok(ScalarValue::Int64(Some(number)));
    }
    match text.parse::<f64>() {
        Ok(number) if is_decimal() => return Ok(ScalarValue::Float64(Some(number))),
        _ => {}
    }
    match text {
        "true" => Ok(ScalarValue::Boolean(Some(true))),
        "false" => Ok(ScalarValue::Boolean(Some(false))),
        _ => Err(QueryError::new(
            ErrorKind::Invalid,
            "outside of quotes an expression must stand for a number or a truth value",
        )),
    }
}

fn value(expr: &str, number: usize, values: Values<'_>) -> Result<Option<String>, QueryError> {
    let Values::Known(values) = values else { return Ok(None) };
    match values.get(number) {
        Some((known, Some(value))) if known == expr => Ok(Some(value.clone())),
        _ => Err(QueryError::new(ErrorKind::Unavailable, format!("`{expr}` stands for nothing here"))),
    }
}

fn unfit(place: &str) -> QueryError {
    QueryError::new(
        ErrorKind::Invalid,
        format!("an expression between `${{{{` and `}}}}` cannot stand in {place}"),
    )
}

#[cfg(test)]
mod tests {
    use datafusion::common::ScalarValue;
    use datafusion::logical_expr::{Expr, col, lit};

    use super::{Marked, Values};

    fn known(values: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
        let owned = |(expr, value): &(&str, Option<&str>)| ((*expr).to_owned(), value.map(str::to_owned));
        values.iter().map(owned).collect()
    }

    /// Plans the marked text as if it were one literal behind `c =`.
    fn filled(text: &str, values: &[(&str, Option<&str>)]) -> Result<ScalarValue, String> {
        let values = known(values);
        let marked = Marked::new(text, Values::Known(&values)).map_err(|error| error.message().to_owned())?;
        let inner = marked.text.trim_matches('\'').to_owned();
        match marked.fill(col("c").eq(lit(inner))).map_err(|error| error.message().to_owned())? {
            Expr::BinaryExpr(binary) => match *binary.right {
                Expr::Literal(value, _) => Ok(value),
                other => Err(format!("{other}")),
            },
            other => Err(format!("{other}")),
        }
    }

    #[test]
    fn a_value_is_a_piece_of_its_literal_whatever_is_in_it() {
        let text = |text: &str| Ok(ScalarValue::Utf8(Some(text.to_owned())));
        assert_eq!(filled("'${{USER.a}}'", &[("USER.a", Some("x' OR 'a'='a"))]), text("x' OR 'a'='a"));
        assert_eq!(
            filled("'a-${{x}}-${{y}}'", &[("x", Some("1")), ("y", Some("\u{E000}0\u{E000}"))]),
            text("a-1-\u{E000}0\u{E000}")
        );
    }

    #[test]
    fn outside_of_quotes_stand_numbers_and_truth_values() {
        assert_eq!(filled("${{x}}", &[("x", Some("12"))]), Ok(ScalarValue::Int64(Some(12))));
        assert_eq!(filled("${{x}}", &[("x", Some("-1.5"))]), Ok(ScalarValue::Float64(Some(-1.5))));
        assert_eq!(filled("${{x}}", &[("x", Some("true"))]), Ok(ScalarValue::Boolean(Some(true))));
        for odd in ["a", "1 OR 1=1", "'a','b'", "", "NaN", "inf"] {
            assert!(
                filled("${{x}}", &[("x", Some(odd))]).unwrap_err().contains("a number or a truth value"),
                "{odd}"
            );
        }
    }

    #[test]
    fn what_stands_for_nothing_is_a_fault() {
        assert!(filled("'${{x}}'", &[("x", None)]).unwrap_err().contains("stands for nothing"));
        assert!(filled("'${{x}}'", &[]).unwrap_err().contains("stands for nothing"));
        assert!(filled("'${{x}}'", &[("y", Some("1"))]).unwrap_err().contains("stands for nothing"));
    }

    #[test]
    fn where_literals_cannot_be_told_nothing_is_put() {
        for text in ["\"${{x}}\"", "E'\\'${{x}}'", "/* ' */ ${{x}}", "-- '\n ${{x}}", "'\u{E000}' = '${{x}}'"]
        {
            assert!(filled(text, &[("x", Some("1"))]).unwrap_err().contains("cannot stand in"), "{text}");
        }
    }

    #[test]
    fn a_mark_that_is_lost_is_a_fault() {
        let values = known(&[("x", Some("1"))]);
        let marked = Marked::new("c = '${{x}}'", Values::Known(&values)).unwrap();
        assert!(marked.fill(lit(true)).unwrap_err().message().contains("cannot stand in"));
        assert!(marked.fill(lit("\u{E000}7\u{E000}")).is_err());
        assert_eq!(Marked::new("c = 'x'", Values::Unknown).unwrap().fill(lit(true)).unwrap(), lit(true));
    }
}
