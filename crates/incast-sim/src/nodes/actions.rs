//! Actions on the whole network, between events of nodes.

use incast_model::fabric::NodeId;

use super::Nodes;
use crate::kernel::{Event, NONE, Target, periodic};
use crate::plan::Network;
use crate::progress::{Halt, Limits};

/// In order at one time: steps before all events of that time, the others after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    /// Links fail or come up, or routes change.
    Step,
    Poll,
    Sweep,
    Sample,
}

impl Action {
    pub(super) const fn changes_nodes(self) -> bool {
        !matches!(self, Self::Sample)
    }

    const fn target(self, step: u32) -> Target {
        match self {
            Self::Step => Target::Fault(step),
            Self::Poll => Target::Periodic(periodic::WATCHDOG),
            Self::Sweep => Target::Periodic(periodic::ISOLATION),
            Self::Sample => Target::Periodic(periodic::SAMPLE),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) time: u64,
    pub(super) action: Action,
}

impl Due {
    /// Time before which nodes handle their events first.
    pub(super) fn cut(self) -> u64 {
        self.time.saturating_add(u64::from(self.action != Action::Step))
    }
}

#[derive(Debug)]
pub(super) struct Actions {
    pub(super) step: u64,
    poll: u64,
    pub(super) sweep: u64,
    last: u64,
}

impl Actions {
    pub(super) fn new(network: &Network) -> Self {
        let watchdog = &network.switches.params.watchdog;
        let poll = if watchdog.enabled { watchdog.poll.0 } else { u64::MAX };
        Self { step: u64::MAX, poll, sweep: u64::MAX, last: 0 }
    }

    pub(super) fn first(&self) -> Due {
        let due = |time, action| Due { time, action };
        due(self.step, Action::Step).min(due(self.poll, Action::Poll)).min(due(self.sweep, Action::Sweep))
    }
}

impl Nodes {
    pub(super) fn next_action(&self) -> Due {
        self.actions.first().min(Due { time: self.series.next, action: Action::Sample })
    }

    /// Keeps the calendar from passing over an action that changes nodes.
    pub(super) fn wake_for_actions(&mut self) {
        let first = self.actions.first().time;
        if first != u64::MAX {
            self.wake(NodeId(0), first);
        }
    }

    /// `Some` if the run ends. Nodes must have handled all earlier events.
    pub(super) fn act(&mut self, due: Due, limits: &Limits) -> Option<Halt> {
        let over = due.action != Action::Step && self.books.faults.is_none() && self.next_time().is_none();
        if over && !self.may_be_released() {
            self.books.now = self.last();
            return Some(Halt::Idle); // actions alone would go on for ever
        }
        self.record();
        self.books.now = due.time;
        self.actions.last = due.time;
        let out = self.partitions.first();
        out.counts.events += 1;
        if let Some(prints) = out.prints.as_mut().filter(|_| due.action != Action::Sample) {
            prints.event(NONE, Event::new(due.time, 0, due.action.target(self.books.steps_taken())));
        }
        match due.action {
            Action::Step => self.step(limits).then_some(Halt::Idle),
            Action::Poll => {
                self.poll_watchdogs();
                self.record();
                self.actions.poll = due.time.saturating_add(self.network.switches.params.watchdog.poll.0);
                None
            }
            Action::Sweep => {
                self.sweep_isolated();
                None
            }
            Action::Sample => {
                self.sample();
                None
            }
        }
    }

    pub(super) fn may_be_released(&self) -> bool {
        self.partitions.switches().any(|switch| switch.may_be_released())
    }

    pub(super) fn next_time(&self) -> Option<u64> {
        if self.network.config.ns3 {
            return Some(self.books.now); // an event is at hand whenever actions are due
        }
        self.next_event().map(|(event, _)| event.time)
    }

    pub(super) fn next_event(&self) -> Option<(Event, NodeId)> {
        self.layout.spots.ids().filter_map(|node| self.next_of(node).map(|event| (event, node))).min()
    }

    pub(super) fn last(&self) -> u64 {
        let hosts = self.partitions.hosts().map(|host| host.now());
        let nodes = self.partitions.switches().map(|switch| switch.now()).chain(hosts);
        nodes.max().unwrap_or(0).max(self.actions.last)
    }
}
