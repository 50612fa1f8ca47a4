//! PFC watchdog of vendors: releases a queue that has been paused for too long, at the price of lost packets. States and times
//! are those of SONiC's `pfcwd`.

use incast_model::fabric::{NodeId, PortId};
use incast_model::range::above;
use incast_model::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::{Event, NONE, Target, periodic};
use crate::network::Network;
use crate::outcome::{DropReason, Storm};

/// PFC watchdog of switches, which polls every queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WatchdogParams {
    /// If true, switches have a watchdog. Default false (the HPCC evaluation).
    pub enabled: bool,
    /// Duration of an uninterrupted pause of a lossless queue that counts as a storm. Default 200ms (SONiC `pfcwd
    /// start_default`).
    #[schemars(transform = above("0s"))]
    pub detection: Time,
    /// Time without a pause that ends a storm. Default 200ms (SONiC `pfcwd start_default`).
    #[schemars(transform = above("0s"))]
    pub restoration: Time,
    /// Polling interval. Default 200ms (SONiC `pfcwd start_default`).
    #[schemars(transform = above("0s"))]
    pub poll: Time,
    /// Action during a storm. Default drop (SONiC `pfcwd start_default`).
    pub action: WatchdogAction,
}

impl Default for WatchdogParams {
    fn default() -> Self {
        let [detection, restoration, poll] = [Time::ms(200); 3];
        Self { enabled: false, detection, restoration, poll, action: WatchdogAction::default() }
    }
}

/// Action of the watchdog during a storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WatchdogAction {
    /// Drops the queue, packets for it, and packets that arrive by its port and priority.
    #[default]
    Drop,
    /// Ignores the pauses and sends, with or without buffer space at the next switch.
    Forward,
}

#[derive(Debug)]
pub(crate) struct Watchdog {
    pub(crate) params: WatchdogParams,
    /// By queue ([`Network::at`]), in a storm: time of its begin or of the last PFC frame, or of a link failure.
    storms: Vec<Option<u64>>,
    /// By port, as bits.
    pub(crate) stormy: Vec<u8>,
    /// By port: priorities in a storm that the peer has paused last.
    announced: Vec<u8>,
    pub(crate) records: Vec<Storm>,
    last: Vec<u32>,
}

impl Watchdog {
    pub(crate) fn new(params: WatchdogParams, ports: usize) -> Self {
        Self {
            params,
            storms: vec![None; 8 * ports],
            stormy: vec![0; ports],
            announced: vec![0; ports],
            records: Vec::new(),
            last: vec![NONE; 8 * ports],
        }
    }

    /// Voids the pauses over a link that has failed.
    pub(crate) fn link_down(&mut self, port: u32, now: u64) {
        self.announced[port as usize] = 0;
        let ports = self.stormy.len();
        for quiet_since in self.storms.iter_mut().skip(port as usize).step_by(ports).flatten() {
            *quiet_since = now;
        }
    }

    #[inline]
    pub(crate) fn drops(&self, port: u32, prio: u8) -> bool {
        self.params.action == WatchdogAction::Drop && self.stormy[port as usize] & 1 << prio != 0
    }
}

impl Network {
    pub(crate) fn schedule_watchdog(&mut self) {
        if let Some(watchdog) = &self.watchdog {
            let time = self.now.saturating_add(watchdog.params.poll.0);
            self.events.push(Event::new(time, 0, Target::Periodic(periodic::WATCHDOG)));
        }
    }

    /// True if a switch queue with packets is paused: a watchdog may yet act.
    pub(crate) fn watchdog_will_act(&self) -> bool {
        self.watchdog.is_some() && self.ports.iter().any(|port| !port.at_host && port.paused & port.waiting & !1 != 0)
    }

    /// True if a storm drops packets from `input` under `in_prio` to `output` under `prio`.
    pub(crate) fn in_storm(&self, input: u32, in_prio: u8, output: u32, prio: u8) -> bool {
        self.watchdog.as_ref().is_some_and(|dog| dog.drops(output, prio) || dog.drops(input, in_prio))
    }

    /// Records a pause (true) or resume in a storm, which voids the frame; false without a storm.
    pub(crate) fn void_in_storm(&mut self, port: u32, prio: u8, xoff: bool) -> bool {
        let now = self.now;
        let at = self.at(port, prio);
        let Some(watchdog) = &mut self.watchdog else { return false };
        let Some(quiet_since) = &mut watchdog.storms[at] else { return false };
        *quiet_since = now;
        let announced = &mut watchdog.announced[port as usize];
        *announced = if xoff { *announced | 1 << prio } else { *announced & !(1 << prio) };
        true
    }

    pub(crate) fn poll_watchdog(&mut self) {
        let Some(watchdog) = &self.watchdog else { return };
        let WatchdogParams { detection, restoration, .. } = watchdog.params;
        for port in 0..self.ports.len() as u32 {
            if self.ports[port as usize].at_host {
                continue;
            }
            for prio in 1..8 {
                if self.config.lossless & 1 << prio == 0 {
                    continue;
                }
                let at = self.at(port, prio);
                let Some(watchdog) = &self.watchdog else { return };
                let announced = watchdog.announced[port as usize] & 1 << prio != 0;
                match (watchdog.storms[at], self.recorder.paused_since(at)) {
                    (None, Some(since)) if self.now - since.0 >= detection.0 => self.begin_storm(port, prio),
                    (Some(quiet_since), _) if !announced && self.now - quiet_since >= restoration.0 => {
                        self.end_storm(port, prio);
                    }
                    _ => {}
                }
            }
        }
        self.schedule_watchdog();
    }

    fn begin_storm(&mut self, port: u32, prio: u8) {
        let (at, now, bit) = (self.at(port, prio), self.now, 1 << prio);
        let Some(watchdog) = &mut self.watchdog else { return };
        watchdog.storms[at] = Some(now);
        watchdog.stormy[port as usize] |= bit;
        watchdog.announced[port as usize] |= bit;
        watchdog.last[at] = watchdog.records.len() as u32;
        watchdog.records.push(Storm { port: PortId(port), priority: prio, begin: Time(now), end: None });
        let drops = watchdog.params.action == WatchdogAction::Drop;
        self.end_pause(port, prio);
        self.recorder.resume(at, Time(now));
        self.ports[port as usize].paused &= !bit;
        if drops {
            self.flush(port, prio);
        }
        self.kick(port);
    }

    fn end_storm(&mut self, port: u32, prio: u8) {
        let (at, now) = (self.at(port, prio), self.now);
        let Some(watchdog) = &mut self.watchdog else { return };
        watchdog.storms[at] = None;
        watchdog.stormy[port as usize] &= !(1 << prio);
        if let Some(storm) = watchdog.records.get_mut(watchdog.last[at] as usize) {
            storm.end = Some(Time(now));
        }
    }

    fn flush(&mut self, port: u32, prio: u8) {
        let node: NodeId = self.fabric.port(PortId(port)).node;
        while self.ports[port as usize].waiting & 1 << prio != 0 {
            let id = self.dequeue(port, prio);
            let input = self.pool[id].in_port;
            self.count_drop(id, DropReason::Watchdog, node, Some(input), Some(port));
            self.leave_buffer(port, id);
            self.pool.release(id);
        }
    }
}
