//! Gates that wait for the ends of flows at several hosts.

use incast_model::fabric::NodeId;

use super::Nodes;

impl Nodes {
    /// Flows behind them start in a later window.
    pub(super) fn open_gates(&mut self) {
        for (node, start) in self.pass_ends() {
            self.out.calendar.wake(node, start);
        }
    }

    pub(super) fn pass_ends(&mut self) -> Vec<(NodeId, u64)> {
        let mut woken = Vec::new();
        let mut ends = std::mem::take(&mut self.out.shared.ends);
        // The last end opens a gate.
        ends.sort_by_key(|&(now, ..)| now);
        for (now, flow, end) in ends {
            for (started, time) in
                self.books.gates.report(&self.network.hosts.gates, &self.network.flows, (flow, end, now))
            {
                let host = &mut self.hosts[self.network.flow(started).src.index()];
                host.flows.open(self.layout.at_src[started], time);
                woken.push((host.node(), time));
            }
        }
        woken
    }

    /// Passes turns that the ideal scheduler found at other hosts. Returns nodes and times.
    pub(super) fn give_turns(&mut self) -> Vec<(NodeId, u64)> {
        let mut woken = Vec::new();
        for (flow, time) in self.out.shared.turns.drain(..) {
            let host = &mut self.hosts[self.network.flow(flow).src.index()];
            host.take_turn(self.layout.at_src[flow], time);
            woken.push((host.node(), time));
        }
        woken
    }
}
