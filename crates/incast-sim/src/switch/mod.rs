//! Output-queued switch, a pipeline of small stages: admission ([`buffer`], or [`port_buffer`]), PFC ([`pfc`]), queueing,
//! scheduling ([`scheduler`]), ECN marking ([`ecn`]), INT. Against deadlocks: [`tagging`], [`watchdog`]; against waiting behind
//! congested flows: [`isolation`].

mod buffer;
mod ecn;
pub(crate) mod isolation;
mod params;
mod pint;
mod plain;
mod plan;
mod port_buffer;
mod ranked;
mod scheduler;
mod tagging;
mod watchdog;

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
pub(crate) use scheduler::{Rule, Served};
pub(crate) use tagging::Tagging;
pub use tagging::{QueueBy, TagMethod, TagRules, TaggedPaths, TaggingParams};
pub use watchdog::{WatchdogAction, WatchdogParams};

pub use crate::marking::{EcnParams, EcnThreshold, MarkAt};
