//! Asks for JSON records, which are filtered by a script and masked field by field.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime};
use policy::condition::{ConditionContext, ConditionSettings};
use policy::model::{MaskInfo, PolicyKind};
use policy::script::PlainData;
use policy::{MatchingScope, Membership, NO_CONTEXT, Request, Resource};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Setup, expect};
use crate::corpus::{Corpus, DataFile};
use crate::engines::{Engine, engines, judge, scripts};
use crate::question::{Question, Values};
use crate::report::Case;
use crate::scene::{Beside, Scene, flag, objects, text, texts};

pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let mut policies = file.json.get("policies").cloned().context("no policies")?;
    if let (Some(name), Some(policies)) =
        (file.json.get("serviceDefFilename").and_then(Value::as_str), policies.as_object_mut())
    {
        policies.insert("serviceDef".to_owned(), corpus.class_path_json(name, file)?);
    }
    let beside = Beside { roles: file.json.get("roles").cloned(), ..Beside::default() };
    let scene = Scene::of_download(corpus, file, policies, &beside, setup.settings.clone())?;
    let engines = engines(setup.engine, &scene.downloaded.state, &scene.settings)?;
    let case = |(idx, test): (usize, &Value)| {
        let member = |name: &str| test.get(name).and_then(text).unwrap_or_default();
        let asked = Asked {
            service: &scene.downloaded.service,
            user: member("user"),
            groups: texts(test.get("userGroups")).into_iter().collect(),
            access: member("accessType"),
            schema: member("schema"),
            record: member("json"),
            setup,
        };
        let outcome = judge(&engines, |engine| differences(engine, &asked, test.get("result")));
        Case { number: idx + 1, name: member("name"), outcome }
    };
    Ok(objects(file.json.get("tests")).enumerate().map(case).collect())
}

struct Asked<'a> {
    service: &'a str,
    user: String,
    groups: BTreeSet<String>,
    access: String,
    schema: String,
    record: String,
    setup: &'a Setup,
}

fn differences(engine: &Engine, asked: &Asked<'_>, expected: Option<&Value>) -> Vec<String> {
    let member = |name: &str| expected.and_then(|expected| expected.get(name));
    let (found, n_errors) = match asked.authorized(engine) {
        Ok(found) => (found, 0),
        Err(_) => (None, 1),
    };
    let wanted = member("json").and_then(Value::as_str).and_then(|json| serde_json::from_str(json).ok());
    let mut lines = Vec::new();
    expect("hasAccess", &flag(member("hasAccess")).unwrap_or(false), &found.is_some(), &mut lines);
    expect("json", &wanted, &found, &mut lines);
    let n_wanted = member("errors").and_then(Value::as_array).map_or(0, Vec::len);
    expect("number of errors", &n_wanted, &n_errors, &mut lines);
    lines
}

impl Asked<'_> {
    /// The record as the user may see it, if she may; every field of it must be hers to read.
    fn authorized(&self, engine: &Engine) -> Result<Option<Value>> {
        let mut of_schema = self.question(None);
        let filtered = engine.evaluate(PolicyKind::RowFilter, &of_schema);
        of_schema.context.scope = MatchingScope::ItselfOrBelow;
        let access = engine.evaluate(PolicyKind::Access, &of_schema);
        if !(access.is_determined && access.is_allowed) {
            return Ok(None);
        }
        if let Some(filter) = filtered.filter.filter(|filter| !filter.is_empty())
            && !self.passes(&filter)?
        {
            return Ok(None);
        }
        let mut record: Value = serde_json::from_str(&self.record).context("the record is no JSON")?;
        let mut leaves = Vec::new();
        collect_leaves(&record, "", "", &mut leaves);
        let mut masks = Vec::new();
        for (pointer, field) in leaves {
            let question = self.question(Some(field.replace(".*.", ".")));
            let access = engine.evaluate(PolicyKind::Access, &question);
            if !(access.is_determined && access.is_allowed) {
                return Ok(None);
            }
            let mask = engine.evaluate(PolicyKind::Mask, &question).mask.unwrap_or_default();
            if !mask.mask_type.is_empty() && mask.mask_type != "MASK_NONE" {
                masks.push((pointer, mask));
            }
        }
        for (pointer, mask) in masks {
            let value = record.pointer_mut(&pointer).context("the field is gone")?;
            *value = masked(value, &mask)?;
        }
        Ok(Some(record))
    }

    fn question(&self, field: Option<String>) -> Question {
        let schema = ("schema".to_owned(), Values::One(self.schema.clone()));
        let field = field.map(|field| ("field".to_owned(), Values::One(field)));
        let levels = std::iter::once(schema).chain(field).collect();
        let mut question = Question::new(self.service, levels, &self.access, self.setup.now);
        question.user.clone_from(&self.user);
        question.groups.clone_from(&self.groups);
        question
    }

    /// Whether the filter, which is a script with the record as `jsonAttr`, lets the record through.
    fn passes(&self, filter: &str) -> Result<bool> {
        let engine = scripts().context("nothing here runs scripts")?;
        let script = format!("var user = {}; var jsonAttr = {}; {filter}", json!(self.user), self.record);
        let who = Membership::default();
        let request = Request {
            service: self.service,
            resource: Resource::default(),
            owner: None,
            access: &self.access,
            who: &who,
            now: self.setup.now,
            client_addr: None,
            context: &NO_CONTEXT,
        };
        let settings = ConditionSettings::default();
        let context = ConditionContext::new(&request, &settings);
        Ok(engine.compile(&script, PlainData::IfNamed)?.is_met(&context)?)
    }
}

