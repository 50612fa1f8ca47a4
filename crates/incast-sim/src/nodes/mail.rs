//! Packets between partitions, on their way from one window to the next.

use super::carried::Carried;
use super::packet::{Packet, Stamp};
use super::plan::{Far, PortPlan};
use super::run::{carries, has_telemetry, has_transports};
use crate::congestion::IntRecord;
use crate::kernel::{Line, LocalPort, Member, Range};

/// Packet for a wire of another partition, as it arrives there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mail {
    /// Arrival.
    pub(super) time: u64,
    pub(super) packet: Packet,
    pub(super) line: Line,
    /// Receiver.
    pub(super) peer: Member,
    /// The wire's number among those that end there; `None` at a host.
    pub(super) place: Option<u16>,
    /// Ingress port at the sender.
    pub(super) origin: LocalPort,
}

const _: () = assert!(size_of::<Mail>() == 64);

impl Mail {
    /// `port`: the sender's. The stamp's record moves to those that the packet carries.
    pub(super) fn new<const RUN: u8>(
        time: u64,
        port: &PortPlan,
        packet: &Packet,
        stamp: Stamp,
        carried: &mut Carried,
    ) -> Self {
        let mut arrived = Packet::EMPTY;
        port.arrive(packet, stamp, &mut arrived);
        if has_telemetry(RUN)
            && let Some((record, count)) = stamp.record
        {
            carried.add_record(record, (packet.records, count));
            arrived.records = count;
        }
        let place = (port.far == Far::SwitchAway).then_some(port.place);
        Self { time, packet: arrived, line: port.line, peer: port.peer, place, origin: packet.in_port }
    }
}

/// Packets from one partition to another, in order.
#[derive(Debug)]
pub(super) struct Bag {
    mails: Vec<Mail>,
    /// First arrival; [`u64::MAX`] in an empty bag.
    first: u64,
    records: Vec<IntRecord>,
    ranges: Vec<Vec<Range>>,
}

impl Default for Bag {
    fn default() -> Self {
        Self { mails: Vec::new(), first: u64::MAX, records: Vec::new(), ranges: Vec::new() }
    }
}

impl Bag {
    /// Time of the first arrival; [`u64::MAX`] in an empty bag.
    pub(super) const fn first(&self) -> u64 {
        self.first
    }

    fn put<const RUN: u8>(&mut self, mail: Mail, carried: &mut Carried) {
        let packet = &mail.packet;
        if carries(RUN) && packet.records != 0 {
            if has_transports(RUN) && packet.has_ranges() {
                self.ranges.push(std::mem::take(&mut carried.ranges));
            } else {
                self.records.extend(carried.records(packet.records));
            }
        }
        self.first = self.first.min(mail.time);
        self.mails.push(mail);
    }

    /// Empties the bag. `receive` gets each packet after what it carries was put into `carried`.
    pub(super) fn open<const RUN: u8>(&mut self, carried: &mut Carried, mut receive: impl FnMut(&Mail, &mut Carried)) {
        let mut records = 0;
        let mut ranges = self.ranges.drain(..);
        for mail in &self.mails {
            let packet = &mail.packet;
            if carries(RUN) && packet.records != 0 {
                if has_transports(RUN) && packet.has_ranges() {
                    carried.ranges = ranges.next().expect("put with its packet");
                } else {
                    records += carried.put_first(packet.records, &self.records[records..]);
                }
            }
            receive(mail, carried);
        }
        drop(ranges);
        self.mails.clear();
        self.records.clear();
        self.first = u64::MAX;
    }
}

/// Bags for other partitions.
#[derive(Debug, Default)]
pub(super) struct Post {
    bags: Vec<Bag>,
    /// Partitions with a packet in their bag.
    filled: Vec<u32>,
    /// Empty bags, to be used again: at most one for each other partition.
    spare: Vec<Bag>,
}

impl Post {
    pub(super) fn new(partitions: usize) -> Self {
        let bags = if partitions > 1 { partitions } else { 0 };
        Self { bags: (0..bags).map(|_| Bag::default()).collect(), filled: Vec::new(), spare: Vec::new() }
    }

    pub(super) fn put<const RUN: u8>(&mut self, to: u32, mail: Mail, carried: &mut Carried) {
        let bag = &mut self.bags[to as usize];
        if bag.mails.is_empty() {
            self.filled.push(to);
        }
        bag.put::<RUN>(mail, carried);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }

    /// Keeps an empty bag.
    pub(super) fn keep(&mut self, bag: Bag) {
        if self.spare.len() < self.bags.len() {
            self.spare.push(bag);
        }
    }

    /// Bags with their partitions.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u32, Bag)> {
        let Self { bags, filled, spare } = self;
        filled.drain(..).map(|to| (to, std::mem::replace(&mut bags[to as usize], spare.pop().unwrap_or_default())))
    }
}
