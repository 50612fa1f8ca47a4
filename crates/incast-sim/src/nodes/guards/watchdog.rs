//! PFC watchdog: releases queues that have been paused for too long. States and times are those of SONiC's `pfcwd`.

use incast_model::fabric::{NodeId, PortId};
use incast_model::units::Time;

use super::{Guard, Guards};
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

/// Queue in a storm.
#[derive(Debug, Clone, Copy)]
struct Stormy {
    /// Begin of the storm, last PFC frame, or failure of the link; in ps.
    quiet_since: u64,
    /// If true, the last frame was a pause.
    announced: bool,
    /// Number of its record.
    record: usize,
}

#[derive(Debug)]
pub(in crate::nodes) struct Watchdog {
    params: WatchdogParams,
    /// By port and priority.
    storms: Vec<[Option<Stormy>; 8]>,
}

impl Guard for Watchdog {
    fn new(plan: Plan<'_>, node: u32) -> Option<Self> {
        let ports = plan.network.fabric.ports_of(NodeId(node)).len();
        let params = plan.network.switch.watchdog;
        params.enabled.then(|| Self { params, storms: vec![[None; 8]; ports] })
    }

    fn routed(
        switch: &mut Switch<Guards>,
        _plan: Plan<'_>,
        _out: &mut Out,
        port: usize,
        packet: &mut Packet,
    ) -> Option<DropReason> {
        let dog = switch.guards.watchdog.as_ref()?;
        let drops = dog.drops(port, packet.prio) || dog.drops(packet.in_port.into(), packet.in_prio);
        drops.then_some(DropReason::Watchdog)
    }

    fn voids(switch: &mut Switch<Guards>, port: usize, prio: u8, xoff: bool) -> bool {
        let now = switch.now();
        let storm = switch.guards.watchdog.as_mut().and_then(|dog| dog.storms[port][usize::from(prio)].as_mut());
        storm.is_some_and(|storm| {
            (storm.quiet_since, storm.announced) = (now, xoff);
            true
        })
    }

    fn link_down(switch: &mut Switch<Guards>, port: usize) {
        let now = switch.now();
        let Some(dog) = &mut switch.guards.watchdog else { return };
        for storm in dog.storms[port].iter_mut().flatten() {
            (storm.quiet_since, storm.announced) = (now, false);
        }
    }
}

impl Watchdog {
    fn drops(&self, port: usize, prio: u8) -> bool {
        self.params.action == WatchdogAction::Drop && self.storms[port][usize::from(prio & 7)].is_some()
    }
}

impl Nodes {
    /// Begins and ends storms at all switches.
    pub(in crate::nodes) fn poll_watchdogs(&mut self) {
        for switch in &mut self.switches {
            switch.begin_action(self.books.now);
            let mut next = 0;
            while let Some(begun) = switch.poll_queues(&self.network, &mut self.books, next) {
                let plan = Plan { layout: &self.layout, network: &self.network };
                switch.release_queue(plan, &mut self.out, begun / 8, (begun % 8) as u8);
                next = begun + 1;
            }
        }
    }
}

impl Switch<Guards> {
    /// Ends storms, from queue `first` (eight per port) to the next queue that begins one.
    fn poll_queues(&mut self, network: &Network, books: &mut Books, first: usize) -> Option<usize> {
        let WatchdogParams { detection, restoration, .. } = self.guards.watchdog.as_ref()?.params;
        let now = books.now;
        for queue in first..8 * self.ports.len() {
            let (port, prio) = (queue / 8, (queue % 8) as u8);
            let Some(dog) = self.guards.watchdog.as_ref().filter(|_| self.lossless & 1 << prio & !1 != 0) else {
                continue;
            };
            match (dog.storms[port][usize::from(prio)], self.pauses[port][usize::from(prio)].since) {
                (None, Some(since)) if now - since >= detection.0 => {
                    self.begin_storm(network, books, port, prio);
                    return Some(queue);
                }
                (Some(storm), _) if !storm.announced && now - storm.quiet_since >= restoration.0 => {
                    self.end_storm(books, port, prio);
                }
                _ => {}
            }
        }
        None
    }

    fn begin_storm(&mut self, network: &Network, books: &mut Books, port: usize, prio: u8) {
        let number = self.ports[port].number;
        let (at, now) = (network.at(number, prio), books.now);
        books.recorder.resume(at, Time(now));
        self.end_pause(network, port, prio);
        self.ports[port].paused &= !(1 << prio);
        let storm = Stormy { quiet_since: now, announced: true, record: books.storms.len() };
        books.storms.push(Storm { port: PortId(number), priority: prio, begin: Time(now), end: None });
        if let Some(dog) = &mut self.guards.watchdog {
            dog.storms[port][usize::from(prio)] = Some(storm);
        }
    }

    /// Drops the queue of a new storm, or lets it send.
    fn release_queue(&mut self, plan: Plan<'_>, out: &mut Out, port: usize, prio: u8) {
        if self.guards.watchdog.as_ref().is_some_and(|dog| dog.drops(port, prio)) {
            while self.ports[port].waiting & 1 << prio != 0 {
                self.drop_first(plan, out, (port, prio), DropReason::Watchdog);
            }
        }
        self.serve_or_wait::<ANY>(plan, out, port);
    }

    fn end_storm(&mut self, books: &mut Books, port: usize, prio: u8) {
        let ended = self.guards.watchdog.as_mut().and_then(|dog| dog.storms[port][usize::from(prio)].take());
        if let Some(storm) = ended {
            books.storms[storm.record].end = Some(Time(books.now));
        }
    }

    /// Returns true if packets of a queue do not leave while the far end pauses it: a watchdog may let them.
    pub(in crate::nodes) fn keeps(&self, port: usize, prio: u8) -> bool {
        match &self.guards.watchdog {
            Some(dog) => dog.drops(port, prio),
            None => self.ports[port].paused & 1 << prio != 0,
        }
    }

    /// Returns true if a queue with packets is paused: a watchdog may yet act.
    pub(in crate::nodes) fn may_be_released(&self) -> bool {
        self.guards.watchdog.is_some() && self.ports.iter().any(|port| port.paused & port.waiting & !1 != 0)
    }
}
