use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::members::Members;
use super::offer::Parts;
use crate::entry::EntryError;
use crate::fabric::{Groups, HostId, tiers_with_uplinks};
use crate::rng::{Stream, pick, unit};

/// Shares of the flows that stay near their sender; the rest goes farther. Destinations are uniform within a share.
///
/// A rack is the hosts under one switch, a pod what switches of tiers 1 and 2 join. With VMs, racks and pods are those
/// of their servers. NVLink joins no rack: the GPUs of a rail are one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Locality {
    /// Share of the flows to another host of the rack, 0 to 1. Default 0.
    #[serde(default)]
    pub rack: f64,
    /// Share of the flows that leave the rack but not the pod, 0 to 1. Default: flows that leave the rack go to any
    /// other rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<f64>,
}

/// Links that a load is a fraction of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadAt {
    /// Links of the sending hosts, as in most evaluations.
    #[default]
    Host,
    /// Uplinks of the switches next to the sending hosts, or to their servers: `tier = 1`, with VMs or NVLink `tier = 2`.
    TorUplink,
    /// Links into the highest tier of switches.
    Core,
    /// Links up from this tier: hosts are tier 0, their switches 1. With VMs, servers are tier 1; with NVLink, rail
    /// switches are tier 2.
    Tier(u8),
}

pub(super) struct Destinations<'a> {
    members: Members<'a>,
    hosts: &'a [HostId],
    /// Grouped by rack and pod.
    order: Vec<usize>,
    /// By host: spans of `order` with itself, its rack, its pod and all.
    spans: Vec<[Range<usize>; 4]>,
    /// Share of the flows, to destinations outside the first span and in the second.
    classes: Vec<(f64, usize, usize)>,
}

const SELF: usize = 0;
const RACK: usize = 1;
const POD: usize = 2;
const ALL: usize = 3;

impl<'a> Destinations<'a> {
    pub(super) fn new(
        members: Members<'a>,
        hosts: &'a [HostId],
        locality: Option<Locality>,
        field: &str,
    ) -> Result<Self, EntryError> {
        let classes = match locality {
            None => vec![(1.0, SELF, ALL)],
            Some(locality) => locality.classes(field)?,
        };
        let groups = [members.racks(), Groups::new(members.fabric, members.rack_tier() + 1)];
        let number = |group: usize, host: usize| groups[group].of(members.node(hosts[host]));
        let mut order: Vec<usize> = (0..hosts.len()).collect();
        order.sort_by_key(|&host| (number(1, host), number(0, host)));
        let mut spans = vec![[0..0, 0..0, 0..0, 0..hosts.len()]; hosts.len()];
        for (place, &host) in order.iter().enumerate() {
            spans[host][SELF] = place..place + 1;
        }
        for (level, group) in [(RACK, 0), (POD, 1)] {
            let mut begin = 0;
            for same in order.chunk_by(|&a, &b| number(group, a) == number(group, b)) {
                same.iter().for_each(|&host| spans[host][level] = begin..begin + same.len());
                begin += same.len();
            }
        }
        let all = Self { members, hosts, order, spans, classes };
        all.check(field)?;
        Ok(all)
    }

    fn check(&self, field: &str) -> Result<(), EntryError> {
        for &(share, inner, outer) in self.classes.iter().filter(|class| class.0 > 0.0) {
            let alone = |&host: &usize| self.spans[host][inner].len() == self.spans[host][outer].len();
            let Some(host) = (0..self.hosts.len()).find(alone) else { continue };
            let name = self.members.name(self.hosts[host]);
            return Err(match outer {
                RACK => EntryError::field(format!("{field}.rack"), share, format!("0: {name} is alone in its rack")),
                POD => EntryError::field(
                    format!("{field}.pod"),
                    share,
                    format!("0, or omitted: no other rack of the pod of {name} takes part"),
                ),
                _ => EntryError::field(
                    field,
                    // The last class takes what the others leave.
                    format!("a sum of {}", ((1.0 - share) * 1e9).round() / 1e9),
                    format!("shares with the sum 1: {name} has no hosts beyond its {}", ["", "rack", "pod"][inner]),
                ),
            });
        }
        Ok(())
    }

