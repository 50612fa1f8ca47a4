use super::derived::Derived;
use crate::units::{Rate, Time};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Index into the table of its kind.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// Host or switch, in order of creation.
    NodeId
);
id!(
    /// Host, numbered among hosts, as in flow lists.
    HostId
);
id!(
    /// Link, in order of creation.
    LinkId
);
id!(
    /// Port, numbered over the fabric; those of a node are consecutive, in order of its links.
    PortId
);

/// Most bytes of next hops: 4 GiB (our choice), enough for 23,000 switches with hosts.
const MAX_ROUTES: u64 = 4 << 30;

/// Host or switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// Sends and receives; never forwards.
    Host,
    /// Forwards.
    Switch,
}

/// Host or switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Kind.
    pub kind: NodeKind,
    /// Layer: 0 hosts, 1 their switches, and so on up.
    pub tier: u8,
}

/// Full-duplex link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// One end.
    pub a: PortId,
    /// Other end.
    pub b: PortId,
    /// Rate per direction.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// End of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Node.
    pub node: NodeId,
    /// Number within the node, from 0.
    pub local: u32,
    /// Link.
    pub link: LinkId,
    /// Other end of the link.
    pub peer: PortId,
}

/// Error of a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FabricError {
    /// Next hops above the memory limit.
    #[error(
        "the next hops of {nodes} nodes towards {targets} destinations (switches with hosts, and hosts with several links) \
         would take {:.2} GB, at most {:.2} GB are possible: fewer of these are needed", *.bytes as f64 / 1e9,
        MAX_ROUTES as f64 / 1e9
    )]
    Routes {
        /// Nodes with next hops.
        nodes: usize,
        /// Number of destinations.
        targets: usize,
        /// Memory needed.
        bytes: u64,
    },
    /// Node linked to itself.
    #[error("link {link} joins {node} to itself")]
    SelfLink {
        /// Link, from 0.
        link: usize,
        /// Node.
        node: String,
    },
    /// Link with a rate of 0.
    #[error("link {link} between {a} and {b} has a rate of 0bps")]
    ZeroRate {
        /// Link, from 0.
        link: usize,
        /// One end.
        a: String,
        /// Other end.
        b: String,
    },
    /// Node without a link.
    #[error("{node} has no link")]
    Unplugged {
        /// Name.
        node: String,
    },
    /// No path between two parts.
    #[error("the fabric is disconnected: no path from {a} to {b} ({reached} of {total} nodes can be reached from {a})")]
    Disconnected {
        /// Node of one part.
        a: String,
        /// Node not reached from `a`.
        b: String,
        /// Number of nodes reached from `a`, with itself.
        reached: usize,
        /// Number of all nodes.
        total: usize,
    },
    /// Fewer than two hosts.
    #[error("a fabric needs at least 2 hosts, this one has {0}")]
    TooFewHosts(usize),
}

/// Connected graph of at least two hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fabric {
    nodes: Vec<Node>,
    links: Vec<Link>,
    ports: Vec<Port>,
    first_port: Vec<u32>,
    hosts: Vec<NodeId>,
    host_of_node: Vec<Option<HostId>>,
    services: usize,
    /// Switches within servers, by VM number.
    servers: Vec<NodeId>,
    slots: u32,
    /// Hosts per server; 0 if every host is a server.
    gpus: u32,
    /// Switches that join GPUs within servers, lowest first.
    inside: Vec<NodeId>,
    pub(crate) derived: Derived,
}

