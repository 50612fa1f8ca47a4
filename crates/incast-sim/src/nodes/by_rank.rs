//! Runs in `ns3` arithmetic: all events in one queue, by time and rank.

use std::ops::ControlFlow;

use super::plan::Plan;
use super::windows::{STRIDE, Watch};
use super::{Nodes, Place};
use crate::kernel::{Event, Target};
use crate::progress::{Halt, Limits, Progress};

impl Nodes {
    pub(super) fn run_by_rank(
        &mut self,
        limits: Limits,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Halt {
        let mut watch = Watch::new(limits, observe);
        self.out.ns3().schedule_next_start(&self.network);
        loop {
            if self.out.done == self.books.gates.flows {
                return Halt::Finished;
            }
            let Some(event) = self.out.ns3().pop() else { return self.run_dry(limits.horizon) };
            if let Some(halt) = self.before(&limits, event.time) {
                return halt;
            }
            self.books.now = event.time;
            self.out.ns3().rank = event.rank();
            self.step_ns3(event);
            self.settle(event);
            let still = matches!(event.target(), Target::Timer(_)) && event.time - self.out.moved > limits.stall;
            if still && self.is_stuck() {
                return Halt::Idle;
            }
            if self.out.counts.events.is_multiple_of(STRIDE)
                && let Some(halt) = self.stops(&mut watch, event.time)
            {
                return halt;
            }
        }
    }

    /// Takes the actions due before an event at `time`, in ps.
    fn before(&mut self, limits: &Limits, time: u64) -> Option<Halt> {
        while self.next_action().cut() <= time {
            let due = self.next_action();
            if let Some(halt) = self.act_in_time(due, limits) {
                return Some(halt);
            }
        }
        if time > limits.horizon {
            self.books.now = limits.horizon;
            return Some(Halt::Horizon);
        }
        if time >= self.books.detector.next {
            self.look_for_deadlocks(time);
        }
        None
    }

    fn step_ns3(&mut self, event: Event) {
        let plan = Plan { layout: &self.layout, network: &self.network };
        let host_of = |flow: u32| self.network.flows.flows[flow as usize].src.index();
        let node = match event.target() {
            Target::Arrival(wire) => plan.layout.ports[wire].peer,
            Target::Port(port) | Target::Wake(port) => plan.node_of(port),
            Target::Timer(flow) => return self.hosts[host_of(flow)].step_ns3(plan, &mut self.out, event),
            Target::Start(flow) => {
                if !self.network.gates.holds(flow) {
                    let ns3 = self.out.ns3();
                    ns3.next_flow += 1;
                    ns3.schedule_next_start(&self.network);
                }
                return self.hosts[host_of(flow)].step_ns3(plan, &mut self.out, event);
            }
            other => unreachable!("{other:?} is between events of nodes"),
        };
        match self.places[node] {
            Place::Switch(place) => self.switches[place as usize].step_ns3(plan, &mut self.out, event),
            Place::Host(place) => self.hosts[place as usize].step_ns3(plan, &mut self.out, event),
        }
    }

    /// Applies what an event changes beyond its node.
    fn settle(&mut self, event: Event) {
        self.out.counts.peak_packets = self.out.counts.peak_packets.max(self.out.live);
        if let Some(flow) = self.out.ns3().completed.take() {
            // In the HPCC authors' ns-3 the receiver's state dies with the flow at its sender.
            let receiver = self.network.flows.flows[flow as usize].dst.index();
            self.hosts[receiver].forget_received(self.layout.at_dst[flow as usize]);
        }
        for (now, flow, end) in std::mem::take(&mut self.out.ends) {
            for (started, time) in self.books.gates.report(&self.network.gates, &self.network.flows, (flow, end, now)) {
                let host = self.network.flows.flows[started as usize].src.index();
                self.hosts[host].open(self.layout.at_src[started as usize], time);
                self.out.ns3().schedule_start(started, time);
            }
        }
        if !self.out.notes.is_empty() {
            debug_assert!(self.out.notes.iter().all(|noted| noted.time.0 == event.time));
            self.record();
        }
    }
}
