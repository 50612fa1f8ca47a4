//! INT or PINT records and byte ranges of packets.

use crate::congestion::IntRecord;
use crate::kernel::{BlockId, Id, Range};

/// Records and ranges of the packet that a node handles now, and the records of all packets in the partition.
///
/// Records stay in their block on the way through the partition. The block belongs to the packet handled now, then to the wire or
/// slab that stores it. If nobody does, it is free when the next packet comes.
#[derive(Debug)]
pub(super) struct Carried {
    /// `NONE` without records, and after the packet was stored.
    block: BlockId,
    /// By block, `stride` each.
    records: Vec<IntRecord>,
    stride: usize,
    /// The block freed last is used first, so that blocks in use stay in cache.
    free: Vec<BlockId>,
    /// Byte ranges of a selective acknowledgement, or slots of a schedule.
    pub(super) ranges: Vec<Range>,
}

/// Records and ranges of a packet, kept while its node handles another one.
#[derive(Debug)]
pub(super) struct Aside(BlockId, Vec<Range>);

impl Carried {
    /// `stride`: most records of a packet.
    pub(super) const fn new(stride: usize) -> Self {
        Self { block: BlockId::NONE, records: Vec::new(), stride, free: Vec::new(), ranges: Vec::new() }
    }

    /// The packet handled from now on has this block.
    #[inline(always)]
    pub(super) fn put_block(&mut self, block: BlockId) {
        let before = std::mem::replace(&mut self.block, block);
        if before != BlockId::NONE {
            self.free.push(before);
        }
    }

    /// For whoever stores the packet.
    #[inline(always)]
    pub(super) const fn take_block(&mut self) -> BlockId {
        debug_assert!(self.block.0 != BlockId::NONE.0, "a packet with records has a block");
        std::mem::replace(&mut self.block, BlockId::NONE)
    }

    #[inline]
    fn put_empty(&mut self) {
        let block = self.free.pop().unwrap_or_else(|| self.grow());
        self.put_block(block);
    }

    #[cold]
    fn grow(&mut self) -> BlockId {
        let block = BlockId::new(self.records.len() / self.stride);
        self.records.resize(self.records.len() + self.stride, IntRecord::default());
        block
    }

    /// Adds a record to those of the packet, or puts it in place of the last one: numbers of records before and with it. Beyond the
    /// space it overwrites from the front, as in ns-3.
    #[inline(always)]
    pub(super) fn add_record(&mut self, record: IntRecord, (before, count): (u8, u8)) {
        if before == 0 {
            self.put_empty();
        }
        let mut place = usize::from(count - 1);
        if place >= self.stride {
            place %= self.stride;
        }
        self.records[self.block.index() * self.stride + place] = record;
    }

    /// Records of the packet, which has this number of them.
    #[inline]
    pub(super) fn records(&self, count: u8) -> &[IntRecord] {
        if count == 0 { &[] } else { &self.records[self.block.index() * self.stride..][..self.held(count)] }
    }

    fn held(&self, count: u8) -> usize {
        usize::from(count).min(self.stride)
    }

    /// Puts the records of a packet with this number of them, which are the first of a list. Returns how many these are.
    pub(super) fn put_first(&mut self, count: u8, list: &[IntRecord]) -> usize {
        let held = self.held(count);
        self.put_records(&list[..held]);
        held
    }

    pub(super) fn put_records(&mut self, records: &[IntRecord]) {
        if !records.is_empty() {
            self.put_empty();
            let first = self.block.index() * self.stride;
            self.records[first..first + records.len()].copy_from_slice(records);
        }
    }

    pub(super) fn set_aside(&mut self) -> Aside {
        Aside(std::mem::replace(&mut self.block, BlockId::NONE), std::mem::take(&mut self.ranges))
    }

    pub(super) fn take_back(&mut self, Aside(block, ranges): Aside) {
        self.put_block(block);
        self.ranges = ranges;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_nobody_stores_is_used_again() {
        let mut carried = Carried::new(2);
        let record = |ticks| IntRecord::new(ticks, 0, 0, 0);
        carried.add_record(record(1), (0, 1));
        carried.add_record(record(2), (1, 2));
        let stored = carried.take_block();
        for ticks in 3..9 {
            carried.add_record(record(ticks), (0, 1));
        }
        // Two at a time: that of the packet before is free when the next one has its own.
        assert_eq!((carried.records.len() / 2, carried.records(1)), (3, &[record(8)][..]));
        carried.put_block(stored);
        assert_eq!(carried.records(2), [record(1), record(2)]);
    }

    #[test]
    fn a_packet_keeps_what_it_carries_while_another_one_is_handled() {
        let mut carried = Carried::new(1);
        let records = [1, 2].map(|ticks| IntRecord::new(ticks, 0, 0, 0));
        carried.put_records(&records[..1]);
        carried.ranges = vec![(3, 4)];
        let aside = carried.set_aside();
        carried.put_records(&records[1..]);
        assert!(carried.ranges.is_empty());
        carried.take_back(aside);
        assert_eq!((carried.records(1), &carried.ranges[..]), (&records[..1], &[(3, 4)][..]));
    }
}
