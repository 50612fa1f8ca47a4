//! Partitions as they change threads.
//!
//! The thread that ran a partition has its memory in its caches; another thread that reads it waits for each cache line. So this
//! keeps copies of what the thread between windows asks.

use std::ops::{Deref, DerefMut};

use super::mail::Bag;
use super::out::RunProgress;
use super::partition::{Part, Partition, Task};
use super::plan::Plan;

/// A partition after a window.
#[derive(Debug, Clone, Copy)]
struct Brief {
    events: u64,
    progress: RunProgress,
    /// Windows before the next one with work, but for mail.
    ahead: Option<u64>,
    /// If true, the thread between windows has something to do for its nodes.
    asks: bool,
}

/// A partition with its mail. It does not change its place in memory.
#[derive(Debug)]
pub(super) struct Movable {
    partition: Box<Partition>,
    /// `None` after a change since the last window.
    brief: Option<Brief>,
    /// From other partitions.
    pub(super) mail: Vec<Bag>,
    /// For other partitions.
    pub(super) posted: Vec<(u32, Bag)>,
    /// Ends of windows with work in the last batch, the first one always, and packets in the network then: made here less those
    /// that ended here.
    pub(super) live: Vec<(u64, i64)>,
}

impl Deref for Movable {
    type Target = Partition;

    #[inline]
    fn deref(&self) -> &Partition {
        &self.partition
    }
}

impl DerefMut for Movable {
    #[inline]
    fn deref_mut(&mut self) -> &mut Partition {
        self.brief = None;
        &mut self.partition
    }
}

impl Movable {
    pub(super) fn new(partition: Partition) -> Self {
        Self { partition: Box::new(partition), brief: None, mail: Vec::new(), posted: Vec::new(), live: Vec::new() }
    }

    pub(super) fn into_inner(self) -> Partition {
        *self.partition
    }

    pub(super) fn run_window(&mut self, plan: Plan<'_>, task: Task) {
        self.open_mail(task.run);
        self.partition.run_window(plan, task);
        self.post();
        self.note_brief();
    }

    /// Runs windows of a batch: the first, and those with work until `until`, the end of one.
    pub(super) fn run_windows(&mut self, plan: Plan<'_>, mut task: Task, until: u64) {
        self.open_mail(task.run);
        let partition = &mut *self.partition;
        loop {
            if let Some(ahead) = task.ahead {
                partition.enter(ahead);
            }
            partition.run_part(plan, task, Part::All);
            self.live.push((task.end, partition.out.progress.live));
            let Some(ahead) = partition.out.calendar.ahead() else { break };
            let (_, end) = partition.out.calendar.window(ahead);
            if end > until {
                break;
            }
            (task.ahead, task.end) = (Some(ahead), end);
        }
        partition.out.calendar.pass(until);
        self.post();
        self.note_brief();
    }

    /// First part of a window of a batch.
    pub(super) fn run_border(&mut self, plan: Plan<'_>, task: Task) {
        self.open_mail(task.run);
        if let Some(ahead) = task.ahead {
            self.partition.enter(ahead);
        }
        self.partition.run_part(plan, task, Part::Border);
        self.post();
    }

    /// Last part of a window of a batch.
    pub(super) fn run_inner(&mut self, plan: Plan<'_>, task: Task) {
        self.partition.run_part(plan, task, Part::Inner);
        debug_assert!(self.partition.out.post.is_empty(), "inner nodes have no links to other partitions");
        self.live.push((task.end, self.partition.out.progress.live));
        self.note_brief();
    }

    /// Runs a window. Returns the events of nodes at the border, and of all.
    pub(super) fn run_parts(&mut self, plan: Plan<'_>, task: Task) -> (u64, u64) {
        let before = self.events();
        self.run_border(plan, task);
        let border = self.partition.out.counts.events - before;
        self.partition.run_part(plan, task, Part::Inner);
        self.note_brief();
        (border, self.events() - before)
    }

    fn note_brief(&mut self) {
        let out = &self.partition.out;
        self.brief = Some(Brief {
            events: out.counts.events,
            progress: out.progress,
            ahead: out.calendar.ahead(),
            asks: out.asks(),
        });
    }

    /// Puts packets from other partitions on their wires.
    pub(super) fn open_mail(&mut self, run: u8) {
        if self.mail.is_empty() {
            return;
        }
        self.brief = None;
        for bag in self.mail.drain(..) {
            self.partition.out.open(run, bag);
        }
    }

    /// Takes the bags for other partitions.
    pub(super) fn post(&mut self) {
        if !self.partition.out.post.is_empty() {
            self.posted.extend(self.partition.out.post.take());
        }
    }

    pub(super) fn events(&self) -> u64 {
        self.brief.map_or_else(|| self.partition.out.counts.events, |brief| brief.events)
    }

    pub(super) fn progress(&self) -> RunProgress {
        self.brief.map_or_else(|| self.partition.out.progress, |brief| brief.progress)
    }

    /// Windows before the next one with work; `None` if no work is left. Mail is no work.
    pub(super) fn ahead(&self) -> Option<u64> {
        self.brief.map_or_else(|| self.partition.out.calendar.ahead(), |brief| brief.ahead)
    }

    /// False if its nodes have no notes, no ends of flows and no isolated flows for the thread between windows.
    pub(super) fn asks(&self) -> bool {
        self.brief.map_or_else(|| self.partition.out.asks(), |brief| brief.asks)
    }
}

/// Windows to pass over before the next one with work.
pub(super) fn ahead(partitions: &[Movable]) -> Option<u64> {
    let calendar = &partitions[0].out.calendar;
    let mail = partitions.iter().flat_map(|partition| &partition.mail).map(Bag::first).min();
    let mail = mail.map(|time| calendar.ahead_of_packet(time));
    mail.into_iter().chain(partitions.iter().filter_map(Movable::ahead)).min()
}

/// Passes the bags of a window to their partitions.
pub(super) fn hand_over(partitions: &mut [Movable]) {
    if partitions.len() == 1 {
        return;
    }
    for from in 0..partitions.len() {
        let mut posted = std::mem::take(&mut partitions[from].posted);
        for (to, bag) in posted.drain(..) {
            partitions[to as usize].mail.push(bag);
        }
        partitions[from].posted = posted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::Cut;
    use crate::nodes::bench::{Bench, flow};
    use crate::nodes::plan::Layout;
    use crate::nodes::run::PLAIN;

    #[test]
    fn a_partition_that_changed_since_its_window_is_asked_again() {
        let bench = Bench::switch(&[flow(0, 2, 9)], |_| {});
        let (layout, inward) = Layout::new(&bench.nodes.network, Cut::Whole);
        let plan = Plan { layout: &layout, network: &bench.nodes.network };
        let wires = inward.into_iter().next().expect("one partition");
        let mut movable = Movable::new(Partition::new(plan, (0, wires), 1));
        // Hosts wake for their first flows.
        let begin = movable.ahead();
        assert_eq!(begin, Some(0));
        let end = layout.window;
        movable.run_window(plan, Task { run: PLAIN, ahead: begin, end, without_hosts: false, wakes: true });
        let events = movable.events();
        assert!(events > 0 && movable.brief.is_some() && !movable.asks());
        movable.out.counts.events += 1;
        movable.out.shared.isolated = 0;
        assert_eq!(movable.events(), events + 1);
        assert!(movable.asks());
    }
}
