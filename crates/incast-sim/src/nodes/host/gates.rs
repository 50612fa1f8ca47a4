//! Flows that start after others ([`incast_model::flow::Gate`]): gates of a host that sees all ends, and starts behind gates
//! that wait for several hosts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_model::fabric::HostId;

use crate::host::Round;
use crate::kernel::{FlowId, IdVec, ReceivedId, SentId};
use crate::nodes::out::Begin;
use crate::nodes::plan::Plan;

#[derive(Debug)]
struct Own {
    number: u32,
    round: Option<Round>,
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
        for (place, &number) in (0u32..).zip(own) {
            let gate = &set.gates[number as usize];
            for flow in gate.waits_for.iter().copied().map(FlowId) {
                // The sender sees the end when the ACK arrives.
                let lists = if plan.network.flow(flow).src == host {
                    &mut all.sent[layout.at_src[flow]]
                } else {
                    &mut all.received[layout.at_dst[flow]]
                };
                lists.push(place);
            }
            let starts: Vec<SentId> = gate.starts.iter().map(|&flow| layout.at_src[FlowId(flow)]).collect();
            let round = gate.round.map(|round| plan.network.hosts.gates.rounds[round as usize]);
            all.gates.push(Own { number, round, left: gate.waits_for.len() as u32, delay: gate.delay.0, starts });
        }
        Some(Box::new(all))
    }

    /// `earliest`: start that a flow asks for.
    pub(super) fn acked(&mut self, flow: SentId, now: u64, earliest: impl Fn(SentId) -> u64, begins: &mut Vec<Begin>) {
        let waiting = std::mem::take(&mut self.sent[flow]);
        self.pass(&waiting, now, earliest, begins);
    }

    pub(super) fn delivered(
        &mut self,
        flow: ReceivedId,
        now: u64,
        earliest: impl Fn(SentId) -> u64,
        begins: &mut Vec<Begin>,
    ) {
        let waiting = std::mem::take(&mut self.received[flow]);
        self.pass(&waiting, now, earliest, begins);
    }

    fn pass(&mut self, waiting: &[u32], now: u64, earliest: impl Fn(SentId) -> u64, begins: &mut Vec<Begin>) {
        for &gate in waiting {
            let gate = &mut self.gates[gate as usize];
            gate.left -= 1;
            if gate.left > 0 {
                continue;
            }
            let open = now.saturating_add(gate.delay);
            let opens = gate.round.map_or(Some(true), |round| round.begins(now, open));
            if gate.round.is_some() {
                begins.push(Begin { now, gate: gate.number, asked: opens.is_none() });
            }
            if opens == Some(true) {
                self.coming.extend(gate.starts.iter().map(|&flow| Reverse((open.max(earliest(flow)), flow))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use incast_model::flow::{FlowSet, Gate};
    use incast_model::units::Time;

    use super::*;

    fn gates(round: Option<Round>) -> Gates {
        Gates {
            gates: vec![Own { number: 7, round, left: 2, delay: 5, starts: vec![SentId(1), SentId(2)] }],
            sent: vec![vec![0], vec![], vec![]].into(),
            received: vec![vec![0]].into(),
            held: vec![false, true, true].into(),
            coming: BinaryHeap::new(),
        }
    }

    /// Returns starts, and what the host reports.
    fn opened(mut gates: Gates) -> (Vec<Reverse<(u64, SentId)>>, Vec<Begin>) {
        let earliest = |flow| if flow == SentId(2) { 1000 } else { 0 };
        let mut begins = Vec::new();
        gates.delivered(ReceivedId(0), 40, earliest, &mut begins);
        assert!(gates.coming.is_empty() && begins.is_empty());
        gates.acked(SentId(0), 70, earliest, &mut begins);
        (gates.coming.into_sorted_vec(), begins)
    }

    #[test]
    fn flows_start_when_the_last_end_is_seen() {
        let (starts, begins) = opened(gates(None));
        assert_eq!(starts, [Reverse((1000, SentId(2))), Reverse((75, SentId(1)))]);
        assert!(begins.is_empty());
    }

    #[test]
    fn a_host_decides_about_a_round_if_it_can() {
        let round = |end: u64, gates: usize| {
            let gate = Gate { waits_for: vec![0], delay: Time(5), starts: vec![1], round: Some(0) };
            let set = FlowSet { gates: vec![gate; gates], rounds: vec![Time(end)], ..FlowSet::default() };
            Round::all(&set)[0]
        };
        for (end, count, opens, asked) in
            [(76, 1, true, false), (75, 1, false, false), (76, 2, true, false), (75, 2, false, true)]
        {
            let (starts, begins) = opened(gates(Some(round(end, count))));
            assert_eq!(!starts.is_empty(), opens, "{count} gates, end {end}");
            assert_eq!(begins, [Begin { now: 70, gate: 7, asked }]);
        }
    }
}
