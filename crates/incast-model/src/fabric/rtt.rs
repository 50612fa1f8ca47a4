//! Base round-trip times and bandwidth-delay products of host pairs, as in the HPCC authors' ns-3 (`third.cc`, CalculateRoute
//! and main, commit 9f4be2a).
//!
//! base RTT = 2 · sum of the path's one-way delays + sum of one full payload's times on its links, without headers and the
//! ACK's own time. Of several shortest paths (fewest links) the one with the longest base RTT counts, and for the largest
//! bandwidth-delay product all of them.
//!
//! DEVIATION: ns-3 takes the first shortest path that its search finds ([`BaseRtts::of_first_paths`]) and cuts every link's
//! payload time to whole nanoseconds; here it is exact. Both agree for 1000 bytes at 10, 25, 40, 50, 100, 200, 400 and
//! 800 Gb/s if parallel paths have equal links.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::graph::{Fabric, HostId, LinkId, NodeId, NodeKind, PortId};
use crate::units::{Bytes, Rate, Time};

/// Path properties on an idle fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairRtt {
    /// Base round-trip time.
    pub base_rtt: Time,
    /// Slowest link's rate.
    pub bottleneck: Rate,
}

impl PairRtt {
    /// Base RTT times bottleneck rate, rounded down.
    pub fn bdp(self) -> Bytes {
        let bytes = u128::from(self.base_rtt.0) * u128::from(self.bottleneck.0) / 8_000_000_000_000;
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// Links that flows use, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Ways {
    /// Not used.
    pub down: Vec<LinkId>,
    /// Flows spread their packets over equal paths.
    pub spread: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Leg {
    delay: Time,
    payload_time: Time,
    slowest: Rate,
}

impl Leg {
    const NONE: Self = Self { delay: Time::ZERO, payload_time: Time::ZERO, slowest: Rate::MAX };
    /// No path: without a bandwidth-delay product.
    const BLOCKED: Self = Self { slowest: Rate(0), ..Self::NONE };

    fn over(fabric: &Fabric, port: PortId, payload: Bytes, path: Path, spread: bool) -> Self {
        let rate = fabric.rate(port);
        let payload_time = match path {
            Path::First => Time::ns((u128::from(payload.0) * 8_000_000_000 / u128::from(rate.0)) as u64),
            Path::Longest | Path::AtLeast(_) => rate.time_for(payload.0),
        };
        Self { delay: fabric.delay(port), payload_time, slowest: if spread { fabric.spread_rate(port) } else { rate } }
    }

    fn then(self, next: Self) -> Self {
        Self {
            delay: self.delay + next.delay,
            payload_time: self.payload_time + next.payload_time,
            slowest: self.slowest.min(next.slowest),
        }
    }

    fn pair(self) -> PairRtt {
        PairRtt { base_rtt: self.delay * 2 + self.payload_time, bottleneck: self.slowest }
    }
}

/// Anchor: the host's only switch, or the host itself with several links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Spoke {
    anchor: u32,
    leg: Leg,
}

/// Base RTTs of all host pairs, stored per pair of first switches.
#[derive(Debug, Clone)]
pub struct BaseRtts {
    anchors: usize,
    spokes: Vec<Spoke>,
    /// `trunks[from * anchors + to]` is an index of `legs`: few differ.
    trunks: Vec<u32>,
    legs: Vec<Leg>,
    /// A pair has shortest paths with different legs.
    differ: bool,
}

impl BaseRtts {
    /// Base RTTs for `payload` bytes per packet (1000 in the HPCC evaluation).
    pub fn new(fabric: &Fabric, payload: Bytes) -> Self {
        Self::of(fabric, payload, Path::Longest, &Ways::default())
    }

    /// As [`BaseRtts::new`], on the first path that ns-3 finds from the first host of a pair, with payload times in whole
    /// nanoseconds (NS3 `third.cc`).
    pub fn of_first_paths(fabric: &Fabric, payload: Bytes) -> Self {
        Self::of(fabric, payload, Path::First, &Ways::default())
    }

