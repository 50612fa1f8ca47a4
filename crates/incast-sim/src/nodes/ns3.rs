//! Runs in `ns3` arithmetic: one queue of all events, in which ties go by *rank*, the order of scheduling.
//!
//! What the HPCC authors' simulator shares among all nodes (ranks, random numbers) is here; nodes reach it through [`Out`].

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::out::Out;
use super::plan::{Layout, Plan};
use super::windows::Watch;
use super::{Nodes, Place};
use crate::kernel::{Event, EventQueue, Target, rank};
use crate::network::{Limits, Network, STRIDE};
use crate::ns3::{Draws, Rand};
use crate::simulation::Progress;
use crate::stop::Halt;

#[derive(Debug)]
pub(super) struct Ns3 {
    events: EventQueue,
    /// Rank of the current event, and of the last event scheduled.
    pub(super) rank: u64,
    last_rank: u64,
    /// By port: rank of the end of its transmission.
    end_rank: Vec<u64>,
    /// By wire: port that sends into it, and ranks of the arrivals of its packets.
    inward: Vec<u32>,
    ranks: Vec<VecDeque<u64>>,
    /// Random numbers of ECN marks, and of PINT.
    pub(super) draws: Draws,
    pub(super) rand: Option<Rand>,
    /// Flow whose sender has got the last ACK in the current event.
    pub(super) completed: Option<u32>,
    /// Next flow to start that is not behind a gate.
    next_flow: u32,
}

impl Ns3 {
    /// `None` in exact arithmetic.
    pub(super) fn new(network: &Network, layout: &Layout) -> Option<Box<Self>> {
        let wires = layout.inward.len();
        network.config.ns3.then(|| {
            Box::new(Self {
                events: EventQueue::new(network.slot_bits),
                rank: 0,
                last_rank: 0,
                end_rank: vec![0; wires],
                inward: layout.inward.clone(),
                ranks: vec![VecDeque::new(); wires],
                draws: Draws::new(network.fabric.nodes().len() as u64),
                rand: network.pint.as_ref().map(|_| Rand::default()),
                completed: None,
                next_flow: 0,
            })
        })
    }

    fn take_rank(&mut self) -> u64 {
        self.last_rank += 1;
        self.last_rank
    }

    /// Begins a transmission of a port.
    pub(super) fn transmit(&mut self, port: u32) {
        self.end_rank[port as usize] = self.take_rank();
    }

    /// Schedules the end of the transmission of a port, at `time` in ps.
    pub(super) fn serve_when_free(&mut self, port: u32, time: u64) {
        self.events.push(Event::new(time, self.end_rank[port as usize], Target::Port(port)));
    }

    /// Puts a packet on a wire. Only the first one on a wire has an event.
    pub(super) fn send(&mut self, line: usize, time: u64) {
        let rank = self.take_rank();
        self.ranks[line].push_back(rank);
        if self.ranks[line].len() == 1 {
            self.schedule_arrival(line, time);
        }
    }

    /// Takes the first packet from a wire. `next`: arrival of the one behind it, in ps.
    pub(super) fn take(&mut self, line: usize, next: u64) {
        self.ranks[line].pop_front();
        self.schedule_arrival(line, next);
    }

    fn schedule_arrival(&mut self, line: usize, time: u64) {
        if let Some(&rank) = self.ranks[line].front() {
            self.events.push(Event::new(time, rank, Target::Arrival(self.inward[line])));
        }
    }

    /// Schedules a timer of a control, at `time` in ps.
    pub(super) fn set_timer(&mut self, flow: u32, time: u64) {
        self.events.push(Event::new(time, rank::FIRST, Target::Timer(flow)));
    }

    /// Schedules a wake-up of a NIC, at `time` in ps. Returns its rank.
    pub(super) fn wake(&mut self, port: u32, time: u64) -> u64 {
        let rank = self.take_rank();
        self.events.push(Event::new(time, rank, Target::Wake(port)));
        rank
    }

    fn schedule_start(&mut self, flow: u32, time: u64) {
        self.events.push(Event::new(time, rank::LAST, Target::Start(flow)));
    }

    /// Schedules the next start by the clock.
    fn schedule_next_start(&mut self, network: &Network) {
        while network.gates.holds(self.next_flow) {
            self.next_flow += 1;
        }
        if let Some(flow) = network.flows.flows.get(self.next_flow as usize) {
            self.schedule_start(self.next_flow, flow.start.0);
        }
    }

