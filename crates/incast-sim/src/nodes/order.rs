//! Order between nodes: windows, and runs in which nodes depend on each other within one.

use super::local::gates_are_local;
use crate::plan::Network;
use crate::setup::{Arithmetic, Setup};
use crate::tenant::Hypervisor;
use crate::transport::Transport;

/// How far nodes depend on each other.
pub(super) struct Order {
    /// Fields of [`Layout`].
    pub(super) window: u64,
    pub(super) one_by_one: bool,
    pub(super) neighbours: bool,
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

impl Setup {
    /// Reason why one thread alone can run the simulation, with what to change if that is possible.
    pub fn one_thread(&self) -> Option<&'static str> {
        let flows = &self.flows;
        let neighbours = self.params.hypervisor.as_ref().is_some_and(Hypervisor::sees_neighbours);
        // A window is a little longer than the shortest link delay.
        let delay = self.fabric.links().iter().map(|link| link.delay).min().unwrap_or_default();
        let waits = || flows.gates.iter().any(|gate| gate.delay < delay) && !gates_are_local(flows);
        match () {
            () if self.params.arithmetic == Arithmetic::Ns3 => {
                Some("`ns3` arithmetic orders simultaneous events of the whole network (`exact` does not)")
            }
            () if self.transports.iter().any(|one| matches!(one, Transport::Ideal(_))) => {
                Some("hosts of the ideal scheduler share a matching")
            }
            () if neighbours => Some("hypervisors with `edge_only` see the other VMs of their server"),
            () if !flows.rounds.is_empty() => Some("a round of flows ends flows of other hosts at once"),
            () if waits() => Some("a flow starts at one host less than a link delay after a flow ends at another"),
            () => None,
        }
    }
}
