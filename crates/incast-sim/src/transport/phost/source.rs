//! Source of pHost (section 3; YAPS, `ext/capabilityflow.cpp`).

use std::collections::VecDeque;

use super::order::{Place, Queue};
use crate::kernel::SentId;
use crate::transport::Ranges;
use crate::transport::segments::{Packets, Segment};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    /// In ps.
    pub(super) expiry: u64,
    pub(super) seq: u64,
    pub(super) number: u32,
}

#[derive(Debug)]
pub(super) struct Source {
    pub(super) packets: Packets,
    tokens: VecDeque<Token>,
    /// Packets missing at the receiver, by its last report.
    pub(super) left: u64,
    sent: Ranges,
    pub(super) tries: u32,
    place: Option<Place<SentId>>,
}

impl Source {
    pub(super) fn new(packets: Packets) -> Self {
        Self { packets, tokens: VecDeque::new(), left: packets.count(), sent: Ranges::default(), tries: 0, place: None }
    }

    /// Only the receiver knows then which are missing.
    pub(super) fn has_sent_all(&self) -> bool {
        self.sent.first_missing(0) == self.packets.size
    }

    pub(super) fn add(&mut self, token: Token) {
        self.tokens.push_back(token);
    }

    fn use_token(&mut self, now: u64) -> Option<Token> {
        self.tokens.retain(|token| token.expiry > now);
        let first = (0..self.tokens.len()).min_by_key(|&at| self.tokens[at].expiry)?;
        self.tokens.remove(first)
    }
}

#[derive(Debug, Default)]
pub(super) struct Holders(Queue<SentId>);

impl Holders {
    pub(super) fn put(&mut self, flow: SentId, label: u16, source: &mut Source, key: u64) {
        source.place = Some(match source.place {
            Some(place) => self.0.change(place, key),
            None => self.0.insert(label, key, flow),
        });
    }

    pub(super) fn take_out(&mut self, source: &mut Source) {
        if let Some(place) = source.place.take() {
            self.0.remove(place);
        }
    }

    pub(super) fn first(&self) -> Option<SentId> {
        self.0.first()
    }

    pub(super) fn served(&mut self) {
        self.0.served();
    }
}

impl Source {
    pub(super) fn next_packet(&mut self, now: u64) -> Option<(Segment, u32)> {
        let token = self.use_token(now)?;
        let len = self.packets.len(token.seq);
        let new = self.sent.insert(token.seq, token.seq + len);
        Some((Segment { seq: token.seq, len, again: new == 0 }, token.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_used_by_their_end_and_end() {
        let mut source = Source::new(Packets { size: 3500, mss: 1000 });
        for (expiry, seq, number) in [(50, 0, 0), (20, 1000, 1), (90, 3000, 2), (90, 0, 3)] {
            source.add(Token { expiry, seq, number });
        }
        assert_eq!(source.next_packet(10), Some((Segment { seq: 1000, len: 1000, again: false }, 1)));
        assert_eq!(source.next_packet(50), Some((Segment { seq: 3000, len: 500, again: false }, 2)), "0 has ended");
        assert_eq!(source.next_packet(60), Some((Segment { seq: 0, len: 1000, again: false }, 3)));
        assert_eq!((source.next_packet(60), source.has_sent_all()), (None, false));
        source.add(Token { expiry: 99, seq: 2000, number: 4 });
        source.add(Token { expiry: 99, seq: 2000, number: 5 });
        assert_eq!(source.next_packet(60).map(|(segment, _)| segment.again), Some(false));
        assert!(source.has_sent_all());
        assert_eq!(source.next_packet(60).map(|(segment, _)| segment.again), Some(true));
    }

    #[test]
    fn the_flow_with_least_left_goes_first() {
        let mut holders = Holders::default();
        let mut flows = [5, 3, 3].map(|_| Source::new(Packets { size: 1, mss: 1 }));
        for (flow, key) in [(0, 5), (1, 3), (2, 3)] {
            holders.put(SentId(flow), 0, &mut flows[flow as usize], key);
        }
        assert_eq!(holders.first(), Some(SentId(1)));
        holders.put(SentId(0), 0, &mut flows[0], 1);
        assert_eq!(holders.first(), Some(SentId(0)));
        holders.take_out(&mut flows[0]);
        holders.take_out(&mut flows[0]);
        holders.take_out(&mut flows[1]);
        assert_eq!(holders.first(), Some(SentId(2)));
    }
}
