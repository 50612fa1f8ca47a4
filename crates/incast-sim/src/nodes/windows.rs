//! The loop: windows, and single events in global order where a run may end.

use std::ops::ControlFlow;

use super::Nodes;
use super::host::Host;
use super::switch::Switch;
use crate::kernel::{Event, Target};
use crate::network::{Limits, Network};
use crate::simulation::Progress;
use crate::stop::Halt;

/// Events between two calls of the observer.
const STRIDE: u64 = 1 << 15;

/// What is asked for while a run goes on.
pub(super) struct Watch<'a> {
    limits: Limits,
    observe: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    /// Events at the next call of the observer.
    next_call: u64,
}

impl Nodes {
    /// Runs to the end, and writes all of it into the network.
    pub(crate) fn run(
        &mut self,
        network: &mut Network,
        limits: Limits,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Halt {
        let mut watch = Watch { limits, observe, next_call: STRIDE };
        let halt = loop {
            if let Some(halt) = self.windows(network, &mut watch) {
                break halt;
            }
            if let Some(halt) = self.single_events(network, &mut watch) {
                break halt;
            }
        };
        self.export(network);
        halt
    }

    /// Windows, as long as the run cannot end in them: a flow that has not sent its last byte when a window begins cannot
    /// complete in it, since its data and its ACK cross two links.
    fn windows(&mut self, network: &mut Network, watch: &mut Watch<'_>) -> Option<Halt> {
        let mut awake = Vec::new();
        while self.out.unsent > 0
            && let Some((begin, end)) = self.out.calendar.advance(&mut awake)
        {
            if end > watch.limits.horizon || end.saturating_sub(self.out.moved) > watch.limits.stall {
                return None;
            }
            let mut from = begin;
            while (from..end).contains(&network.detector.next) {
                from = network.detector.next;
                for &node in &awake {
                    self.run_node(network, node, from);
                }
                if let Some(next) = self.next_event(network) {
                    self.look_for_deadlocks(network, next.time);
                } else {
                    break;
                }
            }
            for &node in &awake {
                let next = self.run_node(network, node, end);
                if next != u64::MAX {
                    self.out.calendar.wake(node, next);
                }
            }
            self.record(network);
            self.out.counts.peak_packets = self.out.counts.peak_packets.max(self.out.live);
            if let Some(halt) = self.stops(network, watch, end) {
                return Some(halt);
            }
        }
        None
    }

    /// Single events in global order: to the end if all flows have sent their last byte, else until something moves again.
    fn single_events(&mut self, network: &mut Network, watch: &mut Watch<'_>) -> Option<Halt> {
        network.now = self.now();
        let nodes = 0..self.places.len() as u32;
        let bounds: Vec<_> = nodes.filter_map(|node| Some(bound(self.next_of(network, node)?, node))).collect();
        self.out.calendar.begin_single(bounds.into_iter());
        self.switches.iter_mut().for_each(Switch::forget_woken);
        self.hosts.iter_mut().for_each(Host::forget_woken);
        let moved = self.out.moved;
        while self.out.done < network.flows_due {
            let Some(popped) = self.out.calendar.pop() else { return Some(Halt::Idle) };
            let node = popped.2;
            let Some(event) = self.next_of(network, node) else { continue };
            if bound(event, node) != popped {
                self.out.calendar.push(bound(event, node));
                continue;
            }
            if event.time > watch.limits.horizon {
                network.now = watch.limits.horizon;
                return Some(Halt::Horizon);
            }
            if event.time >= network.detector.next {
                self.look_for_deadlocks(network, event.time);
            }
            network.now = event.time;
            self.step_node(network, node, event);
            self.out.counts.peak_packets = self.out.counts.peak_packets.max(self.out.live);
            if let Some(event) = self.next_of(network, node) {
                self.out.calendar.push(bound(event, node));
            }
            let still = matches!(event.target(), Target::Timer(_)) && event.time - self.out.moved > watch.limits.stall;
            if still && self.is_stuck(network) {
                return Some(Halt::Idle);
            }
            if let Some(halt) = self.stops(network, watch, event.time) {
                return Some(halt);
            }
            if self.out.unsent > 0
                && self.out.moved > moved
                && network.now + self.layout.lookahead <= watch.limits.horizon
            {
                self.wake_all(network);
                return None;
            }
        }
        Some(Halt::Finished)
    }

    /// Plans windows from the next event on.
    fn wake_all(&mut self, network: &Network) {
        let nodes = 0..self.places.len() as u32;
        let times: Vec<_> = nodes.filter_map(|node| Some((self.next_of(network, node)?.time, node))).collect();
        let Some(begin) = times.iter().map(|(time, _)| *time).min() else { return };
        self.out.calendar.begin_windows(begin);
        for (time, node) in times {
            self.out.calendar.wake(node, time);
        }
    }

    /// The next event of all nodes.
    fn next_event(&self, network: &Network) -> Option<Event> {
        (0..self.places.len() as u32).filter_map(|node| self.next_of(network, node)).min()
    }

    /// Time of the last event that was handled, in ps.
    fn now(&self) -> u64 {
        let switches = self.switches.iter().map(|switch| switch.now());
        switches.chain(self.hosts.iter().map(|host| host.now())).max().unwrap_or(0)
    }

    fn look_for_deadlocks(&mut self, network: &mut Network, until: u64) {
        self.export_pauses(network);
        if network.needs_look() {
            self.export(network);
            network.look_for_deadlocks(until);
        } else {
            network.pass_look(until);
        }
    }

    /// True if what has not moved for the stall time will not move again (as [`Network::run`] decides it).
    fn is_stuck(&mut self, network: &mut Network) -> bool {
        let on_a_wire = self.out.wires.iter().any(|wire| wire.first() != u64::MAX);
        let waits = on_a_wire || self.hosts.iter().any(|host| host.is_paced() || host.has_starts());
        if waits {
            self.export(network);
        }
        !waits || network.deadlock().is_some()
    }

    /// Stops a run whose budget is used up, or whose observer says so; it is called now and then.
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

/// An event of a node as a bound.
fn bound(event: Event, node: u32) -> (u64, u32, u32) {
    (event.time, event.target_code(), node)
}
