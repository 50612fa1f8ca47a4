//! Tables are per kind of object instead of per node, for the cache. A handler touches only the node of its event and the
//! packets that reach it. Nodes learn of each other only through packets over links, so threads could split the tables by node.

mod build;
mod cut_through;
mod detours;
mod fault;
mod ideal;
mod jitter;
mod link;
mod params;
mod pause;
mod progress;
mod reach;
mod resolve;
mod routing;

use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::flow::FlowSet;
use incast_model::units::Time;

use crate::congestion::{Control, WindowMode};
use crate::deadlock::Detector;
use crate::host::{Gates, PacketParams, RdmaParams, Transports};
use crate::kernel::{NONE, Pool};
use crate::measure::Recorder;
use crate::outcome::{Counts, FlowRecord, IsolationRecord, Ledger};
use crate::setup::Carrier;
use crate::switch::{Buffer, EcnPort, Ingress, Isolation, Pint, RankedQueue, Rule, Storage, Tagging, Watchdog};
use crate::tenant::Hypervisors;

pub(crate) use cut_through::{Forwarded, WHOLE_PACKETS};
pub(crate) use fault::{Faults, Step as FaultStep};
pub(crate) use jitter::Sending;
pub use params::{FailureParams, NetworkParams, PauseParams, RandomLinks, RouteParams};
pub(crate) use progress::{Limits, STRIDE};
pub(crate) use routing::Routing;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Far {
    Switch,
    Host,
}

/// Egress side of a port: what a departing packet touches, in one cache line. Times are in ps.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// End of the current transmission and the gap after it.
    pub(crate) busy_until: u64,
    pub(crate) delay: u64,
    /// Wire bytes sent, as INT reports them.
    pub(crate) tx_bytes: u64,
    /// Packets on the wire, in order of arrival.
    pub(crate) flight_head: u32,
    pub(crate) flight_tail: u32,
    /// Bytes queued in all priorities.
    pub(crate) queued: u32,
    /// Serialisation time of a byte; 0 if not an integer.
    pub(crate) ps_per_byte: u32,
    pub(crate) peer: u32,
    /// Priorities with queued packets, one bit each.
    pub(crate) waiting: u8,
    /// Priorities paused by the far end.
    pub(crate) paused: u8,
    pub(crate) last_served: u8,
    /// Index in the run's table of rates.
    pub(crate) rate: u8,
    pub(crate) at_host: bool,
    pub(crate) far: Far,
    /// If true, a [`crate::kernel::Target::Port`] event is pending; NICs keep the time of theirs.
    pub(crate) pending: bool,
    pub(crate) down: bool,
    /// If true, the port belongs to the switch in a server of VMs.
    pub(crate) at_server: bool,
    /// If true, queues record arrivals and departures: at every port, or because flows are isolated here.
    pub(crate) noted: bool,
    /// Bytes of a packet that the far end waits for ([`WHOLE_PACKETS`]: all).
    pub(crate) cut: u16,
}

const _: () = assert!(size_of::<Port>() == 64);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Queue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) bytes: u32,
    pub(crate) peak: u32,
    pub(crate) tx_bytes: u64,
    pub(crate) tx_packets: u64,
}

