//! Packets by value: nodes share no packet.

use super::carried::Carried;
use super::run::{carries, has_transports};
use crate::congestion::IntRecord;
use crate::kernel::{
    BlockId, FlowId, IdVec, Kind, LocalPort, NONE, PacketId, Range, ReceivedId, SentId, Word, flag, prefetch,
};
use crate::plan::Forwarded;

/// Some packets have more: [`Carried`]. PFC frames and messages of hypervisors are written and read by
/// [`message`](super::message).
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Packet {
    /// Position in the flow's bytes. Data: the first byte. ACK, NACK: the next byte expected.
    pub(super) seq: u64,
    pub(super) word: Word,
    /// [`FlowId::NONE`] for PFC frames.
    pub(super) flow: FlowId,
    pub(super) dst: u32,
    pub(super) at_dst: AtDst,
    /// At this node.
    pub(super) in_port: LocalPort,
    /// Wire bytes.
    pub(super) size: u16,
    pub(super) extent: Extent,
    pub(super) kind: Kind,
    /// On the wire and in the egress queue.
    pub(super) prio: u8,
    /// On arrival at this node.
    pub(super) in_prio: u8,
    pub(super) flags: u8,
    /// INT records; 1 with PINT, selective acknowledgements and schedules with ranges.
    pub(super) records: u8,
    /// Links crossed, with the current one.
    pub(super) hops: u8,
}

const _: () = assert!(size_of::<Packet>() == 40);

/// Number of the flow at the packet's destination, or between hypervisors of the packet in its pair. Read by
/// [`Packet::received_flow`], [`Packet::sent_flow`] and [`Packet::number_in_pair`].
#[derive(Debug, Clone, Copy)]
pub(super) struct AtDst(u32);

impl AtDst {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn number_in_pair(number: u32) -> Self {
        Self(number)
    }

    /// For a transport, which knows the direction by the kind.
    pub(super) const fn at_host(self) -> u32 {
        self.0
    }
}

impl From<ReceivedId> for AtDst {
    #[inline]
    fn from(flow: ReceivedId) -> Self {
        Self(flow.0)
    }
}

impl From<SentId> for AtDst {
    #[inline]
    fn from(flow: SentId) -> Self {
        Self(flow.0)
    }
}

/// Payload bytes, or of a NACK the packets in the gap. Read by [`Packet::payload`] and [`Packet::gap`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent(u16);

impl Extent {
    pub(super) const NONE: Self = Self(0);

    #[inline]
    pub(super) const fn payload(bytes: u64) -> Self {
        Self(bytes as u16)
    }

    pub(super) const fn gap(packets: u64) -> Self {
        Self(packets as u16)
    }
}

impl Packet {
    pub(super) const EMPTY: Self = Self {
        seq: 0,
        word: Word::NONE,
        flow: FlowId::NONE,
        dst: 0,
        at_dst: AtDst::NONE,
        in_port: LocalPort(0),
        size: 0,
        extent: Extent::NONE,
        kind: Kind::Data,
        prio: 0,
        in_prio: 0,
        flags: 0,
        records: 0,
        hops: 0,
    };
}

impl Packet {
    /// Byte ranges or slots, not INT records.
    #[inline]
    pub(super) const fn has_ranges(&self) -> bool {
        matches!(self.kind, Kind::SegmentAck | Kind::Schedule)
    }

    #[inline]
    pub(super) const fn received_flow(&self) -> ReceivedId {
        debug_assert!(self.kind.is_forward());
        ReceivedId(self.at_dst.0)
    }

    #[inline]
    pub(super) const fn sent_flow(&self) -> SentId {
        debug_assert!(!self.kind.is_forward());
        SentId(self.at_dst.0)
    }

    /// Between hypervisors.
    pub(super) const fn number_in_pair(&self) -> u32 {
        self.at_dst.0
    }

    #[inline]
    pub(super) fn payload(&self) -> u64 {
        debug_assert!(self.kind != Kind::Nack);
        self.extent.0.into()
    }

    /// NACK: packets between the expected and the arrived one. ACK: 0.
    pub(super) const fn gap(&self) -> u16 {
        debug_assert!(matches!(self.kind, Kind::Ack | Kind::Nack));
        self.extent.0
    }

    /// Path that the transport chose for this packet.
    pub(super) const fn own_path(&self) -> Option<u16> {
        let has = matches!(self.kind, Kind::Segment) && self.flags & flag::OWN_PATH != 0;
        if has { Some(self.word.path()) } else { None }
    }
}

impl From<&Packet> for Forwarded {
    fn from(packet: &Packet) -> Self {
        let (flow, dst, back) = (packet.flow, packet.dst, !packet.kind.is_forward());
        Self { flow, dst, back, flags: packet.flags, hops: packet.hops }
    }
}

/// Changes to the copy on the wire: a copy of a whole packet soon after a write to one of its bytes stalls the processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    pub(super) flags: u8,
    /// At the far end.
    pub(super) in_prio: u8,
    /// Record of the switch, and the number of records with it.
    pub(super) record: Option<(IntRecord, u8)>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    packet: Packet,
    /// Next packet of the list, or next free place.
    next: PacketId,
    /// Entry of isolation.
    note: u32,
}

/// The place freed last is used first, so that places in use stay in cache.
#[derive(Debug)]
pub(super) struct Slab {
    slots: IdVec<PacketId, Slot>,
    free: PacketId,
    /// By place, up to the last one that had INT records, or ranges.
    blocks: IdVec<PacketId, BlockId>,
    ranges: IdVec<PacketId, Vec<Range>>,
}

