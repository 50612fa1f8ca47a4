//! PFC deadlocks, detected without effect on a run.

mod check;
mod detector;
mod graph;
mod stuck;

pub(crate) use detector::Detector;
