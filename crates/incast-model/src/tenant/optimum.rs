use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use super::Tenancy;
use crate::fabric::{Fabric, HostId, NodeId};
use crate::maxmin::{Demand, max_min};
use crate::routing::Routes;

/// Demand between two hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Sender.
    pub src: HostId,
    /// Receiver.
    pub dst: HostId,
    /// Bit/s on the wire; infinite if backlogged.
    pub demand: f64,
}

impl Pair {
    /// Backlogged pair.
    pub const fn backlogged(src: HostId, dst: HostId) -> Self {
        Self { src, dst, demand: f64::INFINITY }
    }
}

/// Work-conserving optimum: max-min fair rates of pairs, in bit/s on the wire (with headers and gaps), spread evenly over
/// equal next hops. Equal pairs count separately.
///
/// The sum of the rates may be below the maximum: a pair over many links takes from many others.
pub fn optimum(fabric: &Fabric, routes: &Routes, pairs: &[Pair]) -> Vec<f64> {
    Optimum::new(fabric, routes).of(pairs)
}

/// [`optimum`] of several sets of pairs: caches paths.
#[derive(Debug)]
pub struct Optimum<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    capacities: Vec<f64>,
    ways: RefCell<HashMap<(HostId, HostId), Way>>,
}

type Way = Vec<(usize, f64)>;

impl<'a> Optimum<'a> {
    /// Optimum on a fabric.
    pub fn new(fabric: &'a Fabric, routes: &'a Routes) -> Self {
        let capacities = fabric.ports().iter().map(|port| fabric.link(port.link).rate.0 as f64).collect();
        Self { fabric, routes, capacities, ways: RefCell::default() }
    }

    /// Rates of pairs.
    pub fn of(&self, pairs: &[Pair]) -> Vec<f64> {
        let mut ways = self.ways.borrow_mut();
        let mut over = |pair: &Pair| {
            let way = ways.entry((pair.src, pair.dst)).or_insert_with(|| over_links(self.fabric, self.routes, pair));
            Demand { most: pair.demand, weight: 1.0, under: way.clone() }
        };
        max_min(&self.capacities, &pairs.iter().map(&mut over).collect::<Vec<_>>())
    }
}

/// Optimal static reservation: max-min fair rates, in bit/s, under the VMs' hoses alone, without links. 0 if either VM has no
/// guarantee.
pub fn static_split(tenancy: &Tenancy, pairs: &[Pair]) -> Vec<f64> {
    let hosts = pairs.iter().map(|pair| pair.src.index().max(pair.dst.index()) + 1).max().unwrap_or(0);
    let hoses = (0..hosts as u32).flat_map(|host| {
        let (send, receive) = tenancy.hose(HostId(host));
        [send.0 as f64, receive.0 as f64]
    });
    let under = |pair: &Pair| vec![(2 * pair.src.index(), 1.0), (2 * pair.dst.index() + 1, 1.0)];
    let demand = |pair: &Pair| Demand { most: pair.demand, weight: 1.0, under: under(pair) };
    max_min(&hoses.collect::<Vec<_>>(), &pairs.iter().map(demand).collect::<Vec<_>>())
}

/// Ports with shares of the traffic.
pub(super) fn over_links(fabric: &Fabric, routes: &Routes, pair: &Pair) -> Way {
    let [src, dst] = [pair.src, pair.dst].map(|host| fabric.hosts()[host.index()]);
    let mut ports = Vec::new();
    let mut front: BTreeMap<NodeId, f64> = BTreeMap::from([(src, 1.0)]);
    while !front.is_empty() {
        let mut next = BTreeMap::new();
        for (node, share) in front.into_iter().filter(|(node, _)| *node != dst) {
            let hops = routes.next_hops(node, pair.dst);
            for &port in hops {
                let share = share / hops.len() as f64;
                ports.push((port.index(), share));
                *next.entry(fabric.neighbour(port)).or_insert(0.0) += share;
            }
        }
        front = next;
    }
    ports
}

#[cfg(test)]
mod tests {
    use super::super::{Tenant, Vm};
    use super::*;
    use crate::fabric::Vms;
    use crate::fabric::generators::{FatTree, LeafSpine};
    use crate::routing::NextHopOrder;
    use crate::units::Rate;