/// Where each value without values in it is, and its field's name; every element of a list is the field `*`.
fn collect_leaves(value: &Value, pointer: &str, field: &str, into: &mut Vec<(String, String)>) {
    let below = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                collect_leaves(member, &format!("{pointer}/{escaped}"), &below(name), into);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                collect_leaves(item, &format!("{pointer}/{at}"), &below("*"), into);
            }
        }
        _ => into.push((pointer.to_owned(), field.to_owned())),
    }
}

fn masked(value: &Value, mask: &MaskInfo) -> Result<Value> {
    let custom = mask.value_expr.as_deref().unwrap_or_default();
    Ok(match (value, mask.mask_type.as_str()) {
        (Value::String(_) | Value::Number(_) | Value::Bool(_), "MASK_NULL") => Value::Null,
        (Value::String(text), kind) => json!(masked_text(text, kind, custom)?),
        (Value::Number(_), "MASK") => json!(-11111),
        (Value::Number(_), "CUSTOM") => json!(custom.trim().parse::<i64>()?),
        (Value::Bool(_), "MASK") => json!(false),
        (Value::Bool(_), "CUSTOM") => json!(custom.eq_ignore_ascii_case("true")),
        (value, kind) => bail!("`{value}` cannot be masked by `{kind}`"),
    })
}

/// Lengths of what stands for a text that is masked whole.
const STARS: std::ops::RangeInclusive<usize> = 5..=30;

fn masked_text(text: &str, kind: &str, custom: &str) -> Result<String> {
    let n_chars = text.chars().count();
    let crossed = |is_shown: &dyn Fn(usize) -> bool| -> String {
        text.chars().enumerate().map(|(at, c)| if n_chars <= 4 || is_shown(at) { c } else { 'x' }).collect()
    };
    Ok(match kind {
        "MASK" => "*".repeat(n_chars.clamp(*STARS.start(), *STARS.end())),
        "MASK_SHOW_LAST_4" => crossed(&|at| at + 4 >= n_chars),
        "MASK_SHOW_FIRST_4" => crossed(&|at| at < 4),
        "MASK_HASH" => Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect(),
        "MASK_DATE_SHOW_YEAR" if text.is_empty() => String::new(),
        "MASK_DATE_SHOW_YEAR" => {
            format!("{:04}", year(text).with_context(|| format!("`{text}` is no date"))?)
        }
        "CUSTOM" => custom.to_owned(),
        kind => bail!("a text cannot be masked by `{kind}`"),
    })
}

/// The year of a date in one of the ways that ISO 8601 and RFC 1123 have.
fn year(text: &str) -> Option<i32> {
    let dates = ["%Y%m%d", "%Y-%m-%d", "%Y-%j", "%G-W%V-%u"];
    let date = dates.iter().find_map(|format| NaiveDate::parse_from_str(text, format).ok());
    let time = || NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok().map(|time| time.date());
    let zoned = || DateTime::parse_from_rfc3339(text).or_else(|_| DateTime::parse_from_rfc2822(text)).ok();
    let begins = || NaiveDate::parse_and_remainder(text, "%Y-%m-%d").ok().map(|(date, _)| date);
    let found = date.or_else(time).or_else(|| zoned().map(|time| time.date_naive())).or_else(begins)?;
    Some(found.year())
}
