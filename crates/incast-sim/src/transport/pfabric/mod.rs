//! pFabric (Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013).
//!
//! Packets say how much of their flow is left; queues keep what is most urgent (see
//! [`QueueParams::Pfabric`](crate::switch::QueueParams)). Hosts send a window at once, and notice losses by a short fixed
//! timeout alone. Every segment is acknowledged, with all that has come beyond the first gap.

mod params;
mod sender;

pub use params::PfabricParams;
use sender::Sender;

use super::{ByFlow, Reassembly, Transport};
use crate::kernel::{Kind, flag};
use crate::network::Network;
use crate::outcome::FlowRecord;

/// All flows of pFabric.
#[derive(Debug, Default)]
pub(super) struct Pfabric {
    /// By number of the setup's transports; those of others are the defaults.
    params: Vec<PfabricParams>,
    senders: ByFlow<Sender>,
    /// By flow.
    receivers: Vec<Reassembly>,
}

impl Pfabric {
    pub(super) fn new(transports: &[Transport], flows: usize) -> Self {
        if !transports.iter().any(|one| matches!(one, Transport::Pfabric(_))) {
            return Self::default();
        }
        let params = |one: &Transport| match one {
            Transport::Pfabric(params) => params.clone(),
            _ => PfabricParams::default(),
        };
        Self {
            params: transports.iter().map(params).collect(),
            senders: ByFlow::new(flows),
            receivers: vec![Reassembly::default(); flows],
        }
    }

    /// Windows of flows under way, in bytes.
    pub(super) fn windows(&self) -> impl Iterator<Item = (u32, u64)> {
        self.senders.iter().map(|(flow, sender)| (flow, sender.window()))
    }
}

impl Network {
    pub(super) fn start_pfabric(&mut self, flow: u32, params: u8) {
        let packets = self.packets_of(flow);
        let room = &mut self.transports.pfabric;
        room.senders.insert(flow, Sender::new(&room.params[usize::from(params)], packets));
        self.pump_pfabric(flow);
    }

    /// Sends what the window lets be sent.
    fn pump_pfabric(&mut self, flow: u32) {
        let port = self.transports.ports[flow as usize];
        while let Some(sender) = self.transports.pfabric.senders.get_mut(flow)
            && let Some(segment) = sender.next_segment()
        {
            let (rank, rto) = (sender.left(), sender.rto());
            let mut packet = self.make_segment(flow, segment);
            packet.stamp = rank;
            packet.flags |= flag::RANKED;
            if self.transports.timers.deadline(flow) == u64::MAX {
                self.set_timer(flow, self.now + rto);
            }
            self.send(port, packet);
        }
    }

    /// Data or a probe has come: both are answered with what there is.
    pub(super) fn pfabric_segment(&mut self, port: u32, id: u32) {
        let packet = self.pool[id];
        let size = self.flows.flows[packet.flow as usize].size.0;
        let receiver = &mut self.transports.pfabric.receivers[packet.flow as usize];
        let new = receiver.take(packet.seq, packet.payload.into());
        let next = receiver.next();
        if packet.kind == Kind::Segment {
            self.count_duplicate(packet.flow, new);
        }
        if next == size {
            self.deliver(packet.flow);
        }
        self.turn_back(id, Kind::SegmentAck, next, packet.prio, false);
        self.pool.set_ranges(id, self.transports.pfabric.receivers[packet.flow as usize].beyond().iter().copied());
        self.send_made(port, id);
    }

    pub(super) fn pfabric_ack(&mut self, id: u32) {
        let packet = self.pool[id];
        let Some(sender) = self.transports.pfabric.senders.get_mut(packet.flow) else { return };
        let goes_on = sender.on_ack(packet.seq, self.pool.ranges(id));
        if sender.is_done() {
            self.transports.pfabric.senders.remove(packet.flow);
            return self.finish_in_room(packet.flow);
        }
        if goes_on {
            let rto = sender.rto();
            self.acknowledge(packet.flow, packet.seq);
            self.pump_pfabric(packet.flow);
            self.set_timer(packet.flow, self.now + rto);
        }
    }

    pub(super) fn pfabric_timer(&mut self, flow: u32) {
        let Some(sender) = self.transports.pfabric.senders.get_mut(flow) else { return };
        let probe = sender.on_timeout();
        let (rto, left, una) = (sender.rto(), sender.left(), sender.una());
        let FlowRecord { timeouts, .. } = &mut self.flow_records[flow as usize];
        *timeouts += 1;
        if probe {
            let mut packet = self.make_forward(flow, Kind::Probe, self.flows.flows[flow as usize].priority);
            packet.seq = una;
            packet.stamp = left;
            self.send(self.transports.ports[flow as usize], packet);
        } else {
            self.pump_pfabric(flow);
        }
        self.set_timer(flow, self.now + rto);
    }
}
