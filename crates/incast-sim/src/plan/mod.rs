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

use std::sync::Arc;

use incast_model::fabric::{Fabric, LinkId};
use incast_model::flow::FlowSet;
use incast_model::units::Time;

use crate::congestion::{Control, WindowMode};
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

/// Port and its link; times are in ps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    pub(crate) delay: u64,
    /// Serialisation time of a byte; 0 if not an integer.
    pub(crate) ps_per_byte: u32,
    pub(crate) peer: u32,
    /// Index in [`Network::rates`].
    pub(crate) rate: u8,
    pub(crate) at_host: bool,
    /// If true, on a server's virtual switch.
    pub(crate) at_server: bool,
    /// Bytes of a packet that the far end waits for ([`WHOLE_PACKETS`]: all).
    pub(crate) cut: u16,
}

#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) ns3: bool,
    pub(crate) seed: u64,
    pub(crate) packets: PacketParams,
    pub(crate) rdma: RdmaParams,
    /// Priorities under PFC, one bit each.
    pub(crate) lossless: u8,
    pub(crate) mark_at_enqueue: bool,
    /// Storage at switch ports, and at host ports except for RDMA data.
    pub(crate) storage: Storage,
    pub(crate) host_storage: Storage,
    /// Queue limit in bytes per port of a server of VMs.
    pub(crate) server_queue: u32,
    pub(crate) ranked: bool,
    /// Rank of events of ports that become free, in exact arithmetic: 1 if last in their instant.
    pub(crate) port_rank: u64,
    /// Switches that a packet may reach; the last one drops it.
    pub(crate) ttl: u8,
    /// Bytes after which a flow becomes an elephant; [`u64::MAX`]: never.
    pub(crate) demotion: u64,
    pub(crate) elephants: u8,
    /// If true, switches cut through to faster links too.
    pub(crate) underrun: bool,
    /// If true, some flows are RDMA's and some are not.
    pub(crate) mixed: bool,
    /// If true, links have no gaps, no jitter, whole picoseconds per byte, no ns-3 rounding: one comparison instead of
    /// four.
    pub(crate) plain_wires: bool,
    pub(crate) telemetry: bool,
    pub(crate) int: crate::congestion::IntFormat,
    /// Bound on bytes in flight per flow, whatever its control; [`u64::MAX`]: none.
    pub(crate) in_flight: u64,
    pub(crate) selective: bool,
    /// Packets that may overtake another before selective repeat counts it as lost.
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

/// Everything known before a run. Nodes read it; only new routes change it, between windows.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) flows: Arc<FlowSet>,
    pub(crate) config: Config,
    pub(crate) measure: MeasureParams,
    pub(crate) controls: Vec<ControlState>,
    /// By label.
    pub(crate) carriers: Vec<Carrier>,
    /// Slot width of the event wheel, as a power of two in ps.
    pub(crate) slot_bits: u32,

    pub(crate) ports: Vec<Port>,
    /// By priority, then port: empty ingress queues.
    pub(crate) ingress: Vec<Ingress>,
    /// Distinct rates, in bit/s.
    pub(crate) rates: Vec<u64>,
    /// By node: empty buffers of switches.
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

    /// Longest base RTT, and bytes in flight that fill it.
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
    /// Index in tables by priority, then port.
    #[inline]
    pub(crate) fn at(&self, port: u32, prio: u8) -> usize {
        usize::from(prio) * self.ports.len() + port as usize
    }

    pub(crate) fn ends(&self, links: &[LinkId]) -> Vec<u32> {
        let ends = |link: &LinkId| [self.fabric.link(*link).a.0, self.fabric.link(*link).b.0];
        links.iter().flat_map(ends).collect()
    }
}
