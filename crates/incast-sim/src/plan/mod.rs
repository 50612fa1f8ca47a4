//! State of a run before it begins.

mod ahead;
mod buffer;
mod build;
mod config;
mod cut_through;
mod detours;
mod hosts;
mod ideal;
mod jitter;
mod link;
mod local;
mod order;
mod reach;
mod routing;
mod switches;
mod transports;

use std::sync::Arc;

use incast_model::fabric::{Fabric, LinkId, PortId};
use incast_model::flow::FlowSet;
use incast_model::units::Time;

use crate::kernel::{FlowId, IdVec};
use crate::measure::MeasureParams;
use crate::network::Faults;
use crate::outcome::FlowRecord;

pub use buffer::{BufferPlan, PortPlan};
pub(crate) use config::Config;
pub(crate) use cut_through::{Forwarded, WHOLE_PACKETS};
pub(crate) use hosts::ControlState;
use hosts::Hosts;
pub(crate) use jitter::Sending;
pub(crate) use order::Order;
pub use order::Uncut;
pub(crate) use reach::Reach;
pub(crate) use routing::Routing;
use switches::Switches;

/// Times in ps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    pub(crate) delay: u64,
    /// 0: no integer.
    pub(crate) ps_per_byte: u32,
    pub(crate) peer: PortId,
    /// Index in [`Network::rates`].
    pub(crate) rate: u8,
    pub(crate) at_host: bool,
    /// On a server's virtual switch.
    pub(crate) at_server: bool,
    /// Bytes that the far end needs ([`WHOLE_PACKETS`]: all).
    pub(crate) cut: u16,
}

/// Only new routes change it, between windows.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) flows: Arc<FlowSet>,
    pub(crate) config: Config,
    pub(crate) order: Order,
    pub(crate) measure: MeasureParams,
    /// Slot width of the event wheel, a power of two in ps.
    pub(crate) slot_bits: u32,

    pub(crate) ports: IdVec<PortId, Port>,
    /// Distinct rates, in bit/s.
    pub(crate) rates: Vec<u64>,
    pub(crate) switches: Switches,
    pub(crate) hosts: Hosts,
    pub(crate) routing: Routing,
    pub(crate) jitter: Option<Box<jitter::Jitter>>,
    /// `None` without failures and storms.
    pub(crate) faults: Option<Box<Faults>>,

    /// `None`: the run ends by itself.
    pub(crate) horizon: Option<Time>,
    /// Latest end of flows without a size, at most the horizon.
    pub(crate) end: Option<Time>,
    /// By flow: path and ideal times only.
    pub(crate) records: IdVec<FlowId, FlowRecord>,
}

impl Network {
    /// Index by priority, then port.
    #[inline]
    pub(crate) fn at(&self, port: PortId, prio: u8) -> usize {
        usize::from(prio) * self.ports.len() + port.index()
    }

    pub(crate) fn ends(&self, links: &[LinkId]) -> Vec<PortId> {
        let ends = |link: &LinkId| [self.fabric.link(*link).a, self.fabric.link(*link).b];
        links.iter().flat_map(ends).collect()
    }
}
