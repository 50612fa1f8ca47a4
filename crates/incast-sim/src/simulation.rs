//! Entry point: [`Simulation`].

use std::ops::ControlFlow;
use std::thread::available_parallelism;

use incast_model::field::FieldError;
use incast_model::flow::MAX_TIME;
use incast_model::units::Time;

use crate::nodes::{Cut, Nodes};
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
    threads: usize,
    /// Threads share all windows, even if one thread is faster.
    always: bool,
    /// Windows are shorter by this factor.
    shorter: u64,
}

/// Simulated time without arrivals and flow starts after which a run may be stuck; at least four RDMA retransmission timeouts
/// and [`Transport::patience`].
const STALL: Time = Time::ms(20);

/// Nodes for each thread at least: with fewer, threads wait for each other more than they work (our choice).
const NODES_PER_THREAD: usize = 32;

/// Nodes of a partition where there are more partitions than threads (our choice).
const LARGE: usize = 256;

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
            threads: 1,
            always: false,
            shorter: 1,
        })
    }

    /// Runs on at most this number of threads. Results do not depend on it.
    ///
    /// At most one thread per core and 32 nodes takes part, and only while that is faster than one thread alone.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let nodes = self.network.fabric.nodes().len();
        let threads = threads.min(cores).min(nodes / NODES_PER_THREAD).max(1);
        // The same number for each thread: a few, if they are large, so that shares can follow the work.
        let each = (nodes / LARGE / threads).clamp(1, 4);
        let cut = if threads == 1 { Cut::Whole } else { Cut::Into(each * threads) };
        Self { cut, threads, ..self }
    }

    /// Cuts the fabric as given, and runs all windows on as many threads as given, for tests and measurements.
    #[doc(hidden)]
    #[must_use]
    pub fn cut(self, cut: Cut, threads: usize) -> Self {
        Self { cut, threads, always: true, ..self }
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
        nodes.on_threads(self.threads, self.always).run(self.limits, observe)
    }

    /// Same with all events in global order, for tests that compare the two.
    #[doc(hidden)]
    pub fn run_event_by_event(self, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        Nodes::new(self.network, Cut::Whole).one_by_one().run(self.limits, observe)
    }
}
