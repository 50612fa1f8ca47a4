//! What a run does not change: read by all nodes, written by none.

use incast_model::fabric::{NodeId, PortId};

use crate::kernel::flag;
use crate::network::{Far, Network};
use crate::setup::Carrier;

use super::packet::Packet;

/// A port as its node sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PortPlan {
    /// Propagation delay of its link, in ps.
    pub(super) delay: u64,
    /// Serialisation of a byte, in ps.
    pub(super) ps_per_byte: u64,
    /// Node at the far end, and the port of that node, from 0.
    pub(super) peer: u32,
    pub(super) peer_port: u16,
}

/// A wire that ends at a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inward {
    /// Number of the wire: the egress port at its far end.
    pub(super) wire: u32,
    /// Port of the node, from 0.
    pub(super) port: u16,
}

/// Fabric and flows in the form that nodes use.
#[derive(Debug)]
pub(super) struct Layout {
    /// By port.
    pub(super) ports: Vec<PortPlan>,
    /// By node: its first port.
    pub(super) first_port: Vec<u32>,
    /// By node: wires that end there, in order of their numbers.
    pub(super) inward: Vec<Vec<Inward>>,
    /// By flow: its number among the flows that its sender sends.
    pub(super) at_src: Vec<u32>,
    /// By flow: its number among the flows that its receiver receives.
    pub(super) at_dst: Vec<u32>,
    /// By host: the flows that it sends, in order.
    pub(super) sent: Vec<Vec<u32>>,
    /// By host: the flows that it receives, in order.
    pub(super) received: Vec<Vec<u32>>,
    /// By host: gates of which it sends the flows behind; empty in runs without gates.
    pub(super) gates: Vec<Vec<u32>>,
    /// Shortest time from when a packet is appended to a wire until it arrives, in ps.
    pub(super) lookahead: u64,
    /// Room for INT records in a packet; 0 in runs without.
    pub(super) records: usize,
}

impl Layout {
    pub(super) fn new(network: &Network) -> Self {
        let fabric = &network.fabric;
        let nodes = 0..fabric.nodes().len() as u32;
        let first = |node| fabric.ports_of(NodeId(node)).next().map_or(0, |port| port.0);
        let ports: Vec<PortPlan> = (0u32..)
            .zip(&network.ports)
            .map(|(port, state)| {
                let peer = fabric.neighbour(PortId(port)).0;
                let peer_port = (state.peer - first(peer)) as u16;
                PortPlan { delay: state.delay, ps_per_byte: state.ps_per_byte.into(), peer, peer_port }
            })
            .collect();
        let inward = |node| {
            let own = fabric.ports_of(NodeId(node)).zip(0u16..);
            let mut all: Vec<Inward> =
                own.map(|(port, local)| Inward { wire: network.ports[port.index()].peer, port: local }).collect();
            all.sort_by_key(|inward| inward.wire);
            all
        };
        let packets = &network.config.packets;
        let least =
            packets.pfc.0.min(packets.ack.0.max(packets.min_ack.0)).min(packets.cnp.0).min(packets.data_header.0);
        let has_int = network.controls.iter().any(|control| control.flags & flag::INT != 0);
        let hosts = fabric.hosts().len();
        let (mut sent, mut received) = (vec![Vec::new(); hosts], vec![Vec::new(); hosts]);
        let (mut at_src, mut at_dst) = (Vec::new(), Vec::new());
        for (number, flow) in (0u32..).zip(&network.flows.flows) {
            for (host, numbers, lists) in [(flow.src, &mut at_src, &mut sent), (flow.dst, &mut at_dst, &mut received)] {
                let list: &mut Vec<u32> = &mut lists[host.index()];
                numbers.push(list.len() as u32);
                list.push(number);
            }
        }
        let mut gates = vec![Vec::new(); if network.flows.gates.is_empty() { 0 } else { hosts }];
        for (number, gate) in (0u32..).zip(&network.flows.gates) {
            if let Some(&flow) = gate.starts.first() {
                gates[network.flows.flows[flow as usize].src.index()].push(number);
            }
        }
        Self {
            gates,
            lookahead: ports.iter().map(|port| port.delay + least * port.ps_per_byte).min().unwrap_or(1),
            ports,
            first_port: nodes.clone().map(first).collect(),
            inward: nodes.map(inward).collect(),
            at_src,
            at_dst,
            sent,
            received,
            records: if has_int { usize::from(packets.int_records) } else { usize::from(network.pint.is_some()) },
        }
    }
}

/// Next hops of a packet.
pub(super) enum Route {
    /// An egress port.
    Port(u32),
    /// The load balancing decides.
    Several,
    /// There is none.
    None,
}

/// The layout, and of the network only what a run does not change: parameters, routes, flows.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) layout: &'a Layout,
    pub(super) network: &'a Network,
}

impl Plan<'_> {
    /// Next hops of a packet at a node.
    #[inline(always)]
    pub(super) fn route(&self, node: u32, packet: &Packet) -> Route {
        let back = !packet.kind.is_forward();
        if packet.flags & flag::PATH != 0 {
            return Route::Port(self.network.path_port(packet.flow, back, usize::from(packet.hops)));
        }
        let routing = &self.network.routing;
        match routing.hops(node, packet.dst) {
            [only] => Route::Port(only.0),
            [] => Route::None,
            hops if routing.is_ecmp() => Route::Port(routing.ecmp(hops, node, packet.flow, back).0),
            _ => Route::Several,
        }
    }

    /// Index of a flow's congestion control.
    pub(super) fn control(&self, flow: u32) -> usize {
        match self.network.carriers[usize::from(self.network.flows.flows[flow as usize].label)] {
            Carrier::Rdma(control) => control,
            Carrier::Transport(_) => unreachable!("only RDMA's flows are simulated here"),
        }
    }
}

/// Whether this part simulates all that a run has. What it lacks so far: transports other than RDMA, cut-through, gates across hosts, guards, failures, hypervisors, jitter, queueing delays of flows, fingerprints,
/// `ns3` arithmetic.
pub(super) fn covers(network: &Network) -> bool {
    let config = &network.config;
    let measured = &network.recorder.params;
    let plain = config.plain_wires && !config.ns3 && !config.underrun && !config.ranked;
    let host = super::host::gates_are_local(&network.flows) && config.demotion == u64::MAX;
    let rdma = network.carriers.iter().all(|carrier| matches!(carrier, Carrier::Rdma(_)));
    let guards = network.tagging.is_none() && network.isolation.is_none() && network.watchdog.is_none();
    let network_parts = network.faults.is_none() && network.hypervisors.is_none();
    let ports = network
        .ports
        .iter()
        .all(|port| port.cut == crate::network::WHOLE_PACKETS && !port.at_server && port.far != Far::Lossy);
    let fabric = &network.fabric;
    let sizes = (0..fabric.nodes().len() as u32).map(NodeId).map(|node| fabric.ports_of(node).len());
    let hosts = fabric.hosts().iter().all(|&host| (1..256).contains(&fabric.ports_of(host).len()));
    plain
        && host
        && rdma
        && guards
        && network_parts
        && ports
        && hosts
        && sizes.max().is_some_and(|most| most <= super::wire::MAX_PORTS)
        && network.storage_is_shared()
        && !measured.blocking
        && !measured.fingerprint
        && network.jitter.is_none()
}
