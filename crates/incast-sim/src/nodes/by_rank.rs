//! Runs in `ns3` arithmetic: one queue of all events, by time and rank.

use std::ops::ControlFlow;

use super::Nodes;
use super::partition::{NodeMut, Partition};
use super::plan::Plan;
use super::windows::{STRIDE, Watch};
use crate::kernel::{Event, FlowId, Target};
use crate::progress::{Halt, Limits, Progress};

impl Nodes {
    pub(super) fn run_by_rank(
        &mut self,
        limits: Limits,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Halt {
        let mut watch = Watch::new(limits, observe);
        self.partitions.whole().out.ns3().schedule_next_start(&self.network);
        loop {
            if self.partitions.whole().out.progress.done == self.books.gates.flows {
                return Halt::Finished;
            }
            let Some(event) = self.partitions.whole().out.ns3().pop() else { return self.run_dry(limits.horizon) };
            if let Some(halt) = self.before(&limits, event.time) {
                return halt;
            }
            self.books.now = event.time;
            self.partitions.whole().out.ns3().rank = event.rank();
            self.step_ns3(event);
            self.apply_beyond(event);
            let still = matches!(event.target(), Target::Timer(_))
                && event.time - self.partitions.whole().out.progress.moved > limits.stall;
            if still && self.is_stuck() {
                return Halt::Idle;
            }
            if self.partitions.whole().out.counts.events.is_multiple_of(STRIDE)
                && let Some(halt) = self.stops(&mut watch, event.time)
            {
                return halt;
            }
        }
    }

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
        let node_of = |flow: FlowId| self.network.fabric.hosts()[self.network.flow(flow).src.index()];
        let node = match event.target() {
            Target::Arrival(wire) => self.network.fabric.neighbour(wire),
            Target::Port(port) | Target::Wake(port) => plan.node_of(port),
            Target::Timer(flow) => node_of(flow),
            Target::Start(flow) => {
                if !self.network.hosts.gates.holds(flow) {
                    let ns3 = self.partitions.whole().out.ns3();
                    ns3.next_flow.0 += 1;
                    ns3.schedule_next_start(&self.network);
                }
                node_of(flow)
            }
            other => unreachable!("{other:?} is between events of nodes"),
        };
        match self.partitions.node_mut(self.layout.spots[node]) {
            (NodeMut::Switch(switch), out) => switch.step_ns3(plan, out, event),
            (NodeMut::Host(host), out) => host.step_ns3(plan, out, event),
        }
    }

    /// Effects of an event beyond its node.
    fn apply_beyond(&mut self, event: Event) {
        let Partition { hosts, out, .. } = self.partitions.whole();
        self.books.peak_packets = self.books.peak_packets.max(out.progress.live as u64);
        if let Some(flow) = out.ns3().completed.take() {
            // In the HPCC authors' ns-3 the receiver's state dies with the flow at its sender.
            let receiver = self.network.flow(flow).dst.index();
            hosts[receiver].forget_received(self.layout.at_dst[flow]);
        }
        for (now, flow, end) in std::mem::take(&mut out.shared.ends) {
            for (started, time) in
                self.books.gates.report(&self.network.hosts.gates, &self.network.flows, (flow, end, now))
            {
                let host = self.network.flow(started).src.index();
                hosts[host].flows.open(self.layout.at_src[started], time);
                out.ns3().schedule_start(started, time);
            }
        }
        if !out.notes.is_empty() {
            debug_assert!(out.notes.iter().all(|noted| noted.time.0 == event.time));
            self.record();
        }
    }
}

#[cfg(test)]
mod tests {
    use incast_model::units::Time;

    use super::*;
    use crate::nodes::bench::{Bench, flow};
    use crate::setup::Arithmetic;

    /// Two flows of two packets from h0 and h1 to h2, until `horizon` in ns. Returns the flows' ends in ns and the number of
    /// samples.
    fn run(horizon: u64, sample_every: Option<Time>) -> (Halt, u64, Vec<Option<u64>>, usize) {
        let mut nodes = Bench::whole(&[flow(0, 2, 2), flow(1, 2, 2)], |setup| {
            setup.params.arithmetic = Arithmetic::Ns3;
            setup.params.measure.sample_every = sample_every;
        });
        let limits = Limits { horizon: 1000 * horizon, events: u64::MAX, stall: u64::MAX };
        let halt = nodes.run_by_rank(limits, &mut |_| ControlFlow::Continue(()));
        let outcome = nodes.outcome(halt);
        let ends = outcome.flows.iter().map(|flow| flow.finish.map(|finish| finish.0 / 1000));
        (halt, outcome.end.0 / 1000, ends.collect(), outcome.rates.len())
    }

    #[test]
    fn simultaneous_packets_leave_in_the_order_in_which_their_events_were_scheduled() {
        // ns-3 cuts 100 ns to 99 ns and 10 ns to 9 ns. Packets leave the hosts at 0 and 99 ns and arrive 1099 ns later, two by
        // two. The switch sends them from 1099, 1198, 1297 (second of flow 0) and 1396 ns on; 1099 ns later they have arrived.
        // Each ACK takes twice 1009 ns: 1297 + 1099 + 2018 = 4414.
        assert_eq!(run(9000, None), (Halt::Finished, 4513, vec![Some(4414), Some(4513)], 0));
    }

    #[test]
    fn no_event_after_the_horizon_is_handled() {
        assert_eq!(run(4414, None), (Halt::Horizon, 4414, vec![Some(4414), None], 0));
        assert_eq!(run(4413, None), (Halt::Horizon, 4413, vec![None, None], 0));
    }

    #[test]
    fn samples_are_taken_between_events() {
        // At 0, 1, 2, 3 and 4 us, of both flows.
        assert_eq!(run(9000, Some(Time::us(1))).3, 10);
    }
}
