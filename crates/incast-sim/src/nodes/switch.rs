//! Order of stages, as in the HPCC authors' ns-3 (`switch-node.cc`). Arrival: route, admission, accounting, pause check, queue,
//! port. Departure: queue, accounting, ECN, resume check, INT, wire.

use incast_model::fabric::{NodeId, PortId};
use incast_model::rng::{self, Stream, unit};
use incast_model::units::Time;

use super::out::{Dropped, Note, Noted, Out};
use super::packet::{Carried, Packet, Slab, Stamp};
use super::plan::{LINK_BITS, Plan, Route};
use super::port::{Pauses, Port};
use super::run::{ANY, NS3, PLAIN, is_bare};
use super::telemetry::Telemetry;
use crate::balance::{State, backlog};
use crate::congestion::IntRecord;
use crate::kernel::{Event, Kind, NONE, Target, flag};
use crate::measure::LengthHistogram;
use crate::outcome::DropReason;
use crate::plan::{Network, Sending};
use crate::switch::{Buffer, RankedQueue, Rule, Served, Storage, Verdict};

/// What a switch does with packets besides forwarding them. Implementations find their state in [`Switch::guards`].
pub(super) trait Hooks: Sized {
    fn new(plan: Plan<'_>, node: u32) -> Self;
    /// If true, no other function is called.
    fn is_empty(&self) -> bool;
    /// If true, `queued`, `dequeued` and `eligible` are called.
    fn watches_queues(&self) -> bool;
    /// Bit mask of the priorities in which ECN marks packets.
    fn markable(&self) -> u8;
    /// If true, packets get the priority of their new tag on the wire.
    fn rewrites_on_the_wire(&self) -> bool;
    /// Handles an arrived packet, in place of [`Switch`].
    fn receive<const RUN: u8>(switch: &mut Switch<Self>, plan: Plan<'_>, out: &mut Out, packet: &Packet);
    /// A packet is in a queue, at a place of the slab.
    fn queued(switch: &mut Switch<Self>, port: usize, place: u32);
    /// A packet has left its queue, not yet the switch.
    fn dequeued(switch: &mut Switch<Self>, port: usize, place: u32);
    /// Priorities that may send at a port, of those not paused.
    fn eligible(switch: &Switch<Self>, port: usize, eligible: u8) -> u8;
    /// A PFC frame has arrived. True: it has no effect.
    fn voids(switch: &mut Switch<Self>, port: usize, prio: u8, xoff: bool) -> bool;
    /// The link of a port has failed.
    fn link_down(switch: &mut Switch<Self>, port: usize);
    /// A pause of a queue ends, and is still noted.
    fn resumed(switch: &mut Switch<Self>, network: &Network, port: usize, prio: u8);
    /// Congested port that causes a pause of the peer of a port, if known.
    fn root(switch: &Switch<Self>, network: &Network, port: usize, prio: u8) -> Option<u32>;
}

/// Several fields are copies from [`crate::plan::Config`].
#[derive(Debug)]
pub(super) struct Switch<G> {
    pub(super) node: u32,
    pub(super) buffer: Buffer,
    rng: Stream,
    pub(super) ports: Vec<Port>,
    pub(super) slab: Slab,
    /// Ports that become free: time and port in one number, the soonest last.
    free_at: Vec<u64>,
    /// Arrivals known and not handled yet, as in [`Out::inboxes`].
    arrivals: Vec<u64>,
    pub(super) carried: Carried,
    /// Time of the current event, in ps.
    pub(super) now: u64,
    /// Wire of the current arrival; too high during actions.
    pub(super) line: usize,
    rule: Rule,
    pub(super) storage: Storage,
    /// By port; empty without pFabric queues.
    pub(super) ranked: Vec<RankedQueue>,
    port_rank: u64,
    /// By port; empty without deficit round robin.
    deficits: Vec<[u32; 8]>,
    /// `None` with ECMP.
    pub(super) balancer: Option<State>,
    pub(super) lossless: u8,
    pub(super) guards: G,
    /// If true, packets pass guards; these change tags on the wire; these watch queues.
    guarded: bool,
    late_tags: bool,
    pub(super) watches_queues: bool,
    /// As [`Hooks::markable`].
    markable: u8,
    /// By port and priority; empty without guards.
    pub(super) pauses: Vec<[Pauses; 8]>,
    pub(super) mark_at_enqueue: bool,
    pub(super) ttl: u8,
    telemetry: Option<Box<Telemetry>>,
    /// If true, packets are stamped when they leave.
    stamps: bool,
    pfc_size: u16,
    /// By port: random extra times of a server of VMs for each packet; empty without jitter.
    jitters: Vec<Option<Sending>>,
    /// By port (empty if not measured), and width of bins in bytes.
    pub(super) histograms: Vec<LengthHistogram>,
    bin: u64,
}

impl<G: Hooks> Switch<G> {
    pub(super) fn new(plan: Plan<'_>, node: u32) -> Self {
        let network = plan.network;
        let numbers = || network.fabric.ports_of(NodeId(node));
        let (config, measured) = (&network.config, &network.measure);
        let guards = G::new(plan, node);
        let telemetry = Telemetry::new(network, numbers().len());
        let serves_vms = numbers().any(|port| network.ports[port.index()].at_server);
        let jitter = network.jitter.as_ref().filter(|_| serves_vms);
        let late_tags = guards.rewrites_on_the_wire();
        let stamps = telemetry.is_some() || late_tags;
        Self {
            node,
            buffer: network.buffers[node as usize].clone().expect("the node is a switch"),
            rng: rng::stream(config.seed, "ecn", node.into()),
            ports: numbers().map(|port| Port::new(plan, port.0)).collect(),
            slab: Slab::new(plan.layout.records),
            free_at: Vec::new(),
            arrivals: Vec::new(),
            carried: Carried::default(),
            now: 0,
            line: 0,
            rule: network.rule,
            storage: if serves_vms { Storage::Own(config.server_queue) } else { config.storage },
            ranked: if config.ranked { vec![RankedQueue::default(); numbers().len()] } else { Vec::new() },
            port_rank: config.port_rank,
            deficits: if network.rule.is_drr() { vec![[0; 8]; numbers().len()] } else { Vec::new() },
            balancer: network.routing.balancers.get(node as usize).cloned(),
            lossless: config.lossless,
            guarded: !guards.is_empty(),
            late_tags,
            watches_queues: guards.watches_queues(),
            markable: guards.markable(),
            pauses: if guards.is_empty() { Vec::new() } else { vec![Default::default(); numbers().len()] },
            guards,
            mark_at_enqueue: config.mark_at_enqueue,
            ttl: config.ttl,
            telemetry,
            stamps,
            pfc_size: config.packets.pfc.0 as u16,
            jitters: jitter.map_or_else(Vec::new, |jitter| numbers().map(|port| jitter.of_port(port.0)).collect()),
            histograms: if measured.queue_histogram { vec![Default::default(); numbers().len()] } else { Vec::new() },
            bin: measured.histogram_bin.0,
        }
    }

    /// Handles all events before `end`. Returns the time of the next known event, in ps.
    pub(super) fn run<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) -> u64 {
        let first = plan.layout.lines(self.node).start;
        let mut arrivals = std::mem::take(&mut self.arrivals);
        out.take_inbox(self.node, &mut arrivals);
        arrivals.sort_unstable();
        let mut handled = 0;
        for key in &arrivals {
            let time = key >> LINK_BITS;
            if time >= end {
                break;
            }
            handled += 1;
            self.serve_until::<RUN>(plan, out, time + 1 - self.port_rank);
            self.now = time;
            self.receive::<RUN>(plan, out, first + (key & ((1 << LINK_BITS) - 1)) as usize);
        }
        self.serve_until::<RUN>(plan, out, end);
        arrivals.drain(..handled);
        let next = arrivals.first().map_or(u64::MAX, |key| key >> LINK_BITS);
        self.arrivals = arrivals;
        next.min(self.next_free())
    }

    /// Forgets the arrivals before `end`, which came event by event.
    pub(super) fn pass(&mut self, out: &mut Out, end: u64) {
        out.take_inbox(self.node, &mut self.arrivals);
        self.arrivals.retain(|key| key >> LINK_BITS >= end);
    }

    pub(super) fn next(&self, plan: Plan<'_>, out: &Out) -> Option<Event> {
        let free = self.free_at.last().map(|key| {
            let port = &self.ports[(key & ((1 << LINK_BITS) - 1)) as usize];
            Event::new(key >> LINK_BITS, self.port_rank, Target::Port(port.number))
        });
        let arrivals = plan
            .layout
            .lines(self.node)
            .map(|line| Event::new(out.wires[line].first(), 0, Target::Arrival(plan.layout.inward[line])));
        free.into_iter().chain(arrivals.filter(|event| event.time != u64::MAX)).min()
    }

    pub(super) fn step(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        match event.target() {
            Target::Arrival(wire) => self.arrival::<ANY>(plan, out, event.time, wire),
            _ => self.serve_next::<ANY>(plan, out),
        }
    }

    #[inline(always)]
    fn arrival<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, now: u64, wire: u32) {
        self.now = now;
        self.receive::<RUN>(plan, out, plan.layout.ports[wire as usize].line as usize);
    }

