//! Interface of a host to its transports.

use incast_model::fabric::PortId;
use incast_model::flow::Flow;

use super::segments::{Packets, Segment};
use super::{Job, Matching};
use crate::host::PacketParams;
use crate::kernel::{FlowId, Kind, LocalPort, Range, ReceivedId, SentId, Word, flag};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) kind: Kind,
    pub(crate) flow: FlowId,
    /// As [`Incoming::sent_flow`] or [`Incoming::received_flow`].
    pub(crate) at_host: u32,
    pub(crate) nic: LocalPort,
    pub(crate) seq: u64,
    pub(crate) word: Word,
    pub(crate) payload: u64,
    pub(crate) prio: u8,
    pub(crate) flags: u8,
    pub(crate) own_path: bool,
    /// SACK blocks, or a schedule's slots.
    pub(crate) ranges: &'a [Range],
}

impl Incoming<'_> {
    #[inline]
    pub(crate) fn received_flow(&self) -> ReceivedId {
        debug_assert!(self.kind.is_forward());
        ReceivedId(self.at_host)
    }

    #[inline]
    pub(crate) fn sent_flow(&self) -> SentId {
        debug_assert!(!self.kind.is_forward());
        SentId(self.at_host)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// The flow's path, or any.
    OfFlow,
    Any,
    /// Next hop by number, from 1, at each choice.
    Number(u16),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    pub(crate) kind: Kind,
    pub(crate) seq: u64,
    pub(crate) word: Word,
    pub(crate) payload: u16,
    pub(crate) size: u16,
    pub(crate) prio: u8,
    /// [`flag`] bits except [`flag::PATH`].
    pub(crate) flags: u8,
    pub(crate) path: Path,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    Receiver(SentId),
    Sender(ReceivedId, LocalPort),
    /// Host, by this NIC, about a flow.
    Host(u32, FlowId, LocalPort),
}

/// Host as seen by its transports. Times in ps.
pub(crate) trait Stack {
    fn now(&self) -> u64;
    fn sizes(&self) -> &PacketParams;
    fn sent(&self, own: SentId) -> &Flow;
    fn received(&self, own: ReceivedId) -> &Flow;
    fn flow(&self, flow: FlowId) -> &Flow;
    fn number_of(&self, flow: FlowId) -> SentId;
    fn flow_of(&self, own: SentId) -> FlowId;
    fn nic_of(&self, own: SentId) -> LocalPort;

    fn wire_time(&self, nic: LocalPort, bytes: u64) -> u64;
    /// Includes the gap behind a packet.
    fn busy_time(&self, nic: LocalPort, bytes: u64) -> u64;
    /// In bit/s; a VM's: of its server's link.
    fn line(&self, nic: LocalPort) -> u64;
    /// From a full packet's start to its earliest start on the path's last link.
    fn time_to_last_link(&self, own: SentId) -> u64;
    fn host_of(&self, nic: LocalPort) -> u32;
    fn port(&self, nic: LocalPort) -> PortId;

    /// With byte ranges. After the handler.
    fn send_with(&mut self, to: To, packet: Outgoing, ranges: Vec<Range>);
    /// After the handler.
    fn kick(&mut self, nic: LocalPort);
    /// If false, the host resumes the flow later.
    fn may_send(&mut self, own: SentId) -> bool;
    fn count_refused(&mut self, own: SentId, packets: u64);

    /// [`u64::MAX`]: never.
    fn timer(&self, own: SentId) -> u64;
    /// [`u64::MAX`] stops it.
    fn set_timer(&mut self, own: SentId, deadline: u64);
    fn plan(&mut self, nic: LocalPort, time: u64, job: Job);
    fn matching(&mut self) -> &mut Matching;
    /// Plans [`Job::Turn`] at the flow's sender.
    fn give_turn(&mut self, flow: FlowId, time: u64);

    /// True if a data packet or handshake of the flow, or the one that begins with byte `first`, is in a queue of this host.
    fn waits(&self, own: SentId, first: Option<u64>) -> bool;
    /// Calls the sender each time such a packet leaves, until [`Stack::unwatch_queue`] or the flow's end.
    fn watch_queue(&mut self, own: SentId);
    fn unwatch_queue(&mut self, own: SentId);

    fn count_packet(&mut self, own: SentId, again: bool);
    fn count_mark(&mut self, own: SentId);
    fn count_timeout(&mut self, own: SentId);
    fn acknowledge(&mut self, own: SentId, bytes: u64);
    fn end(&mut self, own: SentId);
    /// Full delivery, at the sender of a flow without a size.
    fn deliver_sent(&mut self, own: SentId);

    fn count_discarded(&mut self, own: ReceivedId);
    fn deliver(&mut self, own: ReceivedId);
    fn is_delivered(&self, own: ReceivedId) -> bool;
    /// Bytes that no ACK reports to the sender; returns their total.
    fn count_arrived(&mut self, own: ReceivedId, bytes: u64) -> u64;
    fn samples(&self) -> bool;

    fn send(&mut self, to: To, packet: Outgoing) {
        self.send_with(to, packet, Vec::new());
    }

    fn packets_sent(&self, own: SentId) -> Packets {
        Packets { size: self.sent(own).size.0, mss: self.sizes().mss.0 }
    }

    fn packets_received(&self, own: ReceivedId) -> Packets {
        Packets { size: self.received(own).size.0, mss: self.sizes().mss.0 }
    }

    fn full_size(&self) -> u64 {
        self.sizes().mss.0 + self.sizes().segment_header.0
    }

    fn segment(&mut self, own: SentId, segment: Segment) -> Outgoing {
        self.count_packet(own, segment.again);
        Outgoing {
            kind: Kind::Segment,
            seq: segment.seq,
            word: Word::NONE,
            payload: segment.len as u16,
            size: (segment.len + self.sizes().segment_header.0) as u16,
            prio: self.sent(own).priority,
            flags: flag::NOT_ECT,
            path: Path::OfFlow,
        }
    }

    fn control(&self, kind: Kind, prio: u8) -> Outgoing {
        let size = self.sizes().control.0 as u16;
        Outgoing { kind, seq: 0, word: Word::NONE, payload: 0, size, prio, flags: flag::NOT_ECT, path: Path::OfFlow }
    }

    /// Echoes the packet's word, and `echo` as a mark.
    fn answer(&self, packet: &Incoming<'_>, kind: Kind, seq: u64, prio: u8, echo: bool) -> Outgoing {
        let mut answer = Outgoing { seq, word: packet.word, ..self.control(kind, prio) };
        answer.path = if packet.own_path { Path::Any } else { Path::OfFlow };
        answer.flags |= if echo { flag::ECHO } else { 0 };
        answer
    }

    fn finish(&mut self, own: SentId) {
        self.acknowledge(own, self.sent(own).size.0);
        self.end(own);
    }

    fn count_duplicate(&mut self, own: ReceivedId, new_bytes: u64) {
        if new_bytes == 0 {
            self.count_discarded(own);
        }
    }
}
