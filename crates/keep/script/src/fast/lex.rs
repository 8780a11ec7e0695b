//! Cuts a script into tokens.

use super::Leave;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'s> {
    Name(&'s str),
    Number(f64),
    Text(String),
    Sign(&'static str),
}

/// Longer ones first, so that `===` is not `==` and `=`. Those behind the empty one are of no use here, and stand
/// for themselves so that they are not cut into shorter ones.
const SIGNS: [&str; 24] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "!", "<", ">", "=", "+", "-", "*", "?", ":", "(", ")",
    "[", "]", "{", "}", ".",
];

/// Signs that begin as one of those above does and mean something else.
const OTHERS: [&str; 18] = [
    "<!--", "-->", ">>>", ">>", "<<", "**", "++", "--", "+=", "-=", "*=", "=>", "?.", "??", "...", "&&=",
    "||=", "<<=",
];

pub(super) fn tokens(script: &str) -> Result<Vec<Token<'_>>, Leave> {
    let mut tokens = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => rest = rest.get(1..).ok_or(Leave)?,
            '\'' | '"' => {
                let (text, behind) = text(rest, c)?;
                tokens.push(Token::Text(text));
                rest = behind;
            }
            '0'..='9' => {
                let (number, behind) = number(rest)?;
                tokens.push(Token::Number(number));
                rest = behind;
            }
            'a'..='z' | 'A'..='Z' | '_' | '$' => {
                let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
                let (name, behind) = rest.split_at_checked(end).ok_or(Leave)?;
                tokens.push(Token::Name(name));
                rest = behind;
            }
            ';' | ',' => {
                tokens.push(Token::Sign(if c == ';' { ";" } else { "," }));
                rest = rest.get(1..).ok_or(Leave)?;
            }
            _ => {
                if OTHERS.iter().any(|other| rest.starts_with(other)) {
                    return Err(Leave);
                }
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).ok_or(Leave)?;
                tokens.push(Token::Sign(sign));
                rest = rest.get(sign.len()..).ok_or(Leave)?;
            }
        }
    }
    Ok(tokens)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

fn text(from: &str, quote: char) -> Result<(String, &str), Leave> {
    let mut text = String::new();
    let mut chars = from.chars();
    chars.next();
    loop {
        match chars.next().ok_or(Leave)? {
            c if c == quote => return Ok((text, chars.as_str())),
            '\\' => match chars.next().ok_or(Leave)? {
                c @ ('\\' | '\'' | '"' | '/') => text.push(c),
                'n' => text.push('\n'),
                't' => text.push('\t'),
                _ => return Err(Leave),
            },
            '\n' | '\r' => return Err(Leave),
            c => text.push(c),
        }
    }
}

/// Whole numbers and fractions, without exponents and leading zeros.
fn number(from: &str) -> Result<(f64, &str), Leave> {
    let whole = from.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = whole;
    if let Some(fraction) = from.get(whole..).and_then(|rest| rest.strip_prefix('.')) {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(Leave);
        }
        end = whole + 1 + digits;
    }
    let (digits, rest) = from.split_at_checked(end).ok_or(Leave)?;
    let has_leading_zero = whole > 1 && digits.starts_with('0');
    if has_leading_zero || rest.starts_with(|c: char| is_of_name(c) || c == '.' || !c.is_ascii()) {
        return Err(Leave);
    }
    Ok((digits.parse().map_err(|_| Leave)?, rest))
}
