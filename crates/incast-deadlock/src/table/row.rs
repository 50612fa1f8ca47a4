//! One row of the table: a graph with its trees, tags, rules, and their verification.

use incast_model::fabric::GeneratorError;
use incast_model::fabric::generators::Jellyfish;
use serde::Serialize;

use super::Convention;
use crate::elp::ElpError;
use crate::tagging::TagError;
use crate::verify::verify;
use crate::wiring::Wiring;

/// What a Jellyfish takes by a convention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The convention's name.
    pub convention: &'static str,
    /// Switches.
    pub switches: u32,
    /// Ports of each, half of them to other switches.
    pub ports: u32,
    /// What drew the graph, the trees and random orders.
    pub seed: u64,
    /// Nodes on the longest path from server to server, both included.
    pub diameter: u32,
    /// Lossless priority classes.
    pub classes: u8,
    /// Rules of all switches.
    pub total: usize,
    /// Rules of the switch that has most.
    pub most: usize,
    /// Whether the rules hold: no cyclic dependency, and every path stays lossless.
    pub verified: bool,
}

/// A row that cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// There is no such graph.
    #[error(transparent)]
    Graph(#[from] GeneratorError),
    /// The paths cannot be on it.
    #[error(transparent)]
    Paths(#[from] ElpError),
    /// The paths cannot be tagged.
    #[error(transparent)]
    Tags(#[from] TagError),
}

impl Convention {
    /// The row of a Jellyfish of `switches` with `ports` each. `lap` is told the name of each part when it is done: graph,
    /// trees, greedy, rules, verification.
    ///
    /// # Errors
    /// A graph that cannot be, such as one of an odd number of switches with an odd number of links each.
    pub fn row(self, switches: u32, ports: u32, seed: u64, lap: &mut dyn FnMut(&'static str)) -> Result<Row, RowError> {
        let fabric = Jellyfish { seed, ..Jellyfish::new(switches, ports, ports / 2) }.build()?;
        let wiring = Wiring::new(&fabric);
        lap("graph");
        let elp = self.paths(seed);
        let hops = elp.hops(&wiring)?;
        lap("trees");
        let placement = self.greedy(seed).place(&hops)?;
        lap("greedy");
        let (transitions, rules) = (placement.transitions(), placement.rules());
        let count = self.count(&transitions, &rules);
        lap("rules");
        let verified = verify(&wiring, &rules, &elp)?.holds();
        lap("verification");
        Ok(Row {
            convention: self.name,
            switches,
            ports,
            seed,
            // Its switches, and the two.
            diameter: hops.layers().len() as u32 + 2,
            classes: rules.tags(),
            total: count.total,
            most: count.most,
            verified,
        })
    }
}
