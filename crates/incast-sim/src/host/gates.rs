//! Flows that start when others have ended ([`incast_model::flow::Gate`]).

use incast_model::flow::{FlowSet, Gate};
use incast_model::gates::Waiting;
use incast_model::units::Time;

use crate::kernel::{FlowId, Id, IdVec};

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
}

#[derive(Debug)]
pub(crate) struct Countdown {
    left: Vec<u32>,
    /// By round: `None` until decided.
    begun: Vec<Option<bool>>,
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
        }
    }

    #[inline]
    pub(crate) fn holds(&self, flow: FlowId) -> bool {
        self.held.get(flow) == Some(&true)
    }
}

impl Countdown {
    pub(crate) fn new(set: &FlowSet) -> Self {
        Self {
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
    fn call_off(&mut self, gates: &Gates, set: &FlowSet, gate: u32) {
        let mut next = vec![gate];
        while let Some(gate) = next.pop() {
            for &flow in &set.gates[gate as usize].starts {
                if std::mem::replace(&mut self.cancelled[FlowId(flow)], true) {
                    break; // already cancelled
                }
                self.flows -= 1;
                let spec = &set.flows[flow as usize];
                self.bytes -= if spec.until.is_none() { spec.size.0 } else { 0 };
                next.extend(gates.waiting.of(flow));
            }
        }
    }
}
