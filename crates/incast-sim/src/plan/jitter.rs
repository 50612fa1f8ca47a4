//! Random extra time of hosts per packet, against phase effects (Floyd and Jacobson, CCR 1991; docs/design/tenants.md).

use incast_model::fabric::{Fabric, NodeKind, PortId};
use incast_model::rng::{self, Stream};

use crate::kernel::IdVec;

#[derive(Debug)]
pub(crate) struct Jitter {
    /// `None`: no host or server sends by it.
    ports: IdVec<PortId, Option<Sending>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Sending {
    /// In ps.
    most: u64,
    draws: Stream,
    /// Last arrival in ps; keeps packets in order.
    last: u64,
}

impl Sending {
    pub(crate) fn delayed(&mut self, arrive: u64) -> u64 {
        self.last = self.last.max(arrive + (rng::unit(&mut self.draws) * self.most as f64) as u64);
        self.last
    }
}

impl Jitter {
    pub(crate) fn of_port(&self, port: PortId) -> Option<Sending> {
        self.ports[port].clone()
    }

    /// `None` without jitter.
    pub(super) fn new(most: u64, seed: u64, fabric: &Fabric) -> Option<Box<Self>> {
        let one = |port: PortId| Sending { most, draws: rng::stream(seed, "host/jitter", port.0.into()), last: 0 };
        let ports = (0..fabric.ports().len() as u32).map(PortId);
        let ports = ports.map(|port| has_jitter(fabric, port).then(|| one(port))).collect();
        (most > 0).then(|| Box::new(Self { ports }))
    }
}

/// True if a host, or a server of VMs towards the fabric, sends by this port.
pub(super) fn has_jitter(fabric: &Fabric, port: PortId) -> bool {
    let (from, to) = (fabric.port(port).node, fabric.neighbour(port));
    let to_switch = fabric.node(to).kind == NodeKind::Switch;
    fabric.node(from).kind == NodeKind::Host || fabric.servers().contains(&from) && to_switch
}
