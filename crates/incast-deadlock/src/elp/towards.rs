use std::sync::Arc;

use incast_model::fabric::{NodeId, PortId};

use crate::wiring::Ports;

/// Egress port with its far end: most time goes into these look-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) port: PortId,
    pub(crate) input: PortId,
    pub(crate) far: NodeId,
}

impl Hop {
    pub(crate) fn new(ports: &Ports, port: PortId) -> Self {
        Self { port, input: ports.peer(port), far: ports.far(port) }
    }
}

/// Next hops of every node towards a destination, or several behind one switch, without loops.
///
/// Sources: hosts in `nodes`, and single-linked hosts of its switches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Towards {
    /// Farthest first: a next hop leads to a host or a later node.
    nodes: Vec<NodeId>,
    /// By node of `nodes`, plus one.
    first: Vec<u32>,
    hops: Vec<Hop>,
    /// Last switch, if its hosts are no sources (no paths within a switch).
    mute: Option<NodeId>,
    /// Sources' ports at switches, a bit each; `None`: all.
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

    pub(crate) fn come_from(&mut self, sources: &Arc<[u64]>) {
        self.sources = Some(Arc::clone(sources));
    }

    /// All nodes with packets that may pass it come before.
    pub(crate) fn push(&mut self, node: NodeId, hops: impl IntoIterator<Item = Hop>) {
        self.nodes.push(node);
        self.hops.extend(hops);
        self.first.push(self.hops.len() as u32);
    }

    pub(crate) fn set_last(&mut self, hop: Hop) {
        if let Some(last) = self.hops.last_mut() {
            *last = hop;
        }
    }

    pub(crate) fn mute_last(&mut self) {
        self.mute = self.nodes.last().copied();
    }

    /// Farthest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &[Hop])> {
        (0..self.nodes.len()).map(|at| {
            let hops = &self.hops[self.first[at] as usize..self.first[at + 1] as usize];
            (self.nodes[at], hops)
        })
    }

    /// Sources' ports, a bit each. Callers recognize the slice of [`Ports::single_hosts`] by its address.
    #[inline]
    pub(crate) fn injecting<'p>(&'p self, ports: &'p Ports, switch: NodeId) -> &'p [u64] {
        match &self.sources {
            _ if self.mute == Some(switch) => &[],
            Some(sources) => &sources[ports.span(switch)],
            None => ports.single_hosts(switch),
        }
    }
}
