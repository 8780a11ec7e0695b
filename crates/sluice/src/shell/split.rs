//! Cuts what is typed into statements and commands, and tells whether a statement is still open.

/// Where a reading of SQL text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State<'a> {
    Plain,
    LineComment,
    BlockComment {
        depth: usize,
    },
    /// In `'…'` or `"…"`; a doubled quote continues it.
    Quoted {
        quote: char,
        backslash: bool,
    },
    /// In `$tag$…$tag$`; the tag with its dollars.
    Dollar {
        tag: &'a str,
    },
}

/// A script's pieces, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A statement without its semicolon.
    Statement(&'a str),
    /// A line that begins with a backslash, as typed.
    Command(&'a str),
}

/// The pieces of a text, and what is left after the last one that is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut<'a> {
    pub(crate) pieces: Vec<Piece<'a>>,
    /// Text of a statement that no semicolon has ended; empty when there is none.
    pub(crate) open: &'a str,
}

/// Cuts at semicolons, quotes and comments respected; a backslash where a statement could begin is a command, and
/// takes the rest of its line.
pub(crate) fn cut(text: &str) -> Cut<'_> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut state = State::Plain;
    let mut at = 0;
    // Whether anything but white space and comments has been seen since `start`.
    let mut begun = false;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let c = rest.chars().next().unwrap_or(' ');
        if state == State::Plain && c == ';' {
            if begun {
                pieces.push(Piece::Statement(text.get(start..at).unwrap_or_default().trim()));
            }
            at += 1;
            start = at;
            begun = false;
            continue;
        }
        if state == State::Plain && c == '\\' && !begun {
            let line = rest.lines().next().unwrap_or(rest);
            pieces.push(Piece::Command(line.trim_end()));
            at += line.len();
            start = at;
            continue;
        }
        let (next, length) = step(state, rest, c, text.get(..at).unwrap_or_default());
        let is_text = matches!(next, State::Plain) && matches!(state, State::Plain) && !c.is_whitespace();
        begun = begun || is_text || matches!(next, State::Quoted { .. } | State::Dollar { .. });
        state = next;
        at += length;
    }
    let open = text.get(start..).unwrap_or_default();
    let inside = !matches!(state, State::Plain | State::LineComment);
    Cut { pieces, open: if begun || inside { open } else { "" } }
}

/// Reads one step: the state after it, and how many bytes it took.
fn step<'a>(state: State<'a>, rest: &'a str, c: char, before: &str) -> (State<'a>, usize) {
    let one = c.len_utf8();
    match state {
        State::Plain => match c {
            '-' if rest.starts_with("--") => (State::LineComment, 2),
            '/' if rest.starts_with("/*") => (State::BlockComment { depth: 1 }, 2),
            '\'' => (State::Quoted { quote: c, backslash: is_escape_string(before) }, 1),
            '"' => (State::Quoted { quote: c, backslash: false }, 1),
            '$' if !before.ends_with(is_word) => match dollar_tag(rest) {
                Some(tag) => (State::Dollar { tag }, tag.len()),
                None => (State::Plain, one),
            },
            _ => (State::Plain, one),
        },
        State::LineComment if c == '\n' => (State::Plain, 1),
        State::LineComment => (state, one),
        State::BlockComment { depth } if rest.starts_with("*/") => match depth {
            0 | 1 => (State::Plain, 2),
            _ => (State::BlockComment { depth: depth - 1 }, 2),
        },
        State::BlockComment { depth } if rest.starts_with("/*") => {
            (State::BlockComment { depth: depth + 1 }, 2)
        }
        State::BlockComment { .. } => (state, one),
        State::Quoted { backslash: true, .. } if c == '\\' => {
            let escaped = rest.chars().nth(1).map_or(0, char::len_utf8);
            (state, one + escaped)
        }
        State::Quoted { quote, .. } if c == quote => match rest.chars().nth(1) {
            Some(next) if next == quote => (state, 2),
            _ => (State::Plain, 1),
        },
        State::Quoted { .. } => (state, one),
        State::Dollar { tag } if rest.starts_with(tag) => (State::Plain, tag.len()),
        State::Dollar { .. } => (state, one),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a quote that follows this text opens an `E'…'` string, in which a backslash escapes.
fn is_escape_string(before: &str) -> bool {
    let mut last = before.chars().rev();
    matches!(last.next(), Some('e' | 'E')) && !last.next().is_some_and(is_word)
}

/// `$tag$` or `$$` at the start of a text.
fn dollar_tag(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('$')?;
    let end = inner.find('$')?;
    let name = inner.get(..end)?;
    let is_tag = !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_word);
    if is_tag { rest.get(..end + 2) } else { None }
}

/// The first words of a statement in capitals, comments passed over.
pub(crate) fn first_words(statement: &str, n_max: usize) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut state = State::Plain;
    let mut at = 0;
    while let Some(rest) = statement.get(at..).filter(|rest| !rest.is_empty()) {
        let c = rest.chars().next().unwrap_or(' ');
        let (next, length) = step(state, rest, c, statement.get(..at).unwrap_or_default());
        if state == State::Plain && next == State::Plain && is_word(c) {
            word.extend(c.to_uppercase());
        } else if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        let is_mark =
            state == State::Plain && next == State::Plain && !c.is_whitespace() && !is_word(c) && c != '(';
        if words.len() >= n_max || is_mark {
            break;
        }
        state = next;
        at += length;
    }
    if !word.is_empty() && words.len() < n_max {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests;
