//! NIC of the HPCC authors' ns-3 (`qbb-net-device.cc`: GetNextQindex, DequeueAndTransmit, UpdateNextAvail): queue pairs in
//! order of creation, scanned from after the last index served. Only scans remove completed pairs. The wake-up is at the
//! earliest next time of *all* pairs with unsent bytes, window-bound and paused ones included.

use super::Host;
use crate::kernel::{IdVec, LocalPort, PairId, SentId};
use crate::nodes::out::Out;
use crate::nodes::plan::Plan;
use crate::nodes::run::NS3;

#[derive(Debug, Default)]
pub(super) struct ReferenceNic {
    /// In order of creation.
    flows: Vec<SentId>,
    /// Index served last. Not adjusted when entries before it go.
    last: usize,
    /// Pending wake-up: time, rank.
    wake: Option<(u64, u64)>,
    /// Served at the end of the transmission.
    pending: bool,
}

impl ReferenceNic {
    pub(super) fn add(&mut self, own: SentId) {
        self.flows.push(own);
    }

    fn remove_completed(&mut self, first: usize, pair_of: &IdVec<SentId, PairId>) {
        let mut position = 0;
        self.flows.retain(|&own| {
            position += 1;
            position <= first || pair_of[own] != PairId::NONE
        });
    }
}

impl Host {
    fn reference(&mut self, nic: LocalPort) -> &mut ReferenceNic {
        &mut self.nics[nic].reference
    }

    /// TriggerTransmit: nothing while busy; the end of the transmission tries again.
    pub(super) fn kick_reference(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        let state = &self.nics[nic];
        if !state.reference.pending && out.ns3().is_idle(state.link.port, state.busy_until, self.now) {
            self.serve_reference(plan, out, nic);
        }
    }

    pub(super) fn free_reference(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        self.reference(nic).pending = false;
        self.serve_reference(plan, out, nic);
    }

    /// A wake-up that was moved does nothing.
    pub(super) fn wake_reference(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        let wake = Some((self.now, out.ns3().rank));
        if self.reference(nic).wake == wake {
            self.reference(nic).wake = None;
            self.kick_reference(plan, out, nic);
        }
    }

    /// DequeueAndTransmit of an idle port.
    fn serve_reference(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        let control = self.nics[nic].eligible_control(&self.params.rdma);
        if control != 0 {
            self.send_queued::<NS3>(plan, out, nic, control);
        } else if let Some(pair) = self.next_in_reference(nic) {
            self.send_data::<NS3>(plan, out, pair);
        } else {
            return self.sleep_reference(out, nic);
        }
        let state = &mut self.nics[nic];
        state.reference.pending = true;
        out.ns3().serve_when_free(state.link.port, state.busy_until);
    }

    /// GetNextQindex. Removes completed flows met, from the smallest index on.
    fn next_in_reference(&mut self, nic: LocalPort) -> Option<PairId> {
        let (paused, list) = (self.nics[nic].paused, &self.nics[nic].reference);
        let count = list.flows.len();
        let mut first_done = usize::MAX;
        let mut found = None;
        for step in 1..=count {
            let index = (step + list.last) % count;
            let place = self.flows.pair_of[list.flows[index]];
            if place == PairId::NONE {
                first_done = first_done.min(index);
                continue;
            }
            let pair = &self.pairs[place];
            if paused & 1 << pair.prio == 0 && pair.may_send() && pair.next_avail <= self.now {
                found = Some((index, place));
                break;
            }
        }
        let list = &mut self.nics[nic].reference;
        if first_done != usize::MAX {
            if let Some((index, _)) = &mut found
                && *index > first_done
            {
                let done = |own: &&SentId| self.flows.pair_of[**own] == PairId::NONE;
                *index -= list.flows[first_done..*index].iter().filter(done).count();
            }
            list.remove_completed(first_done, &self.flows.pair_of);
        }
        found.map(|(index, place)| {
            list.last = index;
            place
        })
    }

    /// Wakes up at the earliest next time, unless a wake-up is pending or the time has passed.
    fn sleep_reference(&mut self, out: &mut Out, nic: LocalPort) {
        let list = &self.nics[nic].reference;
        let pairs = list.flows.iter().filter_map(|&own| self.pairs.get(self.flows.pair_of[own]));
        let earliest = pairs.filter(|pair| pair.stream.next < pair.stream.size).map(|pair| pair.next_avail).min();
        if let Some(time) = earliest
            && list.wake.is_none()
            && time > self.now
        {
            self.wake_reference_at(out, nic, time);
        }
    }

    fn wake_reference_at(&mut self, out: &mut Out, nic: LocalPort, time: u64) {
        let state = &mut self.nics[nic];
        state.reference.wake = Some((time, out.ns3().wake(state.link.port, time)));
    }

    /// UpdateNextAvail, after an ACK of a control that moves its next transmission: moves a pending wake-up earlier.
    pub(super) fn hasten_reference(&mut self, out: &mut Out, place: PairId) {
        let pair = &self.pairs[place];
        if !pair.control.moves_next_send {
            return;
        }
        let (nic, time) = (pair.nic, pair.next_avail);
        if let Some((pending, _)) = self.reference(nic).wake
            && time < pending
        {
            self.wake_reference_at(out, nic, time.max(self.now));
        }
    }
}
