//! Packets between partitions, on their way from one window to the next.

use std::collections::VecDeque;

use incast_model::fabric::PortId;

use super::packet::{Carried, Packet, Stamp};
use super::run::{carries, has_transports};
use crate::congestion::IntRecord;
use crate::kernel::Range;

/// Packet that a port sends into a wire of another partition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mail {
    /// Arrival.
    pub(super) time: u64,
    pub(super) port: PortId,
    pub(super) packet: Packet,
    pub(super) stamp: Stamp,
}

/// Packets from one partition to another, in order.
#[derive(Debug, Default)]
pub(super) struct Bag {
    mails: VecDeque<Mail>,
    /// First arrival; `None` in an empty bag.
    first: Option<u64>,
    records: VecDeque<IntRecord>,
    ranges: VecDeque<Vec<Range>>,
}

impl Bag {
    pub(super) const fn first(&self) -> Option<u64> {
        self.first
    }

    fn put<const RUN: u8>(&mut self, mail: Mail, carried: &mut Carried) {
        let packet = &mail.packet;
        if carries(RUN) && packet.records != 0 {
            if has_transports(RUN) && packet.has_ranges() {
                self.ranges.push_back(std::mem::take(&mut carried.ranges));
            } else {
                self.records.extend(&carried.records[..usize::from(packet.records).min(carried.records.len())]);
            }
        }
        self.first = Some(self.first.map_or(mail.time, |first| first.min(mail.time)));
        self.mails.push_back(mail);
    }

    pub(super) fn take<const RUN: u8>(&mut self, carried: &mut Carried) -> Option<Mail> {
        let Some(mail) = self.mails.pop_front() else {
            self.first = None;
            return None;
        };
        let packet = &mail.packet;
        if carries(RUN) && packet.records != 0 {
            if has_transports(RUN) && packet.has_ranges() {
                carried.ranges = self.ranges.pop_front().expect("put with its packet");
            } else {
                let count = usize::from(packet.records).min(carried.records.len());
                carried.records.iter_mut().zip(self.records.drain(..count)).for_each(|(to, from)| *to = from);
            }
        }
        Some(mail)
    }
}

/// Bags for other partitions.
#[derive(Debug, Default)]
pub(super) struct Post {
    bags: Vec<Bag>,
    /// Partitions with a packet in their bag.
    filled: Vec<u32>,
    /// Empty bags, to be used again.
    pub(super) spare: Vec<Bag>,
}

impl Post {
    pub(super) fn new(partitions: usize) -> Self {
        let bags = if partitions > 1 { partitions } else { 0 };
        Self { bags: (0..bags).map(|_| Bag::default()).collect(), filled: Vec::new(), spare: Vec::new() }
    }

    #[inline(never)]
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

    /// Bags with their partitions.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u32, Bag)> {
        let Self { bags, filled, spare } = self;
        filled.drain(..).map(|to| (to, std::mem::replace(&mut bags[to as usize], spare.pop().unwrap_or_default())))
    }
}
