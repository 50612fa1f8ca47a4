//! Packet pool: one cache line per packet, with a last-in-first-out free list, so that packets in use stay in cache.
//!
//! Lists of packets (queues, wires) are linked by [`Packet::next`]. Rare data (INT records, SACK blocks) is outside the
//! packets, only in runs that use it.

use crate::congestion::IntRecord;
use crate::transport::Range;

/// No packet, no node: end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// Kind of packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Data,
    Ack,
    Nack,
    Cnp,
    /// Data of a transport other than RDMA.
    Segment,
    /// Answer to a segment.
    SegmentAck,
    /// TCP: connection request.
    Syn,
    /// TCP: answer to `Syn`.
    SynAck,
    /// pFabric: probe.
    Probe,
    /// pHost: request to send.
    Rts,
    /// pHost: permission for one packet.
    Token,
    /// Fastpass: request for timeslots.
    Request,
    /// Fastpass: timeslots from the arbiter.
    Schedule,
    /// A PFC frame: `in_prio` is the class; pause with [`flag::XOFF`], otherwise resume.
    Pfc,
    /// Packet that was on the wire of a link when it failed: never arrives.
    Lost,
    /// Hypervisors: offer of a pair's sender.
    Offer,
    /// Hypervisors: offer and share of a pair's receiver.
    Share,
    /// Hypervisors: losses and marks.
    Feedback,
    /// Hypervisors: a receiver's rate.
    Told,
    /// A congestion isolation message: isolates a flow with [`flag::XOFF`], otherwise releases it.
    Isolation,
}

impl Kind {
    /// Returns true in the direction of the flow's data, false in the other.
    #[inline]
    pub(crate) const fn is_forward(self) -> bool {
        matches!(self, Self::Data | Self::Segment | Self::Syn | Self::Probe | Self::Rts | Self::Request | Self::Offer)
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
    /// Collects INT.
    pub(crate) const INT: u8 = 8;
    /// Follows its flow's explicit path.
    pub(crate) const PATH: u8 = 16;
    /// Carries a time stamp.
    pub(crate) const STAMP: u8 = 32;
    /// Carries PINT.
    pub(crate) const PINT: u8 = 64;
    /// Cut-through: the last bit has arrived, because the first bits were not enough.
    pub(crate) const WHOLE: u8 = 128;

    // Only segments and their answers; PFC frames and RDMA packets use these bits otherwise.

    /// [`Packet::stamp`](super::Packet::stamp) is the rank in a pFabric queue.
    pub(crate) const RANKED: u8 = 4;
    /// The sender of the segment has reduced its congestion window.
    pub(crate) const CWR: u8 = 2;
    /// Not ECN-capable: switches do not mark the packet.
    pub(crate) const NOT_ECT: u8 = 32;
}

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Packet {
    /// On a wire: arrival of the next packet at the far end, in ps. Stored here so that the next packet's event does not touch
    /// the next packet.
    pub(crate) next_arrive: u64,
    /// On a wire: rank of the next packet's arrival.
    pub(crate) next_rank: u64,
    /// Data: first byte. ACK, NACK: next byte expected. PFC: ingress bytes that caused the frame.
    pub(crate) seq: u64,
    /// Data: begin of transmission, echoed by ACKs. PFC: culprit port.
    pub(crate) stamp: u64,
    /// Next packet in the list.
    pub(crate) next: u32,
    pub(crate) flow: u32,
    /// Sending host.
    pub(crate) src: u32,
    /// Destination host.
    pub(crate) dst: u32,
    /// Ingress port at the present switch.
    pub(crate) in_port: u32,
    /// Wire bytes.
    pub(crate) size: u16,
    /// Data: payload bytes. NACK: packets between the expected and the received one.
    pub(crate) payload: u16,
    pub(crate) kind: Kind,
    /// Egress priority at the present node, and priority on the wire.
    pub(crate) prio: u8,
    /// Ingress priority at the present switch.
    pub(crate) in_prio: u8,
    pub(crate) flags: u8,
    /// Largest utilisation on the path, as PINT's power.
    pub(crate) pint: u16,
    /// Number of INT records; not 0 also with SACK blocks.
    pub(crate) records: u8,
    /// Number of nodes that forwarded the packet.
    pub(crate) hops: u8,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    /// Returns true if the sender reacts to marks. (RDMA packets use the bit of [`flag::NOT_ECT`] otherwise.)
    #[inline]
    pub(crate) const fn understands_marks(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Ack | Kind::Nack | Kind::Cnp) || self.flags & flag::NOT_ECT == 0
    }

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
    /// SACK blocks by packet; empty in runs without.
    ranges: Vec<Vec<Range>>,
    ranged: bool,
    /// Hypervisors' sequence numbers by packet; empty in runs without.
    tickets: Vec<u32>,
}

impl Pool {
    /// `stride`: INT records per packet; `ranged`: packets may have SACK blocks.
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

    /// Maximum number of packets that existed at one time.
    pub(crate) fn peak(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Allocates a packet with the given fields.
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

    #[inline]
    pub(crate) fn release(&mut self, id: u32) {
        self.packets[id as usize].next = self.free;
        self.free = id;
    }

    /// Appends an INT record; with more than `stride` records, overwrites from the first, as ns-3 does.
    #[inline]
    pub(crate) fn push_record(&mut self, id: u32, record: IntRecord) {
        let packet = &mut self.packets[id as usize];
        let slot = usize::from(packet.records) % self.stride;
        packet.records += 1;
        self.records[id as usize * self.stride + slot] = record;
    }

    /// INT records of a packet, in order of its path.
    #[inline]
    pub(crate) fn records(&self, id: u32) -> &[IntRecord] {
        let count = usize::from(self.packets[id as usize].records);
        let first = id as usize * self.stride;
        &self.records[first..first + count.min(self.stride)]
    }
}

impl Pool {
    /// Sets the SACK blocks of a packet without INT.
    pub(crate) fn set_ranges(&mut self, id: u32, ranges: impl IntoIterator<Item = Range>) {
        let of_packet = &mut self.ranges[id as usize];
        of_packet.clear();
        of_packet.extend(ranges);
        if !of_packet.is_empty() {
            self.packets[id as usize].records = 1;
        }
    }

    /// Sets the sequence number in the pair.
    pub(crate) fn set_ticket(&mut self, id: u32, number: u32) {
        let most = self.packets.len();
        if self.tickets.len() < most {
            self.tickets.resize(most, 0);
        }
        self.tickets[id as usize] = number;
    }

    pub(crate) fn ticket(&self, id: u32) -> u32 {
        self.tickets[id as usize]
    }

    pub(crate) fn ranges(&self, id: u32) -> &[Range] {
        if self.packets[id as usize].records == 0 { &[] } else { &self.ranges[id as usize] }
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
