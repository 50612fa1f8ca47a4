use incast_model::fabric::GeneratorError;
use incast_model::fabric::generators::Jellyfish;
use serde::Serialize;

use super::Convention;
use crate::elp::ElpError;
use crate::tagging::TagError;
use crate::verify::verify;
use crate::wiring::Wiring;

/// Result of a convention on one Jellyfish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Name of the convention.
    pub convention: &'static str,
    /// Switches.
    pub switches: u32,
    /// Ports per switch, half of them to switches.
    pub ports: u32,
    /// Seed of graph, trees and random orders.
    pub seed: u64,
    /// Nodes on the longest path, servers included.
    pub diameter: u32,
    /// Lossless priority classes.
    pub classes: u8,
    /// Rules of all switches.
    pub total: usize,
    /// Most rules of a switch.
    pub most: usize,
    /// True if all paths stay lossless without cyclic dependencies.
    pub verified: bool,
}

/// Reason that there is no row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// Impossible graph.
    #[error(transparent)]
    Graph(#[from] GeneratorError),
    /// Impossible paths.
    #[error(transparent)]
    Paths(#[from] ElpError),
    /// Paths that cannot be tagged.
    #[error(transparent)]
    Tags(#[from] TagError),
}

impl Convention {
    /// Computes a row. `lap` receives each finished part: graph, trees, greedy, rules, verification.
    ///
    /// # Errors
    /// An impossible graph (odd numbers of switches and of links each).
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
            // With two servers.
            diameter: hops.layers().len() as u32 + 2,
            classes: rules.tags(),
            total: count.total,
            most: count.most,
            verified,
        })
    }
}
