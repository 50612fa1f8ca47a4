use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{GeneratorError, delay_1us, one_seed, rate_100g};
use crate::fabric::{Fabric, FabricBuilder};
use crate::range::{above, delay, least};
use crate::rng::stream;
use crate::units::{Rate, Time};

/// Jellyfish (Singla, Hong, Popa and Godfrey, NSDI 2012): a random regular graph of switches, with the same number of
/// hosts on each. Host `h` is on switch `h / hosts_per_switch`; switches are `s0`, `s1`, ….
///
/// Construction of the paper: random pairs of switches with free ports that are not yet neighbours are joined until
/// there are none. Remaining ports break into random links, until at most one port is free. A disconnected graph is
/// drawn again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jellyfish {
    /// Number of switches, 2 or more (the paper's N).
    #[schemars(transform = least(2))]
    pub switches: u32,
    /// Ports of each switch, 2 to 1024 (the paper's k).
    #[schemars(transform = least(2).most(1024))]
    pub ports: u32,
    /// Ports of each switch to other switches, 1 to `ports` − 1 and less than `switches` (the paper's r). Of more than 2
    /// switches: at least 2, of more than 10,000 at least 3, because others are disconnected. Of more than 256 switches: at
    /// most three quarters of the others, or all.
    pub network_ports: u32,
    /// Hosts on each switch, 1 to `ports` − `network_ports`. Default: all of these ports (our choice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts_per_switch: Option<u32>,
    /// Seed of the random graph, apart from the scenario's seed. Default 1 (our choice).
    #[serde(default = "one_seed")]
    pub seed: u64,
    /// Rate of the hosts' links. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub host_rate: Rate,
    /// Rate of the links between switches. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub fabric_rate: Rate,
    /// One-way propagation delay of every link, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
}

/// With three ports or more nearly all graphs are connected.
const ATTEMPTS: u64 = 100;

impl Jellyfish {
    /// Spec with default links, and hosts on all other ports.
    pub const fn new(switches: u32, ports: u32, network_ports: u32) -> Self {
        Self {
            switches,
            ports,
            network_ports,
            hosts_per_switch: None,
            seed: one_seed(),
            host_rate: rate_100g(),
            fabric_rate: rate_100g(),
            delay: delay_1us(),
        }
    }

    /// Builds the fabric.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("jellyfish");
        check.ranges(self)?;
        let others = self.switches - 1;
        check.within("network_ports", self.network_ports, 1, others.min(self.ports - 1))?;
        let most = [0, 2, MOST_IN_A_RING].get(self.network_ports as usize).copied().unwrap_or(u32::MAX);
        if self.switches > most {
            let allowed = format!(
                "{} or more: such graphs of more than {most} switches are disconnected",
                self.network_ports + 1
            );
            return Err(check.error("network_ports", self.network_ports, allowed));
        }
        let dense = u64::from(self.network_ports) * 4 > u64::from(others) * 3;
        if self.switches > MOST_DENSE && self.network_ports < others && dense {
            let allowed = format!(
                "at most {}, three quarters of the other switches, or {others} for a link to each: a graph of more than \
                 {MOST_DENSE} switches that lacks few links takes too long to draw",
                others / 4 * 3
            );
            return Err(check.error("network_ports", self.network_ports, allowed));
        }
        let per_switch = self.hosts_per_switch.unwrap_or(self.ports - self.network_ports);
        check.within("hosts_per_switch", per_switch, 1, self.ports - self.network_ports)?;
        let hosts = u64::from(self.switches) * u64::from(per_switch);
        let trunks = u64::from(self.switches) * u64::from(self.network_ports) / 2;
        check.size(hosts + u64::from(self.switches), hosts + trunks)?;
        let graph = (0..ATTEMPTS)
            .map(|attempt| {
                Graph::random(self.switches, self.network_ports, &mut stream(self.seed, "jellyfish", attempt))
            })
            .find(Graph::usable)
            .ok_or_else(|| {
                let allowed = format!("more: {ATTEMPTS} random graphs with this number were disconnected");
                check.error("network_ports", self.network_ports, allowed)
            })?;
        let mut builder = FabricBuilder::new();
        let hosts: Vec<_> = (0..hosts).map(|h| builder.host(format!("h{h}"))).collect();
        let switches: Vec<_> = (0..self.switches).map(|s| builder.switch(format!("s{s}"), 1)).collect();
        for (h, &host) in hosts.iter().enumerate() {
            builder.link(host, switches[h / per_switch as usize], self.host_rate, self.delay);
        }
        for (a, b) in graph.links() {
            builder.link(switches[a as usize], switches[b as usize], self.fabric_rate, self.delay);
        }
        Ok(builder.finish()?)
    }
}

/// Most switches with two ports to others (our choice): of so many, 5 of 400 random graphs were connected.
const MOST_IN_A_RING: u32 = 10_000;

/// Switches of graphs with nearly all links, at most (our choice).
const MOST_DENSE: u32 = 256;

#[derive(Debug, Clone)]
struct Graph {
    degree: usize,
    neighbours: Vec<Vec<u32>>,
}

impl Graph {
    fn random(nodes: u32, degree: u32, rng: &mut impl Rng) -> Self {
        let mut graph = Self { degree: degree as usize, neighbours: vec![Vec::new(); nodes as usize] };
        if degree + 1 == nodes {
            (0..nodes)
                .for_each(|node| graph.neighbours[node as usize] = (0..nodes).filter(|&one| one != node).collect());
            return graph;
        }
        graph.join_pairs(rng);
        graph.use_leftovers(rng);
        graph
    }

