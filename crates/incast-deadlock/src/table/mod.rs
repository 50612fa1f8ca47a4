//! Published table of Tagger's classes and rules on Jellyfish.

mod row;

use serde::Serialize;

use crate::elp::{Choice, Elp, Roots, ShortestPaths};
use crate::rules::{Count, Counting, Rules, Transitions};
use crate::tagging::{Greedy, Injection, Order};

pub use row::{Row, RowError};

/// Row in a draft of Tagger's evaluation: Jellyfish with `ports` / 2 ports to switches, "destination-rooted shortest-path
/// spanning trees at all the servers", Algorithm 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Published {
    /// Switches.
    pub switches: u32,
    /// Ports per switch.
    pub ports: u32,
    /// "Network diameter": nearest to the nodes on the longest path, servers included.
    pub diameter: u32,
    /// Lossless priority classes.
    pub classes: u8,
    /// Rules of all switches.
    pub total: u32,
    /// Most rules of a switch.
    pub most: u32,
}

/// Published table. Total / switches exceeds `most` in the first two rows: they cannot be of one graph.
pub const PUBLISHED: [Published; 5] = [
    Published { switches: 10, ports: 12, diameter: 5, classes: 2, total: 116, most: 10 },
    Published { switches: 100, ports: 32, diameter: 6, classes: 3, total: 3_794, most: 37 },
    Published { switches: 500, ports: 64, diameter: 6, classes: 3, total: 36_508, most: 76 },
    Published { switches: 1_000, ports: 64, diameter: 6, classes: 3, total: 81_136, most: 88 },
    Published { switches: 2_000, ports: 64, diameter: 7, classes: 3, total: 185_921, most: 98 },
];

/// Choices that the table leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Convention {
    /// Name in `docs/design/deadlock.md`.
    pub name: &'static str,
    /// Shortest paths taken.
    pub choice: Choice,
    /// Roots of trees.
    pub roots: Roots,
    /// If true, links are in random order, else by number.
    pub random_order: bool,
    /// Tag of servers' packets.
    pub injection: Injection,
    /// If true, a turn with several new tags counts once (as only then a switch can have it), else for each.
    pub installable: bool,
    /// Definition of one rule.
    pub counting: Counting,
}

/// `F` and `Fm` were chosen as nearest to the table before any measurement. `A` is its literal reading.
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
    /// Convention by name.
    pub fn by_name(name: &str) -> Option<Self> {
        CONVENTIONS.into_iter().find(|convention| convention.name == name)
    }

    /// Paths, with random trees from `seed`; without those within a switch, which need no tag but would count with
    /// [`Injection::Own`].
    pub fn paths(&self, seed: u64) -> Elp<'static> {
        let Self { choice, roots, .. } = *self;
        Elp::Shortest(ShortestPaths { choice, roots, seed, within_switch: false })
    }

    /// Merge of tags, with a random order from `seed`.
    pub fn greedy(&self, seed: u64) -> Greedy {
        let order = if self.random_order { Order::Random(seed) } else { Order::Number };
        Greedy { order, injection: self.injection }
    }

    /// Counts rules of a switch, or all tag changes.
    pub fn count(&self, transitions: &Transitions, rules: &Rules) -> Count {
        let counted = if self.installable { rules.transitions() } else { transitions };
        counted.count(self.counting)
    }
}
