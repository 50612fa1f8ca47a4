//! Dependencies between flows.

use crate::flow::{FlowSet, Gate};

const NONE: u32 = u32::MAX;

/// Gates that wait for each flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Start of each flow's gates in `gates`, then the end.
    first: Vec<u32>,
    gates: Vec<u32>,
}

impl Waiting {
    /// Indexes the gates of `flows` flows.
    pub fn new(flows: usize, gates: &[Gate]) -> Self {
        if gates.is_empty() {
            return Self::default();
        }
        let waits = || (0..).zip(gates).flat_map(|(at, gate)| gate.waits_for.iter().map(move |&flow| (flow, at)));
        let mut first = vec![0u32; flows + 2];
        waits().for_each(|(flow, _)| first[flow as usize + 2] += 1);
        for flow in 2..first.len() {
            first[flow] += first[flow - 1];
        }
        // Filling a flow's gates moves its begin to its end, the begin of the next.
        let mut gates = vec![0; first[first.len() - 1] as usize];
        for (flow, gate) in waits() {
            let place = &mut first[flow as usize + 1];
            gates[*place as usize] = gate;
            *place += 1;
        }
        first.pop();
        Self { first, gates }
    }

    /// Returns true if no flow waits.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Gates that wait for a flow.
    pub fn of(&self, flow: u32) -> &[u32] {
        match self.first.get(flow as usize..flow as usize + 2) {
            Some(range) => &self.gates[range[0] as usize..range[1] as usize],
            None => &[],
        }
    }
}

/// By flow, true if it never starts when gates for which `closed` is true stay shut, and flows true in `never` do not start.
pub fn never_start(gates: &[Gate], closed: impl Fn(&Gate) -> bool, mut never: Vec<bool>) -> Vec<bool> {
    let waiting = Waiting::new(never.len(), gates);
    let mut closed: Vec<bool> = gates.iter().map(closed).collect();
    let mut next: Vec<u32> = (0..).zip(&closed).filter(|(_, closed)| **closed).map(|(gate, _)| gate).collect();
    let mut close = |flow: u32, next: &mut Vec<u32>| {
        next.extend(waiting.of(flow).iter().filter(|&&gate| !std::mem::replace(&mut closed[gate as usize], true)));
    };
    (0..).zip(&never).filter(|(_, never)| **never).for_each(|(flow, _)| close(flow, &mut next));
    while let Some(gate) = next.pop() {
        for &flow in &gates[gate as usize].starts {
            never[flow as usize] = true;
            close(flow, &mut next);
        }
    }
    never
}

/// Error of a gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// Gate that waits for no flow.
    #[error("gate {gate} waits for no flow; at least one")]
    Empty {
        /// Gate, from 0.
        gate: u32,
    },
    /// Flow that does not exist.
    #[error("gate {gate} names flow {flow}; there are {flows}, from 0")]
    Unknown {
        /// Gate, from 0.
        gate: u32,
        /// Flow.
        flow: u32,
        /// Number of flows.
        flows: u32,
    },
    /// Flow that a gate waits for twice.
    #[error("gate {gate} waits for flow {flow} twice; once is enough")]
    Twice {
        /// Gate, from 0.
        gate: u32,
        /// Flow.
        flow: u32,
    },
    /// Flow with two gates.
    #[error("flow {flow} is behind gates {} and {}; one is possible", .gates[0], .gates[1])]
    TwoGates {
        /// Flow.
        flow: u32,
        /// Gates.
        gates: [u32; 2],
    },
    /// Round that does not exist.
    #[error("gate {gate} names round {round}; there are {rounds}, from 0")]
    UnknownRound {
        /// Gate, from 0.
        gate: u32,
        /// Round.
        round: u32,
        /// Number of rounds.
        rounds: usize,
    },
    /// Flows that wait for each other.
    #[error("flows depend on each other in a cycle and would never start: {}", listed(.flows))]
    Cycle {
        /// Flows; each waits for the next, the last for the first.
        flows: Vec<u32>,
    },
}

