//! Hosts that take a random time more for each packet.
//!
//! Where links have one rate and packets one size, a packet can come to a full drop-tail queue an instant before the others each time,
//! and one flow lock the rest out for ever. Such phase effects are the simulation's, not the network's; random processing times of
//! about a packet's time on the slowest link remove them (Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways",
//! Computer Communication Review 1991).

use incast_model::rng::{self, Stream};

use super::Network;

/// The random times of all hosts' ports.
#[derive(Debug)]
pub(crate) struct Jitter {
    /// By port that hosts or servers send by.
    ports: Vec<Option<Sending>>,
}

/// The random times of a port.
#[derive(Debug, Clone)]
pub(crate) struct Sending {
    /// The longest, in ps.
    most: u64,
    draws: Stream,
    /// When its last packet arrives, in ps: packets keep their order.
    last: u64,
}

impl Sending {
    /// When a packet arrives that would at `arrive` without jitter.
    pub(crate) fn delayed(&mut self, arrive: u64) -> u64 {
        self.last = self.last.max(arrive + (rng::unit(&mut self.draws) * self.most as f64) as u64);
        self.last
    }
}

impl Jitter {
    /// Those of a port.
    pub(crate) fn of_port(&self, port: u32) -> Option<Sending> {
        self.ports[port as usize].clone()
    }

    /// With streams of their own for the ports that `sends` names; `None` without jitter.
    pub(super) fn new(most: u64, ports: usize, seed: u64, sends: impl Fn(usize) -> bool) -> Option<Box<Self>> {
        let one = |port| Sending { most, draws: rng::stream(seed, "host/jitter", port as u64), last: 0 };
        let ports = (0..ports).map(|port| sends(port).then(|| one(port))).collect();
        (most > 0).then(|| Box::new(Self { ports }))
    }
}

impl Network {
    /// When a packet arrives that would at `arrive` without jitter.
    #[inline]
    pub(super) fn jittered(&mut self, port: u32, arrive: u64) -> u64 {
        let Some(jitter) = &mut self.jitter else { return arrive };
        jitter.ports[port as usize].as_mut().map_or(arrive, |sending| sending.delayed(arrive))
    }
}
