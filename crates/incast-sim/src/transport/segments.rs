//! Packets of the rooms: made, put into the queue of their host's port, and answered.

use incast_model::units::Bytes;

use crate::kernel::{Kind, Packet, flag};
use crate::network::Network;

/// A stretch of a flow to be sent in one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Its first byte.
    pub(crate) seq: u64,
    /// Its payload in bytes.
    pub(crate) len: u64,
    /// Whether it, or some of it, has been sent before.
    pub(crate) again: bool,
}

/// A flow in full packets and a last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packets {
    /// Payload of the flow in bytes.
    pub(crate) size: u64,
    /// Payload of a full packet in bytes.
    pub(crate) mss: u64,
}

impl Packets {
    /// How many there are.
    pub(crate) const fn count(&self) -> u64 {
        self.size.div_ceil(self.mss)
    }

    /// The payload of the packet that begins with byte `seq`.
    pub(crate) fn len(&self, seq: u64) -> u64 {
        self.mss.min(self.size - seq)
    }
}

impl Network {
    /// A flow in packets.
    pub(super) fn packets_of(&self, flow: u32) -> Packets {
        Packets { size: self.flows.flows[flow as usize].size.0, mss: self.config.packets.mss.0 }
    }

    /// Makes a packet of data at the sender of a flow, and does not send it.
    pub(super) fn make_segment(&mut self, flow: u32, segment: Segment) -> Packet {
        let spec = &self.flows.flows[flow as usize];
        let record = &mut self.flow_records[flow as usize];
        record.packets += 1;
        record.retransmitted += u64::from(segment.again);
        Packet {
            seq: segment.seq,
            flow,
            src: spec.src.0,
            dst: spec.dst.0,
            size: (segment.len + self.config.packets.segment_header.0) as u16,
            payload: segment.len as u16,
            kind: Kind::Segment,
            prio: spec.priority,
            flags: if spec.path.is_some() { flag::PATH | flag::NOT_ECT } else { flag::NOT_ECT },
            ..Packet::EMPTY
        }
    }

    /// Makes a control packet that goes the way of a flow's data.
    pub(super) fn make_forward(&mut self, flow: u32, kind: Kind, prio: u8) -> Packet {
        let spec = &self.flows.flows[flow as usize];
        let path = if spec.path.is_some() { flag::PATH } else { 0 };
        self.make_control(flow, kind, [spec.src.0, spec.dst.0], prio, path)
    }

    /// Makes a control packet that goes back to the sender of a flow.
    pub(super) fn make_back(&mut self, flow: u32, kind: Kind, prio: u8) -> Packet {
        let spec = &self.flows.flows[flow as usize];
        let path = if spec.path.is_some() { flag::PATH } else { 0 };
        self.make_control(flow, kind, [spec.dst.0, spec.src.0], prio, path)
    }

    /// Makes a control packet about a flow from one host to another.
    pub(crate) fn make_control(&self, flow: u32, kind: Kind, [src, dst]: [u32; 2], prio: u8, path: u8) -> Packet {
        let Bytes(size) = self.config.packets.control;
        Packet { flow, src, dst, size: size as u16, kind, prio, flags: flag::NOT_ECT | path, ..Packet::EMPTY }
    }

    /// Sends a packet by the port of its host; returns its place in the pool, which is void if the port's queue was full.
    pub(super) fn send(&mut self, port: u32, packet: Packet) {
        let id = self.pool.alloc(packet);
        self.send_made(port, id);
    }

    /// Sends a packet that is in the pool.
    pub(super) fn send_made(&mut self, port: u32, id: u32) {
        if self.hypervisors.is_some() { self.pass_limiter(id) } else { self.send_out(port, id) }
    }

    /// Puts a packet into the queue of its host's port, past any hypervisor.
    pub(crate) fn send_out(&mut self, port: u32, id: u32) {
        let packet = &self.pool[id];
        self.ledger.injected[usize::from(packet.prio)] += u64::from(packet.size);
        self.store(port, id, None);
        self.kick_nic(port);
    }

    /// Turns a packet into one of `kind` that goes back to where it came from. What it echoes stays: its stamp, and its mark
    /// if `echo`.
    pub(super) fn turn_back(&mut self, id: u32, kind: Kind, seq: u64, prio: u8, echo: bool) {
        let size = self.config.packets.control.0 as u16;
        let packet = &mut self.pool[id];
        packet.kind = kind;
        packet.seq = seq;
        packet.size = size;
        packet.payload = 0;
        packet.hops = 0;
        packet.records = 0;
        packet.prio = prio;
        // A way that was given to this packet alone is not its answer's.
        let path = if std::mem::take(&mut packet.pint) == 0 { packet.flags & flag::PATH } else { 0 };
        packet.flags = path | flag::NOT_ECT | if echo { flag::ECHO } else { 0 };
        std::mem::swap(&mut packet.src, &mut packet.dst);
    }

    /// Counts a packet of data that had nothing new in it.
    pub(super) fn count_duplicate(&mut self, flow: u32, new_bytes: u64) {
        if new_bytes == 0 {
            self.flow_records[flow as usize].discarded += 1;
        }
    }
}
