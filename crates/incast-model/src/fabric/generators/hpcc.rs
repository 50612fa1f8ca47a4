use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::folded::{Folded, Links, TopOrder};
use super::{GeneratorError, delay_1us, rate_100g, rate_400g};
use crate::fabric::Fabric;
use crate::range::{above, delay};
use crate::units::{Rate, Time};

const PODS: u32 = 5;
/// ToRs, or aggregation switches.
const PER_POD: u32 = 4;
const HOSTS_PER_TOR: u32 = 16;
const UPLINKS: u32 = 4;

/// The 320-server tree of the HPCC evaluation (Li et al., SIGCOMM 2019, section 5.1): 5 pods of 4 ToR and 4 aggregation
/// switches, 16 cores, no oversubscription.
///
/// Node ids and link order are those of `fat.txt` in the authors' ns-3 (commit 9f4be2a), as their ECMP hash depends on
/// both: hosts 0 to 319, ToRs 320 to 339, aggregation 340 to 359, cores 360 to 375.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HpccFatTree {
    /// Rate of the hosts' links. Default 100Gbps (SIGCOMM 2019, section 5.1).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub host_rate: Rate,
    /// Rate of the links between switches. Default 400Gbps (SIGCOMM 2019, section 5.1).
    #[serde(default = "rate_400g")]
    #[schemars(transform = above("0bps"))]
    pub fabric_rate: Rate,
    /// One-way propagation delay of every link, up to 1 s. Default 1us (SIGCOMM 2019, section 5.1).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
}

impl Default for HpccFatTree {
    fn default() -> Self {
        Self { host_rate: rate_100g(), fabric_rate: rate_400g(), delay: delay_1us() }
    }
}

impl HpccFatTree {
    /// Builds the fabric.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("hpcc_fat_tree");
        check.ranges(self)?;
        let [host, fabric] = [self.host_rate, self.fabric_rate].map(|rate| Links { rate, delay: self.delay });
        Folded {
            names: ["tor", "agg", "core"],
            pods: PODS,
            bottoms: PER_POD,
            hosts_per_bottom: HOSTS_PER_TOR,
            middles: PER_POD,
            tops_per_middle: UPLINKS,
            order: TopOrder::Blocks,
            bundles: [1, 1],
            links: [host, fabric, fabric],
        }
        .build(check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{LinkId, NodeId};

    /// FNV-1a (64 bit) over "a b rate_bps delay_ps\n" of every link; a separate program computed the expected value from the
    /// authors' fat.txt.
    fn digest(fabric: &Fabric) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for link in fabric.links() {
            let (a, b) = (fabric.port(link.a).node, fabric.port(link.b).node);
            for byte in format!("{} {} {} {}\n", a.0, b.0, link.rate.0, link.delay.0).bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        hash
    }

    #[test]
    fn is_the_authors_tree() {
        let fabric = HpccFatTree::default().build().unwrap();
        assert_eq!((fabric.nodes().len(), fabric.hosts().len(), fabric.links().len()), (376, 320, 480));
        let ends = |link: u32| {
            let link = fabric.link(LinkId(link));
            (fabric.port(link.a).node.0, fabric.port(link.b).node.0, link.rate)
        };
        // Rows of fat.txt.
        let (host, trunk) = (Rate::gbps(100), Rate::gbps(400));
        assert_eq!(ends(0), (0, 320, host));
        assert_eq!(ends(319), (319, 339, host));
        assert_eq!(ends(320), (320, 340, trunk));
        assert_eq!(ends(327), (321, 343, trunk));
        assert_eq!(ends(399), (339, 359, trunk));
        assert_eq!(ends(400), (340, 360, trunk));
        assert_eq!(ends(405), (341, 365, trunk));
        assert_eq!(ends(479), (359, 375, trunk));
        assert_eq!(digest(&fabric), 0x692b_3cff_47ae_597f);
    }

    #[test]
    fn ports_are_in_the_authors_order() {
        let fabric = HpccFatTree::default().build().unwrap();
        let neighbours = |node| fabric.ports_of(NodeId(node)).map(|port| fabric.neighbour(port).0).collect::<Vec<_>>();
        assert_eq!(neighbours(17), [321]);
        assert_eq!(neighbours(321), (16..32).chain(340..344).collect::<Vec<_>>());
        assert_eq!(neighbours(345), [324, 325, 326, 327, 364, 365, 366, 367]);
        assert_eq!(neighbours(375), [343, 347, 351, 355, 359]);
    }
}
