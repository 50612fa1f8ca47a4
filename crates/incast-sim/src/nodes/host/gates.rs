//! Flows that start when others have ended ([`incast_model::flow::Gate`]): gates of a host that sees all ends, and starts behind
//! gates that wait for ends at several hosts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_model::fabric::HostId;
use incast_model::flow::FlowSet;

use crate::nodes::plan::Plan;

#[derive(Debug)]
struct Own {
    left: u32,
    /// Time from the last end to the starts, in ps.
    delay: u64,
    /// Flows that start then, by own number.
    starts: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Gates {
    gates: Vec<Own>,
    /// By flow sent or received: gates that wait for the ACK of its last byte, or for its last byte.
    sent: Vec<Vec<u32>>,
    received: Vec<Vec<u32>>,
    /// By flow sent: true if it is behind a gate.
    pub(super) held: Vec<bool>,
    /// Starts behind open gates: time in ps, own number of the flow.
    pub(super) coming: BinaryHeap<Reverse<(u64, u32)>>,
}

/// Returns true if, for every gate, one host sends all flows behind it and sees all ends that it waits for. False with rounds,
/// which other hosts can cancel.
pub(in crate::nodes) fn are_local(flows: &FlowSet) -> bool {
    flows.gates.iter().all(|gate| {
        let mut hosts = gate.starts.iter().map(|&flow| flows.flows[flow as usize].src);
        let host = hosts.next();
        let sees = |flow: u32| {
            let flow = &flows.flows[flow as usize];
            Some(flow.src) == host || Some(flow.dst) == host
        };
        gate.round.is_none() && hosts.all(|other| Some(other) == host) && gate.waits_for.iter().all(|&flow| sees(flow))
    })
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
            sent: vec![Vec::new(); layout.sent[host.index()].len()],
            received: vec![Vec::new(); layout.received[host.index()].len()],
            held: vec![false; layout.sent[host.index()].len()],
            coming: BinaryHeap::new(),
        };
        for (own, &flow) in layout.sent[host.index()].iter().enumerate() {
            all.held[own] = plan.network.gates.holds(flow);
        }
        let own = layout.gates.get(host.index()).into_iter().flatten();
        for (number, &gate) in (0u32..).zip(own) {
            let gate = &set.gates[gate as usize];
            for &flow in &gate.waits_for {
                // A host's own flow ends for it when the ACK arrives.
                let lists = if set.flows[flow as usize].src == host {
                    &mut all.sent[layout.at_src[flow as usize] as usize]
                } else {
                    &mut all.received[layout.at_dst[flow as usize] as usize]
                };
                lists.push(number);
            }
            let starts: Vec<u32> = gate.starts.iter().map(|&flow| layout.at_src[flow as usize]).collect();
            all.gates.push(Own { left: gate.waits_for.len() as u32, delay: gate.delay.0, starts });
        }
        Some(Box::new(all))
    }

    /// Handles the ACK of a whole flow; `earliest` gives the start that a flow asks for, in ps.
    pub(super) fn acked(&mut self, flow: u32, now: u64, earliest: impl Fn(u32) -> u64) {
        let waiting = std::mem::take(&mut self.sent[flow as usize]);
        self.pass(&waiting, now, earliest);
    }

    pub(super) fn delivered(&mut self, flow: u32, now: u64, earliest: impl Fn(u32) -> u64) {
        let waiting = std::mem::take(&mut self.received[flow as usize]);
        self.pass(&waiting, now, earliest);
    }

    fn pass(&mut self, waiting: &[u32], now: u64, earliest: impl Fn(u32) -> u64) {
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
    use incast_model::flow::{Flow, Gate};
    use incast_model::units::{Bytes, Time};

    use super::*;

    fn flows(pairs: &[(u32, u32)], gates: &[(&[u32], &[u32])]) -> FlowSet {
        let flow = |&(src, dst): &(u32, u32)| Flow {
            src: HostId(src),
            dst: HostId(dst),
            size: Bytes(1000),
            start: Time::ZERO,
            priority: 3,
            label: 0,
            sport: 1,
            dport: 2,
            path: None,
            until: None,
        };
        let gate = |(waits_for, starts): &(&[u32], &[u32])| Gate {
            waits_for: waits_for.to_vec(),
            delay: Time::ns(5),
            starts: starts.to_vec(),
            round: None,
        };
        FlowSet {
            flows: pairs.iter().map(flow).collect(),
            gates: gates.iter().map(gate).collect(),
            ..FlowSet::default()
        }
    }

    #[test]
    fn a_gate_is_local_if_its_host_sees_all_ends() {
        let pairs = [(0, 1), (1, 2), (1, 3), (2, 0)];
        assert!(are_local(&flows(&pairs, &[])));
        assert!(are_local(&flows(&pairs, &[(&[0], &[1, 2])])), "host 1 receives flow 0 and sends flows 1 and 2");
        assert!(are_local(&flows(&pairs, &[(&[0, 1], &[2]), (&[1], &[3])])));
        assert!(!are_local(&flows(&pairs, &[(&[0], &[3])])), "host 2 does not see flow 0");
        assert!(!are_local(&flows(&pairs, &[(&[1], &[2, 3])])), "flows of two hosts");
        let mut round = flows(&pairs, &[(&[0], &[1])]);
        round.gates[0].round = Some(0);
        assert!(!are_local(&round), "a round can be cancelled by other hosts");
    }

    #[test]
    fn flows_start_when_the_last_end_is_seen() {
        let mut gates = Gates {
            gates: vec![Own { left: 2, delay: 5, starts: vec![1, 2] }],
            sent: vec![vec![0], vec![], vec![]],
            received: vec![vec![0]],
            held: vec![false, true, true],
            coming: BinaryHeap::new(),
        };
        let earliest = |flow| if flow == 2 { 1000 } else { 0 };
        gates.delivered(0, 40, earliest);
        assert!(gates.coming.is_empty());
        gates.acked(0, 70, earliest);
        assert_eq!(gates.coming.into_sorted_vec(), [Reverse((1000, 2)), Reverse((75, 1))]);
    }
}
