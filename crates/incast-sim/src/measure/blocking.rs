//! How long data waits in switches, and how much of that is head-of-line blocking.
//!
//! A packet *waits* from when it comes into an egress queue of a switch until it leaves it. It is *blocked* while the next node
//! pauses that queue (PFC). It is blocked *in vain* while the pause is on account of others: of the bytes that made the next switch
//! pause, more leave it by one port than by any other when it pauses, and the packet leaves it by a different one. Nothing but a flow
//! that goes elsewhere keeps it then.
//!
//! What is not counted: time at hosts, whose data is not made into packets before it may go.

use incast_model::fabric::{Fabric, NodeKind, PortId};
use incast_model::units::Time;

use crate::kernel::{Kind, NONE, Packet, flag};
use crate::network::Network;
use crate::setup::Params;
use crate::simulation::SetupError;
use crate::switch::QueueParams;

/// How long data packets of a flow waited in the switches on their way, all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// In egress queues of switches.
    pub waited: Time,
    /// Of that, while the next node paused the queue.
    pub blocked: Time,
    /// Of that, while most of the bytes it paused for left it by another port than the packet.
    pub in_vain: Time,
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
    /// By ingress port and priority, then egress port of the same switch: bytes queued.
    held: Vec<u32>,
    /// By ingress queue ([`Network::at`]): the egress port that held most of its bytes when it last paused its peer.
    culprits: Vec<u32>,
}

impl Blocking {
    pub(crate) fn new(fabric: &Fabric, flows: usize) -> Self {
        let (mut rows, mut places, mut size) = (Vec::new(), Vec::new(), 0);
        for port in fabric.ports() {
            let count = fabric.ports_of(port.node).len() as u32;
            rows.push(size);
            places.push((port.local, count));
            size += if fabric.node(port.node).kind == NodeKind::Switch { 8 * count as usize } else { 0 };
        }
        Self {
            waits: vec![Waits::default(); flows],
            culprits: vec![NONE; 8 * rows.len()],
            held: vec![0; size],
            rows,
            places,
        }
    }

    pub(crate) fn into_waits(self) -> Vec<Waits> {
        self.waits
    }

    #[inline]
    fn held(&mut self, input: u32, prio: u8, output: u32) -> &mut u32 {
        let (local, count) = self.places[output as usize];
        &mut self.held[self.rows[input as usize] + usize::from(prio) * count as usize + local as usize]
    }
}

impl Params {
    /// Whether waiting can be measured: the way of a packet has to be known before it goes there.
    pub fn check_blocking(&self) -> Result<(), SetupError> {
        let refuse = |message: &str| Err(SetupError { field: "measure.blocking".into(), message: message.into() });
        if !self.measure.blocking {
            return Ok(());
        }
        if self.network.balance != crate::balance::Balance::Ecmp {
            return refuse("a packet's port at the next switch is known in advance with network.balance ecmp only");
        }
        if self.switch.queues != QueueParams::Shared {
            return refuse("queues without PFC block nobody; only with switch.queues shared");
        }
        Ok(())
    }
}

/// Whether waiting of this packet is measured: that of data.
const fn is_data(packet: &Packet) -> bool {
    matches!(packet.kind, Kind::Data | Kind::Segment) && packet.prio != 0
}

impl Network {
    /// A packet has come into an egress queue of a switch.
    pub(crate) fn begin_wait(&mut self, port: u32, id: u32) {
        let Some(blocking) = &mut self.blocking else { return };
        let packet = &mut self.pool[id];
        if packet.prio != 0 && !self.ports[port as usize].at_server {
            // Free while a packet is on no wire.
            packet.next_arrive = self.now;
            *blocking.held(packet.in_port, packet.in_prio, port) += u32::from(packet.size);
        }
    }

    /// A packet has left an egress queue of a switch.
    pub(crate) fn end_wait(&mut self, port: u32, id: u32) {
        let Some(blocking) = &mut self.blocking else { return };
        let packet = &self.pool[id];
        if packet.prio == 0 || self.ports[port as usize].at_server {
            return;
        }
        *blocking.held(packet.in_port, packet.in_prio, port) -= u32::from(packet.size);
        if is_data(packet) {
            blocking.waits[packet.flow as usize].waited += Time(self.now - packet.next_arrive);
        }
    }

    /// A switch pauses the peer of `input`.
    #[inline(never)]
    pub(crate) fn note_culprit(&mut self, input: u32, prio: u8) {
        let at = self.at(input, prio);
        let Some(blocking) = &mut self.blocking else { return };
        if self.ports[input as usize].at_host {
            return;
        }
        let outputs = self.fabric.ports_of(self.fabric.port(PortId(input)).node).map(|port| port.0);
        let most = outputs.map(|output| (*blocking.held(input, prio, output), std::cmp::Reverse(output))).max();
        blocking.culprits[at] = most.filter(|(bytes, _)| *bytes > 0).map_or(NONE, |(_, output)| output.0);
    }

    /// A queue is paused no more: what its packets waited for that is known.
    #[inline(never)]
    pub(crate) fn end_pause(&mut self, port: u32, prio: u8) {
        let (at, now) = (self.at(port, prio), self.now);
        let state = &self.ports[port as usize];
        let Some(since) = self.recorder.paused_since(at).filter(|_| self.blocking.is_some() && !state.at_host) else {
            return;
        };
        let beyond = self.at(state.peer, prio);
        let mut id = self.queues[at].head;
        while id != NONE {
            let packet = self.pool[id];
            if is_data(&packet) {
                let output = self.port_beyond(port, id);
                let Some(blocking) = &mut self.blocking else { return };
                let culprit = blocking.culprits[beyond];
                let waits = &mut blocking.waits[packet.flow as usize];
                let blocked = Time(now - packet.next_arrive.max(since.0));
                waits.blocked += blocked;
                if culprit != NONE && output != culprit {
                    waits.in_vain += blocked;
                }
            }
            id = packet.next;
        }
    }

    /// The run ends: the same for queues that are still paused, and for what is still in queues.
    pub(crate) fn close_waits(&mut self) {
        if self.blocking.is_none() {
            return;
        }
        for port in 0..self.ports.len() as u32 {
            let first = if self.ports[port as usize].at_host { 8 } else { 1 };
            for prio in first..8 {
                self.end_pause(port, prio);
                let mut id = self.queues[self.at(port, prio)].head;
                while id != NONE {
                    let next = self.pool[id].next;
                    self.end_wait(port, id);
                    id = next;
                }
            }
        }
    }

    /// The port by which a packet that waits at `port` will leave the node after that; [`NONE`] if it goes no further.
    fn port_beyond(&self, port: u32, id: u32) -> u32 {
        let packet = &self.pool[id];
        if packet.flags & flag::PATH != 0 && (packet.pint == 0 || packet.kind != Kind::Segment) {
            return self.path_port(packet.flow, false, usize::from(packet.hops) + 1);
        }
        self.port_by_ecmp(self.fabric.neighbour(PortId(port)).0, packet.dst, packet.flow)
    }
}
