//! Flows that start after others ([`incast_model::flow::Gate`]): gates of a host that sees all ends, and starts behind gates
//! that wait for several hosts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_model::fabric::HostId;

use crate::kernel::{FlowId, IdVec, ReceivedId, SentId};
use crate::nodes::plan::Plan;

#[derive(Debug)]
struct Own {
    left: u32,
    /// From the last end to the starts.
    delay: u64,
    starts: Vec<SentId>,
}

#[derive(Debug)]
pub(super) struct Gates {
    gates: Vec<Own>,
    /// Gates by flow: an end is the ACK of the last byte, or at the receiver the last byte.
    sent: IdVec<SentId, Vec<u32>>,
    received: IdVec<ReceivedId, Vec<u32>>,
    /// By flow sent: behind a gate.
    pub(super) held: IdVec<SentId, bool>,
    pub(super) coming: BinaryHeap<Reverse<(u64, SentId)>>,
}

impl Gates {
    /// `None` without gates in the run.
    pub(super) fn new(plan: Plan<'_>, host: HostId) -> Option<Box<Self>> {
        let (layout, set) = (plan.layout, &plan.network.flows);
        if set.gates.is_empty() {
            return None;
        }
        let mut all = Self {
            gates: Vec::new(),
            sent: vec![Vec::new(); layout.sent[host].len()].into(),
            received: vec![Vec::new(); layout.received[host].len()].into(),
            held: layout.sent[host].iter().map(|&flow| plan.network.hosts.gates.holds(flow)).collect(),
            coming: BinaryHeap::new(),
        };
        let own = layout.gates.get(host).into_iter().flatten();
        for (number, &gate) in (0u32..).zip(own) {
            let gate = &set.gates[gate as usize];
            for flow in gate.waits_for.iter().copied().map(FlowId) {
                // The sender sees the end when the ACK arrives.
                let lists = if plan.network.flow(flow).src == host {
                    &mut all.sent[layout.at_src[flow]]
                } else {
                    &mut all.received[layout.at_dst[flow]]
                };
                lists.push(number);
            }
            let starts: Vec<SentId> = gate.starts.iter().map(|&flow| layout.at_src[FlowId(flow)]).collect();
            all.gates.push(Own { left: gate.waits_for.len() as u32, delay: gate.delay.0, starts });
        }
        Some(Box::new(all))
    }

    /// `earliest`: start that a flow asks for.
    pub(super) fn acked(&mut self, flow: SentId, now: u64, earliest: impl Fn(SentId) -> u64) {
        let waiting = std::mem::take(&mut self.sent[flow]);
        self.pass(&waiting, now, earliest);
    }

    pub(super) fn delivered(&mut self, flow: ReceivedId, now: u64, earliest: impl Fn(SentId) -> u64) {
        let waiting = std::mem::take(&mut self.received[flow]);
        self.pass(&waiting, now, earliest);
    }

    fn pass(&mut self, waiting: &[u32], now: u64, earliest: impl Fn(SentId) -> u64) {
        for &gate in waiting {
            let gate = &mut self.gates[gate as usize];
            gate.left -= 1;
            if gate.left == 0 {
                let open = now.saturating_add(gate.delay);
                self.coming.extend(gate.starts.iter().map(|&flow| Reverse((open.max(earliest(flow)), flow))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_start_when_the_last_end_is_seen() {
        let mut gates = Gates {
            gates: vec![Own { left: 2, delay: 5, starts: vec![SentId(1), SentId(2)] }],
            sent: vec![vec![0], vec![], vec![]].into(),
            received: vec![vec![0]].into(),
            held: vec![false, true, true].into(),
            coming: BinaryHeap::new(),
        };
        let earliest = |flow| if flow == SentId(2) { 1000 } else { 0 };
        gates.delivered(ReceivedId(0), 40, earliest);
        assert!(gates.coming.is_empty());
        gates.acked(SentId(0), 70, earliest);
        assert_eq!(gates.coming.into_sorted_vec(), [Reverse((1000, SentId(2))), Reverse((75, SentId(1)))]);
    }
}
