use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::generate::{Run, named, places};
use super::offer::{Dial, Offer, Part, Parts};
use super::spec::WorkloadSpec;
use super::warning::WorkloadWarning;
use crate::entry::EntryError;
use crate::fabric::{Fabric, HostId, NodeId, NodeKind, PortId};
use crate::routing::Routes;
use crate::tenant::Tenancy;
use crate::units::Time;

/// Kind of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// Links of hosts to the network.
    Host,
    /// Links within a server.
    Nvlink,
    /// Links up from a tier.
    Uplink(u8),
    /// Links within a tier.
    Within(u8),
}

impl fmt::Display for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host links"),
            Self::Nvlink => f.write_str("NVLink"),
            Self::Uplink(tier) => write!(f, "tier {tier}'s uplinks"),
            Self::Within(tier) => write!(f, "links within tier {tier}"),
        }
    }
}

/// Direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// To the higher tier.
    Up,
    /// To the lower tier.
    Down,
    /// Within a tier.
    Across,
}

/// Highest expected load of links of a kind in one direction.
///
/// Counts entries with a rate or a load, headers included, without ACKs. Assumes that flows spread evenly over the routes,
/// and that entries last as long as they start flows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfferedLoad {
    /// Links.
    pub links: Links,
    /// Direction.
    pub direction: Direction,
    /// Number of links with traffic.
    pub count: usize,
    /// Offered traffic over the links' capacity.
    pub mean: f64,
    /// Busiest link's load.
    pub busiest: f64,
    /// Ends of the busiest link, the sender first.
    pub ends: [String; 2],
    /// Labels of the entries.
    pub labels: Vec<String>,
    #[serde(skip)]
    sources: Vec<Source>,
}

#[derive(Debug, Clone, PartialEq)]
struct Source {
    /// Such as `workload[0].poisson`.
    path: String,
    dial: Option<Dial>,
}

struct Carried {
    source: Source,
    label: String,
    start: Time,
    end: Time,
    ports: Vec<f64>,
}

/// Expected loads by kind and direction, for a workload of the same arguments. Empty, without computing `routes`, if no entry
/// has a rate or a load. `wire`: bytes on a link per byte of payload, by label.
pub fn offered<'a>(
    specs: &[WorkloadSpec],
    fabric: &Fabric,
    routes: impl Fn() -> &'a Routes,
    tenancy: Option<&Tenancy>,
    (base_dir, seed, horizon): (&Path, u64, Option<Time>),
    wire: impl Fn(&str) -> f64,
) -> Result<Vec<OfferedLoad>, EntryError> {
    let run = Run { base_dir, seed, horizon };
    let mut entries = Vec::new();
    for one in named(specs) {
        let one = one?;
        let mut found: Option<Carried> = None;
        for (members, tenant) in places(one.spec, fabric, tenancy, &one.path)? {
            let entry = one.entry(&run, members, tenant, 0);
            let offer = one.pattern.offer(&entry).map_err(|error| error.within(tenant))?;
            let Some(Offer { window, dial, parts }) = offer else { continue };
            let carried = found.get_or_insert_with(|| Carried {
                source: Source { path: entry.path.clone(), dial },
                label: one.label.to_owned(),
                start: window.start,
                end: window.end,
                ports: vec![0.0; fabric.ports().len()],
            });
            carry(fabric, routes(), &parts.placed(members), &mut carried.ports);
        }
        if let Some(carried) = &mut found {
            let headers = wire(&carried.label);
            carried.ports.iter_mut().for_each(|bits| *bits *= headers);
        }
        entries.extend(found);
    }
    Ok(peaks(fabric, &entries))
}

