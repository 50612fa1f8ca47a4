//! The state of a running network, its event loop, and its parameters.
//!
//! The state is kept by kind rather than by node, because that is what caches like; but a handler touches only what
//! belongs to the node of its event and the packets that reach it. Nodes learn of each other by packets over links alone,
//! so the tables can be split among threads by node.

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

use crate::congestion::{Control, FlowContext, WindowMode};
use crate::deadlock::Detector;
use crate::host::{Gates, Nic, PacketParams, RdmaParams, Receiver, Selective, SendQp, Transports};
use crate::kernel::{EventQueue, NONE, Pool};
use crate::measure::{Blocking, Recorder};
use crate::ns3::Draws;
use crate::outcome::{Counts, FlowRecord, Ledger};
use crate::setup::Carrier;
use crate::switch::{EcnPort, Ingress, Isolation, Pint, RankedQueue, Scheduler, Storage, Switch, Tagging, Watchdog};
use crate::tenant::Hypervisors;

pub(crate) use cut_through::{Forwarded, WHOLE_PACKETS};
pub(crate) use fault::Faults;
pub(crate) use jitter::Sending;
pub use params::{FailureParams, NetworkParams, PauseParams, RandomLinks, RouteParams};
pub(crate) use progress::Limits;
pub use resolve::BadNetwork;
pub(crate) use routing::Routing;

/// What is at the far end of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Far {
    /// A switch.
    Switch,
    /// A host.
    Host,
    /// Either, but not all packets get there.
    Lossy,
}

/// Egress side of a port: what every packet that leaves touches, in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// When the packet being transmitted ends, in ps.
    pub(crate) busy_until: u64,
    /// Propagation delay to the far end, in ps.
    pub(crate) delay: u64,
    /// Wire bytes sent, as INT reports them.
    pub(crate) tx_bytes: u64,
    /// Packets on the wire towards the far end, first to arrive first.
    pub(crate) flight_head: u32,
    pub(crate) flight_tail: u32,
    /// Bytes queued, all priorities.
    pub(crate) queued: u32,
    /// Serialisation of a byte in ps, or 0 where that is not an integer.
    pub(crate) ps_per_byte: u32,
    /// The port at the far end.
    pub(crate) peer: u32,
    /// Index of the switch or NIC it belongs to.
    pub(crate) owner: u32,
    /// Index of the switch or NIC that its far end belongs to.
    pub(crate) peer_owner: u32,
    /// Priorities with queued packets, one bit each.
    pub(crate) waiting: u8,
    /// Priorities paused by the far end.
    pub(crate) paused: u8,
    /// Priority served last.
    pub(crate) last_served: u8,
    /// Index of its rate in the run's table.
    pub(crate) rate: u8,
    /// Belongs to a host.
    pub(crate) at_host: bool,
    /// What is at its far end.
    pub(crate) far: Far,
    /// A [`crate::kernel::Target::Port`] event is pending for it (switches; NICs keep its time).
    pub(crate) pending: bool,
    /// Its link is down.
    pub(crate) down: bool,
    /// Belongs to the switch in a server of VMs.
    pub(crate) at_server: bool,
    /// What comes into its queues and leaves them is noted: everywhere, or because flows are isolated here.
    pub(crate) noted: bool,
    /// Bytes of a packet that its far end waits for ([`WHOLE_PACKETS`]: all).
    pub(crate) cut: u16,
}

const _: () = assert!(size_of::<Port>() == 64);

/// One egress queue: a port's packets of one priority.
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

/// Parameters in the form that handlers use.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// `ns3` arithmetic.
    pub(crate) ns3: bool,
    pub(crate) packets: PacketParams,
    pub(crate) rdma: RdmaParams,
    /// Priorities under PFC, one bit each.
    pub(crate) lossless: u8,
    pub(crate) mark_at_enqueue: bool,
    /// How ports of switches store packets, and those of hosts what is not RDMA data.
    pub(crate) storage: Storage,
    pub(crate) host_storage: Storage,
    /// What a port of a server of VMs keeps, in bytes.
    pub(crate) server_queue: u32,
    /// Whether these are pFabric queues.
    pub(crate) ranked: bool,
    /// Rank of events of ports that become free, in exact arithmetic: 1 if they come after all else of their instant.
    pub(crate) port_rank: u64,
    /// Switches that a packet may come to, the last of which drops it.
    pub(crate) ttl: u8,
    /// A packet that comes to so many switches is looked at closely, by priority: all of them if tags are rewritten or a watchdog
    /// is at work, those that may be isolated or say what is, else those whose time to live ends.
    pub(crate) guarded_from: [u8; 8],
    /// Whether what comes into the queues of each port and leaves them is noted: for histograms, for how long packets wait, or
    /// for the bytes of each flow there.
    pub(crate) notes_queues: bool,
    /// Bytes after which a flow's data is an elephant's; [`u64::MAX`] for never.
    pub(crate) demotion: u64,
    /// The priority that it then has.
    pub(crate) elephants: u8,
    /// Cut-through towards whatever link.
    pub(crate) underrun: bool,
    /// Whether hosts have both RDMA and other transports.
    pub(crate) mixed: bool,
    /// Whether wires are as they mostly are: no gap between packets, no jitter, whole picoseconds for a byte at each rate, and times
    /// that are not rounded as the reference rounds them. One comparison for all of it.
    pub(crate) plain_wires: bool,
    /// Whether switches write into packets.
    pub(crate) telemetry: bool,
    pub(crate) int: crate::congestion::IntFormat,
    /// Retransmission timeout in ps, [`u64::MAX`] for none.
    pub(crate) rto: u64,
    /// Most bytes of a flow in flight, whatever its control; [`u64::MAX`] for no bound.
    pub(crate) in_flight: u64,
    /// Packets by which one may be overtaken before it counts as lost, with selective repeat.
    pub(crate) reorder_window: u64,
}

