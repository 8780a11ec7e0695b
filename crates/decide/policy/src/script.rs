//! What condition scripts and `${{expressions}}` are to the policy engine; another crate runs them.

use std::fmt::Debug;
use std::sync::Arc;

use crate::condition::ConditionContext;

/// Why a script gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The text is not a script of the language; it says where and why.
    #[error("the script does not parse: {0}")]
    NotParsable(String),
    /// It was stopped by an error of its own.
    #[error("the script failed: {0}")]
    Failed(String),
    /// It reached a limit, named here.
    #[error("the script reached its limit `{0}`")]
    OverLimit(&'static str),
}

/// Whether the request is spread out for a script as plain data (`REQ`, `USER`, `TAG`, …) besides `ctx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainData {
    /// If the script names any of it.
    #[default]
    IfNamed,
    /// `enableJsonCtx`.
    Always,
    Never,
}

/// Compiles scripts that policies name.
pub trait ScriptEngine: Debug + Send + Sync {
    /// # Errors
    /// The script is longer than it may be, or does not parse.
    fn compile(&self, source: &str, data: PlainData) -> Result<Arc<dyn Script>, ScriptError>;

    /// Where a script does not parse.
    ///
    /// # Errors
    /// As [`ScriptEngine::compile`].
    fn check(&self, source: &str) -> Result<(), ScriptError> {
        self.compile(source, PlainData::IfNamed).map(drop)
    }
}

/// A script that can be run for a request. Nothing is kept from one run to the next.
pub trait Script: Debug + Send + Sync {
    /// Whether the condition is met.
    ///
    /// # Errors
    /// The script failed, or reached a limit.
    fn is_met(&self, context: &ConditionContext<'_>) -> Result<bool, ScriptError>;

    /// The value of an expression as text; `None`: it is null or undefined.
    ///
    /// # Errors
    /// The script failed, or reached a limit.
    fn text(&self, context: &ConditionContext<'_>) -> Result<Option<String>, ScriptError>;
}
