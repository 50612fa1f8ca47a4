//! PFC watchdog, with the states and times of SONiC's `pfcwd`.

use incast_model::fabric::NodeId;
use incast_model::units::Time;

use super::{Guard, Guards};
use crate::kernel::{IdVec, LocalPort};
use crate::nodes::Nodes;
use crate::nodes::books::Books;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::run::ANY;
use crate::nodes::switch::Switch;
use crate::outcome::{DropReason, Storm};
use crate::plan::Network;
use crate::switch::{WatchdogAction, WatchdogParams};

#[derive(Debug, Clone, Copy)]
struct Stormy {
    /// Begin of the storm, last PFC frame, or failure of the link.
    quiet_since: u64,
    /// True if the last frame was a pause.
    announced: bool,
    /// Number of its record.
    record: usize,
}

#[derive(Debug)]
pub(in crate::nodes) struct Watchdog {
    params: WatchdogParams,
    storms: IdVec<LocalPort, [Option<Stormy>; 8]>,
}

impl Guard for Watchdog {
    fn new(plan: Plan<'_>, node: NodeId) -> Option<Self> {
        let ports = plan.network.fabric.ports_of(node).len();
        let params = plan.network.switches.params.watchdog;
        params.enabled.then(|| Self { params, storms: vec![[None; 8]; ports].into() })
    }

    fn routed(
        switch: &mut Switch<Guards>,
        _plan: Plan<'_>,
        _out: &mut Out,
        port: LocalPort,
        packet: &mut Packet,
    ) -> Option<DropReason> {
        let dog = switch.guards.watchdog.as_ref()?;
        let drops = dog.drops(port, packet.prio) || dog.drops(packet.in_port, packet.in_prio);
        drops.then_some(DropReason::Watchdog)
    }

    fn voids(switch: &mut Switch<Guards>, port: LocalPort, prio: u8, xoff: bool) -> bool {
        let now = switch.now();
        let acts = switch.guards.watchdog.as_ref().is_some_and(|dog| dog.acts());
        let storm = switch.guards.watchdog.as_mut().and_then(|dog| dog.storms[port][usize::from(prio)].as_mut());
        storm.is_some_and(|storm| {
            (storm.quiet_since, storm.announced) = (now, xoff);
            acts
        })
    }

    fn link_down(switch: &mut Switch<Guards>, port: LocalPort) {
        let now = switch.now();
        let Some(dog) = &mut switch.guards.watchdog else { return };
        for storm in dog.storms[port].iter_mut().flatten() {
            (storm.quiet_since, storm.announced) = (now, false);
        }
    }
}

impl Watchdog {
    /// False if it only records storms.
    fn acts(&self) -> bool {
        self.params.action != WatchdogAction::Alert
    }

    fn drops(&self, port: LocalPort, prio: u8) -> bool {
        self.params.action == WatchdogAction::Drop && self.storms[port][usize::from(prio & 7)].is_some()
    }
}

impl Nodes {
    pub(in crate::nodes) fn poll_watchdogs(&mut self) {
        let plan = Plan { layout: &self.layout, network: &self.network };
        self.partitions.for_each_switch(|switch, out| {
            switch.begin_action(self.books.now);
            let mut queues = switch.ports.ids().flat_map(|port| (1..8).map(move |prio| (port, prio)));
            while let Some((port, prio)) = switch.poll_queues(plan.network, &mut self.books, &mut queues) {
                switch.release_queue(plan, out, port, prio);
            }
        });
        self.partitions.deliver(self.run);
    }
}

impl Switch<Guards> {
    /// Ends the storms of queues, up to the next queue that begins one.
    fn poll_queues(
        &mut self,
        network: &Network,
        books: &mut Books,
        queues: &mut impl Iterator<Item = (LocalPort, u8)>,
    ) -> Option<(LocalPort, u8)> {
        let WatchdogParams { detection, restoration, .. } = self.guards.watchdog.as_ref()?.params;
        let now = books.now;
        for (port, prio) in queues {
            let Some(dog) = self.guards.watchdog.as_ref().filter(|_| self.settings.lossless & 1 << prio != 0) else {
                continue;
            };
            match (dog.storms[port][usize::from(prio)], self.pauses[port][usize::from(prio)].since) {
                (None, Some(since)) if now - since >= detection.0 => {
                    self.begin_storm(network, books, port, prio);
                    return Some((port, prio));
                }
                (Some(storm), _) if !storm.announced && now - storm.quiet_since >= restoration.0 => {
                    self.end_storm(books, port, prio);
                }
                _ => {}
            }
        }
        None
    }

