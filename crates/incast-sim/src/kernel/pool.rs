//! Packets: one cache line each, in a pool with a last-in-first-out free list, so that the packets in use stay in cache.
//!
//! Lists of packets (queues, wires) are threaded through [`Packet::next`]. What few packets carry lies beside the pool and
//! exists only in runs that use it: INT records, and the stretches of a selective acknowledgement.

use crate::congestion::IntRecord;
use crate::transport::Range;

/// No packet, no node: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Data,
    Ack,
    Nack,
    Cnp,
    /// Data of a transport other than RDMA.
    Segment,
    /// What such a transport's receiver answers a segment with.
    SegmentAck,
    /// TCP: may I send?
    Syn,
    /// TCP: you may.
    SynAck,
    /// pFabric: is anybody there?
    Probe,
    /// pHost: a flow has something to send.
    Rts,
    /// pHost: one packet may be sent.
    Token,
    /// Fastpass: a host asks the arbiter for slots.
    Request,
    /// Fastpass: the arbiter gives them.
    Schedule,
    /// A PFC frame: `in_prio` is the class, [`flag::XOFF`] tells pause from resume.
    Pfc,
    /// Whatever was on the wire of a link that went down: it arrives nowhere.
    Lost,
    /// Hypervisors: what the sender of a pair would give it.
    Offer,
    /// Hypervisors: what its receiver would, and does.
    Share,
    /// Hypervisors: what has been lost or marked.
    Feedback,
    /// Hypervisors: a receiver's rate.
    Told,
    /// A congestion isolation message: [`flag::XOFF`] tells whether the flow is to be isolated, or let go.
    Isolation,
}

impl Kind {
    /// Whether it goes the way of its flow's data; the rest goes back.
    #[inline]
    pub(crate) const fn is_forward(self) -> bool {
        matches!(self, Self::Data | Self::Segment | Self::Syn | Self::Probe | Self::Rts | Self::Request | Self::Offer)
    }
}

/// Bits of [`Packet::flags`].
pub(crate) mod flag {
    /// Congestion experienced.
    pub(crate) const CE: u8 = 1;
    /// An ACK that answers a marked packet.
    pub(crate) const ECHO: u8 = 2;
    /// A pause, not a resume.
    pub(crate) const XOFF: u8 = 4;
    /// Collects INT.
    pub(crate) const INT: u8 = 8;
    /// Follows its flow's explicit path.
    pub(crate) const PATH: u8 = 16;
    /// Carries a time stamp.
    pub(crate) const STAMP: u8 = 32;
    /// Carries PINT.
    pub(crate) const PINT: u8 = 64;
    /// Under cut-through: has come to its last bit, where its first ones were not enough.
    pub(crate) const WHOLE: u8 = 128;

    // Of segments and what answers them, which are neither PFC frames nor RDMA's.

    /// [`Packet::stamp`](super::Packet::stamp) is its rank in a pFabric queue.
    pub(crate) const RANKED: u8 = 4;
    /// A segment whose sender has reduced its congestion window.
    pub(crate) const CWR: u8 = 2;
    /// Its sender does not understand marks: it is not marked.
    pub(crate) const NOT_ECT: u8 = 32;
}

/// One packet.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Packet {
    /// On a wire: when the packet behind it reaches the far end, in ps. Kept here so that the event of that packet can be
    /// made without touching it.
    pub(crate) next_arrive: u64,
    /// On a wire: rank of that event.
    pub(crate) next_rank: u64,
    /// Data: first byte. ACK, NACK: next byte expected. PFC: ingress bytes that caused it.
    pub(crate) seq: u64,
    /// Data: when its transmission began, echoed by ACKs. PFC: the port culprit.
    pub(crate) stamp: u64,
    /// The packet behind it in its list.
    pub(crate) next: u32,
    pub(crate) flow: u32,
    /// Host that sends it.
    pub(crate) src: u32,
    /// Host it is for.
    pub(crate) dst: u32,
    /// Port at which it entered the switch that holds it.
    pub(crate) in_port: u32,
    /// Wire bytes.
    pub(crate) size: u16,
    /// Data: payload bytes. NACK: packets between the expected one and the one that came.
    pub(crate) payload: u16,
    pub(crate) kind: Kind,
    /// Egress priority at the node that holds it, and its priority on the wire.
    pub(crate) prio: u8,
    /// Priority with which it arrived at the switch that holds it.
    pub(crate) in_prio: u8,
    pub(crate) flags: u8,
    /// Largest utilisation on its way, as PINT's power.
    pub(crate) pint: u16,
    /// INT records it carries; other than 0 also if it has stretches beside the pool.
    pub(crate) records: u8,
    /// Nodes that have forwarded it.
    pub(crate) hops: u8,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    /// Whether a mark means anything to who sent it. (RDMA's packets use the bit of [`flag::NOT_ECT`] for something else.)
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

/// All packets of a run.
#[derive(Debug)]
pub(crate) struct Pool {
    packets: Vec<Packet>,
    free: u32,
    /// INT records by packet, `stride` each.
    records: Vec<IntRecord>,
    stride: usize,
    /// Stretches by packet; empty in runs without.
    ranges: Vec<Vec<Range>>,
    ranged: bool,
    /// Numbers that hypervisors gave packets; empty in runs without.
    tickets: Vec<u32>,
}

impl Pool {
    /// An empty pool whose packets have room for `stride` INT records, and for stretches if `ranged`.
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

    /// Most packets that existed at once.
    pub(crate) fn peak(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Takes a packet out of the pool; all fields are as given.
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

    /// Puts a packet back.
    #[inline]
    pub(crate) fn release(&mut self, id: u32) {
        self.packets[id as usize].next = self.free;
        self.free = id;
    }

    /// Appends an INT record to a packet; one beyond the room overwrites from the front, as the reference does.
    #[inline]
    pub(crate) fn push_record(&mut self, id: u32, record: IntRecord) {
        let packet = &mut self.packets[id as usize];
        let slot = usize::from(packet.records) % self.stride;
        packet.records += 1;
        self.records[id as usize * self.stride + slot] = record;
    }

    /// The INT records of a packet, in order of its path.
    #[inline]
    pub(crate) fn records(&self, id: u32) -> &[IntRecord] {
        let count = usize::from(self.packets[id as usize].records);
        let first = id as usize * self.stride;
        &self.records[first..first + count.min(self.stride)]
    }
}

impl Pool {
    /// Gives a packet without INT its stretches.
    pub(crate) fn set_ranges(&mut self, id: u32, ranges: impl IntoIterator<Item = Range>) {
        let of_packet = &mut self.ranges[id as usize];
        of_packet.clear();
        of_packet.extend(ranges);
        if !of_packet.is_empty() {
            self.packets[id as usize].records = 1;
        }
    }

    /// Gives a packet its number in its pair.
    pub(crate) fn set_ticket(&mut self, id: u32, number: u32) {
        let most = self.packets.len();
        if self.tickets.len() < most {
            self.tickets.resize(most, 0);
        }
        self.tickets[id as usize] = number;
    }

    /// The number that a packet was given.
    pub(crate) fn ticket(&self, id: u32) -> u32 {
        self.tickets[id as usize]
    }

    /// The stretches of a packet.
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
