//! Next hops of packets: explicit path, ECMP or other load balancing.

use std::ops::Range;
use std::sync::Arc;

use incast_deadlock::Wiring;
use incast_deadlock::dependency::Dependencies;
use incast_model::fabric::{Fabric, HostId, NodeId, NodeKind, PortId};
use incast_model::field::FieldError;
use incast_model::flow::{Flow, FlowSet};
use incast_model::routing::{EcmpHash, EcmpKey, FlowKey, Routes};

use super::Network;
use crate::balance::{Balance, Balancer, Choice, Scale, State};
use crate::kernel::{FlowId, Id, IdVec};

/// Largest fabric, in hosts and switches, for which a run finds the dependencies of routes (our choice).
const MOST_NODES: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Routing {
    pub(super) routes: Arc<Routes>,
    hash: EcmpHash,
    salts: IdVec<NodeId, u64>,
    /// Keys of data and of returning packets.
    keys: IdVec<FlowId, [EcmpKey; 2]>,
    /// Egress ports out and back.
    paths: Vec<[Vec<PortId>; 2]>,
    /// Empty if all is ECMP.
    pub(crate) balancers: Vec<State>,
}

impl Routing {
    pub(crate) fn new(
        fabric: &Fabric,
        flows: &FlowSet,
        routes: Arc<Routes>,
        (hash, balance): (EcmpHash, &Balance),
        seed: u64,
    ) -> Result<Self, FieldError> {
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
                    return Err(FieldError::new(
                        format!("paths[{index}]"),
                        "consecutive nodes of an explicit path are not joined by a link",
                    ));
                }
            }
        }
        let salts = (0..fabric.nodes().len() as u32).map(|node| hash.salt(node, seed)).collect();
        let state = |(node, kind): (u32, NodeKind)| {
            let groups = routes.groups_of(NodeId(node));
            balance.start(&Scale { node, is_switch: kind == NodeKind::Switch, groups, seed })
        };
        let balancers = match balance {
            Balance::Ecmp => Vec::new(),
            _ => (0..).zip(fabric.nodes().iter().map(|node| node.kind)).map(state).collect(),
        };
        Ok(Self { routes, hash, salts, keys, paths, balancers })
    }

    pub(crate) fn groups_of(&self, node: NodeId) -> Range<usize> {
        self.routes.groups_of(node)
    }

    pub(crate) fn reroute(&mut self, routes: Routes) {
        for (node, balancer) in (0..).zip(&mut self.balancers) {
            balancer.rerouted(routes.groups_of(NodeId(node)));
        }
        self.routes = Arc::new(routes);
    }

    /// True if the routes have a cyclic buffer dependency, or if that would take too long to find.
    pub(crate) fn may_deadlock(&self, fabric: &Fabric) -> bool {
        if fabric.nodes().len() > MOST_NODES {
            return true;
        }
        let wiring = Wiring::new(fabric);
        Dependencies::of_routes(&wiring, &self.routes).cyclic(&wiring)
    }

    pub(crate) const fn is_ecmp(&self) -> bool {
        self.balancers.is_empty()
    }

    /// True if all data, or else all returning packets, use ECMP.
    pub(super) fn leaves_to_ecmp(&self, data: bool) -> bool {
        self.balancers.first().is_none_or(|balancer| balancer.is_ecmp(data))
    }

    /// `backlog`: time in ps to send a port's packets.
    #[inline]
    pub(crate) fn balance(
        &self,
        balancer: &mut State,
        hops: &[PortId],
        (now, node, dst, flow, back): (u64, NodeId, u32, FlowId, bool),
        backlog: impl Fn(PortId) -> u64,
    ) -> PortId {
        hops[balancer.choose(&Hops { routing: self, hops, now, node, dst, flow, back, backlog })]
    }

    #[inline]
    pub(crate) fn hops(&self, node: NodeId, dst: u32) -> &[PortId] {
        self.routes.next_hops(node, HostId(dst))
    }

    #[inline]
    pub(crate) fn ecmp(&self, hops: &[PortId], node: NodeId, flow: FlowId, back: bool) -> PortId {
        let key = self.keys[flow][usize::from(back)];
        let hash = self.hash.hash_prepared(key, self.salts[node]) as usize;
        // A division takes longer than all of the hash.
        hops[if hops.len().is_power_of_two() { hash & (hops.len() - 1) } else { hash % hops.len() }]
    }

    fn ecmp_port(&self, hops: &[PortId], node: NodeId, flow: FlowId, back: bool) -> Option<PortId> {
        match hops {
            [] => None,
            [only] => Some(*only),
            hops => Some(self.ecmp(hops, node, flow, back)),
        }
    }
}

/// Next hops of a packet.
struct Hops<'a, B> {
    routing: &'a Routing,
    hops: &'a [PortId],
    now: u64,
    node: NodeId,
    dst: u32,
    flow: FlowId,
    /// Towards the sender of the flow.
    back: bool,
    backlog: B,
}

