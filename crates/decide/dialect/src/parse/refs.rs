//! Branches and tags of a table, as Spark writes them.

use sqlparser::tokenizer::Token;

use crate::ast::{RefAction, RefKind, RefVersion, TableRef};
use crate::cursor::{Cursor, Parsed};

/// `ALTER TABLE [IF EXISTS] t {CREATE [OR REPLACE] | DROP} {BRANCH|TAG} …`; `None`, with nothing read, for anything
/// else.
pub(super) fn table_ref(cursor: &mut Cursor<'_>) -> Parsed<Option<TableRef>> {
    if !cursor.are_words_at(0, &["ALTER", "TABLE"]) {
        return Ok(None);
    }
    let mut ahead = Cursor::new(cursor.text, cursor.rest());
    ahead.skip(2);
    let if_exists = ahead.if_exists();
    let Ok(table) = ahead.name("the name of a table") else { return Ok(None) };
    let is_create = ahead.is_word_at(0, "CREATE");
    let n_lead = match ahead.are_words_at(0, &["CREATE", "OR", "REPLACE"]) {
        true => 3,
        false => 1,
    };
    // `DROP tag` alone drops a column of that name.
    let is_ours = (is_create || ahead.is_word_at(0, "DROP"))
        && ahead.is_one_of_at(n_lead, &["BRANCH", "TAG"])
        && ahead.peek(n_lead + 1).is_some()
        && !ahead.is_one_of_at(n_lead + 1, &["CASCADE", "RESTRICT"]);
    if !is_ours {
        return Ok(None);
    }
    ahead.skip(n_lead);
    let kind = if ahead.eat("BRANCH") { RefKind::Branch } else { RefKind::Tag };
    if kind == RefKind::Tag {
        ahead.skip(1);
    }
    let (if_not_exists, drop_if_exists) =
        if is_create { (ahead.if_not_exists(), false) } else { (false, ahead.if_exists()) };
    let name = ahead.ident("the name of a branch or tag")?;
    let action = match is_create {
        false => RefAction::Drop { if_exists: drop_if_exists },
        true => RefAction::Create { or_replace: n_lead == 3, if_not_exists, version: version(&mut ahead)? },
    };
    ahead.expect_end()?;
    cursor.skip_to_end();
    Ok(Some(TableRef { table, if_exists, kind, name, action }))
}

fn version(cursor: &mut Cursor<'_>) -> Parsed<Option<RefVersion>> {
    if !cursor.eat_all(&["AS", "OF", "VERSION"]) {
        return Ok(None);
    }
    if let Some(Token::Number(digits, _)) = cursor.peek(0).map(|lexeme| &lexeme.token.token) {
        let id = digits.parse().map_err(|_| cursor.expected_a("the number of a snapshot"))?;
        cursor.skip(1);
        return Ok(Some(RefVersion::Snapshot(id)));
    }
    let text = cursor.string("the number of a snapshot, or a branch or tag in quotes")?;
    Ok(Some(RefVersion::Name(text)))
}
