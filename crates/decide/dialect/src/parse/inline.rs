//! Takes the policies out of a `CREATE TABLE` or `CREATE VIEW` that carries them.

use sqlparser::tokenizer::Token;

use super::clauses::policy_call;
use super::functions::data_type;
use crate::ast::{Governance, Ident, InlinePolicies, Span, Statement};
use crate::cursor::{Cursor, Parsed};
use crate::lex::Lexeme;

/// The statement as it is read, and what is left of it for sqlparser.
struct Extraction<'a> {
    cursor: Cursor<'a>,
    is_view: bool,
    depth: usize,
    is_element_start: bool,
    column: Option<Ident>,
    kept: Vec<Lexeme>,
    found: InlinePolicies,
    first_at: Option<Span>,
}

/// `None` for a statement without policies, and for one that makes neither a table nor a view.
pub(super) fn create_with_policies(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    // `OR REPLACE`, `TEMPORARY`, `EXTERNAL`, `MATERIALIZED` and their like come before the kind.
    let Some(kind) = (1..6).find(|&n| cursor.is_one_of_at(n, &["TABLE", "VIEW"])) else { return Ok(None) };
    let is_view = cursor.is_word_at(kind, "VIEW");
    if !mentions_policies(cursor) {
        return Ok(None);
    }
    let mut ahead = Cursor::new(cursor.text, cursor.rest());
    ahead.skip(kind + 1);
    let mut extraction = Extraction {
        cursor: ahead,
        is_view,
        depth: 0,
        is_element_start: false,
        column: None,
        kept: cursor.rest().iter().take(kind + 1).cloned().collect(),
        found: InlinePolicies::default(),
        first_at: None,
    };
    while extraction.step()? {}
    let Some(span) = extraction.first_at else { return Ok(None) };
    extraction.kept.extend(extraction.cursor.rest().iter().cloned());
    let Statement::Sql(statement) = super::sql(cursor.text, &extraction.kept)? else { return Ok(None) };
    cursor.skip_to_end();
    Ok(Some(Governance::InlinePolicies { span, statement, policies: extraction.found }))
}

fn mentions_policies(cursor: &Cursor<'_>) -> bool {
    cursor.rest().windows(2).any(|pair| match pair {
        [kind, policy] => policy.is_word("POLICY") && (kind.is_word("MASKING") || kind.is_word("ACCESS")),
        _ => false,
    })
}

impl Extraction<'_> {
    /// Reads on; `false` at the query or the end.
    fn step(&mut self) -> Parsed<bool> {
        let Some(lexeme) = self.cursor.peek(0) else { return Ok(false) };
        if self.depth == 0 && lexeme.is_word("AS") {
            return Ok(false);
        }
        let here = Span { start: lexeme.start, end: lexeme.end };
        let is_row_place = self.depth == 0 || (self.depth == 1 && self.is_element_start);
        if is_row_place && self.is_policy(&["ROW", "ACCESS", "POLICY"]) {
            self.first_at.get_or_insert(here);
            self.row_access()?;
            return Ok(true);
        }
        // At the start of an element, `masking` is a column.
        if self.depth == 1 && !self.is_element_start && self.is_policy(&["MASKING", "POLICY"]) {
            self.first_at.get_or_insert(here);
            self.masking()?;
            return Ok(true);
        }
        if self.is_view && self.depth == 1 && !self.is_element_start && self.is_column_type() {
            let (data_type, is_not_null) = data_type(&mut self.cursor)?;
            if let (false, Some(column)) = (is_not_null, self.column.clone()) {
                self.found.view_column_types.push((column, data_type));
                return Ok(true);
            }
            return Err(self.cursor.expected(&[",", ")"]));
        }
        self.keep(lexeme)?;
        Ok(true)
    }

    fn keep(&mut self, lexeme: &Lexeme) -> Parsed<()> {
        if self.depth == 1 && self.is_element_start && lexeme.is_any_word() {
            self.column = Cursor::new(self.cursor.text, self.cursor.rest()).ident("a column name").ok();
        }
        self.is_element_start = self.depth <= 1 && matches!(lexeme.token.token, Token::LParen | Token::Comma);
        match lexeme.token.token {
            Token::LParen => self.depth += 1,
            Token::RParen => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.kept.push(lexeme.clone());
        self.cursor.skip(1);
        Ok(())
    }

    /// The words of a policy, and the name of its function after them.
    fn is_policy(&self, words: &[&str]) -> bool {
        self.cursor.are_words_at(0, words) && self.cursor.is_name_at(words.len())
    }

    /// What stands right behind the name of a view's column and is not an option of it.
    fn is_column_type(&self) -> bool {
        let is_behind_name = self
            .kept
            .last()
            .is_some_and(|last| self.column.as_ref().is_some_and(|column| column.span.start == last.start));
        is_behind_name && self.cursor.is_name_at(0) && !self.cursor.is_one_of_at(0, &["COMMENT", "OPTIONS"])
    }

    fn masking(&mut self) -> Parsed<()> {
        self.cursor.skip(2);
        let call = policy_call(&mut self.cursor)?;
        let Some(column) = self.column.clone() else { return Err(self.cursor.expected_a("a column name")) };
        if let Some((twice, _)) = self.found.masks.iter().find(|(other, _)| other.value == column.value) {
            let message = format!("column `{}` has two masking policies", twice.value);
            return Err(crate::error::SyntaxError::new(message, call.span.start));
        }
        self.found.masks.push((column, call));
        Ok(())
    }

    /// An element of the column list goes with one of the commas beside it.
    fn row_access(&mut self) -> Parsed<()> {
        self.cursor.skip(3);
        self.found.row_access.push(policy_call(&mut self.cursor)?);
        if self.depth == 0 {
            return Ok(());
        }
        if self.cursor.eat_token(&Token::Comma) {
            return Ok(());
        }
        if !self.cursor.is_token_at(0, &Token::RParen) {
            return Err(self.cursor.expected(&[",", ")"]));
        }
        let before = self.kept.pop_if(|last| matches!(last.token.token, Token::Comma | Token::LParen));
        if before.is_some_and(|token| token.token.token == Token::LParen) {
            self.cursor.skip(1);
            self.depth = 0;
        }
        self.is_element_start = false;
        Ok(())
    }
}
