//! Finds flows that failures or PFC storms keep from their destination.

use std::collections::BTreeSet;

use incast_model::fabric::{HostId, NodeId, PortId};

use super::Network;
use crate::outcome::{CutOff, LinkChange, Obstacle, QueueRef};

const NAMED: usize = 100;

/// Port and priority.
type Step = (u32, u8);

impl Network {
    /// Flows under way that cannot finish in the current state, at most [`NAMED`].
    pub(crate) fn cut_off(&self) -> Vec<CutOff> {
        if self.faults.is_none() {
            return Vec::new();
        }
        let unfinished = (0..self.flows.flows.len() as u32).filter(|&flow| self.is_under_way(flow));
        unfinished.filter_map(|flow| self.obstacle(flow)).take(NAMED).collect()
    }

    /// Obstacle of a flow's data, or else of its ACKs.
    pub(super) fn obstacle(&self, flow: u32) -> Option<CutOff> {
        let spec = &self.flows.flows[flow as usize];
        let [data, acks] = self.priorities_of(flow);
        if spec.path.is_some() {
            let [out, back] = self.walk(flow);
            let found = self.blocked_on(&out, data).map(|place| CutOff { flow, acks: false, place });
            return found.or_else(|| self.blocked_on(&back, acks).map(|place| CutOff { flow, acks: true, place }));
        }
        let port = self.source_port(flow);
        if let Some(place) = self.no_way(vec![(port, data)], spec.dst, flow, false) {
            return Some(CutOff { flow, acks: false, place });
        }
        let home = self.fabric.ports_of(self.fabric.hosts()[spec.dst.index()]).map(|port| (port.0, acks)).collect();
        self.no_way(home, spec.src, flow, true).map(|place| CutOff { flow, acks: true, place })
    }

    /// Priorities of data and ACKs as they leave their hosts; 0, which nothing pauses, for ACKs that ignore pauses and for
    /// transports that choose a priority per packet.
    fn priorities_of(&self, flow: u32) -> [u8; 2] {
        let data = self.flows.flows[flow as usize].priority;
        let endpoints = &self.transports.endpoints;
        match endpoints.is_rdma(flow) {
            true if self.config.rdma.acks_ignore_pause => [data, 0],
            true => [data, self.config.rdma.ack_priority.unwrap_or(data)],
            false if endpoints.keeps_priority(flow) => [data, data],
            false => [0, 0],
        }
    }

    fn blocked(&self, (port, priority): Step) -> Option<Obstacle> {
        let link = self.fabric.port(PortId(port)).link;
        match self.faults.as_ref()?.blocks(link) {
            Some(LinkChange::Down) => Some(Obstacle::Down(PortId(port))),
            Some(_) => Some(Obstacle::Silent(PortId(port))),
            None if self.is_held(port, priority) => Some(Obstacle::Held(QueueRef { port: PortId(port), priority })),
            None => None,
        }
    }

    /// First obstacle on a path; `priority` is that of the first port.
    fn blocked_on(&self, ports: &[u32], mut priority: u8) -> Option<Obstacle> {
        let mut before = None;
        ports.iter().find_map(|&port| {
            if let Some(before) = before.replace(port) {
                priority = self.priority_beyond(priority, self.ports[before as usize].peer, port);
            }
            self.blocked((port, priority))
        })
    }

    /// First obstacle found, if no packet that leaves by one of the queues `ahead` can reach the host.
    fn no_way(&self, mut ahead: Vec<Step>, dst: HostId, flow: u32, back: bool) -> Option<Obstacle> {
        let target = self.fabric.hosts()[dst.index()];
        let mut met = None;
        let mut seen = BTreeSet::new();
        while let Some((port, priority)) = ahead.pop() {
            if let Some(obstacle) = self.blocked((port, priority)) {
                met = met.or(Some(obstacle));
                continue;
            }
            let (node, input) = (self.fabric.neighbour(PortId(port)), self.ports[port as usize].peer);
            if node == target {
                return None;
            }
            // The next tag depends on the input port.
            if !seen.insert((node, priority, self.tagging.as_ref().map(|_| input))) {
                continue;
            }
            let hops = self.hops_of_flow(node, dst, flow, back);
            if hops.is_empty() {
                met = met.or(Some(Obstacle::NoRoute(node)));
            }
            ahead.extend(hops.into_iter().map(|out| (out.0, self.priority_beyond(priority, input, out.0))));
        }
        met
    }

    fn hops_of_flow(&self, node: NodeId, dst: HostId, flow: u32, back: bool) -> Vec<PortId> {
        let hops = self.routing.hops(node.0, dst.0);
        if hops.is_empty() || !self.routing.leaves_to_ecmp(!back) {
            return hops.to_vec();
        }
        vec![self.routing.ecmp(hops, node.0, flow, back)]
    }
}