    fn begin_storm(&mut self, network: &Network, books: &mut Books, port: LocalPort, prio: u8) {
        let number = self.ports[port].number;
        let (at, now) = (network.at(number, prio), books.now);
        if self.guards.watchdog.as_ref().is_some_and(|dog| dog.acts()) {
            books.recorder.resume(at, Time(now));
            self.end_pause(network, port, prio);
            self.ports[port].paused &= !(1 << prio);
        }
        let storm = Stormy { quiet_since: now, announced: true, record: books.storms.len() };
        books.storms.push(Storm { port: number, priority: prio, begin: Time(now), end: None });
        if let Some(dog) = &mut self.guards.watchdog {
            dog.storms[port][usize::from(prio)] = Some(storm);
        }
    }

    fn release_queue(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort, prio: u8) {
        if self.guards.watchdog.as_ref().is_some_and(|dog| dog.drops(port, prio)) {
            while self.ports[port].waiting & 1 << prio != 0 {
                self.drop_first(plan, out, (port, prio), DropReason::Watchdog);
            }
        }
        self.serve_or_wait::<ANY>(plan, out, port);
    }

    fn end_storm(&mut self, books: &mut Books, port: LocalPort, prio: u8) {
        let ended = self.guards.watchdog.as_mut().and_then(|dog| dog.storms[port][usize::from(prio)].take());
        if let Some(storm) = ended {
            books.storms[storm.record].end = Some(Time(books.now));
        }
    }

    /// True if a pause by the far end stops a queue, which a watchdog may prevent.
    pub(in crate::nodes) fn keeps(&self, port: LocalPort, prio: u8) -> bool {
        match &self.guards.watchdog {
            Some(dog) if dog.acts() => dog.drops(port, prio),
            _ => self.ports[port].paused & 1 << prio != 0,
        }
    }

