//! Runs a program against a request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use policy::MatchingScope;
use policy::condition::ConditionContext;

use super::Leave;
use super::parse::{Data, Expr, Program, Statement};
use super::value::{Value, binary};
use crate::calls::{Answer, Arg, call};
use crate::data::{NAME, match_type_name, tags_by_kind};
use crate::engine::Outcome;

/// Names that every object has, whatever it holds.
const OF_EVERY_OBJECT: [&str; 12] = [
    "constructor",
    "toString",
    "toLocaleString",
    "valueOf",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

/// Names that maps of attributes have besides.
const OF_EVERY_MAP: [&str; 6] = ["get", "containsKey", "size", "isEmpty", "keySet", "values"];

static NO_ATTRIBUTES: BTreeMap<String, String> = BTreeMap::new();

pub(crate) fn run(program: &Program, context: &ConditionContext<'_>) -> Result<Outcome, Leave> {
    let mut run = Run { context, locals: vec![Value::Undefined; program.n_locals], result: false };
    let mut last = Value::Undefined;
    run.statements(&program.statements, &mut last)?;
    Ok(match last {
        Value::Bool(value) => Outcome::Bool(value),
        Value::Undefined | Value::Null => Outcome::Other { result: run.result, text: None },
        other => Outcome::Other { result: run.result, text: Some(other.text()?.into_owned()) },
    })
}

struct Run<'p, 'a> {
    context: &'p ConditionContext<'a>,
    locals: Vec<Value<'p>>,
    result: bool,
}

impl<'p, 'a: 'p> Run<'p, 'a> {
    fn statements(&mut self, statements: &'p [Statement], last: &mut Value<'p>) -> Result<(), Leave> {
        for statement in statements {
            match statement {
                Statement::Declare(_, None) => {}
                Statement::Declare(local, Some(value)) => {
                    let value = self.expr(value)?;
                    *self.locals.get_mut(*local).ok_or(Leave)? = value;
                }
                Statement::Evaluate(expr) => *last = self.expr(expr)?,
                Statement::If(condition, then, otherwise) => {
                    let branch = if self.expr(condition)?.is_true() { then } else { otherwise };
                    *last = Value::Undefined;
                    self.statements(branch, last)?;
                }
            }
        }
        Ok(())
    }

    fn expr(&mut self, expr: &'p Expr) -> Result<Value<'p>, Leave> {
        Ok(match expr {
            Expr::Undefined => Value::Undefined,
            Expr::Null => Value::Null,
            Expr::Bool(value) => Value::Bool(*value),
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::Text(Cow::Borrowed(text)),
            Expr::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.expr(item)?);
                }
                Value::List(values)
            }
            Expr::Local(local) => self.locals.get(*local).ok_or(Leave)?.clone(),
            Expr::Data(data) => self.data(*data),
            Expr::Not(expr) => Value::Bool(!self.expr(expr)?.is_true()),
            Expr::Negate(expr) => Value::Number(-self.expr(expr)?.number()?),
            Expr::Both(a, b) => match self.expr(a)? {
                a if a.is_true() => self.expr(b)?,
                a => a,
            },
            Expr::Either(a, b) => match self.expr(a)? {
                a if a.is_true() => a,
                _ => self.expr(b)?,
            },
            Expr::Choose(condition, then, otherwise) => {
                let is_true = self.expr(condition)?.is_true();
                self.expr(if is_true { then } else { otherwise })?
            }
            Expr::Binary(operator, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                binary(*operator, &a, &b)?
            }
            Expr::Member(of, name) => {
                let of = self.expr(of)?;
                self.member(&of, name)?
            }
            Expr::Index(of, index) => {
                let (of, index) = (self.expr(of)?, self.expr(index)?);
                match (&of, &index) {
                    (Value::List(items), Value::Number(at)) => item(items, *at)?,
                    (_, Value::Text(name)) => self.member(&of, name)?,
                    _ => return Err(Leave),
                }
            }
            Expr::Ask(method, args) => self.ask(method, args)?,
            Expr::Call(of, method, args) => {
                let of = self.expr(of)?;
                let [arg] = args.as_slice() else { return Err(Leave) };
                let arg = self.expr(arg)?;
                called(&of, method, &arg)?
            }
            Expr::Assign(local, value) => {
                let value = self.expr(value)?;
                *self.locals.get_mut(*local).ok_or(Leave)? = value.clone();
                value
            }
            Expr::SetResult(value) => {
                let value = self.expr(value)?;
                self.result = value.is_true();
                value
            }
        })
    }

    fn ask(&mut self, method: &'static str, args: &'p [Expr]) -> Result<Value<'p>, Leave> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.expr(arg)?);
        }
        let mut given: Vec<Arg<'_>> = Vec::with_capacity(values.len());
        for value in &values {
            given.push(match value {
                Value::Bool(_) | Value::Number(_) | Value::Text(_) => Some(value.text()?),
                _ => None,
            });
        }
        Ok(match call(self.context, method, &given).ok_or(Leave)? {
            Answer::Null => Value::Null,
            Answer::Bool(value) => Value::Bool(value),
            Answer::Text(text) => Value::Text(text),
            Answer::List(items) => Value::List(items.into_iter().map(Value::Text).collect()),
            Answer::Map(attributes) => Value::Map(attributes),
            Answer::Maps(_) | Answer::Tag(_) | Answer::Date(_) => return Err(Leave),
        })
    }

    fn data(&self, data: Data) -> Value<'p> {
        let context = self.context;
        match data {
            Data::TagAttributes => {
                Value::Map(context.current_tag.as_ref().map_or(&NO_ATTRIBUTES, |tag| tag.attributes))
            }
            Data::GroupNames => Value::texts(context.who.groups.iter().map(String::as_str)),
            Data::RoleNames => Value::texts(context.who.roles.iter().map(String::as_str)),
            Data::TagNames => Value::texts(tags_by_kind(context).into_keys()),
            Data::Request | Data::User | Data::Groups | Data::Tag | Data::Tags => Value::Data(data),
        }
    }

    fn member(&self, of: &Value<'p>, name: &str) -> Result<Value<'p>, Leave> {
        if OF_EVERY_OBJECT.contains(&name) {
            return Err(Leave);
        }
        let context = self.context;
        let text =
            |text: Option<&'p str>| text.map_or(Value::Undefined, |text| Value::Text(Cow::Borrowed(text)));
        let attribute =
            |attributes: &'p BTreeMap<String, String>| text(attributes.get(name).map(String::as_str));
        Ok(match of {
            Value::Text(of) if name == "length" && of.is_ascii() => length(of.len())?,
            Value::List(items) if name == "length" => length(items.len())?,
            Value::Map(attributes) if !OF_EVERY_MAP.contains(&name) => attribute(attributes),
            Value::Data(Data::User) if name == NAME => text(context.user()),
            Value::Data(Data::User) => attribute(context.user_attributes()),
            Value::Data(Data::Tag) => match context.current_tag.as_ref().filter(|_| !context.tags.is_empty())
            {
                None => Value::Undefined,
                Some(tag) if name == "_type" => text(Some(tag.kind)),
                Some(tag) if name == "_matchType" => text(Some(match_type_name(tag.found))),
                Some(tag) => attribute(tag.attributes),
            },
            Value::Data(Data::Tags) => match context.has_tag(name) {
                true => Value::Named(Data::Tags, Cow::Owned(name.to_owned())),
                false => Value::Undefined,
            },
            Value::Data(Data::Groups) => match context.who.groups.contains(name) {
                true => Value::Named(Data::Groups, Cow::Owned(name.to_owned())),
                false => Value::Undefined,
            },
            Value::Named(Data::Groups, group) if name == NAME => Value::Text(group.clone()),
            Value::Named(Data::Groups, group) => attribute(context.group_attributes(group)),
            Value::Named(Data::Tags, kind) => {
                let tag = context.tags.iter().rev().find(|tag| tag.kind == kind.as_ref()).ok_or(Leave)?;
                match name {
                    "_type" => text(Some(tag.kind)),
                    "_matchType" => text(Some(match_type_name(tag.found))),
                    _ => attribute(tag.attributes),
                }
            }
            Value::Data(Data::Request) => self.of_request(name)?,
            _ => return Err(Leave),
        })
    }

    fn of_request(&self, name: &str) -> Result<Value<'p>, Leave> {
        let context = self.context;
        let request = context.request;
        let text = match name {
            "accessType" => Some(context.access),
            "action" => request.action.as_deref(),
            "clientType" => request.client_type.as_deref(),
            "clusterName" => context.cluster_name,
            "clusterType" => context.cluster_type,
            "remoteIPAddress" => request.remote_addr.as_deref(),
            "requestData" => request.request_data.as_deref(),
            "user" => context.user(),
            "resourceMatchingScope" if request.scope == MatchingScope::Itself => Some("SELF"),
            "userAttributes" => return Ok(Value::Data(Data::User)),
            "userGroups" => return Ok(self.data(Data::GroupNames)),
            "userRoles" => return Ok(self.data(Data::RoleNames)),
            _ => return Err(Leave),
        };
        Ok(text.map_or(Value::Undefined, |text| Value::Text(Cow::Borrowed(text))))
    }
}

