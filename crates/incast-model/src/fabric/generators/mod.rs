//! Fabric generators; [`FabricSpec`] holds them all.
//!
//! Each creates hosts, then switches layer by layer, then links from the hosts up in order of node number. Port order follows
//! from link order.

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
pub(crate) use check::MAX_DELAY;
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
use crate::foreign::Ns3Error;
use crate::memory::{Memory, amount};
use crate::nearest::hint;
use crate::units::{Rate, Time};

/// Error of a generator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GeneratorError {
    /// Value outside its limits.
    #[error("{generator}.{field} is {value}; allowed: {allowed}")]
    Value {
        /// Name, as in [`GENERATORS`].
        generator: &'static str,
        /// Path within the generator, such as `links[3].a`.
        field: String,
        /// Invalid value.
        value: String,
        /// Allowed values.
        allowed: String,
    },
    /// Fabric above the limits.
    #[error(
        "{generator} makes {nodes} nodes and {links} links; allowed: at most {} nodes and {} links",
        check::MAX_NODES,
        check::MAX_LINKS
    )]
    TooLarge {
        /// Name, as in [`GENERATORS`].
        generator: &'static str,
        /// Hosts and switches.
        nodes: u64,
        /// Links.
        links: u64,
    },
    /// Fabric above the available memory.
    #[error("{generator} makes {nodes} nodes and {links} links, which take at least {}; {memory}", amount(*.bytes as f64))]
    Memory {
        /// Name, as in [`GENERATORS`].
        generator: &'static str,
        /// Hosts and switches.
        nodes: u64,
        /// Links.
        links: u64,
        /// Lower bound of the memory needed.
        bytes: u64,
        /// Available memory.
        memory: Memory,
    },
    /// Link to an undeclared node.
    #[error("{generator}.{field}: there is no node `{name}`{}", hint(.nearest))]
    UnknownNode {
        /// Name, as in [`GENERATORS`].
        generator: &'static str,
        /// Path of the field.
        field: String,
        /// Undeclared name.
        name: String,
        /// Closest declared name.
        nearest: Option<String>,
    },
    /// Name used twice.
    #[error("{generator}.{field}: the name `{name}` is taken already; names of hosts and switches are unique")]
    DuplicateNode {
        /// Name, as in [`GENERATORS`].
        generator: &'static str,
        /// Path of the field with the second use.
        field: String,
        /// Name used twice.
        name: String,
    },
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

/// NIC speed of the HPCC evaluation and most recent papers.
const fn rate_100g() -> Rate {
    Rate::gbps(100)
}

/// Fabric speed of the HPCC evaluation.
const fn rate_400g() -> Rate {
    Rate::gbps(400)
}

const fn no_oversubscription() -> f64 {
    1.0
}

const fn one_seed() -> u64 {
    1
}

/// 200 m of fibre, as in the HPCC evaluation.
const fn delay_1us() -> Time {
    Time::us(1)
}

const fn one() -> u32 {
    1
}
