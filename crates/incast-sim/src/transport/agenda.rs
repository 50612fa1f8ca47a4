//! What a host has to do at given times, other than timers of the flows it sends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::kernel::{Event, Target};
use crate::network::Network;

/// Something to do. Whoever does it looks whether it still holds: nothing is taken off an agenda.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Job {
    /// TCP: a flow's receiver has waited long enough for another segment to acknowledge.
    DelayedAck(u32),
    /// pHost: the host, as a receiver, may give out a token.
    Token,
    /// Fastpass: a slot of a flow has come, with the way of its packet.
    Slot(u32, u16),
    /// Fastpass: an epoch begins at the arbiter.
    Epoch,
    /// Fastpass: the arbiter has computed a schedule.
    Computed,
    /// The ideal scheduler: the host may send a packet.
    Turn,
    /// UDP: a flow's next packet is due.
    Blast(u32),
    /// The time of a flow without a size is over.
    Stop(u32),
    /// Hypervisors: the limiter of a pair lets a packet go.
    Release(u32),
    /// Hypervisors: a period of the limits of a VM is over.
    Allocate(u32),
    /// Hypervisors: a period of the guarantees of a VM is over.
    Divide(u32),
    /// Hypervisors: a VM has new pairs.
    DivideSoon(u32),
    /// Hypervisors: a VM looks at what it receives.
    Meter(u32),
}

/// The agenda of a NIC's host.
#[derive(Debug)]
pub(crate) struct Agenda {
    jobs: BinaryHeap<Reverse<(u64, Job)>>,
    /// When its event is due; [`u64::MAX`] for none.
    due: u64,
}

impl Default for Agenda {
    fn default() -> Self {
        Self { jobs: BinaryHeap::new(), due: u64::MAX }
    }
}

impl Network {
    /// Puts a job on the agenda of a NIC.
    pub(crate) fn plan(&mut self, nic: u32, time: u64, job: Job) {
        self.transports.agendas[nic as usize].jobs.push(Reverse((time, job)));
        self.wake_at(nic, time);
    }

    fn wake_at(&mut self, nic: u32, time: u64) {
        let agenda = &mut self.transports.agendas[nic as usize];
        if time < agenda.due {
            agenda.due = time;
            self.events.push(Event::new(time, 0, Target::Agenda(nic)));
        }
    }

    /// The event of an agenda: does what is due.
    #[inline(never)]
    pub(crate) fn keep_agenda(&mut self, nic: u32) {
        if self.transports.agendas[nic as usize].due != self.now {
            return;
        }
        while let Some(&Reverse((time, job))) = self.transports.agendas[nic as usize].jobs.peek()
            && time <= self.now
        {
            self.transports.agendas[nic as usize].jobs.pop();
            self.do_job(nic, job);
        }
        let agenda = &mut self.transports.agendas[nic as usize];
        agenda.due = u64::MAX;
        if let Some(&Reverse((time, _))) = agenda.jobs.peek() {
            self.wake_at(nic, time);
        }
    }
}