    fn of(fabric: &Fabric, payload: Bytes, path: Path, ways: &Ways) -> Self {
        let mut anchors: Vec<NodeId> = Vec::new();
        let mut known: HashMap<NodeId, u32> = HashMap::new();
        let spokes = fabric.hosts().iter().map(|&host| {
            let (node, leg) = spoke(fabric, host, payload, path);
            let anchor = *known.entry(node).or_insert_with(|| {
                anchors.push(node);
                anchors.len() as u32 - 1
            });
            Spoke { anchor, leg }
        });
        let spokes = spokes.collect();
        let mut walk = Walk::new(fabric, payload, path, ways);
        let mut trunks = Vec::with_capacity(anchors.len() * anchors.len());
        for &from in &anchors {
            walk.paths(from);
            trunks.extend(anchors.iter().map(|&to| walk.leg(to)));
        }
        Self { anchors: anchors.len(), spokes, trunks, legs: walk.legs, differ: walk.differ }
    }

    /// Properties of two different hosts.
    pub fn pair(&self, src: HostId, dst: HostId) -> PairRtt {
        self.between(&self.spokes[src.index()], &self.spokes[dst.index()])
    }

    fn between(&self, src: &Spoke, dst: &Spoke) -> PairRtt {
        let trunk = self.trunks[src.anchor as usize * self.anchors + dst.anchor as usize];
        src.leg.then(self.legs[trunk as usize]).then(dst.leg).pair()
    }

    fn max(&self) -> (Time, Bytes) {
        // Equal spokes are one kind; two or more are also paired with each other.
        let mut kinds: HashMap<Spoke, bool> = HashMap::new();
        for &spoke in &self.spokes {
            kinds.entry(spoke).and_modify(|several| *several = true).or_insert(false);
        }
        let mut ends: Vec<Leg> = Vec::new();
        let kinds: Vec<(Spoke, usize, bool)> = kinds
            .into_iter()
            .map(|(spoke, several)| {
                let known = ends.iter().position(|leg| *leg == spoke.leg);
                (spoke, known.unwrap_or_else(|| (ends.push(spoke.leg), ends.len() - 1).1), several)
            })
            .collect();
        // Most pairs have the same legs as others.
        let mut seen = vec![false; ends.len() * self.legs.len() * ends.len()];
        let mut most = (Time::ZERO, Bytes::ZERO);
        for (src, begin, several) in &kinds {
            for (dst, end, _) in kinds.iter().filter(|(dst, ..)| *several || dst != src) {
                let trunk = self.trunks[src.anchor as usize * self.anchors + dst.anchor as usize] as usize;
                let legs = &mut seen[(begin * self.legs.len() + trunk) * ends.len() + end];
                if !std::mem::replace(legs, true) {
                    let pair = self.between(src, dst);
                    most = (most.0.max(pair.base_rtt), most.1.max(pair.bdp()));
                }
            }
        }
        most
    }
}

impl Fabric {
    /// Largest base RTT and bandwidth-delay product with packets of `payload` bytes, maybe of different pairs.
    pub fn longest_rtt(&self, payload: Bytes) -> (Time, Bytes) {
        self.longest_rtt_over(payload, &Ways::default())
    }

    /// As [`Fabric::longest_rtt`], for some links, or flows that use several paths at once.
    pub fn longest_rtt_over(&self, payload: Bytes, ways: &Ways) -> (Time, Bytes) {
        self.derived.or_find((payload, Path::Longest, ways.clone()), || {
            let all = BaseRtts::of(self, payload, Path::Longest, ways);
            let (rtt, mut bdp) = all.max();
            if all.differ {
                // With bottleneck r, a path's product is at most that of the longest path over links of r or faster.
                let rate = |port| if ways.spread { self.spread_rate(PortId(port)) } else { self.rate(PortId(port)) };
                let rates: BTreeSet<Rate> = (0..self.ports().len() as u32).map(rate).collect();
                let of = |rate| BaseRtts::of(self, payload, Path::AtLeast(rate), ways).max().1;
                bdp = rates.into_iter().map(of).fold(bdp, Bytes::max);
            }
            (rtt, bdp)
        })
    }

