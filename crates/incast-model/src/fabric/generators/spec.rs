use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BCube, Clos, CustomFabric, Dragonfly, Dumbbell, FatTree, GeneratorError, HpccFatTree, HtsimFile, Jellyfish,
    LeafSpine, Ns3File, RailOptimized, Star,
};
use crate::fabric::Fabric;

/// The fabric of a scenario: exactly one generator, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FabricSpec {
    /// Hosts around one switch.
    Star(Star),
    /// Two switches joined by one link.
    Dumbbell(Dumbbell),
    /// Two tiers, every leaf joined to every spine.
    LeafSpine(LeafSpine),
    /// Three tiers by switch radix.
    FatTree(FatTree),
    /// Two or three tiers by switch radix and oversubscription.
    Clos(Clos),
    /// The HPCC evaluation's 320-server tree.
    HpccFatTree(HpccFatTree),
    /// Switches joined at random.
    Jellyfish(Jellyfish),
    /// Servers with several ports that forward for each other.
    #[serde(rename = "bcube")]
    BCube(BCube),
    /// Groups of routers, every group joined to every other.
    Dragonfly(Dragonfly),
    /// GPU servers whose i-th NICs share a switch.
    RailOptimized(RailOptimized),
    /// A topology file of the HPCC authors' ns-3.
    Ns3(Ns3File),
    /// A topology file of htsim.
    Htsim(HtsimFile),
    /// Link by link.
    Custom(CustomFabric),
}

/// Names and descriptions of the generators.
pub const GENERATORS: &[(&str, &str)] = &[
    ("star", "hosts around one switch"),
    ("dumbbell", "hosts on two switches joined by one link"),
    ("leaf_spine", "two tiers: every leaf joined to every spine"),
    ("fat_tree", "three tiers of k-port switches, k^3/4 hosts (Al-Fares et al., SIGCOMM 2008)"),
    ("clos", "folded Clos: two or three tiers by switch radix, with oversubscription for each tier"),
    ("hpcc_fat_tree", "the HPCC evaluation's 320 servers, 100/400 Gb/s (Li et al., SIGCOMM 2019)"),
    ("jellyfish", "a random regular graph of switches (Singla et al., NSDI 2012)"),
    ("bcube", "servers with several ports that forward for each other (Guo et al., SIGCOMM 2009)"),
    ("dragonfly", "groups of routers, every group joined to every other (Kim et al., ISCA 2008)"),
    ("rail_optimized", "GPU servers: the i-th NIC of every server on rail i, spines above or none, NVLink or not"),
    ("ns3", "a topology file of the HPCC authors' ns-3"),
    ("htsim", "a topology file of htsim: a fat tree of two or three tiers"),
    ("custom", "hosts, switches and links written out"),
];

impl FabricSpec {
    /// Name, as in [`GENERATORS`].
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Star(_) => "star",
            Self::Dumbbell(_) => "dumbbell",
            Self::LeafSpine(_) => "leaf_spine",
            Self::FatTree(_) => "fat_tree",
            Self::Clos(_) => "clos",
            Self::HpccFatTree(_) => "hpcc_fat_tree",
            Self::Jellyfish(_) => "jellyfish",
            Self::BCube(_) => "bcube",
            Self::Dragonfly(_) => "dragonfly",
            Self::RailOptimized(_) => "rail_optimized",
            Self::Ns3(_) => "ns3",
            Self::Htsim(_) => "htsim",
            Self::Custom(_) => "custom",
        }
    }

    /// Builds the fabric; relative file names start at `base_dir`.
    pub fn build(&self, base_dir: &Path) -> Result<Fabric, GeneratorError> {
        match self {
            Self::Star(star) => star.build(),
            Self::Dumbbell(dumbbell) => dumbbell.build(),
            Self::LeafSpine(leaf_spine) => leaf_spine.build(),
            Self::FatTree(fat_tree) => fat_tree.build(),
            Self::Clos(clos) => clos.build(),
            Self::HpccFatTree(tree) => tree.build(),
            Self::Jellyfish(jellyfish) => jellyfish.build(),
            Self::BCube(bcube) => bcube.build(),
            Self::Dragonfly(dragonfly) => dragonfly.build(),
            Self::RailOptimized(rails) => rails.build(),
            Self::Ns3(file) => file.build(base_dir),
            Self::Htsim(file) => file.build(base_dir),
            Self::Custom(custom) => custom.build(),
        }
    }
}
