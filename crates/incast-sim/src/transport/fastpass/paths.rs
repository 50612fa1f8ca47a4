//! Paths for a slot's packets without overbooked links (section 4): edge colours of a bipartite multigraph of racks.
//!
//! A spine with links n times as fast as hosts' has n colours. A rack's packets in a slot bound the colours needed (König,
//! 1916).

use incast_model::fabric::{Fabric, NodeId, NodeKind};

const FREE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Ways {
    rack: Vec<u32>,
    per_way: u32,
    ways: u32,
    /// By side (source or destination), rack and colour: edge, or [`FREE`].
    used: [Vec<u32>; 2],
    edges: Vec<([u32; 2], u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotTwoTiers;

impl Ways {
    /// Fails unless all switches with hosts have the same neighbours, once each, by links no slower than hosts'.
    pub(super) fn new(fabric: &Fabric) -> Result<Self, NotTwoTiers> {
        let leaf_of = |host: &NodeId| {
            let mut ports = fabric.ports_of(*host);
            match (ports.next(), ports.next()) {
                (Some(port), None) => Ok(fabric.neighbour(port)),
                _ => Err(NotTwoTiers),
            }
        };
        let leaves_of = fabric.hosts().iter().map(leaf_of).collect::<Result<Vec<_>, _>>()?;
        let mut leaves = leaves_of.clone();
        leaves.sort_unstable();
        leaves.dedup();
        let uplinks = |leaf: NodeId| {
            fabric.ports_of(leaf).filter(|&port| fabric.node(fabric.neighbour(port)).kind == NodeKind::Switch)
        };
        let spines = |leaf: NodeId| uplinks(leaf).map(|port| fabric.neighbour(port)).collect::<Vec<_>>();
        let above = spines(leaves[0]);
        let once = (1..above.len()).all(|at| !above[..at].contains(&above[at]));
        let alike =
            leaves.iter().all(|&leaf| spines(leaf) == above) && above.iter().all(|spine| !leaves.contains(spine));
        if !once || !alike || above.is_empty() {
            return Err(NotTwoTiers);
        }
        let fastest_host =
            fabric.hosts().iter().flat_map(|&host| fabric.ports_of(host)).map(|port| fabric.rate(port).0);
        let slowest_up = leaves.iter().flat_map(|&leaf| uplinks(leaf)).map(|port| fabric.rate(port).0);
        let per_way = slowest_up.min().unwrap_or(0) / fastest_host.max().unwrap_or(u64::MAX);
        if per_way == 0 {
            return Err(NotTwoTiers);
        }
        let rack = |leaf: &NodeId| leaves.binary_search(leaf).unwrap_or_default() as u32;
        let (per_way, ways) = (per_way.min(64) as u32, above.len() as u32);
        let colours = leaves.len() * (per_way * ways) as usize;
        Ok(Self {
            rack: leaves_of.iter().map(rack).collect(),
            per_way,
            ways,
            used: [vec![FREE; colours], vec![FREE; colours]],
            edges: Vec::new(),
        })
    }

    fn colours(&self) -> u32 {
        self.per_way * self.ways
    }

    pub(super) fn clear(&mut self) {
        self.used.iter_mut().for_each(|side| side.fill(FREE));
        self.edges.clear();
    }

    fn at(&self, rack: u32, colour: u32) -> usize {
        (rack * self.colours() + colour) as usize
    }

    fn free(&self, side: usize, rack: u32) -> Option<u32> {
        (0..self.colours()).find(|&colour| self.used[side][self.at(rack, colour)] == FREE)
    }

    /// The packet's number among those that need a path; `None` within a rack. Fails if a rack has no free path.
    pub(super) fn add(&mut self, src: u32, dst: u32) -> Result<Option<usize>, ()> {
        let racks = [self.rack[src as usize], self.rack[dst as usize]];
        if racks[0] == racks[1] {
            return Ok(None);
        }
        let (Some(mine), Some(theirs)) = (self.free(0, racks[0]), self.free(1, racks[1])) else { return Err(()) };
        if self.used[1][self.at(racks[1], mine)] != FREE {
            self.flip(racks[1], mine, theirs);
        }
        let edge = self.edges.len();
        self.edges.push((racks, mine));
        for (side, &rack) in racks.iter().enumerate() {
            let at = self.at(rack, mine);
            self.used[side][at] = edge as u32;
        }
        Ok(Some(edge))
    }

    /// Swaps colours `from` and `to` along the alternating path from a destination with `to` free, which frees `from`. It
    /// enters sources by edges of colour `from`, so it never reaches the source with `from` free.
    fn flip(&mut self, rack: u32, from: u32, to: u32) {
        let (mut side, mut rack, mut colour) = (1, rack, from);
        let mut path = Vec::new();
        loop {
            let edge = self.used[side][self.at(rack, colour)];
            if edge == FREE {
                break;
            }
            path.push(edge);
            side = 1 - side;
            rack = self.edges[edge as usize].0[side];
            colour = if colour == from { to } else { from };
        }
        for &edge in &path {
            let (racks, colour) = self.edges[edge as usize];
            for (side, &rack) in racks.iter().enumerate() {
                let at = self.at(rack, colour);
                self.used[side][at] = FREE;
            }
        }
        for &edge in &path {
            let (racks, colour) = self.edges[edge as usize];
            let colour = if colour == from { to } else { from };
            self.edges[edge as usize].1 = colour;
            for (side, &rack) in racks.iter().enumerate() {
                let at = self.at(rack, colour);
                self.used[side][at] = edge;
            }
        }
    }

    pub(super) fn way(&self, edge: usize) -> u32 {
        self.edges[edge].1 / self.per_way
    }

    #[cfg(test)]
    fn rack_of(&self, host: u32) -> u32 {
        self.rack[host as usize]
    }
}

#[cfg(test)]
mod tests {
    use incast_model::fabric::generators::{FatTree, LeafSpine};
    use incast_model::units::Rate;
    use proptest::prelude::*;

    use super::*;

    fn fabric(leaves: u32, spines: u32, hosts: u32, faster: u64) -> Fabric {
        let mut spec = LeafSpine::new(leaves, spines, hosts);
        spec.uplink_rate = Rate(spec.host_rate.0 * faster);
        spec.build().unwrap()
    }

    #[test]
    fn only_two_tiers_have_ways() {
        assert!(Ways::new(&fabric(3, 2, 4, 2)).is_ok());
        assert_eq!(Ways::new(&FatTree::new(4).build().unwrap()).err(), Some(NotTwoTiers));
    }

    proptest! {
        #[test]
        fn no_link_is_overbooked(
            order in Just((0u32..24).collect::<Vec<_>>()).prop_shuffle(),
            picks in prop::collection::vec(any::<bool>(), 24),
            faster in prop::sample::select(vec![1u64, 2, 4]),
        ) {
            // Eight paths of one packet each, four of two, or two of four.
            let fabric = fabric(3, 8 / faster as u32, 8, faster);
            let mut ways = Ways::new(&fabric).unwrap();
            ways.clear();
            let pairs = (0..24u32).zip(order).filter(|(src, dst)| src != dst).zip(picks).filter(|(_, pick)| *pick);
            let pairs: Vec<(u32, u32)> = pairs.map(|(pair, _)| pair).collect();
            let edges: Vec<Option<usize>> = pairs.iter().map(|&(src, dst)| ways.add(src, dst).unwrap()).collect();
            let mut load = std::collections::HashMap::new();
            for ((src, dst), edge) in pairs.iter().zip(edges) {
                let racks = [*src, *dst].map(|host| ways.rack_of(host));
                prop_assert_eq!(edge.is_none(), racks[0] == racks[1]);
                if let Some(edge) = edge {
                    let way = ways.way(edge);
                    *load.entry((0, racks[0], way)).or_insert(0u64) += 1;
                    *load.entry((1, racks[1], way)).or_insert(0u64) += 1;
                }
            }
            prop_assert!(load.values().all(|&packets| packets <= faster), "{:?}", load);
        }
    }

    #[test]
    fn pairs_without_a_free_path_are_left_out() {
        let mut ways = Ways::new(&fabric(2, 1, 4, 2)).unwrap();
        ways.clear();
        assert_eq!([ways.add(0, 4), ways.add(1, 5)], [Ok(Some(0)), Ok(Some(1))]);
        assert_eq!((ways.add(2, 6), ways.add(2, 3), ways.add(4, 0)), (Err(()), Ok(None), Ok(Some(2))));
    }
}
