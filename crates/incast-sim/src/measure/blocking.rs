//! How long data waits in switches and at hosts, and how much of that is head-of-line blocking.
//!
//! A packet *waits* from when it comes into an egress queue of a switch until it leaves it. It is *blocked* while the next node
//! pauses that queue (PFC). A flow is blocked *at its host* while it has data that its window, its rate and its start would let go,
//! and the priority that it has is paused.
//!
//! Each pause has a *root*: the egress port whose congestion it is on account of. Of the bytes that make a switch pause, more leave
//! it by one port than by any other: that port is the root, unless its own queue is long on account of pauses; then their root is.
//! A queue is long on account of pauses if what it could have sent in the time for which it was paused, since it was last empty, is
//! at least half of what it holds. Who is blocked by a pause whose root is not on the rest of its way is blocked *in vain*:
//! nothing but flows that go elsewhere keep it then.

use incast_model::fabric::{Fabric, NodeKind, PortId};
use incast_model::units::Time;

use crate::kernel::{Kind, NONE, Packet, flag};
use crate::network::Network;
use crate::setup::{Arithmetic, Params};
use crate::simulation::SetupError;
use crate::switch::QueueParams;

/// How long data of a flow waited on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// In egress queues of switches, all its packets together.
    pub waited: Time,
    /// Of that, while the next node paused the queue.
    pub blocked: Time,
    /// Of that, while the root of the pause was not on the rest of the packet's way.
    pub victim: Time,
    /// At its host, while nothing but the pause of its priority kept its next packet. Time of the flow, not of packets.
    pub host_blocked: Time,
    /// Of that, while the root of the pause was not on its way.
    pub host_victim: Time,
}

/// What is kept to tell.
#[derive(Debug)]
pub(crate) struct Blocking {
    /// By flow.
    waits: Vec<Waits>,
    /// By port: where the row of its first priority begins in `held`.
    rows: Vec<usize>,
    /// By port: its number among the ports of its node, and how many these are.
    places: Vec<(u32, u32)>,
    /// By ingress port and priority, then egress port of the same switch and priority: bytes queued.
    held: Vec<u32>,
    /// By ingress queue ([`Network::at`]): the root of its last pause of its peer; [`NONE`] where no bytes were reason for it.
    roots: Vec<u32>,
    /// By egress queue: for how long it was paused since it was last empty, in ps, without a pause that has not ended.
    kept: Vec<u64>,
}

impl Blocking {
    pub(crate) fn new(fabric: &Fabric, flows: usize) -> Self {
        let (mut rows, mut places, mut size) = (Vec::new(), Vec::new(), 0);
        for port in fabric.ports() {
            let count = fabric.ports_of(port.node).len() as u32;
            rows.push(size);
            places.push((port.local, count));
            size += if fabric.node(port.node).kind == NodeKind::Switch { 64 * count as usize } else { 0 };
        }
        Self {
            waits: vec![Waits::default(); flows],
            roots: vec![NONE; 8 * rows.len()],
            kept: vec![0; 8 * rows.len()],
            held: vec![0; size],
            rows,
            places,
        }
    }

    pub(crate) fn into_waits(self) -> Vec<Waits> {
        self.waits
    }

    /// Where the eight counts of an egress port begin in `held`.
    #[inline]
    fn place(&self, input: u32, prio: u8, output: u32) -> usize {
        let (local, count) = self.places[output as usize];
        self.rows[input as usize] + 8 * (usize::from(prio) * count as usize + local as usize)
    }

    /// The bytes of an ingress queue that an egress queue of the same switch holds.
    #[inline]
    fn held(&mut self, input: u32, prio: u8, (output, out_prio): (u32, u8)) -> &mut u32 {
        let place = self.place(input, prio, output) + usize::from(out_prio);
        &mut self.held[place]
    }
}

impl Params {
    /// Whether waiting can be measured: the way of a packet has to be known before it goes there.
    pub fn check_blocking(&self) -> Result<(), SetupError> {
        let refuse = |message: &str| Err(SetupError { field: "measure.blocking".into(), message: message.into() });
        if !self.measure.blocking {
            return Ok(());
        }
        if self.arithmetic == Arithmetic::Ns3 {
            return refuse("ns3 arithmetic does not note since when a queue pair may send; only in exact arithmetic");
        }
        if self.network.load_balancing != crate::balance::Balance::Ecmp {
            return refuse(
                "a packet's port at the next switch is known in advance with network.load_balancing ecmp only",
            );
        }
        if self.switch.queues != QueueParams::Shared {
            return refuse("only with switch.queues \"shared\": without PFC no queue is blocked");
        }
        Ok(())
    }
}

