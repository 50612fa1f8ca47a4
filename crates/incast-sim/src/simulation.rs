//! Entry point: [`Simulation`].

use std::ops::ControlFlow;

use incast_model::field::FieldError;
use incast_model::units::Time;

use crate::nodes::{Cut, MAX_TIME, Nodes};
use crate::outcome::Outcome;
use crate::plan::Network;
use crate::progress::{Limits, Progress};
use crate::transport::Transport;
use crate::valid::ValidSetup;

/// Network ready to run.
#[derive(Debug)]
pub struct Simulation {
    network: Network,
    limits: Limits,
    cut: Cut,
    /// Fewest nodes with events in a window that threads share; the maximum: none.
    least_awake: usize,
    /// Windows are shorter by this factor.
    shorter: u64,
}

/// Simulated time without arrivals and flow starts after which a run may be stuck; at least four RDMA retransmission timeouts
/// and [`Transport::patience`].
const STALL: Time = Time::ms(20);

impl Simulation {
    /// Builds the network. Fails if a path exceeds a limit, such as the TTL.
    pub fn new(setup: ValidSetup) -> Result<Self, FieldError> {
        let params = &setup.params;
        let limits = Limits {
            horizon: params.horizon.unwrap_or(MAX_TIME).0,
            events: params.max_events.unwrap_or(u64::MAX),
            stall: setup
                .transports
                .iter()
                .map(Transport::patience)
                .fold(STALL.max(params.rdma.rto.unwrap_or_default() * 4), Time::max)
                .0,
        };
        Ok(Self {
            network: Network::new(setup.into_inner())?,
            limits,
            cut: Cut::Whole,
            least_awake: usize::MAX,
            shorter: 1,
        })
    }

    /// Cuts the fabric into partitions. Results do not depend on it.
    #[must_use]
    pub fn cut(self, cut: Cut) -> Self {
        Self { cut, ..self }
    }

    /// Runs the partitions on the threads of the current rayon pool, in windows in which at least `least_awake` nodes have
    /// events.
    #[must_use]
    pub fn side_by_side(self, least_awake: usize) -> Self {
        Self { least_awake, ..self }
    }

    /// Shortens windows by a factor, for tests that compare: only the peak number of packets depends on it.
    #[doc(hidden)]
    #[must_use]
    pub fn shorter_windows(self, factor: u64) -> Self {
        Self { shorter: factor, ..self }
    }

    /// Runs to the end, or until `observe` breaks.
    pub fn run(self, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        let nodes = Nodes::with_windows(self.network, self.cut, self.shorter);
        nodes.side_by_side(self.least_awake).run(self.limits, observe)
    }

    /// Same with all events in global order, for tests that compare the two.
    #[doc(hidden)]
    pub fn run_event_by_event(self, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        Nodes::new(self.network, Cut::Whole).one_by_one().run(self.limits, observe)
    }
}