    pub(super) fn draw(&self, own: usize, rng: &mut Stream) -> HostId {
        let (inner, outer) = match self.classes[..] {
            [(_, inner, outer)] => (inner, outer),
            _ => self.class(unit(rng)),
        };
        let spans = &self.spans[own];
        if (inner, outer) == (SELF, ALL) {
            let other = pick(rng, self.hosts.len() - 1);
            return self.hosts[other + usize::from(other >= own)];
        }
        let place = spans[outer].start + pick(rng, spans[outer].len() - spans[inner].len());
        let skipped = if place >= spans[inner].start { spans[inner].len() } else { 0 };
        self.hosts[self.order[place + skipped]]
    }

    fn class(&self, u: f64) -> (usize, usize) {
        let mut below = 0.0;
        let found = self.classes.iter().filter(|class| class.0 > 0.0).find(|class| {
            below += class.0;
            u < below
        });
        let (_, inner, outer) = found.or(self.classes.iter().rfind(|class| class.0 > 0.0)).expect("shares sum to 1");
        (*inner, *outer)
    }

    pub(super) fn parts(&self, rates: &[f64], out: &mut Parts) {
        let all = out.set(self.hosts.to_vec());
        for &(share, inner, outer) in self.classes.iter().filter(|class| class.0 > 0.0) {
            // A host never draws itself.
            let level = if inner == SELF { outer } else { inner };
            for near in self.order.chunk_by(|&a, &b| self.spans[a][level] == self.spans[b][level]) {
                let sources = near.iter().map(|&own| (self.hosts[own], share * rates[own])).collect();
                let hosts = |span: &Range<usize>| self.order[span.clone()].iter().map(|&own| self.hosts[own]).collect();
                let spans = &self.spans[near[0]];
                let to = if outer == ALL { all } else { out.set(hosts(&spans[outer])) };
                let except = (inner != SELF).then(|| out.set(hosts(&spans[inner])));
                out.add(sources, to, except);
            }
        }
    }

    /// To one of host links; `field`: path of `load_at`.
    pub(super) fn host_load(&self, load: f64, at: LoadAt, field: &str) -> Result<f64, EntryError> {
        let above = tiers_with_uplinks(self.members.fabric);
        let (tier, name) = match at {
            LoadAt::Host => return Ok(load),
            LoadAt::TorUplink => (self.members.rack_tier(), "tor_uplink".to_owned()),
            LoadAt::Core => (above.last().copied().unwrap_or(0), "core".to_owned()),
            LoadAt::Tier(tier) => (tier, format!("tier {tier}")),
        };
        if !above.contains(&tier) || (tier == 0 && at == LoadAt::Core) {
            let tiers: Vec<String> = above.iter().map(u8::to_string).collect();
            let allowed = format!("a tier of this fabric that links lead up from: {}", tiers.join(", "));
            return Err(EntryError::field(field, name, allowed));
        }
        let groups = Groups::new(self.members.fabric, tier);
        let mates = self.mates();
        let group = |host: &HostId| groups.of(self.members.node(*host)) as usize;
        let mut members = vec![0usize; self.members.fabric.nodes().len()];
        self.hosts.iter().for_each(|host| members[group(host)] += 1);
        let up = groups.uplinks(self.members.fabric);
        let carried: f64 = up.iter().zip(&members).filter(|(_, members)| **members > 0).map(|(rate, _)| rate).sum();
        let crossing = |own: usize| {
            let mine = group(&self.hosts[own]);
            let elsewhere = mates[own].iter().filter(|&&mate| group(&self.hosts[mate]) != mine);
            let beside: Vec<usize> = elsewhere.copied().collect();
            self.members.capacity(self.hosts[own]) * self.leaving(own, members[mine], &beside)
        };
        let offered: f64 = (0..self.hosts.len()).map(crossing).sum();
        if offered <= 0.0 {
            return Err(EntryError::field(field, name, "a tier that flows of this pattern cross; none does"));
        }
        Ok(load * carried / offered)
    }

    /// Hosts that each host reaches over NVLink.
    fn mates(&self) -> Vec<Vec<usize>> {
        let fabric = self.members.fabric;
        if !fabric.has_nvlink() {
            return vec![Vec::new(); self.hosts.len()];
        }
        let mut by_host: Vec<usize> = (0..self.hosts.len()).collect();
        by_host.sort_by_key(|&own| self.hosts[own]);
        let mut mates = vec![Vec::new(); self.hosts.len()];
        let host = |own: usize| self.members.host(self.hosts[own]);
        for server in by_host.chunk_by(|&a, &b| fabric.same_server(host(a), host(b))) {
            for &own in server {
                mates[own] = server.iter().copied().filter(|&mate| mate != own).collect();
            }
        }
        mates
    }

