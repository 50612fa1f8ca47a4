//! One direction of a link: a ring of packets in order of arrival.
//!
//! A packet arrives at least one lookahead after its sender appends it, so the receiver never misses one.

use std::collections::VecDeque;

use incast_model::rng::{Stream, unit};

use super::carried::Carried;
use super::mail::Mail;
use super::packet::{Packet, Stamp};
use super::plan::PortPlan;
use super::run::{carries, has_extras, has_telemetry, has_transports};
use crate::kernel::{BlockId, IdVec, Kind, LocalPort, Range, indices, prefetch};

/// Place in the ring of a wire.
#[derive(Debug, Clone, Copy)]
struct RingPlace(u32);

indices!(RingPlace);

/// One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Entry {
    time: u64,
    packet: Packet,
    /// If the packet has INT records.
    block: BlockId,
}

/// The first cache line has what every packet needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Wire {
    /// A power of two; empty before the first packet.
    entries: IdVec<RingPlace, Entry>,
    /// First packet, before the modulus.
    head: usize,
    len: usize,
    /// By packet with ranges, in order.
    ranges: VecDeque<Vec<Range>>,
    /// Ingress ports at the sending node; empty if links cannot fail.
    origins: IdVec<RingPlace, LocalPort>,
    fails: bool,
    /// Silent losses, if there were any so far.
    loss: Option<Box<Loss>>,
}

/// Fraction of packets lost silently.
#[derive(Debug)]
struct Loss {
    share: f64,
    draws: Stream,
}

const PLACES: usize = 16;

impl Wire {
    /// `fails`: the link may fail.
    pub(super) const fn new(fails: bool) -> Self {
        Self {
            entries: IdVec::new(),
            head: 0,
            len: 0,
            ranges: VecDeque::new(),
            origins: IdVec::new(),
            fails,
            loss: None,
        }
    }

    #[inline]
    fn place(&self, ahead: usize) -> RingPlace {
        RingPlace(((self.head + ahead) & (self.entries.len() - 1)) as u32)
    }

    /// `time`: arrival at the far end of `port`, not before the packet ahead.
    #[inline(always)]
    pub(super) fn push<const RUN: u8>(
        &mut self,
        time: u64,
        port: &PortPlan,
        packet: &Packet,
        stamp: Stamp,
        carried: &mut Carried,
    ) {
        if self.len == self.entries.len() {
            self.grow();
        }
        let place = self.place(self.len);
        let entry = &mut self.entries[place];
        entry.time = time;
        port.arrive(packet, stamp, &mut entry.packet);
        if !carries(RUN) {
            self.len += 1;
            return;
        }
        if has_extras(RUN)
            && let Some(origin) = self.origins.get_mut(place)
        {
            *origin = packet.in_port;
        }
        if has_telemetry(RUN)
            && let Some((record, count)) = stamp.record
        {
            carried.add_record(record, (packet.records, count));
            let entry = &mut self.entries[place];
            (entry.packet.records, entry.block) = (count, carried.take_block());
        } else {
            self.keep_carried::<RUN>(place, packet, carried);
        }
        self.len += 1;
    }

    /// Appends a packet from another partition.
    pub(super) fn receive<const RUN: u8>(&mut self, mail: &Mail, carried: &mut Carried) {
        if self.len == self.entries.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.entries[place] = Entry { time: mail.time, packet: mail.packet, block: BlockId::NONE };
        self.len += 1;
        if carries(RUN) {
            if has_extras(RUN)
                && let Some(origin) = self.origins.get_mut(place)
            {
                *origin = mail.origin;
            }
            self.keep_carried::<RUN>(place, &mail.packet, carried);
        }
    }

