//! The engine: each run has a context, a thread and limits to itself, so that nothing passes from one to the next.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use policy::condition::ConditionContext;
use policy::script::{PlainData, Script, ScriptEngine, ScriptError};
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Runtime, Value};

use crate::calls::{Answer, Arg, METHODS, call};
use crate::data::{match_type_name, plain_data};
use crate::fast::Program;
use crate::json::JsonText;
use crate::owned::OwnedContext;
use crate::{fast, limits, source};

/// Runs scripts in JavaScript.
#[derive(Debug, Default)]
pub struct JavaScript {
    runs: Arc<AtomicUsize>,
    #[cfg(test)]
    is_slow: bool,
}

/// A script that parses.
#[derive(Debug)]
struct Compiled {
    text: Arc<str>,
    /// The script for the fast way, if that takes it.
    program: Option<Program>,
    needs_data: bool,
    runs: Arc<AtomicUsize>,
}

/// What a script came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The value of its last expression.
    Bool(bool),
    /// What it set `ctx.result` to, and its value as text.
    Other { result: bool, text: Option<String> },
}

/// Gives `ctx` and everything else that scripts know.
const PRELUDE: &str = include_str!("prelude.js");

/// Makes a script stop before its first step, so that only its parsing is seen.
const STOP_AT_ONCE: &str = "throw 0;\n";

impl ScriptEngine for JavaScript {
    fn compile(&self, script: &str, data: PlainData) -> Result<Arc<dyn Script>, ScriptError> {
        if script.len() > limits::SCRIPT_BYTES_MAX {
            return Err(ScriptError::OverLimit("SCRIPT_BYTES_MAX"));
        }
        let text: Arc<str> = source::rewritten(script).into();
        let program = self.program(&text, data);
        // What the fast way takes parses.
        if program.is_none() {
            check(&self.runs, &text)?;
        }
        let needs_data = match data {
            PlainData::IfNamed => source::names_data(&text),
            PlainData::Always => true,
            PlainData::Never => false,
        };
        Ok(Arc::new(Compiled { text, program, needs_data, runs: Arc::clone(&self.runs) }))
    }
}

impl JavaScript {
    #[cfg(not(test))]
    fn program(&self, text: &str, data: PlainData) -> Option<Program> {
        fast::parse(text, data != PlainData::Never).ok()
    }

    #[cfg(test)]
    fn program(&self, text: &str, data: PlainData) -> Option<Program> {
        fast::parse(text, data != PlainData::Never).ok().filter(|_| !self.is_slow)
    }

    /// Leaves every script to the engine.
    #[cfg(test)]
    pub(crate) fn without_fast_way() -> Self {
        Self { is_slow: true, ..Self::default() }
    }
}

impl Script for Compiled {
    fn is_met(&self, context: &ConditionContext<'_>) -> Result<bool, ScriptError> {
        self.run(context).map(|outcome| match outcome {
            Outcome::Bool(is_met) => is_met,
            Outcome::Other { result, .. } => result,
        })
    }

    fn text(&self, context: &ConditionContext<'_>) -> Result<Option<String>, ScriptError> {
        self.run(context).map(|outcome| match outcome {
            Outcome::Bool(value) => Some(value.to_string()),
            Outcome::Other { text, .. } => text,
        })
    }
}

impl Compiled {
    fn run(&self, context: &ConditionContext<'_>) -> Result<Outcome, ScriptError> {
        if let Some(Ok(outcome)) = self.program.as_ref().map(|program| fast::run(program, context)) {
            return Ok(outcome);
        }
        let data = if self.needs_data { plain_data(context) } else { String::new() };
        let facts = OwnedContext::new(context);
        let text = Arc::clone(&self.text);
        apart(&self.runs, move |stop| run(&text, data, facts, stop))
    }
}

