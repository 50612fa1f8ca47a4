//! Hosts with failed links, and PFC storms of hosts.

use incast_model::fabric::NodeId;

use super::{Host, PRIORITIES};
use crate::balance::State;
use crate::kernel::LocalPort;
use crate::nodes::lane::Failed;
use crate::nodes::message::PfcFrame;
use crate::nodes::out::{Dropped, Out};
use crate::nodes::plan::Plan;
use crate::nodes::run::ANY;
use crate::outcome::{DropReason, QueueRef};
use crate::plan::Network;

/// Pauses sent regardless of any buffer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hold {
    held: bool,
    pub(super) paused: bool,
    pub(super) xoffs: u32,
}

impl Host {
    pub(in crate::nodes) const fn balancer(&mut self) -> (NodeId, Option<&mut State>) {
        (self.params.node, self.balancer.as_mut())
    }

    /// The port is never idle, so it sends nothing.
    pub(in crate::nodes) fn fail(&mut self, network: &Network, nic: LocalPort, now: u64) -> Failed {
        self.begin_action(now);
        let state = &mut self.nics[nic];
        let free_at = std::mem::replace(&mut state.busy_until, u64::MAX);
        state.down = true;
        let paused = std::mem::take(&mut state.paused);
        for prio in (1..8).filter(|prio| paused & 1 << prio != 0) {
            self.end_pause(network, nic, prio);
        }
        let state = &mut self.nics[nic];
        let mut pausing = 0;
        for (prio, hold) in state.holds.iter_mut().enumerate() {
            pausing |= u8::from(std::mem::take(&mut hold.paused)) << prio;
        }
        Failed { free_at, paused, pausing }
    }

    pub(in crate::nodes) const fn begin_action(&mut self, now: u64) {
        (self.now, self.event) = (now, 0);
    }

    pub(in crate::nodes) fn empty(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        while self.nics[nic].waiting != 0 {
            let prio = self.nics[nic].waiting.trailing_zeros() as u8;
            let packet = self.dequeue::<ANY>(out, nic, prio);
            let (reason, egress) = (DropReason::LinkDown, Some(self.nics[nic].link.port));
            let dropped = Dropped { reason, ingress: None, egress, now: self.now, event: 0 };
            out.drop(plan.network, &packet, dropped);
            self.left::<ANY>(plan, out, &packet);
            out.progress.live -= 1;
        }
    }

    pub(in crate::nodes) fn repair(&mut self, nic: LocalPort, free_at: u64, now: u64) {
        self.begin_action(now);
        self.nics[nic].down = false;
        self.nics[nic].busy_until = free_at;
    }

    pub(in crate::nodes) fn hold(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        (nic, now): (LocalPort, u64),
        prio: u8,
        holds: bool,
    ) {
        self.begin_action(now);
        let state = &mut self.nics[nic];
        if state.holds.is_empty() {
            state.holds = vec![Hold::default(); PRIORITIES];
        }
        let hold = &mut state.holds[usize::from(prio)];
        hold.held = holds;
        if holds {
            self.pause_held(plan, out, nic, prio);
        } else if hold.paused {
            self.send_pfc(plan, out, nic, prio, false);
        }
    }

    pub(in crate::nodes) fn pause_anew(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        for prio in 0..self.nics[nic].holds.len() {
            if self.nics[nic].holds[prio].held {
                self.pause_held(plan, out, nic, prio as u8);
            }
        }
    }

    fn pause_held(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, prio: u8) {
        let state = &self.nics[nic];
        if !state.holds[usize::from(prio)].paused && !state.down {
            self.send_pfc(plan, out, nic, prio, true);
        }
    }

    fn send_pfc(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, prio: u8, xoff: bool) {
        let state = &mut self.nics[nic];
        let hold = &mut state.holds[usize::from(prio)];
        hold.paused = xoff;
        hold.xoffs += u32::from(xoff);
        let size = self.params.packets.pfc.0 as u16;
        let culprit = QueueRef { port: state.link.port, priority: prio };
        let frame = PfcFrame { prio, xoff, bytes: 0, culprit, root: None }.packet(size);
        out.counts.pauses += u64::from(xoff);
        out.inject(0, u64::from(frame.size));
        self.enqueue::<ANY>(out, nic, &frame);
        self.kick::<ANY>(plan, out, nic);
    }

    pub(in crate::nodes) fn holds(&self, nic: LocalPort, prio: u8) -> bool {
        self.nics[nic].holds.get(usize::from(prio)).is_some_and(|hold| hold.held)
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::LocalPort;
    use crate::nodes::bench::Frame::{Data, Xoff, Xon};
    use crate::nodes::bench::{Bench, flow};
    use crate::nodes::run::ANY;
    use crate::outcome::DropReason;

    #[test]
    fn a_storm_lasts_from_its_begin_to_its_end() {
        let mut bench = Bench::host(0, &[flow(0, 1, 1)], |_| {});
        for (time, holds) in [(50, true), (3000, false)] {
            bench.run(time);
            bench.at_host(|host, plan, out| host.hold(plan, out, (LocalPort(0), 1000 * time), 3, holds));
        }
        bench.run(5000);
        // The XOFF of 50 ns waits for the data packet.
        assert_eq!(bench.sent(0), [(100, Data(0, 0)), (110, Xoff(3, 0)), (3010, Xon(3))]);
    }

    #[test]
    fn a_failed_port_loses_its_queue_and_its_pauses_and_a_repaired_one_sends() {
        let mut bench = Bench::host(0, &[flow(0, 1, 3), flow(1, 0, 1)], |_| {});
        bench.put(0, &[(120, Data(1, 0)), (140, Xoff(3, 0))]);
        bench.run(150);
        let failed = bench.at_host(|host, plan, out| {
            let failed = host.fail(plan.network, LocalPort(0), 150_000);
            host.empty(plan, out, LocalPort(0));
            failed
        });
        // The second data packet was being sent; the acknowledgement that waited for its end is lost.
        assert_eq!((failed.free_at, failed.paused, failed.pausing), (200_000, 1 << 3, 0));
        assert_eq!(bench.drops(), [(150, DropReason::LinkDown, Some(1), Some(0))]);
        bench.run(1000);
        assert_eq!(bench.sent(0), [(100, Data(0, 0)), (200, Data(0, 1))]);
        bench.at_host(|host, plan, out| {
            host.repair(LocalPort(0), failed.free_at, 1_000_000);
            host.kick::<ANY>(plan, out, LocalPort(0));
        });
        bench.run(5000);
        assert_eq!(bench.sent(0), [(1100, Data(0, 2))]);
    }

    #[test]
    fn a_repaired_port_sends_the_pause_of_a_storm_again() {
        let mut bench = Bench::host(1, &[flow(0, 1, 1)], |_| {});
        let failed = bench.at_host(|host, plan, out| {
            host.hold(plan, out, (LocalPort(0), 500_000), 3, true);
            host.fail(plan.network, LocalPort(0), 1_000_000)
        });
        assert_eq!(failed.pausing, 1 << 3);
        bench.at_host(|host, plan, out| {
            host.repair(LocalPort(0), failed.free_at, 2_000_000);
            host.pause_anew(plan, out, LocalPort(0));
        });
        bench.run(5000);
        assert_eq!(bench.sent(0), [(510, Xoff(3, 0)), (2010, Xoff(3, 0))]);
    }
}
