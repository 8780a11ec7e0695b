//! Compares the resource of a request with the resources that policies name.

mod level;
mod resource;
mod token;

pub(crate) use level::{LevelMatcher, LevelOptions, Value};
pub(crate) use resource::{Levels, MatchType, RequestPath, ResourceMatcher};
pub(crate) use token::Tokens;
