//! Output of a node while it handles events.

use incast_model::units::Time;

use super::calendar::Calendar;
use super::packet::{Carried, Packet, Stamp};
use super::plan::PortPlan;
use super::wire::Wire;
use crate::outcome::{Counts, DropRecord};

/// Record of an event; moves into the run's records in order between windows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Note {
    /// Ingress bytes that caused the pause, and egress port of the packet that did.
    Pause { at: usize, bytes: u64, culprit: u32 },
    /// A priority of a port may send again.
    Resume { at: usize },
    /// A packet is dropped.
    Drop { at: usize, record: DropRecord },
}

/// Note with the time in ps, and class and number of its event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noted {
    pub(super) time: Time,
    pub(super) event: u32,
    pub(super) note: Note,
}

#[derive(Debug)]
pub(super) struct Out {
    /// In the order of [`Layout::inward`](super::plan::Layout::inward).
    pub(super) wires: Vec<Wire>,
    /// By wire: arrival of its first packet, in ps; [`u64::MAX`]: none.
    pub(super) arrivals: Vec<u64>,
    pub(super) calendar: Calendar,
    pub(super) notes: Vec<Noted>,
    pub(super) counts: Counts,
    /// Wire bytes by priority.
    pub(super) injected: [u64; 8],
    pub(super) delivered: [u64; 8],
    pub(super) dropped: [u64; 8],
    /// Wire bytes moved to each priority by tags, less those moved from it.
    pub(super) retagged: [i64; 8],
    pub(super) done: usize,
    /// Packets that exist.
    pub(super) live: u64,
    /// Payload acknowledged, in bytes.
    pub(super) acked: u64,
    /// Time of the last arrival or start, in ps.
    pub(super) moved: u64,
}

impl Out {
    /// Puts a packet on a wire. `seen`: time at which the last bit leaves, or the header if the far end cuts through. `woken`:
    /// time until which the node at the far end is known to be awake.
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

    #[inline(always)]
    pub(super) fn take(&mut self, line: usize, carried: &mut Carried) -> Packet {
        let wire = &mut self.wires[line];
        let packet = wire.pop(carried);
        self.arrivals[line] = wire.first();
        packet
    }
}
