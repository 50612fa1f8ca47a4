//! Host ports: queued packets first (control packets, and all of transports other than RDMA), then one data packet from each
//! ready queue pair in turn. In runs with both, queued data and queue pairs take turns.
//!
//! A queue pair that may send is *ready* (in the [`Turns`] of its priority) or *paced* (in a heap by its next time); one that
//! is bound by its window or has nothing left is in neither. So a packet costs hardly more with a thousand queue pairs than
//! with two.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::reference::ReferenceNic;
use super::sender::QpState;
use super::turns::Turns;
use crate::kernel::{Event, Kind, Target};
use crate::network::Network;

#[derive(Debug)]
pub(crate) struct Nic {
    pub(crate) port: u32,
    /// Ready queue pairs by priority.
    turns: [Turns; 8],
    /// Priorities with ready queue pairs, one bit each.
    pub(crate) ready: u8,
    last_control: u8,
    /// If true, a queue pair was served last, not queued data; for runs with both.
    pair_served: bool,
    /// Paced queue pairs: time, flow, sender. Outdated entries are skipped.
    paced: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// Time of the pending [`Target::Port`] event; [`u64::MAX`]: none.
    due: u64,
    /// In place of all this in `ns3` arithmetic.
    pub(crate) reference: ReferenceNic,
}

impl Nic {
    pub(crate) fn new(port: u32) -> Self {
        Self {
            port,
            turns: Default::default(),
            ready: 0,
            last_control: 0,
            pair_served: false,
            paced: BinaryHeap::new(),
            due: u64::MAX,
            reference: ReferenceNic::default(),
        }
    }
}

impl Network {
    /// Serves a port now, or when it becomes free.
    #[inline]
    pub(crate) fn kick_nic(&mut self, port: u32) {
        if self.config.ns3 {
            self.kick_reference(port);
        } else if self.idle(port) {
            self.serve_nic(port);
        } else {
            let free = self.ports[port as usize].busy_until;
            self.serve_nic_at(port, free);
        }
    }

    pub(crate) fn nic_due(&mut self, port: u32) {
        let nic = &mut self.nics[self.ports[port as usize].owner as usize];
        if nic.due == self.now {
            nic.due = u64::MAX;
            self.kick_nic(port);
        }
    }

    fn serve_nic_at(&mut self, port: u32, time: u64) {
        let nic = &mut self.nics[self.ports[port as usize].owner as usize];
        if time < nic.due {
            nic.due = time;
            self.events.push(Event::new(time, self.config.port_rank, Target::Port(port)));
        }
    }

    #[inline]
    pub(crate) fn eligible_control(&self, port: u32) -> u8 {
        let state = &self.ports[port as usize];
        let paused = if self.config.rdma.acks_ignore_pause { 0 } else { state.paused };
        state.waiting & (!paused | 1)
    }

    /// Sends the next packet of an idle port, if one may go, and schedules the next service.
    fn serve_nic(&mut self, port: u32) {
        let queued = self.eligible_control(port);
        if self.config.mixed && self.is_turn_of_pairs(port, queued) && self.send_of_pairs(port) {
            // Served.
        } else if queued != 0 {
            self.send_queued(port, queued);
        } else if let Some(id) = self.pull(port) {
            self.transmit(port, id);
        } else {
            self.send_of_pairs(port);
        }
        self.arrange(port);
    }

    /// Sends a packet of the queue pair in turn; false if none may send now.
    #[inline]
    fn send_of_pairs(&mut self, port: u32) -> bool {
        let Some(sender) = self.next_ready(port) else { return false };
        self.send_data(port, sender);
        self.place(sender);
        true
    }

    fn send_queued(&mut self, port: u32, queued: u8) {
        let prio = self.choose_control(port, queued);
        let id = self.dequeue(port, prio);
        self.left_host(id);
        self.transmit(port, id);
    }

