//! Deadlocks of PFC: paused queues that wait on each other with no way out, found while a run goes on, without changing it.

mod check;
mod detector;
mod graph;
mod stuck;

pub(crate) use detector::Detector;
