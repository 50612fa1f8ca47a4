//! Runs in `ns3` arithmetic: all events in one queue, by time and rank.

use std::ops::ControlFlow;

use super::plan::Plan;
use super::windows::Watch;
use super::{Nodes, Place};
use crate::kernel::{Event, Target};
use crate::network::{Limits, Network, STRIDE};
use crate::simulation::Progress;
use crate::stop::Halt;

impl Nodes {
    /// Same as [`Nodes::run`], in `ns3` arithmetic.
    pub(super) fn run_ns3(
        &mut self,
        network: &mut Network,
        limits: Limits,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Halt {
        let mut watch = Watch::new(limits, observe);
        self.out.ns3().schedule_next_start(network);
        let halt = loop {
            if self.out.done == network.flows_due {
                break Halt::Finished;
            }
            let Some(event) = self.out.ns3().pop() else { break self.run_dry(network, limits.horizon) };
            if let Some(halt) = self.before(network, &limits, event.time) {
                break halt;
            }
            network.now = event.time;
            self.out.ns3().rank = event.rank();
            self.step_ns3(network, event);
            self.settle(network, event);
            let still = matches!(event.target(), Target::Timer(_)) && event.time - self.out.moved > limits.stall;
            if still && self.is_stuck(network) {
                break Halt::Idle;
            }
            if self.out.counts.events.is_multiple_of(STRIDE)
                && let Some(halt) = self.stops(network, &mut watch, event.time)
            {
                break halt;
            }
        };
        self.export(network);
        halt
    }

    /// Takes the actions due before an event at `time`, in ps.
    fn before(&mut self, network: &mut Network, limits: &Limits, time: u64) -> Option<Halt> {
        while self.next_action().cut() <= time {
            let due = self.next_action();
            if let Some(halt) = self.act_in_time(network, due, limits) {
                return Some(halt);
            }
        }
        if time > limits.horizon {
            network.now = limits.horizon;
            return Some(Halt::Horizon);
        }
        if time >= network.detector.next {
            self.look_for_deadlocks(network, time);
        }
        None
    }

    fn step_ns3(&mut self, network: &Network, event: Event) {
        let plan = Plan { layout: &self.layout, network };
        let host_of = |flow: u32| network.flows.flows[flow as usize].src.index();
        let node = match event.target() {
            Target::Arrival(wire) => plan.layout.ports[wire as usize].peer,
            Target::Port(port) | Target::Wake(port) => plan.node_of(port),
            Target::Timer(flow) => return self.hosts[host_of(flow)].step_ns3(plan, &mut self.out, event),
            Target::Start(flow) => {
                if !network.gates.holds(flow) {
                    let ns3 = self.out.ns3();
                    ns3.next_flow += 1;
                    ns3.schedule_next_start(network);
                }
                return self.hosts[host_of(flow)].step_ns3(plan, &mut self.out, event);
            }
            other => unreachable!("{other:?} is between events of nodes"),
        };
        match self.places[node as usize] {
            Place::Switch(place) => self.switches[place as usize].step_ns3(plan, &mut self.out, event),
            Place::Host(place) => self.hosts[place as usize].step_ns3(plan, &mut self.out, event),
        }
    }

    /// Applies what an event changes beyond its node.
    fn settle(&mut self, network: &mut Network, event: Event) {
        self.out.counts.peak_packets = self.out.counts.peak_packets.max(self.out.live);
        if let Some(flow) = self.out.ns3().completed.take() {
            // In the HPCC authors' ns-3 the receiver's state dies with the flow at its sender.
            let receiver = network.flows.flows[flow as usize].dst.index();
            self.hosts[receiver].forget_received(self.layout.at_dst[flow as usize]);
        }
        for (now, flow, end) in std::mem::take(&mut self.out.ends) {
            for (started, time) in network.count_down(flow, end, now) {
                let host = network.flows.flows[started as usize].src.index();
                self.hosts[host].open(self.layout.at_src[started as usize], time);
                self.out.ns3().schedule_start(started, time);
            }
        }
        if !self.out.notes.is_empty() {
            debug_assert!(self.out.notes.iter().all(|noted| noted.time.0 == event.time));
            self.record(network);
        }
    }
}
