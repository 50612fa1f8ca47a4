//! Fabric generators, one per file; [`FabricSpec`] holds them all.
//!
//! Each creates hosts first, then switches layer by layer, then links from the hosts up in order of node number. Port
//! order follows from link order.

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
pub use ns3_file::Ns3File;
pub use rail::{NvLink, RailOptimized};
pub use spec::{FabricSpec, GENERATORS};
pub use star::Star;

use super::graph::FabricError;
use crate::memory::{Memory, amount};
use crate::nearest::hint;
use crate::ns3::Ns3Error;
use crate::units::{Rate, Time};

/// Reasons why a spec gives no fabric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GeneratorError {
    /// A value outside its limits.
    #[error("{generator}.{field} is {value}; allowed: {allowed}")]
    Value {
        /// Generator's name, as in [`GENERATORS`].
        generator: &'static str,
        /// Path of the field within the generator, such as `links[3].a`.
        field: String,
        /// Value given.
        value: String,
        /// Allowed values.
        allowed: String,
    },
    /// More than any machine could hold.
    #[error(
        "{generator} makes {nodes} nodes and {links} links; allowed: at most {} nodes and {} links",
        check::MAX_NODES,
        check::MAX_LINKS
    )]
    TooLarge {
        /// Name of the generator.
        generator: &'static str,
        /// Hosts and switches it would make.
        nodes: u64,
        /// Links it would make.
        links: u64,
    },
    /// The fabric does not fit the available memory.
    #[error("{generator} makes {nodes} nodes and {links} links, which take at least {}; {memory}", amount(*.bytes as f64))]
    Memory {
        /// Name of the generator.
        generator: &'static str,
        /// Hosts and switches it would make.
        nodes: u64,
        /// Links it would make.
        links: u64,
        /// Bytes that they take at least.
        bytes: u64,
        /// Memory that is available.
        memory: Memory,
    },
    /// A link names an undeclared node.
    #[error("{generator}.{field}: there is no node `{name}`{}", hint(.nearest))]
    UnknownNode {
        /// Name of the generator.
        generator: &'static str,
        /// Path of the field.
        field: String,
        /// The name as written.
        name: String,
        /// The closest declared name.
        nearest: Option<String>,
    },
    /// Two nodes of one name.
    #[error("{generator}.{field}: the name `{name}` is taken already; names of hosts and switches are unique")]
    DuplicateNode {
        /// Name of the generator.
        generator: &'static str,
        /// Path of the second one's field.
        field: String,
        /// The name.
        name: String,
    },
    /// The parts are well-formed, but do not make a fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The topology file cannot be used.
    #[error(transparent)]
    Ns3(#[from] Ns3Error),
    /// The htsim topology file cannot be used.
    #[error(transparent)]
    Htsim(Ns3Error),
}

/// 100 Gb/s: NIC speed of the HPCC evaluation and most recent papers.
const fn rate_100g() -> Rate {
    Rate::gbps(100)
}

/// 400 Gb/s: the fabric speed of the HPCC evaluation.
const fn rate_400g() -> Rate {
    Rate::gbps(400)
}

const fn no_oversubscription() -> f64 {
    1.0
}

const fn one_seed() -> u64 {
    1
}

/// 1 us one way: 200 m of fibre, as in the HPCC evaluation.
const fn delay_1us() -> Time {
    Time::us(1)
}

const fn one() -> u32 {
    1
}
