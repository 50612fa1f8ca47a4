//! Gates that wait for the ends of flows at several hosts, and gates of rounds.

use incast_model::fabric::NodeId;

use super::Nodes;
use super::host::Hosts;
use super::out::Begin;
use crate::kernel::FlowId;

impl Nodes {
    pub(super) fn wake(&mut self, node: NodeId, time: u64) {
        let spot = self.layout.spots[node];
        self.partitions.at(spot).out.calendar.wake(spot.member, time);
    }

    /// Flows behind them start in a later window.
    pub(super) fn open_gates(&mut self) {
        for (node, start) in self.pass_ends() {
            self.wake(node, start);
        }
    }

    pub(super) fn pass_ends(&mut self) -> Vec<(NodeId, u64)> {
        let mut woken = Vec::new();
        if !self.partitions.ask() {
            return woken;
        }
        if self.partitions.iter().any(|partition| !partition.out.shared.ends.is_empty()) {
            self.report_ends(&mut woken);
        }
        if self.partitions.iter().any(|partition| !partition.out.shared.begins.is_empty()) {
            self.begin_rounds(&mut woken);
        }
        woken
    }

    fn report_ends(&mut self, woken: &mut Vec<(NodeId, u64)>) {
        let mut ends: Vec<_> = self.partitions.outs().flat_map(|out| out.shared.ends.drain(..)).collect();
        // The last end opens a gate.
        ends.sort_by_key(|&(now, flow, _)| (now, flow));
        for (now, flow, end) in ends {
            let starts = self.books.gates.report(&self.network.hosts.gates, &self.network.flows, (flow, end, now));
            self.open(&starts, woken);
        }
    }

    /// Decides about rounds that hosts could not decide about, and notes what they decided.
    fn begin_rounds(&mut self, woken: &mut Vec<(NodeId, u64)>) {
        let mut begins: Vec<Begin> = self.partitions.outs().flat_map(|out| out.shared.begins.drain(..)).collect();
        begins.sort_unstable_by_key(|begin| (begin.now, begin.gate));
        for Begin { now, gate, asked } in begins {
            let starts = self.books.gates.begin(&self.network.hosts.gates, &self.network.flows, (gate, now));
            if asked {
                self.open(&starts, woken);
            }
        }
    }

    fn open(&mut self, starts: &[(FlowId, u64)], woken: &mut Vec<(NodeId, u64)>) {
        for &(started, time) in starts {
            let host = self.partitions.host_mut(self.network.flow(started).src);
            host.flows.open(self.layout.at_src[started], time);
            woken.push((host.node(), time));
        }
    }

    /// Passes turns that the ideal scheduler found at other hosts. Returns nodes and times.
    pub(super) fn give_turns(&mut self) -> Vec<(NodeId, u64)> {
        let mut woken = Vec::new();
        let turns: Vec<_> = self.partitions.outs().flat_map(|out| out.shared.turns.drain(..)).collect();
        for (flow, time) in turns {
            let host = self.partitions.host_mut(self.network.flow(flow).src);
            host.take_turn(self.layout.at_src[flow], time);
            woken.push((host.node(), time));
        }
        woken
    }
}
