//! The next hop of a packet: its flow's explicit path, or ECMP over shortest paths.

use incast_model::fabric::{Fabric, HostId, NodeId, PortId};
use incast_model::flow::FlowSet;
use incast_model::routing::{EcmpHash, EcmpKey, FlowKey, Routes};

use super::Network;
use crate::kernel::{Kind, flag};
use crate::simulation::SetupError;

/// Routes and hashes of a run.
#[derive(Debug)]
pub(crate) struct Routing {
    routes: Routes,
    hash: EcmpHash,
    /// By node.
    salts: Vec<u64>,
    /// By flow: the key of its data, and of what comes back.
    keys: Vec<[EcmpKey; 2]>,
    /// By explicit path: egress ports from the sender on, and from the receiver back.
    paths: Vec<[Vec<u32>; 2]>,
}

impl Routing {
    pub(crate) fn new(
        fabric: &Fabric,
        flows: &FlowSet,
        routes: Routes,
        hash: EcmpHash,
        seed: u64,
    ) -> Result<Self, SetupError> {
        let node = |host: HostId| fabric.hosts()[host.index()].0;
        let keys = flows
            .flows
            .iter()
            .map(|flow| {
                let key = FlowKey::new(node(flow.src), node(flow.dst), flow.sport, flow.dport);
                [hash.prepare(key), hash.prepare(key.reversed())]
            })
            .collect();
        let mut paths = Vec::new();
        for (index, path) in flows.paths.iter().enumerate() {
            let ports = |nodes: &mut dyn Iterator<Item = NodeId>| egress_ports(fabric, nodes);
            match (ports(&mut path.iter().copied()), ports(&mut path.iter().rev().copied())) {
                (Some(out), Some(back)) => paths.push([out, back]),
                _ => {
                    return Err(SetupError {
                        field: format!("paths[{index}]"),
                        message: "consecutive nodes of an explicit path are not joined by a link".into(),
                    });
                }
            }
        }
        let salts = (0..fabric.nodes().len() as u32).map(|node| hash.salt(node, seed)).collect();
        Ok(Self { routes, hash, salts, keys, paths })
    }

    /// The egress port at `node` of a packet of `flow` towards host `dst`.
    #[inline]
    pub(crate) fn next(&self, node: u32, dst: u32, flow: u32, back: bool) -> u32 {
        let hops = self.routes.next_hops(NodeId(node), HostId(dst));
        if let [only] = hops {
            return only.0;
        }
        let key = self.keys[flow as usize][usize::from(back)];
        hops[(self.hash.hash_prepared(key, self.salts[node as usize]) % hops.len() as u32) as usize].0
    }
}

/// The ports that lead from each node to the next; of parallel links the first.
fn egress_ports(fabric: &Fabric, nodes: &mut dyn Iterator<Item = NodeId>) -> Option<Vec<u32>> {
    let mut ports = Vec::new();
    let mut at = nodes.next()?;
    for next in nodes {
        let port: PortId = fabric.ports_of(at).find(|&port| fabric.neighbour(port) == next)?;
        ports.push(port.0);
        at = next;
    }
    Some(ports)
}

impl Network {
    /// The port by which a packet leaves a switch.
    #[inline]
    pub(crate) fn route(&self, node: u32, id: u32) -> u32 {
        let packet = &self.pool[id];
        let back = packet.kind != Kind::Data;
        if packet.flags & flag::PATH != 0 {
            return self.path_port(packet.flow, back, usize::from(packet.hops));
        }
        self.routing.next(node, packet.dst, packet.flow, back)
    }

    /// The port by which data of a flow leaves its sender.
    pub(crate) fn first_port(&self, flow: u32) -> u32 {
        let spec = &self.flows.flows[flow as usize];
        if spec.path.is_some() {
            return self.path_port(flow, false, 0);
        }
        self.routing.next(self.fabric.hosts()[spec.src.index()].0, spec.dst.0, flow, false)
    }

    fn path_port(&self, flow: u32, back: bool, hop: usize) -> u32 {
        let path = self.flows.flows[flow as usize].path.expect("only flows with a path ask for it");
        self.routing.paths[path as usize][usize::from(back)][hop]
    }

    /// All egress ports from the sender of a flow to its receiver, and those of the way back, which begins where data
    /// arrives.
    pub(crate) fn walk(&self, flow: u32) -> [Vec<u32>; 2] {
        let spec = &self.flows.flows[flow as usize];
        if let Some(path) = spec.path {
            return self.routing.paths[path as usize].clone();
        }
        let out = self.walk_from(self.first_port(flow), spec.dst, flow, false);
        let arrival = self.ports[out[out.len() - 1] as usize].peer;
        let back = self.walk_from(arrival, spec.src, flow, true);
        [out, back]
    }

    fn walk_from(&self, first: u32, dst: HostId, flow: u32, back: bool) -> Vec<u32> {
        let target = self.fabric.hosts()[dst.index()];
        let mut ports = vec![first];
        loop {
            let node = self.fabric.neighbour(PortId(ports[ports.len() - 1]));
            if node == target {
                return ports;
            }
            ports.push(self.routing.next(node.0, dst.0, flow, back));
        }
    }
}
