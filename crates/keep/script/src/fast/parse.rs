//! Reads tokens as a program.

use super::Leave;
use super::lex::{Token, tokens};
use crate::calls::METHODS;

/// A script that can be run here.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) statements: Vec<Statement>,
    pub(super) n_locals: usize,
}

#[derive(Debug)]
pub(super) enum Statement {
    Declare(usize, Option<Expr>),
    Evaluate(Expr),
    If(Expr, Vec<Statement>, Vec<Statement>),
}

#[derive(Debug)]
pub(super) enum Expr {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Box<str>),
    List(Vec<Expr>),
    Local(usize),
    Data(Data),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Both(Box<Expr>, Box<Expr>),
    Either(Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Member(Box<Expr>, Box<str>),
    Index(Box<Expr>, Box<Expr>),
    /// A method of `ctx`.
    Ask(&'static str, Vec<Expr>),
    /// A method of a value.
    Call(Box<Expr>, Box<str>, Vec<Expr>),
    Assign(usize, Box<Expr>),
    SetResult(Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Same,
    NotSame,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
}

/// A global name with something of the request in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    TagAttributes,
    Request,
    User,
    GroupNames,
    Groups,
    RoleNames,
    Tag,
    Tags,
    TagNames,
}

impl Data {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "tagAttr" => Self::TagAttributes,
            "REQ" => Self::Request,
            "USER" => Self::User,
            "UGNAMES" => Self::GroupNames,
            "UG" => Self::Groups,
            "URNAMES" => Self::RoleNames,
            "TAG" => Self::Tag,
            "TAGS" => Self::Tags,
            "TAGNAMES" => Self::TagNames,
            _ => return None,
        })
    }

    /// Whether it is there only if the request is spread out as plain data.
    fn is_plain(self) -> bool {
        self != Self::TagAttributes
    }
}

/// Parts of a program; what has more, and so could be deeper than a stack, is the engine's.
const NODES_MAX: usize = 256;

/// Names that cannot be variables here: words of the language, and globals that mean something to a script.
const RESERVED: [&str; 60] = [
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "arguments",
    "undefined",
    "NaN",
    "Infinity",
    "globalThis",
    "ctx",
    "tag",
    "tagAttr",
    "_ctx",
    "RES",
    "UGA",
    "J",
    "async",
];

/// `has_data`: whether the names of the plain data may be used.
pub(crate) fn parse(script: &str, has_data: bool) -> Result<Program, Leave> {
    let mut parser =
        Parser { tokens: tokens(script)?, at: 0, locals: Vec::new(), n_nodes: 0, has_data, depth: 0 };
    let mut statements = Vec::new();
    while parser.peek().is_some() {
        parser.statement(&mut statements)?;
    }
    Ok(Program { statements, n_locals: parser.locals.len() })
}

struct Parser<'s> {
    tokens: Vec<Token<'s>>,
    at: usize,
    locals: Vec<&'s str>,
    n_nodes: usize,
    has_data: bool,
    depth: usize,
}