    /// Upper bound of the rate of a flow that spreads its packets over equal paths, at the stage of this link (our choice). Between
    /// switches: the sum over the lower switch's links to the tier of the other; in one tier, the larger sum of the two. Links of
    /// hosts have their own rate.
    pub fn spread_rate(&self, port: PortId) -> Rate {
        let ends = [self.port(port).node, self.neighbour(port)];
        let [from, to] = ends.map(|node| self.node(node));
        if [from, to].iter().any(|node| node.kind != NodeKind::Switch) {
            return self.rate(port);
        }
        let joined = |node, tier| {
            let ports = self.ports_of(node).filter(|&port| {
                let far = self.node(self.neighbour(port));
                far.kind == NodeKind::Switch && far.tier == tier
            });
            Rate(ports.map(|port| self.rate(port).0).sum())
        };
        match from.tier.cmp(&to.tier) {
            Ordering::Less => joined(ends[0], to.tier),
            Ordering::Greater => joined(ends[1], from.tier),
            Ordering::Equal => joined(ends[0], to.tier).max(joined(ends[1], from.tier)),
        }
    }

    /// As [`Fabric::longest_rtt`], see [`BaseRtts::of_first_paths`].
    pub fn longest_rtt_of_first_paths(&self, payload: Bytes) -> (Time, Bytes) {
        self.derived.or_find((payload, Path::First), || BaseRtts::of_first_paths(self, payload).max())
    }
}

/// Properties of two different hosts; for many pairs use [`BaseRtts`].
pub fn pair_base_rtt(fabric: &Fabric, src: HostId, dst: HostId, payload: Bytes) -> PairRtt {
    let [(from, begin), (to, end)] =
        [src, dst].map(|host| spoke(fabric, fabric.hosts()[host.index()], payload, Path::Longest));
    let mut walk = Walk::new(fabric, payload, Path::Longest, &Ways::default());
    walk.paths(from);
    begin.then(walk.legs[walk.leg(to) as usize]).then(end).pair()
}

/// A host's anchor, and the leg to it.
fn spoke(fabric: &Fabric, host: NodeId, payload: Bytes, path: Path) -> (NodeId, Leg) {
    let mut ports = fabric.ports_of(host);
    match (ports.next(), ports.next()) {
        (Some(port), None) if fabric.node(fabric.neighbour(port)).kind == NodeKind::Switch => {
            (fabric.neighbour(port), Leg::over(fabric, port, payload, path, false))
        }
        _ => (host, Leg::NONE),
    }
}

/// Which of several shortest paths counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Path {
    /// In the order of next hops of ns-3: neighbours by descending node number (docs/design/agreement.md).
    First,
    /// With the longest base RTT, then the fastest bottleneck.
    Longest,
    /// As `Longest`, of those between switches over links of this rate or faster.
    AtLeast(Rate),
}

/// Walks over the fabric without hosts of one link, first from one node, then from the next. Numbers stand for legs.
struct Walk {
    /// By kind.
    links: Vec<Leg>,
    legs: Vec<Leg>,
    numbers: HashMap<Leg, u32>,
    /// By leg, then kind of link behind it; `UNKNOWN` before its first use.
    longer: Vec<u32>,
    reached: Vec<u32>,
    /// Links to each node.
    steps: Vec<u32>,
    queue: Vec<NodeId>,
    compares: bool,
    /// See [`BaseRtts`].
    differ: bool,
    /// By kind of link: paths may have it.
    passes: Vec<bool>,
    /// Leg to a node that is not reached.
    nowhere: u32,
    /// By node: its first end; then the number of ends.
    first: Vec<u32>,
    /// In the order of the walk.
    ends: Vec<End>,
}

/// One end of a link, for walks.
#[derive(Clone, Copy)]
struct End {
    neighbour: NodeId,
    /// Kind of the link.
    kind: u32,
    /// The neighbour is a switch.
    forwards: bool,
}

/// Leg of the node itself.
const NOWHERE: u32 = 0;
const UNKNOWN: u32 = u32::MAX;