    /// Returns true if a queue pair goes before queued packets or pHost: if all queued packets are data and had their turn.
    /// Under strict priority the higher priority goes first.
    fn is_turn_of_pairs(&mut self, port: u32, queued: u8) -> bool {
        self.release_paced(port);
        let owner = self.ports[port as usize].owner as usize;
        let ready = self.nics[owner].ready & !self.ports[port as usize].paused;
        let is_data = |prio: u8| self.first_queued(port, prio).is_some_and(|id| self.pool[id].kind == Kind::Segment);
        if ready == 0 || (0..8).any(|prio| queued & 1 << prio != 0 && !is_data(prio)) {
            return false;
        }
        if self.scheduler.rule.is_strict() && queued != 0 && ready.leading_zeros() != queued.leading_zeros() {
            return ready > queued;
        }
        let nic = &mut self.nics[owner];
        nic.pair_served = !nic.pair_served;
        nic.pair_served
    }

    /// Schedules the next service: when the port is free if something is ready, else when the first paced queue pair is due.
    fn arrange(&mut self, port: u32) {
        let free = self.ports[port as usize].busy_until;
        let paused = self.ports[port as usize].paused;
        let control = self.eligible_control(port);
        let nic = &self.nics[self.ports[port as usize].owner as usize];
        if control != 0
            || nic.ready & !paused != 0
            || self.transports.endpoints.may_pull(self.ports[port as usize].owner)
        {
            if free > self.now {
                self.serve_nic_at(port, free);
            }
        } else if let Some(&Reverse((time, ..))) = nic.paced.peek() {
            self.serve_nic_at(port, time.max(free));
        }
    }

    /// Control packets take turns among themselves, without effect on the turns of data.
    pub(crate) fn choose_control(&mut self, port: u32, eligible: u8) -> u8 {
        let nic = &mut self.nics[self.ports[port as usize].owner as usize];
        nic.last_control = self.scheduler.rule.choose_control(eligible, nic.last_control);
        nic.last_control
    }

    /// Takes out the queue pair in turn; `None` if none may send now.
    fn next_ready(&mut self, port: u32) -> Option<u32> {
        self.release_paced(port);
        let owner = self.ports[port as usize].owner as usize;
        let paused = self.ports[port as usize].paused;
        let mut unseen = self.nics[owner].ready & !paused;
        while unseen != 0 {
            self.drop_bound(owner, unseen.trailing_zeros() as usize);
            unseen &= unseen - 1;
        }
        let eligible = self.nics[owner].ready & !paused;
        if eligible == 0 {
            return None;
        }
        let prio = usize::from(self.choose(port, eligible));
        let sender = self.pop_ready(owner, prio)?;
        self.nics[owner].turns[prio].served(self.senders[sender as usize].flow);
        Some(sender)
    }

    /// Takes out queue pairs that are first in turn but may no longer send.
    fn drop_bound(&mut self, owner: usize, prio: usize) {
        while let Some(sender) = self.nics[owner].turns[prio].first() {
            let qp = &self.senders[sender as usize];
            if qp.is_live() && qp.may_send() && qp.next_avail <= self.now {
                return;
            }
            let live = qp.is_live();
            self.pop_ready(owner, prio);
            if live {
                self.place(sender);
            } else {
                self.free_senders.push(sender);
            }
        }
    }

    pub(crate) fn take_from_turns(&mut self, sender: u32) {
        if self.senders[sender as usize].state != QpState::Ready {
            return;
        }
        if self.blocking.is_some() {
            self.end_pair_wait(sender);
        }
        let qp = &mut self.senders[sender as usize];
        qp.state = QpState::Idle;
        let (port, prio, flow) = (qp.port, usize::from(qp.prio), qp.flow);
        let nic = &mut self.nics[self.ports[port as usize].owner as usize];
        nic.turns[prio].remove(flow);
        if nic.turns[prio].is_empty() {
            nic.ready &= !(1 << prio);
        }
    }