impl<B: Fn(PortId) -> u64> Choice for Hops<'_, B> {
    #[inline]
    fn hops(&self) -> &[PortId] {
        self.hops
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn is_data(&self) -> bool {
        !self.back
    }

    fn group(&self) -> usize {
        self.routing.routes.class(HostId(self.dst))
    }

    fn hash(&self) -> u32 {
        let Self { routing, node, flow, back, .. } = *self;
        routing.hash.hash_prepared(routing.keys[flow][usize::from(back)], routing.salts[node])
    }

    fn backlog(&self, port: PortId) -> u64 {
        (self.backlog)(port)
    }
}

/// First of parallel links.
fn egress_ports(fabric: &Fabric, nodes: &mut dyn Iterator<Item = NodeId>) -> Option<Vec<PortId>> {
    let mut ports = Vec::new();
    let mut at = nodes.next()?;
    for next in nodes {
        let port: PortId = fabric.ports_of(at).find(|&port| fabric.neighbour(port) == next)?;
        ports.push(port);
        at = next;
    }
    Some(ports)
}

impl Network {
    pub(crate) fn flow(&self, flow: FlowId) -> &Flow {
        &self.flows.flows[flow.index()]
    }

    pub(crate) fn flow_ids(&self) -> impl Iterator<Item = FlowId> + use<> {
        (0..self.flows.flows.len()).map(FlowId::new)
    }

    /// A packet's own path, from 1; `None`: no route.
    pub(crate) fn chosen_port(&self, node: NodeId, dst: u32, number: u16) -> Option<PortId> {
        match self.routing.hops(node, dst) {
            [] => None,
            hops => Some(hops[usize::from(number - 1) % hops.len()]),
        }
    }

    pub(crate) fn rest_of_path(&self, flow: FlowId, port: PortId) -> Option<&[PortId]> {
        let path = self.flow(flow).path?;
        let [ports, _] = &self.routing.paths[path as usize];
        ports.iter().position(|&one| one == port).map(|place| &ports[place..])
    }

    /// `None`: at the destination or no route.
    pub(crate) fn port_by_ecmp(&self, node: NodeId, dst: u32, flow: FlowId) -> Option<PortId> {
        if self.fabric.hosts()[dst as usize] == node {
            return None;
        }
        self.routing.ecmp_port(self.routing.hops(node, dst), node, flow, false)
    }

    pub(crate) fn path_port(&self, flow: FlowId, back: bool, hop: usize) -> PortId {
        let path = self.flow(flow).path.expect("only flows with a path ask for it");
        self.routing.paths[path as usize][usize::from(back)][hop]
    }

    /// Egress ports of data with the current routes; fewer if these end or go round, after a failure or a change of routes.
    pub(crate) fn way(&self, flow: FlowId) -> Vec<PortId> {
        let spec = self.flow(flow);
        match spec.path {
            Some(path) => self.routing.paths[path as usize][0].clone(),
            None => {
                let src = self.fabric.hosts()[spec.src.index()];
                self.walk_from(&self.routing.routes, src, spec.dst, (flow, false))
            }
        }
    }

    /// Egress ports of data, and of the return path; only before the run.
    pub(crate) fn walk(&self, flow: FlowId) -> [Vec<PortId>; 2] {
        self.walk_over(&self.routing.routes, flow).expect("routes without failures lead to every host")
    }

    /// `None` if these routes end before the destination.
    pub(crate) fn walk_over(&self, routes: &Routes, flow: FlowId) -> Option<[Vec<PortId>; 2]> {
        let spec = self.flow(flow);
        if let Some(path) = spec.path {
            return Some(self.routing.paths[path as usize].clone());
        }
        let [src, dst] = [spec.src, spec.dst].map(|host| self.fabric.hosts()[host.index()]);
        let out = self.walk_from(routes, src, spec.dst, (flow, false));
        let arrival = self.ports[*out.last()?].peer;
        let last = self.fabric.neighbour(arrival);
        let home = self.walk_from(routes, last, spec.src, (flow, true));
        let ends = self.fabric.neighbour(*home.last().unwrap_or(&arrival));
        (self.fabric.port(arrival).node == dst && ends == src).then(|| [out, [vec![arrival], home].concat()])
    }

    fn walk_from(&self, routes: &Routes, mut node: NodeId, dst: HostId, (flow, back): (FlowId, bool)) -> Vec<PortId> {
        let target = self.fabric.hosts()[dst.index()];
        let mut ports = Vec::new();
        while node != target && ports.len() < self.fabric.nodes().len() {
            let Some(port) = self.routing.ecmp_port(routes.next_hops(node, dst), node, flow, back) else { break };
            ports.push(port);
            node = self.fabric.neighbour(port);
        }
        ports
    }
}
