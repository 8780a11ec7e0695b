//! Known differences that tell of nothing hidden: each has a name, and is counted where it is met.

/// The name of what a statement runs into even when it is as small as can be, where it is known.
pub(crate) fn why(_: &str) -> Option<&'static str> {
    None
}
