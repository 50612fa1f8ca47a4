//! Parts of an output-queued switch, with their parameters; `nodes/switch` is the pipeline.

mod buffer;
mod ecn;
pub(crate) mod isolation;
mod params;
mod pint;
mod plain;
mod port_buffer;
mod ranked;
mod scheduler;
mod tagging;
mod watchdog;

pub(crate) use buffer::{Buffer, Ingress, fixed_alpha};
pub(crate) use ecn::{EcnPort, Verdict};
pub(crate) use isolation::Isolation;
pub use isolation::{FlowDetection, IsolationAtHosts, IsolationParams, MarkedFlows};
pub use params::{Forwarding, PfcMode, QueueParams, SchedulerParams, SwitchParams};
pub(crate) use pint::Pint;
pub use plain::{Alpha, Headroom};
pub(crate) use port_buffer::Storage;
pub(crate) use ranked::{RANKED_QUEUE, RankedQueue, rank};
pub(crate) use scheduler::{Rule, Served};
pub(crate) use tagging::Tagging;
pub use tagging::{QueueBy, TagMethod, TagRules, TaggedPaths, TaggingParams};
pub use watchdog::{WatchdogAction, WatchdogParams};

pub use crate::marking::{EcnParams, EcnThreshold, MarkAt};
