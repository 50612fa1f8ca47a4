//! PFC deadlocks: detection during a run, without effect on the run.

mod check;
mod detector;
mod graph;
mod stuck;

pub(crate) use detector::Detector;
