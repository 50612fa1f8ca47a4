//! Windows.

use std::ops::ControlFlow;

use incast_model::flow::Flow;

use super::Nodes;
use super::actions::Due;
use super::host::Hosts;
use super::out::RunProgress;
use super::partition::Task;
use super::plan::Plan;
use crate::deadlock::deadlock;
use crate::kernel::{FlowId, Id};
use crate::outcome::Outcome;
use crate::progress::{Halt, Limits, Progress};

/// Events between two checks of the budget and the observer.
pub(super) const STRIDE: u64 = 1 << 15;
/// Windows between two calls of the observer, for runs with few events (our choice).
const WINDOWS: u64 = 1 << 14;

pub(super) struct Watch<'a> {
    limits: Limits,
    observe: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    /// Events at the next call of the observer.
    next_call: u64,
    /// Windows since then.
    windows: u64,
}

impl<'a> Watch<'a> {
    pub(super) const fn new(limits: Limits, observe: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Self {
        Self { limits, observe, next_call: STRIDE, windows: 0 }
    }
}

impl Nodes {
    /// Runs to the end, or until `observe` breaks.
    pub(crate) fn run(mut self, limits: Limits, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        let halt = match self.network.config.ns3 {
            true => self.run_by_rank(limits, observe),
            false => self.run_in_windows(limits, observe),
        };
        let _ = observe(&self.progress());
        self.settle();
        self.record();
        self.outcome(halt)
    }

