//! Queueing delays of flows ([`super::waits`]) in runs with one queue of all events.

use incast_model::fabric::{Fabric, NodeKind, PortId};
use incast_model::units::Time;

use crate::kernel::{Kind, NONE, Packet, flag};
use crate::network::Network;

#[derive(Debug)]
pub(crate) struct Blocking {
    /// By port: begin of its row in `held`.
    rows: Vec<usize>,
    /// By port: number at its node; ports of the node.
    places: Vec<(u32, u32)>,
    /// Bytes queued, by ingress port and priority, then egress port and priority.
    held: Vec<u32>,
    /// By egress queue ([`Network::at`]): root of its last pause; [`NONE`] if no bytes caused it.
    roots: Vec<u32>,
    /// By egress queue: time paused since last empty, in ps, without an open pause.
    kept: Vec<u64>,
}

impl Blocking {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let (mut rows, mut places, mut size) = (Vec::new(), Vec::new(), 0);
        for port in fabric.ports() {
            let count = fabric.ports_of(port.node).len() as u32;
            rows.push(size);
            places.push((port.local, count));
            size += if fabric.node(port.node).kind == NodeKind::Switch { 64 * count as usize } else { 0 };
        }
        Self { roots: vec![NONE; 8 * rows.len()], kept: vec![0; 8 * rows.len()], held: vec![0; size], rows, places }
    }

    /// Begin of an egress port's eight counts in `held`.
    #[inline]
    fn place(&self, input: u32, prio: u8, output: u32) -> usize {
        let (local, count) = self.places[output as usize];
        self.rows[input as usize] + 8 * (usize::from(prio) * count as usize + local as usize)
    }

    /// Bytes of an ingress queue in an egress queue of the switch.
    #[inline]
    fn held(&mut self, input: u32, prio: u8, (output, out_prio): (u32, u8)) -> &mut u32 {
        let place = self.place(input, prio, output) + usize::from(out_prio);
        &mut self.held[place]
    }
}

/// Only data is measured.
const fn is_data(packet: &Packet) -> bool {
    matches!(packet.kind, Kind::Data | Kind::Segment) && packet.prio != 0
}

impl Network {
    /// Starts a packet's wait in an egress queue.
    pub(crate) fn begin_wait(&mut self, port: u32, id: u32) {
        let Some(blocking) = &mut self.blocking else { return };
        let (packet, state) = (&mut self.pool[id], &self.ports[port as usize]);
        if packet.prio == 0 || state.at_server {
            return;
        }
        // The field is unused while the packet is on no wire.
        packet.next_arrive = self.now;
        if !state.at_host {
            *blocking.held(packet.in_port, packet.in_prio, (port, packet.prio)) += u32::from(packet.size);
        }
    }

    /// Ends a packet's wait in a switch.
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
            self.recorder.waits[packet.flow as usize].waited += Time(self.now - packet.next_arrive);
        }
    }

    /// Root of a pause that `input` sends to its peer; [`NONE`] if no bytes cause it, or if roots are not measured.
    #[inline(never)]
    pub(crate) fn root_to_send(&self, input: u32, prio: u8) -> u32 {
        let Some(blocking) = self.blocking.as_deref().filter(|_| !self.ports[input as usize].at_host) else {
            return NONE;
        };
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
        if output == NONE { NONE } else { self.root_behind(output, largest) }
    }

    /// Notes the root of a pause that begins at an egress queue.
    pub(crate) fn note_root(&mut self, at: usize, root: u32) {
        if let Some(blocking) = &mut self.blocking {
            blocking.roots[at] = root;
        }
    }

    /// Port that made an egress queue long.
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

    /// Root of the last pause of an egress queue; [`NONE`] if unknown.
    pub(crate) fn root_of_pause(&self, port: u32, prio: u8) -> u32 {
        self.blocking.as_ref().map_or(NONE, |blocking| blocking.roots[self.at(port, prio)])
    }

    /// Adds a pause, which ends now, to the waits of the queue's packets.
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
                let own = packet.kind == Kind::Segment && packet.flags & flag::PATH != 0 && packet.pint != 0;
                let victim = root != NONE && !self.goes_by(root, port, packet.flow, own.then_some(packet.pint));
                let waits = &mut self.recorder.waits[packet.flow as usize];
                waits.blocked += blocked;
                if victim {
                    waits.victim += blocked;
                }
            }
            id = packet.next;
        }
    }

    /// Adds a host's pause to the flows that only the pause held.
    fn end_host_pause(&mut self, port: u32, prio: u8, since: Time, root: u32) {
        let mut held = self.held_pairs(port, prio);
        // Other transports queue packets: their flows are held from the first arrival.
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

    /// Adds the time from `from` until now.
    fn note_held(&mut self, port: u32, flow: u32, from: Time, root: u32) {
        let victim = root != NONE && !self.flow_goes_by(root, port, flow);
        let held = Time(self.now).saturating_sub(from);
        let waits = &mut self.recorder.waits[flow as usize];
        waits.host_blocked += held;
        if victim {
            waits.host_victim += held;
        }
    }

    /// Adds the wait of a ready queue pair before it changes its priority or ends.
    #[inline(never)]
    pub(crate) fn end_pair_wait(&mut self, sender: u32) {
        let qp = &self.senders[sender as usize];
        let (port, prio, flow, ready) = (qp.port, qp.prio, qp.flow, qp.placed_at);
        let at = self.at(port, prio);
        if let Some(since) = self.recorder.paused_since(at).filter(|_| self.blocking.is_some() && ready <= self.now) {
            self.note_held(port, flow, Time(ready.max(since.0)), self.root_of_pause(port, prio));
        }
    }

    /// Adds open pauses and waits at the end of the run.
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
}