    /// True if a queue with packets is paused.
    pub(in crate::nodes) fn may_be_released(&self) -> bool {
        self.guards.watchdog.as_ref().is_some_and(|dog| dog.acts())
            && self.ports.iter().any(|port| port.paused & port.waiting & !1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use incast_model::flow::Flow;

    use super::*;
    use crate::nodes::bench::Frame::{Data, Xoff, Xon};
    use crate::nodes::bench::{Bench, flow};

    /// Flow 0 from h0 to h2, flow 1 back, flow 2 of another priority. h2 pauses priority 3 at 1000 ns, and two packets of flow
    /// 0 wait. Detection after 20 us, restoration after 30 us.
    fn paused(action: WatchdogAction) -> Bench {
        let flows = [flow(0, 2, 9), flow(2, 0, 1), Flow { priority: 5, ..flow(1, 2, 1) }];
        let (detection, restoration) = (Time::us(20), Time::us(30));
        let params = WatchdogParams { enabled: true, detection, restoration, action, ..WatchdogParams::default() };
        let mut bench = Bench::switch(&flows, |setup| setup.params.switch.watchdog = params);
        bench.put(2, &[(1000, Xoff(3, 0))]);
        bench.put(0, &[(1100, Data(0, 0)), (1200, Data(0, 1))]);
        bench
    }

    /// Polls at a time in ns. Returns begins and ends of storms in ns.
    fn poll(bench: &mut Bench, time: u64) -> Vec<(u64, Option<u64>)> {
        bench.run(time);
        bench.nodes.books.now = 1000 * time;
        bench.nodes.poll_watchdogs();
        let storm = |storm: &Storm| (storm.begin.0 / 1000, storm.end.map(|end| end.0 / 1000));
        bench.nodes.books.storms.iter().map(storm).collect()
    }

    #[test]
    fn a_pause_of_the_detection_time_is_a_storm() {
        let mut bench = paused(WatchdogAction::Drop);
        assert_eq!(poll(&mut bench, 20_999), []);
        assert!(bench.nodes.may_be_released());
        assert_eq!(poll(&mut bench, 21_000), [(21_000, None)]);
        let Storm { port, priority, .. } = bench.nodes.books.storms[0];
        assert_eq!((port, priority), (bench.port(2), 3));
    }

    #[test]
    fn a_pause_with_an_interruption_begins_again() {
        let mut bench = paused(WatchdogAction::Drop);
        bench.put(2, &[(15_000, Xon(3)), (15_050, Xoff(3, 0))]);
        assert_eq!(poll(&mut bench, 35_049), []);
        assert_eq!(poll(&mut bench, 35_050), [(35_050, None)]);
    }

    #[test]
    fn a_storm_drops_its_queue_and_later_packets_to_and_from_it() {
        let mut bench = paused(WatchdogAction::Drop);
        poll(&mut bench, 21_000);
        assert_eq!(bench.counts().watchdog_drops, 2);
        bench.put(0, &[(22_000, Data(0, 2))]);
        bench.put(1, &[(23_000, Data(2, 0))]);
        bench.put(2, &[(24_000, Data(1, 0))]);
        bench.run(30_000);
        let drop = |time, flow, egress| (time, DropReason::Watchdog, Some(flow), Some(egress));
        assert_eq!(bench.drops()[2..], [drop(22_000, 0, 2), drop(24_000, 1, 0)]);
        assert_eq!(
            [bench.sent(0), bench.sent(2)],
            [vec![], vec![(23_100, Data(2, 0))]],
            "another priority is not dropped"
        );
        assert_eq!((bench.counts().watchdog_bytes, bench.counts().watchdog_lossless_drops), (5000, 4));
        assert!(bench.at_switch(|switch, _, _| switch.balances()), "the buffer of dropped packets is free");
    }

    #[test]
    fn a_storm_ends_after_the_restoration_time_without_pauses() {
        let mut bench = paused(WatchdogAction::Drop);
        poll(&mut bench, 21_000);
        // In a storm, frames affect only its end: 30 us after the last XON.
        bench.put(2, &[(22_000, Xon(3)), (30_000, Xoff(3, 0)), (40_000, Xon(3))]);
        bench.put(0, &[(69_000, Data(0, 2)), (70_500, Data(0, 3))]);
        assert_eq!(poll(&mut bench, 69_999), [(21_000, None)]);
        assert_eq!(poll(&mut bench, 70_000), [(21_000, Some(70_000))]);
        bench.run(80_000);
        assert_eq!((bench.sent(2), bench.counts().watchdog_drops), (vec![(70_600, Data(0, 3))], 3));
    }

    #[test]
    fn a_storm_under_pauses_does_not_end() {
        let mut bench = paused(WatchdogAction::Drop);
        poll(&mut bench, 21_000);
        assert_eq!(poll(&mut bench, 900_000), [(21_000, None)]);
        bench.put(2, &[(900_000, Xon(3)), (910_000, Xoff(3, 0))]);
        assert_eq!(poll(&mut bench, 2_000_000), [(21_000, None)], "its last frame was an XOFF");
    }

    #[test]
    fn a_storm_that_only_alerts_is_recorded_and_changes_nothing() {
        let mut bench = paused(WatchdogAction::Alert);
        assert_eq!(poll(&mut bench, 21_000), [(21_000, None)]);
        assert!(!bench.nodes.may_be_released());
        bench.put(0, &[(22_000, Data(0, 2))]);
        bench.run(30_000);
        assert_eq!((bench.sent(2), bench.counts().watchdog_drops), (vec![], 0), "the pause stays in force");
        bench.put(2, &[(40_000, Xon(3))]);
        bench.run(41_000);
        assert_eq!(bench.sent(2), [(40_100, Data(0, 0)), (40_200, Data(0, 1)), (40_300, Data(0, 2))]);
        assert_eq!(poll(&mut bench, 69_999), [(21_000, None)]);
        assert_eq!(poll(&mut bench, 70_000), [(21_000, Some(70_000))], "30 us after the XON");
    }

    #[test]
    fn a_storm_that_forwards_sends_its_queue_and_ignores_pauses() {
        let mut bench = paused(WatchdogAction::Forward);
        poll(&mut bench, 21_000);
        bench.put(2, &[(22_000, Xoff(3, 0))]);
        bench.put(0, &[(23_000, Data(0, 2))]);
        bench.run(30_000);
        assert_eq!(bench.sent(2), [(21_100, Data(0, 0)), (21_200, Data(0, 1)), (23_100, Data(0, 2))]);
        assert_eq!(bench.counts().watchdog_drops, 0);
    }
}
