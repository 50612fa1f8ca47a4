//! Routes, link failures and PFC storms: parameters, and steps in a run.

mod changes;
mod fault;
mod params;
mod pause;
mod places;
mod resolve;

pub(crate) use changes::{Resolved, Step as FaultStep};
pub(crate) use fault::Faults;
pub use params::{FailureParams, HoldTime, NetworkParams, PauseParams, RandomLinks, RandomPauses, RouteParams};