/// Evenly over next hops at each node.
fn carry(fabric: &Fabric, routes: &Routes, parts: &Parts, ports: &mut [f64]) {
    let hosts = fabric.hosts();
    let node = |host: HostId| hosts[host.index()];
    let mut classes: BTreeMap<usize, Vec<HostId>> = BTreeMap::new();
    for host in (0..hosts.len() as u32).map(HostId) {
        classes.entry(routes.class(host)).or_default().push(host);
    }
    let counts: Vec<HashMap<usize, f64>> = parts.sets.iter().map(|set| by_class(routes, set)).collect();
    let senders: Vec<Vec<Sender>> = parts.parts.iter().map(|part| senders(parts, part)).collect();
    let received = received(parts, &senders, hosts.len());
    let (mut now, mut next) = (Front::new(fabric), Front::new(fabric));
    for (class, receivers) in classes {
        for (part, senders) in parts.parts.iter().zip(&senders) {
            let of = |set: usize| counts[set].get(&class).copied().unwrap_or(0.0);
            let here = of(part.to) - part.except.map_or(0.0, of);
            for sender in senders.iter().filter(|_| here > 0.0) {
                let own = if sender.receives && routes.class(sender.host) == class { 1.0 } else { 0.0 };
                now.add(node(sender.host), sender.each * (here - own));
            }
        }
        // Receivers of a class share a switch and all hops but the last.
        let shared = receivers.len() > 1;
        while !now.nodes.is_empty() {
            for at in std::mem::take(&mut now.nodes) {
                let bits = std::mem::take(&mut now.bits[at.index()]);
                let hops = routes.next_hops(at, receivers[0]);
                for &port in hops {
                    let (share, to) = (bits / hops.len() as f64, fabric.neighbour(port));
                    if to != node(receivers[0]) {
                        next.add(to, share);
                    } else if shared {
                        continue;
                    }
                    ports[port.index()] += share;
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        for &receiver in receivers.iter().filter(|_| shared) {
            for port in fabric.ports_of(node(receiver)) {
                ports[fabric.port(port).peer.index()] += received[receiver.index()];
            }
        }
    }
}

/// Nodes with traffic at equal distance, and their rates.
struct Front {
    nodes: Vec<NodeId>,
    bits: Vec<f64>,
}

impl Front {
    fn new(fabric: &Fabric) -> Self {
        Self { nodes: Vec::new(), bits: vec![0.0; fabric.nodes().len()] }
    }

    fn add(&mut self, node: NodeId, bits: f64) {
        if bits > 0.0 {
            let known = &mut self.bits[node.index()];
            if *known == 0.0 {
                self.nodes.push(node);
            }
            *known += bits;
        }
    }
}

struct Sender {
    host: HostId,
    /// Bit/s to each receiver.
    each: f64,
    /// Receives, but not from itself.
    receives: bool,
}

fn senders(parts: &Parts, part: &Part) -> Vec<Sender> {
    let holds = |set: usize, host: HostId| parts.sets[set].binary_search(&host).is_ok();
    let count = |set: usize| parts.sets[set].len();
    let all = count(part.to) - part.except.map_or(0, count);
    let sender = |&(host, rate): &(HostId, f64)| {
        let receives = holds(part.to, host) && !part.except.is_some_and(|except| holds(except, host));
        let others = all - usize::from(receives);
        (others > 0).then(|| Sender { host, each: rate / others as f64, receives })
    };
    part.sources.iter().filter_map(sender).collect()
}

/// In bit/s.
fn received(parts: &Parts, senders: &[Vec<Sender>], hosts: usize) -> Vec<f64> {
    let mut received = vec![0.0; hosts];
    for (part, senders) in parts.parts.iter().zip(senders) {
        let all: f64 = senders.iter().map(|sender| sender.each).sum();
        let except = part.except.map_or(&[][..], |set| &parts.sets[set]);
        for host in parts.sets[part.to].iter().filter(|host| except.binary_search(host).is_err()) {
            received[host.index()] += all;
        }
        for sender in senders.iter().filter(|sender| sender.receives) {
            received[sender.host.index()] -= sender.each;
        }
    }
    received
}

fn by_class(routes: &Routes, set: &[HostId]) -> HashMap<usize, f64> {
    let mut counts = HashMap::new();
    for &host in set {
        *counts.entry(routes.class(host)).or_insert(0.0) += 1.0;
    }
    counts
}

/// Largest loads over entries' start times.
fn peaks(fabric: &Fabric, entries: &[Carried]) -> Vec<OfferedLoad> {
    let mut kinds: BTreeMap<(Links, Direction), Vec<PortId>> = BTreeMap::new();
    for port in (0..fabric.ports().len() as u32).map(PortId) {
        kinds.entry(kind(fabric, port)).or_default().push(port);
    }
    let starts: BTreeSet<Time> = entries.iter().map(|entry| entry.start).collect();
    let mut peaks: BTreeMap<(Links, Direction), OfferedLoad> = BTreeMap::new();
    for start in starts {
        let active = |entry: &&Carried| entry.start <= start && start < entry.end;
        let active: Vec<&Carried> = entries.iter().filter(active).collect();
        for (&kind, ports) in &kinds {
            let Some(load) = load_of(fabric, kind, ports, &active) else { continue };
            match peaks.get(&kind) {
                Some(peak) if (peak.mean, peak.busiest) >= (load.mean, load.busiest) => {}
                _ => drop(peaks.insert(kind, load)),
            }
        }
    }
    peaks.into_values().collect()
}

fn load_of(
    fabric: &Fabric,
    (links, direction): (Links, Direction),
    ports: &[PortId],
    entries: &[&Carried],
) -> Option<OfferedLoad> {
    let offered = |port: &PortId| entries.iter().map(|entry| entry.ports[port.index()]).sum::<f64>();
    let capacity = |port: PortId| fabric.rate(port).0 as f64;
    let used: Vec<(PortId, f64)> = ports.iter().map(|port| (*port, offered(port))).filter(|one| one.1 > 0.0).collect();
    let (port, bits) = used.iter().copied().max_by(|a, b| (a.1 / capacity(a.0)).total_cmp(&(b.1 / capacity(b.0))))?;
    let total: f64 = used.iter().map(|one| one.1).sum();
    let all: f64 = used.iter().map(|one| capacity(one.0)).sum();
    let mine: Vec<&&Carried> =
        entries.iter().filter(|entry| ports.iter().any(|port| entry.ports[port.index()] > 0.0)).collect();
    let name = |node: NodeId| fabric.node(node).name.clone();
    let mut labels: Vec<String> = mine.iter().map(|entry| entry.label.clone()).collect();
    labels.dedup();
    Some(OfferedLoad {
        links,
        direction,
        count: used.len(),
        mean: total / all,
        busiest: bits / capacity(port),
        ends: [name(fabric.port(port).node), name(fabric.neighbour(port))],
        labels,
        sources: mine.into_iter().map(|entry| entry.source.clone()).collect(),
    })
}

fn kind(fabric: &Fabric, port: PortId) -> (Links, Direction) {
    let [from, to] = [fabric.port(port).node, fabric.neighbour(port)];
    let tier = |node: NodeId| fabric.node(node).tier;
    let low = tier(from).min(tier(to));
    let host = |node: NodeId| fabric.node(node).kind == NodeKind::Host || fabric.is_inside(node);
    let links = if fabric.is_nvlink(fabric.port(port).link) {
        Links::Nvlink
    } else if host(from) || host(to) {
        Links::Host
    } else if tier(from) == tier(to) {
        Links::Within(low)
    } else {
        Links::Uplink(low)
    };
    let direction = match tier(from).cmp(&tier(to)) {
        std::cmp::Ordering::Less => Direction::Up,
        std::cmp::Ordering::Equal => Direction::Across,
        std::cmp::Ordering::Greater => Direction::Down,
    };
    (links, direction)
}

/// 100 % as rounded in messages.
const FULL: f64 = 1.0005;

/// Warns once per kind of overloaded links, with values that overload none.
pub fn overload(offered: &[OfferedLoad]) -> Vec<WorkloadWarning> {
    let worst = offered.iter().map(|load| load.busiest).fold(0.0, f64::max);
    let mut found: BTreeMap<Links, &OfferedLoad> = BTreeMap::new();
    for load in offered.iter().filter(|load| load.busiest > FULL) {
        let known = found.entry(load.links).or_insert(load);
        if (load.mean, load.busiest) > (known.mean, known.busiest) {
            *known = load;
        }
    }
    found.into_values().map(|load| load.warning(worst)).collect()
}

impl OfferedLoad {
    fn warning(&self, worst: f64) -> WorkloadWarning {
        let percent = |share: f64| {
            let decimals = usize::from((FULL..1.01).contains(&share));
            format!("{:.decimals$} %", share * 100.0)
        };
        let ([from, to], links) = (&self.ends, self.links);
        let (busiest, mean) = (percent(self.busiest), percent(self.mean));
        let what = match self.count {
            1 => format!("{busiest} of the capacity of the link from {from} to {to}"),
            _ if self.mean > FULL => format!("{mean} of the capacity of {links}"),
            _ => format!("{busiest} of the capacity of the link from {from} to {to} ({links}: {mean} on average)"),
        };
        let verb = if self.labels.len() == 1 { "offers" } else { "offer" };
        let message = format!("{} {verb} {what}, with headers: flows pile up", self.labels.join(", "));
        match &self.sources[..] {
            [Source { path, dial: Some(dial) }] => {
                let (field, value) = (dial.field(), dial.scaled(worst));
                let message = format!("{message}; for at most 100 % on every link, write `{field} = {value}`");
                WorkloadWarning { field: format!("{path}.{field}"), message }
            }
            [Source { path, dial: None }] => WorkloadWarning { field: path.clone(), message },
            _ => {
                let factor = three_digits(1.0 / worst, f64::floor);
                let message = format!("{message}; for at most 100 % on every link, multiply their loads by {factor}");
                WorkloadWarning { field: "workload".into(), message }
            }
        }
    }
}

impl Dial {
    /// For `times` less traffic, as a scenario writes it.
    fn scaled(self, times: f64) -> String {
        match self {
            Self::Load(load) => three_digits(load / times, f64::floor).to_string(),
            Self::Every(every) => {
                let ps = three_digits(every.0 as f64 * times, f64::ceil);
                format!("\"{}\"", Time(ps as u64))
            }
        }
    }
}

fn three_digits(number: f64, round: fn(f64) -> f64) -> f64 {
    let unit = libm::pow(10.0, libm::floor(libm::log10(number)) - 2.0);
    // Division by a power of ten prints as written; multiplication by one below 1 does not.
    if unit < 1.0 { round(number / unit) / (1.0 / unit).round() } else { round(number / unit) * unit }
}

#[cfg(test)]
mod tests;
