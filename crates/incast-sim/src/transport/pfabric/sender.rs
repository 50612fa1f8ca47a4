//! Sender of a pFabric flow (section 4.2; open details as in YAPS, `coresim/flow.cpp`, `ext/pfabricflow.cpp`).

use super::PfabricParams;
use crate::kernel::Range;
use crate::transport::Ranges;
use crate::transport::segments::{Packets, Segment};

/// In packets: practically unreachable (YAPS).
const FIRST_THRESHOLD: u32 = 100_000;

#[derive(Debug)]
pub(super) struct Sender {
    packets: Packets,
    /// In ps.
    rto: u64,
    max_cwnd: u32,
    probe_after: u32,
    una: u64,
    next: u64,
    high: u64,
    sacked: Ranges,
    /// In packets.
    cwnd: u32,
    ssthresh: u32,
    heard: u32,
    timeouts: u32,
}

impl Sender {
    pub(super) fn new(params: &PfabricParams, packets: Packets) -> Self {
        Self {
            packets,
            rto: params.rto.0,
            max_cwnd: params.max_cwnd.unwrap_or(u32::MAX),
            probe_after: params.probe_after.unwrap_or(u32::MAX),
            una: 0,
            next: 0,
            high: 0,
            sacked: Ranges::default(),
            cwnd: params.init_cwnd,
            ssthresh: FIRST_THRESHOLD,
            heard: 0,
            timeouts: 0,
        }
    }

    pub(super) const fn rto(&self) -> u64 {
        self.rto
    }

    pub(super) const fn una(&self) -> u64 {
        self.una
    }

    /// Bytes not known to have arrived: the rank in queues.
    pub(super) fn left(&self) -> u64 {
        self.packets.size - self.una - self.sacked.bytes()
    }

    pub(super) fn window(&self) -> u64 {
        u64::from(self.cwnd) * self.packets.mss
    }

    pub(super) const fn size(&self) -> u64 {
        self.packets.size
    }

    /// Perhaps not for the last time.
    pub(super) const fn has_sent_all(&self) -> bool {
        self.high == self.packets.size
    }

    pub(super) const fn is_done(&self) -> bool {
        self.una == self.packets.size
    }

    const fn probes(&self) -> bool {
        self.timeouts >= self.probe_after
    }

    #[inline]
    pub(super) fn next_segment(&mut self) -> Option<Segment> {
        let end = self.una + u64::from(self.cwnd) * self.packets.mss + self.sacked.bytes();
        while !self.probes() && self.next < self.packets.size && self.next + self.packets.mss <= end {
            let seq = self.next;
            let len = self.packets.len(seq);
            self.next = seq + len;
            if self.sacked.first_missing(seq) == seq {
                let again = seq < self.high;
                self.high = self.high.max(self.next);
                return Some(Segment { seq, len, again });
            }
        }
        None
    }

    /// `next`: end of the first bytes. True if the flow may go on: bytes beyond the gap alone suffice only in the answer to a
    /// probe.
    pub(super) fn on_ack(&mut self, next: u64, beyond: &[Range]) -> bool {
        for &(start, end) in beyond {
            self.sacked.insert(start.max(self.una), end);
        }
        let resumes = self.probes();
        if resumes {
            self.timeouts = 0;
            self.next = self.una;
        }
        if next <= self.una {
            return resumes;
        }
        self.timeouts = 0;
        self.una = next;
        self.next = self.next.max(next);
        self.sacked.forget_before(next);
        self.grow();
        true
    }

    fn grow(&mut self) {
        if self.cwnd < self.ssthresh {
            self.cwnd += 1;
        } else {
            self.heard += 1;
            if self.heard >= self.cwnd {
                self.heard = 0;
                self.cwnd += 1;
            }
        }
        self.cwnd = self.cwnd.min(self.max_cwnd);
    }

    /// True for a probe instead of data.
    pub(super) fn on_timeout(&mut self) -> bool {
        self.timeouts += 1;
        self.ssthresh = (self.cwnd / 2).max(2);
        self.cwnd = 1;
        self.heard = 0;
        self.next = self.una;
        self.probes()
    }
}

#[cfg(test)]
mod tests {
    use incast_model::range;
    use incast_model::units::Time;

    use super::*;
    use crate::transport::TransportParams;

    const MSS: u64 = 1460;

    fn sender(packets: u64, params: &PfabricParams) -> Sender {
        Sender::new(params, Packets { size: packets * MSS, mss: MSS })
    }

    fn sent(sender: &mut Sender) -> Vec<u64> {
        std::iter::from_fn(|| sender.next_segment()).map(|segment| segment.seq / MSS).collect()
    }

