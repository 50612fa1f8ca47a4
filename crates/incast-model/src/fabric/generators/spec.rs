use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BCube, Clos, CustomFabric, Dragonfly, Dumbbell, FatTree, GeneratorError, HpccFatTree, HtsimFile, Jellyfish,
    LeafSpine, Ns3File, RailOptimized, Star,
};
use crate::fabric::Fabric;

/// Makes [`FabricSpec`] and [`GENERATORS`]. `in folder`: the generator reads files relative to it.
macro_rules! fabrics {
    ($($(#[$doc:meta])* $name:literal, $summary:literal => $variant:ident($kind:ty) $(in $folder:ident)?),+ $(,)?) => {
        /// The fabric of a scenario: exactly one generator, by name.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum FabricSpec {
            $($(#[$doc])* #[serde(rename = $name)] $variant($kind)),+
        }

        /// Names and descriptions of the generators.
        pub const GENERATORS: &[(&str, &str)] = &[$(($name, $summary)),+];

        impl FabricSpec {
            /// Name, as in [`GENERATORS`].
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name),+ }
            }

            /// Builds the fabric; relative file names start at `base_dir`.
            pub fn build(&self, base_dir: &Path) -> Result<Fabric, GeneratorError> {
                match self { $(Self::$variant(one) => fabrics!(@build one, base_dir $(, $folder)?)),+ }
            }
        }
    };
    (@build $one:ident, $base_dir:ident) => { $one.build() };
    (@build $one:ident, $base_dir:ident, $folder:ident) => { $one.build($base_dir) };
}

fabrics! {
    /// Hosts around one switch.
    "star", "hosts around one switch" => Star(Star),
    /// Two switches joined by one link.
    "dumbbell", "hosts on two switches joined by one link" => Dumbbell(Dumbbell),
    /// Two tiers, every leaf joined to every spine.
    "leaf_spine", "two tiers: every leaf joined to every spine" => LeafSpine(LeafSpine),
    /// Three tiers by switch radix.
    "fat_tree", "three tiers of k-port switches, k^3/4 hosts (Al-Fares et al., SIGCOMM 2008)" => FatTree(FatTree),
    /// Two or three tiers by switch radix and oversubscription.
    "clos", "folded Clos: two or three tiers by switch radix, with oversubscription for each tier" => Clos(Clos),
    /// The HPCC evaluation's 320-server tree.
    "hpcc_fat_tree", "the HPCC evaluation's 320 servers, 100/400 Gb/s (Li et al., SIGCOMM 2019)" => HpccFatTree(HpccFatTree),
    /// Switches joined at random.
    "jellyfish", "a random regular graph of switches (Singla et al., NSDI 2012)" => Jellyfish(Jellyfish),
    /// Servers with several ports that forward for each other.
    "bcube", "servers with several ports that forward for each other (Guo et al., SIGCOMM 2009)" => BCube(BCube),
    /// Groups of routers, every group joined to every other.
    "dragonfly", "groups of routers, every group joined to every other (Kim et al., ISCA 2008)" => Dragonfly(Dragonfly),
    /// GPU servers whose i-th NICs share a switch.
    "rail_optimized", "GPU servers: the i-th NIC of every server on rail i, spines above or none, NVLink or not" => RailOptimized(RailOptimized),
    /// A topology file of the HPCC authors' ns-3.
    "ns3", "a topology file of the HPCC authors' ns-3" => Ns3(Ns3File) in folder,
    /// A topology file of htsim.
    "htsim", "a topology file of htsim: a fat tree of two or three tiers" => Htsim(HtsimFile) in folder,
    /// Link by link.
    "custom", "hosts, switches and links written out" => Custom(CustomFabric),
}
