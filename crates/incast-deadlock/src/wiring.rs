use std::ops::Range;
use std::sync::Arc;

use incast_model::fabric::{Fabric, LinkId, NodeId, NodeKind, PortId};

use crate::bits::set;

/// Fabric with ports in flat tables. Cheap to clone.
///
/// Packets arrive at an *ingress port* of a switch and leave by an *egress port*, both [`PortId`]s of that switch. An ingress
/// port represents the directed link that ends there (channel of Dally and Seitz, IEEE ToC 1987). Hosts do not forward.
#[derive(Debug, Clone)]
pub struct Wiring<'f> {
    fabric: &'f Fabric,
    ports: Arc<Ports>,
}

impl<'f> Wiring<'f> {
    /// Builds the tables.
    pub fn new(fabric: &'f Fabric) -> Self {
        Self::without(fabric, &[])
    }

    /// Tables with some links down, which no path takes.
    pub fn without(fabric: &'f Fabric, down: &[LinkId]) -> Self {
        Self { fabric, ports: Arc::new(Ports::new(fabric, down)) }
    }

    /// Names of a link's ends; for parallel links with the first end's port: `leaf0:2`.
    pub fn ends(&self, link: LinkId) -> [String; 2] {
        let link = self.fabric.link(link);
        let [a, b] = [link.a, link.b].map(|port| self.name(self.node(port)).to_owned());
        let parallel = self.of(self.node(link.a)).filter(|&port| self.far(port) == self.node(link.b)).count() > 1;
        [if parallel { format!("{a}:{}", self.local(link.a)) } else { a }, b]
    }

    /// The fabric.
    pub fn fabric(&self) -> &'f Fabric {
        self.fabric
    }

    /// Name of a node.
    pub fn name(&self, node: NodeId) -> &'f str {
        &self.fabric.node(node).name
    }

    pub(crate) fn shared(&self) -> &Arc<Ports> {
        &self.ports
    }
}

impl std::ops::Deref for Wiring<'_> {
    type Target = Ports;

    fn deref(&self) -> &Ports {
        &self.ports
    }
}

/// Ports of a fabric without names, rates and delays. Tables of ranges end with an extra entry.
#[derive(Debug, PartialEq, Eq)]
pub struct Ports {
    /// By port.
    node: Vec<u32>,
    /// By port: its peer and the peer's node.
    far: Vec<(PortId, NodeId)>,
    /// By node: first port.
    first: Vec<u32>,
    /// By node.
    host: Vec<bool>,
    /// By node: packets of single-linked hosts count at their switch.
    routed: Vec<bool>,
    /// By node: first word of its rows in a turn set.
    rows: Vec<u32>,
    /// By node: first word in a table of a bit per port.
    span: Vec<u32>,
    /// Such a table.
    single_hosts: Vec<u64>,
    /// By node: first trunk.
    first_trunk: Vec<u32>,
    trunks: Vec<PortId>,
    /// Ports of links that are down, in order.
    down: Vec<PortId>,
}

impl Ports {
    fn new(fabric: &Fabric, down: &[LinkId]) -> Self {
        let mut down: Vec<PortId> = down.iter().flat_map(|&link| [fabric.link(link).a, fabric.link(link).b]).collect();
        down.sort_unstable();
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let host: Vec<bool> = fabric.nodes().iter().map(|node| node.kind == NodeKind::Host).collect();
        let routed: Vec<bool> = nodes.clone().map(|n| !host[n.index()] || fabric.ports_of(n).len() > 1).collect();
        let (mut first, mut rows, mut span) = (vec![0], vec![0], vec![0]);
        let (mut first_trunk, mut trunks, mut single_hosts) = (vec![0], Vec::new(), Vec::new());
        for node in nodes {
            let degree = fabric.ports_of(node).len() as u32;
            let words = if host[node.index()] { 0 } else { degree.div_ceil(64) };
            first.push(first[node.index()] + degree);
            rows.push(rows[node.index()] + words * degree);
            span.push(span[node.index()] + words);
            single_hosts.resize(span[node.index() + 1] as usize, 0);
            if words > 0 {
                let single =
                    fabric.ports_of(node).enumerate().filter(|(_, port)| !routed[fabric.neighbour(*port).index()]);
                single.for_each(|(local, _)| set(&mut single_hosts[span[node.index()] as usize..], local));
            }
            let up = |port: &PortId| down.binary_search(port).is_err();
            let trunk = |port: &PortId| routed[fabric.neighbour(*port).index()] && up(port);
            trunks.extend(fabric.ports_of(node).filter(trunk));
            first_trunk.push(trunks.len() as u32);
        }
        let node = fabric.ports().iter().map(|port| port.node.0).collect();
        let far = fabric.ports().iter().map(|port| (port.peer, fabric.port(port.peer).node)).collect();
        Self { node, far, first, host, routed, rows, span, single_hosts, first_trunk, trunks, down }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.host.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.far.len()
    }

