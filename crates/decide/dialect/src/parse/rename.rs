//! Another name for a table or view.

use crate::ast::Rename;
use crate::cursor::{Cursor, Parsed};

/// `ALTER {TABLE|VIEW} [IF EXISTS] a RENAME TO b`; `None`, with nothing read, for anything else.
pub(super) fn relation(cursor: &mut Cursor<'_>) -> Parsed<Option<Rename>> {
    let is_view = cursor.are_words_at(0, &["ALTER", "VIEW"]);
    if !is_view && !cursor.are_words_at(0, &["ALTER", "TABLE"]) {
        return Ok(None);
    }
    let mut ahead = Cursor::new(cursor.text, cursor.rest());
    ahead.skip(2);
    let if_exists = ahead.if_exists();
    let Ok(from) = ahead.name("the name of a table or view") else { return Ok(None) };
    if !ahead.eat_all(&["RENAME", "TO"]) {
        return Ok(None);
    }
    let to = ahead.name("the new name")?;
    ahead.expect_end()?;
    cursor.skip_to_end();
    Ok(Some(Rename { is_view, if_exists, from, to }))
}