    fn run_in_windows(&mut self, limits: Limits, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Halt {
        let mut watch = Watch::new(limits, observe);
        self.take_first_steps(limits.stall);
        self.wake_for_actions();
        loop {
            let moved = self.partitions.progress();
            if self.is_over(&moved) {
                return Halt::Finished;
            }
            let Some((begin, end)) = self.partitions.advance() else {
                return self.run_dry(limits.horizon);
            };
            if let Some(halt) = self.act_before(begin, &mut watch) {
                return halt;
            }
            if begin > limits.horizon && self.next_time().is_some() {
                self.books.now = limits.horizon;
                return Halt::Horizon;
            }
            let still = end.saturating_sub(moved.moved) > limits.stall;
            let (mut end, window) = (end, (begin, end));
            let halt = if self.layout.one_by_one || still || end > limits.horizon || self.may_end(end) {
                self.event_by_event(&limits, end)
            } else {
                let in_order = self.layout.hosts_in_order || self.books.gates.may_be_asked(end);
                match self.windows_of_batch(&limits, window, moved.moved) {
                    1 => self.window(&limits, window, in_order),
                    windows => {
                        end = self.run_batch(window, windows);
                        watch.windows += u64::from(windows) - 1;
                        None
                    }
                }
            };
            self.note_peak();
            if let Some(halt) = halt.or_else(|| self.stops(&mut watch, end)) {
                return halt;
            }
            self.sweep_later();
            self.wake_for_actions();
        }
    }

    /// True if all flows have ended at their senders and, if some end by arrivals, no packet is left.
    pub(super) fn is_over(&self, progress: &RunProgress) -> bool {
        progress.done == self.books.gates.flows
            && (progress.live == 0 || !self.network.hosts.transports.of_flows.ends_by_arrivals)
    }

    /// Called when no node has an event left.
    pub(super) fn run_dry(&mut self, horizon: u64) -> Halt {
        let next = self.next_action().time;
        if next != u64::MAX && next > horizon {
            self.books.now = horizon;
            return Halt::Horizon;
        }
        self.books.now = self.last();
        Halt::Idle
    }

    fn act_before(&mut self, begin: u64, watch: &mut Watch<'_>) -> Option<Halt> {
        loop {
            let due = self.next_action();
            if due.time >= begin {
                return None;
            }
            self.settle();
            // Many samples can be due before one window.
            if let Some(halt) = self.act_in_time(due, &watch.limits).or_else(|| self.stops(watch, due.time)) {
                return Some(halt);
            }
        }
    }

    /// Searches for deadlocks first. [`Halt::Horizon`] if due after the horizon.
    pub(super) fn act_in_time(&mut self, due: Due, limits: &Limits) -> Option<Halt> {
        if due.time > limits.horizon {
            self.books.now = limits.horizon;
            return Some(Halt::Horizon);
        }
        if due.time >= self.books.detector.next {
            self.look_for_deadlocks(due.time);
        }
        self.act(due, limits)
    }

    /// True if all flows may complete, or be cancelled, before `end`.
    ///
    /// A flow completes with the ACK of its last byte, which is on the wire when the window begins. A flow that passes is
    /// not checked again: it completes in this window, unless a failure loses the ACK, and then later windows only run
    /// event by event.
    fn may_end(&mut self, end: u64) -> bool {
        let flows = self.network.flows.flows.len();
        let late = self.books.gates.may_call_off(end);
        if late
            && self.blocking != FlowId::NONE
            && self.outlasts(self.blocking, end)
            && !self.waits_at_gate(self.blocking)
        {
            return false;
        }
        let (mut flow, mut passed) = (self.completing, true);
        while flow.index() < flows {
            let outlasts = self.outlasts(flow, end);
            if outlasts && !(late && self.waits_at_gate(flow)) {
                self.blocking = flow;
                return false;
            }
            passed &= !outlasts;
            flow.0 += 1;
            if passed {
                self.completing = flow;
            }
        }
        true
    }

    fn outlasts(&mut self, flow: FlowId, end: u64) -> bool {
        let &Flow { src, until, .. } = self.network.flow(flow);
        if until.is_some_and(|until| until.0 >= end) && !self.books.gates.is_cancelled(flow) {
            return true; // it sends until then
        }
        let own = self.layout.at_src[flow];
        if self.layout.hosts_apart && self.partitions.host(src).awaits_completion(own) {
            self.partitions.open_mail_for(src, self.run);
        }
        let plan = Plan { layout: &self.layout, network: &self.network };
        let (host, out) = self.partitions.host_and_out(src);
        !self.books.gates.is_cancelled(flow) && !host.completes_before(plan, out, own, end)
    }

    fn waits_at_gate(&self, flow: FlowId) -> bool {
        self.partitions.host(self.network.flow(flow).src).flows.waits_at_gate(self.layout.at_src[flow])
    }

    /// Handles all events before `end`, in any order of nodes, or of switches alone (`in_order`). Actions and deadlock searches
    /// cut the window; searches come first.
    fn window(&mut self, limits: &Limits, (begin, end): (u64, u64), in_order: bool) -> Option<Halt> {
        loop {
            let (look, due) = (self.books.detector.next, self.next_action());
            if look.min(due.time) >= end {
                break;
            }
            let cut = if look <= due.time { look.max(begin) } else { due.cut() };
            self.run_awake(cut, false, in_order);
            self.settle();
            self.open_gates();
            if look <= due.time {
                // A search comes before an event.
                let next = self.next_time().unwrap_or(u64::MAX).min(due.time);
                if next == u64::MAX {
                    break;
                }
                self.look_for_deadlocks(next);
                continue;
            }
            let halt = self.act(due, limits);
            if halt.is_some() {
                return halt;
            }
            if due.action.changes_nodes() {
                self.partitions.wake_all();
            }
        }
        self.run_awake(end, true, in_order);
        self.open_gates();
        self.record();
        None
    }

    fn run_awake(&mut self, end: u64, wakes: bool, in_order: bool) {
        let task = Task { run: self.run, ahead: None, end, without_hosts: in_order, wakes };
        self.partitions.run(&self.layout, &self.network, task);
        if in_order {
            self.run_hosts_in_order(end, wakes);
        }
    }

    pub(super) fn settle(&mut self) {
        self.partitions.settle(self.run);
    }

    pub(super) fn note_peak(&mut self) {
        self.books.peak_packets = self.books.peak_packets.max(self.partitions.progress().live as u64);
    }

    pub(super) fn look_for_deadlocks(&mut self, until: u64) {
        self.record();
        let mut detector = std::mem::take(&mut self.books.detector);
        detector.check(self, until);
        self.books.detector = detector;
    }

    /// True if nothing can move, or only queues that wait for each other.
    pub(super) fn is_stuck(&mut self) -> bool {
        if self.books.faults.as_ref().is_some_and(|faults| faults.pending()) || self.may_be_released() {
            return false;
        }
        let mut wires = self.partitions.iter().flat_map(|partition| &partition.out.wires);
        let on_a_wire = wires.any(|wire| wire.first() != u64::MAX);
        let waits = on_a_wire || self.partitions.hosts().any(|host| host.is_paced() || host.flows.has_starts());
        !waits || deadlock(self).is_some()
    }

    pub(super) fn stops(&mut self, watch: &mut Watch<'_>, now: u64) -> Option<Halt> {
        let events = self.partitions.events();
        watch.windows += 1;
        if events < watch.next_call.min(watch.limits.events) && watch.windows < WINDOWS {
            return None;
        }
        watch.windows = 0;
        self.books.now = now;
        if events >= watch.limits.events {
            return Some(Halt::Budget);
        }
        watch.next_call = events + STRIDE;
        (watch.observe)(&self.progress()).is_break().then_some(Halt::Interrupted)
    }
}
