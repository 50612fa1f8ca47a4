use super::packet::Slab;
use super::plan::{Plan, PortPlan};
use super::pool;
use crate::network::{Network, Queue};
use crate::switch::{EcnPort, Ingress};

/// State of a priority: one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Lane {
    pub(super) queue: Queue,
    pub(super) ingress: Ingress,
}

const _: () = assert!(size_of::<Lane>() == 64);

/// Port with its queues; fields as in [`crate::network::Port`]. The first cache line has what every packet needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port {
    pub(super) busy_until: u64,
    pub(super) tx_bytes: u64,
    pub(super) plan: PortPlan,
    /// Time until which the node at the far end is known to be awake, in ps.
    pub(super) woken: u64,
    /// Number in the fabric.
    pub(super) number: u32,
    pub(super) queued: u32,
    pub(super) waiting: u8,
    pub(super) paused: u8,
    pub(super) last_served: u8,
    pub(super) rate: u8,
    /// If true, the port is served when it becomes free.
    pub(super) pending: bool,
    pub(super) down: bool,
    /// By priority.
    pub(super) lanes: [Lane; 8],
    pub(super) ecn: EcnPort,
    /// ECN marks by priority.
    pub(super) marks: [u64; 8],
}

/// State of a port before its link failed.
#[derive(Debug)]
pub(super) struct Failed {
    /// End of the last transmission, in ps.
    pub(super) free_at: u64,
    /// Priorities paused by the far end, and priorities paused there.
    pub(super) paused: u8,
    pub(super) pausing: u8,
}

/// Pauses of an egress queue; times in ps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pauses {
    /// Begin of the one in force.
    pub(super) since: Option<u64>,
    /// End of the last one.
    pub(super) ended: Option<u64>,
    /// Congested port that caused the last one, if known (`measure.blocking`).
    pub(super) root: Option<u32>,
}

impl Port {
    pub(super) fn new(plan: Plan<'_>, number: u32) -> Self {
        let (network, at) = (plan.network, number as usize);
        Self {
            busy_until: 0,
            tx_bytes: 0,
            plan: plan.layout.ports[at],
            woken: 0,
            number,
            queued: 0,
            waiting: 0,
            paused: 0,
            last_served: 0,
            rate: network.ports[at].rate,
            pending: false,
            down: false,
            lanes: std::array::from_fn(|prio| Lane {
                queue: Queue::EMPTY,
                ingress: network.ingress[network.at(number, prio as u8)],
            }),
            ecn: network.ecn[at],
            marks: [0; 8],
        }
    }

    /// `number_of` maps a port of the switch to its number in the fabric.
    pub(super) fn export(&self, slab: &Slab, network: &mut Network, number_of: impl Fn(u16) -> u32) {
        let state = &mut network.ports[self.number as usize];
        (state.busy_until, state.tx_bytes, state.queued) = (self.busy_until, self.tx_bytes, self.queued);
        (state.waiting, state.paused) = (self.waiting, self.paused);
        for (prio, lane) in (0u8..).zip(&self.lanes) {
            let at = network.at(self.number, prio);
            let packets = slab.list(lane.queue.head).map(|packet| pool::packet(packet, number_of(packet.in_port)));
            let (head, tail) = network.list_of(packets);
            network.queues[at] = Queue { head, tail, ..lane.queue };
            network.ingress[at] = lane.ingress;
            network.recorder.marks[at] = self.marks[usize::from(prio)];
        }
    }
}
