//! Fabric generators; [`FabricSpec`] holds them all.
//!
//! Each creates hosts, then switches by layer, then links from the hosts up by node number (also the port order).

mod bcube;
mod check;
mod clos;
mod custom;
mod dragonfly;
mod dumbbell;
mod fat_tree;
mod folded;
mod hpcc;
mod htsim;
mod jellyfish;
mod leaf_spine;
mod ns3_file;
mod rail;
mod spec;
mod star;
#[cfg(test)]
mod tests;

pub use bcube::BCube;
pub use clos::Clos;
pub use custom::{CustomFabric, CustomLink, Hosts};
pub use dragonfly::{Dragonfly, GlobalArrangement};
pub use dumbbell::Dumbbell;
pub use fat_tree::FatTree;
pub use hpcc::HpccFatTree;
pub use htsim::HtsimFile;
pub use jellyfish::Jellyfish;
pub use leaf_spine::LeafSpine;
pub use ns3_file::{Ns3File, Ns3Link, Ns3Topology, parse_topology, read_topology, topology_notices, write_topology};
pub use rail::{NvLink, RailOptimized};
pub use spec::{FabricSpec, GENERATORS};
pub use star::Star;

use super::graph::FabricError;
use crate::field::FieldError;
use crate::foreign::Ns3Error;
use crate::units::{Rate, Time};

/// Error of a generator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GeneratorError {
    /// Invalid field of a generator, such as `star.hosts`.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Invalid graph.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Invalid ns-3 topology file.
    #[error(transparent)]
    Ns3(#[from] Ns3Error),
    /// Invalid htsim topology file.
    #[error(transparent)]
    Htsim(Ns3Error),
}

/// HPCC evaluation, and most recent papers.
const fn rate_100g() -> Rate {
    Rate::gbps(100)
}

/// HPCC evaluation.
const fn rate_400g() -> Rate {
    Rate::gbps(400)
}

const fn no_oversubscription() -> f64 {
    1.0
}

const fn one_seed() -> u64 {
    1
}

/// HPCC evaluation: 200 m of fibre.
const fn delay_1us() -> Time {
    Time::us(1)
}

const fn one() -> u32 {
    1
}
