//! Windows, and runs in which nodes depend on each other within one.

use super::local::gates_are_local;
use crate::plan::Network;

/// How far nodes depend on each other.
pub(super) struct Order {
    /// In ps; as the next two, a field of the layout.
    pub(super) window: u64,
    pub(super) one_by_one: bool,
    pub(super) neighbours: bool,
    /// True if there are gates, and each concerns one host alone.
    pub(super) gates_are_local: bool,
}

impl Order {
    pub(super) fn new(network: &Network) -> Self {
        let packets = &network.config.packets;
        let ack = packets.ack.0.max(packets.min_ack.0);
        let others = packets.control.0.min(packets.segment_header.0);
        let least = packets.pfc.0.min(ack).min(packets.cnp.0).min(packets.data_header.0).min(others);
        let seen = |port| {
            let state = &network.ports[port];
            state.delay + network.wire_time(port, least.min(state.cut.into()))
        };
        let lookahead = network.ports.ids().map(seen).min().unwrap_or(1);
        let hold = network.switches.isolation.as_ref().map_or(u64::MAX, |isolation| isolation.params.hold.0.max(1));
        let window = lookahead.min(hold);
        let (flows, hosts) = (&network.flows, &network.hosts);
        let local = !network.config.ns3 && !flows.gates.is_empty() && gates_are_local(flows);
        let soonest = flows.gates.iter().map(|gate| gate.delay.0).min().filter(|_| !local).unwrap_or(u64::MAX);
        let neighbours = hosts.hypervisors.as_ref().is_some_and(|all| all.rules.params.sees_neighbours());
        let ideal = hosts.transports.of_flows.is_ideal();
        let one_by_one = soonest < window || !flows.rounds.is_empty() || neighbours || ideal;
        Self { window, one_by_one, neighbours, gates_are_local: local }
    }
}
