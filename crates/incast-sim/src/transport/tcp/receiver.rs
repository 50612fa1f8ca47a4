//! Receiver of a TCP flow (RFC 5681, section 4.2; RFC 2018; RFC 3168; RFC 8257, section 3.2).

use super::TcpParams;
use crate::kernel::{LocalPort, Range, Word, flag};
use crate::transport::Reassembly;
use crate::transport::stack::Incoming;

/// SACK blocks in header options (RFC 2018, section 3).
const RECENT: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) new: u64,
    /// ACK of earlier segments, as marks began or ended.
    pub(super) first: Option<Answer>,
    /// Immediate ACK; `None`: with the next segment or after a delay.
    pub(super) answer: Option<Answer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) next: u64,
    pub(super) echo: bool,
    pub(super) word: Word,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Receiver {
    stream: Reassembly,
    /// First bytes of the last segments beyond the gap, latest first.
    recent: [u64; RECENT],
    /// Unacknowledged segments, and the word of the first.
    waiting: u32,
    word: Word,
    /// In ps.
    pub(super) due: u64,
    pub(super) nic: LocalPort,
    /// Last segment marked (DCTCP), or marks to echo (others).
    marked: bool,
}

impl Receiver {
    pub(super) const fn next(&self) -> u64 {
        self.stream.next()
    }

    pub(super) fn take(&mut self, packet: &Incoming<'_>, size: u64, params: &TcpParams) -> Verdict {
        let first = self.note_marks(packet, params);
        let (before, seq, end) = (self.next(), packet.seq, packet.seq + packet.payload);
        let new = self.stream.take(seq, packet.payload);
        let next = self.next();
        if end > next {
            self.recent.copy_within(..RECENT - 1, 1);
            self.recent[0] = seq;
        }
        // The sender needs to know: out of order, in a gap, duplicate, or last.
        let urgent = seq != before || next != end || !self.stream.beyond().is_empty() || next == size;
        if self.waiting == 0 {
            self.word = packet.word;
        }
        self.waiting += 1;
        let at_once = params.delayed_ack.is_none() || urgent || self.waiting >= params.ack_every;
        Verdict { new, first, answer: if at_once { self.answer() } else { None } }
    }

    /// Under DCTCP no ACK covers both marked and unmarked segments.
    fn note_marks(&mut self, packet: &Incoming<'_>, params: &TcpParams) -> Option<Answer> {
        let marked = packet.flags & flag::CE != 0;
        if params.ecn_echo_is_latched() {
            self.marked = marked || (self.marked && packet.flags & flag::CWR == 0);
            return None;
        }
        let first = if marked == self.marked { None } else { self.answer() };
        self.marked = marked;
        first
    }

    pub(super) fn answer(&mut self) -> Option<Answer> {
        if self.waiting == 0 {
            return None;
        }
        self.waiting = 0;
        self.due = u64::MAX;
        Some(Answer { next: self.next(), echo: self.marked, word: self.word })
    }

    pub(super) const fn begins_to_wait(&self) -> bool {
        self.waiting == 1
    }

    /// Latest growth first.
    pub(super) fn blocks(&self, most: Option<u32>) -> Vec<Range> {
        let all = self.stream.beyond();
        let most = most.map_or(usize::MAX, |most| most as usize);
        if all.len() <= most {
            return all.to_vec();
        }
        let mut chosen = Vec::with_capacity(RECENT);
        for &point in self.recent.iter().take(most) {
            let found = all.iter().find(|(start, end)| (*start..*end).contains(&point)).copied();
            chosen.extend(found.filter(|range| !chosen.contains(range)));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use incast_model::units::Time;

    use super::*;
    use crate::kernel::{FlowId, Kind};
    use crate::transport::TransportParams;

    fn segment(number: u64, flags: u8) -> Incoming<'static> {
        let (seq, word) = (1000 * number, Word::sent_at(7 + number));
        let (kind, flow, at_host, nic) = (Kind::Segment, FlowId(0), 0, LocalPort(0));
        let (payload, prio, own_path, ranges) = (1000, 3, false, &[][..]);
        Incoming { kind, flow, at_host, nic, seq, word, payload, prio, flags, own_path, ranges }
    }

    /// Next byte in thousands, and echo; `None` if delayed.
    fn answers(params: &TcpParams, segments: &[(u64, u8)]) -> Vec<Option<(u64, bool)>> {
        let mut receiver = Receiver::default();
        let mut said = Vec::new();
        for &(number, flags) in segments {
            let verdict = receiver.take(&segment(number, flags), 100_000, params);
            let answers = verdict.first.into_iter().map(Some).chain([verdict.answer]);
            said.extend(answers.map(|answer| answer.map(|answer| (answer.next / 1000, answer.echo))));
        }
        said
    }

    #[test]
    fn every_second_segment_is_acknowledged_unless_something_is_wrong() {
        let params = TcpParams { delayed_ack: Some(Time::ms(40)), ..TcpParams::default() };
        let said = answers(&params, &[(0, 0), (1, 0), (2, 0), (4, 0), (5, 0), (3, 0), (6, 0), (6, 0), (99, 0)]);
        let next = |next| Some((next, false));
        assert_eq!(said, [None, next(2), None, next(3), next(3), next(6), None, next(7), next(7)]);
        let eager = TcpParams { delayed_ack: None, ..params };
        assert_eq!(answers(&eager, &[(0, 0), (1, 0)]), [next(1), next(2)]);
    }

    #[test]
    fn the_last_segment_is_acknowledged_at_once_and_the_first_one_timed() {
        let params = TcpParams { delayed_ack: Some(Time::ms(40)), ack_every: 4, ..TcpParams::default() };
        let mut receiver = Receiver::default();
        assert!(receiver.take(&segment(0, 0), 2000, &params).answer.is_none() && receiver.begins_to_wait());
        let answer = receiver.take(&segment(1, 0), 2000, &params).answer;
        assert_eq!(answer, Some(Answer { next: 2000, echo: false, word: Word::sent_at(7) }));
        assert_eq!(receiver.answer(), None);
    }

    #[test]
    fn dctcp_tells_marked_segments_from_others() {
        let params = TcpParams { delayed_ack: Some(Time::ms(1)), ..TcpParams::profile("dctcp").expect("there is one") };
        let ce = flag::CE;
        let said = answers(&params, &[(0, 0), (1, ce), (2, ce), (3, 0), (4, 0)]);
        // The second's mark acknowledges the first.
        assert_eq!(said, [None, Some((1, false)), None, Some((3, true)), None, Some((5, false))]);
    }

    #[test]
    fn classic_marks_are_echoed_until_the_window_is_reduced() {
        let params = TcpParams { ecn: true, delayed_ack: None, ..TcpParams::default() };
        let said = answers(&params, &[(0, 0), (1, flag::CE), (2, 0), (3, flag::CWR), (4, flag::CE | flag::CWR)]);
        let echoes: Vec<bool> = said.into_iter().flatten().map(|(_, echo)| echo).collect();
        assert_eq!(echoes, [false, true, true, false, true]);
    }

    #[test]
    fn the_latest_blocks_come_first() {
        let mut receiver = Receiver::default();
        for number in [2, 4, 6, 8, 10, 4] {
            receiver.take(&segment(number, 0), 100_000, &TcpParams::default());
        }
        let sent: Vec<u64> = receiver.blocks(Some(3)).into_iter().map(|(start, _)| start / 1000).collect();
        assert_eq!(sent, [4, 10, 8]);
        assert_eq!(receiver.blocks(None).len(), 5);
    }
}