    pub(crate) fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes() as u32).map(NodeId).filter(|&node| !self.is_host(node))
    }

    pub(crate) fn is_host(&self, node: NodeId) -> bool {
        self.host[node.index()]
    }

    /// A switch, or a host with several links.
    pub(crate) fn is_routed(&self, node: NodeId) -> bool {
        self.routed[node.index()]
    }

    #[inline]
    pub(crate) fn node(&self, port: PortId) -> NodeId {
        NodeId(self.node[port.index()])
    }

    #[inline]
    pub(crate) fn peer(&self, port: PortId) -> PortId {
        self.far[port.index()].0
    }

    #[inline]
    pub(crate) fn far(&self, port: PortId) -> NodeId {
        self.far[port.index()].1
    }

    #[inline]
    pub(crate) fn to_switch(&self, port: PortId) -> bool {
        !self.is_host(self.far(port))
    }

    #[inline]
    pub(crate) fn local(&self, port: PortId) -> usize {
        self.local_at(self.node(port), port)
    }

    #[inline]
    pub(crate) fn local_at(&self, node: NodeId, port: PortId) -> usize {
        (port.0 - self.first[node.index()]) as usize
    }

    #[inline]
    pub(crate) fn of(&self, node: NodeId) -> impl DoubleEndedIterator<Item = PortId> + ExactSizeIterator + use<> {
        (self.first[node.index()]..self.first[node.index() + 1]).map(PortId)
    }

    #[inline]
    pub(crate) fn port(&self, node: NodeId, local: usize) -> PortId {
        PortId(self.first[node.index()] + local as u32)
    }

    #[inline]
    pub(crate) fn is_up(&self, port: PortId) -> bool {
        self.down.is_empty() || self.down.binary_search(&port).is_err()
    }

    /// Number of ports.
    pub fn degree(&self, node: NodeId) -> usize {
        (self.first[node.index() + 1] - self.first[node.index()]) as usize
    }

    /// Up, to switches and hosts with several links.
    #[inline]
    pub(crate) fn trunks(&self, node: NodeId) -> &[PortId] {
        &self.trunks[self.first_trunk[node.index()] as usize..self.first_trunk[node.index() + 1] as usize]
    }

    #[inline]
    pub(crate) fn single_hosts(&self, switch: NodeId) -> &[u64] {
        &self.single_hosts[self.span(switch)]
    }

    #[inline]
    pub(crate) fn span(&self, node: NodeId) -> Range<usize> {
        self.span[node.index()] as usize..self.span[node.index() + 1] as usize
    }

    pub(crate) fn spans(&self) -> usize {
        self.single_hosts.len()
    }

    #[inline]
    pub(crate) fn row(&self, port: PortId) -> Range<usize> {
        let node = self.node(port);
        let width = self.span(node).len();
        let begin = self.rows[node.index()] as usize + self.local(port) * width;
        begin..begin + width
    }

    pub(crate) fn words(&self) -> usize {
        self.rows[self.nodes()] as usize
    }
}
