//! Compares the resource of a request with the resources that policies name.

mod level;
mod resource;
mod token;

pub(crate) use level::{LevelMatcher, LevelOptions, Value};
pub use resource::MatchType;
pub(crate) use resource::{Levels, RequestPath, ResourceMatcher};
pub(crate) use token::Tokens;
