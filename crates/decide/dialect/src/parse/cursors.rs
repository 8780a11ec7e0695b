//! Cursors, as PostgreSQL writes them.

use sqlparser::tokenizer::Token;

use super::show::query_text;
use crate::ast::{CursorOptions, CursorStatement, CursorSteps};
use crate::cursor::{Cursor, Parsed};

/// What a name of a cursor is called in errors.
const A_CURSOR: &str = "the name of a cursor";

/// `None`, with nothing read, for a statement about anything else.
pub(super) fn cursor(cursor: &mut Cursor<'_>) -> Parsed<Option<CursorStatement>> {
    if cursor.eat("DECLARE") {
        return declare(cursor).map(Some);
    }
    if cursor.eat("CLOSE") {
        let is_all = cursor.is_word_at(0, "ALL");
        let name = cursor.ident(A_CURSOR)?;
        return Ok(Some(CursorStatement::Close { name: (!is_all).then_some(name) }));
    }
    let is_move = cursor.eat("MOVE");
    if !is_move && !cursor.eat("FETCH") {
        return Ok(None);
    }
    let steps = steps(cursor)?;
    if !cursor.eat("FROM") {
        cursor.eat("IN");
    }
    let name = cursor.ident(A_CURSOR)?;
    Ok(Some(CursorStatement::Fetch { name, steps, is_move }))
}

/// `name [BINARY] [[IN|A]SENSITIVE] [[NO] SCROLL] CURSOR [{WITH|WITHOUT} HOLD] FOR query`.
fn declare(cursor: &mut Cursor<'_>) -> Parsed<CursorStatement> {
    let name = cursor.ident(A_CURSOR)?;
    let mut options = CursorOptions::default();
    while !cursor.eat("CURSOR") {
        if cursor.eat("BINARY") {
            options.is_binary = true;
        } else if cursor.eat("SCROLL") {
            options.is_scroll = true;
        } else if !cursor.eat_all(&["NO", "SCROLL"])
            && !cursor.eat("INSENSITIVE")
            && !cursor.eat("ASENSITIVE")
        {
            return Err(cursor.expected(&["CURSOR"]));
        }
    }
    if cursor.eat_all(&["WITH", "HOLD"]) {
        options.is_held = true;
    } else {
        cursor.eat_all(&["WITHOUT", "HOLD"]);
    }
    cursor.expect("FOR")?;
    if cursor.is_at_end() {
        return Err(cursor.expected_a("a query"));
    }
    let n_tokens = cursor.rest().len();
    Ok(CursorStatement::Declare { name, options, query: query_text(cursor, n_tokens) })
}

fn steps(cursor: &mut Cursor<'_>) -> Parsed<CursorSteps> {
    // A cursor may be called as a direction is.
    if cursor.peek(1).is_none() {
        return Ok(CursorSteps::Forward(1));
    }
    if cursor.eat("ALL") {
        return Ok(CursorSteps::All);
    }
    if cursor.eat("NEXT") {
        return Ok(CursorSteps::Forward(1));
    }
    if cursor.eat("FORWARD") {
        return Ok(if cursor.eat("ALL") { CursorSteps::All } else { count(cursor)? });
    }
    if cursor.eat("PRIOR") || cursor.eat("FIRST") || cursor.eat("LAST") {
        return Ok(CursorSteps::Elsewhere);
    }
    if cursor.eat("ABSOLUTE") || cursor.eat("RELATIVE") || cursor.eat("BACKWARD") {
        if !cursor.eat("ALL") {
            count(cursor)?;
        }
        return Ok(CursorSteps::Elsewhere);
    }
    count(cursor)
}