impl<'s> Parser<'s> {
    fn peek(&self) -> Option<&Token<'s>> {
        self.tokens.get(self.at)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn wants(&mut self, sign: &str) -> Result<(), Leave> {
        if self.takes(sign) { Ok(()) } else { Err(Leave) }
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Name(found)) if *found == word);
        self.at += usize::from(is_next);
        is_next
    }

    fn name(&mut self) -> Result<&'s str, Leave> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = *name;
                self.at += 1;
                Ok(name)
            }
            _ => Err(Leave),
        }
    }

    fn node(&mut self, expr: Expr) -> Result<Expr, Leave> {
        self.n_nodes += 1;
        if self.n_nodes > NODES_MAX { Err(Leave) } else { Ok(expr) }
    }

    fn statement(&mut self, into: &mut Vec<Statement>) -> Result<(), Leave> {
        self.depth += 1;
        if self.depth > NODES_MAX / 8 {
            return Err(Leave);
        }
        if self.takes("{") {
            while !self.takes("}") {
                self.statement(into)?;
            }
        } else if self.takes(";") {
        } else if self.takes_word("var") {
            self.declarations(into)?;
        } else if self.takes_word("if") {
            self.wants("(")?;
            let condition = self.expr()?;
            self.wants(")")?;
            let (mut then, mut otherwise) = (Vec::new(), Vec::new());
            self.statement(&mut then)?;
            if self.takes_word("else") {
                self.statement(&mut otherwise)?;
            }
            into.push(Statement::If(condition, then, otherwise));
        } else {
            let expr = self.expr()?;
            self.end()?;
            into.push(Statement::Evaluate(expr));
        }
        self.depth -= 1;
        Ok(())
    }

    /// A statement ends at a semicolon, at the end of its block or at the end; a mere new line is left to the engine.
    fn end(&mut self) -> Result<(), Leave> {
        match self.peek() {
            None | Some(Token::Sign("}")) => Ok(()),
            _ => self.wants(";"),
        }
    }

    fn declarations(&mut self, into: &mut Vec<Statement>) -> Result<(), Leave> {
        loop {
            let name = self.name()?;
            if RESERVED.contains(&name) || Data::of(name).is_some() {
                return Err(Leave);
            }
            let value = if self.takes("=") { Some(self.expr()?) } else { None };
            let local = match self.locals.iter().position(|known| *known == name) {
                Some(local) => local,
                None => {
                    self.locals.push(name);
                    self.locals.len() - 1
                }
            };
            into.push(Statement::Declare(local, value));
            if !self.takes(",") {
                return self.end();
            }
        }
    }

    fn expr(&mut self) -> Result<Expr, Leave> {
        self.depth += 1;
        if self.depth > NODES_MAX / 8 {
            return Err(Leave);
        }
        let left = self.choice()?;
        let expr = match (left, self.takes("=")) {
            (left, false) => left,
            (Expr::Local(local), true) => Expr::Assign(local, Box::new(self.expr()?)),
            (Expr::SetResult(_), true) => Expr::SetResult(Box::new(self.expr()?)),
            (_, true) => return Err(Leave),
        };
        self.depth -= 1;
        // What `ctx.result` is can only be set here.
        if let Expr::SetResult(value) = &expr
            && matches!(**value, Expr::Undefined)
        {
            return Err(Leave);
        }
        self.node(expr)
    }

    fn choice(&mut self) -> Result<Expr, Leave> {
        let condition = self.binary(0)?;
        if !self.takes("?") {
            return Ok(condition);
        }
        let then = self.expr()?;
        self.wants(":")?;
        let otherwise = self.expr()?;
        self.node(Expr::Choose(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn binary(&mut self, level: usize) -> Result<Expr, Leave> {
        /// From the weakest to the strongest.
        const LEVELS: [&[&str]; 6] =
            [&["||"], &["&&"], &["===", "!==", "==", "!="], &["<=", ">=", "<", ">"], &["+", "-"], &["*"]];
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.takes(sign)) {
            let right = Box::new(self.binary(level + 1)?);
            let boxed = Box::new(left);
            let operator = match *sign {
                "||" => {
                    left = self.node(Expr::Either(boxed, right))?;
                    continue;
                }
                "&&" => {
                    left = self.node(Expr::Both(boxed, right))?;
                    continue;
                }
                "===" => Operator::Same,
                "!==" => Operator::NotSame,
                "==" => Operator::Equal,
                "!=" => Operator::NotEqual,
                "<" => Operator::Less,
                "<=" => Operator::LessOrEqual,
                ">" => Operator::Greater,
                ">=" => Operator::GreaterOrEqual,
                "+" => Operator::Add,
                "-" => Operator::Subtract,
                _ => Operator::Multiply,
            };
            left = self.node(Expr::Binary(operator, boxed, right))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Leave> {
        self.depth += 1;
        if self.depth > NODES_MAX / 8 {
            return Err(Leave);
        }
        let expr = if self.takes("!") {
            Expr::Not(Box::new(self.unary()?))
        } else if self.takes("-") {
            Expr::Negate(Box::new(self.unary()?))
        } else {
            self.postfix()?
        };
        self.depth -= 1;
        self.node(expr)
    }

    fn postfix(&mut self) -> Result<Expr, Leave> {
        let mut expr = self.primary()?;
        loop {
            if self.takes(".") {
                let name = self.name()?;
                expr = if self.takes("(") {
                    Expr::Call(Box::new(expr), name.into(), self.list(")")?)
                } else {
                    Expr::Member(Box::new(expr), name.into())
                };
            } else if self.takes("[") {
                let index = self.expr()?;
                self.wants("]")?;
                expr = Expr::Index(Box::new(expr), Box::new(index));
            } else {
                return Ok(expr);
            }
            expr = self.node(expr)?;
        }
    }

    fn list(&mut self, close: &str) -> Result<Vec<Expr>, Leave> {
        let mut items = Vec::new();
        if self.takes(close) {
            return Ok(items);
        }
        loop {
            items.push(self.expr()?);
            if !self.takes(",") {
                self.wants(close)?;
                return Ok(items);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, Leave> {
        let token = self.peek().cloned().ok_or(Leave)?;
        self.at += 1;
        let name = match token {
            Token::Number(number) => return Ok(Expr::Number(number)),
            Token::Text(text) => return Ok(Expr::Text(text.into_boxed_str())),
            Token::Sign("(") => {
                let expr = self.expr()?;
                self.wants(")")?;
                // `(a) = 1` is an assignment too, but not one that anybody writes.
                return match expr {
                    Expr::Local(_) | Expr::SetResult(_) if self.takes("=") => Err(Leave),
                    expr => Ok(expr),
                };
            }
            Token::Sign("[") => return Ok(Expr::List(self.list("]")?)),
            Token::Sign(_) => return Err(Leave),
            Token::Name(name) => name,
        };
        match name {
            "true" => Ok(Expr::Bool(true)),
            "false" => Ok(Expr::Bool(false)),
            "null" => Ok(Expr::Null),
            "undefined" => Ok(Expr::Undefined),
            "ctx" => self.of_ctx(),
            name => {
                if let Some(local) = self.locals.iter().position(|known| *known == name) {
                    return Ok(Expr::Local(local));
                }
                Data::of(name).filter(|data| self.has_data || !data.is_plain()).map(Expr::Data).ok_or(Leave)
            }
        }
    }

    /// `ctx.result`, which can only be assigned, or a call.
    fn of_ctx(&mut self) -> Result<Expr, Leave> {
        self.wants(".")?;
        let name = self.name()?;
        if name == "result" {
            let is_assigned = matches!(self.peek(), Some(Token::Sign("=")));
            return if is_assigned { Ok(Expr::SetResult(Box::new(Expr::Undefined))) } else { Err(Leave) };
        }
        let method = METHODS.iter().find(|method| **method == name).ok_or(Leave)?;
        self.wants("(")?;
        Ok(Expr::Ask(method, self.list(")")?))
    }
}