/// Most flows of a cycle in a message (our choice).
const SHOWN_FLOWS: usize = 10;

pub(crate) fn spelled(flows: &[u32], between: &str, name: impl Fn(u32) -> String) -> String {
    let mut names: Vec<String> = flows.iter().take(SHOWN_FLOWS).map(|&flow| name(flow)).collect();
    if flows.len() > SHOWN_FLOWS {
        names.push(format!("{} more", flows.len() - SHOWN_FLOWS));
    }
    names.extend(flows.first().map(|&flow| name(flow)));
    names.join(between)
}

fn listed(flows: &[u32]) -> String {
    spelled(flows, " waits for ", |flow| flow.to_string())
}

/// Checks that all gates open if the flows they wait for end.
pub fn check_gates(set: &FlowSet) -> Result<(), GateError> {
    check_names(set)?;
    match cycle(set.flows.len(), &set.gates) {
        Some(flows) => Err(GateError::Cycle { flows }),
        None => Ok(()),
    }
}

fn check_names(set: &FlowSet) -> Result<(), GateError> {
    if set.gates.is_empty() {
        return Ok(());
    }
    let flows = set.flows.len() as u32;
    let mut gate_of = vec![NONE; set.flows.len()];
    let mut waited_by = vec![NONE; set.flows.len()];
    for (gate, spec) in (0u32..).zip(&set.gates) {
        if spec.waits_for.is_empty() {
            return Err(GateError::Empty { gate });
        }
        if let Some(&flow) = spec.waits_for.iter().chain(&spec.starts).find(|&&flow| flow >= flows) {
            return Err(GateError::Unknown { gate, flow, flows });
        }
        if let Some(round) = spec.round.filter(|&round| round as usize >= set.rounds.len()) {
            return Err(GateError::UnknownRound { gate, round, rounds: set.rounds.len() });
        }
        for &flow in &spec.waits_for {
            if std::mem::replace(&mut waited_by[flow as usize], gate) == gate {
                return Err(GateError::Twice { gate, flow });
            }
        }
        for &flow in &spec.starts {
            let other = std::mem::replace(&mut gate_of[flow as usize], gate);
            if other != NONE {
                return Err(GateError::TwoGates { flow, gates: [other, gate] });
            }
        }
    }
    Ok(())
}

