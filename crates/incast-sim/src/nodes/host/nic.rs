//! The NIC: control packets first, then a data packet of each ready queue pair in turn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pair::PairState;
use super::{Host, PRIORITIES};
use crate::host::Turns;
use crate::kernel::NONE;
use crate::nodes::out::Out;
use crate::switch::{Rule, Served};

/// Which queue pairs may send, and when.
#[derive(Debug)]
pub(super) struct Nic {
    rule: Rule,
    /// Ready queue pairs by priority.
    turns: [Turns; PRIORITIES],
    /// Priorities with ready queue pairs, one bit each.
    ready: u8,
    /// Turns of data, and the priority of the last control packet.
    served: Served,
    last_control: u8,
    /// Paced queue pairs: time, flow, place. Entries that no longer hold are skipped.
    paced: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// When the port is served next, in ps; [`u64::MAX`]: not before something changes.
    pub(super) due: u64,
}

impl Nic {
    pub(super) fn new(rule: Rule) -> Self {
        Self {
            rule,
            turns: Default::default(),
            ready: 0,
            served: Served::default(),
            last_control: 0,
            paced: BinaryHeap::new(),
            due: u64::MAX,
        }
    }
}

impl Host {
    /// Serves the port, which has something new to send or may send again; when it becomes free, if it is busy.
    #[inline]
    pub(super) fn kick(&mut self, out: &mut Out) {
        if self.busy_until <= self.now {
            self.serve(out);
        } else {
            self.nic.due = self.nic.due.min(self.busy_until);
        }
    }

    /// Queues of control packets that may send.
    #[inline]
    fn eligible_control(&self) -> u8 {
        let paused = if self.rdma.acks_ignore_pause { 0 } else { self.paused };
        self.waiting & (!paused | 1)
    }

    /// Sends the next packet of the idle port, if one may go, and plans the next.
    fn serve(&mut self, out: &mut Out) {
        let queued = self.eligible_control();
        if queued != 0 {
            self.send_control(out, queued);
        } else if let Some(pair) = self.next_ready() {
            self.send_data(out, pair);
            self.place(pair);
        }
        let free = self.busy_until;
        if self.eligible_control() != 0 || self.nic.ready & !self.paused != 0 {
            if free > self.now {
                self.nic.due = self.nic.due.min(free);
            }
        } else if let Some(&Reverse((time, ..))) = self.nic.paced.peek() {
            self.nic.due = self.nic.due.min(time.max(free));
        }
    }

    fn send_control(&mut self, out: &mut Out, eligible: u8) {
        let prio = self.nic.rule.choose_control(eligible, self.nic.last_control);
        self.nic.last_control = prio;
        let queue = &mut self.queues[usize::from(prio & 7)];
        let (packet, next) = self.slab.remove(queue.head, &mut self.records);
        queue.head = next;
        queue.bytes -= u32::from(packet.size);
        if queue.head == NONE {
            self.waiting &= !(1 << prio);
        }
        self.queued -= u32::from(packet.size);
        self.transmit(out, &packet);
    }

    /// Takes out the queue pair whose turn it is; `None` if none may send now.
    fn next_ready(&mut self) -> Option<u32> {
        self.release_paced();
        let mut unseen = self.nic.ready & !self.paused;
        while unseen != 0 {
            self.drop_bound(unseen.trailing_zeros() as usize);
            unseen &= unseen - 1;
        }
        let eligible = self.nic.ready & !self.paused;
        if eligible == 0 {
            return None;
        }
        let prio = usize::from(self.choose(eligible) & 7);
        let pair = self.pop_ready(prio)?;
        self.nic.turns[prio].served(self.pairs[pair as usize].flow);
        Some(pair)
    }

    /// The priority of which a queue pair sends next.
    fn choose(&mut self, eligible: u8) -> u8 {
        let (rule, waiting, mut served) = (self.nic.rule, self.nic.ready, self.nic.served);
        let prio = if rule.is_drr() {
            rule.choose_drr(eligible, waiting, &mut served, |prio| self.ready_size(prio))
        } else {
            rule.choose_simply(eligible, &mut served.last)
        };
        self.nic.served = served;
        prio
    }

    /// Wire bytes of the next data packet of a priority that has ready queue pairs.
    fn ready_size(&self, prio: u8) -> u32 {
        let Some(first) = self.nic.turns[usize::from(prio)].first() else { return 0 };
        self.pairs[first as usize].next_size(&self.packets) as u32
    }

    /// Takes out the queue pairs first in turn that may no longer send, before one of them gets a turn.
    fn drop_bound(&mut self, prio: usize) {
        while let Some(place) = self.nic.turns[prio].first() {
            let pair = &self.pairs[place as usize];
            let live = pair.flow != NONE;
            if live && pair.may_send() && pair.next_avail <= self.now {
                return;
            }
            self.pop_ready(prio);
            if live {
                self.place(place);
            } else {
                self.free.push(place);
            }
        }
    }

    fn pop_ready(&mut self, prio: usize) -> Option<u32> {
        let place = self.nic.turns[prio].pop()?;
        self.pairs[place as usize].state = PairState::Idle;
        if self.nic.turns[prio].is_empty() {
            self.nic.ready &= !(1 << prio);
        }
        Some(place)
    }

    /// Makes paced queue pairs that are due ready.
    fn release_paced(&mut self) {
        while let Some(&Reverse((time, flow, place))) = self.nic.paced.peek()
            && time <= self.now
        {
            self.nic.paced.pop();
            let pair = &mut self.pairs[place as usize];
            if pair.flow == flow && pair.state == PairState::Paced && pair.next_avail == time {
                pair.state = PairState::Idle;
                self.place(place);
            }
        }
    }

    /// Makes a queue pair ready, paced or idle, after anything about it has changed. A ready one is looked at again in its turn.
    pub(super) fn place(&mut self, place: u32) {
        let pair = &mut self.pairs[place as usize];
        if pair.state == PairState::Ready {
            return;
        }
        if !pair.may_send() {
            pair.state = PairState::Idle;
            return;
        }
        let (time, flow, prio) = (pair.next_avail, pair.flow, usize::from(pair.prio & 7));
        if time > self.now.max(self.busy_until) {
            if pair.state != PairState::Paced || pair.placed_at != time {
                pair.state = PairState::Paced;
                pair.placed_at = time;
                self.nic.paced.push(Reverse((time, flow, place)));
            }
            return;
        }
        pair.state = PairState::Ready;
        self.nic.turns[prio].push(flow, place);
        self.nic.ready |= 1 << prio;
    }
}
