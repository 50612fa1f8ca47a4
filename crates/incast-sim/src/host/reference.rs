//! NIC of the HPCC authors' ns-3, rule by rule (`qbb-net-device.cc`: GetNextQindex, DequeueAndTransmit, UpdateNextAvail): a
//! list of queue pairs in order of creation, scanned from after the last index served, with its completed entries removed only
//! by scans; a wake-up at the earliest next time of *all* queue pairs with unsent bytes, window-bound and paused ones included.

use crate::kernel::{Event, NONE, Target};
use crate::network::Network;

#[derive(Debug, Default)]
pub(crate) struct ReferenceNic {
    /// Flows in order of creation.
    flows: Vec<u32>,
    /// Index served last. Not adjusted when entries before it go.
    last: usize,
    /// Time and rank of the pending wake-up.
    wake: Option<(u64, u64)>,
    pending: bool,
}

impl Network {
    pub(crate) fn add_reference(&mut self, port: u32, flow: u32) {
        self.nics[self.ports[port as usize].owner as usize].reference.flows.push(flow);
    }

    fn reference(&mut self, port: u32) -> &mut ReferenceNic {
        &mut self.nics[self.ports[port as usize].owner as usize].reference
    }

    /// TriggerTransmit: does nothing while the port is busy; the end of its transmission tries again.
    pub(crate) fn kick_reference(&mut self, port: u32) {
        if self.idle(port) && !self.reference(port).pending {
            self.serve_reference(port);
        }
    }

    pub(crate) fn reference_free(&mut self, port: u32) {
        self.reference(port).pending = false;
        self.serve_reference(port);
    }

    /// Handles a wake-up; one that was moved does nothing.
    pub(crate) fn reference_wake(&mut self, port: u32) {
        let (now, rank) = (self.now, self.rank);
        let nic = self.reference(port);
        if nic.wake == Some((now, rank)) {
            nic.wake = None;
            self.kick_reference(port);
        }
    }

    /// DequeueAndTransmit of an idle port.
    fn serve_reference(&mut self, port: u32) {
        let control = self.eligible_control(port);
        if control != 0 {
            let prio = self.choose_control(port, control);
            let id = self.dequeue(port, prio);
            self.transmit(port, id);
        } else if let Some(sender) = self.scan_reference(port) {
            self.send_data(port, sender);
        } else {
            return self.sleep_reference(port);
        }
        let rank = self.end_rank(port);
        self.reference(port).pending = true;
        self.events.push(Event::new(self.ports[port as usize].busy_until, rank, Target::Port(port)));
    }

    /// GetNextQindex: next queue pair to serve. Removes the completed ones that it met, from the smallest index on.
    fn scan_reference(&mut self, port: u32) -> Option<u32> {
        let paused = self.ports[port as usize].paused;
        let owner = self.ports[port as usize].owner as usize;
        let nic = &mut self.nics[owner].reference;
        let count = nic.flows.len();
        let mut first_done = usize::MAX;
        let mut found = None;
        for step in 1..=count {
            let index = (step + nic.last) % count;
            let sender = self.sender_of[nic.flows[index] as usize];
            if sender == NONE {
                first_done = first_done.min(index);
                continue;
            }
            let qp = &self.senders[sender as usize];
            if paused & 1 << qp.prio == 0 && qp.may_send() && qp.next_avail <= self.now {
                found = Some((index, sender));
                break;
            }
        }
        if first_done != usize::MAX {
            let removed_before = |end: usize| {
                nic.flows[first_done..end].iter().filter(|&&flow| self.sender_of[flow as usize] == NONE).count()
            };
            if let Some((index, _)) = &mut found
                && *index > first_done
            {
                *index -= removed_before(*index);
            }
            let mut position = 0;
            let sender_of = &self.sender_of;
            nic.flows.retain(|&flow| {
                position += 1;
                position <= first_done || sender_of[flow as usize] != NONE
            });
        }
        found.map(|(index, sender)| {
            nic.last = index;
            sender
        })
    }

    /// Wakes up at the earliest next time, unless a wake-up is pending or that time has passed.
    fn sleep_reference(&mut self, port: u32) {
        let nic = &self.nics[self.ports[port as usize].owner as usize].reference;
        let earliest = nic
            .flows
            .iter()
            .filter_map(|&flow| self.senders.get(self.sender_of[flow as usize] as usize))
            .filter(|qp| qp.next < qp.size)
            .map(|qp| qp.next_avail)
            .min();
        if let Some(time) = earliest
            && nic.wake.is_none()
            && time > self.now
        {
            self.wake_reference_at(port, time);
        }
    }

    fn wake_reference_at(&mut self, port: u32, time: u64) {
        let rank = self.take_rank();
        self.reference(port).wake = Some((time, rank));
        self.events.push(Event::new(time, rank, Target::Wake(port)));
    }

    /// UpdateNextAvail, after an ACK of a control that moves its next transmission: a pending wake-up moves to an earlier next
    /// time.
    pub(crate) fn hasten_reference(&mut self, sender: u32) {
        let qp = &self.senders[sender as usize];
        if !self.controls[usize::from(qp.control)].moves_next_send {
            return;
        }
        let (port, time) = (qp.port, qp.next_avail);
        if let Some((pending, _)) = self.reference(port).wake
            && time < pending
        {
            self.wake_reference_at(port, time.max(self.now));
        }
    }
}