    fn tree(leaves: u32, spines: u32) -> Fabric {
        let mut tree = LeafSpine::new(leaves, spines, 4);
        (tree.host_rate, tree.uplink_rate) = (Rate::gbps(1), Rate::gbps(1));
        tree.build().unwrap().with_vms(&Vms::new(4)).unwrap()
    }

    fn rates(fabric: &Fabric, pairs: &[(u32, u32)]) -> Vec<f64> {
        let routes = Routes::shortest(fabric, NextHopOrder::Port);
        let pairs: Vec<Pair> = pairs.iter().map(|&(src, dst)| Pair::backlogged(HostId(src), HostId(dst))).collect();
        optimum(fabric, &routes, &pairs).into_iter().map(|rate| rate / 1e6).collect()
    }

    #[test]
    fn links_of_the_way_are_shared() {
        let fabric = tree(3, 1);
        assert_eq!(rates(&fabric, &[(0, 1)]), [10_000.0], "within a server its switch is all there is");
        assert_eq!(rates(&fabric, &[(0, 4), (1, 5)]), [500.0; 2], "one NIC");
        assert_eq!(rates(&fabric, &[(0, 16), (4, 20), (8, 12)]), [500.0, 500.0, 1000.0], "one uplink");
        // 3 flows to Y and 1 to X enter rack 0; the flow within it gets the rest of Y's NIC.
        let many = rates(&fabric, &[(16, 0), (20, 4), (24, 4), (32, 4), (8, 4)]);
        assert_eq!(many, [250.0; 5]);
    }

    #[test]
    fn parallel_paths_are_used_evenly() {
        let fabric = tree(2, 2);
        assert_eq!(rates(&fabric, &[(0, 16), (4, 20)]), [1000.0; 2], "two uplinks");
        assert_eq!(rates(&fabric, &[(0, 16), (4, 20), (8, 24), (12, 28)]), [500.0; 4]);
        let fat = FatTree::new(4).build().unwrap();
        let routes = Routes::shortest(&fat, NextHopOrder::Port);
        let one = over_links(&fat, &routes, &Pair::backlogged(HostId(0), HostId(15)));
        let shares: Vec<f64> = one.iter().map(|(_, share)| *share).collect();
        assert_eq!(shares, [1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 1.0]);
    }

    #[test]
    fn demands_are_not_exceeded() {
        let fabric = tree(2, 1);
        let routes = Routes::shortest(&fabric, NextHopOrder::Port);
        let pair = |src, dst, demand| Pair { src: HostId(src), dst: HostId(dst), demand };
        let pairs = [pair(0, 16, 1e8), pair(4, 20, f64::INFINITY), pair(8, 24, 0.0)];
        assert_eq!(optimum(&fabric, &routes, &pairs), [1e8, 9e8, 0.0]);
    }

    #[test]
    fn hoses_are_split_evenly() {
        let vms = |hosts: &[u32]| hosts.iter().map(|&host| Vm { host: HostId(host), mapper: false }).collect();
        let tenant = |name: &str, hosts: &[u32], mbps| {
            let (name, group, vms) = (name.to_owned(), name.to_owned(), vms(hosts));
            Tenant { name, group, vms, send: Rate::mbps(mbps), receive: Rate::mbps(mbps) }
        };
        let senders: Vec<u32> = (1..10).collect();
        let all = [
            tenant("y", &[&[0][..], &senders].concat(), 450),
            tenant("x", &[20, 21], 300),
            tenant("none", &[30, 31], 0),
        ];
        let tenancy = Tenancy::new(all.to_vec());
        let split = |pairs: &[(u32, u32)]| {
            let pairs: Vec<Pair> = pairs.iter().map(|&(src, dst)| Pair::backlogged(HostId(src), HostId(dst))).collect();
            static_split(&tenancy, &pairs).into_iter().map(|rate| rate / 1e6).collect::<Vec<_>>()
        };
        let mut many: Vec<(u32, u32)> = senders.iter().map(|&sender| (sender, 0)).collect();
        many.push((21, 20));
        let rates = split(&many);
        assert_eq!((&rates[..9], rates[9]), (&[50.0; 9][..], 300.0));
        assert_eq!(split(&[(1, 0), (2, 0), (3, 0), (3, 4)]), [150.0, 150.0, 150.0, 300.0]);
        assert_eq!(split(&[(30, 31), (40, 41)]), [0.0; 2]);
        assert_eq!(split(&[]), [0.0; 0]);
    }
}
