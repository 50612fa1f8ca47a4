//! Flows that failures or PFC storms keep from their destination.

use std::collections::{BTreeSet, VecDeque};

use incast_model::fabric::{HostId, NodeId, PortId};

use super::Network;
use crate::kernel::FlowId;
use crate::network::Faults;
use crate::outcome::{CutOff, LinkChange, Obstacle, QueueRef};

type Step = (PortId, u8);

#[derive(Clone, Copy)]
pub(crate) struct Reach<'a> {
    pub(crate) network: &'a Network,
    pub(crate) faults: &'a Faults,
    pub(crate) is_held: &'a dyn Fn(PortId, u8) -> bool,
}

impl Reach<'_> {
    /// Obstacle of data, else of ACKs; `None`: the flow can finish. `port`: at its host.
    pub(crate) fn obstacle(&self, flow: FlowId, port: PortId) -> Option<CutOff> {
        let network = self.network;
        let spec = network.flow(flow);
        let [data, acks] = self.priorities_of(flow);
        if spec.path.is_some() {
            let [out, back] = network.walk(flow);
            let found = self.blocked_on(&out, data).map(|place| CutOff { flow: flow.0, acks: false, place });
            return found
                .or_else(|| self.blocked_on(&back, acks).map(|place| CutOff { flow: flow.0, acks: true, place }));
        }
        if let Some(place) = self.find_obstacle(vec![(port, data)], spec.dst, flow, false) {
            return Some(CutOff { flow: flow.0, acks: false, place });
        }
        let home = network.fabric.ports_of(network.fabric.hosts()[spec.dst.index()]).map(|port| (port, acks)).collect();
        self.find_obstacle(home, spec.src, flow, true).map(|place| CutOff { flow: flow.0, acks: true, place })
    }

    /// Priorities of data and ACKs at their hosts; 0 (never paused): ACKs that ignore pauses, transports that choose a priority
    /// per packet.
    fn priorities_of(&self, flow: FlowId) -> [u8; 2] {
        let data = self.network.flow(flow).priority;
        let transports = &self.network.hosts.transports.of_flows;
        match transports.is_rdma(flow) {
            true if self.network.config.host.rdma.acks_ignore_pause => [data, 0],
            true => [data, self.network.config.host.rdma.ack_priority.unwrap_or(data)],
            false if transports.keeps_priority(flow) => [data, data],
            false => [0, 0],
        }
    }

    fn blocked(&self, (port, priority): Step) -> Option<Obstacle> {
        let link = self.network.fabric.port(port).link;
        match self.faults.blocks(link) {
            Some(LinkChange::Down) => Some(Obstacle::Down(port)),
            Some(_) => Some(Obstacle::Silent(port)),
            None if (self.is_held)(port, priority) => Some(Obstacle::Held(QueueRef { port, priority })),
            None => None,
        }
    }

    fn blocked_on(&self, ports: &[PortId], mut priority: u8) -> Option<Obstacle> {
        let mut before = None;
        ports.iter().find_map(|&port| {
            if let Some(before) = before.replace(port) {
                priority = self.network.priority_beyond(priority, self.network.ports[before].peer, port);
            }
            self.blocked((port, priority))
        })
    }

    /// First obstacle found; `None` if a packet from a queue in `from` can reach the host.
    fn find_obstacle(&self, from: Vec<Step>, dst: HostId, flow: FlowId, back: bool) -> Option<Obstacle> {
        let target = self.network.fabric.hosts()[dst.index()];
        let (mut met, mut again) = (None, None);
        let mut seen = BTreeSet::new();
        // With links to cross: those with fewer first, so that the time to live ends on no shorter way.
        let mut ahead: VecDeque<(Step, u8)> = from.into_iter().map(|step| (step, 1)).collect();
        while let Some(((port, priority), links)) = ahead.pop_front() {
            if let Some(obstacle) = self.blocked((port, priority)) {
                met = met.or(Some(obstacle));
                continue;
            }
            let (node, input) = (self.network.fabric.neighbour(port), self.network.ports[port].peer);
            if node == target {
                return None;
            }
            // The input port selects the next tag.
            if !seen.insert((node, priority, self.network.switches.tagging.as_ref().map(|_| input))) {
                // The last one: ways that join come before a loop ends.
                again = Some(Obstacle::Loop(node));
                continue;
            }
            if links >= self.network.config.switch.ttl {
                met = met.or(Some(Obstacle::Expired(node)));
                continue;
            }
            let hops = self.hops_of_flow(node, dst, flow, back);
            if hops.is_empty() {
                met = met.or(Some(Obstacle::NoRoute(node)));
            }
            let step = |out| ((out, self.network.priority_beyond(priority, input, out)), links + 1);
            ahead.extend(hops.into_iter().map(step));
        }
        met.or(again)
    }

    fn hops_of_flow(&self, node: NodeId, dst: HostId, flow: FlowId, back: bool) -> Vec<PortId> {
        let hops = self.network.routing.hops(node, dst.0);
        if hops.is_empty() || !self.network.routing.leaves_to_ecmp(!back) {
            return hops.to_vec();
        }
        vec![self.network.routing.ecmp(hops, node, flow, back)]
    }
}