/// Whether waiting of this packet is measured: that of data.
const fn is_data(packet: &Packet) -> bool {
    matches!(packet.kind, Kind::Data | Kind::Segment) && packet.prio != 0
}

impl Network {
    /// A packet has come into an egress queue.
    pub(crate) fn begin_wait(&mut self, port: u32, id: u32) {
        let Some(blocking) = &mut self.blocking else { return };
        let (packet, state) = (&mut self.pool[id], &self.ports[port as usize]);
        if packet.prio == 0 || state.at_server {
            return;
        }
        // Free while a packet is on no wire.
        packet.next_arrive = self.now;
        if !state.at_host {
            *blocking.held(packet.in_port, packet.in_prio, (port, packet.prio)) += u32::from(packet.size);
        }
    }

    /// A packet has left an egress queue of a switch.
    pub(crate) fn end_wait(&mut self, port: u32, id: u32) {
        let Some(blocking) = &mut self.blocking else { return };
        let packet = &self.pool[id];
        if packet.prio == 0 || self.ports[port as usize].at_server {
            return;
        }
        *blocking.held(packet.in_port, packet.in_prio, (port, packet.prio)) -= u32::from(packet.size);
        let at = usize::from(packet.prio) * self.ports.len() + port as usize;
        if self.queues[at].bytes == 0 {
            blocking.kept[at] = 0;
        }
        if is_data(packet) {
            blocking.waits[packet.flow as usize].waited += Time(self.now - packet.next_arrive);
        }
    }

    /// A switch pauses the peer of `input`: what for.
    #[inline(never)]
    pub(crate) fn note_root(&mut self, input: u32, prio: u8) {
        let Some(blocking) = self.blocking.as_deref().filter(|_| !self.ports[input as usize].at_host) else { return };
        let mut most = (0, NONE, 0);
        for output in self.fabric.ports_of(self.fabric.port(PortId(input)).node) {
            let counts = &blocking.held[blocking.place(input, prio, output.0)..][..8];
            let bytes: u32 = counts.iter().sum();
            if bytes > most.0 {
                let largest = (1..8).max_by_key(|&prio| counts[usize::from(prio)]).unwrap_or(prio);
                most = (bytes, output.0, largest);
            }
        }
        let (_, output, largest) = most;
        let root = if output == NONE { NONE } else { self.root_behind(output, largest) };
        let at = self.at(input, prio);
        if let Some(blocking) = &mut self.blocking {
            blocking.roots[at] = root;
        }
    }

    /// The port on account of which an egress queue is long: its own, or the root of the pauses that kept what it holds.
    fn root_behind(&self, port: u32, prio: u8) -> u32 {
        let Some(blocking) = &self.blocking else { return NONE };
        let at = self.at(port, prio);
        let open = self.recorder.paused_since(at).map_or(0, |since| self.now - since.0);
        let kept =
            u128::from(blocking.kept[at] + open) * u128::from(self.rates[usize::from(self.ports[port as usize].rate)]);
        let bytes = kept / 8_000_000_000_000;
        if bytes == 0 || 2 * bytes < u128::from(self.queues[at].bytes) {
            return port;
        }
        match self.root_of_pause(port, prio) {
            NONE => port,
            root => root,
        }
    }

    /// The root of the last pause of an egress queue; [`NONE`] if there was none, or it is not known.
    pub(crate) fn root_of_pause(&self, port: u32, prio: u8) -> u32 {
        let beyond = self.at(self.ports[port as usize].peer, prio);
        self.blocking.as_ref().map_or(NONE, |blocking| blocking.roots[beyond])
    }