    #[inline(always)]
    fn keep_carried<const RUN: u8>(&mut self, place: RingPlace, packet: &Packet, carried: &mut Carried) {
        if packet.records != 0 {
            if has_transports(RUN) && packet.has_ranges() {
                self.ranges.push_back(std::mem::take(&mut carried.ranges));
            } else {
                self.entries[place].block = carried.take_block();
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.entries.len()).max(PLACES);
        let mut entries: Vec<Entry> = (0..self.len).map(|ahead| self.entries[self.place(ahead)]).collect();
        entries.resize(places, Entry { time: 0, packet: Packet::EMPTY, block: BlockId::NONE });
        if self.fails {
            let mut origins: Vec<LocalPort> = (0..self.len).map(|ahead| self.origins[self.place(ahead)]).collect();
            origins.resize(places, LocalPort(0));
            self.origins = origins.into();
        }
        (self.entries, self.head) = (entries.into(), 0);
    }

    #[inline(always)]
    pub(super) fn prefetch_first(&self) {
        if let Some(entry) = self.entries.get(self.place(0)) {
            prefetch(entry);
        }
    }

    /// Arrival of the first packet; [`u64::MAX`] if the link is empty.
    #[inline(always)]
    pub(super) fn first(&self) -> u64 {
        if self.len == 0 { u64::MAX } else { self.entries[self.place(0)].time }
    }

    #[inline(always)]
    pub(super) fn pop<const RUN: u8>(&mut self, carried: &mut Carried) -> Packet {
        debug_assert!(self.len > 0);
        let place = self.place(0);
        self.len -= 1;
        // An empty ring begins again at its first place, to stay in the same cache lines.
        self.head = if self.len == 0 { 0 } else { self.head.wrapping_add(1) };
        // For the next packet of the window; of a large fabric, it has left the caches since it was sent.
        prefetch(&self.entries[self.place(0)]);
        let Entry { packet, block, .. } = self.entries[place];
        if carries(RUN) && packet.records != 0 {
            if has_transports(RUN) && packet.has_ranges() {
                carried.ranges = self.ranges.pop_front().expect("pushed with its packet");
            } else {
                carried.put_block(block);
            }
        }
        packet
    }

    /// Turns all packets into [`Kind::Lost`]. Returns those lost now, with ingress ports at the sending node.
    pub(super) fn lose(&mut self, carried: &mut Carried) -> Vec<(Packet, LocalPort)> {
        let mut lost = Vec::new();
        for ahead in 0..self.len {
            let place = self.place(ahead);
            let Entry { packet, block, .. } = &mut self.entries[place];
            if packet.kind != Kind::Lost {
                lost.push((*packet, self.origins[place]));
                if packet.records != 0 && !packet.has_ranges() {
                    carried.put_block(*block);
                }
                (packet.kind, packet.records) = (Kind::Lost, 0);
            }
        }
        self.ranges.clear();
        lost
    }

    /// There must be one.
    pub(super) fn front(&self) -> &Packet {
        &self.entries[self.place(0)].packet
    }

    pub(super) fn lose_front(&mut self, carried: &mut Carried) {
        let place = self.place(0);
        let Entry { packet, block, .. } = &mut self.entries[place];
        if packet.records != 0 {
            if packet.has_ranges() {
                self.ranges.pop_front();
            } else {
                carried.put_block(*block);
            }
        }
        (packet.kind, packet.records) = (Kind::Lost, 0);
    }

    #[cfg(test)]
    pub(super) fn swap_front(&mut self) {
        if self.len > 1 {
            let (first, second) = (self.place(0), self.place(1));
            let (one, other) = (self.entries[first].packet, self.entries[second].packet);
            self.entries[first].packet = Packet { seq: other.seq, word: other.word, ..one };
            self.entries[second].packet = Packet { seq: one.seq, word: one.word, ..other };
        }
    }

    /// `draws` begins the draws of losses.
    pub(super) fn set_loss(&mut self, share: f64, draws: impl FnOnce() -> Stream) {
        self.loss.get_or_insert_with(|| Box::new(Loss { share, draws: draws() })).share = share;
    }

    pub(super) fn loses(&mut self) -> bool {
        self.loss
            .as_mut()
            .is_some_and(|loss| loss.share > 0.0 && (loss.share >= 1.0 || unit(&mut loss.draws) < loss.share))
    }

    #[inline]
    pub(super) fn packets(&self) -> impl Iterator<Item = (u64, &Packet)> {
        (0..self.len).map(|ahead| &self.entries[self.place(ahead)]).map(|entry| (entry.time, &entry.packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::IntRecord;
    use crate::nodes::run::ANY;

    const PORT: PortPlan = PortPlan { peer_port: LocalPort(3), ..PortPlan::NONE };

    #[test]
    fn packets_stay_in_order_while_the_ring_grows() {
        let mut carried = Carried::new(1);
        let mut wire = Wire::new(false);
        let (mut sent, mut received) = (0, 0);
        for round in 0..60 {
            for _ in 0..round {
                let stamp = Stamp { flags: 0, in_prio: 0, record: Some((IntRecord::new(sent, 0, 0, 0), 1)) };
                wire.push::<ANY>(sent, &PORT, &Packet { seq: sent, ..Packet::EMPTY }, stamp, &mut carried);
                sent += 1;
            }
            for _ in 0..round / 2 {
                assert_eq!(wire.first(), received);
                let packet = wire.pop::<ANY>(&mut carried);
                assert_eq!((packet.seq, carried.records(1)[0].ticks()), (received, received));
                received += 1;
            }
        }
        assert!(wire.packets().map(|(time, packet)| (time, packet.seq)).eq((received..sent).map(|seq| (seq, seq))));
    }

    const PLAIN_STAMP: Stamp = Stamp { flags: 0, in_prio: 0, record: None };

    #[test]
    fn all_packets_of_a_failed_link_are_lost_once_with_their_ingress_ports() {
        let (mut wire, mut carried) = (Wire::new(true), Carried::new(0));
        for seq in 0..3 {
            let packet = Packet { seq, in_port: LocalPort(5 + seq as u16), ..Packet::EMPTY };
            wire.push::<ANY>(seq, &PORT, &packet, PLAIN_STAMP, &mut carried);
        }
        wire.lose_front(&mut carried);
        let lost: Vec<(u64, LocalPort)> =
            wire.lose(&mut carried).iter().map(|(packet, port)| (packet.seq, *port)).collect();
        assert_eq!(lost, [(1, LocalPort(6)), (2, LocalPort(7))]);
        let arrived: Vec<(u64, Kind)> = wire.packets().map(|(time, packet)| (time, packet.kind)).collect();
        assert_eq!(arrived, [(0, Kind::Lost), (1, Kind::Lost), (2, Kind::Lost)]);
    }

    #[test]
    fn a_link_loses_its_share_of_packets() {
        let mut wire = Wire::new(true);
        assert!(!wire.loses(), "no loss was set");
        for (share, least, most) in [(0.25, 2327, 2673), (1.0, 10_000, 10_000), (0.0, 0, 0)] {
            wire.set_loss(share, || incast_model::rng::stream(1, "loss", 0));
            // 2500 of 10,000, and 4 times the root of 10,000 / 4 * 3 / 4 = 43.3.
            let lost = (0..10_000).filter(|_| wire.loses()).count();
            assert!((least..=most).contains(&lost), "{lost} at {share}");
        }
    }

    #[test]
    fn a_packet_is_stamped_on_its_way() {
        let mut carried = Carried::new(2);
        let old: Vec<_> = (0..3).map(|tick| IntRecord::new(tick, 0, 0, 0)).collect();
        carried.put_records(&old[..2]);
        let mut wire = Wire::new(false);
        let packet = Packet { prio: 3, records: 2, ..Packet::EMPTY };
        wire.push::<ANY>(9, &PORT, &packet, Stamp { flags: 1, in_prio: 3, record: Some((old[2], 3)) }, &mut carried);
        wire.push::<ANY>(
            9,
            &PORT,
            &Packet { kind: Kind::Pfc, in_prio: 5, ..Packet::EMPTY },
            Stamp { flags: 0, in_prio: 0, record: None },
            &mut carried,
        );
        let packet = wire.pop::<ANY>(&mut carried);
        assert_eq!(
            (packet.in_port, packet.in_prio, packet.hops, packet.flags, packet.records),
            (LocalPort(3), 3, 1, 1, 3)
        );
        assert_eq!(carried.records(2), [old[2], old[1]]);
        assert_eq!(wire.pop::<ANY>(&mut carried).in_prio, 5);
        assert_eq!((wire.first(), wire.head), (u64::MAX, 0));
    }
}
