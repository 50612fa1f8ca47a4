//! Any of the generators, as a scenario names it.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CustomFabric, Dumbbell, FatTree, GeneratorError, HpccFatTree, LeafSpine, Ns3File, Star};
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
    /// The HPCC evaluation's 320-server tree.
    HpccFatTree(HpccFatTree),
    /// A topology file of the HPCC authors' ns-3.
    Ns3(Ns3File),
    /// Link by link.
    Custom(CustomFabric),
}

/// Every generator's name in a scenario, and what it makes.
pub const GENERATORS: &[(&str, &str)] = &[
    ("star", "hosts around one switch"),
    ("dumbbell", "hosts on two switches joined by one link"),
    ("leaf_spine", "two tiers: every leaf joined to every spine"),
    ("fat_tree", "three tiers of k-port switches, k^3/4 hosts (Al-Fares et al., SIGCOMM 2008)"),
    ("hpcc_fat_tree", "the HPCC evaluation's 320 servers, 100/400 Gb/s (Li et al., SIGCOMM 2019)"),
    ("ns3", "a topology file of the HPCC authors' ns-3"),
    ("custom", "hosts, switches and links written out"),
];

impl FabricSpec {
    /// The generator's name, as in [`GENERATORS`].
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Star(_) => "star",
            Self::Dumbbell(_) => "dumbbell",
            Self::LeafSpine(_) => "leaf_spine",
            Self::FatTree(_) => "fat_tree",
            Self::HpccFatTree(_) => "hpcc_fat_tree",
            Self::Ns3(_) => "ns3",
            Self::Custom(_) => "custom",
        }
    }

    /// The fabric; `base_dir` is the folder that relative file names start from.
    pub fn build(&self, base_dir: &Path) -> Result<Fabric, GeneratorError> {
        match self {
            Self::Star(star) => star.build(),
            Self::Dumbbell(dumbbell) => dumbbell.build(),
            Self::LeafSpine(leaf_spine) => leaf_spine.build(),
            Self::FatTree(fat_tree) => fat_tree.build(),
            Self::HpccFatTree(tree) => tree.build(),
            Self::Ns3(file) => file.build(base_dir),
            Self::Custom(custom) => custom.build(),
        }
    }
}