    #[test]
    fn a_window_at_once_and_one_more_for_each_ack() {
        let params = PfabricParams { init_cwnd: 3, max_cwnd: Some(5), ..PfabricParams::default() };
        let mut flow = sender(20, &params);
        assert_eq!(sent(&mut flow), [0, 1, 2]);
        assert!(flow.on_ack(MSS, &[]));
        assert_eq!(sent(&mut flow), [3, 4]);
        assert!(flow.on_ack(3 * MSS, &[]));
        assert_eq!(sent(&mut flow), [5, 6, 7]);
        assert!(flow.on_ack(4 * MSS, &[]));
        assert_eq!((sent(&mut flow), flow.left()), (vec![8], 16 * MSS), "at most five in flight");
    }

    #[test]
    fn what_has_come_beyond_a_gap_makes_room_only_with_the_next_new_ack() {
        let params = PfabricParams { init_cwnd: 4, max_cwnd: Some(4), ..PfabricParams::default() };
        let mut flow = sender(20, &params);
        assert_eq!(sent(&mut flow), [0, 1, 2, 3]);
        assert!(!flow.on_ack(0, &[(MSS, 3 * MSS)]), "packets 1 and 2");
        assert_eq!(flow.left(), 18 * MSS);
        assert!(flow.on_ack(MSS * 3, &[]));
        assert_eq!(sent(&mut flow), [4, 5, 6]);
    }

    #[test]
    fn after_a_timeout_only_what_is_missing_is_sent_again() {
        let params = PfabricParams { init_cwnd: 6, max_cwnd: Some(6), ..PfabricParams::default() };
        let mut flow = sender(9, &params);
        sent(&mut flow);
        assert!(!flow.on_ack(0, &[(MSS, 2 * MSS), (3 * MSS, 4 * MSS)]));
        assert!(!flow.on_timeout());
        let again: Vec<_> = std::iter::from_fn(|| flow.next_segment()).map(|one| (one.seq / MSS, one.again)).collect();
        assert_eq!(again, [(0, true), (2, true)]);
        assert!(flow.on_ack(2 * MSS, &[(3 * MSS, 4 * MSS)]));
        assert_eq!((flow.cwnd, flow.ssthresh), (2, 3), "slow start again");
        assert_eq!(sent(&mut flow), [4]);
        assert!(flow.on_ack(9 * MSS, &[]) && flow.is_done());
    }

    #[test]
    fn beyond_the_threshold_a_window_of_acks_is_one_packet() {
        let mut flow = sender(100, &PfabricParams { init_cwnd: 8, ..PfabricParams::default() });
        sent(&mut flow);
        flow.on_timeout();
        let windows: Vec<u32> = (1..=13)
            .map(|ack| {
                flow.on_ack(ack * MSS, &[]);
                flow.cwnd
            })
            .collect();
        assert_eq!(windows, [2, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6]);
    }

    #[test]
    fn after_five_timeouts_it_probes_until_it_is_answered() {
        let mut flow = sender(3, &PfabricParams::default());
        sent(&mut flow);
        assert_eq!([(); 6].map(|()| flow.on_timeout()), [false, false, false, false, true, true]);
        assert!(sent(&mut flow).is_empty());
        assert!(flow.on_ack(0, &[(2 * MSS, 3 * MSS)]), "the answer to a probe has nothing new");
        assert_eq!(sent(&mut flow), [0, 1]);
        assert!(!flow.on_timeout());
        let without = PfabricParams::profile("yaps").unwrap();
        let mut flow = sender(3, &without);
        sent(&mut flow);
        assert!((0..100).all(|_| !flow.on_timeout()));
    }

    #[test]
    fn the_last_packet_may_be_short() {
        let mut flow = Sender::new(&PfabricParams::default(), Packets { size: MSS + 1, mss: MSS });
        assert_eq!(flow.next_segment(), Some(Segment { seq: 0, len: MSS, again: false }));
        assert_eq!(flow.next_segment(), Some(Segment { seq: MSS, len: 1, again: false }));
        assert_eq!((flow.next_segment(), flow.left()), (None, MSS + 1));
    }

    #[test]
    fn parameters_have_bounds() {
        for bad in [
            PfabricParams { init_cwnd: 0, ..PfabricParams::default() },
            PfabricParams { init_cwnd: 3, max_cwnd: Some(2), ..PfabricParams::default() },
            PfabricParams { rto: Time::ZERO, ..PfabricParams::default() },
            PfabricParams { probe_after: Some(0), ..PfabricParams::default() },
        ] {
            assert!(range::check(&bad).and_then(|()| bad.check()).is_err(), "{bad:?}");
        }
        for (name, _) in PfabricParams::PROFILES {
            assert_eq!(
                PfabricParams::profile(name).map(|profile| range::check(&profile).and_then(|()| profile.check())),
                Some(Ok(())),
                "{name}"
            );
        }
    }
}
