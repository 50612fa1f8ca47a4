//! pHost (Gao et al., "pHost: Distributed Near-Optimal Datacenter Transport Over Commodity Network Fabric", CoNEXT 2015).
//!
//! A source announces a flow. A receiver gives out at most one token per packet time; a token is the right to send one packet
//! soon. Short flows begin with free tokens. Sources choose among the flows that have tokens, whenever their port has nothing
//! else to send. One acknowledgement ends a flow.

mod order;
mod params;
mod receiver;
mod source;

pub use params::{PhostHold, PhostOrder, PhostParams};
use receiver::{Inbound, Pacer, Times};
use source::{Holders, Source, Token};

use super::{ByFlow, Job, Transport};
use crate::kernel::Kind;
use crate::network::Network;

/// Announcements in a row after which a source does not wait any longer for the next one than it did: 2^6 times `retry`.
const MOST_DOUBLINGS: u32 = 6;

/// All flows of pHost.
#[derive(Debug, Default)]
pub(super) struct Phost {
    params: PhostParams,
    sources: ByFlow<Source>,
    inbound: ByFlow<Inbound>,
    /// By NIC.
    holders: Vec<Holders>,
    pacers: Vec<Pacer>,
}

impl Phost {
    pub(super) fn new(transports: &[Transport], flows: usize, nics: usize) -> Self {
        let found = transports.iter().find_map(|one| match one {
            Transport::Phost(params) => Some(params.clone()),
            _ => None,
        });
        let Some(params) = found else { return Self::default() };
        Self {
            params,
            sources: ByFlow::new(flows),
            inbound: ByFlow::new(flows),
            holders: (0..nics).map(|_| Holders::default()).collect(),
            pacers: (0..nics).map(|_| Pacer::default()).collect(),
        }
    }
}

impl Phost {
    /// Flows under way.
    pub(super) fn flows(&self) -> impl Iterator<Item = u32> {
        self.sources.iter().map(|(flow, _)| flow)
    }

    /// Whether a flow that sends by this NIC may have a token.
    #[inline]
    pub(super) fn has_tokens(&self, nic: u32) -> bool {
        self.holders.get(nic as usize).is_some_and(|holders| holders.first().is_some())
    }
}

impl Network {
    /// Packet times of a host's port, in ps.
    fn phost_times(&self, port: u32) -> Times {
        let params = &self.transports.phost.params;
        let packets = &self.config.packets;
        let packet = self.wire_time(port, packets.mss.0 + packets.segment_header.0);
        let times = |number: f64| (packet as f64 * number).round() as u64;
        Times { packet, reissue: times(params.reissue_after), pass_over: times(params.downgrade_for) }
    }

    pub(super) fn start_phost(&mut self, flow: u32) {
        let (packets, port) = (self.packets_of(flow), self.transports.ports[flow as usize]);
        let times = self.phost_times(port);
        let room = &mut self.transports.phost;
        let (count, free) = (packets.count(), room.params.free(packets.count()));
        let mut source = Source::new(packets);
        let expiry = self.now + free * times.packet + (room.params.token_life * times.packet as f64) as u64;
        for number in 0..free {
            source.add(Token { expiry, seq: number * packets.mss, number: number as u32 });
        }
        room.sources.insert(flow, source);
        if free > 0 {
            self.hold_token(flow, count);
        }
        self.announce(flow);
    }

    /// Tells the receiver of a flow, and asks for an answer within a while.
    fn announce(&mut self, flow: u32) {
        let prio = self.transports.phost.params.control_priority;
        self.wait_for_word(flow);
        let packet = self.make_forward(flow, Kind::Rts, prio);
        self.send(self.transports.ports[flow as usize], packet);
    }

    /// A source that hears nothing from now on announces its flow again.
    fn wait_for_word(&mut self, flow: u32) {
        let room = &self.transports.phost;
        if let Some(source) = room.sources.get(flow) {
            let patience = room.params.retry.0 << source.tries.min(MOST_DOUBLINGS);
            self.set_timer(flow, self.now + patience);
        }
    }

    /// A flow has got a token; its receiver lacks `left` packets.
    fn hold_token(&mut self, flow: u32, left: u64) {
        let label = self.flows.flows[flow as usize].label;
        let nic = self.ports[self.transports.ports[flow as usize] as usize].owner;
        let room = &mut self.transports.phost;
        let Some(source) = room.sources.get_mut(flow) else { return };
        source.left = left;
        let (label, key) = match room.params.order {
            PhostOrder::Srpt => (0, left),
            PhostOrder::Fifo => (0, 0),
            PhostOrder::LabelFair => (label, left),
        };
        room.holders[nic as usize].put(flow, label, source, key);
    }

    /// A token has reached a source.
    pub(super) fn phost_token(&mut self, id: u32) {
        let packet = self.pool[id];
        let port = self.transports.ports[packet.flow as usize];
        let times = self.phost_times(port);
        let room = &mut self.transports.phost;
        let Some(source) = room.sources.get_mut(packet.flow) else { return };
        let (number, left) = ((packet.stamp >> 32) as u32, packet.stamp & u64::from(u32::MAX));
        let expiry = self.now + (room.params.token_life * times.packet as f64) as u64;
        source.tries = 0;
        source.add(Token { expiry, seq: packet.seq, number });
        self.hold_token(packet.flow, left);
        self.set_timer(packet.flow, u64::MAX);
        self.kick_nic(port);
    }