impl Queue {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE, bytes: 0, peak: 0, tx_bytes: 0, tx_packets: 0 };
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
    /// Queue limit per port of a server of VMs, in bytes.
    pub(crate) server_queue: u32,
    /// If true, `storage` is pFabric's.
    pub(crate) ranked: bool,
    /// Rank of events of ports that become free, in exact arithmetic: 1 if they come last in their instant.
    pub(crate) port_rank: u64,
    /// Switches that a packet may reach; the last one drops it.
    pub(crate) ttl: u8,
    /// If true, all ports are `noted`, for histograms, queueing delays or bytes per flow.
    pub(crate) notes_queues: bool,
    /// Bytes after which a flow becomes an elephant; [`u64::MAX`]: never.
    pub(crate) demotion: u64,
    pub(crate) elephants: u8,
    /// If true, switches cut through to faster links too.
    pub(crate) underrun: bool,
    /// If true, some flows are RDMA's and some are not.
    pub(crate) mixed: bool,
    /// If true, links have no gaps, no jitter, whole picoseconds per byte, and no rounding as in ns-3: one comparison instead
    /// of four.
    pub(crate) plain_wires: bool,
    /// If true, switches write telemetry into packets.
    pub(crate) telemetry: bool,
    pub(crate) int: crate::congestion::IntFormat,
    /// Retransmission timeout in ps; [`u64::MAX`]: none.
    pub(crate) rto: u64,
    /// Most bytes of a flow in flight, whatever its control; [`u64::MAX`]: no bound.
    pub(crate) in_flight: u64,
    /// If true, losses are repaired by selective repeat.
    pub(crate) selective: bool,
    /// Packets that may overtake a packet before selective repeat counts it as lost.
    pub(crate) reorder_window: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct ControlState {
    pub(crate) control: Control,
    pub(crate) window: WindowMode,
    /// [`flag`](crate::kernel::flag) bits of its data packets.
    pub(crate) flags: u8,
    pub(crate) moves_next_send: bool,
}

#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) flows: Arc<FlowSet>,
    pub(crate) config: Config,
    pub(crate) controls: Vec<ControlState>,
    /// By label: RDMA control or transport of its flows.
    pub(crate) carriers: Vec<Carrier>,

    /// Simulated time in ps.
    pub(crate) now: u64,
    /// Width of the slots of the event wheel, as a power of two in ps.
    pub(crate) slot_bits: u32,
    pub(crate) pool: Pool,

    pub(crate) ports: Vec<Port>,
    /// By priority, then port.
    pub(crate) queues: Vec<Queue>,
    /// By port; empty without pFabric queues.
    pub(crate) ranked: Vec<RankedQueue>,
    /// By priority, then port.
    pub(crate) ingress: Vec<Ingress>,
    /// Distinct port rates, in bit/s.
    pub(crate) rates: Vec<u64>,
    /// By node: buffer of an empty switch.
    pub(crate) buffers: Vec<Option<Buffer>>,
    pub(crate) rule: Rule,
    pub(crate) tagging: Option<Box<Tagging>>,
    pub(crate) isolation: Option<Box<Isolation>>,
    pub(crate) isolations: Vec<IsolationRecord>,
    pub(crate) watchdog: Option<Box<Watchdog>>,
    pub(crate) detector: Detector,
    pub(crate) ecn: Vec<EcnPort>,
    pub(crate) pint: Option<Box<Pint>>,
    pub(crate) routing: Routing,
    pub(crate) jitter: Option<Box<jitter::Jitter>>,
    pub(crate) faults: Option<Box<Faults>>,

    /// Longest base RTT, and bytes in flight that fill it.
    pub(crate) base_rtt: Time,
    pub(crate) bdp: u64,
    pub(crate) transports: Transports,
    pub(crate) hypervisors: Option<Box<Hypervisors>>,
    pub(crate) gates: Gates,
    pub(crate) flows_done: usize,
    /// Flows to be done at the end: all but those cancelled.
    pub(crate) flows_due: usize,
    pub(crate) bytes_acked: u64,
    /// Payload of the flows due, in bytes.
    pub(crate) bytes: u64,
    /// Latest end of flows without a size, at most the horizon.
    pub(crate) end: Option<Time>,

    pub(crate) counts: Counts,
    pub(crate) ledger: Ledger,
    pub(crate) flow_records: Vec<FlowRecord>,
    pub(crate) recorder: Recorder,
}

impl Network {
    /// Index into `queues` and `ingress`.
    #[inline]
    pub(crate) fn at(&self, port: u32, prio: u8) -> usize {
        usize::from(prio) * self.ports.len() + port as usize
    }
}