    fn join_pairs(&mut self, rng: &mut impl Rng) {
        let mut open: Vec<u32> = (0..self.neighbours.len() as u32).collect();
        while let Some((a, b)) = self.random_pair(&open, rng) {
            self.join(a, b);
            for node in [a, b] {
                if let (0, Ok(place)) = (self.free(node), open.binary_search(&node)) {
                    open.remove(place);
                }
            }
        }
    }

    fn random_pair(&self, open: &[u32], rng: &mut impl Rng) -> Option<(u32, u32)> {
        // Nearly every pair works while many nodes are open; the last few are enumerated.
        for _ in 0..if open.len() > 1 { 32 } else { 0 } {
            let (a, b) = (open[below(open.len(), rng)], open[below(open.len(), rng)]);
            if self.can_join(a, b) {
                return Some((a, b));
            }
        }
        let rest = |i: usize, a: u32| open[i + 1..].iter().map(move |&b| (a, b)).filter(|&(a, b)| self.can_join(a, b));
        let pairs: Vec<(u32, u32)> = open.iter().enumerate().flat_map(|(i, &a)| rest(i, a)).collect();
        if pairs.is_empty() { None } else { Some(pairs[below(pairs.len(), rng)]) }
    }

    /// Replaces a random link by links to two free ports.
    fn use_leftovers(&mut self, rng: &mut impl Rng) {
        loop {
            let open = (0..self.neighbours.len() as u32).flat_map(|node| std::iter::repeat_n(node, self.free(node)));
            let open: Vec<u32> = open.take(2).collect();
            let &[p, q] = &open[..] else { return };
            let fits = |&(x, y): &(u32, u32)| self.can_join(p, x) && self.can_join(q, y);
            let fitting: Vec<(u32, u32)> = self.links().flat_map(|(x, y)| [(x, y), (y, x)]).filter(fits).collect();
            if fitting.is_empty() {
                return;
            }
            let (x, y) = fitting[below(fitting.len(), rng)];
            self.part(x, y);
            self.join(p, x);
            self.join(q, y);
        }
    }

    fn free(&self, node: u32) -> usize {
        self.degree - self.neighbours[node as usize].len()
    }

    fn can_join(&self, a: u32, b: u32) -> bool {
        a != b && !self.neighbours[a as usize].contains(&b)
    }

    fn join(&mut self, a: u32, b: u32) {
        self.neighbours[a as usize].push(b);
        self.neighbours[b as usize].push(a);
    }

    fn part(&mut self, a: u32, b: u32) {
        self.neighbours[a as usize].retain(|&node| node != b);
        self.neighbours[b as usize].retain(|&node| node != a);
    }

    fn usable(&self) -> bool {
        let nodes = self.neighbours.len();
        let free: usize = (0..nodes as u32).map(|node| self.free(node)).sum();
        let mut seen = vec![false; nodes];
        let mut stack = vec![0];
        seen[0] = true;
        while let Some(node) = stack.pop() {
            for &next in &self.neighbours[node as usize] {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    stack.push(next);
                }
            }
        }
        free <= 1 && seen.into_iter().all(|seen| seen)
    }

    /// In ascending order, also the port order.
    fn links(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.neighbours.iter().enumerate().flat_map(|(a, neighbours)| {
            let mut above: Vec<u32> = neighbours.iter().copied().filter(|&b| b > a as u32).collect();
            above.sort_unstable();
            above.into_iter().map(move |b| (a as u32, b))
        })
    }
}

fn below(bound: usize, rng: &mut impl Rng) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftover_ports_break_into_links() {
        let free = |graph: &Graph| (0..20).map(|node| graph.free(node)).sum::<usize>();
        let mut left_over = 0;
        for seed in 0..200 {
            let mut rng = stream(seed, "test", 0);
            let mut graph = Graph { degree: 5, neighbours: vec![Vec::new(); 20] };
            graph.join_pairs(&mut rng);
            left_over += usize::from(free(&graph) > 0);
            let before = graph.links().count() + free(&graph) / 2;
            graph.use_leftovers(&mut rng);
            assert_eq!((free(&graph), graph.links().count()), (0, before));
            assert!(
                graph.neighbours.iter().enumerate().all(|(a, near)| near.len() == 5 && !near.contains(&(a as u32)))
            );
        }
        assert!((10..190).contains(&left_over), "{left_over}");
    }

    #[test]
    fn dense_graphs_of_many_switches_are_complete_or_refused() {
        let links = |network_ports| {
            let fabric = Jellyfish { hosts_per_switch: Some(1), ..Jellyfish::new(300, 512, network_ports) }.build();
            fabric.map(|fabric| fabric.links().len() - 300).map_err(|error| error.to_string())
        };
        assert_eq!((links(299), links(222)), (Ok(300 * 299 / 2), Ok(300 * 222 / 2)));
        let said = links(298).unwrap_err();
        assert!(
            said.contains("at most 222, three quarters of the other switches, or 299 for a link to each"),
            "{said}"
        );
    }

    #[test]
    fn pairs_are_equally_likely() {
        let graph = Graph { degree: 1, neighbours: vec![Vec::new(); 4] };
        let mut counts = std::collections::BTreeMap::new();
        let mut rng = stream(1, "test", 0);
        for _ in 0..6000 {
            let (a, b) = graph.random_pair(&[0, 1, 2, 3], &mut rng).unwrap();
            *counts.entry((a.min(b), a.max(b))).or_insert(0) += 1;
        }
        assert!(counts.len() == 6 && counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
