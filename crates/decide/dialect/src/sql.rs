//! The dialect of sqlparser in which all SQL is read, and the parser for it.

use std::any::TypeId;

use sqlparser::ast::{Expr, Function, FunctionArguments, ObjectName};
use sqlparser::dialect::{Dialect, GenericDialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::SyntaxError;
use crate::limits::{DEEP_STACK_BYTES, NESTING_INLINE_MAX, RECURSION_DEPTH_MAX};

/// DataFusion's generic dialect with PostgreSQL's words, precedence and string forms.
///
/// `GenericDialect` is what DataFusion plans from, so the type answers to its name and keeps its grammar.
/// It is not used as it is for three reasons:
/// - `/*! … */` would be run as SQL, and a comment must stay a comment;
/// - `#`, `@` and non-ASCII letters follow PostgreSQL in names, and `->` binds tighter than `=`, as its clients expect;
/// - syntax that DataFusion would read and then ignore or refuse (`PREWHERE`, `SETTINGS`, `FORMAT`, `CONNECT BY`,
///   `INSTALL`, …) is an error here instead.
#[derive(Clone, Copy, Debug, Default)]
pub struct SluiceDialect;

/// Lists the switches that are on.
macro_rules! on {
    ($($switch:ident),* $(,)?) => {
        $(fn $switch(&self) -> bool { true })*
    };
}

impl Dialect for SluiceDialect {
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '"' || ch == '`'
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('"')
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        PostgreSqlDialect {}.is_identifier_start(ch) && !is_odd_space(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        PostgreSqlDialect {}.is_identifier_part(ch) && !is_odd_space(ch)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        PostgreSqlDialect {}.is_reserved_for_identifier(keyword)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        PostgreSqlDialect {}.prec_value(precedence)
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        PostgreSqlDialect {}.get_next_precedence(parser)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        session_function(parser)
    }

    on! {
        allow_extract_custom,
        allow_extract_single_quotes,
        support_map_literal_syntax,
        supports_alter_column_type_using,
        supports_array_typedef_with_brackets,
        supports_asc_desc_in_column_definition,
        supports_bitwise_shift_operators,
        supports_comma_separated_trim,
        supports_comment_on,
        supports_create_index_with_clause,
        supports_create_table_like_parenthesized,
        supports_create_view_comment_syntax,
        supports_dictionary_syntax,
        supports_empty_projections,
        supports_explain_with_utility_options,
        supports_extract_comma_syntax,
        supports_filter_during_aggregation,
        supports_from_first_select,
        supports_group_by_expr,
        supports_group_by_with_modifier,
        supports_insert_table_alias,
        supports_interval_options,
        supports_left_associative_joins_without_parens,
        supports_limit_comma,
        supports_listen_notify,
        supports_named_fn_args_with_assignment_operator,
        supports_nested_comments,
        supports_notnull_operator,
        supports_numeric_literal_underscores,
        supports_parens_around_table_factor,
        supports_partition_by_after_order_by,
        supports_pipe_operator,
        supports_projection_trailing_commas,
        supports_select_wildcard_except,
        supports_select_wildcard_exclude,
        supports_select_wildcard_replace,
        supports_set_names,
        supports_start_transaction_modifier,
        supports_string_escape_constant,
        supports_struct_literal,
        supports_table_versioning,
        supports_unicode_string_literal,
        supports_update_order_by,
        supports_values_as_table_factor,
        supports_window_clause_named_window_reference,
        supports_window_function_null_treatment_arg,
    }
}

/// Lets `read` have a parser of `tokens`, with a stack that its recursion cannot exhaust.
///
/// sqlparser counts how deep it is, but not how much stack that takes, which differs tenfold between its functions.
pub(crate) fn with_parser<T: Send>(
    tokens: Vec<TokenWithSpan>,
    read: impl FnOnce(&mut Parser<'static>) -> T + Send,
) -> Result<T, SyntaxError> {
    let is_deep = nesting(&tokens) > NESTING_INLINE_MAX;
    let run = move || {
        let mut parser = Parser::new(&SluiceDialect)
            .with_recursion_limit(RECURSION_DEPTH_MAX)
            .with_tokens_with_locations(tokens);
        read(&mut parser)
    };
    if !is_deep {
        return Ok(run());
    }
    let finished = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("deep-parse".to_owned()).stack_size(DEEP_STACK_BYTES);
        builder.spawn_scoped(scope, run).ok().and_then(|thread| thread.join().ok())
    });
    finished.ok_or_else(|| SyntaxError::limit("no stack for a statement that nests this deep", 0))
}

/// How deep the tokens can make the parser go: brackets, and words that a statement or expression follows.
fn nesting(tokens: &[TokenWithSpan]) -> usize {
    let (mut depth, mut deepest, mut n_prefixes) = (0_usize, 0_usize, 0_usize);
    for token in tokens {
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace | Token::Lt => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            Token::RParen | Token::RBracket | Token::RBrace | Token::Gt => depth = depth.saturating_sub(1),
            Token::Word(word) => match word.keyword {
                Keyword::EXPLAIN
                | Keyword::DESC
                | Keyword::DESCRIBE
                | Keyword::PREPARE
                | Keyword::BEGIN
                | Keyword::IF
                | Keyword::WHILE
                | Keyword::CASE
                | Keyword::INTERVAL
                | Keyword::NOT => n_prefixes += 1,
                _ => {}
            },
            Token::Minus | Token::Plus | Token::Tilde | Token::ExclamationMark => n_prefixes += 1,
            _ => {}
        }
    }
    deepest + n_prefixes / 2
}

/// Session functions that PostgreSQL or Dremio call without parentheses.
const SESSION_FUNCTIONS: &[&str] = &[
    "CURRENT_CATALOG",
    "CURRENT_ROLE",
    "CURRENT_SCHEMA",
    "CURRENT_USER",
    "QUERY_USER",
    "SESSION_USER",
    "USER",
];

/// `current_user` and `current_user()` are one call; sqlparser knows only the first.
fn session_function(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let Token::Word(word) = &parser.peek_token_ref().token else { return None };
    let is_known = word.quote_style.is_none()
        && SESSION_FUNCTIONS.iter().any(|name| word.value.eq_ignore_ascii_case(name));
    if !is_known {
        return None;
    }
    match parser.peek_nth_token_ref(1).token {
        // A table or schema of that name: `user.id`, `user.f(1)`.
        Token::Period => return Some(qualified(parser)),
        Token::LParen => {
            let name = ObjectName::from(vec![parser.parse_identifier().ok()?]);
            return Some(parser.parse_function(name));
        }
        _ => {}
    }
    let name = ObjectName::from(vec![parser.parse_identifier().ok()?]);
    Some(Ok(Expr::Function(Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::None,
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })))
}

fn qualified(parser: &mut Parser) -> Result<Expr, ParserError> {
    let mut parts = vec![parser.parse_identifier()?];
    while parser.peek_token_ref().token == Token::Period
        && matches!(parser.peek_nth_token_ref(1).token, Token::Word(_))
    {
        parser.next_token();
        parts.push(parser.parse_identifier()?);
    }
    match parser.peek_token_ref().token {
        Token::LParen => parser.parse_function(ObjectName::from(parts)),
        _ => Ok(Expr::CompoundIdentifier(parts)),
    }
}

/// A no-break space and the like: PostgreSQL takes them for letters, and readers for spaces.
fn is_odd_space(ch: char) -> bool {
    !ch.is_ascii() && (ch.is_whitespace() || ch == '\u{feff}' || ch == '\u{200b}')
}
