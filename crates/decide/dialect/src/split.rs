//! Cuts a script into its statements.

use sqlparser::tokenizer::Token;

use crate::error::SyntaxError;
use crate::lex::{Lexeme, lex};

/// One statement of a script and the byte at which it starts there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub offset: usize,
}

/// Cuts at every `;` that is a token of its own; pieces of white space and comments alone are left out.
pub fn split(script: &str) -> Result<Vec<Piece>, SyntaxError> {
    let lexemes = lex(script)?;
    let pieces = lexemes
        .split(|lexeme| lexeme.token.token == Token::SemiColon)
        .filter_map(|lexemes| piece(script, lexemes))
        .collect();
    Ok(pieces)
}

/// A leading comment stays, because clients tag their queries with it.
fn piece(script: &str, lexemes: &[Lexeme]) -> Option<Piece> {
    if lexemes.iter().all(|lexeme| lexeme.is_space() || lexeme.is_comment()) {
        return None;
    }
    let first = lexemes.iter().find(|lexeme| !lexeme.is_space())?;
    let last = lexemes.iter().rfind(|lexeme| !lexeme.is_space())?;
    let text = script.get(first.start..last.end)?.to_owned();
    Some(Piece { text, offset: first.start })
}

#[cfg(test)]
mod tests {
    use super::split;
    use crate::limits::STATEMENT_BYTES_MAX;

    fn check(script: &str, expected: &[&str]) {
        let pieces = split(script).unwrap();
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(texts, expected);
        for piece in &pieces {
            assert!(script[piece.offset..].starts_with(&piece.text));
        }
    }

    #[test]
    fn only_a_semicolon_of_its_own_cuts() {
        check(
            "SELECT ';' ; SELECT \";\"; SELECT $$;$$;SELECT $a$;$a$",
            &["SELECT ';'", "SELECT \";\"", "SELECT $$;$$", "SELECT $a$;$a$"],
        );
        check(
            "SELECT 1 -- ;\n + 2; SELECT E'\\';' /* ; /* ; */ ; */",
            &["SELECT 1 -- ;\n + 2", "SELECT E'\\';' /* ; /* ; */ ; */"],
        );
    }

    #[test]
    fn empty_pieces_are_left_out() {
        check(" ;; -- x\n ; /* y */ SELECT 1 ; \n ; ", &["/* y */ SELECT 1"]);
        check("", &[]);
        check("-- x", &[]);
    }

    #[test]
    fn offsets_count_bytes() {
        check("SELECT 'größe'; SELECT '😀' ;\r\n SELECT 3", &["SELECT 'größe'", "SELECT '😀'", "SELECT 3"]);
    }

    #[test]
    fn what_is_not_closed_is_an_error_where_it_opens() {
        assert_eq!(split("SELECT 1; SELECT 'x").map_err(|error| error.position), Err(17));
    }

    #[test]
    fn a_script_past_the_limit_is_refused() {
        assert!(split(&" ".repeat(STATEMENT_BYTES_MAX)).is_ok());
        assert_eq!(split(&" ".repeat(STATEMENT_BYTES_MAX + 1)).unwrap_err().kind(), stdx::ErrorKind::Limit);
    }
}
