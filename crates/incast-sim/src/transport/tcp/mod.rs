//! TCP for datacenters (RFC 9293, 5681, 6582, 2018, 6675, 6298, 3168), with a control of one's choice.

mod control;
mod params;
mod receiver;
mod rtt;
mod sender;
#[cfg(test)]
mod tests;

use incast_model::units::Time;

pub use control::{CubicParams, RenoParams, SlowStartParams, TcpControl, TcpDctcpParams};
pub use params::TcpParams;
use receiver::{Answer, Receiver};
use sender::{Heard, Phase, Sender};

use super::dispatch::Room;
use super::{ByFlow, Job, Transport};
use crate::kernel::{Kind, flag};
use crate::network::Network;

/// All flows of TCP.
#[derive(Debug, Default)]
pub(super) struct Tcp {
    /// By number of the setup's transports; those of others are the defaults.
    params: Vec<TcpParams>,
    senders: ByFlow<Sender>,
    /// By flow.
    receivers: Vec<Receiver>,
}

impl Tcp {
    pub(super) fn new(transports: &[Transport], flows: usize) -> Self {
        if !transports.iter().any(|one| matches!(one, Transport::Tcp(_))) {
            return Self::default();
        }
        let params = |one: &Transport| match one {
            Transport::Tcp(params) => params.clone(),
            _ => TcpParams::default(),
        };
        Self {
            params: transports.iter().map(params).collect(),
            senders: ByFlow::new(flows),
            receivers: vec![Receiver::default(); flows],
        }
    }

    /// Windows of flows under way, in bytes.
    pub(super) fn windows(&self) -> impl Iterator<Item = (u32, u64)> {
        self.senders.iter().map(|(flow, sender)| (flow, sender.cwnd()))
    }
}

impl Network {
    /// The parameters of a flow.
    fn tcp_params(&self, flow: u32) -> &TcpParams {
        match self.transports.room(flow) {
            Room::Tcp(index) => &self.transports.tcp.params[usize::from(index)],
            _ => unreachable!("only TCP's flows ask for them"),
        }
    }

    pub(super) fn start_tcp(&mut self, flow: u32, params: u8) {
        let packets = self.packets_of(flow);
        let room = &mut self.transports.tcp;
        let sender = Sender::new(&room.params[usize::from(params)], packets);
        let shakes_hands = sender.phase == Phase::Handshake;
        room.senders.insert(flow, sender);
        if shakes_hands {
            self.send_syn(flow);
        } else {
            self.pump_tcp(flow);
        }
    }

    fn send_syn(&mut self, flow: u32) {
        if let Some(sender) = self.transports.tcp.senders.get_mut(flow) {
            sender.give(None);
        }
        let prio = self.flows.flows[flow as usize].priority;
        let mut packet = self.make_forward(flow, Kind::Syn, prio);
        packet.stamp = self.now;
        self.arm_tcp(flow);
        self.send(self.transports.ports[flow as usize], packet);
    }

    /// The timer runs from now.
    fn arm_tcp(&mut self, flow: u32) {
        if let Some(sender) = self.transports.tcp.senders.get(flow) {
            self.set_timer(flow, self.now.saturating_add(sender.timeout()));
        }
    }

    /// A handshake has reached the receiver.
    pub(super) fn tcp_syn(&mut self, port: u32, id: u32) {
        let prio = self.pool[id].prio;
        self.turn_back(id, Kind::SynAck, 0, prio, false);
        self.send_made(port, id);
    }

    /// A handshake is over.
    pub(super) fn tcp_syn_ack(&mut self, id: u32) {
        let packet = self.pool[id];
        let Some(sender) = self.transports.tcp.senders.get_mut(packet.flow) else { return };
        if sender.phase == Phase::Handshake {
            sender.on_syn_ack(self.now - packet.stamp);
            self.set_timer(packet.flow, u64::MAX);
            self.pump_tcp(packet.flow);
        }
    }

    /// Sends what may be sent.
    fn pump_tcp(&mut self, flow: u32) {
        let port = self.transports.ports[flow as usize];
        while let Some(sender) = self.transports.tcp.senders.get_mut(flow)
            && let Some(segment) = sender.next_segment()
        {
            sender.give(Some(segment));
            let tells = !segment.again && std::mem::take(&mut sender.tells_reduction);
            let mut packet = self.make_segment(flow, segment);
            packet.stamp = self.now;
            if self.tcp_params(flow).listens() {
                packet.flags &= !flag::NOT_ECT;
                packet.flags |= if tells { flag::CWR } else { 0 };
            }
            if self.transports.timers.deadline(flow) == u64::MAX {
                self.arm_tcp(flow);
            }
            self.send(port, packet);
        }
    }