    /// Handles an event of `ns3` arithmetic.
    pub(super) fn step_ns3(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        match event.target() {
            Target::Arrival(wire) => self.arrival::<NS3>(plan, out, event.time, wire),
            Target::Port(number) => {
                self.now = event.time;
                out.count(self.node, event.time, || event.target());
                let port = (number - plan.layout.first_port[self.node as usize]) as usize;
                self.ports[port].pending = false;
                self.serve::<NS3>(plan, out, port);
            }
            other => unreachable!("{other:?} is no event of a switch"),
        }
    }

    /// Returns true if packets pass guards.
    pub(super) const fn is_guarded(&self) -> bool {
        self.guarded
    }

    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    fn next_free(&self) -> u64 {
        self.free_at.last().map_or(u64::MAX, |key| key >> LINK_BITS)
    }

    #[inline(always)]
    fn serve_until<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) {
        while self.next_free() < end {
            self.serve_next::<RUN>(plan, out);
        }
    }

    #[inline(never)]
    fn serve_next<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let Some(key) = self.free_at.pop() else { return };
        self.now = key >> LINK_BITS;
        let port = (key & ((1 << LINK_BITS) - 1)) as usize;
        out.count(self.node, self.now, || Target::Port(self.ports[port].number));
        self.ports[port].pending = false;
        self.serve::<RUN>(plan, out, port);
    }

    #[inline]
    fn receive<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, line: usize) {
        self.line = line;
        let packet = out.take::<RUN>(plan, self.node, line, self.now, &mut self.carried);
        match packet.kind {
            Kind::Data | Kind::Segment => out.counts.data_hops += 1,
            Kind::Pfc => {
                out.counts.pfc_hops += 1;
                return self.receive_pfc::<RUN>(plan, out, packet.in_port.into(), &packet);
            }
            Kind::Lost => return out.live -= 1,
            _ => out.counts.ack_hops += 1,
        }
        if !is_bare(RUN) && self.guarded {
            return G::receive::<RUN>(self, plan, out, &packet);
        }
        let port = self.egress(plan, &packet);
        if packet.hops >= self.ttl {
            return self.drop_packet(plan, out, port, &packet, DropReason::Ttl);
        }
        let Some(port) = port else { return self.drop_packet(plan, out, None, &packet, DropReason::NoRoute) };
        self.forward::<RUN>(plan, out, port, &packet);
    }

    /// Egress port of a packet; `None` without a route.
    #[inline(always)]
    pub(super) fn egress(&mut self, plan: Plan<'_>, packet: &Packet) -> Option<usize> {
        let port = match plan.route(self.node, packet) {
            Route::Port(port) => port,
            Route::Several => self.balance(plan, packet)?,
            Route::None => return None,
        };
        Some((port - plan.layout.first_port[self.node as usize]) as usize)
    }

    #[inline(never)]
    fn balance(&mut self, plan: Plan<'_>, packet: &Packet) -> Option<u32> {
        let first = plan.layout.first_port[self.node as usize];
        let backlog = |port: PortId| {
            let port = &self.ports[(port.0 - first) as usize];
            backlog((self.now, port.busy_until), port.queued, plan.network.rates[usize::from(port.rate)])
        };
        let packet = (self.now, self.node, packet.dst, packet.flow, !packet.kind.is_forward());
        Some(plan.network.routing.balance(self.balancer.as_mut()?, packet, &backlog).0)
    }

    #[inline(always)]
    pub(super) fn forward<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: usize, packet: &Packet) {
        let (size, prio, in_port) = (u32::from(packet.size), packet.prio & 7, usize::from(packet.in_port));
        // A new tag has changed the priority with which it leaves, not the one with which it arrived.
        let in_prio = packet.in_prio & 7;
        let egress = &self.ports[port];
        if egress.waiting == 0
            && egress.paused & 1 << prio == 0
            && (prio == 0 || self.buffer.passes(&self.ports[in_port].lanes[usize::from(in_prio)].ingress, size))
            && self.is_idle::<RUN>(out, port)
        {
            self.transmit::<RUN>(plan, out, port, packet, packet.flags);
            return;
        }
        let egress = &self.ports[port];
        if RUN == ANY && egress.down {
            return self.drop_packet(plan, out, Some(port), packet, DropReason::LinkDown);
        }
        let queued = egress.lanes[usize::from(prio)].queue.bytes;
        if RUN == ANY && prio != 0 && self.storage != Storage::Shared {
            self.store(plan, out, port, packet);
            return self.serve_or_wait::<RUN>(plan, out, port);
        }
        let mut flags = packet.flags;
        if prio != 0 {
            let ingress = &mut self.ports[in_port].lanes[usize::from(in_prio)].ingress;
            let stored = if self.lossless & 1 << in_prio != 0 {
                // One that has become lossy here also needs space in its lossy queue.
                let fits = self.lossless & 1 << prio != 0 || self.buffer.has_lossy_room(size, queued);
                fits && self.buffer.admit_lossless(ingress, size)
            } else {
                self.buffer.admit_lossy(ingress, size, queued)
            };
            if !stored {
                return self.drop_packet(plan, out, Some(port), packet, DropReason::Buffer);
            }
            if self.lossless & 1 << in_prio != 0 && self.buffer.wants_xoff(ingress) {
                self.send_pfc::<RUN>(plan, out, in_port, in_prio, true, port);
            }
            if self.mark_at_enqueue {
                flags |= self.mark::<RUN>(out, port, packet, queued);
            }
        }
        self.enqueue::<RUN>(port, packet, flags);
        self.serve_or_wait::<RUN>(plan, out, port);
    }

    /// Mark of a packet in an egress queue of `queued` bytes, if it gets one.
    #[inline]
    pub(super) fn mark<const RUN: u8>(&mut self, out: &mut Out, port: usize, packet: &Packet, queued: u32) -> u8 {
        let hit = match self.ports[port].ecn.verdict(queued) {
            Verdict::Never => return 0,
            Verdict::Always => true,
            Verdict::WithProbability(p) if RUN == NS3 => out.ns3().draws.next() < p,
            Verdict::WithProbability(p) => unit(&mut self.rng) < p,
        };
        if !hit || self.markable & 1 << packet.prio == 0 || !packet.kind.understands_marks(packet.flags) {
            return 0;
        }
        out.counts.marks += 1;
        self.ports[port].marks[usize::from(packet.prio & 7)] += 1;
        flag::CE
    }

    #[inline]
    pub(super) fn enqueue<const RUN: u8>(&mut self, port: usize, packet: &Packet, flags: u8) {
        let (size, prio) = (u32::from(packet.size), packet.prio & 7);
        let place = self.slab.insert::<RUN>(packet, flags, &mut self.carried);
        if RUN == ANY && self.watches_queues {
            G::queued(self, port, place);
        }
        let state = &mut self.ports[port];
        let queue = &mut state.lanes[usize::from(prio)].queue;
        queue.bytes += size;
        queue.peak = queue.peak.max(queue.bytes);
        let tail = std::mem::replace(&mut queue.tail, place);
        if queue.head == NONE {
            queue.head = place;
            state.waiting |= 1 << prio;
        } else {
            self.slab.link(tail, place);
        }
        state.queued += size;
        self.note_length::<RUN>(port);
    }

    #[inline]
    pub(super) fn note_length<const RUN: u8>(&mut self, port: usize) {
        if is_bare(RUN) {
            return;
        }
        if let Some(histogram) = self.histograms.get_mut(port) {
            histogram.note(self.now, self.ports[port].queued, self.bin);
        }
    }

    /// Serves a port now, or when it becomes free.
    #[inline]
    pub(super) fn serve_or_wait<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: usize) {
        if self.ports[port].pending {
            return;
        }
        if self.is_idle::<RUN>(out, port) {
            self.serve::<RUN>(plan, out, port);
        } else {
            self.serve_when_free::<RUN>(out, port);
        }
    }

    /// Returns true if a port is not transmitting. In `ns3` arithmetic, ranks decide whether a transmission that ends now has
    /// ended.
    #[inline(always)]
    fn is_idle<const RUN: u8>(&self, out: &mut Out, port: usize) -> bool {
        let state = &self.ports[port];
        if RUN == NS3 {
            return out.ns3().is_idle(state.number, state.busy_until, self.now);
        }
        state.busy_until <= self.now
    }

    #[inline]
    fn serve_when_free<const RUN: u8>(&mut self, out: &mut Out, port: usize) {
        let state = &mut self.ports[port];
        if state.waiting & (!state.paused | 1) == 0 {
            return;
        }
        state.pending = true;
        if RUN == NS3 {
            return out.ns3().serve_when_free(state.number, state.busy_until);
        }
        let key = state.busy_until << LINK_BITS | port as u64;
        // Most transmissions end after all others under way: few entries move.
        let mut place = self.free_at.len();
        self.free_at.push(key);
        while place > 0 && self.free_at[place - 1] < key {
            self.free_at[place] = self.free_at[place - 1];
            place -= 1;
        }
        self.free_at[place] = key;
    }

    fn serve<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: usize) {
        let state = &mut self.ports[port];
        let mut eligible = state.waiting & (!state.paused | 1);
        if RUN == ANY && self.watches_queues {
            eligible = G::eligible(self, port, eligible);
        }
        if eligible == 0 {
            return;
        }
        let state = &mut self.ports[port];
        let prio = match self.deficits.get_mut(port).filter(|_| !is_bare(RUN)) {
            None => self.rule.choose_simply(eligible, &mut state.last_served) & 7,
            Some(deficits) => {
                let mut served = Served { last: state.last_served, deficits: *deficits };
                let first = |prio| self.slab.size(state.lanes[usize::from(prio)].queue.head);
                let prio = self.rule.choose_drr(eligible, state.waiting, &mut served, first);
                (state.last_served, *deficits) = (served.last, served.deficits);
                prio & 7
            }
        };
        let packet = self.dequeue::<RUN>(port, prio);
        let mark = if prio == 0 { 0 } else { self.depart::<RUN>(plan, out, port, &packet) };
        self.transmit::<RUN>(plan, out, port, &packet, packet.flags | mark);
        self.serve_when_free::<RUN>(out, port);
    }

    /// Removes the first packet of a queue.
    #[inline(always)]
    pub(super) fn dequeue<const RUN: u8>(&mut self, port: usize, prio: u8) -> Packet {
        if RUN == ANY && prio != 0 && !self.ranked.is_empty() {
            return self.dequeue_ranked(port);
        }
        let state = &mut self.ports[port];
        let queue = &mut state.lanes[usize::from(prio & 7)].queue;
        let place = queue.head;
        let (packet, next) = self.slab.remove::<RUN>(place, &mut self.carried);
        queue.head = next;
        queue.bytes -= u32::from(packet.size);
        state.queued -= u32::from(packet.size);
        if queue.head == NONE {
            state.waiting &= !(1 << prio);
        }
        self.note_length::<RUN>(port);
        if RUN == ANY && self.watches_queues {
            G::dequeued(self, port, place);
        }
        packet
    }

    /// Frees the buffer of a packet that leaves its queue, and sends an XON if due. Returns the packet's mark.
    #[inline]
    fn depart<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: usize, packet: &Packet) -> u8 {
        let left = self.ports[port].lanes[usize::from(packet.prio & 7)].queue.bytes;
        if RUN == ANY && self.storage != Storage::Shared {
            return if self.mark_at_enqueue { 0 } else { self.mark::<RUN>(out, port, packet, left) };
        }
        let (in_port, in_prio) = (usize::from(packet.in_port), packet.in_prio & 7);
        let ingress = &mut self.ports[in_port].lanes[usize::from(in_prio)].ingress;
        self.buffer.release(ingress, packet.size.into());
        let resume = self.buffer.wants_xon(ingress);
        let mark = if self.mark_at_enqueue { 0 } else { self.mark::<RUN>(out, port, packet, left) };
        if resume {
            // The packet leaves by its ingress port, which is about to send it and serves the XON afterwards.
            let busy = in_port == port;
            self.ports[port].pending |= busy;
            self.send_pfc::<RUN>(plan, out, in_port, in_prio, false, port);
            self.ports[port].pending &= !busy;
        }
        mark
    }

    /// Sends a packet, with other flags, out of an idle port.
    #[inline(always)]
    pub(super) fn transmit<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: usize,
        packet: &Packet,
        flags: u8,
    ) {
        let size = u64::from(packet.size);
        let (record, in_prio) =
            if RUN != PLAIN && self.stamps { self.stamp::<RUN>(plan, out, port, packet) } else { (None, packet.prio) };
        let stamp = Stamp { flags, in_prio, record };
        let state = &mut self.ports[port];
        let (sent, free) = plan.ends::<RUN>(state.number, &state.plan, self.now, size);
        let queue = &mut state.lanes[usize::from(packet.prio & 7)].queue;
        queue.tx_bytes += size;
        queue.tx_packets += 1;
        state.busy_until = free;
        state.tx_bytes += size;
        let whole = RUN != ANY || state.plan.takes_whole(size);
        let seen = if whole { sent } else { plan.cut_through(state.number, packet, self.now, sent) };
        if RUN == NS3 {
            out.ns3().transmit(state.number);
        }
        let seen = match self.jitters.get_mut(port).filter(|_| RUN == ANY) {
            Some(Some(jitter)) => jitter.delayed(seen + state.plan.delay) - state.plan.delay,
            _ => seen,
        };
        out.send::<RUN>((&state.plan, &mut state.woken), seen, packet, stamp, &mut self.carried);
    }

    /// Priority with the tag that the rules give a packet for a port.
    pub(super) fn new_tag(&self, network: &Network, port: usize, packet: &Packet) -> u8 {
        let Some(tagging) = &network.tagging else { return packet.prio };
        let (input, output) = (self.ports[usize::from(packet.in_port)].number, self.ports[port].number);
        tagging.rewritten(&network.fabric, packet.prio, input, output)
    }

    /// Telemetry of a packet that a port sends, and its priority at the far end if tags change on the wire.
    #[inline(always)]
    fn stamp<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: usize,
        packet: &Packet,
    ) -> (Option<(IntRecord, u8)>, u8) {
        let mut record = None;
        if let Some(telemetry) = &mut self.telemetry {
            if RUN == NS3 {
                telemetry.exchange(&mut out.ns3().rand);
            }
            let state = &self.ports[port];
            record = telemetry.record(port, state, packet, self.now, &self.carried, &mut self.rng);
            if RUN == NS3 {
                telemetry.exchange(&mut out.ns3().rand);
            }
        }
        (record, if self.late_tags { self.new_tag(plan.network, port, packet) } else { packet.prio })
    }

    /// `culprit` is the egress port of the packet that caused the frame.
    #[cold]
    pub(super) fn send_pfc<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: usize,
        prio: u8,
        xoff: bool,
        culprit: usize,
    ) {
        let culprit = u64::from(self.ports[culprit].number);
        let measures = RUN == ANY && self.guarded && xoff;
        let root = if measures { G::root(self, plan.network, port, prio) } else { None };
        let ingress = &mut self.ports[port].lanes[usize::from(prio)].ingress;
        ingress.paused = xoff;
        ingress.xoffs += u32::from(xoff);
        out.counts.pauses += u64::from(xoff);
        out.injected[0] += u64::from(self.pfc_size);
        out.live += 1;
        if RUN == NS3 {
            out.ns3().draws.skip();
        }
        let frame = Packet {
            seq: u64::from(ingress.bytes + ingress.headroom),
            stamp: culprit,
            dst: root.unwrap_or(NONE),
            size: self.pfc_size,
            kind: Kind::Pfc,
            in_prio: prio,
            flags: if xoff { flag::XOFF } else { 0 },
            ..Packet::EMPTY
        };
        self.enqueue::<RUN>(port, &frame, frame.flags);
        self.serve_or_wait::<RUN>(plan, out, port);
    }

    #[cold]
    fn receive_pfc<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: usize, frame: &Packet) {
        out.delivered[0] += u64::from(frame.size);
        out.live -= 1;
        if RUN == ANY && self.guarded && G::voids(self, port, frame.in_prio, frame.flags & flag::XOFF != 0) {
            return;
        }
        let bit = 1 << frame.in_prio;
        let state = &mut self.ports[port];
        let at = plan.network.at(state.number, frame.in_prio);
        let time = Time(self.now);
        let note = |note| Noted { time, event: 0, note };
        if frame.flags & flag::XOFF != 0 {
            if state.paused & bit == 0 {
                state.paused |= bit;
                self.begin_pause(port, frame.in_prio, frame.dst);
                out.notes.push(note(Note::Pause { at, bytes: frame.seq, culprit: frame.stamp as u32 }));
            }
            return;
        }
        if state.paused & bit != 0 {
            state.paused &= !bit;
            self.end_pause(plan.network, port, frame.in_prio);
            out.notes.push(note(Note::Resume { at }));
        }
        self.serve_or_wait::<RUN>(plan, out, port);
    }

    #[cold]
    pub(super) fn drop_packet(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: Option<usize>,
        packet: &Packet,
        reason: DropReason,
    ) {
        let ingress = self.ports.get(usize::from(packet.in_port)).map(|port| port.number);
        // A frame has no ingress port here, unless it arrives now.
        let own = matches!(packet.kind, Kind::Pfc | Kind::Isolation);
        let wire = plan.layout.inward.get(self.line);
        let event = wire.map_or(0, |&wire| Event::new(self.now, 0, Target::Arrival(wire)).target_code());
        let egress = port.map(|port| self.ports[port].number);
        let ingress = ingress.filter(|_| !own || egress.is_none());
        out.drop(plan.network, packet, Dropped { reason, ingress, egress, now: self.now, event });
        out.live -= 1;
    }
}
