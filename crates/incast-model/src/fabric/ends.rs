use std::collections::HashMap;

use super::graph::{Fabric, HostId, NodeId, NodeKind, PortId};

pub(crate) struct Ends {
    pub(crate) targets: Vec<NodeId>,
    pub(crate) class_of_host: Vec<u32>,
    pub(crate) last_hop: Vec<(NodeId, PortId)>,
    pub(crate) alone: Vec<PortId>,
}

impl Ends {
    /// `pinned` hosts share no routes.
    pub(crate) fn new(fabric: &Fabric, up: &dyn Fn(PortId) -> bool, pinned: &dyn Fn(HostId) -> bool) -> Self {
        let mut class_of_target: HashMap<NodeId, u32> = HashMap::new();
        let mut targets = Vec::new();
        let mut class_of_host = Vec::new();
        let mut last_hop = Vec::new();
        for (number, &host) in (0..).map(HostId).zip(fabric.hosts()) {
            let mut ports = fabric.ports_of(host);
            let first = ports.next().expect("a finished fabric has no unplugged node");
            let alone = ports.next().is_none() && fabric.node(fabric.neighbour(first)).kind == NodeKind::Switch;
            let single = alone && !pinned(number) && up(first);
            let target = if single { fabric.neighbour(first) } else { host };
            let class = *class_of_target.entry(target).or_insert_with(|| {
                targets.push(target);
                targets.len() as u32 - 1
            });
            class_of_host.push(class);
            last_hop.push(if single { (target, fabric.port(first).peer) } else { (host, first) });
        }
        let leading = |&(host, &(at, _)): &(usize, &(NodeId, PortId))| {
            fabric.hosts()[host].index() == host && at != fabric.hosts()[host]
        };
        let alone: Vec<PortId> =
            last_hop.iter().enumerate().take_while(leading).map(|(_, &(_, port))| fabric.port(port).peer).collect();
        Self { targets, class_of_host, last_hop, alone }
    }
}

impl Fabric {
    /// Numbers of nodes with next hops and of destination classes, and bytes of their groups.
    pub fn size_of_routes(&self) -> (usize, usize, u64) {
        let ends = Ends::new(self, &|_| true, &|_| false);
        let (nodes, targets) = (self.nodes().len() - ends.alone.len(), ends.targets.len());
        (nodes, targets, nodes as u64 * targets as u64 * size_of::<(u32, u32)>() as u64)
    }
}