impl Fabric {
    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
    /// Node by id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
    /// All links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// Link by id.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }
    /// All ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }
    /// Port by id.
    pub fn port(&self, id: PortId) -> &Port {
        &self.ports[id.index()]
    }
    /// Ports of a node, in order.
    pub fn ports_of(&self, node: NodeId) -> impl ExactSizeIterator<Item = PortId> + use<> {
        (self.first_port[node.index()]..self.first_port[node.index() + 1]).map(PortId)
    }
    /// Sorts ports of a node by their neighbours' numbers, highest first, as the HPCC authors' ns-3 does on Linux, where it
    /// iterates over pointers.
    pub fn sort_by_neighbour_descending(&self, ports: &mut [PortId]) {
        ports.sort_by_key(|&port| (std::cmp::Reverse(self.neighbour(port)), port));
    }
    /// Hosts by [`HostId`].
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }
    /// Number of service hosts, the last ones.
    pub const fn services(&self) -> usize {
        self.services
    }
    pub(super) fn serving(self, services: usize) -> Self {
        Self { services, ..self }
    }
    pub(super) fn serving_vms(self, servers: Vec<NodeId>, slots: u32) -> Self {
        Self { servers, slots, ..self }
    }
    /// Switches that are servers, lowest first. VMs of server i are hosts from i times [`Fabric::slots`] on.
    pub fn servers(&self) -> &[NodeId] {
        &self.servers
    }
    /// VM slots per server; 0 without VMs.
    pub const fn slots(&self) -> u32 {
        self.slots
    }
    /// `inside`: switches in servers, lowest first.
    pub(super) fn with_gpus(self, gpus: u32, inside: Vec<NodeId>) -> Self {
        Self { gpus, inside, ..self }
    }
    pub(crate) const fn gpus(&self) -> u32 {
        self.gpus
    }
    pub(super) fn inside(&self) -> &[NodeId] {
        &self.inside
    }
    /// Host number; `None` for a switch.
    pub fn host_of(&self, node: NodeId) -> Option<HostId> {
        self.host_of_node[node.index()]
    }
    /// Switches, in order.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len() as u32).map(NodeId).filter(|&id| self.node(id).kind == NodeKind::Switch)
    }
    /// Link rate at a port.
    pub fn rate(&self, port: PortId) -> Rate {
        self.link(self.port(port).link).rate
    }
    /// Link delay at a port.
    pub fn delay(&self, port: PortId) -> Time {
        self.link(self.port(port).link).delay
    }
    /// Node at the far end.
    pub fn neighbour(&self, port: PortId) -> NodeId {
        self.port(self.port(port).peer).node
    }
}

/// Nodes and links to build.
#[derive(Debug, Clone, Default)]
pub struct FabricBuilder {
    nodes: Vec<Node>,
    links: Vec<(NodeId, NodeId, Rate, Time)>,
}

impl FabricBuilder {
    /// Empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a host.
    pub fn host(&mut self, name: impl Into<String>) -> NodeId {
        self.node(name, NodeKind::Host, 0)
    }

    /// Adds a switch; tier 1 is next to the hosts.
    pub fn switch(&mut self, name: impl Into<String>, tier: u8) -> NodeId {
        self.node(name, NodeKind::Switch, tier)
    }

