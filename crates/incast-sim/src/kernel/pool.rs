//! Packet pool: a cache line per packet and a last-in-first-out free list, so that packets in use stay in cache.
//!
//! [`Packet::next`] links lists of packets (queues, wires). INT records and SACK blocks are outside the packets, in runs that
//! use them.

use crate::congestion::IntRecord;

/// Byte range without its end.
pub(crate) type Range = (u64, u64);

/// End of a list.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Data,
    Ack,
    Nack,
    Cnp,
    /// Data of a transport other than RDMA.
    Segment,
    SegmentAck,
    /// TCP: connection request.
    Syn,
    SynAck,
    Probe,
    /// pHost: request to send.
    Rts,
    /// pHost: permission to send a packet.
    Token,
    /// Fastpass: request to the arbiter.
    Request,
    /// Fastpass: timeslots.
    Schedule,
    /// PFC frame: `in_prio` is the class; with [`flag::XOFF`] pause, otherwise resume.
    Pfc,
    /// Packet on the wire of a link that failed: never arrives.
    Lost,
    /// Hypervisors: offer of a pair's sender.
    Offer,
    /// Hypervisors: offer and share of a pair's receiver.
    Share,
    /// Hypervisors: lost and marked packets.
    Feedback,
    /// Hypervisors: a receiver's rate.
    Rate,
    /// Congestion isolation: with [`flag::XOFF`] isolates a flow, otherwise releases it.
    Isolation,
}

impl Kind {
    /// Returns true in the direction of the flow's data.
    #[inline]
    pub(crate) const fn is_forward(self) -> bool {
        matches!(self, Self::Data | Self::Segment | Self::Syn | Self::Probe | Self::Rts | Self::Request | Self::Offer)
    }
}

impl Kind {
    /// True if the sender of a packet with these flags reacts to marks. (RDMA's packets use the bit of [`flag::NOT_ECT`] for something
    /// else.)
    #[inline]
    pub(crate) const fn understands_marks(self, flags: u8) -> bool {
        matches!(self, Self::Data | Self::Ack | Self::Nack | Self::Cnp) || flags & flag::NOT_ECT == 0
    }
}

/// Bits of [`Packet::flags`].
pub(crate) mod flag {
    /// Congestion experienced.
    pub(crate) const CE: u8 = 1;
    /// Answers a marked packet.
    pub(crate) const ECHO: u8 = 2;
    /// Pause; otherwise resume.
    pub(crate) const XOFF: u8 = 4;
    pub(crate) const INT: u8 = 8;
    /// Follows an explicit path.
    pub(crate) const PATH: u8 = 16;
    pub(crate) const STAMP: u8 = 32;
    pub(crate) const PINT: u8 = 64;
    // For segments and their answers only: in PFC frames and RDMA packets these bits have other meanings.

    /// [`Packet::stamp`](super::Packet::stamp) is a pFabric rank.
    pub(crate) const RANKED: u8 = 4;
    /// The sender reduced its window.
    pub(crate) const CWR: u8 = 2;
    /// Not ECN-capable.
    pub(crate) const NOT_ECT: u8 = 32;
    /// Of segments: [`Packet::stamp`](super::Packet::stamp) is the number of the packet's own path.
    pub(crate) const OWN_PATH: u8 = 64;
}

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Packet {
    /// On a wire: arrival of the next packet, in ps. Stored here so that scheduling the arrival does not touch the next packet.
    pub(crate) next_arrive: u64,
    /// On a wire: rank of the next packet's arrival.
    pub(crate) next_rank: u64,
    /// Data: first byte. ACK, NACK: next byte expected. PFC: ingress bytes that caused it.
    pub(crate) seq: u64,
    /// Data: begin of transmission, echoed by ACKs. PFC: culprit port.
    pub(crate) stamp: u64,
    /// Next in the list.
    pub(crate) next: u32,
    pub(crate) flow: u32,
    pub(crate) src: u32,
    /// PFC: root of the pause (`measure/blocking.rs`), if measured; [`NONE`] otherwise.
    pub(crate) dst: u32,
    /// Ingress port at the switch.
    pub(crate) in_port: u32,
    /// Wire bytes.
    pub(crate) size: u16,
    /// Data: payload bytes. NACK: packets between the expected and the received one.
    pub(crate) payload: u16,
    pub(crate) kind: Kind,
    /// Priority at the egress and on the wire.
    pub(crate) prio: u8,
    /// Ingress priority at the switch.
    pub(crate) in_prio: u8,
    pub(crate) flags: u8,
    /// Largest utilisation on the path (PINT's power).
    pub(crate) pint: u16,
    /// INT records; also not 0 with SACK blocks.
    pub(crate) records: u8,
    /// Nodes that forwarded it.
    pub(crate) hops: u8,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    pub(crate) const EMPTY: Self = Self {
        next_arrive: 0,
        next_rank: 0,
        seq: 0,
        stamp: 0,
        next: NONE,
        flow: NONE,
        src: 0,
        dst: 0,
        in_port: 0,
        size: 0,
        payload: 0,
        kind: Kind::Data,
        prio: 0,
        in_prio: 0,
        flags: 0,
        pint: 0,
        records: 0,
        hops: 0,
    };
}

#[derive(Debug)]
pub(crate) struct Pool {
    packets: Vec<Packet>,
    free: u32,
    /// INT records, `stride` per packet.
    records: Vec<IntRecord>,
    stride: usize,
    /// SACK blocks by packet, in runs with them.
    ranges: Vec<Vec<Range>>,
    ranged: bool,
    /// Sequence numbers in pairs by packet, in runs with hypervisors.
    tickets: Vec<u32>,
}

impl Pool {
    /// `stride`: INT records per packet; `ranged`: with SACK blocks.
    pub(crate) fn new(stride: usize, ranged: bool) -> Self {
        Self {
            packets: Vec::new(),
            free: NONE,
            records: Vec::new(),
            stride,
            ranges: Vec::new(),
            ranged,
            tickets: Vec::new(),
        }
    }

    /// Maximum number of packets at one time.
    pub(crate) fn peak(&self) -> u64 {
        self.packets.len() as u64
    }

    #[inline]
    pub(crate) fn alloc(&mut self, packet: Packet) -> u32 {
        let id = self.free;
        if id == NONE {
            return self.grow(packet);
        }
        let slot = &mut self.packets[id as usize];
        self.free = slot.next;
        *slot = packet;
        id
    }

    #[cold]
    fn grow(&mut self, packet: Packet) -> u32 {
        self.packets.push(packet);
        self.records.resize(self.packets.len() * self.stride, IntRecord::default());
        if self.ranged {
            self.ranges.push(Vec::new());
        }
        self.packets.len() as u32 - 1
    }
}

impl std::ops::Index<u32> for Pool {
    type Output = Packet;
    #[inline]
    fn index(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Pool {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.packets[id as usize]
    }
}
