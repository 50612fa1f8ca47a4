//! Gates that concern one host alone.

use incast_model::flow::FlowSet;

/// True if, for every gate, one host sends all flows behind it and sees all ends that it waits for.
pub(super) fn gates_are_local(flows: &FlowSet) -> bool {
    flows.gates.iter().all(|gate| {
        let mut hosts = gate.starts.iter().map(|&flow| flows.flows[flow as usize].src);
        let host = hosts.next();
        let sees = |flow: u32| {
            let flow = &flows.flows[flow as usize];
            Some(flow.src) == host || Some(flow.dst) == host && flow.until.is_none()
        };
        hosts.all(|other| Some(other) == host) && gate.waits_for.iter().all(|&flow| sees(flow))
    })
}

#[cfg(test)]
mod tests {
    use incast_model::fabric::HostId;
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
        assert!(gates_are_local(&flows(&pairs, &[])));
        assert!(gates_are_local(&flows(&pairs, &[(&[0], &[1, 2])])), "host 1 receives flow 0 and sends flows 1 and 2");
        assert!(gates_are_local(&flows(&pairs, &[(&[0, 1], &[2]), (&[1], &[3])])));
        assert!(!gates_are_local(&flows(&pairs, &[(&[0], &[3])])), "host 2 does not see flow 0");
        assert!(!gates_are_local(&flows(&pairs, &[(&[1], &[2, 3])])), "flows of two hosts");
        let mut backlogged = flows(&pairs, &[(&[0], &[1, 2])]);
        backlogged.flows[0].until = Some(Time::us(1));
        assert!(!gates_are_local(&backlogged), "host 1 does not see when flow 0 ends");
    }
}
