//! Packets: one cache line each, in a pool with a last-in-first-out free list, so that the packets in use stay in cache.
//!
//! Lists of packets (queues, wires) are threaded through [`Packet::next`]. INT records lie beside the pool and exist only
//! in runs that use them.

use crate::congestion::IntRecord;

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
    /// A PFC frame: `in_prio` is the class, [`flag::XOFF`] tells pause from resume.
    Pfc,
    /// Whatever was on the wire of a link that went down: it arrives nowhere.
    Lost,
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
    /// Data: when its transmission began, echoed by ACKs. PFC: the port blamed.
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
    /// INT records it carries.
    pub(crate) records: u8,
    /// Nodes that have forwarded it.
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

/// All packets of a run.
#[derive(Debug)]
pub(crate) struct Pool {
    packets: Vec<Packet>,
    free: u32,
    /// INT records by packet, `stride` each.
    records: Vec<IntRecord>,
    stride: usize,
}

impl Pool {
    /// An empty pool whose packets have room for `stride` INT records.
    pub(crate) fn new(stride: usize) -> Self {
        Self { packets: Vec::new(), free: NONE, records: Vec::new(), stride }
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
