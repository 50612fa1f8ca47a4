use super::{Far, Network, WHOLE_PACKETS};
use crate::kernel::{Event, Kind, NONE, Target};
use crate::ns3;

impl Network {
    /// Serialisation time, in ps.
    #[inline]
    pub(crate) fn wire_time(&self, port: u32, bytes: u64) -> u64 {
        let port = &self.ports[port as usize];
        if self.config.ns3 {
            ns3::serialisation(bytes, self.rates[usize::from(port.rate)])
        } else if port.ps_per_byte != 0 {
            bytes * u64::from(port.ps_per_byte)
        } else {
            (bytes * 8_000_000_000_000).div_ceil(self.rates[usize::from(port.rate)])
        }
    }

    /// Serialisation time with the gap behind the packet, in ps.
    #[inline]
    pub(crate) fn busy_time(&self, port: u32, bytes: u64) -> u64 {
        self.wire_time(port, bytes + self.config.packets.gap.0)
    }

    /// Time between the starts of two packets of `bytes` paced at `rate` (bit/s), in ps.
    #[inline]
    pub(crate) fn pacing_gap(&self, bytes: u64, rate: u64) -> u64 {
        if self.config.ns3 {
            ns3::serialisation(bytes, rate)
        } else {
            ((bytes + self.config.packets.gap.0) * 8_000_000_000_000).div_ceil(rate)
        }
    }

    /// Sends a packet out of an idle port. Only the first packet on a wire has an event: the arrival of its last bit, or with
    /// cut-through of its header.
    #[inline]
    pub(crate) fn transmit(&mut self, port: u32, id: u32) {
        let (size, prio) = (self.pool[id].size, self.pool[id].prio);
        let size = u64::from(size);
        let plain = self.config.plain_wires;
        let (sent, free) = if plain {
            let sent = self.now + size * u64::from(self.ports[port as usize].ps_per_byte);
            (sent, sent)
        } else {
            self.wire_ends(port, size)
        };
        let rank = self.take_rank();
        let at = self.at(port, prio);
        let queue = &mut self.queues[at];
        queue.tx_bytes += size;
        queue.tx_packets += 1;
        let state = &mut self.ports[port as usize];
        state.busy_until = free;
        state.tx_bytes += size;
        let cut = state.cut;
        let seen = if size <= u64::from(cut) { sent } else { self.now + self.wire_time(port, cut.into()) };
        let state = &mut self.ports[port as usize];
        let arrive = seen + state.delay;
        let arrive = if plain || self.jitter.is_none() { arrive } else { self.jittered(port, arrive) };
        self.pool[id].next = NONE;
        let state = &mut self.ports[port as usize];
        if state.flight_head == NONE {
            state.flight_head = id;
            state.flight_tail = id;
            self.events.push(Event::new(arrive, rank, Target::Arrival(port)));
        } else {
            let tail = &mut self.pool[std::mem::replace(&mut state.flight_tail, id)];
            tail.next = id;
            tail.next_arrive = arrive;
            tail.next_rank = rank;
        }
    }

    /// Times at which the last bit has left, and the next packet may start.
    fn wire_ends(&mut self, port: u32, size: u64) -> (u64, u64) {
        if self.config.ns3 {
            self.end_rank[port as usize] = self.take_rank();
        }
        (self.now + self.wire_time(port, size), self.now + self.busy_time(port, size))
    }

    /// Handles the arrival of the first packet on the wire out of `port`, or of its header with cut-through.
    #[inline]
    pub(crate) fn arrival(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        let id = state.flight_head;
        if state.cut != WHOLE_PACKETS && self.awaits_rest(port, id) {
            return;
        }
        if let Some(prints) = &mut self.recorder.prints {
            prints.arrival(self.now, port, (&self.pool[id]).into());
        }
        let state = &mut self.ports[port as usize];
        let packet = &self.pool[id];
        let kind = packet.kind;
        state.flight_head = packet.next;
        let (peer, far, owner) = (state.peer, state.far, state.peer_owner);
        if packet.next != NONE {
            self.events.push(Event::new(packet.next_arrive, packet.next_rank, Target::Arrival(port)));
        }
        match kind {
            Kind::Data | Kind::Segment => self.counts.data_hops += 1,
            Kind::Pfc => self.counts.pfc_hops += 1,
            Kind::Lost => return self.pool.release(id),
            _ => self.counts.ack_hops += 1,
        }
        if kind == Kind::Pfc {
            return self.receive_pfc(peer, id);
        }
        let at_host = match far {
            Far::Switch => false,
            Far::Host => true,
            Far::Lossy => match self.cross_lossy(port, id) {
                Some(far) => far == Far::Host,
                None => return,
            },
        };
        if at_host {
            self.receive(peer, id);
        } else {
            self.forward(owner, peer, id);
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, port: u32, id: u32) {
        let packet = &mut self.pool[id];
        packet.next = NONE;
        let (size, prio) = (u32::from(packet.size), packet.prio);
        if self.config.ranked && prio != 0 {
            return self.enqueue_ranked(port, id);
        }
        let at = self.at(port, prio);
        let queue = &mut self.queues[at];
        queue.bytes += size;
        queue.peak = queue.peak.max(queue.bytes);
        let tail = std::mem::replace(&mut queue.tail, id);
        if queue.head == NONE {
            queue.head = id;
            self.ports[port as usize].waiting |= 1 << prio;
        } else {
            self.pool[tail].next = id;
        }
        self.ports[port as usize].queued += size;
        if self.ports[port as usize].noted {
            self.note_queued(port, id);
        }
    }

    #[inline]
    pub(crate) fn dequeue(&mut self, port: u32, prio: u8) -> u32 {
        if self.config.ranked && prio != 0 {
            return self.dequeue_ranked(port);
        }
        let at = self.at(port, prio);
        let queue = &mut self.queues[at];
        let id = queue.head;
        let packet = &self.pool[id];
        queue.head = packet.next;
        queue.bytes -= u32::from(packet.size);
        let state = &mut self.ports[port as usize];
        state.queued -= u32::from(packet.size);
        if queue.head == NONE {
            state.waiting &= !(1 << prio);
        }
        if self.ports[port as usize].noted {
            self.note_unqueued(port, id);
        }
        id
    }
}
