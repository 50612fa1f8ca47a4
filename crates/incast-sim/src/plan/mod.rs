//! State of a run before it begins.

mod ahead;
mod buffer;
mod build;
mod cut_through;
mod detours;
mod ideal;
mod jitter;
mod link;
mod reach;
mod routing;
mod transports;

use crate::kernel::IdVec;
use std::sync::Arc;

use incast_model::fabric::{Fabric, LinkId, PortId};
use incast_model::flow::FlowSet;
use incast_model::units::Time;

use crate::congestion::{Control, IntFormat, WindowMode};
use crate::guards::Tagging;
use crate::guards::isolation::Isolation;
use crate::host::{Carrier, Gates, PacketParams, RdmaParams};
use crate::measure::MeasureParams;
use crate::network::Faults;
use crate::outcome::FlowRecord;
use crate::switch::{Buffer, EcnPort, Ingress, Pint, Rule, Storage, SwitchParams};
use crate::tenant::Hypervisors;

pub use buffer::BufferPlan;
pub(crate) use cut_through::{Forwarded, WHOLE_PACKETS};
pub(crate) use jitter::Sending;
pub(crate) use reach::Reach;
pub(crate) use routing::Routing;
use transports::Transports;

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

#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) ns3: bool,
    pub(crate) seed: u64,
    pub(crate) packets: PacketParams,
    pub(crate) queues: QueueConfig,
    pub(crate) switch: SwitchConfig,
    pub(crate) host: HostConfig,
    /// Some flows are RDMA's, some are not.
    pub(crate) mixed: bool,
    /// No gaps, no jitter, whole picoseconds per byte, no ns-3 rounding: one comparison instead of four.
    pub(crate) plain_wires: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct QueueConfig {
    /// Under PFC, as bits.
    pub(crate) lossless: u8,
    /// At switch ports, and at host ports except for RDMA data.
    pub(crate) storage: Storage,
    pub(crate) host_storage: Storage,
    /// In bytes, of a VM server's port.
    pub(crate) server: u32,
    pub(crate) ranked: bool,
    /// Rank of ports that become free, in exact arithmetic; 1: last in their instant.
    pub(crate) port_rank: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct SwitchConfig {
    pub(crate) mark_at_enqueue: bool,
    /// Most switches of a packet; the last drops it.
    pub(crate) ttl: u8,
    /// Switches cut through to faster links too.
    pub(crate) underrun: bool,
    pub(crate) telemetry: bool,
    pub(crate) int: IntFormat,
}

#[derive(Debug, Clone)]
pub(crate) struct HostConfig {
    pub(crate) rdma: RdmaParams,
    /// Bytes until a flow is an elephant; [`u64::MAX`]: never.
    pub(crate) demotion: u64,
    pub(crate) elephants: u8,
    /// Bytes per flow; [`u64::MAX`]: none.
    pub(crate) in_flight: u64,
    pub(crate) selective: bool,
    /// Packets that may overtake before a loss counts.
    pub(crate) reorder_window: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct ControlState {
    pub(crate) control: Control,
    pub(crate) window: WindowMode,
    /// [`flag`](crate::kernel::flag) bits of data.
    pub(crate) flags: u8,
    pub(crate) moves_next_send: bool,
}

/// Only new routes change it, between windows.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) flows: Arc<FlowSet>,
    pub(crate) config: Config,
    pub(crate) measure: MeasureParams,
    pub(crate) controls: Vec<ControlState>,
    pub(crate) carriers: Vec<Carrier>,
    /// Slot width of the event wheel, a power of two in ps.
    pub(crate) slot_bits: u32,

    pub(crate) ports: IdVec<PortId, Port>,
    /// Empty ingress queues, by priority, then port.
    pub(crate) ingress: Vec<Ingress>,
    /// Distinct rates, in bit/s.
    pub(crate) rates: Vec<u64>,
    /// Empty switch buffers.
    pub(crate) buffers: Vec<Option<Buffer>>,
    pub(crate) switch: SwitchParams,
    pub(crate) rule: Rule,
    pub(crate) tagging: Option<Box<Tagging>>,
    pub(crate) isolation: Option<Box<Isolation>>,
    pub(crate) ecn: Vec<EcnPort>,
    pub(crate) pint: Option<Box<Pint>>,
    pub(crate) routing: Routing,
    pub(crate) jitter: Option<Box<jitter::Jitter>>,
    /// `None` without failures and storms.
    pub(crate) faults: Option<Box<Faults>>,

    /// Longest base RTT; bytes in flight that fill it.
    pub(crate) base_rtt: Time,
    pub(crate) bdp: u64,
    pub(crate) transports: Transports,
    pub(crate) hypervisors: Option<Box<Hypervisors>>,
    pub(crate) gates: Gates,
    /// Latest end of flows without a size, at most the horizon.
    pub(crate) end: Option<Time>,
    /// By flow: path and ideal times only.
    pub(crate) records: Vec<FlowRecord>,
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