    fn pop_ready(&mut self, owner: usize, prio: usize) -> Option<u32> {
        let nic = &mut self.nics[owner];
        let sender = nic.turns[prio].pop()?;
        self.senders[sender as usize].state = QpState::Idle;
        if nic.turns[prio].is_empty() {
            nic.ready &= !(1 << prio);
        }
        Some(sender)
    }

    /// Wire bytes; 0 if no queue pair is ready.
    #[inline(never)]
    pub(crate) fn ready_size(&self, port: u32, prio: u8) -> u64 {
        let nic = &self.nics[self.ports[port as usize].owner as usize];
        let Some(first) = nic.turns[usize::from(prio)].first() else { return 0 };
        let qp = &self.senders[first as usize];
        let flags = self.controls[usize::from(qp.control)].flags;
        self.config.packets.data_size(qp.next_payload(&self.config.packets), flags)
    }

    fn release_paced(&mut self, port: u32) {
        let owner = self.ports[port as usize].owner as usize;
        while let Some(&Reverse((time, flow, sender))) = self.nics[owner].paced.peek()
            && time <= self.now
        {
            self.nics[owner].paced.pop();
            let qp = &mut self.senders[sender as usize];
            if qp.flow == flow && qp.state == QpState::Paced && qp.next_avail == time {
                qp.state = QpState::Idle;
                self.place(sender);
            }
        }
    }

    /// Flows of queue pairs that only a pause keeps from sending, and since when.
    pub(crate) fn held_pairs(&self, port: u32, prio: u8) -> Vec<(u32, u64)> {
        let nic = &self.nics[self.ports[port as usize].owner as usize];
        let ready = nic.turns[usize::from(prio)].iter().filter(|&(flow, sender)| {
            let qp = &self.senders[sender as usize];
            qp.flow == flow && qp.state == QpState::Ready
        });
        // Due, but nothing has happened at the port since.
        let due = nic.paced.iter().map(|Reverse((time, flow, sender))| (*time, *flow, *sender)).filter(
            |&(time, flow, sender)| {
                let qp = &self.senders[sender as usize];
                time <= self.now
                    && qp.flow == flow
                    && qp.state == QpState::Paced
                    && qp.placed_at == time
                    && qp.prio == prio
            },
        );
        let all = ready.chain(due.map(|(_, flow, sender)| (flow, sender)));
        let pairs = all.map(|(flow, sender)| (flow, &self.senders[sender as usize]));
        let held = pairs.filter(|(_, qp)| qp.may_send() && qp.next_avail <= self.now);
        let mut held: Vec<(u32, u64)> = held.map(|(flow, qp)| (flow, qp.placed_at)).collect();
        // The heap can have an entry twice.
        held.sort_unstable();
        held.dedup();
        held
    }

    /// Makes a queue pair ready, paced or idle after a change.
    pub(crate) fn place(&mut self, sender: u32) {
        let qp = &mut self.senders[sender as usize];
        if self.config.ns3 || qp.state == QpState::Ready {
            return; // the list of the reference has it; a ready one is looked at again when its turn comes
        }
        if !qp.may_send() {
            qp.state = QpState::Idle;
            return;
        }
        let (port, prio, time, flow) = (qp.port, usize::from(qp.prio), qp.next_avail, qp.flow);
        let nic = &mut self.nics[self.ports[port as usize].owner as usize];
        if time > self.now.max(self.ports[port as usize].busy_until) {
            if qp.state != QpState::Paced || qp.placed_at != time {
                qp.state = QpState::Paced;
                qp.placed_at = time;
                nic.paced.push(Reverse((time, flow, sender)));
            }
            return;
        }
        qp.state = QpState::Ready;
        qp.placed_at = time.max(self.now);
        nic.turns[prio].push(flow, sender);
        nic.ready |= 1 << prio;
    }
}