/// One congestion control in use.
#[derive(Debug, Clone)]
pub(crate) struct ControlState {
    pub(crate) control: Control,
    pub(crate) window: WindowMode,
    /// [`flag`](crate::kernel::flag) bits of its data packets.
    pub(crate) flags: u8,
    pub(crate) moves_next_send: bool,
}

/// Everything that a run changes.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) flows: Arc<FlowSet>,
    pub(crate) config: Config,
    pub(crate) controls: Vec<ControlState>,
    /// What carries the flows of each label.
    pub(crate) carriers: Vec<Carrier>,

    /// Simulated time in ps.
    pub(crate) now: u64,
    /// Rank of the event being handled.
    pub(crate) rank: u64,
    /// Next rank to hand out (`ns3` arithmetic).
    next_rank: u64,
    pub(crate) events: EventQueue,
    pub(crate) pool: Pool,

    pub(crate) ports: Vec<Port>,
    /// Rank reserved for the end of each port's transmission (`ns3` arithmetic; empty otherwise).
    end_rank: Vec<u64>,
    /// By priority, then port.
    pub(crate) queues: Vec<Queue>,
    /// pFabric queues by port; empty in runs without.
    pub(crate) ranked: Vec<RankedQueue>,
    /// By priority, then port.
    pub(crate) ingress: Vec<Ingress>,
    /// Rates of ports in bit/s, each once.
    pub(crate) rates: Vec<u64>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) scheduler: Scheduler,
    /// In runs with Tagger.
    pub(crate) tagging: Option<Box<Tagging>>,
    /// In runs with congestion isolation.
    pub(crate) isolation: Option<Box<Isolation>>,
    /// In runs with PFC watchdogs.
    pub(crate) watchdog: Option<Box<Watchdog>>,
    pub(crate) detector: Detector,
    pub(crate) ecn: Vec<EcnPort>,
    /// In runs with a control that uses it.
    pub(crate) pint: Option<Box<Pint>>,
    /// The random numbers of `ns3` arithmetic, one sequence for the whole run.
    pub(crate) draws: Option<Box<Draws>>,
    pub(crate) routing: Routing,
    /// In runs in which hosts take random times.
    pub(crate) jitter: Option<Box<jitter::Jitter>>,
    /// In runs in which links fail, nodes pause by themselves, or given routes change.
    pub(crate) faults: Option<Box<Faults>>,

    pub(crate) nics: Vec<Nic>,
    /// By NIC.
    pub(crate) contexts: Vec<FlowContext>,
    pub(crate) senders: Vec<SendQp>,
    pub(crate) free_senders: Vec<u32>,
    /// By flow: its sender, or [`crate::kernel::NONE`] before it starts and after it ends.
    pub(crate) sender_of: Vec<u32>,
    /// By flow.
    pub(crate) receivers: Vec<Receiver>,
    /// In runs with selective repeat.
    pub(crate) selective: Option<Box<Selective>>,
    /// Flows that are not RDMA's.
    pub(crate) transports: Transports,
    /// In runs with a layer between VMs and the network.
    pub(crate) hypervisors: Option<Box<Hypervisors>>,
    /// The next flow that starts by the clock alone.
    pub(crate) next_flow: usize,
    pub(crate) gates: Gates,
    pub(crate) flows_done: usize,
    /// All flows but those cancelled: when so many are done, the run is.
    pub(crate) flows_due: usize,
    pub(crate) bytes_acked: u64,
    /// Payload of these flows.
    pub(crate) bytes: u64,
    /// When the last of the flows without a size ends, or the run before.
    pub(crate) end: Option<Time>,

    pub(crate) counts: Counts,
    pub(crate) ledger: Ledger,
    pub(crate) flow_records: Vec<FlowRecord>,
    pub(crate) recorder: Recorder,
    /// In runs that measure how long packets wait.
    pub(crate) blocking: Option<Box<Blocking>>,
}

impl Network {
    /// Index of a queue or ingress queue.
    #[inline]
    pub(crate) fn at(&self, port: u32, prio: u8) -> usize {
        usize::from(prio) * self.ports.len() + port as usize
    }

    /// The rank of an event scheduled now: 0 in exact arithmetic, the order of scheduling in `ns3` arithmetic.
    #[inline]
    pub(crate) fn take_rank(&mut self) -> u64 {
        if self.config.ns3 {
            self.next_rank += 1;
            self.next_rank
        } else {
            0
        }
    }

    /// Rank of the end of a port's transmission. pFabric queues decide by all that has come in that instant, as in YAPS: what is
    /// most urgent need not be what came first.
    #[inline]
    pub(crate) fn end_rank(&self, port: u32) -> u64 {
        if self.config.ns3 { self.end_rank[port as usize] } else { self.config.port_rank }
    }

    /// Whether a port is not transmitting. In the instant in which a transmission ends, exact arithmetic takes it as ended;
    /// `ns3` arithmetic asks which event comes first.
    #[inline]
    pub(crate) fn idle(&self, port: u32) -> bool {
        let busy_until = self.ports[port as usize].busy_until;
        busy_until < self.now
            || (busy_until == self.now && (!self.config.ns3 || self.rank >= self.end_rank[port as usize]))
    }
}