/// A number, or one row where none is given.
fn count(cursor: &mut Cursor<'_>) -> Parsed<CursorSteps> {
    let is_negative = cursor.eat_token(&Token::Minus);
    let Some(Token::Number(digits, _)) = cursor.peek(0).map(|lexeme| &lexeme.token.token) else {
        return if is_negative {
            Err(cursor.expected_a("a number of rows"))
        } else {
            Ok(CursorSteps::Forward(1))
        };
    };
    let n_rows: u64 = digits.parse().map_err(|_| cursor.expected_a("a number of rows"))?;
    cursor.skip(1);
    Ok(if is_negative || n_rows == 0 { CursorSteps::Elsewhere } else { CursorSteps::Forward(n_rows) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Statement;

    fn fetched(text: &str) -> (String, CursorSteps, bool) {
        match crate::parse(text) {
            Ok(Statement::Cursor(CursorStatement::Fetch { name, steps, is_move })) => {
                (name.value, steps, is_move)
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn fetches_are_read_in_all_their_forms() {
        let check = |text: &str, name: &str, steps| {
            assert_eq!(fetched(text), (name.to_owned(), steps, false), "{text}")
        };
        check("FETCH c", "c", CursorSteps::Forward(1));
        check("fetch next from C;", "c", CursorSteps::Forward(1));
        check("FETCH NEXT c", "c", CursorSteps::Forward(1));
        check("FETCH FROM \"C d\"", "C d", CursorSteps::Forward(1));
        check("FETCH next", "next", CursorSteps::Forward(1));
        check("FETCH 20 IN c", "c", CursorSteps::Forward(20));
        check("FETCH FORWARD 20 FROM c", "c", CursorSteps::Forward(20));
        check("FETCH FORWARD c", "c", CursorSteps::Forward(1));
        check("FETCH ALL c", "c", CursorSteps::All);
        check("FETCH FORWARD ALL FROM c", "c", CursorSteps::All);
        for direction in
            ["0", "-3", "PRIOR", "FIRST", "LAST", "ABSOLUTE -1", "RELATIVE 2", "BACKWARD ALL", "BACKWARD"]
        {
            check(&format!("FETCH {direction} FROM c"), "c", CursorSteps::Elsewhere);
        }
        assert_eq!(fetched("MOVE 3 IN c"), ("c".to_owned(), CursorSteps::Forward(3), true));
    }

    #[test]
    fn declarations_keep_the_text_of_their_query() {
        let text = "DECLARE c INSENSITIVE NO SCROLL CURSOR WITH HOLD FOR SELECT 'it''s' -- x\n FROM t";
        let Ok(Statement::Cursor(CursorStatement::Declare { name, options, query })) = crate::parse(text)
        else {
            panic!("{:?}", crate::parse(text));
        };
        assert_eq!(name.value, "c");
        assert_eq!(options, CursorOptions { is_held: true, ..CursorOptions::default() });
        assert_eq!(query.text, "SELECT 'it''s' -- x\n FROM t");
        assert_eq!(&text[query.span.start..], query.text);
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let check = |text: &str, position, message: &str| {
            let error = crate::parse(text).expect_err(text);
            assert_eq!((error.position, error.message.as_str()), (position, message), "{text}");
        };
        check("DECLARE c CURSOR FOR", 20, "expected a query, found end of statement");
        check("DECLARE c BIG CURSOR FOR SELECT 1", 10, "expected `CURSOR`, found `BIG`");
        check("FETCH 2 FROM", 12, "expected the name of a cursor, found end of statement");
        check("FETCH 1.5 FROM c", 6, "expected a number of rows, found a number");
        check("CLOSE c d", 8, "expected end of statement, found `d`");
        check("CLOSE", 5, "expected the name of a cursor, found end of statement");
    }

    #[test]
    fn closing_takes_one_or_all() {
        let all = crate::parse("CLOSE ALL").expect("it parses");
        assert_eq!(all, Statement::Cursor(CursorStatement::Close { name: None }));
        let Ok(Statement::Cursor(CursorStatement::Close { name: Some(name) })) =
            crate::parse("CLOSE \"ALL\"")
        else {
            panic!("a quoted name is a name");
        };
        assert_eq!(name.value, "ALL");
    }
}
