//! Which unfinished flows failures keep from their destination, and where.

use incast_model::fabric::{HostId, NodeId, PortId};

use super::Network;
use crate::balance::Balancer;
use crate::outcome::{CutOff, LinkChange, Obstacle};

/// Flows named at most.
const NAMED: usize = 100;

impl Network {
    /// The flows that have started, have not ended, and cannot as things stand; at most 100.
    pub(crate) fn cut_off(&self) -> Vec<CutOff> {
        if self.faults.is_none() {
            return Vec::new();
        }
        let unfinished = (0..self.flows.flows.len() as u32).filter(|&flow| self.is_under_way(flow));
        unfinished.filter_map(|flow| self.obstacle(flow)).take(NAMED).collect()
    }

    /// What keeps data of a flow, or else its ACKs, from coming through.
    pub(super) fn obstacle(&self, flow: u32) -> Option<CutOff> {
        let spec = &self.flows.flows[flow as usize];
        if spec.path.is_some() {
            let [out, back] = self.walk(flow);
            let blocked = |ports: &[u32]| ports.iter().find_map(|&port| self.blocked(port));
            let found = blocked(&out).map(|place| CutOff { flow, acks: false, place });
            return found.or_else(|| blocked(&back).map(|place| CutOff { flow, acks: true, place }));
        }
        let port = self.source_port(flow);
        if let Some(place) = self.no_way(&[PortId(port)], spec.dst, flow, false) {
            return Some(CutOff { flow, acks: false, place });
        }
        let home: Vec<PortId> = self.fabric.ports_of(self.fabric.hosts()[spec.dst.index()]).collect();
        self.no_way(&home, spec.src, flow, true).map(|place| CutOff { flow, acks: true, place })
    }

    /// The link of a port, if nothing gets through it.
    fn blocked(&self, port: u32) -> Option<Obstacle> {
        let port = PortId(port);
        let why = self.faults.as_ref()?.blocks(self.fabric.port(port).link)?;
        Some(if why == LinkChange::Down { Obstacle::Down(port) } else { Obstacle::Silent(port) })
    }

    /// The first obstacle met, if no packet that leaves by one of `first` can reach the host.
    fn no_way(&self, first: &[PortId], dst: HostId, flow: u32, back: bool) -> Option<Obstacle> {
        let target = self.fabric.hosts()[dst.index()];
        let mut met = None;
        let mut seen = vec![false; self.fabric.nodes().len()];
        let mut ahead = first.to_vec();
        while let Some(port) = ahead.pop() {
            if let Some(obstacle) = self.blocked(port.0) {
                met = met.or(Some(obstacle));
                continue;
            }
            let node = self.fabric.neighbour(port);
            if node == target {
                return None;
            }
            if std::mem::replace(&mut seen[node.index()], true) {
                continue;
            }
            let hops = self.hops_of_flow(node, dst, flow, back);
            if hops.is_empty() {
                met = met.or(Some(Obstacle::NoRoute(node)));
            }
            ahead.extend(hops);
        }
        met
    }

    /// The next hops that packets of a flow can take at a node.
    fn hops_of_flow(&self, node: NodeId, dst: HostId, flow: u32, back: bool) -> Vec<PortId> {
        let hops = self.routing.hops(node.0, dst.0);
        if hops.is_empty() || !self.routing.balancer.is_ecmp(!back) {
            return hops.to_vec();
        }
        vec![self.routing.ecmp(hops, node.0, flow, back)]
    }
}
