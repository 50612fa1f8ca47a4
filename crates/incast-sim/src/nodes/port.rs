use super::calendar::Woken;
use super::plan::{Plan, PortPlan};
use crate::kernel::NONE;
use crate::switch::{EcnPort, Ingress};

/// List of packets in a slab, with counters. Sizes are in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) bytes: u32,
    pub(super) peak: u32,
    pub(super) tx_bytes: u64,
    pub(super) tx_packets: u64,
}

impl Queue {
    pub(super) const EMPTY: Self = Self { head: NONE, tail: NONE, bytes: 0, peak: 0, tx_bytes: 0, tx_packets: 0 };
}

/// State of a priority: one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Lane {
    pub(super) queue: Queue,
    pub(super) ingress: Ingress,
}

const _: () = assert!(size_of::<Lane>() == 64);

/// Port with its queues. The first cache line has what every packet needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port {
    /// End of the current transmission and the gap after it, in ps.
    pub(super) busy_until: u64,
    /// Wire bytes sent, as INT reports them.
    pub(super) tx_bytes: u64,
    pub(super) plan: PortPlan,
    pub(super) woken: Woken,
    /// Number in the fabric.
    pub(super) number: u32,
    /// Bytes queued in all priorities.
    pub(super) queued: u32,
    /// Priorities with queued packets, one bit each, and priorities paused by the far end.
    pub(super) waiting: u8,
    pub(super) paused: u8,
    pub(super) last_served: u8,
    /// Index in the run's table of rates.
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
            woken: Woken::default(),
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

    /// Counter of what came by the port under a priority.
    pub(super) const fn ingress(&self, priority: u8) -> &Ingress {
        &self.lanes[priority as usize].ingress
    }

    /// Queue and counter of a priority, and its ECN marks.
    pub(super) const fn lane_and_marks(&self, priority: u8) -> (Lane, u64) {
        (self.lanes[priority as usize], self.marks[priority as usize])
    }
}
