//! Periodic checks for deadlocks: no events, so they do not change a run.

use incast_model::units::Time;

use super::Snapshot;
use super::stuck::{Stuck, could_be_stuck, stuck};
use crate::outcome::{DeadlockRecord, QueueRef, StuckQueue};

#[derive(Debug, Default)]
pub(crate) struct Detector {
    /// In ps; [`u64::MAX`]: only at the end.
    every: u64,
    pub(crate) next: u64,
    open: Vec<usize>,
    /// [`Snapshot::may_deadlock`]; `None`: not needed so far.
    may_deadlock: Option<bool>,
    pub(crate) records: Vec<DeadlockRecord>,
}

impl Detector {
    /// `ZERO`: only at the end.
    pub(crate) fn new(every: Time) -> Self {
        let every = if every == Time::ZERO { u64::MAX } else { every.0 };
        Self { every, next: every, open: Vec::new(), may_deadlock: None, records: Vec::new() }
    }

    /// Nothing may have happened between `next` and `until`.
    #[cold]
    pub(crate) fn check(&mut self, run: &impl Snapshot, until: u64) {
        let may_deadlock = could_be_stuck(run) && *self.may_deadlock.get_or_insert_with(|| run.may_deadlock());
        if !self.open.is_empty() || may_deadlock {
            self.look(run, Time(self.next));
        }
        self.next = until
            .checked_next_multiple_of(self.every)
            .map_or(u64::MAX, |next| if next <= until { next.saturating_add(self.every) } else { next });
    }

    pub(crate) fn look(&mut self, run: &impl Snapshot, seen: Time) {
        let stuck = stuck(run).unwrap_or_default();
        let open = std::mem::take(&mut self.open);
        let is_stuck = |queue: &StuckQueue| stuck.graph.queues.binary_search(&queue.queue).is_ok();
        let mut still = Vec::new();
        for number in open {
            let record = &mut self.records[number];
            if record.cycle.iter().all(is_stuck) {
                still.push(number);
            } else {
                record.ended = Some(seen);
            }
        }
        for cycle in stuck.graph.cycles() {
            let queues = || cycle.iter().map(|&place| stuck.graph.queues[place]);
            let known = |number: &&usize| {
                self.records[**number].cycle.iter().any(|known| queues().any(|queue| queue == known.queue))
            };
            if still.iter().find(known).is_none() {
                still.push(self.records.len());
                self.records.push(new_deadlock(run, queues(), seen));
            }
        }
        self.grow(run, &still, &stuck);
        self.open = still;
    }

    /// All stuck queues count for each deadlock.
    fn grow(&mut self, run: &impl Snapshot, numbers: &[usize], stuck: &Stuck) {
        let held: u64 = stuck.graph.queues.iter().map(|queue| run.bytes(*queue)).sum();
        for &number in numbers {
            let record = &mut self.records[number];
            record.stuck_queues = record.stuck_queues.max(stuck.graph.queues.len() as u32);
            record.stuck_bytes = record.stuck_bytes.max(held);
            record.stuck_hosts = record.stuck_hosts.max(stuck.hosts.len() as u32);
        }
    }
}

fn new_deadlock(run: &impl Snapshot, queues: impl Iterator<Item = QueueRef>, seen: Time) -> DeadlockRecord {
    let cycle: Vec<StuckQueue> = queues
        .map(|queue| StuckQueue { queue, since: run.paused_since(queue).unwrap_or(seen), bytes: run.bytes(queue) })
        .collect();
    let closed = cycle.iter().map(|queue| queue.since).max().unwrap_or(seen);
    DeadlockRecord { cycle, closed, seen, ended: None, stuck_queues: 0, stuck_bytes: 0, stuck_hosts: 0 }
}