    fn node(&mut self, name: impl Into<String>, kind: NodeKind, tier: u8) -> NodeId {
        self.nodes.push(Node { name: name.into(), kind, tier });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Joins two nodes by their next ports; parallel links are allowed.
    pub fn link(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) -> LinkId {
        self.links.push((a, b, rate, delay));
        LinkId(self.links.len() as u32 - 1)
    }

    /// Builds the fabric if all hosts can exchange traffic.
    pub fn finish(self) -> Result<Fabric, FabricError> {
        let name = |id: NodeId| self.nodes[id.index()].name.clone();
        let mut degree = vec![0u32; self.nodes.len()];
        for (link, &(a, b, rate, _)) in self.links.iter().enumerate() {
            if a == b {
                return Err(FabricError::SelfLink { link, node: name(a) });
            }
            if rate == Rate::ZERO {
                return Err(FabricError::ZeroRate { link, a: name(a), b: name(b) });
            }
            degree[a.index()] += 1;
            degree[b.index()] += 1;
        }
        if let Some(bare) = degree.iter().position(|&d| d == 0) {
            return Err(FabricError::Unplugged { node: self.nodes[bare].name.clone() });
        }
        let fabric = self.wire(&degree);
        if fabric.hosts.len() < 2 {
            return Err(FabricError::TooFewHosts(fabric.hosts.len()));
        }
        fabric.check_connected()?;
        fabric.check_routes()?;
        Ok(fabric)
    }

    fn wire(self, degree: &[u32]) -> Fabric {
        let mut first_port = vec![0u32];
        for d in degree {
            first_port.push(first_port[first_port.len() - 1] + d);
        }
        let unset = Port { node: NodeId(0), local: 0, link: LinkId(0), peer: PortId(0) };
        let mut ports = vec![unset; first_port[degree.len()] as usize];
        let mut used = vec![0u32; degree.len()];
        let mut links = Vec::with_capacity(self.links.len());
        for (index, &(a, b, rate, delay)) in self.links.iter().enumerate() {
            let mut plug = |node: NodeId| {
                let local = used[node.index()];
                used[node.index()] += 1;
                (PortId(first_port[node.index()] + local), local)
            };
            let (pa, la) = plug(a);
            let (pb, lb) = plug(b);
            let link = LinkId(index as u32);
            ports[pa.index()] = Port { node: a, local: la, link, peer: pb };
            ports[pb.index()] = Port { node: b, local: lb, link, peer: pa };
            links.push(Link { a: pa, b: pb, rate, delay });
        }
        let hosts: Vec<NodeId> = (0..self.nodes.len() as u32)
            .map(NodeId)
            .filter(|id| self.nodes[id.index()].kind == NodeKind::Host)
            .collect();
        let mut host_of_node = vec![None; self.nodes.len()];
        for (host, node) in hosts.iter().enumerate() {
            host_of_node[node.index()] = Some(HostId(host as u32));
        }
        Fabric {
            nodes: self.nodes,
            links,
            ports,
            first_port,
            hosts,
            host_of_node,
            services: 0,
            servers: Vec::new(),
            slots: 0,
            gpus: 0,
            inside: Vec::new(),
            derived: Derived::default(),
        }
    }
}

impl Fabric {
    /// Hosts do not forward. So one set of connected switches must reach all hosts; others are islands (a server's NVLink
    /// switch). Without switches every host must be joined to every other.
    fn check_connected(&self) -> Result<(), FabricError> {
        let islands = self.islands();
        let count = islands.iter().flatten().max().map_or(0, |last| last + 1);
        if count == 0 {
            return self.hosts.iter().try_for_each(|&host| {
                let mut near: Vec<NodeId> =
                    self.ports_of(host).map(|port| self.neighbour(port)).chain([host]).collect();
                self.reaches_all(host, &mut near, &self.hosts)
            });
        }
        let mut reached: Vec<Vec<NodeId>> = vec![Vec::new(); count];
        for &host in &self.hosts {
            let mut near: Vec<usize> =
                self.ports_of(host).filter_map(|port| islands[self.neighbour(port).index()]).collect();
            near.sort_unstable();
            near.dedup();
            near.into_iter().for_each(|island| reached[island].push(host));
        }
        let most = (0..count).max_by_key(|&island| (reached[island].len(), std::cmp::Reverse(island))).unwrap_or(0);
        let islands = &islands;
        let switches = |island: usize| self.switches().filter(move |switch| islands[switch.index()] == Some(island));
        let start = switches(most).next().unwrap_or(self.hosts[0]);
        // Islands without a host lead nowhere.
        let bare = (0..count).find(|&island| reached[island].is_empty()).and_then(|island| switches(island).next());
        let needed: Vec<NodeId> = self.hosts.iter().copied().chain(bare).collect();
        let mut near: Vec<NodeId> = reached[most].iter().copied().chain(switches(most)).collect();
        self.reaches_all(start, &mut near, &needed)
    }

    fn check_routes(&self) -> Result<(), FabricError> {
        match self.size_of_routes() {
            (nodes, targets, bytes) if bytes > MAX_ROUTES => Err(FabricError::Routes { nodes, targets, bytes }),
            _ => Ok(()),
        }
    }

    fn reaches_all(&self, start: NodeId, reached: &mut Vec<NodeId>, needed: &[NodeId]) -> Result<(), FabricError> {
        reached.sort_unstable();
        reached.dedup();
        match needed.iter().find(|node| reached.binary_search(node).is_err()) {
            None => Ok(()),
            Some(&lost) => Err(FabricError::Disconnected {
                a: self.node(start).name.clone(),
                b: self.node(lost).name.clone(),
                reached: reached.len(),
                total: self.nodes.len(),
            }),
        }
    }

