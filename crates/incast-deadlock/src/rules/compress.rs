use std::collections::BTreeMap;

use incast_model::fabric::{NodeId, PortId};
use serde::{Deserialize, Serialize};

use super::{RuleExists, Rules};
use crate::bits::{bit, ones, set};
use crate::tag::Tag;
use crate::turns::TurnSet;
use crate::wiring::{Ports, Wiring};

/// Pairs of (ingress port, egress port) that one entry may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// One.
    None,
    /// A set of ingress ports, one egress port; host ports with the same set share an entry.
    #[default]
    InputSets,
    /// `InputSets` with ingress and egress ports exchanged.
    OutputSets,
    /// All pairs of two sets. The minimum is NP-hard (covering a matrix with rectangles; Orlin, Indagationes Mathematicae
    /// 1977); the greedy cover never exceeds that of equal sets.
    Rectangles,
}

/// Match-action entry. Ports start at 0 per switch, ascending.
///
/// Entries may overlap but never disagree: order does not matter. Packets without a match become lossy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Tag of arriving packets.
    pub tag: Tag,
    /// Ingress ports.
    #[serde(rename = "in")]
    pub inputs: Vec<u32>,
    /// Egress ports.
    #[serde(rename = "out")]
    pub outputs: Vec<u32>,
    /// New tag.
    pub new_tag: Tag,
}

/// Entries of every switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTable {
    tags: u8,
    classes: u8,
    switches: Vec<(NodeId, Vec<Entry>)>,
}

/// (Ingress ports, egress ports), a bit each.
type Rectangle = (Vec<u64>, Vec<u64>);

impl Rules {
    /// Entries by switch, tag and new tag.
    pub fn compress(&self, compression: Compression) -> RuleTable {
        let ports = &self.0.ports;
        let entries = |switch: NodeId| {
            crate::watch::check();
            let sets = self.turns();
            sets.flat_map(|(tag, new_tag, turns)| {
                let list = |bits: &[u64]| ones(bits).map(|port| port as u32).collect();
                let rectangles = rectangles(ports, turns, switch, compression).into_iter();
                rectangles.map(move |(inputs, outputs)| Entry {
                    tag,
                    inputs: list(&inputs),
                    outputs: list(&outputs),
                    new_tag,
                })
            })
            .collect()
        };
        RuleTable::new(self.tags(), ports.switches().map(|switch| (switch, entries(switch))).collect())
    }
}

impl RuleTable {
    pub(crate) fn new(tags: u8, switches: Vec<(NodeId, Vec<Entry>)>) -> Self {
        Self { tags, classes: 1, switches }
    }

    /// Sets the number of classes, 1 or more.
    #[must_use]
    pub fn with_classes(self, classes: u8) -> Self {
        Self { classes, ..self }
    }

    /// Traffic classes: hosts send with tags 1 to this.
    pub const fn classes(&self) -> u8 {
        self.classes
    }

    /// Number of lossless tags.
    pub fn tags(&self) -> u8 {
        self.tags
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.switches.iter().map(|(_, entries)| entries.len()).sum()
    }

    /// True if empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Most entries of a switch.
    pub fn most(&self) -> usize {
        self.switches.iter().map(|(_, entries)| entries.len()).max().unwrap_or(0)
    }

    /// Switches with their entries.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = (NodeId, &[Entry])> {
        self.switches.iter().map(|(switch, entries)| (*switch, entries.as_slice()))
    }

    /// Entries of a switch; none for other nodes.
    pub fn entries(&self, switch: NodeId) -> &[Entry] {
        self.switches.iter().find(|(node, _)| *node == switch).map_or(&[], |(_, entries)| entries)
    }

    /// Returns the rules of the entries.
    ///
    /// # Errors
    /// Two entries that disagree: switch, ports, and the earlier entry's tag.
    ///
    /// # Panics
    /// If a switch lacks a port of its entry.
    pub fn expand(&self, wiring: &Wiring<'_>) -> Result<Rules, (NodeId, PortId, PortId, RuleExists)> {
        let mut rules = Rules::new(wiring);
        rules.0.tags = self.tags;
        for (switch, entries) in &self.switches {
            for entry in entries {
                for (&input, &output) in entry.inputs.iter().flat_map(|i| entry.outputs.iter().map(move |o| (i, o))) {
                    let (input, output) = (wiring.port(*switch, input as usize), wiring.port(*switch, output as usize));
                    let inserted = rules.insert(entry.tag, input, output, entry.new_tag);
                    inserted.map_err(|exists| (*switch, input, output, exists))?;
                }
            }
        }
        Ok(rules)
    }
}

