//! Flows that start when others have ended ([`incast_model::flow::Gate`]).

use incast_model::flow::{FlowSet, Gate};
use incast_model::gates::Waiting;
use incast_model::units::Time;

/// End of a flow, as one of its hosts sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Last byte at the receiver.
    Delivered,
    /// ACK of the last byte at the sender.
    Acked,
}

/// Gates of a run; empty without gates.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    waiting: Waiting,
    /// By gate: sender of all its flows; `None` if there are several.
    starter: Vec<Option<u32>>,
    /// By flow: true if it is behind a gate.
    held: Vec<bool>,
}

/// State of gates that wait for ends at several hosts.
#[derive(Debug)]
pub(crate) struct Countdown {
    /// By gate: flows that have not ended.
    left: Vec<u32>,
    /// By round: true if it has begun; `None` until that is decided.
    begun: Vec<Option<bool>>,
    /// By flow: true if it does not start.
    cancelled: Vec<bool>,
    /// Flows, and their payload in bytes, without cancelled ones.
    pub(crate) flows: usize,
    pub(crate) bytes: u64,
}

impl Gates {
    /// Expects checked gates.
    pub(crate) fn new(set: &FlowSet) -> Self {
        if set.gates.is_empty() {
            return Self::default();
        }
        let mut held = vec![false; set.flows.len()];
        set.gates.iter().flat_map(|gate| &gate.starts).for_each(|&flow| held[flow as usize] = true);
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
    pub(crate) fn holds(&self, flow: u32) -> bool {
        self.held.get(flow as usize) == Some(&true)
    }
}

impl Countdown {
    pub(crate) fn new(set: &FlowSet) -> Self {
        Self {
            left: set.gates.iter().map(|gate| gate.waits_for.len() as u32).collect(),
            begun: vec![None; set.rounds.len()],
            cancelled: vec![false; if set.rounds.is_empty() { 0 } else { set.flows.len() }],
            flows: set.flows.len(),
            bytes: set.bytes().0,
        }
    }

    pub(crate) fn is_cancelled(&self, flow: usize) -> bool {
        self.cancelled.get(flow) == Some(&true)
    }

    /// Reports an end at `now` to the gates that wait for it. Returns the flows behind gates that open, with their starts; both
    /// times are in ps.
    pub(crate) fn report(
        &mut self,
        gates: &Gates,
        set: &FlowSet,
        (flow, end, now): (u32, End, u64),
    ) -> Vec<(u32, u64)> {
        let mut starts = Vec::new();
        let sender = set.flows[flow as usize].src.0;
        for &gate in gates.waiting.of(flow) {
            // If the flow's sender sends everything behind the gate, the gate waits for the ACK, else for the last byte.
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

    fn open(&mut self, gates: &Gates, set: &FlowSet, gate: u32, now: u64, starts: &mut Vec<(u32, u64)>) {
        let spec = &set.gates[gate as usize];
        let open = now.saturating_add(spec.delay.0);
        if !self.begins(spec, &set.rounds, open) {
            return self.call_off(gates, set, gate);
        }
        starts.extend(spec.starts.iter().map(|&flow| (flow, open.max(set.flows[flow as usize].start.0))));
    }

    /// Returns true if a gate with nothing left to wait for opens, at `open`. The first gate of a round decides for all.
    fn begins(&mut self, gate: &Gate, rounds: &[Time], open: u64) -> bool {
        gate.round.is_none_or(|round| {
            let round = round as usize;
            *self.begun[round].get_or_insert(open < rounds[round].0)
        })
    }

    /// Cancels a gate: nothing behind it starts, nor behind gates that wait for its flows.
    #[cold]
    fn call_off(&mut self, gates: &Gates, set: &FlowSet, gate: u32) {
        let mut next = vec![gate];
        while let Some(gate) = next.pop() {
            for &flow in &set.gates[gate as usize].starts {
                if std::mem::replace(&mut self.cancelled[flow as usize], true) {
                    break; // the whole gate was here before
                }
                self.flows -= 1;
                let spec = &set.flows[flow as usize];
                self.bytes -= if spec.until.is_none() { spec.size.0 } else { 0 };
                next.extend(gates.waiting.of(flow));
            }
        }
    }
}
