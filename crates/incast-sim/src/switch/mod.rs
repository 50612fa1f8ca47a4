//! Output-queued switch, a pipeline of small stages: admission ([`buffer`], or [`port_buffer`]), PFC ([`pfc`]), queueing,
//! scheduling ([`scheduler`]), ECN marking ([`ecn`]), INT. Against deadlocks: [`tagging`], [`watchdog`]; against waiting behind
//! congested flows: [`isolation`].

mod buffer;
mod ecn;
pub(crate) mod isolation;
mod params;
mod pfc;
mod pint;
mod pipeline;
mod plain;
mod plan;
mod port_buffer;
mod ranked;
mod scheduler;
mod tagging;
mod watchdog;

use incast_model::rng::Stream;

pub(crate) use buffer::{Buffer, Ingress, fixed_alpha};
pub(crate) use ecn::{EcnPort, Verdict};
pub(crate) use isolation::Isolation;
pub use isolation::{FlowDetection, IsolationAtHosts, IsolationParams, MarkedFlows};
pub use params::{Alpha, Forwarding, Headroom, PfcMode, QueueParams, SchedulerParams, SwitchParams};
pub(crate) use pint::Pint;
pub use plan::BufferPlan;
pub(crate) use plan::{alpha, headroom, host_rate};
pub(crate) use port_buffer::Storage;
pub(crate) use ranked::{RANKED_QUEUE, RankedQueue, rank};
pub(crate) use scheduler::{Rule, Scheduler, Served};
pub(crate) use tagging::Tagging;
pub use tagging::{QueueBy, TagMethod, TagRules, TaggedPaths, TaggingParams};
pub(crate) use watchdog::Watchdog;
pub use watchdog::{WatchdogAction, WatchdogParams};

pub use crate::marking::{EcnParams, EcnThreshold, MarkAt};

#[derive(Debug, Clone)]
pub(crate) struct Switch {
    pub(crate) node: u32,
    pub(crate) buffer: Buffer,
    /// Draws of ECN marking and PINT.
    pub(crate) rng: Stream,
}
