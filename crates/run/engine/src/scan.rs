//! The governed leaf: the only source that a governed plan may run.

mod barrier;
mod blank;
mod leaf;
mod physical_verifier;
mod steady;
mod veil;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use barrier::{BarrierExec, Passage};
pub(crate) use leaf::GovernedProvider;
pub(crate) use physical_verifier::VerifyGoverned;
pub(crate) use veil::{PolicyFailed, Veil};
pub(crate) use view::{ViewPlan, ViewProvider, bare};