    fn islands(&self) -> Vec<Option<usize>> {
        let mut islands = vec![None; self.nodes.len()];
        let mut count = 0;
        for start in self.switches() {
            if islands[start.index()].is_some() {
                continue;
            }
            let mut stack = vec![start];
            islands[start.index()] = Some(count);
            while let Some(node) = stack.pop() {
                for next in self.ports_of(node).map(|port| self.neighbour(port)) {
                    if self.node(next).kind == NodeKind::Switch && islands[next.index()].is_none() {
                        islands[next.index()] = Some(count);
                        stack.push(next);
                    }
                }
            }
            count += 1;
        }
        islands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_hosts() -> (FabricBuilder, NodeId, NodeId, NodeId) {
        let mut builder = FabricBuilder::new();
        let (a, b) = (builder.host("a"), builder.host("b"));
        let s = builder.switch("s", 1);
        builder.link(a, s, Rate::gbps(100), Time::us(1));
        (builder, a, b, s)
    }

    #[test]
    fn ports_follow_links() {
        let (mut builder, _, b, s) = two_hosts();
        builder.link(b, s, Rate::gbps(100), Time::us(1));
        builder.link(b, s, Rate::gbps(40), Time::us(2));
        let fabric = builder.finish().unwrap();
        let ports: Vec<PortId> = fabric.ports_of(s).collect();
        assert_eq!(ports.len(), 3);
        assert_eq!(ports.iter().map(|&p| fabric.neighbour(p)).collect::<Vec<_>>(), [NodeId(0), b, b]);
        assert_eq!(fabric.rate(ports[2]), Rate::gbps(40));
        for port in fabric.ports() {
            assert_eq!(fabric.port(fabric.port(port.peer).peer), port);
        }
    }

    #[test]
    fn broken_graphs_are_refused() {
        let (builder, ..) = two_hosts();
        assert_eq!(builder.finish(), Err(FabricError::Unplugged { node: "b".into() }));
        let (mut builder, _, b, _) = two_hosts();
        let t = builder.switch("t", 1);
        builder.link(b, t, Rate::gbps(1), Time::ZERO);
        assert!(matches!(builder.finish(), Err(FabricError::Disconnected { reached: 2, total: 4, .. })));
        let (mut builder, a, b, s) = two_hosts();
        builder.link(b, s, Rate::ZERO, Time::ZERO);
        builder.link(a, a, Rate::gbps(1), Time::ZERO);
        assert!(matches!(builder.clone().finish(), Err(FabricError::ZeroRate { link: 1, .. })));
    }

    #[test]
    fn hosts_do_not_join_what_switches_leave_apart() {
        let mut builder = FabricBuilder::new();
        let (bridge, a, b) = (builder.host("bridge"), builder.host("a"), builder.host("b"));
        for host in [a, b] {
            let switch = builder.switch(format!("s{}", host.0), 1);
            builder.link(host, switch, Rate::gbps(100), Time::us(1));
            builder.link(bridge, switch, Rate::gbps(100), Time::us(1));
        }
        assert!(matches!(builder.finish(), Err(FabricError::Disconnected { reached: 3, total: 5, .. })));
    }

    fn joined(hosts: u32, switches: u32, links: &[(u32, u32)]) -> Result<Fabric, FabricError> {
        let mut builder = FabricBuilder::new();
        for h in 0..hosts {
            builder.host(format!("h{h}"));
        }
        for s in 0..switches {
            builder.switch(format!("s{s}"), 1);
        }
        for &(a, b) in links {
            builder.link(NodeId(a), NodeId(b), Rate::gbps(100), Time::us(1));
        }
        builder.finish()
    }

    #[test]
    fn islands_of_switches_are_for_hosts_that_have_another_way() {
        assert!(joined(3, 2, &[(0, 3), (1, 3), (2, 3), (0, 4), (1, 4)]).is_ok());
        assert!(joined(3, 2, &[(0, 4), (1, 4), (2, 4), (0, 3), (1, 3)]).is_ok());
        let lost = |result: Result<Fabric, FabricError>| match result {
            Err(FabricError::Disconnected { a, b, .. }) => format!("{a} {b}"),
            other => panic!("{other:?}"),
        };
        // No switch has all three hosts; then two switches without hosts.
        assert_eq!(lost(joined(3, 3, &[(0, 3), (1, 3), (1, 4), (2, 4), (2, 5), (0, 5)])), "s0 h2");
        assert_eq!(lost(joined(2, 3, &[(0, 2), (1, 2), (3, 4)])), "s0 s1");
    }

    #[test]
    fn hosts_without_switches_are_joined_to_each_other() {
        assert!(joined(3, 0, &[(0, 1), (1, 2), (2, 0)]).is_ok());
        assert!(matches!(
            joined(3, 0, &[(0, 1), (0, 2)]),
            Err(FabricError::Disconnected { a, b, reached: 2, .. }) if (a.as_str(), b.as_str()) == ("h1", "h2")
        ));
    }
}
