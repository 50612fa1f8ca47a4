//! Timer queue of a host, except for timers of sent flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::kernel::{ReceivedId, SentId};

/// Never removed early: the executor checks that they still apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Job {
    DelayedAck(ReceivedId),
    Token,
    Slot(SentId, u16),
    Epoch,
    Computed,
    /// Ideal scheduler: the host may send.
    Turn,
    Burst(SentId),
    Stop(SentId),
    /// Limiter of a pair.
    Release(u32),
    /// A VM's limit period ends.
    Allocate(u32),
    /// A VM's guarantee period ends.
    Divide(u32),
    /// New pairs of a VM.
    DivideSoon(u32),
    Meter(u32),
}

#[derive(Debug)]
pub(crate) struct Agenda {
    jobs: BinaryHeap<Reverse<(u64, Job)>>,
    /// Time of its event; [`u64::MAX`]: none.
    due: u64,
}

impl Default for Agenda {
    fn default() -> Self {
        Self { jobs: BinaryHeap::new(), due: u64::MAX }
    }
}

impl Agenda {
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

    /// False if an earlier event replaced the one at `now`.
    pub(crate) const fn is_due(&self, now: u64) -> bool {
        self.due == now
    }

    pub(crate) fn pop(&mut self, now: u64) -> Option<Job> {
        let due = self.jobs.peek().is_some_and(|Reverse((time, _))| *time <= now);
        due.then(|| self.jobs.pop()).flatten().map(|Reverse((_, job))| job)
    }

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
        assert!(agenda.plan(10, Job::Burst(SentId(1))) && !agenda.plan(10, Job::DelayedAck(ReceivedId(7))));
        assert!(agenda.is_due(10) && !agenda.is_due(20));
        assert_eq!(
            std::iter::from_fn(|| agenda.pop(10)).collect::<Vec<_>>(),
            [Job::DelayedAck(ReceivedId(7)), Job::Burst(SentId(1))]
        );
        assert_eq!((agenda.next(), agenda.pop(20), agenda.pop(20)), (Some(20), Some(Job::Turn), None));
        assert_eq!((agenda.next(), agenda.pop(30), agenda.next()), (Some(30), Some(Job::Token), None));
    }
}
