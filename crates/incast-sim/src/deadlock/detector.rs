//! Periodic checks for deadlocks. The event loop runs a due check before the next event; a check is no event, so it does not
//! change a run.

use incast_model::units::Time;

use super::stuck::Stuck;
use crate::network::Network;
use crate::outcome::{DeadlockRecord, QueueRef, StuckQueue};

#[derive(Debug)]
pub(crate) struct Detector {
    /// In ps; [`u64::MAX`]: only at the end.
    every: u64,
    /// Time of the next check.
    pub(crate) next: u64,
    /// Records found by the last check.
    open: Vec<usize>,
    pub(crate) records: Vec<DeadlockRecord>,
}

impl Detector {
    /// `ZERO`: only at the end of the run.
    pub(crate) fn new(every: Time) -> Self {
        let every = if every == Time::ZERO { u64::MAX } else { every.0 };
        Self { every, next: every, open: Vec::new(), records: Vec::new() }
    }
}

impl Network {
    /// Runs the check due at [`Detector::next`]; nothing happened between it and `until`.
    #[cold]
    pub(crate) fn look_for_deadlocks(&mut self, until: u64) {
        let seen = self.detector.next;
        self.look(Time(seen));
        self.pass_look(until);
    }

    /// Sets the next check to the first one after `until`. Called alone, skips a check: nothing is or was stuck.
    pub(crate) fn pass_look(&mut self, until: u64) {
        self.detector.next = until
            .checked_next_multiple_of(self.detector.every)
            .map_or(u64::MAX, |next| if next <= until { next.saturating_add(self.detector.every) } else { next });
    }

    /// Returns true if a check could find something, by ports and ingress queues alone.
    pub(crate) fn needs_look(&self) -> bool {
        self.config.lossless != 0 && (!self.detector.open.is_empty() || self.could_be_stuck())
    }

    pub(crate) fn look_at_the_end(&mut self) {
        self.look(Time(self.now));
    }

    /// Cycle of queues that wait for each other for ever.
    pub(crate) fn deadlock(&self) -> Option<Vec<QueueRef>> {
        let stuck = self.stuck()?;
        let cycle = stuck.graph.cycles().into_iter().next()?;
        Some(cycle.into_iter().map(|place| stuck.graph.queues[place]).collect())
    }

    fn look(&mut self, seen: Time) {
        if self.config.lossless == 0 {
            return;
        }
        let stuck = self.stuck().unwrap_or_default();
        let open = std::mem::take(&mut self.detector.open);
        let is_stuck = |queue: &StuckQueue| stuck.graph.queues.binary_search(&queue.queue).is_ok();
        let mut still = Vec::new();
        for number in open {
            let record = &mut self.detector.records[number];
            if record.cycle.iter().all(is_stuck) {
                still.push(number);
            } else {
                record.ended = Some(seen);
            }
        }
        for cycle in stuck.graph.cycles() {
            let queues = || cycle.iter().map(|&place| stuck.graph.queues[place]);
            let known = |number: &&usize| {
                self.detector.records[**number].cycle.iter().any(|known| queues().any(|queue| queue == known.queue))
            };
            if still.iter().find(known).is_none() {
                let record = self.new_deadlock(queues(), seen);
                still.push(self.detector.records.len());
                self.detector.records.push(record);
            }
        }
        self.grow(&still, &stuck);
        self.detector.open = still;
    }

    /// Record of a new deadlock.
    fn new_deadlock(&self, queues: impl Iterator<Item = QueueRef>, seen: Time) -> DeadlockRecord {
        let cycle: Vec<StuckQueue> = queues
            .map(|queue| {
                let at = self.at(queue.port.0, queue.priority);
                let since = self.recorder.paused_since(at).unwrap_or(seen);
                StuckQueue { queue, since, bytes: self.queues[at].bytes.into() }
            })
            .collect();
        let closed = cycle.iter().map(|queue| queue.since).max().unwrap_or(seen);
        DeadlockRecord { cycle, closed, seen, ended: None, stuck_queues: 0, stuck_bytes: 0, stuck_hosts: 0 }
    }

    /// Updates deadlocks' maximum extent; all stuck queues count for each.
    fn grow(&mut self, numbers: &[usize], stuck: &Stuck) {
        let bytes = |queue: &QueueRef| u64::from(self.queues[self.at(queue.port.0, queue.priority)].bytes);
        let held: u64 = stuck.graph.queues.iter().map(bytes).sum();
        for &number in numbers {
            let record = &mut self.detector.records[number];
            record.stuck_queues = record.stuck_queues.max(stuck.graph.queues.len() as u32);
            record.stuck_bytes = record.stuck_bytes.max(held);
            record.stuck_hosts = record.stuck_hosts.max(stuck.hosts.len() as u32);
        }
    }
}
