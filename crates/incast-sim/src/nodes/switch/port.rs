//! State of a switch port.

use incast_model::fabric::PortId;

use crate::nodes::calendar::Woken;
use crate::nodes::lane::{Lane, Queue};
use crate::nodes::plan::{Plan, PortPlan};
use crate::switch::{EcnPort, Ingress};

/// The first cache line has what every packet needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(in crate::nodes) struct Port {
    /// End of the transmission and its gap.
    pub(super) busy_until: u64,
    pub(super) plan: PortPlan,
    pub(super) woken: Woken,
    /// Bytes in all priorities.
    pub(in crate::nodes) queued: u32,
    /// Priorities with queued packets, and those paused by the far end, as bits.
    pub(in crate::nodes) waiting: u8,
    pub(in crate::nodes) paused: u8,
    pub(super) last_served: u8,
    /// Index in the run's table of rates.
    pub(in crate::nodes) rate: u8,
    /// Served when the port becomes free.
    pub(super) pending: bool,
    pub(in crate::nodes) down: bool,
    /// Number in the fabric.
    pub(in crate::nodes) number: PortId,
    /// Wire bytes, as INT reports them; only in runs with telemetry.
    pub(super) tx_bytes: u64,
    pub(super) ecn: EcnPort,
    pub(in crate::nodes) lanes: [Lane; 8],
    /// ECN marks by priority.
    pub(super) marks: [u64; 8],
}

#[derive(Debug, Clone, Copy, Default)]
pub(in crate::nodes) struct Pauses {
    pub(in crate::nodes) since: Option<u64>,
    pub(in crate::nodes) ended: Option<u64>,
    /// Congested port that caused the last pause (`measure.blocking`).
    pub(in crate::nodes) root: Option<PortId>,
}

impl Port {
    pub(super) fn new(plan: Plan<'_>, number: PortId) -> Self {
        let network = plan.network;
        Self {
            busy_until: 0,
            tx_bytes: 0,
            plan: plan.layout.ports[number],
            woken: Woken::default(),
            number,
            queued: 0,
            waiting: 0,
            paused: 0,
            last_served: 0,
            rate: network.ports[number].rate,
            pending: false,
            down: false,
            lanes: std::array::from_fn(|prio| Lane {
                queue: Queue::EMPTY,
                ingress: network.switches.ingress[network.at(number, prio as u8)],
            }),
            ecn: network.switches.ecn[number.index()],
            marks: [0; 8],
        }
    }

    pub(in crate::nodes) const fn ingress(&self, priority: u8) -> &Ingress {
        &self.lanes[priority as usize].ingress
    }

    /// Wire bytes sent.
    pub(in crate::nodes) fn sent(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.queue.tx_bytes).sum()
    }

    pub(in crate::nodes) const fn lane_and_marks(&self, priority: u8) -> (Lane, u64) {
        (self.lanes[priority as usize], self.marks[priority as usize])
    }
}