fn check(runs: &Arc<AtomicUsize>, text: &Arc<str>) -> Result<(), ScriptError> {
    let text = Arc::clone(text);
    apart(runs, move |stop| {
        in_context(stop, |ctx| {
            let stopped = ctx.eval_with_options::<(), _>(format!("{STOP_AT_ONCE}{text}"), options());
            match stopped.catch(ctx) {
                Err(CaughtError::Exception(error)) => {
                    let message = error.message().unwrap_or_default();
                    Err(ScriptError::NotParsable(match line(&error.stack().unwrap_or_default()) {
                        Some(line) => format!("{message} in line {line}"),
                        None => message,
                    }))
                }
                Ok(()) | Err(CaughtError::Value(_) | CaughtError::Error(_)) => Ok(()),
            }
        })
    })
}

/// The line of the script in `at eval_script:2:1`; one line stands before it.
fn line(stack: &str) -> Option<u32> {
    let place = stack.lines().next()?.rsplit_once("eval_script:")?.1;
    place.split([':', ')']).next()?.trim().parse::<u32>().ok()?.checked_sub(1)
}

fn run(text: &str, data: String, facts: OwnedContext, stop: &Arc<Stop>) -> Result<Outcome, ScriptError> {
    in_context(stop, |ctx| {
        let failed = |error: rquickjs::Error| ScriptError::Failed(error.to_string());
        let ask = move |method: String, args: Vec<Option<String>>| {
            facts.with(|context| asked(context, &method, args))
        };
        let ask = Function::new(ctx.clone(), ask).map_err(failed)?;
        let prelude: Function<'_> = ctx.eval(PRELUDE).map_err(failed)?;
        let result: Function<'_> =
            prelude.call((ask, METHODS.join(" "), data)).catch(ctx).map_err(|error| fault(&error, stop))?;
        let value: Value<'_> =
            ctx.eval_with_options(text, options()).catch(ctx).map_err(|error| fault(&error, stop))?;
        if let Some(value) = value.as_bool() {
            return Ok(Outcome::Bool(value));
        }
        let result: bool = result.call(()).map_err(failed)?;
        let text = if value.is_null() || value.is_undefined() {
            None
        } else {
            let text: rquickjs::Result<rquickjs::convert::Coerced<String>> = value.get();
            Some(text.catch(ctx).map_err(|error| fault(&error, stop))?.0)
        };
        Ok(Outcome::Other { result, text })
    })
}

fn options() -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options
}

fn fault(error: &CaughtError<'_>, stop: &Stop) -> ScriptError {
    if stop.look_ups.load(Ordering::Relaxed) > limits::LOOK_UPS_MAX {
        return ScriptError::OverLimit("LOOK_UPS_MAX");
    }
    match error {
        CaughtError::Exception(exception) => match exception.message() {
            Some(message) if message == "out of memory" => ScriptError::OverLimit("MEMORY_BYTES_MAX"),
            Some(message) if message.contains("call stack") => ScriptError::OverLimit("STACK_BYTES_MAX"),
            message => ScriptError::Failed(message.unwrap_or_default()),
        },
        // Without memory there is no exception to be made either.
        CaughtError::Value(value) if value.is_null() => ScriptError::OverLimit("MEMORY_BYTES_MAX"),
        CaughtError::Value(_) => ScriptError::Failed("it threw a value".to_owned()),
        CaughtError::Error(error) => ScriptError::Failed(error.to_string()),
    }
}

