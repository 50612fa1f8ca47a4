//! Flows that start when others have ended ([`incast_model::flow::Gate`]).

use incast_model::flow::{FlowSet, Gate};
use incast_model::gates::Waiting;
use incast_model::units::Time;

use crate::kernel::{FlowId, Id, IdVec};

/// Round of gates ([`FlowSet::rounds`]).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    end: u64,
    /// Until then, all its gates that have no pending flows open in time.
    early: u64,
    gates: u32,
}

impl Round {
    pub(crate) fn all(set: &FlowSet) -> Vec<Self> {
        let mut all: Vec<Self> = set.rounds.iter().map(|end| Self { end: end.0, early: end.0, gates: 0 }).collect();
        for (round, delay) in set.gates.iter().filter_map(|gate| Some((gate.round?, gate.delay))) {
            let round = &mut all[round as usize];
            round.early = round.early.min(round.end.saturating_sub(delay.0));
            round.gates += 1;
        }
        all
    }

    /// True if the round begins with a gate without pending flows since `now`, which opens at `open`; `None` if gates of other
    /// hosts may have decided.
    pub(crate) fn begins(&self, now: u64, open: u64) -> Option<bool> {
        if self.gates == 1 { Some(open < self.end) } else { (now < self.early).then_some(true) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Last byte at the receiver.
    Delivered,
    /// ACK of the last byte at the sender.
    Acked,
}

#[derive(Debug, Default)]
pub(crate) struct Gates {
    waiting: Waiting,
    /// Sender of all flows of the gate; `None`: several.
    starter: Vec<Option<u32>>,
    held: IdVec<FlowId, bool>,
    pub(crate) rounds: Vec<Round>,
}

/// Rounds by [`Round::early`], from `next` on with pending gates.
#[derive(Debug)]
struct Pending {
    rounds: Vec<(u64, u32)>,
    next: usize,
}

impl Pending {
    fn new(rounds: &[Round], listed: impl Fn(&Round) -> bool) -> Self {
        let all = (0..).zip(rounds).filter(|(_, round)| listed(round));
        let mut rounds: Vec<(u64, u32)> = all.map(|(number, round)| (round.early, number)).collect();
        rounds.sort_unstable();
        Self { rounds, next: 0 }
    }

    /// True if a gate of a round may stay shut before `end`. `pending`: by round.
    fn is_due(&mut self, pending: &[u32], end: u64) -> bool {
        while let Some(&(early, round)) = self.rounds.get(self.next) {
            if pending[round as usize] > 0 {
                return early < end;
            }
            self.next += 1;
        }
        false
    }
}

#[derive(Debug)]
pub(crate) struct Countdown {
    left: Vec<u32>,
    /// By round: `None` until decided.
    begun: Vec<Option<bool>>,
    /// By round: gates that have pending flows and are not cancelled.
    pending: Vec<u32>,
    /// Rounds with one gate, and those with several.
    single: Pending,
    several: Pending,
    cancelled: IdVec<FlowId, bool>,
    /// Flows and their payload bytes, without cancelled ones.
    pub(crate) flows: usize,
    pub(crate) bytes: u64,
}

impl Gates {
    pub(crate) fn new(set: &FlowSet) -> Self {
        if set.gates.is_empty() {
            return Self::default();
        }
        let mut held: IdVec<FlowId, bool> = vec![false; set.flows.len()].into();
        set.gates.iter().flat_map(|gate| &gate.starts).for_each(|&flow| held[FlowId(flow)] = true);
        let starter = |starts: &[u32]| {
            let mut hosts = starts.iter().map(|&flow| set.flows[flow as usize].src.0);
            let first = hosts.next()?;
            hosts.all(|host| host == first).then_some(first)
        };
        Self {
            waiting: Waiting::new(set.flows.len(), &set.gates),
            starter: set.gates.iter().map(|gate| starter(&gate.starts)).collect(),
            held,
            rounds: Round::all(set),
        }
    }

    #[inline]
    pub(crate) fn holds(&self, flow: FlowId) -> bool {
        self.held.get(flow) == Some(&true)
    }
}

impl Countdown {
    pub(crate) fn new(gates: &Gates, set: &FlowSet) -> Self {
        Self {
            pending: gates.rounds.iter().map(|round| round.gates).collect(),
            single: Pending::new(&gates.rounds, |round| round.gates == 1),
            several: Pending::new(&gates.rounds, |round| round.gates > 1),
            left: set.gates.iter().map(|gate| gate.waits_for.len() as u32).collect(),
            begun: vec![None; set.rounds.len()],
            cancelled: vec![false; if set.rounds.is_empty() { 0 } else { set.flows.len() }].into(),
            flows: set.flows.len(),
            bytes: set.bytes().0,
        }
    }

    pub(crate) fn is_cancelled(&self, flow: FlowId) -> bool {
        self.cancelled.get(flow) == Some(&true)
    }

    /// True if flows may be cancelled before `end`.
    pub(crate) fn may_call_off(&mut self, end: u64) -> bool {
        self.single.is_due(&self.pending, end) || self.several.is_due(&self.pending, end)
    }

    /// True if hosts that decide about rounds may ask for one before `end`.
    pub(crate) fn may_be_asked(&mut self, end: u64) -> bool {
        self.several.is_due(&self.pending, end)
    }

    /// A gate has no pending flows since `now`, as a host reports. Returns flows as [`Countdown::report`] does.
    pub(crate) fn begin(&mut self, gates: &Gates, set: &FlowSet, (gate, now): (u32, u64)) -> Vec<(FlowId, u64)> {
        let mut starts = Vec::new();
        self.open(gates, set, gate, now, &mut starts);
        starts
    }

    /// Reports the end of a flow at `now`. Returns flows behind opening gates, with starts in ps.
    pub(crate) fn report(
        &mut self,
        gates: &Gates,
        set: &FlowSet,
        (flow, end, now): (FlowId, End, u64),
    ) -> Vec<(FlowId, u64)> {
        let mut starts = Vec::new();
        let sender = set.flows[flow.index()].src.0;
        for &gate in gates.waiting.of(flow.0) {
            // A gate waits for the ACK if all its flows start at this flow's sender, else for the last byte.
            let wanted = if gates.starter[gate as usize] == Some(sender) { End::Acked } else { End::Delivered };
            if end == wanted {
                let left = &mut self.left[gate as usize];
                *left -= 1;
                if *left == 0 {
                    self.open(gates, set, gate, now, &mut starts);
                }
            }
        }
        starts
    }

    fn open(&mut self, gates: &Gates, set: &FlowSet, gate: u32, now: u64, starts: &mut Vec<(FlowId, u64)>) {
        let spec = &set.gates[gate as usize];
        if let Some(round) = spec.round {
            self.pending[round as usize] -= 1;
        }
        let open = now.saturating_add(spec.delay.0);
        if !self.begins(spec, &set.rounds, open) {
            return self.call_off(gates, set, gate);
        }
        starts.extend(spec.starts.iter().map(|&flow| (FlowId(flow), open.max(set.flows[flow as usize].start.0))));
    }

    /// True if a gate opens, at `open`. The first gate of a round decides for all.
    fn begins(&mut self, gate: &Gate, rounds: &[Time], open: u64) -> bool {
        gate.round.is_none_or(|round| {
            let round = round as usize;
            *self.begun[round].get_or_insert(open < rounds[round].0)
        })
    }

    /// Cancels everything behind a gate, and gates that wait for its flows.
    #[cold]
    fn call_off(&mut self, gates: &Gates, set: &FlowSet, first: u32) {
        let mut next = vec![first];
        while let Some(gate) = next.pop() {
            let spec = &set.gates[gate as usize];
            if spec.starts.first().is_some_and(|&flow| self.is_cancelled(FlowId(flow))) {
                continue;
            }
            if let Some(round) = spec.round.filter(|_| gate != first) {
                self.pending[round as usize] -= 1;
            }
            for &flow in &spec.starts {
                self.cancelled[FlowId(flow)] = true;
                self.flows -= 1;
                let spec = &set.flows[flow as usize];
                self.bytes -= if spec.until.is_none() { spec.size.0 } else { 0 };
                next.extend(gates.waiting.of(flow));
            }
        }
    }
}
