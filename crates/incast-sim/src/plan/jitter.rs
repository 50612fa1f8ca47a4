//! Random extra time of hosts for each packet.
//!
//! With one link rate and one packet size, a packet can reach a full drop-tail queue an instant before the others each time,
//! and one flow locks the rest out for ever. Such phase effects are artefacts of simulation; random times of about a packet's
//! time on the slowest link remove them (Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", Computer
//! Communication Review 1991).

use incast_model::rng::{self, Stream};

#[derive(Debug)]
pub(crate) struct Jitter {
    /// By port; `None` if neither a host nor a server sends by it.
    ports: Vec<Option<Sending>>,
}

/// The random times of a port.
#[derive(Debug, Clone)]
pub(crate) struct Sending {
    /// The longest, in ps.
    most: u64,
    draws: Stream,
    /// Arrival time of the last packet, in ps; keeps packets in order.
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

    /// Creates a random stream for each port that `sends` selects; `None` without jitter.
    pub(super) fn new(most: u64, ports: usize, seed: u64, sends: impl Fn(usize) -> bool) -> Option<Box<Self>> {
        let one = |port| Sending { most, draws: rng::stream(seed, "host/jitter", port as u64), last: 0 };
        let ports = (0..ports).map(|port| sends(port).then(|| one(port))).collect();
        (most > 0).then(|| Box::new(Self { ports }))
    }
}
