//! Tasks of a host at given times, other than timers of the flows that it sends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A task. Whoever does it checks that it still holds: nothing is taken out before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Job {
    /// TCP: the receiver of a flow acknowledges, having waited for another segment.
    DelayedAck(u32),
    /// pHost: the host, as a receiver, may give out a token.
    Token,
    /// Fastpass: a slot of a flow, with the number of its packet's path.
    Slot(u32, u16),
    /// Fastpass: an epoch begins at the arbiter.
    Epoch,
    /// Fastpass: the arbiter has computed a schedule.
    Computed,
    /// Ideal scheduler: the host may send a packet.
    Turn,
    /// UDP: the next packet of a flow is due.
    Burst(u32),
    /// The time of a flow without a size is over.
    Stop(u32),
    /// Hypervisors: the limiter of a pair releases a packet.
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

/// The tasks of a NIC's host.
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

impl Agenda {
    /// Adds a task; true if it needs an event at that time.
    pub(crate) fn plan(&mut self, time: u64, job: Job) -> bool {
        self.jobs.push(Reverse((time, job)));
        self.wakes(time)
    }

    fn wakes(&mut self, time: u64) -> bool {
        let sooner = time < self.due;
        if sooner {
            self.due = time;
        }
        sooner
    }

    /// True if its event is the one at `now`, and not one that a sooner one replaced.
    pub(crate) const fn is_due(&self, now: u64) -> bool {
        self.due == now
    }

    /// Takes out the next task that is due at `now`.
    pub(crate) fn pop(&mut self, now: u64) -> Option<Job> {
        let due = self.jobs.peek().is_some_and(|Reverse((time, _))| *time <= now);
        due.then(|| self.jobs.pop()).flatten().map(|Reverse((_, job))| job)
    }

    /// All that was due is done: the time for which it needs another event.
    pub(crate) fn next(&mut self) -> Option<u64> {
        self.due = u64::MAX;
        let time = self.jobs.peek().map(|Reverse((time, _))| *time)?;
        self.wakes(time).then_some(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_in_order_of_time_and_kind() {
        let mut agenda = Agenda::default();
        assert!(agenda.plan(20, Job::Turn));
        assert!(!agenda.plan(30, Job::Token));
        assert!(agenda.plan(10, Job::Burst(1)) && !agenda.plan(10, Job::DelayedAck(7)));
        assert!(agenda.is_due(10) && !agenda.is_due(20));
        assert_eq!(std::iter::from_fn(|| agenda.pop(10)).collect::<Vec<_>>(), [Job::DelayedAck(7), Job::Burst(1)]);
        assert_eq!((agenda.next(), agenda.pop(20), agenda.pop(20)), (Some(20), Some(Job::Turn), None));
        assert_eq!((agenda.next(), agenda.pop(30), agenda.next()), (Some(30), Some(Job::Token), None));
    }
}
