use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fabric::{Fabric, PortId};

/// Order in which equal-cost next hops are numbered; the hash is an index into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NextHopOrder {
    /// By port number.
    #[default]
    Port,
    /// By neighbour's node id, highest first, as the HPCC authors' ns-3 does on Linux, where it iterates over pointers.
    NeighbourDescending,
}

impl NextHopOrder {
    pub(super) fn sort(self, fabric: &Fabric, hops: &mut [PortId]) {
        if self == Self::NeighbourDescending {
            fabric.sort_by_neighbour_descending(hops);
        }
    }
}