    /// The next packet of pHost's that an idle port of a host may send: of the first flow with a token that still holds.
    pub(crate) fn pull_phost(&mut self, port: u32) -> Option<u32> {
        let nic = self.ports[port as usize].owner as usize;
        loop {
            let room = &mut self.transports.phost;
            let holders = room.holders.get_mut(nic)?;
            let flow = holders.first()?;
            let source = room.sources.get_mut(flow).expect("flows that hold tokens are under way");
            let prio = room.params.data_priority(source.packets.count(), self.flows.flows[flow as usize].priority);
            if self.ports[port as usize].paused & 1 << prio != 0 {
                return None;
            }
            let Some((segment, number)) = source.next_packet(self.now) else {
                holders.take_out(source);
                continue;
            };
            holders.served();
            let sent_all = source.has_sent_all();
            let mut packet = self.make_segment(flow, segment);
            packet.stamp = number.into();
            packet.prio = prio;
            if sent_all {
                self.wait_for_word(flow);
            }
            self.ledger.injected[usize::from(packet.prio)] += u64::from(packet.size);
            return Some(self.pool.alloc(packet));
        }
    }

    /// An announcement has reached a receiver.
    pub(super) fn phost_rts(&mut self, port: u32, id: u32) {
        self.phost_hears_of(port, self.pool[id].flow);
        self.phost_confirm(port, self.pool[id].flow);
    }

    /// A receiver learns of a flow, if it does not know of it.
    fn phost_hears_of(&mut self, port: u32, flow: u32) {
        let (times, packets, nic) = (self.phost_times(port), self.packets_of(flow), self.ports[port as usize].owner);
        if self.flow_records[flow as usize].delivered.is_some() || self.transports.phost.inbound.get(flow).is_some() {
            return;
        }
        let label = self.flows.flows[flow as usize].label;
        let Phost { params, inbound, pacers, .. } = &mut self.transports.phost;
        let pacer = &mut pacers[nic as usize];
        if let Some(time) = pacer.announce(inbound, (flow, label), packets, self.now, (params, &times)) {
            self.plan(nic, time, Job::Token);
        }
    }

    /// Says that a flow is whole, if it is.
    fn phost_confirm(&mut self, port: u32, flow: u32) {
        if self.flow_records[flow as usize].delivered.is_some() {
            let prio = self.transports.phost.params.control_priority;
            let packet = self.make_back(flow, Kind::SegmentAck, prio);
            self.send(port, packet);
        }
    }

    /// The pacer of a receiver is due.
    pub(super) fn phost_pace(&mut self, nic: u32) {
        let port = self.nics[nic as usize].port;
        let times = self.phost_times(port);
        let Phost { params, inbound, pacers, .. } = &mut self.transports.phost;
        let pacer = &mut pacers[nic as usize];
        if pacer.due != self.now {
            return;
        }
        let granted = pacer.tick(inbound, self.now, params, &times);
        let (due, prio) = (pacer.due, params.control_priority);
        if due != u64::MAX {
            self.plan(nic, due, Job::Token);
        }
        if let Some(grant) = granted {
            let mut packet = self.make_back(grant.flow, Kind::Token, prio);
            packet.seq = grant.seq;
            packet.stamp = grant.number << 32 | grant.left.min(u64::from(u32::MAX));
            self.send(port, packet);
        }
    }

    pub(super) fn phost_segment(&mut self, port: u32, id: u32) {
        let packet = self.pool[id];
        let flow = packet.flow;
        self.pool.release(id);
        self.phost_hears_of(port, flow);
        let nic = self.ports[port as usize].owner;
        let Phost { params, inbound: table, pacers, .. } = &mut self.transports.phost;
        let Some(inbound) = table.get_mut(flow) else {
            self.count_duplicate(flow, 0);
            return self.phost_confirm(port, flow);
        };
        let new = inbound.take(packet.seq, packet.payload.into(), packet.stamp);
        let whole = inbound.is_whole();
        if new {
            pacers[nic as usize].update(inbound, params.order);
        }
        self.count_duplicate(flow, new.into());
        if whole {
            self.transports.phost.inbound.remove(flow);
            self.deliver(flow);
            self.phost_confirm(port, flow);
        }
    }

    /// The receiver of a flow has all of it.
    pub(super) fn phost_ack(&mut self, id: u32) {
        let flow = self.pool[id].flow;
        let nic = self.ports[self.transports.ports[flow as usize] as usize].owner;
        let room = &mut self.transports.phost;
        let Some(source) = room.sources.get_mut(flow) else { return };
        room.holders[nic as usize].take_out(source);
        room.sources.remove(flow);
        self.finish_in_room(flow);
    }

    /// A source has heard nothing of a flow for too long.
    pub(super) fn phost_timer(&mut self, flow: u32) {
        if let Some(source) = self.transports.phost.sources.get_mut(flow) {
            source.tries += 1;
            self.flow_records[flow as usize].timeouts += 1;
            self.announce(flow);
        }
    }
}
