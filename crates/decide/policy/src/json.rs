//! Reads JSON that stands inside texts of a policy, as leniently as Ranger does.

/// A value. Numbers keep the text that they were written as.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// In the order given; of a name that comes twice the last counts.
    Object(Vec<(String, Json)>),
}

/// How deep values may lie in each other.
pub const DEPTH_MAX: usize = 64;

impl Json {
    /// Texts may stand in single quotes, names without any; a comma may stand behind the last value.
    pub fn read(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text };
        let value = reader.value(0)?;
        reader.blanks();
        reader.rest.is_empty().then_some(value)
    }

    /// The value under a name of an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// A text, number or truth value as text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }

    pub fn integer(&self) -> Option<i64> {
        self.text()?.trim().parse().ok()
    }

    /// The values of a list; of anything else none.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, c: char) -> bool {
        self.blanks();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEPTH_MAX {
            return None;
        }
        self.blanks();
        match self.rest.chars().next()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            quote @ ('"' | '\'') => self.quoted(quote).map(Json::Text),
            _ => self.bare().map(|word| match word {
                "null" => Json::Null,
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                word if word.parse::<f64>().is_ok() => Json::Number(word.to_owned()),
                word => Json::Text(word.to_owned()),
            }),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        self.takes('[');
        loop {
            if self.takes(']') {
                return Some(Json::List(items));
            }
            items.push(self.value(depth + 1)?);
            if !self.takes(',') {
                return self.takes(']').then_some(Json::List(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut fields = Vec::new();
        self.takes('{');
        loop {
            if self.takes('}') {
                return Some(Json::Object(fields));
            }
            self.blanks();
            let name = match self.rest.chars().next()? {
                quote @ ('"' | '\'') => self.quoted(quote)?,
                _ => self.bare()?.to_owned(),
            };
            if !self.takes(':') && !self.takes('=') {
                return None;
            }
            fields.push((name, self.value(depth + 1)?));
            if !self.takes(',') && !self.takes(';') {
                return self.takes('}').then_some(Json::Object(fields));
            }
        }
    }

    fn bare(&mut self) -> Option<&str> {
        let ends = |c: char| c.is_whitespace() || "{}[]:,;='\"".contains(c);
        let (word, rest) = self.rest.split_at_checked(self.rest.find(ends).unwrap_or(self.rest.len()))?;
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        chars.next();
        loop {
            match chars.next()? {
                c if c == quote => break,
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => text.push(unicode(&mut chars)?),
                    c => text.push(c),
                },
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

/// The character of four hexadecimal digits, or of two such groups that are halves of one.
fn unicode(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let mut unit = || (0..4).try_fold(0_u32, |number, _| Some(number * 16 + chars.next()?.to_digit(16)?));
    let first = unit()?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    let mut ahead = chars.clone();
    if ahead.next() != Some('\\') || ahead.next() != Some('u') {
        return Some(char::REPLACEMENT_CHARACTER);
    }
    *chars = ahead;
    let mut unit = || (0..4).try_fold(0_u32, |number, _| Some(number * 16 + chars.next()?.to_digit(16)?));
    let second = unit()?;
    let joined = second.checked_sub(0xdc00).map(|low| 0x10000 + ((first - 0xd800) << 10) + low);
    Some(joined.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_names_and_last_commas_are_read_leniently() {
        let json = Json::read("{'a': [1, 'x',], b: \"q\\u0041\\n\", \"c\": {d: null}, a: true}").unwrap();
        assert_eq!(json.get("a"), Some(&Json::Bool(true)));
        assert_eq!(json.get("b").unwrap().text(), Some("qA\n"));
        assert_eq!(json.get("c").unwrap().get("d"), Some(&Json::Null));
        assert_eq!(Json::read("[1, '-2']").unwrap().items()[1].integer(), Some(-2));
        assert_eq!(Json::read("'\\ud83d\\ude00'").unwrap().text(), Some("😀"));
    }

    #[test]
    fn what_is_no_json_is_none_and_depth_has_an_end() {
        for text in ["", "{", "[1", "{a}", "1 2", "'open", "[", "{:1}"] {
            assert_eq!(Json::read(text), None, "{text}");
        }
        assert_eq!(Json::read(&"[".repeat(100_000)), None);
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(Json::read(&nested(DEPTH_MAX)).is_some());
        assert!(Json::read(&nested(DEPTH_MAX + 2)).is_none());
    }
}
