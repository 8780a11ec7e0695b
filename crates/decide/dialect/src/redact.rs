//! Takes the literals out of a statement, for logs and audit records.

use sqlparser::tokenizer::Token;

use crate::lex::{Lexeme, is_string, lex_prefix};

/// The text with a `?` for every literal and nothing of its comments.
///
/// Where the text stops being SQL, one `?` stands for all the rest, because nobody can tell what is in it.
pub fn redact(statement: &str) -> String {
    let (lexemes, error) = lex_prefix(statement);
    let is_about_identity = is_about_identity(&lexemes);
    let mut redacted = String::with_capacity(statement.len());
    let mut after_password = false;
    for lexeme in &lexemes {
        let source = statement.get(lexeme.start..lexeme.end).unwrap_or_default();
        match &lexeme.token.token {
            Token::Whitespace(_) if lexeme.is_comment() => redacted.push(' '),
            Token::Whitespace(_) => redacted.push_str(source),
            Token::Number(..) => redacted.push('?'),
            token if is_string(token) => redacted.push('?'),
            // A password in the wrong quotes, or in none, is a password still.
            Token::Word(_) if after_password => redacted.push('?'),
            _ => redacted.push_str(source),
        }
        after_password = is_about_identity
            && match &lexeme.token.token {
                Token::Word(_) => lexeme.is_word("PASSWORD") || lexeme.is_word("BY"),
                Token::Whitespace(_) | Token::Eq => after_password,
                _ => false,
            };
    }
    if error.is_some() {
        redacted.push('?');
    }
    redacted
}

/// `CREATE` or `ALTER` of a `USER` or `ROLE`: the statements that carry passwords.
fn is_about_identity(lexemes: &[Lexeme]) -> bool {
    let mut words = lexemes.iter().filter(|lexeme| !lexeme.is_space() && !lexeme.is_comment());
    let leads = words.next().is_some_and(|word| word.is_word("CREATE") || word.is_word("ALTER"));
    leads && words.take(3).any(|word| word.is_word("USER") || word.is_word("ROLE"))
}

#[cfg(test)]
mod tests {
    use super::redact;

    fn check(statement: &str, expected: &str) {
        assert_eq!(redact(statement), expected);
    }

    #[test]
    fn literals_become_question_marks() {
        check(
            "SELECT 'it''s', 1.5e3, X'ff', E'a\\'b', $$x$$, $t$y$t$, N'z', $1, ? FROM \"T\" WHERE a1 = -2 -- 'c'",
            "SELECT ?, ?, ?, ?, ?, ?, ?, $1, ? FROM \"T\" WHERE a1 = -?  ",
        );
        check("SELECT/* 'x' */1 FROM größe", "SELECT ? FROM größe");
    }

    #[test]
    fn passwords_are_taken_out_in_any_quotes() {
        check("CREATE USER u PASSWORD 'x'", "CREATE USER u PASSWORD ?");
        check("create user u password x", "create user u password ?");
        check("ALTER USER u SET PASSWORD = \"x\"", "ALTER USER u SET PASSWORD = ?");
        check("CREATE USER u IDENTIFIED BY x", "CREATE USER u IDENTIFIED BY ?");
        check("SELECT password FROM users", "SELECT password FROM users");
    }

    #[test]
    fn text_that_is_no_sql_keeps_no_literal_either() {
        check("SELECT a, 'x', 'unclosed", "SELECT a, ?, ?");
        check("INSERT INTO t VALUES (1, \"unclosed", "INSERT INTO t VALUES (?, ?");
        check("SELECT /* 'x'", "SELECT ?");
        check("", "");
    }
}
