//! The entry point: a [`Setup`] becomes a [`Simulation`], which runs to an [`Outcome`].

use std::ops::ControlFlow;

use incast_model::units::Time;

use crate::outcome::Outcome;
use crate::setup::Setup;

/// How far a run has come; handed to the caller every few thousand events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Packets, counted once per link crossed.
    pub packet_hops: u64,
    /// Flows completed.
    pub flows_done: u64,
    /// All flows of the run.
    pub flows: u64,
    /// Payload acknowledged, in bytes.
    pub bytes_acked: u64,
    /// Payload of all flows, in bytes.
    pub bytes: u64,
}

/// A setup that cannot be simulated: which parameter, its value, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct SetupError {
    /// The parameter, as a dotted path such as `switch.buffer`.
    pub field: String,
    /// What is wrong with its value and what is allowed.
    pub message: String,
}

/// A network ready to run.
#[derive(Debug)]
pub struct Simulation {}

impl Simulation {
    /// Builds the network. Every limit of the simulator is checked here.
    pub fn new(_setup: Setup) -> Result<Self, SetupError> {
        unimplemented!("being written")
    }

    /// Runs to the end, or until `observe` says to break.
    pub fn run(self, _observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        unimplemented!("being written")
    }
}