pub(crate) fn cycle(flows: usize, gates: &[Gate]) -> Option<Vec<u32>> {
    let mut gate_of = vec![NONE; flows];
    for (at, gate) in (0u32..).zip(gates) {
        gate.starts.iter().for_each(|&flow| gate_of[flow as usize] = at);
    }
    let waiting = Waiting::new(flows, gates);
    let mut left: Vec<u32> = gates.iter().map(|gate| gate.waits_for.len() as u32).collect();
    let mut ended = vec![false; gate_of.len()];
    let mut next: Vec<u32> = (0..gate_of.len() as u32).filter(|&flow| gate_of[flow as usize] == NONE).collect();
    while let Some(flow) = next.pop() {
        ended[flow as usize] = true;
        for &gate in waiting.of(flow) {
            left[gate as usize] -= 1;
            if left[gate as usize] == 0 {
                next.extend(&gates[gate as usize].starts);
            }
        }
    }
    let mut flow = ended.iter().position(|ended| !ended)? as u32;
    let mut path = Vec::new();
    let mut place = vec![NONE; ended.len()];
    while place[flow as usize] == NONE {
        place[flow as usize] = path.len() as u32;
        path.push(flow);
        let gate = &gates[gate_of[flow as usize] as usize];
        flow = *gate.waits_for.iter().find(|&&flow| !ended[flow as usize])?;
    }
    Some(path.split_off(place[flow as usize] as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::HostId;
    use crate::flow::Flow;
    use crate::units::{Bytes, Time};

    fn set(flows: u32, gates: &[(&[u32], &[u32])]) -> FlowSet {
        let flow = |_| Flow {
            src: HostId(0),
            dst: HostId(1),
            size: Bytes(1),
            start: Time::ZERO,
            priority: 3,
            label: 0,
            sport: 1,
            dport: 1,
            path: None,
            until: None,
        };
        let gate = |&(waits_for, starts): &(&[u32], &[u32])| Gate {
            waits_for: waits_for.to_vec(),
            delay: Time::ZERO,
            starts: starts.to_vec(),
            round: None,
        };
        let gates = gates.iter().map(gate).collect();
        FlowSet { flows: (0..flows).map(flow).collect(), gates, ..FlowSet::default() }
    }

    fn why(flows: u32, gates: &[(&[u32], &[u32])]) -> String {
        check_gates(&set(flows, gates)).unwrap_err().to_string()
    }

    #[test]
    fn every_flow_knows_the_gates_that_wait_for_it() {
        let set = set(5, &[(&[0, 3], &[4]), (&[3], &[2]), (&[1], &[])]);
        let waiting = Waiting::new(5, &set.gates);
        let all: Vec<&[u32]> = (0..5).map(|flow| waiting.of(flow)).collect();
        assert_eq!(all, [&[0][..], &[2], &[], &[0, 1], &[]]);
        assert_eq!(check_gates(&set), Ok(()));
        let none = Waiting::new(9, &[]);
        assert!(none.is_empty() && none.of(7).is_empty());
    }

    #[test]
    fn gates_that_cannot_work_are_named() {
        assert_eq!(why(2, &[(&[0], &[1]), (&[], &[0])]), "gate 1 waits for no flow; at least one");
        assert_eq!(why(2, &[(&[0], &[2])]), "gate 0 names flow 2; there are 2, from 0");
        assert_eq!(why(2, &[(&[9], &[1])]), "gate 0 names flow 9; there are 2, from 0");
        assert_eq!(why(3, &[(&[0, 1, 0], &[2])]), "gate 0 waits for flow 0 twice; once is enough");
        assert_eq!(why(2, &[(&[0], &[1]), (&[0], &[1])]), "flow 1 is behind gates 0 and 1; one is possible");
        assert_eq!(
            why(1, &[(&[0], &[0])]),
            "flows depend on each other in a cycle and would never start: 0 waits for 0"
        );
    }

    #[test]
    fn rounds_that_are_not_there_are_named() {
        let mut set = set(2, &[(&[0], &[1])]);
        set.gates[0].round = Some(1);
        set.rounds = vec![Time::us(1)];
        assert_eq!(check_gates(&set).unwrap_err().to_string(), "gate 0 names round 1; there are 1, from 0");
        set.gates[0].round = Some(0);
        assert_eq!(check_gates(&set), Ok(()));
    }

    #[test]
    fn what_waits_for_what_never_starts_never_starts() {
        let mut set = set(7, &[(&[0], &[1]), (&[1], &[2, 3]), (&[3, 5], &[4]), (&[5], &[6])]);
        let never = |set: &FlowSet, flows: &[usize]| {
            let known = (0..7).map(|flow| flows.contains(&flow)).collect();
            let never = never_start(&set.gates, |gate| gate.round.is_some(), known);
            (0..7).filter(|&flow| never[flow]).collect::<Vec<_>>()
        };
        assert!(never(&set, &[]).is_empty());
        assert_eq!(never(&set, &[1]), [1, 2, 3, 4]);
        assert_eq!(never(&set, &[5]), [4, 5, 6]);
        set.gates[1].round = Some(0);
        assert_eq!(never(&set, &[]), [2, 3, 4]);
    }

    #[test]
    fn a_circle_is_told_without_what_is_behind_it() {
        let gates: [(&[u32], &[u32]); 5] = [(&[1], &[5]), (&[0, 3], &[1]), (&[2], &[3]), (&[1], &[2]), (&[0], &[4])];
        let flows = vec![1, 3, 2];
        assert_eq!(check_gates(&set(6, &gates)), Err(GateError::Cycle { flows }));
        assert!(why(6, &gates).ends_with(": 1 waits for 3 waits for 2 waits for 1"));
        assert_eq!(spelled(&[0; 20_000], " after ", |_| "x".into()).matches("x").count(), SHOWN_FLOWS + 1);
    }
}
