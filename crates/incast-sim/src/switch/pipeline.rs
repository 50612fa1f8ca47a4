//! Path of a packet through a switch.
//!
//! Order of stages, as in the HPCC authors' ns-3 (`switch-node.cc`). Arrival: route, admission, accounting, pause check, queue,
//! port. Departure: queue, accounting, ECN, resume check, INT, wire.

use incast_model::fabric::NodeId;
use incast_model::units::Time;

use crate::congestion::int_record;
use crate::kernel::{Event, Kind, NONE, Target, flag};
use crate::network::Network;
use crate::outcome::DropReason;
use crate::switch::Storage;

impl Network {
    #[inline]
    pub(crate) fn forward(&mut self, switch: u32, in_port: u32, id: u32) {
        let packet = &mut self.pool[id];
        packet.hops += 1;
        if packet.hops >= self.config.guarded_from[usize::from(packet.prio & 7)] {
            return self.forward_guarded(switch, in_port, id);
        }
        packet.in_port = in_port;
        packet.in_prio = packet.prio;
        let (size, prio) = (u32::from(packet.size), packet.prio);
        let out = self.route(self.switches[switch as usize].node, id);
        self.pass(switch, (in_port, prio), (out, prio), id, size);
    }

    /// Slow path of `forward`: tags, isolation, watchdog, end of the time to live. Separate, so that other packets pay one
    /// comparison.
    #[inline(never)]
    fn forward_guarded(&mut self, switch: u32, in_port: u32, id: u32) {
        if self.pool[id].kind == Kind::Isolation {
            self.ledger.delivered[0] += u64::from(self.pool[id].size);
            return self.receive_isolation(in_port, id);
        }
        if self.tagging.is_some() {
            self.retag_late(in_port, id);
        }
        let packet = &mut self.pool[id];
        packet.in_port = in_port;
        packet.in_prio = packet.prio;
        let (size, in_prio, spent) = (u32::from(packet.size), packet.prio, packet.hops == self.config.ttl);
        let out = self.route(self.switches[switch as usize].node, id);
        if spent {
            return self.drop_packet(switch, in_port, out, id, DropReason::Ttl);
        }
        if out != NONE {
            if self.tagging.is_some() {
                self.retag(in_port, out, id);
            }
            if self.isolation.is_some() {
                self.isolate_packet(switch, in_port, out, id);
            }
        }
        let prio = self.pool[id].prio;
        if self.watchdog.is_some() && out != NONE && self.in_storm(in_port, in_prio, out, prio) {
            return self.drop_packet(switch, in_port, out, id, DropReason::Watchdog);
        }
        self.pass(switch, (in_port, in_prio), (out, prio), id, size);
    }

    /// Sends a packet immediately if nothing holds it; otherwise queues or drops it.
    #[inline(always)]
    fn pass(&mut self, switch: u32, (in_port, in_prio): (u32, u8), (out, prio): (u32, u8), id: u32, size: u32) {
        let at = self.at(in_port, in_prio);
        let Some(port) = self.ports.get(out as usize) else {
            return self.drop_packet(switch, in_port, out, id, DropReason::NoRoute);
        };
        if port.waiting == 0
            && port.paused & 1 << prio == 0
            && (prio == 0 || self.switches[switch as usize].buffer.passes(&self.ingress[at], size))
            && self.idle(out)
        {
            self.stamp(out, id);
            self.transmit(out, id);
            return;
        }
        if port.down {
            return self.drop_packet(switch, in_port, out, id, DropReason::LinkDown);
        }
        if (self.config.storage != Storage::Shared || port.at_server) && prio != 0 {
            self.store(out, id, Some(in_port));
            return self.kick(out);
        }
        if prio != 0 && !self.admit(switch, in_port, out, id) {
            return self.drop_packet(switch, in_port, out, id, DropReason::Buffer);
        }
        self.enqueue(out, id);
        self.kick(out);
    }

    /// Stores a packet in the shared buffer; false if it does not fit. It counts under `in_prio` at its ingress, under `prio`
    /// at its egress.
    #[inline(always)]
    fn admit(&mut self, switch: u32, in_port: u32, out: u32, id: u32) -> bool {
        let packet = &self.pool[id];
        let (size, prio, in_prio) = (u32::from(packet.size), packet.prio, packet.in_prio);
        let queued = self.queues[self.at(out, prio)].bytes;
        let at = self.at(in_port, in_prio);
        let buffer = &mut self.switches[switch as usize].buffer;
        let ingress = &mut self.ingress[at];
        if self.config.lossless & 1 << in_prio != 0 {
            // A packet that becomes lossy here also needs space in its lossy queue.
            if self.config.lossless & 1 << prio == 0 && !buffer.has_lossy_room(size, queued) {
                return false;
            }
            if !buffer.admit_lossless(ingress, size) {
                return false;
            }
            if buffer.wants_xoff(ingress) {
                self.send_pfc(in_port, in_prio, true, out);
            }
        } else if !buffer.admit_lossy(ingress, size, queued) {
            return false;
        }
        if self.config.mark_at_enqueue {
            self.mark(out, id, queued);
        }
        true
    }

