//! Switches with failed links, and ports that hold priorities in a PFC storm.

use incast_model::fabric::NodeId;

use super::{Hooks, Switch};
use crate::balance::State;
use crate::kernel::LocalPort;
use crate::nodes::lane::Failed;
use crate::nodes::out::Out;
use crate::nodes::plan::Plan;
use crate::nodes::run::ANY;
use crate::outcome::DropReason;
use crate::plan::Network;
use crate::switch::Storage;

impl<G: Hooks> Switch<G> {
    pub(in crate::nodes) const fn balancer(&mut self) -> (NodeId, Option<&mut State>) {
        (self.node, self.balancer.as_mut())
    }

    /// Takes a port down. It is never idle, so it sends nothing.
    pub(in crate::nodes) fn fail(&mut self, network: &Network, port: LocalPort, now: u64) -> Failed {
        self.begin_action(now);
        let state = &mut self.ports[port];
        state.down = true;
        let free_at = std::mem::replace(&mut state.busy_until, u64::MAX);
        let paused = std::mem::take(&mut state.paused);
        for prio in (0..8).filter(|prio| paused & 1 << prio != 0) {
            self.end_pause(network, port, prio);
        }
        let state = &mut self.ports[port];
        let mut pausing = 0;
        for (prio, lane) in state.lanes.iter_mut().enumerate() {
            pausing |= u8::from(std::mem::take(&mut lane.ingress.paused)) << prio;
        }
        G::link_down(self, port);
        Failed { free_at, paused, pausing }
    }

    pub(in crate::nodes) fn empty(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort) {
        while self.ports[port].waiting != 0 {
            let prio = self.ports[port].waiting.trailing_zeros() as u8;
            self.drop_first(plan, out, (port, prio), DropReason::LinkDown);
        }
    }

    pub(in crate::nodes) fn drop_first(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        (port, prio): (LocalPort, u8),
        reason: DropReason,
    ) {
        let packet = self.dequeue::<ANY>(out, port, prio);
        self.drop_packet(plan, out, Some(port), &packet, reason);
        if prio == 0 || self.settings.storage != Storage::Shared {
            return;
        }
        let (in_port, in_prio) = (packet.in_port, packet.in_prio & 7);
        let size = self.occupied::<ANY>(packet.size.into());
        let ingress = &mut self.ports[in_port].lanes[usize::from(in_prio)].ingress;
        self.buffer.release(ingress, size);
        if self.buffer.wants_xon(ingress) {
            self.send_pfc::<ANY>(plan, out, in_port, in_prio, false, (port, prio));
        }
    }

    pub(in crate::nodes) fn repair(&mut self, port: LocalPort, free_at: u64, now: u64) {
        self.begin_action(now);
        self.ports[port].down = false;
        self.ports[port].busy_until = free_at;
    }

    /// Drops of actions come before those of arrivals.
    pub(in crate::nodes) const fn begin_action(&mut self, now: u64) {
        self.clock.begin_action(now);
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::LocalPort;
    use incast_model::units::{Bytes, Time};

    use crate::network::FailureParams;
    use crate::nodes::bench::Frame::{Data, Xoff, Xon};
    use crate::nodes::bench::{Bench, flow};
    use crate::outcome::DropReason;
    use crate::switch::PfcMode;

    /// Packets from h0 to h2 arrive at 1000, 1100 and 1200 ns; h2 pauses their queue at 1050 ns. Two wait, and pause h0 (XOFF
    /// at 2500 B, XON from 1250 B on).
    fn two_waiting() -> Bench {
        let mut bench = Bench::switch(&[flow(0, 2, 5)], |setup| {
            let link = Some(["h2".into(), "s0".into()]);
            setup.params.network.failure = vec![FailureParams { link, at: Time::ms(1), ..FailureParams::default() }];
            setup.params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(2500) };
            setup.params.switch.resume_offset = Bytes(1250);
        });
        bench.put(2, &[(1050, Xoff(3, 0))]);
        bench.put(0, &[(1000, Data(0, 0)), (1100, Data(0, 1)), (1200, Data(0, 2))]);
        bench.run(1500);
        bench
    }

