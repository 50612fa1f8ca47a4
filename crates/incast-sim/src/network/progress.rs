use std::ops::ControlFlow;

use incast_model::fabric::PortId;
use incast_model::units::Time;

use super::Network;
use crate::kernel::{Event, NONE, Target, periodic, rank};
use crate::simulation::Progress;
use crate::stop::Halt;

/// Events between two checks of the budget and the observer.
pub(crate) const STRIDE: u64 = 1 << 15;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Simulated time in ps.
    pub(crate) horizon: u64,
    pub(crate) events: u64,
    /// Simulated time in ps without an arrival or a start, after which a run may count as stuck.
    pub(crate) stall: u64,
}

impl Network {
    pub(crate) fn run(&mut self, limits: Limits, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Halt {
        let mut look_from = self.look_from(limits);
        self.schedule_faults(limits.stall);
        self.schedule_start();
        self.schedule_sample(self.recorder.params.sample_from.0);
        self.schedule_watchdog();
        let mut last_arrival = 0;
        while self.flows_done < self.flows_due {
            let Some(event) = self.events.pop_current() else {
                if !self.events.advance() {
                    return Halt::Idle;
                }
                self.warm_up();
                continue;
            };
            if event.time >= look_from {
                if event.time > limits.horizon {
                    self.now = limits.horizon;
                    return Halt::Horizon;
                }
                if event.time >= self.detector.next {
                    self.look_for_deadlocks(event.time);
                    look_from = self.look_from(limits);
                }
                self.fingerprint(event);
            }
            if event.is_periodic() && self.events.all(Event::is_periodic) && !self.watchdog_will_act() {
                return Halt::Idle; // they alone would go on for ever
            }
            debug_assert!(event.time >= self.now, "time moves forward");
            self.now = event.time;
            self.rank = event.rank();
            self.counts.events += 1;
            match event.target() {
                Target::Arrival(port) => {
                    last_arrival = self.now;
                    self.arrival(port);
                }
                Target::Port(port) => self.port_free(port),
                Target::Timer(flow) => {
                    self.flow_timer(flow);
                    if self.now - last_arrival > limits.stall && self.is_stuck() {
                        return Halt::Idle;
                    }
                }
                Target::Wake(port) => self.reference_wake(port),
                Target::Start(flow) => {
                    last_arrival = self.now; // something will move
                    self.start_flow(flow);
                }
                Target::Agenda(nic) => self.keep_agenda(nic),
                Target::Periodic(which) => self.do_periodic(which),
                Target::Fault(_) => {
                    let still = self.now - last_arrival > limits.stall;
                    if self.fault(limits.stall) && (self.is_given_up() || still && self.is_stuck()) {
                        return Halt::Idle;
                    }
                }
            }
            if self.counts.events.is_multiple_of(STRIDE) {
                if self.counts.events >= limits.events {
                    return Halt::Budget;
                }
                if observe(&self.progress()).is_break() {
                    return Halt::Interrupted;
                }
            }
        }
        Halt::Finished
    }

    /// Time from which events are checked before they are handled: the horizon, the next search for deadlocks, or 0 for
    /// fingerprints. One comparison for all three.
    fn look_from(&self, limits: Limits) -> u64 {
        if self.recorder.params.fingerprint { 0 } else { self.detector.next.min(limits.horizon.saturating_add(1)) }
    }

    #[cold]
    fn fingerprint(&mut self, event: Event) {
        let Some(prints) = &mut self.recorder.prints else { return };
        let node_of = |port: u32| self.fabric.port(PortId(port)).node.0;
        let node = match event.target() {
            Target::Arrival(port) => node_of(self.ports[port as usize].peer),
            Target::Port(port) | Target::Wake(port) => node_of(port),
            Target::Agenda(nic) => node_of(self.nics[nic as usize].port),
            Target::Timer(flow) | Target::Start(flow) => {
                self.fabric.hosts()[self.flows.flows[flow as usize].src.index()].0
            }
            Target::Fault(_) | Target::Periodic(_) => NONE,
        };
        if event.target() != Target::Periodic(periodic::SAMPLE) {
            prints.event(node, event);
        }
    }

    /// Reads the packets about to arrive in this slot. They are seldom in the first-level cache; here their misses overlap
    /// instead of adding up one event at a time.
    #[inline]
    fn warm_up(&self) {
        let mut seen = 0;
        for event in self.events.current() {
            if let Target::Arrival(port) = event.target() {
                seen ^= self.pool[self.ports[port as usize].flight_head].dst;
            }
        }
        std::hint::black_box(seen);
    }

    /// Returns true if a run without progress for the stall time cannot progress again: a deadlock, or nothing to come but
    /// timers of controls that never send (no start, packet on a wire, paced flow, link change or watchdog; timeouts, if any,
    /// have passed several times).
    fn is_stuck(&self) -> bool {
        if self.faults.as_ref().is_some_and(|faults| faults.pending()) || self.watchdog_will_act() {
            return false;
        }
        let on_a_wire = self.ports.iter().any(|port| port.flight_head != NONE);
        let paced = self.senders.iter().any(|qp| qp.is_live() && qp.may_send() && qp.next_avail > self.now);
        let waits = on_a_wire || paced || self.starts_to_come();
        !waits || self.deadlock().is_some()
    }

    /// Returns true if a flow will start, by the clock or behind an open gate.
    pub(super) fn starts_to_come(&self) -> bool {
        self.next_flow < self.flows.flows.len() || self.gates.coming > 0
    }

    #[inline]
    fn port_free(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        if !state.at_host {
            state.pending = false;
            self.serve(port);
        } else if self.config.ns3 {
            self.reference_free(port);
        } else {
            self.nic_due(port);
        }
    }

    /// Not inlined, to keep the loop small.
    #[inline(never)]
    fn do_periodic(&mut self, which: u32) {
        match which {
            periodic::SAMPLE => self.take_sample(),
            periodic::ISOLATION => self.sweep_isolated(),
            _ => self.poll_watchdog(),
        }
    }

    fn take_sample(&mut self) {
        self.sample();
        self.sample_pairs();
        if let Some(every) = self.recorder.params.sample_every {
            self.schedule_sample(self.now + every.0);
        }
    }

    fn schedule_sample(&mut self, time: u64) {
        let params = &self.recorder.params;
        if params.sample_every.is_some() && params.sample_until.is_none_or(|until| Time(time) <= until) {
            // After everything else of its instant, in both arithmetics.
            self.events.push(Event::new(time, rank::LAST, Target::Periodic(periodic::SAMPLE)));
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress {
            now: Time(self.now),
            events: self.counts.events,
            packet_hops: self.counts.packet_hops(),
            flows_done: self.flows_done as u64,
            flows: self.flows_due as u64,
            bytes_acked: self.bytes_acked,
            bytes: self.bytes,
            end: self.end,
        }
    }
}
