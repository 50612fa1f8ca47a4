//! What a node writes while it handles its events: packets onto its wires, and what is recorded of the run.

use incast_model::units::Time;

use super::calendar::Calendar;
use super::packet::{Carried, Packet, Stamp};
use super::plan::PortPlan;
use super::wire::Wire;
use crate::outcome::{Counts, DropRecord};

/// Something to record. Nodes write it down; between windows it goes into the run's records in order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Note {
    /// A priority of a port is paused: bytes at the ingress queue that caused it, and the egress port of the packet that did.
    Pause { at: usize, bytes: u64, culprit: u32 },
    /// A priority of a port may send again.
    Resume { at: usize },
    /// A packet is dropped on arrival.
    Drop { at: usize, record: DropRecord },
}

/// A note with its place in the order of events: time in ps, class and number of the event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noted {
    pub(super) time: Time,
    pub(super) event: u32,
    pub(super) note: Note,
}

/// Where nodes write.
#[derive(Debug)]
pub(super) struct Out {
    /// In the order of [`Layout::inward`](super::plan::Layout::inward).
    pub(super) wires: Vec<Wire>,
    /// By wire: when its first packet arrives, in ps; [`u64::MAX`] if it has none.
    pub(super) arrivals: Vec<u64>,
    pub(super) calendar: Calendar,
    pub(super) notes: Vec<Noted>,
    pub(super) counts: Counts,
    /// Wire bytes made, delivered and dropped, by priority.
    pub(super) injected: [u64; 8],
    pub(super) delivered: [u64; 8],
    pub(super) dropped: [u64; 8],
    /// Wire bytes that a tag has moved to each priority, less those moved from it.
    pub(super) retagged: [i64; 8],
    /// Flows completed.
    pub(super) done: usize,
    /// Packets that exist.
    pub(super) live: u64,
    /// Payload acknowledged, in bytes.
    pub(super) acked: u64,
    /// Time of the last arrival or start, in ps.
    pub(super) moved: u64,
}

impl Out {
    /// Puts a packet on the wire out of a port; `seen`: when its last bit leaves, or with cut-through its header, if the node at the far
    /// end needs no more. `woken`: until when that node is known to be awake.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        (plan, woken): (&PortPlan, &mut u64),
        seen: u64,
        packet: &Packet,
        stamp: Stamp,
        carried: &mut Carried,
    ) {
        let time = seen + plan.delay;
        if time >= *woken {
            *woken = self.calendar.wake(plan.peer, time);
        }
        let line = plan.line as usize;
        self.arrivals[line] = self.arrivals[line].min(time);
        self.wires[line].push(time, plan, packet, stamp, carried);
    }

    /// Takes the first packet of a wire, which has one.
    #[inline(always)]
    pub(super) fn take(&mut self, line: usize, carried: &mut Carried) -> Packet {
        let wire = &mut self.wires[line];
        let packet = wire.pop(carried);
        self.arrivals[line] = wire.first();
        packet
    }
}
