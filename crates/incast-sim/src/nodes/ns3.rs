//! State that all nodes share in `ns3` arithmetic: queue of all events, *ranks* (orders of scheduling, which break ties),
//! random numbers.

use incast_model::fabric::PortId;
use std::collections::VecDeque;

use crate::kernel::{Event, EventQueue, FlowId, Id, IdVec, Line, Target, rank};
use crate::ns3::{Draws, Rand};
use crate::plan::Network;

#[derive(Debug)]
pub(super) struct Ns3 {
    events: EventQueue,
    /// Rank of the current event, and of the last event scheduled.
    pub(super) rank: u64,
    last_rank: u64,
    /// Rank of the end of its transmission.
    end_rank: IdVec<PortId, u64>,
    /// Port that sends into the wire, and ranks of arrivals.
    inward: IdVec<Line, PortId>,
    ranks: IdVec<Line, VecDeque<u64>>,
    /// Draws of ECN marks, and of PINT.
    pub(super) draws: Draws,
    pub(super) rand: Option<Rand>,
    /// Flow whose sender has got the last ACK in the current event.
    pub(super) completed: Option<FlowId>,
    /// Next flow to start that is not behind a gate.
    pub(super) next_flow: FlowId,
}

impl Ns3 {
    /// `None` in exact arithmetic.
    pub(super) fn new(network: &Network, inward: &IdVec<Line, PortId>) -> Option<Box<Self>> {
        let wires = inward.len();
        network.config.ns3.then(|| {
            Box::new(Self {
                events: EventQueue::new(network.slot_bits),
                rank: 0,
                last_rank: 0,
                end_rank: vec![0; wires].into(),
                inward: inward.clone(),
                ranks: vec![VecDeque::new(); wires].into(),
                draws: Draws::new(network.fabric.nodes().len() as u64),
                rand: network.switches.pint.as_ref().map(|_| Rand::default()),
                completed: None,
                next_flow: FlowId(0),
            })
        })
    }

    fn take_rank(&mut self) -> u64 {
        self.last_rank += 1;
        self.last_rank
    }

    pub(super) fn is_idle(&self, port: PortId, busy_until: u64, now: u64) -> bool {
        busy_until < now || busy_until == now && self.rank >= self.end_rank[port]
    }

    pub(super) fn transmit(&mut self, port: PortId) {
        self.end_rank[port] = self.take_rank();
    }

    pub(super) fn serve_when_free(&mut self, port: PortId, time: u64) {
        self.events.push(Event::new(time, self.end_rank[port], Target::Port(port)));
    }

    /// Only the first packet on a wire has an event.
    pub(super) fn send(&mut self, line: Line, time: u64) {
        let rank = self.take_rank();
        self.ranks[line].push_back(rank);
        if self.ranks[line].len() == 1 {
            self.schedule_arrival(line, time);
        }
    }

    /// `next`: arrival of the packet behind.
    pub(super) fn take(&mut self, line: Line, next: u64) {
        self.ranks[line].pop_front();
        self.schedule_arrival(line, next);
    }

    fn schedule_arrival(&mut self, line: Line, time: u64) {
        if let Some(&rank) = self.ranks[line].front() {
            self.events.push(Event::new(time, rank, Target::Arrival(self.inward[line])));
        }
    }

    pub(super) fn set_timer(&mut self, flow: FlowId, time: u64) {
        self.events.push(Event::new(time, rank::FIRST, Target::Timer(flow)));
    }

    /// Returns the rank.
    pub(super) fn wake(&mut self, port: PortId, time: u64) -> u64 {
        let rank = self.take_rank();
        self.events.push(Event::new(time, rank, Target::Wake(port)));
        rank
    }

    pub(super) fn schedule_start(&mut self, flow: FlowId, time: u64) {
        self.events.push(Event::new(time, rank::LAST, Target::Start(flow)));
    }

    pub(super) fn schedule_next_start(&mut self, network: &Network) {
        while network.hosts.gates.holds(self.next_flow) {
            self.next_flow.0 += 1;
        }
        if let Some(flow) = network.flows.flows.get(self.next_flow.index()) {
            self.schedule_start(self.next_flow, flow.start.0);
        }
    }

    /// The event becomes the current one.
    pub(super) fn pop(&mut self) -> Option<Event> {
        let mut event = self.events.pop_current();
        while event.is_none() && self.events.advance() {
            event = self.events.pop_current();
        }
        event
    }
}
