//! Flows that a host sends: their starts, gates and records.

use std::cmp::Reverse;

use incast_model::fabric::HostId;
use incast_model::units::Time;

use super::gates::Gates;
use crate::host::End;
use crate::kernel::{FlowId, Id, IdVec, PairId, ReceivedId, SentId};
use crate::nodes::out::Out;
use crate::nodes::plan::Plan;
use crate::outcome::FlowRecord;

/// As in [`FlowRecord`].
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::nodes) struct Progress {
    pub(super) start: Option<Time>,
    pub(super) finish: Option<Time>,
    /// Arrival of the last byte of a flow without a size.
    pub(super) delivered: Option<Time>,
    pub(super) acked: u64,
    pub(super) packets: u64,
    pub(super) retransmitted: u64,
    pub(super) marks: u64,
    pub(super) nacks: u32,
    pub(super) timeouts: u32,
}

impl Progress {
    fn is_under_way(&self) -> bool {
        self.start.is_some() && self.finish.is_none()
    }
}

#[derive(Debug)]
#[repr(C)]
pub(in crate::nodes) struct SentFlows {
    /// Time of `next`.
    next_clock: u64,
    gates: Option<Box<Gates>>,
    /// [`PairId::NONE`] before the start and after the end.
    pub(super) pair_of: IdVec<SentId, PairId>,
    pub(super) progress: IdVec<SentId, Progress>,
    pub(super) ids: IdVec<SentId, FlowId>,
    /// Next flow that starts by the clock alone.
    next: SentId,
}

impl SentFlows {
    pub(super) fn new(plan: Plan<'_>, host: HostId) -> Self {
        let ids = plan.layout.sent[host].clone();
        let mut flows = Self {
            next_clock: u64::MAX,
            gates: Gates::new(plan, host),
            pair_of: vec![PairId::NONE; ids.len()].into(),
            progress: vec![Progress::default(); ids.len()].into(),
            ids,
            next: SentId(0),
        };
        flows.find_next(plan, SentId(0));
        flows
    }

    fn find_next(&mut self, plan: Plan<'_>, first: SentId) {
        self.next = first;
        while self.gates.as_ref().is_some_and(|gates| gates.held.get(self.next) == Some(&true)) {
            self.next.0 += 1;
        }
        let next = self.ids.get(self.next);
        self.next_clock = next.map_or(u64::MAX, |&flow| plan.network.flow(flow).start.0);
    }

    pub(super) fn next_start(&self) -> (u64, SentId) {
        let by_clock = (self.next_clock, self.next);
        match self.gates.as_ref().and_then(|gates| gates.coming.peek()) {
            Some(&Reverse(behind_gate)) => by_clock.min(behind_gate),
            None => by_clock,
        }
    }

    #[inline(always)]
    pub(super) fn start_time(&self) -> u64 {
        if self.gates.is_some() { self.next_start().0 } else { self.next_clock }
    }

    pub(super) fn take_next(&mut self, plan: Plan<'_>, own: SentId) {
        match &mut self.gates {
            Some(gates) if gates.held[own] => drop(gates.coming.pop()),
            _ => self.find_next(plan, SentId(self.next.0 + 1)),
        }
    }

    /// Behind a gate that has not opened, or has not started since.
    pub(in crate::nodes) fn waits_at_gate(&self, own: SentId) -> bool {
        let held = self.gates.as_ref().is_some_and(|gates| gates.held[own]);
        held && self.progress[own].start.is_none()
    }

    pub(in crate::nodes) fn has_starts(&self) -> bool {
        self.next.index() < self.ids.len() || self.gates.as_ref().is_some_and(|gates| !gates.coming.is_empty())
    }

    /// Behind an opened gate.
    pub(in crate::nodes) fn open(&mut self, own: SentId, time: u64) {
        if let Some(gates) = &mut self.gates {
            gates.coming.push(Reverse((time, own)));
        }
    }

    #[inline]
    pub(super) const fn has_gates(&self) -> bool {
        self.gates.is_some()
    }

    pub(super) fn pass_acked(&mut self, plan: Plan<'_>, out: &mut Out, now: u64, own: SentId) {
        if let Some(gates) = &mut self.gates {
            if plan.layout.gates.is_empty() {
                out.shared.ends.push((now, self.ids[own], End::Acked));
            } else {
                let earliest = |own| plan.network.flow(self.ids[own]).start.0;
                gates.acked(own, now, earliest, &mut out.shared.begins);
            }
        }
    }

    pub(super) fn pass_delivered(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        (host, now): (HostId, u64),
        own: ReceivedId,
    ) {
        if let Some(gates) = &mut self.gates {
            if plan.layout.gates.is_empty() {
                out.shared.ends.push((now, plan.layout.received[host][own], End::Delivered));
            } else {
                let earliest = |own| plan.network.flow(self.ids[own]).start.0;
                gates.delivered(own, now, earliest, &mut out.shared.begins);
            }
        }
    }

    /// All bytes of a flow without a size have arrived, as its sender knows.
    #[cold]
    pub(super) fn pass_sent_delivered(&self, plan: Plan<'_>, out: &mut Out, now: u64, own: SentId) {
        if self.gates.is_some() && plan.layout.gates.is_empty() {
            out.shared.ends.push((now, self.ids[own], End::Delivered));
        }
    }

    /// Payload that a flow has not sent once, at least. `None` if it has ended.
    pub(in crate::nodes) fn unsent(&self, plan: Plan<'_>, own: SentId) -> Option<u64> {
        let (Progress { finish, packets, .. }, sizes) = (&self.progress[own], &plan.network.config.packets);
        let sent = packets * sizes.payload.0.max(sizes.mss.0);
        finish.is_none().then(|| plan.network.flow(self.ids[own]).size.0.saturating_sub(sent))
    }

    pub(super) fn under_way(&self) -> impl Iterator<Item = SentId> {
        self.progress.numbered().filter(|(_, one)| one.is_under_way()).map(|(own, _)| own)
    }

    pub(in crate::nodes) fn record(&self, records: &mut IdVec<FlowId, FlowRecord>) {
        for (progress, &flow) in self.progress.iter().zip(&self.ids) {
            let record = &mut records[flow];
            (record.start, record.finish, record.acked) = (progress.start, progress.finish, progress.acked);
            record.delivered = progress.delivered;
            (record.packets, record.retransmitted) = (progress.packets, progress.retransmitted);
            (record.marks, record.nacks, record.timeouts) = (progress.marks, progress.nacks, progress.timeouts);
        }
    }
}
