//! ECN marks.

use incast_model::rng::unit;

use super::{Hooks, Switch};
use crate::kernel::LocalPort;
use crate::kernel::flag;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::run::NS3;
use crate::switch::Verdict;

impl<G: Hooks> Switch<G> {
    /// Mark of a packet in an egress queue of `queued` bytes, if it gets one.
    #[inline]
    pub(super) fn mark<const RUN: u8>(&mut self, out: &mut Out, port: LocalPort, packet: &Packet, queued: u32) -> u8 {
        let hit = match self.ports[port].ecn.verdict(queued) {
            Verdict::Never => return 0,
            Verdict::Always => true,
            Verdict::WithProbability(p) if RUN == NS3 => out.ns3().draws.next() < p,
            Verdict::WithProbability(p) => unit(&mut self.rng) < p,
        };
        if !hit || self.markable & 1 << packet.prio == 0 || !packet.kind.understands_marks(packet.flags) {
            return 0;
        }
        out.counts.marks += 1;
        self.ports[port].marks[usize::from(packet.prio & 7)] += 1;
        flag::CE
    }
}