    #[inline]
    pub(crate) fn kick(&mut self, port: u32) {
        if self.ports[port as usize].at_host {
            return self.kick_nic(port);
        }
        if self.ports[port as usize].pending {
            return;
        }
        if self.idle(port) {
            self.serve(port);
        } else {
            self.serve_when_free(port);
        }
    }

    /// Schedules `serve` for the end of the transmission, if a packet may be sent then.
    #[inline]
    fn serve_when_free(&mut self, port: u32) {
        let rank = self.end_rank(port);
        let state = &mut self.ports[port as usize];
        if state.waiting & (!state.paused | 1) != 0 {
            state.pending = true;
            self.events.push(Event::new(state.busy_until, rank, Target::Port(port)));
        }
    }

    #[inline]
    pub(crate) fn serve(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        let eligible = state.waiting & (!state.paused | 1);
        let eligible = if state.noted { self.in_order(port, eligible) } else { eligible };
        if eligible == 0 {
            return;
        }
        let prio = self.choose(port, eligible);
        let id = self.dequeue(port, prio);
        if prio != 0 {
            self.depart(port, id);
        }
        self.stamp(port, id);
        self.transmit(port, id);
        self.serve_when_free(port);
    }

    /// Releases the ingress bytes of a packet, marks it, and resumes the peer that it came from if possible.
    #[inline]
    fn depart(&mut self, port: u32, id: u32) {
        let packet = &self.pool[id];
        let (size, prio, in_port, in_prio) = (u32::from(packet.size), packet.prio, packet.in_port, packet.in_prio);
        let resume = self.release_buffer(port, size, in_port, in_prio);
        if !self.config.mark_at_enqueue {
            let left = self.queues[self.at(port, prio)].bytes;
            self.mark(port, id, left);
        }
        if resume {
            // A packet may leave by the port that it came from: that port is about to send it, and looks for more afterwards.
            let busy = in_port == port;
            self.ports[port as usize].pending |= busy;
            self.send_pfc(in_port, in_prio, false, port);
            self.ports[port as usize].pending &= !busy;
        }
    }

    pub(crate) fn leave_buffer(&mut self, port: u32, id: u32) {
        let packet = &self.pool[id];
        let (size, in_port, in_prio) = (u32::from(packet.size), packet.in_port, packet.in_prio);
        if self.release_buffer(port, size, in_port, in_prio) {
            self.send_pfc(in_port, in_prio, false, port);
        }
    }

    /// Frees buffer; true if the peer behind `in_port` may resume.
    #[inline(always)]
    fn release_buffer(&mut self, port: u32, size: u32, in_port: u32, in_prio: u8) -> bool {
        if self.config.storage != Storage::Shared || self.ports[port as usize].at_server {
            return false;
        }
        let owner = self.ports[port as usize].owner as usize;
        let at = self.at(in_port, in_prio);
        let buffer = &mut self.switches[owner].buffer;
        let ingress = &mut self.ingress[at];
        buffer.release(ingress, size);
        buffer.wants_xon(ingress)
    }

    #[inline(always)]
    fn stamp(&mut self, port: u32, id: u32) {
        if self.config.telemetry {
            self.write_telemetry(port, id);
        }
    }

    fn write_telemetry(&mut self, port: u32, id: u32) {
        if self.pool[id].flags & flag::INT != 0 {
            let state = &self.ports[port as usize];
            let record =
                int_record(Time(self.now), state.rate, state.tx_bytes, u64::from(state.queued), self.config.int);
            self.pool.push_record(id, record);
        }
        if self.pint.is_some() {
            self.stamp_pint(port, id);
        }
    }

    #[cold]
    fn drop_packet(&mut self, switch: u32, in_port: u32, out: u32, id: u32, reason: DropReason) {
        let node = NodeId(self.switches[switch as usize].node);
        self.count_drop(id, reason, node, Some(in_port), Some(out).filter(|&out| out != NONE));
        self.pool.release(id);
    }
}
