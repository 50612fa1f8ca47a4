//! The published table of Tagger's classes and rules on Jellyfish, and the ways in which it can be read.

mod row;

use serde::Serialize;

use crate::elp::{Choice, Elp, Roots, ShortestPaths};
use crate::rules::{Count, Counting, Rules, Transitions};
use crate::tagging::{Greedy, Injection, Order};

pub use row::{Row, RowError};

/// A row of the table in a draft of Tagger's evaluation: Jellyfish with `ports` / 2 ports to other switches,
/// "destination-rooted shortest-path spanning trees at all the servers", Algorithm 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Published {
    /// Switches.
    pub switches: u32,
    /// Ports of each.
    pub ports: u32,
    /// "Network diameter": the nodes on the longest path from server to server, both included, come nearest.
    pub diameter: u32,
    /// Lossless priority classes.
    pub classes: u8,
    /// Rules of all switches.
    pub total: u32,
    /// Rules of the switch that has most.
    pub most: u32,
}

/// The table. In its first two rows total / switches is more than `most`, so the two cannot be of one graph.
pub const PUBLISHED: [Published; 5] = [
    Published { switches: 10, ports: 12, diameter: 5, classes: 2, total: 116, most: 10 },
    Published { switches: 100, ports: 32, diameter: 6, classes: 3, total: 3_794, most: 37 },
    Published { switches: 500, ports: 64, diameter: 6, classes: 3, total: 36_508, most: 76 },
    Published { switches: 1_000, ports: 64, diameter: 6, classes: 3, total: 81_136, most: 88 },
    Published { switches: 2_000, ports: 64, diameter: 7, classes: 3, total: 185_921, most: 98 },
];

/// What the table leaves open, settled in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Convention {
    /// Its name in `docs/design/deadlock.md`.
    pub name: &'static str,
    /// Which trees.
    pub choice: Choice,
    /// Whether each server has its own, or the servers of a switch share one.
    pub roots: Roots,
    /// Whether links are tried in order of their numbers or in a random one.
    pub random_order: bool,
    /// Whether what servers send has a tag of its own.
    pub injection: Injection,
    /// Whether a turn that is asked to lead to several tags counts for each, or once: only then can a switch have it.
    pub installable: bool,
    /// What is one rule.
    pub counting: Counting,
}

/// The two conventions that were chosen because they come near the table, before this code measured anything; the literal
/// reading of its text; and others that were tried.
///
/// - `F`: one breadth-first tree for the servers of a switch, ports in random order; links by number; a tag for what
///   servers send; bitmaps of ingress ports; ambiguous turns count once for each new tag.
/// - `Fm`: the same, with the smallest new tag: what a switch can have.
/// - `A`: a tree for every server, every hop drawn at random; links in random order. `A'`: breadth-first trees.
/// - `B`, `E`: all shortest paths. `C`, `D`: one random tree for the servers of a switch. `G`: one tree with ports in
///   order, bitmaps of egress ports.
pub const CONVENTIONS: [Convention; 9] = [
    Convention { name: "F", installable: false, ..FIRST_FOUND },
    Convention { name: "Fm", ..FIRST_FOUND },
    Convention { name: "A", ..LITERAL },
    Convention { name: "A'", choice: Choice::FirstFound, ..LITERAL },
    Convention { name: "B", choice: Choice::All, roots: Roots::Switch, installable: false, ..LITERAL },
    Convention { name: "C", roots: Roots::Switch, random_order: false, installable: false, ..LITERAL },
    Convention { name: "D", roots: Roots::Switch, ..LITERAL },
    Convention { name: "E", choice: Choice::All, roots: Roots::Switch, random_order: false, ..LITERAL },
    Convention {
        name: "G",
        choice: Choice::FirstPort,
        roots: Roots::Switch,
        random_order: false,
        installable: false,
        counting: Counting::OutputSets,
        ..LITERAL
    },
];

const FIRST_FOUND: Convention = Convention {
    name: "Fm",
    choice: Choice::FirstFound,
    roots: Roots::Switch,
    random_order: false,
    injection: Injection::Own,
    installable: true,
    counting: Counting::InputSets,
};

const LITERAL: Convention = Convention {
    name: "A",
    choice: Choice::Random,
    roots: Roots::Host,
    random_order: true,
    injection: Injection::Shared,
    installable: true,
    counting: Counting::InputSets,
};

impl Convention {
    /// The convention of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        CONVENTIONS.into_iter().find(|convention| convention.name == name)
    }

    /// The paths; `seed` says which random trees. Those within a switch are left out: they need no tag, and where what
    /// servers send has a tag of its own they would count.
    pub fn paths(&self, seed: u64) -> Elp<'static> {
        let Self { choice, roots, .. } = *self;
        Elp::Shortest(ShortestPaths { choice, roots, seed, within_switch: false })
    }

    /// How tags are merged; `seed` says which random order.
    pub fn greedy(&self, seed: u64) -> Greedy {
        let order = if self.random_order { Order::Random(seed) } else { Order::Number };
        Greedy { order, injection: self.injection }
    }

    /// The rules as the convention counts them: those that a switch can have, or all changes of tags that paths ask for.
    pub fn count(&self, transitions: &Transitions, rules: &Rules) -> Count {
        let counted = if self.installable { rules.transitions() } else { transitions };
        counted.count(self.counting)
    }
}