/// One method call, its answer as JSON with a word for its kind.
fn asked(context: &ConditionContext<'_>, method: &str, args: Vec<Option<String>>) -> String {
    let args: Vec<Arg<'_>> = args.into_iter().map(|arg| arg.map(Cow::Owned)).collect();
    let mut json = JsonText::default();
    let map = |json: &mut JsonText, map: &std::collections::BTreeMap<String, String>| {
        json.object(map.iter().map(|(name, value)| (name.as_str(), value)), |json, value| json.text(value));
    };
    match call(context, method, &args).unwrap_or(Answer::Null) {
        Answer::Null => json.raw("[\"\",null]"),
        Answer::Bool(value) => json.raw(if value { "[\"\",true]" } else { "[\"\",false]" }),
        Answer::Text(text) => {
            json.raw("[\"\",");
            json.text(&text);
            json.raw("]");
        }
        Answer::List(items) => {
            json.raw("[\"list\",");
            json.list(items, |json, item| json.text(&item));
            json.raw("]");
        }
        Answer::Map(attributes) => {
            json.raw("[\"map\",");
            map(&mut json, attributes);
            json.raw("]");
        }
        Answer::Maps(maps) => {
            json.raw("[\"maps\",");
            json.list(maps, map);
            json.raw("]");
        }
        Answer::Tag(tag) => {
            json.raw("[\"tag\",{\"type\":");
            json.text(tag.kind);
            json.raw(",\"matchType\":");
            json.text(match_type_name(tag.found));
            json.raw(",\"attributes\":");
            map(&mut json, tag.attributes);
            json.raw("}]");
        }
        Answer::Date(date) => json.raw(&format!("[\"date\",{}]", date.millis())),
    }
    json.into_text()
}

/// Tells a run to stop, and counts how often it looked.
#[derive(Debug, Default)]
struct Stop {
    is_given_up: AtomicBool,
    look_ups: AtomicU32,
}

/// A context with the language alone: no modules, files, network, timers or console.
fn in_context<T>(
    stop: &Arc<Stop>,
    run: impl FnOnce(&Ctx<'_>) -> Result<T, ScriptError>,
) -> Result<T, ScriptError> {
    type Language = (
        intrinsic::Eval,
        intrinsic::Date,
        intrinsic::RegExpCompiler,
        intrinsic::RegExp,
        intrinsic::Json,
        intrinsic::MapSet,
        intrinsic::Promise,
    );
    let failed = |error: rquickjs::Error| ScriptError::Failed(error.to_string());
    let runtime = Runtime::new().map_err(failed)?;
    runtime.set_memory_limit(limits::MEMORY_BYTES_MAX);
    runtime.set_max_stack_size(limits::STACK_BYTES_MAX);
    let look = Arc::clone(stop);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        look.is_given_up.load(Ordering::Relaxed)
            || look.look_ups.fetch_add(1, Ordering::Relaxed) >= limits::LOOK_UPS_MAX
    })));
    let context = Context::custom::<Language>(&runtime).map_err(failed)?;
    context.with(|ctx| run(&ctx))
}

/// Runs on a thread of its own, and waits for it no longer than a run may take.
fn apart<T: Send + 'static>(
    runs: &Arc<AtomicUsize>,
    run: impl FnOnce(&Arc<Stop>) -> Result<T, ScriptError> + Send + 'static,
) -> Result<T, ScriptError> {
    if runs.fetch_add(1, Ordering::AcqRel) >= limits::RUNS_MAX {
        runs.fetch_sub(1, Ordering::AcqRel);
        return Err(ScriptError::OverLimit("RUNS_MAX"));
    }
    let running = Running(Arc::clone(runs));
    let (answer, answered) = mpsc::sync_channel(1);
    let stop = Arc::new(Stop::default());
    let its_stop = Arc::clone(&stop);
    let thread = std::thread::Builder::new().name("script".to_owned()).stack_size(limits::THREAD_STACK_BYTES);
    let spawned = thread.spawn(move || {
        let _running = running;
        // Nobody waits any more for a run that was given up.
        let _ = answer.send(run(&its_stop));
    });
    if let Err(error) = spawned {
        return Err(ScriptError::Failed(format!("no thread for it: {error}")));
    }
    match answered.recv_timeout(limits::RUN_TIME_MAX) {
        Ok(answer) => answer,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            stop.is_given_up.store(true, Ordering::Relaxed);
            Err(ScriptError::OverLimit("RUN_TIME_MAX"))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(ScriptError::Failed("its thread ended without an answer".to_owned()))
        }
    }
}

/// Counts one run until it is dropped.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
