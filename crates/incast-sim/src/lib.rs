//! What happens: an event-driven, packet-by-packet simulation of a fabric of shared-buffer switches and RDMA hosts.
//!
//! Build a [`Setup`] from a fabric, flows and parameters, hand it to [`Simulation::new`], and [`Simulation::run`] it
//! to an [`Outcome`]: a record per flow, counters per port and priority, pause intervals, drops, samples, and the
//! conservation ledger.

pub mod congestion;
pub mod host;
mod kernel;
pub mod measure;
mod network;
mod ns3;
pub mod outcome;
pub mod setup;
pub mod simulation;
mod stop;
pub mod switch;

pub use outcome::Outcome;
pub use simulation::{Progress, SetupError, Simulation};
pub use setup::{Arithmetic, ControlSetup, Params, Setup};
