//! How packets reach one destination, or several behind one switch.

use std::sync::Arc;

use incast_model::fabric::{NodeId, PortId};

use crate::wiring::Ports;

/// A next hop: the egress port, and where it leads. Kept together because most time goes into looking these up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) port: PortId,
    /// The port at the far end.
    pub(crate) input: PortId,
    /// The node there.
    pub(crate) far: NodeId,
}

impl Hop {
    pub(crate) fn new(ports: &Ports, port: PortId) -> Self {
        Self { port, input: ports.peer(port), far: ports.far(port) }
    }
}

/// The next hops of every node towards a destination, none of which leads back.
///
/// Every host with one link, on a switch that is in here, is a source, but for the destination itself; so is every host
/// with several links that is in here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Towards {
    /// Nodes such that a next hop leads to a host or to a later node: farthest first.
    nodes: Vec<NodeId>,
    /// By node of `nodes`, and one more: where its next hops begin.
    first: Vec<u32>,
    hops: Vec<Hop>,
    /// The switch that delivers, if hosts on it may not be sources: paths within one switch are left out.
    mute: Option<NodeId>,
    /// The ports by which hosts hand packets to their switches, if that is not all of them.
    sources: Option<Arc<[u64]>>,
}

impl Towards {
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.hops.clear();
        self.first.clear();
        self.first.push(0);
        self.mute = None;
        self.sources = None;
    }

    /// Packets come from these ports of switches to hosts only, a bit each.
    pub(crate) fn come_from(&mut self, sources: &Arc<[u64]>) {
        self.sources = Some(Arc::clone(sources));
    }

    /// Adds a node, after all those whose packets may come by it.
    pub(crate) fn push(&mut self, node: NodeId, hops: impl IntoIterator<Item = Hop>) {
        self.nodes.push(node);
        self.hops.extend(hops);
        self.first.push(self.hops.len() as u32);
    }

    /// The last node has one next hop, this one.
    pub(crate) fn set_last(&mut self, hop: Hop) {
        if let Some(last) = self.hops.last_mut() {
            *last = hop;
        }
    }

    /// Hosts on the last switch added are no sources.
    pub(crate) fn mute_last(&mut self) {
        self.mute = self.nodes.last().copied();
    }

    /// Nodes with their next hops, farthest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &[Hop])> {
        (0..self.nodes.len()).map(|at| {
            let hops = &self.hops[self.first[at] as usize..self.first[at + 1] as usize];
            (self.nodes[at], hops)
        })
    }

    /// The ports by which hosts hand packets to a switch, a bit each: often the very slice of [`Ports::single_hosts`].
    #[inline]
    pub(crate) fn injecting<'p>(&'p self, ports: &'p Ports, switch: NodeId) -> &'p [u64] {
        match &self.sources {
            _ if self.mute == Some(switch) => &[],
            Some(sources) => &sources[ports.span(switch)],
            None => ports.single_hosts(switch),
        }
    }
}