impl Walk {
    fn new(fabric: &Fabric, payload: Bytes, path: Path, ways: &Ways) -> Self {
        let mut links: Vec<Leg> = Vec::new();
        let mut known: HashMap<Leg, u32> = HashMap::new();
        let mut kind = |port: PortId| {
            let leg = Leg::over(fabric, port, payload, path, ways.spread);
            *known.entry(leg).or_insert_with(|| {
                links.push(leg);
                links.len() as u32 - 1
            })
        };
        let mut down = vec![false; fabric.links().len()];
        ways.down.iter().for_each(|link| down[link.index()] = true);
        let (mut first, mut ends) = (vec![0], Vec::new());
        for node in (0..fabric.nodes().len() as u32).map(NodeId) {
            let mut ports: Vec<PortId> =
                fabric.ports_of(node).filter(|&port| !down[fabric.port(port).link.index()]).collect();
            if path == Path::First {
                fabric.sort_by_neighbour_descending(&mut ports);
            }
            for port in ports {
                let neighbour = fabric.neighbour(port);
                let forwards = fabric.node(neighbour).kind == NodeKind::Switch;
                if forwards || spoke(fabric, neighbour, payload, path).0 == neighbour {
                    ends.push(End { neighbour, kind: kind(port), forwards });
                }
            }
            first.push(ends.len() as u32);
        }
        let (least, legs) = match path {
            Path::AtLeast(rate) => (rate, vec![Leg::NONE, Leg::BLOCKED]),
            _ => (Rate(0), vec![Leg::NONE]),
        };
        Self {
            longer: vec![UNKNOWN; links.len() * legs.len()],
            compares: path != Path::First && links.len() > 1,
            differ: false,
            passes: links.iter().map(|link| link.slowest >= least).collect(),
            nowhere: legs.len() as u32 - 1,
            links,
            legs,
            numbers: HashMap::from([(Leg::NONE, NOWHERE)]),
            reached: vec![UNKNOWN; fabric.nodes().len()],
            steps: vec![0; fabric.nodes().len()],
            queue: Vec::new(),
            first,
            ends,
        }
    }

    /// Finds the leg to each node; hosts do not forward.
    fn paths(&mut self, from: NodeId) {
        self.reached.fill(UNKNOWN);
        self.steps.fill(UNKNOWN);
        self.reached[from.index()] = NOWHERE;
        self.steps[from.index()] = 0;
        self.queue.clear();
        self.queue.push(from);
        let mut next = 0;
        while let Some(&node) = self.queue.get(next) {
            next += 1;
            // Known to the end: all nodes with fewer steps came before.
            let (so_far, steps) = (self.reached[node.index()], self.steps[node.index()] + 1);
            for at in self.first[node.index()]..self.first[node.index() + 1] {
                let End { neighbour, kind, forwards } = self.ends[at as usize];
                if self.steps[neighbour.index()] == UNKNOWN {
                    self.steps[neighbour.index()] = steps;
                    if forwards {
                        self.queue.push(neighbour);
                    }
                }
                if so_far != UNKNOWN && self.steps[neighbour.index()] == steps && self.passes[kind as usize] {
                    self.reach(neighbour, so_far, kind as usize);
                }
            }
        }
    }

    #[inline]
    fn reach(&mut self, node: NodeId, so_far: u32, kind: usize) {
        let known = self.reached[node.index()];
        if known == UNKNOWN {
            self.reached[node.index()] = self.then(so_far, kind);
        } else if self.compares {
            let leg = self.then(so_far, kind);
            if leg != known {
                self.differ = true;
                if self.rank(leg) > self.rank(known) {
                    self.reached[node.index()] = leg;
                }
            }
        }
    }

    /// Leg to a node that is no host of one link.
    fn leg(&self, to: NodeId) -> u32 {
        match self.reached[to.index()] {
            UNKNOWN => self.nowhere,
            leg => leg,
        }
    }

    fn rank(&self, leg: u32) -> (Time, Rate) {
        let pair = self.legs[leg as usize].pair();
        (pair.base_rtt, pair.bottleneck)
    }