impl Slab {
    pub(super) const fn new() -> Self {
        Self { slots: IdVec::new(), free: PacketId::NONE, blocks: IdVec::new(), ranges: IdVec::new() }
    }

    /// Stores a packet, with other flags, as the end of a list.
    #[inline(always)]
    pub(super) fn insert<const RUN: u8>(&mut self, packet: &Packet, flags: u8, carried: &mut Carried) -> PacketId {
        let place = if self.free == PacketId::NONE {
            self.slots.push(Slot { packet: *packet, next: PacketId::NONE, note: NONE })
        } else {
            let place = self.free;
            let slot = &mut self.slots[place];
            self.free = slot.next;
            slot.packet = *packet;
            slot.next = PacketId::NONE;
            place
        };
        self.slots[place].packet.flags = flags;
        if carries(RUN) && packet.records != 0 {
            if has_transports(RUN) && packet.has_ranges() {
                self.insert_ranges(place, carried);
                return place;
            }
            self.blocks.extend_to(place, || BlockId::NONE);
            self.blocks[place] = carried.take_block();
        }
        place
    }

    #[cold]
    fn insert_ranges(&mut self, place: PacketId, carried: &mut Carried) {
        self.ranges.extend_to(place, Vec::new);
        self.ranges[place] = std::mem::take(&mut carried.ranges);
    }

    /// Also returns the next place of the list.
    #[inline(always)]
    pub(super) fn remove<const RUN: u8>(&mut self, place: PacketId, carried: &mut Carried) -> (Packet, PacketId) {
        let slot = &mut self.slots[place];
        let (packet, next) = (slot.packet, slot.next);
        slot.next = self.free;
        self.free = place;
        if carries(RUN) && packet.records != 0 {
            if has_transports(RUN) && packet.has_ranges() {
                carried.ranges = std::mem::take(&mut self.ranges[place]);
                return (packet, next);
            }
            carried.put_block(self.blocks[place]);
        }
        (packet, next)
    }

    /// Begins to load the packet that leaves next: those of long queues have left the caches.
    #[inline(always)]
    pub(super) fn prefetch(&self, place: PacketId) {
        if let Some(slot) = self.slots.get(place) {
            prefetch(slot);
        }
    }

    pub(super) fn get(&self, place: PacketId) -> &Packet {
        &self.slots[place].packet
    }

    pub(super) fn note(&self, place: PacketId) -> u32 {
        self.slots[place].note
    }

    pub(super) fn set_note(&mut self, place: PacketId, note: u32) {
        self.slots[place].note = note;
    }

    /// Returns the number of packets with the note.
    pub(super) fn note_list(&mut self, mut place: PacketId, note: u32, wanted: impl Fn(&Packet) -> bool) -> u32 {
        let mut found = 0;
        while let Some(slot) = self.slots.get_mut(place) {
            if wanted(&slot.packet) {
                slot.note = note;
                found += 1;
            }
            place = slot.next;
        }
        found
    }

    pub(super) fn size(&self, place: PacketId) -> u32 {
        self.get(place).size.into()
    }

    #[inline]
    pub(super) fn link(&mut self, place: PacketId, next: PacketId) {
        self.slots[place].next = next;
    }

    pub(super) fn list(&self, place: PacketId) -> impl Iterator<Item = &Packet> {
        self.places(place).map(|place| self.get(place))
    }

    pub(super) fn places(&self, mut place: PacketId) -> impl Iterator<Item = PacketId> {
        std::iter::from_fn(move || {
            let next = self.slots.get(place)?.next;
            Some(std::mem::replace(&mut place, next))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::flag;
    use crate::nodes::run::ANY;

    #[test]
    fn places_are_reused_and_records_kept() {
        let mut slab = Slab::new();
        let mut carried = Carried::new(2);
        let records = [IntRecord::default(), IntRecord::new(9, 1, 2, 3)];
        carried.put_records(&records);
        let first = slab.insert::<ANY>(&Packet { seq: 1, records: 2, ..Packet::EMPTY }, 0, &mut carried);
        let second = slab.insert::<ANY>(&Packet { seq: 2, ..Packet::EMPTY }, flag::CE, &mut carried);
        slab.link(first, second);
        assert_eq!(slab.list(first).map(|packet| packet.seq).collect::<Vec<_>>(), [1, 2]);
        let (packet, next) = slab.remove::<ANY>(first, &mut carried);
        assert_eq!((packet.seq, next, carried.records(2)), (1, second, &records[..]));
        assert_eq!(slab.insert::<ANY>(&Packet::EMPTY, 0, &mut carried), first);
        assert_eq!(slab.list(second).map(|packet| packet.flags).collect::<Vec<_>>(), [flag::CE]);
    }

    #[test]
    fn ranges_move_with_their_packet() {
        let mut slab = Slab::new();
        let mut carried = Carried::new(0);
        let places = [vec![(1, 2)], vec![(3, 4), (5, 6)]].map(|ranges| {
            carried.ranges = ranges;
            slab.insert::<ANY>(&Packet { kind: Kind::SegmentAck, records: 1, ..Packet::EMPTY }, 0, &mut carried)
        });
        assert!(carried.ranges.is_empty());
        for (place, ranges) in places.into_iter().zip([&[(1, 2)][..], &[(3, 4), (5, 6)]]) {
            slab.remove::<ANY>(place, &mut carried);
            assert_eq!(carried.ranges, ranges);
        }
    }
}
