//! What a transport sees of its host: its flows, the clock, timers, and packets that arrive or leave.
//!
//! An endpoint reads and writes nothing else, so it runs on any host that has a stack, and in tests on none.

use incast_model::flow::Flow;

use super::segments::{Packets, Segment};
use super::{Job, Range};
use crate::host::PacketParams;
use crate::kernel::{Kind, flag};

/// A packet that has reached its host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) kind: Kind,
    /// Its flow, by its number in the run.
    pub(crate) flow: u32,
    /// Its flow, by its number at this host.
    pub(crate) own: u32,
    /// NIC by which it arrived.
    pub(crate) nic: u32,
    pub(crate) seq: u64,
    pub(crate) stamp: u64,
    /// Payload in bytes.
    pub(crate) payload: u64,
    pub(crate) prio: u8,
    /// [`flag`] bits.
    pub(crate) flags: u8,
    /// True if it took a path of its own ([`Path::Number`]).
    pub(crate) own_path: bool,
    /// Byte ranges of a selective acknowledgement, slots of a schedule.
    pub(crate) ranges: &'a [Range],
}

/// The path of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// The one that its flow was given; without one, any.
    OfFlow,
    /// Any.
    Any,
    /// At each choice the next hop of this number, from 1.
    Number(u16),
}

/// A packet to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    pub(crate) kind: Kind,
    pub(crate) seq: u64,
    pub(crate) stamp: u64,
    /// Payload in bytes.
    pub(crate) payload: u16,
    /// Wire bytes.
    pub(crate) size: u16,
    pub(crate) prio: u8,
    /// [`flag`] bits but [`flag::PATH`].
    pub(crate) flags: u8,
    pub(crate) path: Path,
}

/// Where a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    /// To the receiver of a flow that this host sends, by that flow's NIC.
    Receiver(u32),
    /// To the sender of a flow that this host receives, by this NIC.
    Sender(u32, u32),
    /// To a host, about a flow by its number in the run, by this NIC.
    Host(u32, u32, u32),
}

/// A host as its transports see it. Flows have numbers of the host's own: one for each that it sends, one for each that it receives.
pub(crate) trait Stack {
    /// Simulated time in ps.
    fn now(&self) -> u64;
    /// Sizes of packets.
    fn sizes(&self) -> &PacketParams;
    /// A flow that this host sends.
    fn sent(&self, own: u32) -> &Flow;
    /// A flow that this host receives.
    fn received(&self, own: u32) -> &Flow;
    /// A flow by its number in the run.
    fn flow(&self, flow: u32) -> &Flow;
    /// The own number of a flow that this host sends.
    fn number_of(&self, flow: u32) -> u32;
    /// The number in the run of a flow that this host sends.
    fn flow_of(&self, own: u32) -> u32;
    /// NIC by which a flow is sent.
    fn nic_of(&self, own: u32) -> u32;

    /// Picoseconds that `bytes` take on the wire of a NIC.
    fn wire_time(&self, nic: u32, bytes: u64) -> u64;
    /// The same with the gap behind a packet.
    fn busy_time(&self, nic: u32, bytes: u64) -> u64;
    /// Rate of a NIC's link in bit/s; for a VM that of its server's link.
    fn line(&self, nic: u32) -> u64;
    /// Picoseconds from when a full packet begins to leave until it may begin on the last link of its path.
    fn time_to_last_link(&self, own: u32) -> u64;
    /// Hosts of the fabric.
    fn hosts(&self) -> usize;
    /// The host of a NIC.
    fn host_of(&self, nic: u32) -> u32;

    /// Sends a packet, once the handler is done.
    fn send(&mut self, to: To, packet: Outgoing, ranges: impl IntoIterator<Item = Range>);
    /// Lets a NIC send, once the handler is done.
    fn kick(&mut self, nic: u32);
    /// True if a flow that ignores congestion may send; if not, it is resumed when it may.
    fn may_send(&mut self, own: u32) -> bool;
    /// Counts packets that such a flow did not send.
    fn count_refused(&mut self, own: u32, packets: u64);