    fn then(&mut self, leg: u32, kind: usize) -> u32 {
        let at = leg as usize * self.links.len() + kind;
        if self.longer[at] == UNKNOWN {
            let sum = self.legs[leg as usize].then(self.links[kind]);
            self.longer[at] = match self.numbers.entry(sum) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let number = self.legs.len() as u32;
                    self.legs.push(sum);
                    self.longer.resize(self.legs.len() * self.links.len(), UNKNOWN);
                    *new.insert(number)
                }
            };
        }
        self.longer[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::FabricBuilder;
    use crate::fabric::generators::{Dumbbell, HpccFatTree, LeafSpine, Star};

    const PAYLOAD: Bytes = Bytes(1000);

    fn most(fabric: &Fabric) -> (u64, u64) {
        let rtts = BaseRtts::new(fabric, PAYLOAD);
        let (rtt, bdp) = fabric.longest_rtt(PAYLOAD);
        let hosts = || (0..fabric.hosts().len() as u32).map(HostId);
        let pairs = || hosts().flat_map(|a| hosts().map(move |b| (a, b))).filter(|(a, b)| a != b);
        assert_eq!(pairs().map(|(a, b)| rtts.pair(a, b).base_rtt).max(), Some(rtt));
        assert!(pairs().map(|(a, b)| rtts.pair(a, b).bdp()).max() <= Some(bdp));
        for (a, b) in pairs().step_by(97) {
            assert_eq!(rtts.pair(a, b), pair_base_rtt(fabric, a, b, PAYLOAD));
        }
        (rtt.0 / 1000, bdp.0)
    }

    #[test]
    fn agrees_with_the_authors_simulator() {
        // Output of the HPCC authors' ns-3 (commit 9f4be2a).
        assert_eq!(most(&Star::new(2).build().unwrap()), (4160, 52_000));
        assert_eq!(most(&Dumbbell::new(4, 4).build().unwrap()), (6240, 78_000));
        assert_eq!(most(&HpccFatTree::default().build().unwrap()), (12_240, 153_000));
        let mut leaf_spine = LeafSpine::new(8, 8, 16);
        assert_eq!(most(&leaf_spine.build().unwrap()), (8320, 104_000));
        leaf_spine.delay = Time::ns(200);
        assert_eq!(most(&leaf_spine.build().unwrap()), (1920, 24_000));
    }

    #[test]
    fn hpcc_tree_by_distance() {
        let fabric = HpccFatTree::default().build().unwrap();
        let rtts = BaseRtts::new(&fabric, PAYLOAD);
        let rtt = |dst| rtts.pair(HostId(0), HostId(dst)).base_rtt;
        assert_eq!((rtt(1), rtt(16), rtt(319)), (Time::ns(4160), Time::ns(8200), Time::ns(12_240)));
        assert_eq!(rtts.pair(HostId(0), HostId(319)).bottleneck, Rate::gbps(100));
    }

    #[test]
    fn flows_that_spread_over_slower_links_have_their_sum() {
        let mut leaf_spine = LeafSpine::new(2, 4, 1);
        leaf_spine.uplink_rate = Rate::gbps(40);
        let fabric = leaf_spine.build().unwrap();
        let [alone, spread] = [false, true].map(|spread| {
            let (rtt, bdp) = fabric.longest_rtt_over(PAYLOAD, &Ways { spread, ..Ways::default() });
            assert_eq!(rtt, Time::ns(8000 + 2 * 80 + 2 * 200));
            bdp
        });
        // 8.56 us at 40 Gb/s, and at the hosts' 100 Gb/s, less than 4 * 40.
        assert_eq!((alone, spread), (Bytes(42_800), Bytes(107_000)));
    }

    #[test]
    fn links_that_are_down_are_on_no_path() {
        let mut builder = FabricBuilder::new();
        let [near, far] = ["a", "b"].map(|name| builder.host(name));
        let [one, other, detour] = ["s", "t", "u"].map(|name| builder.switch(name, 1));
        for (host, switch) in [(near, one), (far, other)] {
            builder.link(host, switch, Rate::gbps(100), Time::us(1));
        }
        let straight = builder.link(one, other, Rate::gbps(100), Time::us(1));
        for end in [one, other] {
            builder.link(end, detour, Rate::gbps(25), Time::us(10));
        }
        let fabric = builder.finish().unwrap();
        let over = |down: &[LinkId]| {
            let (rtt, bdp) = fabric.longest_rtt_over(PAYLOAD, &Ways { down: down.to_vec(), spread: false });
            (rtt.0 / 1000, bdp.0)
        };
        // 2 * 3 us and 3 * 80 ns at 100 Gb/s; 2 * 22 us and 2 * (80 + 320) ns at 25 Gb/s.
        assert_eq!([over(&[]), over(&[straight])], [(6240, 78_000), (44_800, 140_000)]);
    }

    #[test]
    fn the_longest_of_the_shortest_paths_counts_whatever_the_order_of_links() {
        for delays in [[1, 10], [10, 1]] {
            let mut builder = FabricBuilder::new();
            let hosts = ["h0", "h1"].map(|name| builder.host(name));
            let ends = ["a", "b"].map(|name| builder.switch(name, 1));
            for (host, end) in hosts.into_iter().zip(ends) {
                builder.link(host, end, Rate::gbps(100), Time::us(1));
            }
            for (name, delay) in ["p", "q"].into_iter().zip(delays) {
                let between = builder.switch(name, 2);
                for end in ends {
                    builder.link(between, end, Rate::gbps(100), Time::us(delay));
                }
            }
            let fabric = builder.finish().unwrap();
            // 2 * (1 + 10 + 10 + 1) us and 4 * 80 ns at 100 Gb/s.
            assert_eq!(most(&fabric), (44_320, 554_000));
            // ns-3 finds the later node first.
            let first = 2 * (2 + 2 * delays[1]) * 1000 + 320;
            assert_eq!(fabric.longest_rtt_of_first_paths(PAYLOAD).0, Time::ns(first));
        }
    }

    /// Two hosts on a path for each entry: Gb/s of all its links, us of all its four links.
    fn parallel(paths: &[(u64, u64)]) -> Fabric {
        let mut builder = FabricBuilder::new();
        let ends = ["h0", "h1"].map(|name| {
            let host = builder.host(name);
            let leaf = builder.switch(format!("leaf-{name}"), 1);
            builder.link(host, leaf, Rate::gbps(100), Time::us(1));
            leaf
        });
        for &(rate, delay) in paths {
            let spine = builder.switch(format!("spine-{rate}-{delay}"), 2);
            for leaf in ends {
                builder.link(spine, leaf, Rate::gbps(rate), Time::us(delay));
            }
        }
        builder.finish().unwrap()
    }

    #[test]
    fn the_largest_product_is_of_any_shortest_path() {
        // 2 * 4 us, 2 * 80 ns and 2 * 320 ns at 25 Gb/s; 2 * 20 ns at 400 Gb/s: 27.5 and 102.5 kB.
        assert_eq!(most(&parallel(&[(25, 1), (400, 1)])), (8800, 102_500));
        // 8 us, 160 ns, 1.6 us at 10 Gb/s; 2 * 4 us more, 400 ns at 40 Gb/s; at 100 Gb/s as first: between these, 40 Gb/s.
        let (slow, middle, fast) = ((10, 3), (40, 2), (100, 0));
        assert_eq!(most(&parallel(&[slow, middle, fast])), (17_760, 62_800));
        assert_eq!(most(&parallel(&[fast, middle, slow])), (17_760, 62_800));
        assert_eq!(most(&parallel(&[slow, (100, 1)])).1, 104_000);
    }

    #[test]
    fn hosts_with_two_links_or_none_in_common() {
        let mut builder = FabricBuilder::new();
        let hosts = ["a", "b", "c", "d"].map(|name| builder.host(name));
        let switches = ["s", "t"].map(|name| builder.switch(name, 1));
        builder.link(hosts[0], switches[0], Rate::gbps(100), Time::us(1));
        builder.link(hosts[0], switches[1], Rate::gbps(100), Time::us(1));
        builder.link(hosts[1], switches[0], Rate::gbps(25), Time::us(2));
        builder.link(hosts[2], switches[1], Rate::gbps(100), Time::us(1));
        builder.link(hosts[3], switches[1], Rate::gbps(40), Time::us(3));
        builder.link(switches[0], switches[1], Rate::gbps(10), Time::us(5));
        let fabric = builder.finish().unwrap();
        // b to d: 2 * (2 + 5 + 3) us and 320 + 800 + 200 ns at 10 Gb/s; a to c: 2 * (1 + 1) us and 160 ns at 100 Gb/s.
        assert_eq!(most(&fabric), (21_320, 52_000));
    }
}
