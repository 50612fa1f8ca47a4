use super::graph::{Fabric, LinkId, NodeId};

/// Nodes joined by switches up to a tier, without NVLink.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    tier: u8,
    /// By node: its group's representative.
    of: Vec<u32>,
}

impl Groups {
    /// Racks for tier 1, pods for tier 2; nested.
    pub(crate) fn new(fabric: &Fabric, tier: u8) -> Self {
        let mut groups = Self { tier, of: (0..fabric.nodes().len() as u32).collect() };
        let within = |high: NodeId| fabric.node(high).tier <= tier && !fabric.is_nvlink_switch(high);
        for (low, high, _) in levels(fabric).filter(|&(_, high, _)| within(high)) {
            let (a, b) = (groups.find(low.0), groups.find(high.0));
            groups.of[a.max(b) as usize] = a.min(b);
        }
        for node in 0..groups.of.len() as u32 {
            groups.of[node as usize] = groups.find(node);
        }
        groups
    }

    fn find(&mut self, mut node: u32) -> u32 {
        while self.of[node as usize] != node {
            let next = self.of[node as usize];
            self.of[node as usize] = self.of[next as usize];
            node = next;
        }
        node
    }

    pub(crate) fn of(&self, node: NodeId) -> u32 {
        self.of[node.index()]
    }

    pub(crate) fn uplinks(&self, fabric: &Fabric) -> Vec<f64> {
        let mut sums = vec![0.0; self.of.len()];
        for (low, high, link) in levels(fabric).filter(|&(.., link)| !fabric.is_nvlink(link)) {
            if fabric.node(low).tier <= self.tier && fabric.node(high).tier > self.tier {
                sums[self.of(low) as usize] += fabric.link(link).rate.0 as f64;
            }
        }
        sums
    }
}

/// Lowest first; hosts are tier 0.
pub(crate) fn tiers_with_uplinks(fabric: &Fabric) -> Vec<u8> {
    let outside = levels(fabric).filter(|&(.., link)| !fabric.is_nvlink(link));
    let mut tiers: Vec<u8> = outside.map(|(low, ..)| fabric.node(low).tier).collect();
    tiers.sort_unstable();
    tiers.dedup();
    tiers
}

/// Lower end, upper end and link.
fn levels(fabric: &Fabric) -> impl Iterator<Item = (NodeId, NodeId, LinkId)> + '_ {
    (0..).map(LinkId).zip(fabric.links()).filter_map(|(number, link)| {
        let [a, b] = [link.a, link.b].map(|port| fabric.port(port).node);
        match fabric.node(a).tier.cmp(&fabric.node(b).tier) {
            std::cmp::Ordering::Less => Some((a, b, number)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some((b, a, number)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::generators::{Dumbbell, HpccFatTree, LeafSpine, NvLink, RailOptimized};

    fn sizes(fabric: &Fabric, tier: u8) -> Vec<usize> {
        let groups = Groups::new(fabric, tier);
        let mut numbers: Vec<u32> = fabric.hosts().iter().map(|&host| groups.of(host)).collect();
        numbers.sort_unstable();
        numbers.chunk_by(|a, b| a == b).map(<[u32]>::len).collect()
    }

    #[test]
    fn racks_and_pods_of_the_hpcc_tree() {
        let fabric = HpccFatTree::default().build().unwrap();
        assert_eq!(sizes(&fabric, 0), [1; 320]);
        assert_eq!(sizes(&fabric, 1), [16; 20]);
        assert_eq!(sizes(&fabric, 2), [64; 5]);
        assert_eq!(sizes(&fabric, 3), [320]);
        assert_eq!(tiers_with_uplinks(&fabric), [0, 1, 2]);
        let racks = Groups::new(&fabric, 1);
        let up = racks.uplinks(&fabric);
        assert!(fabric.hosts().iter().all(|&host| up[racks.of(host) as usize] == 1.6e12));
    }

    #[test]
    fn racks_of_gpus_are_rails_with_and_without_nvlink() {
        let forward = NvLink { forward: true, ..NvLink::default() };
        for (nvlink, tier) in [(None, 1), (Some(NvLink::default()), 2), (Some(forward), 3)] {
            let spec = RailOptimized { gpus_per_server: 4, nvlink, ..RailOptimized::new(3, 2) };
            let fabric = spec.build().unwrap();
            assert_eq!((sizes(&fabric, tier), sizes(&fabric, tier + 1)), (vec![3; 4], vec![12]));
            let rails = Groups::new(&fabric, tier);
            let up = rails.uplinks(&fabric);
            assert!(fabric.hosts().iter().all(|&host| up[rails.of(host) as usize] == 800e9));
            assert_eq!(tiers_with_uplinks(&fabric).last(), Some(&tier));
        }
    }

    #[test]
    fn links_within_a_tier_join_no_racks() {
        let fabric = Dumbbell::new(2, 3).build().unwrap();
        assert_eq!(sizes(&fabric, 1), [2, 3]);
        assert_eq!(tiers_with_uplinks(&fabric), [0]);
        assert_eq!(sizes(&LeafSpine::new(4, 2, 8).build().unwrap(), 1), [8; 4]);
    }
}
