//! Looks for deadlocks now and then while a run goes on, and keeps what it found. It has no events: the loop asks whether its
//! time has come before it handles the next one, so that a run is the same with it and without.

use incast_model::units::Time;

use super::stuck::Stuck;
use crate::network::Network;
use crate::outcome::{DeadlockRecord, QueueRef, StuckQueue};

/// What looks for deadlocks.
#[derive(Debug)]
pub(crate) struct Detector {
    /// Time between two looks in ps; [`u64::MAX`]: only at the end.
    every: u64,
    /// Of the next look.
    pub(crate) next: u64,
    /// Records of deadlocks that were there at the last look.
    open: Vec<usize>,
    pub(crate) records: Vec<DeadlockRecord>,
}

impl Detector {
    /// One that looks every so often; `ZERO`: at the end of the run only.
    pub(crate) fn new(every: Time) -> Self {
        let every = if every == Time::ZERO { u64::MAX } else { every.0 };
        Self { every, next: every, open: Vec::new(), records: Vec::new() }
    }
}

impl Network {
    /// The look that was due at [`Detector::next`], or before; nothing has happened since then up to `until`.
    #[cold]
    pub(crate) fn look_for_deadlocks(&mut self, until: u64) {
        let seen = self.detector.next;
        self.look(Time(seen));
        self.pass_look(until);
    }

    /// The same where nothing is stuck and nothing was.
    pub(crate) fn pass_look(&mut self, until: u64) {
        self.detector.next = until
            .checked_next_multiple_of(self.detector.every)
            .map_or(u64::MAX, |next| if next <= until { next.saturating_add(self.detector.every) } else { next });
    }

    /// Whether a look could find anything, by ports and ingress queues alone.
    pub(crate) fn needs_look(&self) -> bool {
        self.config.lossless != 0 && (!self.detector.open.is_empty() || self.could_be_stuck())
    }

    /// The look at the end of the run.
    pub(crate) fn look_at_the_end(&mut self) {
        self.look(Time(self.now));
    }

    /// A cycle of queues that wait on each other for good, each for the next.
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

    /// What is there of a deadlock when it is first seen.
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

    /// How far deadlocks have spread. What waits for several of them counts for each.
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
