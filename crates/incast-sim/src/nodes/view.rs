//! Queries about nodes for searches over the whole network, between windows.

use incast_model::fabric::{Fabric, NodeId, NodeKind, PortId};
use incast_model::units::Time;

use super::Nodes;
use super::partition::Node;
use super::plan::{Plan, Spot};
use crate::deadlock::{Paused, Snapshot};
use crate::kernel::{FlowId, LocalPort};
use crate::outcome::{CutOff, QueueRef};
use crate::plan::Reach;
use crate::switch::{Buffer, Ingress};

impl Nodes {
    /// Place of the node, and the port there.
    pub(super) fn spot_of(&self, port: PortId) -> (Spot, LocalPort) {
        let port = self.network.fabric.port(port);
        (self.layout.spots[port.node], LocalPort(port.local as u16))
    }

    pub(super) fn node_of(&self, port: PortId) -> (Node<'_>, LocalPort) {
        let (spot, local) = self.spot_of(port);
        (self.partitions.node(spot), local)
    }

    fn is_paused_by_switch(&self, port: PortId, priority: u8) -> bool {
        match self.node_of(self.network.fabric.port(port).peer) {
            (Node::Switch(switch), local) => switch.ports[local].ingress(priority).paused,
            (Node::Host(_), _) => false,
        }
    }

    /// True if the far end holds the priority in a PFC storm; false if a watchdog lets the packets leave.
    fn is_held(&self, port: PortId, priority: u8) -> bool {
        let held = match self.node_of(self.network.ports[port].peer) {
            (Node::Switch(switch), local) => switch.ports[local].ingress(priority).held,
            (Node::Host(host), local) => host.holds(local, priority),
        };
        // With tags on the wire, packets queue under other priorities than those followed here.
        if !held || self.network.tags_on_the_wire() {
            return false;
        }
        match self.node_of(port) {
            (Node::Switch(switch), local) => switch.keeps(local, priority),
            (Node::Host(host), local) => host.is_paused(local, priority),
        }
    }

    /// Flows under way, in order; `None`: can finish.
    fn obstacles(&self) -> Vec<Option<CutOff>> {
        let Some(faults) = &self.books.faults else { return Vec::new() };
        let is_held = |port, priority| self.is_held(port, priority);
        let reach = Reach { network: &self.network, faults, is_held: &is_held };
        let mut flows: Vec<(FlowId, PortId)> = self.partitions.hosts().flat_map(|host| host.under_way()).collect();
        flows.sort_unstable();
        flows.into_iter().map(|(flow, port)| reach.obstacle(flow, port)).collect()
    }

    pub(super) fn cut_off(&self) -> Vec<CutOff> {
        self.obstacles().into_iter().flatten().collect()
    }

    pub(super) fn all_cut_off(&self) -> bool {
        self.obstacles().iter().all(Option::is_some)
    }
}

impl Snapshot for Nodes {
    fn fabric(&self) -> &Fabric {
        &self.network.fabric
    }

    fn paused(&self) -> Vec<Paused> {
        let lossless = self.network.config.queues.lossless;
        let of_switches = self.partitions.switches().flat_map(|switch| &switch.ports);
        let of_switches = of_switches.filter(|port| port.paused != 0 && !port.down);
        let of_switches = of_switches.map(|port| (port.number, port.paused & port.waiting, false));
        let of_hosts =
            self.partitions.hosts().flat_map(|host| host.pauses()).map(|(port, paused)| (port, paused, true));
        let mut found = Vec::new();
        for (port, paused, at_host) in of_switches.chain(of_hosts).filter(|(_, paused, _)| paused & lossless != 0) {
            for priority in (1..8u8).filter(|prio| paused & lossless & 1 << prio != 0) {
                if self.is_paused_by_switch(port, priority) {
                    found.push(Paused { queue: QueueRef { port, priority }, at_host });
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn paused_since(&self, queue: QueueRef) -> Option<Time> {
        self.books.recorder.paused_since(self.network.at(queue.port, queue.priority))
    }

    fn held(&self, switch: NodeId, queues: &[QueueRef]) -> Vec<Vec<(QueueRef, u32)>> {
        let Node::Switch(switch) = self.partitions.node(self.layout.spots[switch]) else {
            return vec![Vec::new(); queues.len()];
        };
        let local = |queue: &QueueRef| (self.layout.local(switch.node, queue.port), queue.priority);
        let queues: Vec<(LocalPort, u8)> = queues.iter().map(local).collect();
        switch.held_in(&queues)
    }

    fn bytes(&self, queue: QueueRef) -> u64 {
        let (Node::Switch(switch), local) = self.node_of(queue.port) else { return 0 };
        switch.ports[local].lanes[usize::from(queue.priority)].queue.bytes.into()
    }

    fn is_in_flight(&self, queue: QueueRef) -> bool {
        let plan = Plan { layout: &self.layout, network: &self.network };
        let line = self.layout.ports[queue.port].line;
        self.partitions.wires_to(plan, queue.port)[line].packets().any(|(_, packet)| packet.prio == queue.priority)
    }

    fn ingress(&self, counter: QueueRef) -> &Ingress {
        match self.node_of(counter.port) {
            (Node::Switch(switch), local) => switch.ports[local].ingress(counter.priority),
            (Node::Host(_), _) => unreachable!("hosts have no counters"),
        }
    }

    fn may_deadlock(&self) -> bool {
        let flows = &self.network.flows.flows;
        let follow_routes = self.network.faults.is_none() && flows.iter().all(|flow| flow.path.is_none());
        !follow_routes || self.network.routing.may_deadlock(&self.network.fabric)
    }

    fn buffer(&self, switch: NodeId) -> &Buffer {
        debug_assert!(self.network.fabric.node(switch).kind == NodeKind::Switch);
        match self.partitions.node(self.layout.spots[switch]) {
            Node::Switch(switch) => &switch.buffer,
            Node::Host(_) => unreachable!("only switches have a buffer"),
        }
    }
}
