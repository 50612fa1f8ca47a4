//! ECN marks.

use incast_model::rng::unit;

use super::{Hooks, Switch};
use crate::kernel::{LocalPort, flag};
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::run::NS3;
use crate::switch::Verdict;

impl<G: Hooks> Switch<G> {
    /// `queued` in bytes.
    #[inline]
    pub(super) fn mark<const RUN: u8>(&mut self, out: &mut Out, port: LocalPort, packet: &Packet, queued: u32) -> u8 {
        let hit = match self.ports[port].ecn.verdict(queued) {
            Verdict::Never => return 0,
            Verdict::Always => true,
            Verdict::WithProbability(p) if RUN == NS3 => out.ns3().draws.next() < p,
            Verdict::WithProbability(p) => unit(&mut self.rng) < p,
        };
        if !hit || self.settings.markable & 1 << packet.prio == 0 || !packet.kind.understands_marks(packet.flags) {
            return 0;
        }
        out.counts.marks += 1;
        self.ports[port].marks[usize::from(packet.prio & 7)] += 1;
        flag::CE
    }
}

#[cfg(test)]
mod tests {
    use incast_model::units::Bytes;

    use crate::marking::{EcnParams, MarkAt};
    use crate::nodes::bench::Frame::{Data, Xoff, Xon};
    use crate::nodes::bench::{Bench, flow};

    fn red(kmin: u64, kmax: u64, pmax: f64, mark_at: MarkAt) -> EcnParams {
        EcnParams { kmin: Bytes(kmin), kmax: Bytes(kmax), pmax, mark_at, ..EcnParams::default() }
    }

    /// Seven packets wait in a paused queue, then leave.
    fn marks(ecn: EcnParams) -> [bool; 7] {
        let mut bench = Bench::switch(&[flow(0, 2, 7)], |setup| setup.params.ecn = ecn);
        bench.put(2, &[(0, Xoff(3, 0)), (2000, Xon(3))]);
        bench.put(0, &[0, 1, 2, 3, 4, 5, 6].map(|number| (1000 + 100 * number, Data(0, number))));
        bench.run(9000);
        let marked: Vec<bool> = bench.packets(2).iter().map(|sent| sent.marked).collect();
        assert_eq!(bench.counts().marks, marked.iter().filter(|marked| **marked).count() as u64);
        marked.try_into().expect("seven packets")
    }

    #[test]
    fn marks_begin_above_kmin_and_are_certain_above_kmax() {
        // Behind the packets wait 7500, 6250, 5000, 3750, 2500, 1250 and 0 B.
        let dequeue = |kmin, kmax, pmax| marks(red(kmin, kmax, pmax, MarkAt::Dequeue));
        assert_eq!(dequeue(2500, 2500, 1.0), [true, true, true, true, false, false, false]);
        assert_eq!(dequeue(2499, 2499, 1.0), [true, true, true, true, true, false, false]);
        assert_eq!(dequeue(2500, 5000, 0.0), [true, true, false, false, false, false, false]);
        assert_eq!(dequeue(2500, 4999, 0.0), [true, true, true, false, false, false, false]);
    }

    #[test]
    fn at_enqueue_the_queue_before_the_packet_counts() {
        // The packets find 0, 1250, 2500, 3750, … B.
        let marked = marks(red(2500, 2500, 1.0, MarkAt::Enqueue));
        assert_eq!(marked, [false, false, false, true, true, true, true]);
    }

    /// Within four standard deviations.
    #[test]
    fn between_kmin_and_kmax_the_share_of_marks_is_on_the_line_to_pmax() {
        let count = 10_000;
        // A packet arrives whenever one leaves: behind each wait `waiting` - 1 packets of 1250 B.
        for (waiting, share) in [(3, 0.0), (4, 0.1), (5, 0.2), (6, 0.3), (7, 0.4), (8, 1.0)] {
            let mut bench = Bench::switch(&[flow(0, 2, count + waiting)], |setup| {
                setup.params.ecn = red(2500, 7500, 0.4, MarkAt::Dequeue);
            });
            bench.put(2, &[(0, Xoff(3, 0)), (1000, Xon(3))]);
            let early = (0..waiting).map(|number| (900, Data(0, number)));
            let later = (0..count).map(|number| (1000 + 100 * number, Data(0, waiting + number)));
            bench.put(0, &early.chain(later).collect::<Vec<_>>());
            bench.run(1000 + 100 * count);
            let (marks, packets) = (bench.counts().marks as f64, count as f64);
            let deviation = (packets * share * (1.0 - share)).sqrt();
            assert!((marks - packets * share).abs() <= 4.0 * deviation, "{marks} of {count}, {waiting} packets");
        }
    }
}
