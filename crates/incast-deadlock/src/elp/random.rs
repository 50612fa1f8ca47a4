use std::collections::{HashMap, HashSet};

use incast_model::fabric::{NodeId, PortId};
use incast_model::rng::stream;

use super::paths::PathSet;
use super::shortest::{Roots, Scratch, ShortestPaths, Target, below, targets};
use crate::bits::ones;
use crate::wiring::{Ports, Wiring};

impl PathSet {
    /// Draws `per_pair` shortest paths between all switches with hosts, for all single-linked hosts; includes paths within a
    /// switch. Hosts with several links are ends of their own.
    ///
    /// Hops are drawn uniformly among the next hops. Repeated paths of a pair are kept once.
    pub fn random_shortest(wiring: &Wiring<'_>, per_pair: u32, seed: u64) -> Self {
        let ends = targets(wiring);
        let mut set = Self::shared();
        let mut rng = stream(seed, "paths", 0);
        let mut scratch = Scratch::new(wiring);
        let all = ShortestPaths { roots: Roots::Switch, ..ShortestPaths::default() };
        for &target in &ends {
            set.extend_within(wiring, target);
            let mut hops: HashMap<NodeId, Vec<PortId>> = HashMap::new();
            all.towards(wiring, target, &mut scratch, &mut |towards| {
                hops = towards.iter().map(|(node, hops)| (node, hops.iter().map(|hop| hop.port).collect())).collect();
            });
            for &from in ends.iter().filter(|&&from| from != target && hops.contains_key(&from.0)) {
                let mut drawn = HashSet::new();
                for _ in 0..per_pair {
                    let mut path: Vec<PortId> = first_host(wiring, from).map(|port| wiring.peer(port)).collect();
                    let mut at = from.0;
                    while at != target.0 {
                        let next = &hops[&at];
                        let hop = next[below(next.len(), &mut rng)];
                        path.push(hop);
                        at = wiring.far(hop);
                    }
                    path.extend(first_host(wiring, target));
                    if drawn.insert(path.clone()) {
                        set.extend(path);
                    }
                }
            }
        }
        set
    }

    /// One path represents all pairs of single-linked hosts.
    fn extend_within(&mut self, wiring: &Wiring<'_>, Target(node): Target) {
        let mut hosts = ones(wiring.single_hosts(node)).map(|local| wiring.port(node, local));
        if let (Some(one), Some(other)) = (hosts.next(), hosts.next()) {
            self.extend(vec![wiring.peer(one), other]);
        }
    }
}

fn first_host(ports: &Ports, Target(node): Target) -> impl Iterator<Item = PortId> + '_ {
    ones(ports.single_hosts(node)).take(1).map(move |local| ports.port(node, local))
}
