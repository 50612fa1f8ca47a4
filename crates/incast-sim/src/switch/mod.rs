//! Parts of an output-queued switch; `nodes/switch` is the pipeline.

mod buffer;
mod by_rate;
mod cells;
mod ecn;
mod params;
mod pint;
mod plain;
mod port_buffer;
mod ranked;
mod scheduler;

pub(crate) use buffer::{Buffer, Ingress, fixed_alpha};
pub use by_rate::PortProfile;
pub use cells::SonicHeadroom;
pub(crate) use cells::most_occupied;
pub(crate) use ecn::{EcnPort, Verdict};
pub use params::{Forwarding, PfcMode, QueueParams, SchedulerParams, SwitchParams};
pub(crate) use pint::Pint;
pub use plain::{Alpha, Headroom};
pub(crate) use port_buffer::Storage;
pub(crate) use ranked::{RANKED_QUEUE, RankedQueue, rank};
pub(crate) use scheduler::{Rule, Served};

pub use crate::guards::*; // their parameters are tables of the switch
pub use crate::marking::{EcnParams, EcnThreshold, MarkAt};