    pub(super) fn tcp_segment(&mut self, port: u32, id: u32) {
        let packet = self.pool[id];
        let flow = packet.flow;
        let size = self.flows.flows[flow as usize].size.0;
        let Room::Tcp(params) = self.transports.room(flow) else { unreachable!("TCP's packet, TCP's flow") };
        let room = &mut self.transports.tcp;
        let params = &room.params[usize::from(params)];
        let receiver = &mut room.receivers[flow as usize];
        receiver.port = port;
        let verdict = receiver.take(&packet, size, params);
        let (whole, delay) = (receiver.next() == size, params.delayed_ack);
        let waits = verdict.answer.is_none() && receiver.begins_to_wait();
        if waits && let Some(delay) = delay {
            receiver.due = self.now + delay.0;
            self.plan(self.ports[port as usize].owner, self.now + delay.0, Job::DelayedAck(flow));
        }
        self.count_duplicate(flow, verdict.new);
        if whole {
            self.deliver(flow);
        }
        if let Some(answer) = verdict.first {
            self.send_tcp_ack(port, flow, answer);
        }
        match verdict.answer {
            Some(answer) => {
                self.turn_back(id, Kind::SegmentAck, answer.next, packet.prio, answer.echo);
                self.pool[id].stamp = answer.stamp;
                self.tell_stretches(id);
                self.send_made(port, id);
            }
            None => self.pool.release(id),
        }
    }

    /// Makes an acknowledgement of its own.
    fn send_tcp_ack(&mut self, port: u32, flow: u32, answer: Answer) {
        let prio = self.flows.flows[flow as usize].priority;
        let mut packet = self.make_back(flow, Kind::SegmentAck, prio);
        packet.seq = answer.next;
        packet.stamp = answer.stamp;
        packet.flags |= if answer.echo { flag::ECHO } else { 0 };
        let id = self.pool.alloc(packet);
        self.tell_stretches(id);
        self.send_made(port, id);
    }

    /// Adds to an acknowledgement what has come beyond the gap.
    fn tell_stretches(&mut self, id: u32) {
        let flow = self.pool[id].flow;
        let Room::Tcp(params) = self.transports.room(flow) else { unreachable!("TCP's packet, TCP's flow") };
        let room = &self.transports.tcp;
        let params = &room.params[usize::from(params)];
        if params.sack {
            self.pool.set_ranges(id, room.receivers[flow as usize].stretches(params.sack_blocks));
        }
    }

    /// A receiver has waited long enough for another segment.
    pub(super) fn tcp_delayed_ack(&mut self, flow: u32) {
        let receiver = &mut self.transports.tcp.receivers[flow as usize];
        if receiver.due == self.now
            && let Some(answer) = receiver.answer()
        {
            let port = receiver.port;
            self.send_tcp_ack(port, flow, answer);
        }
    }

    pub(super) fn tcp_ack(&mut self, id: u32) {
        let packet = self.pool[id];
        let Some(sender) = self.transports.tcp.senders.get_mut(packet.flow) else { return };
        let heard = Heard {
            now: Time(self.now),
            next: packet.seq,
            beyond: self.pool.ranges(id),
            rtt: self.now - packet.stamp,
            marked: packet.flags & flag::ECHO != 0,
        };
        let record = &mut self.flow_records[packet.flow as usize];
        record.marks += u64::from(heard.marked);
        let advanced = sender.on_ack(&heard);
        let goes_on = advanced || sender.heeds_duplicates();
        if sender.is_done() {
            return self.end_tcp(packet.flow);
        }
        let come = sender.come();
        self.acknowledge(packet.flow, come);
        if advanced {
            self.arm_tcp(packet.flow);
        }
        if goes_on {
            self.pump_tcp(packet.flow);
        }
    }

    /// All that a flow was to send is acknowledged.
    fn end_tcp(&mut self, flow: u32) {
        if let Some(sender) = self.transports.tcp.senders.get(flow) {
            let size = sender.packets.size;
            self.transports.tcp.senders.remove(flow);
            self.acknowledge(flow, size);
            self.deliver(flow);
            self.end_in_room(flow);
        }
    }

    /// A flow sends nothing new any more.
    pub(super) fn stop_tcp(&mut self, flow: u32) {
        if let Some(sender) = self.transports.tcp.senders.get_mut(flow) {
            sender.stop();
            if sender.is_done() {
                self.end_tcp(flow);
            }
        }
    }

    /// A packet of a flow has left its host. If the timer has gone off meanwhile, it runs from now.
    pub(super) fn tcp_left_host(&mut self, flow: u32) {
        let Some(sender) = self.transports.tcp.senders.get_mut(flow) else { return };
        sender.leave();
        if self.transports.timers.deadline(flow) == u64::MAX {
            self.arm_tcp(flow);
        }
    }

    /// Nothing was heard for the timeout. What still waits in the host's own queue is not sent again (Linux:
    /// `skb_still_in_host_queue`): a host that does so fills its queue with copies, the longer it is the faster.
    pub(super) fn tcp_timer(&mut self, flow: u32) {
        let Some(sender) = self.transports.tcp.senders.get_mut(flow) else { return };
        if sender.first_waits() {
            return;
        }
        sender.on_timeout();
        let in_handshake = sender.phase == Phase::Handshake;
        self.flow_records[flow as usize].timeouts += 1;
        if in_handshake {
            return self.send_syn(flow);
        }
        self.arm_tcp(flow);
        self.pump_tcp(flow);
    }
}