fn length<'v>(length: usize) -> Result<Value<'v>, Leave> {
    u32::try_from(length).map(|length| Value::Number(f64::from(length))).map_err(|_| Leave)
}

fn item<'v>(items: &[Value<'v>], at: f64) -> Result<Value<'v>, Leave> {
    for (index, item) in items.iter().enumerate() {
        if let Value::Number(index) = length(index)?
            && index.total_cmp(&at).is_eq()
        {
            return Ok(item.clone());
        }
    }
    if at.fract() == 0.0 && at.is_sign_positive() { Ok(Value::Undefined) } else { Err(Leave) }
}

fn called<'v>(of: &Value<'v>, method: &str, arg: &Value<'v>) -> Result<Value<'v>, Leave> {
    Ok(match (of, method, arg) {
        (Value::Map(attributes), "get", Value::Text(name)) => {
            attributes.get(name.as_ref()).map_or(Value::Null, |value| Value::Text(Cow::Borrowed(value)))
        }
        (Value::Map(attributes), "containsKey", Value::Text(name)) => {
            Value::Bool(attributes.contains_key(name.as_ref()))
        }
        (Value::Text(of), "includes", Value::Text(part)) => Value::Bool(of.contains(part.as_ref())),
        (Value::Text(of), "startsWith", Value::Text(part)) => Value::Bool(of.starts_with(part.as_ref())),
        (Value::Text(of), "endsWith", Value::Text(part)) => Value::Bool(of.ends_with(part.as_ref())),
        (Value::Text(of), "indexOf", Value::Text(part)) if of.is_ascii() => match of.find(part.as_ref()) {
            Some(at) => length(at)?,
            None => Value::Number(-1.0),
        },
        (Value::Text(of), "split", Value::Text(by)) if !by.is_empty() => {
            let part = |part: &str| Value::Text(Cow::Owned(part.to_owned()));
            Value::List(of.split(by.as_ref()).map(part).collect())
        }
        (Value::List(items), "includes", wanted) => Value::Bool(position(items, wanted)?.is_some()),
        (Value::List(items), "indexOf", wanted) => match position(items, wanted)? {
            Some(at) => length(at)?,
            None => Value::Number(-1.0),
        },
        (Value::List(items), "intersects", Value::List(others)) => {
            let mut is_shared = false;
            for item in items {
                is_shared = is_shared || position(others, item)?.is_some();
            }
            Value::Bool(is_shared)
        }
        _ => return Err(Leave),
    })
}

fn position(items: &[Value<'_>], wanted: &Value<'_>) -> Result<Option<usize>, Leave> {
    // A number that is none is found by one method and not by the other.
    if matches!(wanted, Value::Number(number) if number.is_nan()) {
        return Err(Leave);
    }
    for (at, item) in items.iter().enumerate() {
        if item.is_same(wanted)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