    /// When a flow's timer expires, in ps; [`u64::MAX`] for never.
    fn timer(&self, own: u32) -> u64;
    /// Sets a flow's timer, or stops it with [`u64::MAX`].
    fn set_timer(&mut self, own: u32, deadline: u64);
    /// Puts a task into the timer queue of a NIC's host.
    fn plan(&mut self, nic: u32, time: u64, job: Job);

    /// Counts a data packet sent.
    fn count_packet(&mut self, own: u32, again: bool);
    /// Counts a congestion mark that came back to the sender.
    fn count_mark(&mut self, own: u32);
    /// Counts a timeout of a flow.
    fn count_timeout(&mut self, own: u32);
    /// The sender of a flow knows that so many of its bytes have arrived.
    fn acknowledge(&mut self, own: u32, bytes: u64);
    /// A flow has ended at its sender.
    fn end(&mut self, own: u32);
    /// The sender of a flow without a size knows that all of it has arrived.
    fn deliver_sent(&mut self, own: u32);

    /// Counts a data packet with nothing new in it at its receiver.
    fn count_discarded(&mut self, own: u32);
    /// All of a flow has arrived.
    fn deliver(&mut self, own: u32);
    /// True if all of a flow has arrived.
    fn is_delivered(&self, own: u32) -> bool;
    /// Counts bytes that arrive and are never acknowledged; how many there are now.
    fn count_arrived(&mut self, own: u32, bytes: u64) -> u64;
    /// Bytes of a flow without acknowledgements that have arrived, where the run records samples.
    fn sampled_arrivals(&self, own: u32) -> Option<u64>;

    /// A flow that this host sends, in packets.
    fn packets_sent(&self, own: u32) -> Packets {
        Packets { size: self.sent(own).size.0, mss: self.sizes().mss.0 }
    }

    /// A flow that this host receives, in packets.
    fn packets_received(&self, own: u32) -> Packets {
        Packets { size: self.received(own).size.0, mss: self.sizes().mss.0 }
    }

    /// Wire bytes of a full data packet.
    fn full_size(&self) -> u64 {
        self.sizes().mss.0 + self.sizes().segment_header.0
    }

    /// Makes a data packet of a flow, and counts it as sent.
    fn segment(&mut self, own: u32, segment: Segment) -> Outgoing {
        self.count_packet(own, segment.again);
        Outgoing {
            kind: Kind::Segment,
            seq: segment.seq,
            stamp: 0,
            payload: segment.len as u16,
            size: (segment.len + self.sizes().segment_header.0) as u16,
            prio: self.sent(own).priority,
            flags: flag::NOT_ECT,
            path: Path::OfFlow,
        }
    }

    /// Makes a control packet.
    fn control(&self, kind: Kind, prio: u8) -> Outgoing {
        let size = self.sizes().control.0 as u16;
        Outgoing { kind, seq: 0, stamp: 0, payload: 0, size, prio, flags: flag::NOT_ECT, path: Path::OfFlow }
    }

    /// Makes the answer to a packet: its time stamp comes back, and its mark if `echo`.
    fn answer(&self, packet: &Incoming<'_>, kind: Kind, seq: u64, prio: u8, echo: bool) -> Outgoing {
        let mut answer = Outgoing { seq, stamp: packet.stamp, ..self.control(kind, prio) };
        // A path of the packet's own is not its answer's.
        answer.path = if packet.own_path { Path::Any } else { Path::OfFlow };
        answer.flags |= if echo { flag::ECHO } else { 0 };
        answer
    }

    /// The sender of a flow knows that all of it has arrived.
    fn finish(&mut self, own: u32) {
        self.acknowledge(own, self.sent(own).size.0);
        self.end(own);
    }

    /// Counts a data packet as discarded if nothing in it was new.
    fn count_duplicate(&mut self, own: u32, new_bytes: u64) {
        if new_bytes == 0 {
            self.count_discarded(own);
        }
    }
}