    #[test]
    fn a_failed_port_loses_its_queue_and_its_pauses() {
        let mut bench = two_waiting();
        let failed = bench.at_switch(|switch, plan, out| {
            let failed = switch.fail(plan.network, LocalPort(2), 1_500_000);
            switch.empty(plan, out, LocalPort(2));
            failed
        });
        // The first packet was sent until 1100 ns; h2 had paused priority 3, and was not paused.
        assert_eq!((failed.free_at, failed.paused, failed.pausing), (1_100_000, 1 << 3, 0));
        bench.run(5000);
        assert_eq!(bench.drops(), [(1500, DropReason::LinkDown, Some(0), Some(2)); 2]);
        // h0 may send again once one of the two packets is gone.
        assert_eq!(bench.sent(0), [(1210, Xoff(3, 2500)), (1510, Xon(3))]);
        assert_eq!(bench.sent(2), [(1100, Data(0, 0))]);
    }

    #[test]
    fn a_failed_port_forgets_that_it_paused_its_peer() {
        let mut bench = two_waiting();
        let failed = bench.at_switch(|switch, plan, _| switch.fail(plan.network, LocalPort(0), 1_500_000));
        assert_eq!((failed.free_at, failed.paused, failed.pausing), (1_210_000, 0, 1 << 3));
        bench.put(2, &[(2000, Xon(3))]);
        bench.run(5000);
        assert_eq!(bench.sent(0), [(1210, Xoff(3, 2500))], "no XON");
        assert_eq!(bench.sent(2), [(1100, Data(0, 0)), (2100, Data(0, 1)), (2200, Data(0, 2))]);
    }

    #[test]
    fn a_repaired_port_sends_unpaused() {
        let mut bench = two_waiting();
        bench.at_switch(|switch, plan, out| {
            let failed = switch.fail(plan.network, LocalPort(2), 1_500_000);
            switch.empty(plan, out, LocalPort(2));
            switch.repair(LocalPort(2), failed.free_at, 2_000_000);
        });
        bench.put(0, &[(2000, Data(0, 3))]);
        bench.run(5000);
        assert_eq!(bench.sent(2), [(1100, Data(0, 0)), (2100, Data(0, 3))]);
    }

    #[test]
    fn a_repaired_port_pauses_its_peer_again_above_the_threshold() {
        let mut bench = two_waiting();
        bench.at_switch(|switch, plan, out| {
            let failed = switch.fail(plan.network, LocalPort(0), 1_500_000);
            switch.repair(LocalPort(0), failed.free_at, 2_000_000);
            [0, 1].into_iter().for_each(|port| switch.pause_anew(plan, out, LocalPort(port)));
        });
        bench.put(2, &[(3000, Xon(3))]);
        bench.run(5000);
        assert_eq!(bench.sent(0), [(1210, Xoff(3, 2500)), (2010, Xoff(3, 2500)), (3010, Xon(3))]);
        assert_eq!(bench.sent(1), [], "nothing of h1 waits");
    }

    #[test]
    fn a_repaired_port_sends_the_pause_of_a_storm_again() {
        let mut bench = two_waiting();
        bench.at_switch(|switch, plan, out| {
            switch.hold(plan, out, (LocalPort(1), 1_500_000), 3, true);
            let failed = switch.fail(plan.network, LocalPort(1), 2_000_000);
            switch.repair(LocalPort(1), failed.free_at, 3_000_000);
            switch.pause_anew(plan, out, LocalPort(1));
        });
        bench.run(5000);
        assert_eq!(bench.sent(1), [(1510, Xoff(3, 0)), (3010, Xoff(3, 0))]);
    }
}