    /// Share of a host's flows that cross the uplinks of its group of `near` hosts (itself included). NVLink carries flows to
    /// `beside`: hosts of its server in other groups.
    fn leaving(&self, own: usize, near: usize, beside: &[usize]) -> f64 {
        let spans = &self.spans[own];
        let of_class = |&(share, inner, outer): &(f64, usize, usize)| {
            // Groups of different tiers nest.
            let all = spans[outer].len() - spans[inner].len();
            let place = |mate: usize| self.spans[mate][SELF].start;
            let drawn = |mate: usize| spans[outer].contains(&place(mate)) && !spans[inner].contains(&place(mate));
            let on_nvlink = beside.iter().filter(|&&mate| drawn(mate)).count();
            let outside = spans[outer].len().saturating_sub(near.max(spans[inner].len())) - on_nvlink;
            if share > 0.0 { share * outside as f64 / all as f64 } else { 0.0 }
        };
        self.classes.iter().map(of_class).sum()
    }
}

impl Locality {
    fn classes(self, field: &str) -> Result<Vec<(f64, usize, usize)>, EntryError> {
        let pod = self.pod.unwrap_or(0.0);
        for (name, share) in [("rack", self.rack), ("pod", pod)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(EntryError::field(format!("{field}.{name}"), share, "a share, 0 to 1"));
            }
        }
        let rest = 1.0 - self.rack - pod;
        if rest < -1e-9 {
            return Err(EntryError::field(field, format!("{} and {pod}", self.rack), "shares with a sum up to 1"));
        }
        // Rounding leaves no remainder.
        let rest = if rest < 1e-9 { 0.0 } else { rest };
        Ok(match self.pod {
            None => vec![(self.rack, SELF, RACK), (rest, RACK, ALL)],
            Some(pod) => vec![(self.rack, SELF, RACK), (pod, RACK, POD), (rest, POD, ALL)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{flows, pattern, refused, star};
    use crate::fabric::Fabric;
    use crate::fabric::generators::{Dumbbell, HpccFatTree, LeafSpine};
    use crate::flow::Flow;
    use crate::units::Rate;

    fn spec(extra: &str) -> crate::workload::WorkloadSpec {
        let json = format!(r#"{{"load": 0.4, "sizes": "2kB", "duration": "200us", {extra}}}"#);
        pattern("poisson", &json)
    }

    fn offered(fabric: &Fabric, extra: &str, rule: impl Fn(u32, u32) -> bool) -> f64 {
        let set = flows(fabric, &spec(extra), 1);
        let counts = |flow: &&Flow| rule(flow.src.0, flow.dst.0);
        set.flows.iter().filter(counts).map(|flow| flow.size.0 as f64).sum::<f64>() * 8.0 / 200e-6
    }

    #[test]
    fn shares_of_rack_and_pod_and_uniform_within() {
        let fabric = HpccFatTree::default().build().unwrap();
        let set = flows(&fabric, &spec(r#""locality": {"rack": 0.5, "pod": 0.3}"#), 1);
        let share = |rule: &dyn Fn(u32, u32) -> bool| {
            set.flows.iter().filter(|flow| rule(flow.src.0, flow.dst.0)).count() as f64 / set.flows.len() as f64
        };
        // 160,000 flows: a standard error of 0.1 %.
        let (rack, pod) = (|a: u32, b: u32| a / 16 == b / 16, |a: u32, b: u32| a / 64 == b / 64);
        assert!((share(&rack) - 0.5).abs() < 0.006, "{}", share(&rack));
        assert!((share(&|a, b| pod(a, b) && !rack(a, b)) - 0.3).abs() < 0.006);
        assert!((share(&|a, b| !pod(a, b)) - 0.2).abs() < 0.006);
        let mut to = [0u32; 320];
        set.flows.iter().for_each(|flow| to[flow.dst.index()] += 1);
        // 500 flows to each host: five standard deviations.
        assert!(to.iter().all(|&count| count.abs_diff(500) < 115), "{to:?}");
        assert!(set.flows.iter().all(|flow| flow.src != flow.dst));
    }

    #[test]
    fn load_at_the_uplinks_of_the_racks() {
        let fabric = LeafSpine::new(4, 2, 8).build().unwrap();
        let crosses = |a: u32, b: u32| a / 8 != b / 8;
        for extra in [r#""load_at": "tor_uplink""#, r#""load_at": {"tier": 1}, "locality": {"rack": 0.5}"#] {
            let load = offered(&fabric, extra, crosses) / (4.0 * 200e9);
            assert!((load / 0.4 - 1.0).abs() < 0.05, "{extra}: {load}");
        }
        let host = offered(&fabric, r#""locality": {"rack": 0.5}"#, |_, _| true) / (32.0 * 100e9);
        assert!((host / 0.4 - 1.0).abs() < 0.05, "{host}");
        // Only uplinks of participating racks count.
        let load = offered(&fabric, r#""load_at": "core", "hosts": "0-15""#, crosses) / (2.0 * 200e9);
        assert!((load / 0.4 - 1.0).abs() < 0.06, "{load}");
    }

    #[test]
    fn load_at_the_core_of_a_tree_with_pods() {
        let fabric = HpccFatTree::default().build().unwrap();
        let extra = r#""load_at": "core", "locality": {"rack": 0.2, "pod": 0.5}"#;
        let load = offered(&fabric, extra, |a, b| a / 64 != b / 64) / (20.0 * 4.0 * 400e9);
        assert!((load / 0.4 - 1.0).abs() < 0.03, "{load}");
        let load = offered(&fabric, r#""load_at": "tor_uplink""#, |a, b| a / 16 != b / 16) / (20.0 * 4.0 * 400e9);
        assert!((load / 0.4 - 1.0).abs() < 0.03, "{load}");
    }

    #[test]
    fn gpus_of_a_server_do_not_load_the_uplinks_of_rails() {
        use crate::fabric::generators::{NvLink, RailOptimized};
        let forward = NvLink { forward: true, ..NvLink::default() };
        for (nvlink, over_nvlink) in [(None, false), (Some(NvLink::default()), true), (Some(forward), true)] {
            let spec = RailOptimized { gpus_per_server: 4, nvlink, ..RailOptimized::new(4, 2) };
            let fabric = spec.build().unwrap();
            // Four rails with two uplinks of 400 Gb/s each.
            let crosses = |a: u32, b: u32| a % 4 != b % 4 && (a / 4 != b / 4 || !over_nvlink);
            for extra in [r#""load_at": "tor_uplink""#, r#""load_at": "core", "locality": {"rack": 0.2}"#] {
                let load = offered(&fabric, extra, crosses) / (4.0 * 800e9);
                assert!((load / 0.4 - 1.0).abs() < 0.05, "{extra}: {load}");
            }
            let load = offered(&fabric, r#""locality": {"rack": 0.5}"#, |_, _| true) / (16.0 * 400e9);
            assert!((load / 0.4 - 1.0).abs() < 0.05, "{load}");
        }
    }

    #[test]
    fn what_a_fabric_does_not_have_is_refused() {
        let star = star(4, Rate::gbps(100));
        assert_eq!(
            refused(&star, &spec(r#""load_at": "tor_uplink""#)),
            "workload[0].poisson.load_at = tor_uplink: must be a tier of this fabric that links lead up from: 0"
        );
        assert!(refused(&star, &spec(r#""load_at": "core""#)).contains("load_at = core: must be a tier of this"));
        let leaves = LeafSpine::new(4, 2, 8).build().unwrap();
        assert!(refused(&leaves, &spec(r#""load_at": {"tier": 2}"#)).ends_with("links lead up from: 0, 1"));
        assert_eq!(
            refused(&leaves, &spec(r#""load_at": "core", "locality": {"rack": 1}"#)),
            "workload[0].poisson.load_at = core: must be a tier that flows of this pattern cross; none does"
        );
        assert_eq!(
            refused(&star, &spec(r#""locality": {"rack": 0.5}"#)),
            "workload[0].poisson.locality = a sum of 0.5: must be shares with the sum 1: h0 has no hosts beyond its rack"
        );
        let lonely = Dumbbell::new(1, 3).build().unwrap();
        assert_eq!(
            refused(&lonely, &spec(r#""locality": {"rack": 0.5}"#)),
            "workload[0].poisson.locality.rack = 0.5: must be 0: h0 is alone in its rack"
        );
        assert_eq!(
            refused(&lonely, &spec(r#""locality": {"pod": 0.5}"#)),
            "workload[0].poisson.locality.pod = 0.5: must be 0, or omitted: no other rack of the pod of h0 takes part"
        );
        assert_eq!(
            refused(&leaves, &spec(r#""locality": {"rack": 0.7, "pod": 0.5}"#)),
            "workload[0].poisson.locality = 0.7 and 0.5: must be shares with a sum up to 1"
        );
        assert!(refused(&leaves, &spec(r#""locality": {"rack": -0.1}"#)).contains("locality.rack = -0.1: must be a"));
    }
}