    /// A queue is paused no more: what its packets waited for that is known.
    #[inline(never)]
    pub(crate) fn end_pause(&mut self, port: u32, prio: u8) {
        let at = self.at(port, prio);
        let Some(since) = self.recorder.paused_since(at).filter(|_| self.blocking.is_some()) else { return };
        let root = self.root_of_pause(port, prio);
        if self.ports[port as usize].at_host {
            return self.end_host_pause(port, prio, since, root);
        }
        let now = self.now;
        let mut id = self.queues[at].head;
        if let Some(blocking) = self.blocking.as_mut().filter(|_| id != NONE) {
            blocking.kept[at] += now - since.0;
        }
        while id != NONE {
            let packet = self.pool[id];
            if is_data(&packet) {
                let blocked = Time(now - packet.next_arrive.max(since.0));
                let victim = root != NONE && !self.goes_by(root, port, &packet);
                let Some(blocking) = &mut self.blocking else { return };
                let waits = &mut blocking.waits[packet.flow as usize];
                waits.blocked += blocked;
                if victim {
                    waits.victim += blocked;
                }
            }
            id = packet.next;
        }
    }

    /// The same for a priority of a host: flows that only the pause held.
    fn end_host_pause(&mut self, port: u32, prio: u8, since: Time, root: u32) {
        let mut held = self.held_pairs(port, prio);
        // Other transports queue their packets: a flow is held from when the first of them came.
        let first_queued = held.len();
        let mut id = self.queues[self.at(port, prio)].head;
        while id != NONE {
            let packet = &self.pool[id];
            if is_data(packet) && held[first_queued..].iter().all(|(flow, _)| *flow != packet.flow) {
                held.push((packet.flow, packet.next_arrive));
            }
            id = packet.next;
        }
        for (flow, from) in held {
            self.note_held(port, flow, Time(from.max(since.0)), root);
        }
    }

    /// A flow was held by a pause at its host from some time until now.
    fn note_held(&mut self, port: u32, flow: u32, from: Time, root: u32) {
        let victim = root != NONE && !self.flow_goes_by(root, port, flow);
        let held = Time(self.now).saturating_sub(from);
        let Some(blocking) = &mut self.blocking else { return };
        let waits = &mut blocking.waits[flow as usize];
        waits.host_blocked += held;
        if victim {
            waits.host_victim += held;
        }
    }

    /// A ready queue pair gets another priority, or ends: what it was held for until now.
    #[inline(never)]
    pub(crate) fn end_pair_wait(&mut self, sender: u32) {
        let qp = &self.senders[sender as usize];
        let (port, prio, flow, ready) = (qp.port, qp.prio, qp.flow, qp.placed_at);
        let at = self.at(port, prio);
        if let Some(since) = self.recorder.paused_since(at).filter(|_| self.blocking.is_some() && ready <= self.now) {
            self.note_held(port, flow, Time(ready.max(since.0)), self.root_of_pause(port, prio));
        }
    }

    /// The run ends: the same for queues that are still paused, and for what is still in queues.
    pub(crate) fn close_waits(&mut self) {
        if self.blocking.is_none() {
            return;
        }
        for port in 0..self.ports.len() as u32 {
            for prio in 1..8 {
                self.end_pause(port, prio);
                let at_host = self.ports[port as usize].at_host;
                let mut id = if at_host { NONE } else { self.queues[self.at(port, prio)].head };
                while id != NONE {
                    let next = self.pool[id].next;
                    self.end_wait(port, id);
                    id = next;
                }
            }
        }
    }

    /// Whether a packet that is to leave by `port` goes by the port `root`, there or later.
    fn goes_by(&self, root: u32, port: u32, packet: &Packet) -> bool {
        let own_choice = if packet.kind == Kind::Segment { packet.pint } else { 0 };
        if packet.flags & flag::PATH != 0 && own_choice != 0 {
            return self
                .is_ahead(root, port, packet.dst, |network, node| network.chosen_port(node, packet.dst, own_choice));
        }
        self.flow_goes_by(root, port, packet.flow)
    }

    /// The same of data of a flow.
    pub(crate) fn flow_goes_by(&self, root: u32, port: u32, flow: u32) -> bool {
        let spec = &self.flows.flows[flow as usize];
        match self.rest_of_path(flow, port) {
            Some(rest) => rest.contains(&root),
            None => self.is_ahead(root, port, spec.dst.0, |network, node| network.port_by_ecmp(node, spec.dst.0, flow)),
        }
    }

    fn is_ahead(&self, root: u32, mut port: u32, dst: u32, next: impl Fn(&Self, u32) -> u32) -> bool {
        let target = self.fabric.hosts()[dst as usize];
        for _ in 0..=self.config.ttl {
            if port == root || port == NONE {
                break;
            }
            let node = self.fabric.neighbour(PortId(port));
            if node == target {
                return false;
            }
            port = next(self, node.0);
        }
        port == root
    }
}
