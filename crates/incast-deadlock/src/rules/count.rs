use incast_model::fabric::NodeId;
use serde::{Deserialize, Serialize};

use super::Transitions;
use crate::bits::ones;
use crate::turns::TurnSet;
use crate::wiring::Ports;

/// Definition of one rule. Host ports count as one: hosts are treated alike.
///
/// Tagger's published table leaves it open; `docs/design/deadlock.md` has the nearest convention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// (Tag, ingress port, egress port, new tag).
    Each,
    /// (Tag, egress port, new tag), with a bitmap of ingress ports.
    InputSets,
    /// (Tag, ingress port, new tag), with a bitmap of egress ports.
    OutputSets,
    /// `InputSets` without rules that keep the tag.
    ChangingInputSets,
}

/// Number of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Rules of all switches.
    pub total: usize,
    /// Most rules of a switch.
    pub most: usize,
    /// First switch with most.
    #[serde(skip)]
    pub at: NodeId,
}

impl Transitions {
    /// Counts the rules; each of several new tags counts.
    pub fn count(&self, counting: Counting) -> Count {
        let mut count = Count { total: 0, most: 0, at: NodeId(0) };
        for switch in self.ports.switches() {
            let rules: usize = self
                .turns()
                .filter(|(tag, new, _)| counting != Counting::ChangingInputSets || tag != new)
                .map(|(_, _, turns)| rules_of(&self.ports, turns, switch, counting))
                .sum();
            count.total += rules;
            if rules > count.most {
                (count.most, count.at) = (rules, switch);
            }
        }
        count
    }
}

fn rules_of(ports: &Ports, turns: &TurnSet, switch: NodeId, counting: Counting) -> usize {
    let mut rows = Vec::new();
    let mut to_hosts = vec![0u64; ports.degree(switch).div_ceil(64)];
    for output in ports.of(switch) {
        match ports.to_switch(output) {
            true => rows.push(turns.row(output).to_vec()),
            false => to_hosts.iter_mut().zip(turns.row(output)).for_each(|(word, row)| *word |= row),
        }
    }
    rows.push(to_hosts);
    let inputs = |row: &[u64]| {
        let (mut switches, mut hosts) = (0, 0);
        for local in ones(row) {
            match ports.to_switch(ports.port(switch, local)) {
                true => switches += 1,
                false => hosts = 1,
            }
        }
        switches + hosts
    };
    match counting {
        Counting::Each => rows.iter().map(|row| inputs(row)).sum(),
        Counting::InputSets | Counting::ChangingInputSets => {
            rows.iter().filter(|row| row.iter().any(|&word| word != 0)).count()
        }
        Counting::OutputSets => {
            let mut all = vec![0u64; ports.degree(switch).div_ceil(64)];
            rows.iter().for_each(|row| all.iter_mut().zip(row).for_each(|(word, row)| *word |= row));
            inputs(&all)
        }
    }
}
