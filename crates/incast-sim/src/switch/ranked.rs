use crate::kernel::{FlowId, Kind, PacketId, Word, flag};

/// Whatever the priorities of its packets.
pub(crate) const RANKED_QUEUE: u8 = 1;

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Lower is more urgent.
    rank: u64,
    flow: FlowId,
    id: PacketId,
}

/// In order of arrival (pFabric, SIGCOMM 2013, section 4.1). Linear search: a queue holds a few dozen, adjacent in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct RankedQueue(Vec<Entry>);

impl RankedQueue {
    pub(crate) fn push(&mut self, rank: u64, flow: FlowId, id: PacketId) {
        self.0.push(Entry { rank, flow, id });
    }

    /// First packet of the flow with the lowest rank: flows stay in order, and early packets with a higher rank do not starve.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<PacketId> {
        match self.0[..] {
            [_] => self.0.pop().map(|only| only.id),
            _ => self.pop_of_several(),
        }
    }

    #[inline(never)]
    fn pop_of_several(&mut self) -> Option<PacketId> {
        let best = self.0.iter().min_by_key(|entry| entry.rank)?.flow;
        let first = self.0.iter().position(|entry| entry.flow == best)?;
        Some(self.0.remove(first).id)
    }

    /// Takes the last packet of highest rank, if above `rank`.
    pub(crate) fn evict_above(&mut self, rank: u64) -> Option<PacketId> {
        let worst = self.0.iter().enumerate().max_by_key(|(_, entry)| entry.rank)?;
        let (at, above) = (worst.0, worst.1.rank > rank);
        above.then(|| self.0.remove(at).id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn packets(&self) -> impl Iterator<Item = PacketId> + '_ {
        self.0.iter().map(|entry| entry.id)
    }
}

/// 0 without data; then data of other transports by priority; then pFabric data by bytes left.
pub(crate) fn rank(kind: Kind, flags: u8, word: Word, prio: u8) -> u64 {
    match kind {
        Kind::Segment if flags & flag::RANKED != 0 => 8 + word.left(),
        Kind::Segment | Kind::Data => 8 - u64::from(prio),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(packets: &[(u64, u32)]) -> RankedQueue {
        let mut queue = RankedQueue::default();
        (0..).zip(packets).for_each(|(id, &(rank, flow))| queue.push(rank, FlowId(flow), PacketId(id)));
        queue
    }

    #[test]
    fn the_flow_with_least_left_sends_its_first_packet() {
        let mut of_three = queue(&[(5, 0), (6, 1), (4, 2)]);
        assert_eq!(
            [of_three.pop(), of_three.pop(), of_three.pop(), of_three.pop()],
            [Some(PacketId(2)), Some(PacketId(0)), Some(PacketId(1)), None]
        );
        // Flow 0 has the packet with least left, and sends its first packet first.
        let mut overtaken = queue(&[(18, 0), (17, 1), (16, 0)]);
        assert_eq!(
            [overtaken.pop(), overtaken.pop(), overtaken.pop()],
            [Some(PacketId(0)), Some(PacketId(2)), Some(PacketId(1))]
        );
    }

    #[test]
    fn the_flow_with_most_left_loses_its_last_packet() {
        let mut full = queue(&[(5, 0), (7, 1), (6, 2), (7, 1), (4, 3)]);
        assert_eq!(full.evict_above(7), None, "of equals the last to come, here the one that finds no room");
        assert_eq!(
            [full.evict_above(6), full.evict_above(4), full.evict_above(4)],
            [Some(PacketId(3)), Some(PacketId(1)), Some(PacketId(2))]
        );
        assert_eq!(full.packets().collect::<Vec<_>>(), [0, 4].map(PacketId));
        assert_eq!(
            (full.evict_above(0), full.evict_above(0), full.evict_above(0)),
            (Some(PacketId(0)), Some(PacketId(4)), None)
        );
    }

    #[test]
    fn ranks_are_by_what_is_left_and_then_by_priority() {
        let ranks = [
            rank(Kind::SegmentAck, 0, Word::with_left(1), 3),
            rank(Kind::Data, 0, Word::with_left(1), 7),
            rank(Kind::Segment, 0, Word::with_left(1), 3),
            rank(Kind::Segment, flag::RANKED, Word::with_left(1), 3),
            rank(Kind::Segment, flag::RANKED, Word::with_left(146_000), 3),
        ];
        assert_eq!(ranks, [0, 1, 5, 9, 146_008]);
    }
}