    /// Next event, the current one from now on.
    fn pop(&mut self) -> Option<Event> {
        let mut event = self.events.pop_current();
        while event.is_none() && self.events.advance() {
            event = self.events.pop_current();
        }
        event
    }
}

impl Out {
    /// Panics in exact arithmetic.
    #[inline]
    pub(super) fn ns3(&mut self) -> &mut Ns3 {
        self.ns3.as_mut().expect("the run is in ns3 arithmetic")
    }

    /// Returns true if a port that transmits until `busy_until` is idle at `now`, both in ps.
    pub(super) fn is_idle_in_ns3(&self, port: u32, busy_until: u64, now: u64) -> bool {
        let ended = || self.ns3.as_ref().is_some_and(|ns3| ns3.rank >= ns3.end_rank[port as usize]);
        busy_until < now || busy_until == now && ended()
    }
}

impl Nodes {
    /// Same as [`Nodes::run`], in `ns3` arithmetic.
    pub(super) fn run_ns3(
        &mut self,
        network: &mut Network,
        limits: Limits,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Halt {
        let mut watch = Watch::new(limits, observe);
        self.out.ns3().schedule_next_start(network);
        let halt = loop {
            if self.out.done == network.flows_due {
                break Halt::Finished;
            }
            let Some(event) = self.out.ns3().pop() else { break self.run_dry(network, limits.horizon) };
            if let Some(halt) = self.before(network, &limits, event.time) {
                break halt;
            }
            network.now = event.time;
            self.out.ns3().rank = event.rank();
            self.step_ns3(network, event);
            self.settle(network, event);
            let still = matches!(event.target(), Target::Timer(_)) && event.time - self.out.moved > limits.stall;
            if still && self.is_stuck(network) {
                break Halt::Idle;
            }
            if self.out.counts.events.is_multiple_of(STRIDE)
                && let Some(halt) = self.stops(network, &mut watch, event.time)
            {
                break halt;
            }
        };
        self.export(network);
        halt
    }

    /// Takes the actions due before an event at `time`, in ps.
    fn before(&mut self, network: &mut Network, limits: &Limits, time: u64) -> Option<Halt> {
        while self.next_action().cut() <= time {
            let due = self.next_action();
            if let Some(halt) = self.act_in_time(network, due, limits) {
                return Some(halt);
            }
        }
        if time > limits.horizon {
            network.now = limits.horizon;
            return Some(Halt::Horizon);
        }
        if time >= network.detector.next {
            self.look_for_deadlocks(network, time);
        }
        None
    }

    fn step_ns3(&mut self, network: &Network, event: Event) {
        let plan = Plan { layout: &self.layout, network };
        let host_of = |flow: u32| network.flows.flows[flow as usize].src.index();
        let node = match event.target() {
            Target::Arrival(wire) => plan.layout.ports[wire as usize].peer,
            Target::Port(port) | Target::Wake(port) => plan.node_of(port),
            Target::Timer(flow) => return self.hosts[host_of(flow)].step_ns3(plan, &mut self.out, event),
            Target::Start(flow) => {
                if !network.gates.holds(flow) {
                    let ns3 = self.out.ns3();
                    ns3.next_flow += 1;
                    ns3.schedule_next_start(network);
                }
                return self.hosts[host_of(flow)].step_ns3(plan, &mut self.out, event);
            }
            other => unreachable!("{other:?} is between events of nodes"),
        };
        match self.places[node as usize] {
            Place::Switch(place) => self.switches[place as usize].step_ns3(plan, &mut self.out, event),
            Place::Host(place) => self.hosts[place as usize].step_ns3(plan, &mut self.out, event),
        }
    }

    /// Applies what an event changes beyond its node.
    fn settle(&mut self, network: &mut Network, event: Event) {
        self.out.counts.peak_packets = self.out.counts.peak_packets.max(self.out.live);
        if let Some(flow) = self.out.ns3().completed.take() {
            // In the HPCC authors' ns-3 the receiver's state dies with the flow at its sender.
            let receiver = network.flows.flows[flow as usize].dst.index();
            self.hosts[receiver].forget_received(self.layout.at_dst[flow as usize]);
        }
        for (now, flow, end) in std::mem::take(&mut self.out.ends) {
            for (started, time) in network.count_down(flow, end, now) {
                let host = network.flows.flows[started as usize].src.index();
                self.hosts[host].open(self.layout.at_src[started as usize], time);
                self.out.ns3().schedule_start(started, time);
            }
        }
        if !self.out.notes.is_empty() {
            debug_assert!(self.out.notes.iter().all(|noted| noted.time.0 == event.time));
            self.record(network);
        }
    }
}
