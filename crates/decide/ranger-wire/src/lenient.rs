//! Reads JSON as leniently as Ranger's own readers do: comments, single quotes, bare names, commas too many.

use serde_json::{Map, Number, Value};

use crate::WireError;

/// Bytes of one text. Ranger's largest downloads stay far below.
pub const LENIENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Lists and objects in each other. Deeper ones would exhaust the stack of who reads them.
pub const LENIENT_DEPTH_MAX: usize = 100;

/// Reads one value.
///
/// What strict JSON allows is read as such. Besides: `#`, `//` and `/* */` comments; texts and names in single quotes
/// or in none; a comma before a closing bracket of a list, which makes a null; `;` for `,` and `=` or `=>` for `:`. Of
/// two members with one name the last counts.
///
/// # Errors
/// With the line of the fault.
pub fn parse_lenient(text: &str) -> Result<Value, WireError> {
    if text.len() > LENIENT_BYTES_MAX {
        return Err(WireError::one(format!("longer than {LENIENT_BYTES_MAX} bytes (LENIENT_BYTES_MAX)")));
    }
    let mut reader = Reader { text, at: 0 };
    let value = reader.document();
    value.map_err(|problem| WireError::one(format!("not JSON: {problem} in line {}", reader.line())))
}

/// A text and how far it has been read.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, String> {
        self.skip_byte_order_mark();
        let value = self.value(0)?;
        match self.next_token()? {
            None => Ok(value),
            Some(other) => Err(format!("`{other}` after the end")),
        }
    }

    fn skip_byte_order_mark(&mut self) {
        if self.peek() == Some('\u{feff}') {
            self.bump();
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > LENIENT_DEPTH_MAX {
            return Err(format!("nested deeper than {LENIENT_DEPTH_MAX} (LENIENT_DEPTH_MAX)"));
        }
        match self.next_token()? {
            None => Err("the text ends where a value should stand".to_owned()),
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some(quote @ ('"' | '\'')) => Ok(Value::String(self.quoted(quote)?)),
            Some(_) => Ok(literal(self.bare()?)),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.bump();
        let mut members = Map::new();
        loop {
            match self.next_token()? {
                None => return Err("an object is not closed".to_owned()),
                Some('}') => break,
                Some(',' | ';') => {
                    self.bump();
                    continue;
                }
                Some(_) => {}
            }
            let name = self.name()?;
            self.colon()?;
            let value = self.value(depth.saturating_add(1))?;
            members.insert(name, value);
            match self.next_token()? {
                Some(',' | ';') => self.bump(),
                Some('}') => {}
                _ => return Err("expected `,` or `}`".to_owned()),
            }
        }
        self.bump();
        Ok(Value::Object(members))
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote),
            _ => Ok(self.bare()?.to_owned()),
        }
    }

    fn colon(&mut self) -> Result<(), String> {
        match self.next_token()? {
            Some(':') => self.bump(),
            Some('=') => {
                self.bump();
                if self.peek() == Some('>') {
                    self.bump();
                }
            }
            _ => return Err("expected `:`".to_owned()),
        }
        Ok(())
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        self.bump();
        let mut elements = Vec::new();
        loop {
            match self.next_token()? {
                None => return Err("a list is not closed".to_owned()),
                // An empty list, or a null behind the last comma.
                Some(']') => {
                    if !elements.is_empty() {
                        elements.push(Value::Null);
                    }
                    break;
                }
                Some(',' | ';') => {
                    self.bump();
                    elements.push(Value::Null);
                    continue;
                }
                Some(_) => elements.push(self.value(depth.saturating_add(1))?),
            }
            match self.next_token()? {
                Some(',' | ';') => self.bump(),
                Some(']') => break,
                _ => return Err("expected `,` or `]`".to_owned()),
            }
        }
        self.bump();
        Ok(Value::Array(elements))
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        self.bump();
        let mut read = String::new();
        loop {
            match self.take() {
                None => return Err("a text is not closed".to_owned()),
                Some(c) if c == quote => return Ok(read),
                Some('\\') => read.push(self.escaped()?),
                Some(c) => read.push(c),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        match self.take() {
            None => Err("a text is not closed".to_owned()),
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('u') => self.code_point(),
            // Ranger's readers take any other character for itself.
            Some(c) => Ok(c),
        }
    }

    /// The four digits after `\u`, and the second half of a pair.
    fn code_point(&mut self) -> Result<char, String> {
        let first = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.at;
        if self.take() == Some('\\') && self.take() == Some('u') {
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.at = before;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_digits(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.take().and_then(|c| c.to_digit(16));
            code = code * 16 + digit.ok_or_else(|| "expected four digits after `\\u`".to_owned())?;
        }
        Ok(code)
    }

    /// A word without quotes.
    fn bare(&mut self) -> Result<&str, String> {
        let start = self.at;
        while self.peek().is_some_and(is_bare) {
            self.bump();
        }
        match self.text.get(start..self.at) {
            Some(word) if !word.is_empty() => Ok(word),
            _ => Err(format!("unexpected `{}`", self.peek().unwrap_or(' '))),
        }
    }

    /// The next character that is neither white space nor in a comment.
    fn next_token(&mut self) -> Result<Option<char>, String> {
        loop {
            match self.peek() {
                Some(c) if c.is_whitespace() => self.bump(),
                Some('#') => self.skip_line(),
                Some('/') => self.skip_comment()?,
                other => return Ok(other),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), String> {
        let rest = self.rest();
        if rest.starts_with("//") {
            self.skip_line();
            return Ok(());
        }
        if !rest.starts_with("/*") {
            return Err("unexpected `/`".to_owned());
        }
        let end = rest.find("*/").ok_or("a comment is not closed")?;
        self.at = self.at.saturating_add(end).saturating_add(2);
        Ok(())
    }

    fn skip_line(&mut self) {
        let n_bytes = self.rest().find('\n').unwrap_or(self.rest().len());
        self.at = self.at.saturating_add(n_bytes);
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at = self.at.saturating_add(self.peek().map_or(0, char::len_utf8));
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek();
        self.bump();
        next
    }

    fn line(&self) -> usize {
        let read = self.text.get(..self.at).unwrap_or(self.text);
        read.bytes().filter(|byte| *byte == b'\n').count().saturating_add(1)
    }
}

fn is_bare(c: char) -> bool {
    !c.is_whitespace() && !"/\\;#=,:{}[]\"'".contains(c)
}

/// What a word without quotes stands for.
fn literal(word: &str) -> Value {
    if word.eq_ignore_ascii_case("null") {
        return Value::Null;
    }
    if word.eq_ignore_ascii_case("true") {
        return Value::Bool(true);
    }
    if word.eq_ignore_ascii_case("false") {
        return Value::Bool(false);
    }
    if let Ok(whole) = word.parse::<i64>() {
        return Value::Number(whole.into());
    }
    match word.parse::<f64>().ok().filter(|_| !word.starts_with(|c: char| c.is_alphabetic())) {
        Some(number) => {
            Number::from_f64(number).map_or_else(|| Value::String(word.to_owned()), Value::Number)
        }
        None => Value::String(word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: Value) {
        assert_eq!(parse_lenient(text).unwrap(), expected, "{text}");
    }

    #[test]
    fn strict_json_is_read_as_such() {
        let text = r#"{"a": [1, -2.5, true, null, "x\n\u00e9\ud83d\ude00"], "b": {}, "c": []}"#;
        check(text, serde_json::from_str(text).unwrap());
    }

    #[test]
    fn comments_are_passed_over() {
        check("# one\n{ // two\n \"a\": /* three */ 1 }\n# four", json!({"a": 1}));
    }

    #[test]
    fn quotes_may_be_single_or_missing() {
        check("{a: 'it\\'s', 'b': word, c_1: 0x}", json!({"a": "it's", "b": "word", "c_1": "0x"}));
    }

    #[test]
    fn a_comma_too_many_makes_a_null_in_a_list_and_nothing_in_an_object() {
        check("[1, , 2,]", json!([1, null, 2, null]));
        check("{\"a\": 1, }", json!({"a": 1}));
    }

    #[test]
    fn the_last_of_two_members_with_one_name_counts() {
        check(r#"{"a": 1, "a": 2}"#, json!({"a": 2}));
    }

    #[test]
    fn other_separators_are_taken() {
        check("{a = 1; b => 2}", json!({"a": 1, "b": 2}));
    }

    #[test]
    fn faults_name_the_line() {
        for (text, line) in
            [("{\n\"a\" 1}", "line 2"), ("[1", "line 1"), ("'x", "line 1"), ("{} {}", "line 1")]
        {
            let error = parse_lenient(text).unwrap_err().to_string();
            assert!(error.contains(line), "{text}: {error}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse_lenient(&deep(LENIENT_DEPTH_MAX)).is_ok());
        let error = parse_lenient(&deep(100_000)).unwrap_err().to_string();
        assert!(error.contains("LENIENT_DEPTH_MAX"), "{error}");
    }
}
