//! What happens to flows and packets of the rooms: who is told.

use incast_model::units::Time;

use super::{Job, Transport};
use crate::host::End;
use crate::kernel::{Kind, NONE};
use crate::network::Network;

/// The room that a flow is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// None of these: it is RDMA's.
    Rdma,
    /// With the number of its parameters among the setup's transports.
    Tcp(u8),
    Pfabric(u8),
    Phost,
    Fastpass,
    Ideal,
    Udp(u8),
}

impl Room {
    /// The room of a transport, number `index` of the setup's.
    pub(super) fn of(transport: &Transport, index: usize) -> Self {
        let index = index as u8;
        match transport {
            Transport::Tcp(_) => Self::Tcp(index),
            Transport::Pfabric(_) => Self::Pfabric(index),
            Transport::Phost(_) => Self::Phost,
            Transport::Fastpass(_) => Self::Fastpass,
            Transport::Ideal(_) => Self::Ideal,
            Transport::Udp(_) => Self::Udp(index),
        }
    }
}

impl Network {
    /// A flow of a room starts.
    pub(crate) fn start_in_room(&mut self, flow: u32, room: Room) {
        let port = self.first_port(flow);
        self.transports.ports[flow as usize] = port;
        self.flow_records[flow as usize].start = Some(Time(self.now));
        if let Some(until) = self.flows.flows[flow as usize].until {
            self.plan(self.ports[port as usize].owner, until.0.max(self.now), Job::Stop(flow));
        }
        match room {
            Room::Rdma => unreachable!("RDMA's flows have queue pairs"),
            Room::Tcp(params) => self.start_tcp(flow, params),
            Room::Pfabric(params) => self.start_pfabric(flow, params),
            Room::Phost => self.start_phost(flow),
            Room::Fastpass => self.start_fastpass(flow),
            Room::Ideal => self.start_ideal(flow),
            Room::Udp(params) => self.start_udp(flow, params),
        }
    }

    /// A packet of a room has reached a host by `port`.
    #[inline]
    pub(crate) fn receive_in_room(&mut self, port: u32, id: u32) {
        let packet = &self.pool[id];
        let (kind, room) = (packet.kind, self.transports.room(packet.flow));
        match (room, kind) {
            (Room::Tcp(_), Kind::Segment) => return self.tcp_segment(port, id),
            (Room::Tcp(_), Kind::SegmentAck) => self.tcp_ack(id),
            (Room::Tcp(_), Kind::Syn) => return self.tcp_syn(port, id),
            (Room::Tcp(_), Kind::SynAck) => self.tcp_syn_ack(id),
            (Room::Pfabric(_), Kind::Segment | Kind::Probe) => return self.pfabric_segment(port, id),
            (Room::Pfabric(_), Kind::SegmentAck) => self.pfabric_ack(id),
            (Room::Phost, Kind::Rts) => self.phost_rts(port, id),
            (Room::Phost, Kind::Token) => self.phost_token(id),
            (Room::Phost, Kind::Segment) => return self.phost_segment(port, id),
            (Room::Phost, Kind::SegmentAck) => self.phost_ack(id),
            (Room::Fastpass, Kind::Request) => self.fastpass_request(id),
            (Room::Fastpass, Kind::Schedule) => self.fastpass_schedule(port, id),
            (Room::Fastpass, Kind::Segment) => return self.fastpass_segment(port, id),
            (Room::Fastpass, Kind::SegmentAck) => self.fastpass_ack(id),
            (Room::Ideal, Kind::Segment) => return self.ideal_segment(port, id),
            (Room::Ideal, Kind::SegmentAck) => self.ideal_ack(id),
            (Room::Udp(_), Kind::Segment) => self.udp_segment(id),
            _ => unreachable!("no room has such a packet"),
        }
        self.pool.release(id);
    }

    /// A packet is no longer in the queue of the host that made it.
    #[inline]
    pub(crate) fn left_host(&mut self, id: u32) {
        let packet = &self.pool[id];
        if matches!(packet.kind, Kind::Segment | Kind::Syn)
            && let (flow, Room::Tcp(_)) = (packet.flow, self.transports.room(packet.flow))
        {
            self.tcp_left_host(flow);
        }
    }

    /// The timer of a flow of a room.
    pub(crate) fn timer_in_room(&mut self, flow: u32, room: Room) {
        if !self.timer_is_due(flow) {
            return;
        }
        match room {
            Room::Tcp(_) => self.tcp_timer(flow),
            Room::Pfabric(_) => self.pfabric_timer(flow),
            Room::Phost => self.phost_timer(flow),
            Room::Fastpass => self.fastpass_timer(flow),
            Room::Ideal => self.ideal_timer(flow),
            Room::Udp(_) => unreachable!("UDP waits for nothing"),
            Room::Rdma => unreachable!("RDMA has timers of its own"),
        }
    }

    /// Something on the agenda of a NIC's host.
    pub(super) fn do_job(&mut self, nic: u32, job: Job) {
        match job {
            Job::DelayedAck(flow) => self.tcp_delayed_ack(flow),
            Job::Token => self.phost_pace(nic),
            Job::Slot(flow, way) => self.fastpass_slot(flow, way),
            Job::Epoch => self.fastpass_epoch(nic),
            Job::Computed => self.fastpass_computed(),
            Job::Turn => self.ideal_turn(nic),
            Job::Blast(flow) => self.send_udp(flow),
            Job::Stop(flow) => self.stop_in_room(flow),
            Job::Release(pair) => self.release_pair(pair),
            Job::Allocate(host) => self.allocate_rates(host),
            Job::Divide(host) => self.divide(host),
            Job::DivideSoon(host) => self.divide_soon(host),
            Job::Meter(host) => self.look_at_meter(host),
        }
    }

    /// The time of a flow without a size is over: it sends nothing new.
    fn stop_in_room(&mut self, flow: u32) {
        match self.transports.room(flow) {
            Room::Tcp(_) => self.stop_tcp(flow),
            Room::Udp(_) => self.end_udp(flow),
            _ => unreachable!("others' flows have sizes"),
        }
    }

    /// The sender of a flow knows that all of it has come.
    pub(super) fn finish_in_room(&mut self, flow: u32) {
        let size = self.flows.flows[flow as usize].size.0;
        self.acknowledge(flow, size);
        self.end_in_room(flow);
    }

    /// A flow is over.
    pub(super) fn end_in_room(&mut self, flow: u32) {
        self.flow_records[flow as usize].finish = Some(Time(self.now));
        self.set_timer(flow, u64::MAX);
        self.flows_done += 1;
        self.pass_gates(flow, End::Acked);
    }

    /// The sender of a flow knows that so many of its bytes have come.
    pub(super) fn acknowledge(&mut self, flow: u32, bytes: u64) {
        let record = &mut self.flow_records[flow as usize];
        self.bytes_acked += bytes.saturating_sub(record.acked);
        record.acked = record.acked.max(bytes);
    }

    /// The port by which the sender of a flow that has started sends.
    pub(crate) fn source_port(&self, flow: u32) -> u32 {
        match self.transports.room(flow) {
            Room::Rdma => self.senders[self.sender_of[flow as usize] as usize].port,
            _ => self.transports.ports[flow as usize],
        }
    }

    /// Whether a flow has started and has not ended.
    pub(crate) fn is_under_way(&self, flow: u32) -> bool {
        match self.transports.room(flow) {
            Room::Rdma => self.sender_of[flow as usize] != NONE,
            _ => {
                let record = &self.flow_records[flow as usize];
                record.start.is_some() && record.finish.is_none()
            }
        }
    }
}