fn rectangles(ports: &Ports, turns: &TurnSet, switch: NodeId, compression: Compression) -> Vec<Rectangle> {
    let rows: Vec<Vec<u64>> = ports.of(switch).map(|output| turns.row(output).to_vec()).collect();
    if rows.iter().flatten().all(|&word| word == 0) {
        return Vec::new();
    }
    let is_host = |local: usize| !ports.to_switch(ports.port(switch, local));
    match compression {
        Compression::None => {
            let pairs = rows.iter().enumerate().flat_map(|(output, row)| ones(row).map(move |input| (input, output)));
            pairs.map(|(input, output)| (single(&rows, input), single(&rows, output))).collect()
        }
        Compression::InputSets => by_rows(&rows, is_host),
        Compression::OutputSets => swapped(by_rows(&columns(&rows), is_host)),
        Compression::Rectangles => {
            let equal_rows = by_rows(&rows, |_| true);
            let equal_columns = swapped(by_rows(&columns(&rows), |_| true));
            let all = [cover(&rows), equal_rows, equal_columns];
            all.into_iter().min_by_key(Vec::len).expect("there are three")
        }
    }
}

fn single(rows: &[Vec<u64>], port: usize) -> Vec<u64> {
    let mut bits = vec![0; rows[0].len()];
    set(&mut bits, port);
    bits
}

fn swapped(rectangles: Vec<Rectangle>) -> Vec<Rectangle> {
    rectangles.into_iter().map(|(a, b)| (b, a)).collect()
}

fn columns(rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let mut columns = vec![vec![0; rows[0].len()]; rows.len()];
    for (at, row) in rows.iter().enumerate() {
        ones(row).for_each(|column| set(&mut columns[column], at));
    }
    columns
}

fn by_rows(rows: &[Vec<u64>], may_share: impl Fn(usize) -> bool) -> Vec<Rectangle> {
    let mut shared: BTreeMap<&[u64], Vec<u64>> = BTreeMap::new();
    let mut rectangles = Vec::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.iter().any(|&word| word != 0)) {
        if may_share(at) {
            set(shared.entry(row).or_insert_with(|| vec![0; row.len()]), at);
        } else {
            rectangles.push((row.clone(), single(rows, at)));
        }
    }
    rectangles.extend(shared.into_iter().map(|(row, ats)| (row.to_vec(), ats)));
    rectangles
}

/// Greedy: the maximal rectangle, spanned by a row or column, that covers most of the rest.
fn cover(rows: &[Vec<u64>]) -> Vec<Rectangle> {
    let columns = columns(rows);
    let spanned = |line: &Vec<u64>, lines: &[Vec<u64>]| {
        let mut within = vec![0; line.len()];
        for (at, other) in lines.iter().enumerate() {
            if line.iter().zip(other).all(|(a, b)| a & !b == 0) {
                set(&mut within, at);
            }
        }
        (line.clone(), within)
    };
    let by_row = rows.iter().map(|row| spanned(row, rows));
    let by_column = columns.iter().map(|column| spanned(column, &columns)).map(|(outputs, inputs)| (inputs, outputs));
    let mut candidates: Vec<Rectangle> = by_row.chain(by_column).filter(|(a, b)| !empty(a) && !empty(b)).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let mut left = rows.to_vec();
    let mut cover = Vec::new();
    while left.iter().any(|row| !empty(row)) {
        let gain = |(inputs, outputs): &Rectangle| -> u32 {
            ones(outputs)
                .map(|at| left[at].iter().zip(inputs).map(|(left, i)| (left & i).count_ones()).sum::<u32>())
                .sum()
        };
        let best = candidates.iter().max_by_key(|candidate| gain(candidate)).expect("each row spans one").clone();
        for (at, row) in left.iter_mut().enumerate().filter(|(at, _)| bit(&best.1, *at)) {
            debug_assert!(rows[at].iter().zip(&best.0).all(|(row, inputs)| inputs & !row == 0));
            row.iter_mut().zip(&best.0).for_each(|(left, inputs)| *left &= !inputs);
        }
        cover.push(best);
    }
    cover
}

fn empty(bits: &[u64]) -> bool {
    bits.iter().all(|&word| word == 0)
}
