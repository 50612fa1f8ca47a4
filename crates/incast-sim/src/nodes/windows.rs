//! Windows, and event by event where the order between nodes matters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::Nodes;
use super::plan::Plan;
use crate::kernel::{Event, Target};
use crate::network::{Limits, Network, STRIDE};
use crate::simulation::Progress;
use crate::stop::Halt;

struct Watch<'a> {
    limits: Limits,
    observe: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    /// Events at the next call of the observer.
    next_call: u64,
}

impl Nodes {
    /// Writes all state into the network at the end.
    pub(crate) fn run(
        &mut self,
        network: &mut Network,
        limits: Limits,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Halt {
        let mut watch = Watch { limits, observe, next_call: STRIDE };
        let mut awake = Vec::new();
        let halt = loop {
            if self.out.done == network.flows_due {
                break Halt::Finished;
            }
            let Some((begin, end)) = self.out.calendar.advance(&mut awake) else {
                network.now = self.now().max(self.series.last);
                if self.series.next != u64::MAX && self.series.next > limits.horizon {
                    network.now = limits.horizon;
                    break Halt::Horizon;
                }
                break Halt::Idle;
            };
            if self.sample_before(network, begin, limits.horizon) {
                network.now = limits.horizon;
                break Halt::Horizon;
            }
            let still = end.saturating_sub(self.out.moved) > limits.stall;
            let halt = if still || end > limits.horizon || self.may_end(network, end) {
                self.event_by_event(network, &watch.limits, &awake, end)
            } else {
                self.window(network, &awake, begin, end);
                None
            };
            self.out.counts.peak_packets = self.out.counts.peak_packets.max(self.out.live);
            if let Some(halt) = halt.or_else(|| self.stops(network, &mut watch, end)) {
                break halt;
            }
        };
        self.export(network);
        halt
    }

    /// Returns true if all flows may complete before `end`.
    ///
    /// A flow completes when the ACK of its last byte arrives; that ACK is on the wire when the window begins. A flow that
    /// passes here completes in this window: each flow is checked until then, and never again.
    fn may_end(&mut self, network: &Network, end: u64) -> bool {
        let flows = &network.flows.flows;
        while let Some(flow) = flows.get(self.completing) {
            let own = self.layout.at_src[self.completing];
            if !self.hosts[flow.src.index()].completes_before(
                Plan { layout: &self.layout, network },
                &self.out,
                own,
                end,
            ) {
                return false;
            }
            self.completing += 1;
        }
        true
    }

    /// Lets every node handle all events before `end`, in any order. Deadlock searches and samples cut the window.
    fn window(&mut self, network: &mut Network, awake: &[u32], begin: u64, end: u64) {
        loop {
            let (look, sample) = (network.detector.next, self.series.next);
            if look.min(sample) >= end {
                break;
            }
            // Samples come after all else of their time, deadlock searches before.
            let cut = if sample < look { sample + 1 } else { look.max(begin) };
            for &node in awake {
                self.run_node(network, node, cut);
            }
            let nodes = 0..self.places.len() as u32;
            let Some(next) = nodes.filter_map(|node| self.next_of(network, node)).min() else { break };
            if sample < look {
                self.sample(network);
            } else {
                self.look_for_deadlocks(network, next.time.min(sample));
            }
        }
        for &node in awake {
            let next = self.run_node(network, node, end);
            if next != u64::MAX {
                self.out.calendar.wake(node, next);
            }
        }
        self.record(network);
    }

    /// Handles the events before `end` in global order; `Some` if the run ends there. No packet sent here arrives before `end`,
    /// so the events of a node depend only on its own.
    fn event_by_event(&mut self, network: &mut Network, limits: &Limits, awake: &[u32], end: u64) -> Option<Halt> {
        let key = |event: Event, node| Reverse((event, node));
        let next = |nodes: &Self, network: &Network, node| {
            nodes.next_of(network, node).filter(|event| event.time < end).map(|event| key(event, node))
        };
        let mut queue: BinaryHeap<_> = awake.iter().filter_map(|&node| next(self, network, node)).collect();
        while let Some(Reverse((Event { time, .. }, node))) = queue.pop() {
            if self.sample_before(network, time, limits.horizon) || time > limits.horizon {
                network.now = limits.horizon;
                return Some(Halt::Horizon);
            }
            if time >= network.detector.next {
                self.look_for_deadlocks(network, time);
            }
            network.now = time;
            let Some(event) = self.next_of(network, node) else { continue };
            self.step_node(network, node, event);
            self.out.counts.peak_packets = self.out.counts.peak_packets.max(self.out.live);
            if self.out.done == network.flows_due {
                return Some(Halt::Finished);
            }
            queue.extend(next(self, network, node));
            let still = matches!(event.target(), Target::Timer(_)) && time - self.out.moved > limits.stall;
            if still && self.is_stuck(network) {
                return Some(Halt::Idle);
            }
        }
        for &node in awake {
            if let Some(next) = self.next_of(network, node) {
                self.out.calendar.wake(node, next.time);
            }
        }
        self.record(network);
        None
    }

    fn now(&self) -> u64 {
        let switches = self.switches.iter().map(|switch| switch.now());
        switches.chain(self.hosts.iter().map(|host| host.now())).max().unwrap_or(0)
    }

    pub(super) fn look_for_deadlocks(&mut self, network: &mut Network, until: u64) {
        self.export_pauses(network);
        if network.needs_look() {
            self.export(network);
            network.look_for_deadlocks(until);
        } else {
            network.pass_look(until);
        }
    }

    /// As [`Network::run`] decides it.
    fn is_stuck(&mut self, network: &mut Network) -> bool {
        let on_a_wire = self.out.arrivals.iter().any(|&first| first != u64::MAX);
        let waits = on_a_wire || self.hosts.iter().any(|host| host.is_paced() || host.has_starts());
        if waits {
            self.export(network);
        }
        !waits || network.deadlock().is_some()
    }

    fn stops(&mut self, network: &mut Network, watch: &mut Watch<'_>, now: u64) -> Option<Halt> {
        let events = self.out.counts.events;
        if events < watch.next_call.min(watch.limits.events) {
            return None;
        }
        network.now = now;
        if events >= watch.limits.events {
            return Some(Halt::Budget);
        }
        watch.next_call = events + STRIDE;
        network.counts = self.out.counts;
        (network.flows_done, network.bytes_acked) = (self.out.done, self.out.acked);
        (watch.observe)(&network.progress()).is_break().then_some(Halt::Interrupted)
    }
}
