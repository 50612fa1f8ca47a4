//! Resolves names in given routes, failures and pauses.

use std::sync::Arc;

use incast_model::fabric::{Fabric, HostId, LinkId, NodeId, NodeKind, PortId};
use incast_model::field::FieldError;
use incast_model::rng::stream;
use incast_model::routing::{FixedHops, Paths, Routes};
use incast_model::units::Time;
use rand::Rng;

use super::changes::{Outage, Resolved, TimedHops};
use super::fault::Faults;
use super::params::{FailureParams, NetworkParams, RandomLinks, RouteParams};
use super::pause;
use super::places::{joining, neighbours, node};

impl NetworkParams {
    /// Checks all names and numbers.
    pub fn check(&self, fabric: &Fabric, seed: u64) -> Result<(), FieldError> {
        self.resolve(fabric, seed).map(|_| ())
    }

    /// Initial routes without failures: those of `routing`, except given ones.
    pub fn routes(&self, fabric: &Fabric, seed: u64) -> Result<Arc<Routes>, FieldError> {
        let resolved = self.resolve(fabric, seed)?;
        Ok(self.with_fixed(fabric, &resolved.fixed_at(Time::ZERO)))
    }

    /// Routes at the start, around links that are down from then on if routing knows it.
    pub fn starting_routes(&self, fabric: &Fabric, seed: u64) -> Result<Arc<Routes>, FieldError> {
        let resolved = self.resolve(fabric, seed)?;
        let given = resolved.fixed_at(Time::ZERO);
        let faults = self.faults(fabric, resolved, seed);
        let around = faults.starts_rerouted().then(|| faults.states(fabric).next()).flatten();
        Ok(around.map_or_else(|| self.with_fixed(fabric, &given), |(_, routes)| Arc::new(routes)))
    }

    /// Links around which routing leads all flows from the start. Errors have been reported by [`NetworkParams::check`].
    pub(crate) fn down_at_start(&self, fabric: &Fabric, seed: u64) -> Vec<LinkId> {
        if self.failure.is_empty() {
            return Vec::new();
        }
        let resolved = self.resolve_loops_too(fabric, seed).ok();
        resolved.map_or_else(Vec::new, |resolved| self.faults(fabric, resolved, seed).known_at_start())
    }

    pub(crate) fn faults(&self, fabric: &Fabric, resolved: Resolved, seed: u64) -> Faults {
        let rule = (self.routing, self.next_hop_order);
        let size = (fabric.links().len(), fabric.ports().len());
        Faults::new(resolved, (self.reroute_after, self.hold_time), rule, seed, size)
    }

    /// Next hops given from the start. This and [`NetworkParams::each_routes`], for the deadlock analysis, accept loops.
    pub fn given_hops(&self, fabric: &Fabric, seed: u64) -> Result<Vec<FixedHops>, FieldError> {
        Ok(self.resolve_loops_too(fabric, seed)?.fixed_at(Time::ZERO))
    }

    /// Calls `each` with routes and start of every routing state. Routing knows links that are down from the start.
    pub fn each_routes(
        &self,
        fabric: &Fabric,
        seed: u64,
        each: &mut dyn FnMut(Time, Arc<Routes>),
    ) -> Result<(), FieldError> {
        let resolved = self.resolve_loops_too(fabric, seed)?;
        let given = resolved.fixed_at(Time::ZERO);
        let faults = self.faults(fabric, resolved, seed);
        if !faults.starts_rerouted() {
            each(Time::ZERO, self.with_fixed(fabric, &given));
        }
        faults.states(fabric).for_each(|(time, routes)| each(time, Arc::new(routes)));
        Ok(())
    }

    pub(crate) fn with_fixed(&self, fabric: &Fabric, fixed: &[FixedHops]) -> Arc<Routes> {
        if fixed.is_empty() {
            return Routes::of(fabric, self.routing, self.next_hop_order);
        }
        Arc::new(Routes::along(fabric, self.routing, self.next_hop_order, &|_| true, fixed))
    }

    pub(crate) fn resolve(&self, fabric: &Fabric, seed: u64) -> Result<Resolved, FieldError> {
        let resolved = self.resolve_loops_too(fabric, seed)?;
        self.check_loops(fabric, &resolved.fixed_at(Time::ZERO))?;
        Ok(resolved)
    }

    fn resolve_loops_too(&self, fabric: &Fabric, seed: u64) -> Result<Resolved, FieldError> {
        self.check_reach(fabric)?;
        let mut resolved = Resolved::default();
        for (index, route) in self.route.iter().enumerate() {
            fixed_hops(route, &format!("network.route[{index}]"), fabric, &mut resolved.fixed)?;
        }
        for (index, failure) in self.failure.iter().enumerate() {
            let field = format!("network.failure[{index}]");
            let links = failed_links(failure, &field, fabric, (seed, index as u64))?;
            resolved.outages.extend(outages(failure, &field, &links)?);
        }
        for (index, pause) in self.pause.iter().enumerate() {
            resolved.holds.extend(pause::resolve(pause, &format!("network.pause[{index}]"), fabric, seed)?);
        }
        Ok(resolved)
    }

    /// Up-down paths must connect all hosts; shortest paths always do.
    fn check_reach(&self, fabric: &Fabric) -> Result<(), FieldError> {
        if self.routing == Paths::Shortest {
            return Ok(());
        }
        let Some((src, dst)) = self.with_fixed(fabric, &[]).unconnected(fabric) else { return Ok(()) };
        let name = |host: HostId| &fabric.node(fabric.hosts()[host.index()]).name;
        let mut message = format!("there is no up-down path from {} to {}", name(src), name(dst));
        let ends = fabric.links().iter().map(|link| [link.a, link.b].map(|port| fabric.node(fabric.port(port).node)));
        let mut switches = ends.filter(|ends| ends.iter().all(|node| node.kind == NodeKind::Switch));
        if let Some([a, b]) = switches.find(|[a, b]| a.tier == b.tier) {
            message +=
                &format!("; no up-down path uses links between equal tiers, such as that of {} and {}", a.name, b.name);
        }
        let allowed = "shortest, or a fabric in tiers with up-down paths to every host";
        Err(FieldError::new("network.routing", message).allowed(allowed))
    }

    /// Given routes must have no loop or dead end.
    fn check_loops(&self, fabric: &Fabric, fixed: &[FixedHops]) -> Result<(), FieldError> {
        let routes = self.with_fixed(fabric, fixed);
        for one in fixed {
            if let Some(astray) = astray(fabric, &routes, one) {
                let (at, dst) = (&fabric.node(one.node).name, &fabric.node(fabric.hosts()[one.dst.index()]).name);
                let name = |node| &fabric.node(node).name;
                let message = match astray {
                    Astray::Loop(node) => format!("packets of {at} to {dst} can return to {}", name(node)),
                    Astray::DeadEnd(node) => {
                        format!("packets of {at} to {dst} can reach {}, which has no up-down path there", name(node))
                    }
                };
                let allowed = "routes that lead to their end, whatever next hops are chosen";
                return Err(FieldError::new("network.route", message).allowed(allowed));
            }
        }
        Ok(())
    }
}

fn fixed_hops(route: &RouteParams, field: &str, fabric: &Fabric, fixed: &mut Vec<TimedHops>) -> Result<(), FieldError> {
    let at = node(fabric, &format!("{field}.at"), &route.at)?;
    let to = node(fabric, &format!("{field}.to"), &route.to)?;
    let hosts: Vec<HostId> = match fabric.host_of(to) {
        Some(host) => vec![host],
        None => fabric.ports_of(to).filter_map(|port| fabric.host_of(fabric.neighbour(port))).collect(),
    };
    let field_to = format!("{field}.to");
    if hosts.is_empty() {
        return Err(FieldError::new(field_to, format!("no host is on {}", route.to)));
    }
    if hosts.iter().any(|host| fabric.hosts()[host.index()] == at) {
        return Err(FieldError::new(field_to, format!("{} is itself a host that this route leads to", route.at)));
    }
    if route.via.is_empty() {
        return Err(FieldError::new(format!("{field}.via"), "a route goes by at least one neighbour"));
    }
    let mut ports = Vec::new();
    for (index, name) in route.via.iter().enumerate() {
        let field = format!("{field}.via[{index}]");
        let via = node(fabric, &field, name)?;
        let joined = joining(fabric, at, via);
        let forwards =
            fabric.node(via).kind == NodeKind::Switch || hosts.iter().all(|host| fabric.hosts()[host.index()] == via);
        if joined.is_empty() || !forwards || ports.contains(&joined[0]) {
            let why = match (joined.is_empty(), forwards) {
                (true, _) => "is no neighbour",
                (_, false) => "is a host, which does not forward",
                _ => "is named twice",
            };
            let allowed = format!("neighbours of {}: {}", route.at, neighbours(fabric, at));
            return Err(FieldError::new(field, format!("`{name}` {why}")).allowed(allowed));
        }
        ports.extend(joined);
    }
    ports.sort_unstable();
    let (from, until) = (route.from, route.until);
    if let Some(until) = until {
        FieldError::unless(until > from, &format!("{field}.until"), until, &format!("after `from`, {from}"))?;
    }
    for dst in hosts {
        let one = TimedHops { hops: FixedHops { node: at, dst, ports: ports.clone() }, from, until };
        let same = |other: &&TimedHops| (other.hops.node, other.hops.dst) == (at, dst) && overlap(other, &one);
        if fixed.iter().any(|other| same(&other)) {
            let name = &fabric.node(fabric.hosts()[dst.index()]).name;
            return Err(FieldError::new(field_to, format!("{} has a route to {name} already at that time", route.at)));
        }
        fixed.push(one);
    }
    Ok(())
}

fn overlap(a: &TimedHops, b: &TimedHops) -> bool {
    let begins_before_end = |one: &TimedHops, other: &TimedHops| other.until.is_none_or(|until| one.from < until);
    begins_before_end(a, b) && begins_before_end(b, a)
}

enum Astray {
    Loop(NodeId),
    DeadEnd(NodeId),
}

/// Loop or dead end on paths that begin with a given route.
fn astray(fabric: &Fabric, routes: &Routes, from: &FixedHops) -> Option<Astray> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Unseen,
        OnTheWay,
        Done,
    }
    let target = fabric.hosts()[from.dst.index()];
    let mut marks = vec![Mark::Unseen; fabric.nodes().len()];
    let mut way = vec![(from.node, 0)];
    marks[from.node.index()] = Mark::OnTheWay;
    while let Some((node, edge)) = way.last_mut() {
        let hops = routes.next_hops(*node, from.dst);
        if hops.is_empty() {
            return Some(Astray::DeadEnd(*node));
        }
        let Some(&port) = hops.get(*edge) else {
            marks[node.index()] = Mark::Done;
            way.pop();
            continue;
        };
        *edge += 1;
        let next = fabric.neighbour(port);
        match marks[next.index()] {
            Mark::OnTheWay => return Some(Astray::Loop(next)),
            Mark::Unseen if next != target => {
                marks[next.index()] = Mark::OnTheWay;
                way.push((next, 0));
            }
            _ => {}
        }
    }
    None
}

fn failed_links(
    failure: &FailureParams,
    field: &str,
    fabric: &Fabric,
    draw: (u64, u64),
) -> Result<Vec<LinkId>, FieldError> {
    if failure.parallel.is_some() && failure.link.is_none() {
        return Err(FieldError::new(format!("{field}.parallel"), "only a `link` has parallel ones"));
    }
    match (&failure.link, &failure.switch, &failure.random) {
        (Some([a, b]), None, None) => {
            let field = format!("{field}.link");
            let ends = (node(fabric, &field, a)?, node(fabric, &field, b)?);
            let ports = joining(fabric, ends.0, ends.1);
            if ports.is_empty() {
                let allowed = format!("neighbours of {a}: {}", neighbours(fabric, ends.0));
                return Err(FieldError::new(field, format!("no link joins {a} and {b}")).allowed(allowed));
            }
            let mut links: Vec<LinkId> = ports.iter().map(|&port| fabric.port(port).link).collect();
            links.sort_unstable();
            if let Some(parallel) = failure.parallel {
                let allowed = format!("0 to {}: the links between {a} and {b}", links.len() - 1);
                FieldError::unless(
                    (parallel as usize) < links.len(),
                    &field.replace(".link", ".parallel"),
                    parallel,
                    &allowed,
                )?;
                links = vec![links[parallel as usize]];
            }
            Ok(links)
        }
        (None, Some(name), None) => {
            let field = format!("{field}.switch");
            let switch = node(fabric, &field, name)?;
            if fabric.node(switch).kind == NodeKind::Host {
                return Err(FieldError::new(field, format!("`{name}` is a host, not a switch")));
            }
            Ok(fabric.ports_of(switch).map(|port| fabric.port(port).link).collect())
        }
        (None, None, Some(random)) => draw_links(random, &format!("{field}.random"), fabric, draw),
        _ => Err(FieldError::new(field, "a failure has exactly one of link, switch and random")
            .allowed("exactly one of link, switch, random")),
    }
}

fn draw_links(
    random: &RandomLinks,
    field: &str,
    fabric: &Fabric,
    (seed, index): (u64, u64),
) -> Result<Vec<LinkId>, FieldError> {
    let tier = |port: PortId| fabric.node(fabric.port(port).node).tier;
    let mut links: Vec<LinkId> = (0..fabric.links().len() as u32)
        .map(LinkId)
        .filter(|&link| {
            let ends = [fabric.link(link).a, fabric.link(link).b].map(tier);
            match random.tiers {
                Some([a, b]) => ends == [a, b] || ends == [b, a],
                None => !ends.contains(&0),
            }
        })
        .collect();
    let count = random.links as usize;
    let of = if random.tiers.is_some() { "these tiers" } else { "switches" };
    let allowed = format!("1 to {}: the links between {of}", links.len());
    FieldError::unless((1..=links.len()).contains(&count), &format!("{field}.links"), count, &allowed)?;
    let mut rng = stream(seed, "failure", index);
    for drawn in 0..count {
        let left = (links.len() - drawn) as u64;
        links.swap(drawn, drawn + (((rng.next_u64() >> 32) * left) >> 32) as usize);
    }
    links.truncate(count);
    links.sort_unstable();
    Ok(links)
}

/// One, or all of a flap.
fn outages(failure: &FailureParams, field: &str, links: &[LinkId]) -> Result<Vec<Outage>, FieldError> {
    let FailureParams { at, until, times, every, silent, .. } = *failure;
    if let Some(until) = until {
        let allowed = format!("after `at`, {at}");
        FieldError::unless(until > at, &format!("{field}.until"), until, &allowed)?;
    }
    let refuse = |name: &str, message: &str, allowed: &str| {
        Err(FieldError::new(format!("{field}.{name}"), message).allowed(allowed))
    };
    let period = match (times, every, until) {
        (1, None, _) => Time::ZERO,
        (1, Some(_), _) => {
            return refuse("every", "a failure that happens once has no period", "with `times` 2 or more");
        }
        (_, _, None) => {
            return refuse("times", "a link fails again only after a repair", "with `until`, the first repair");
        }
        (_, None, _) => {
            return refuse("times", "several failures need a period", "with `every`, more than `until` - `at`");
        }
        (_, Some(every), Some(until)) => {
            let allowed = format!("more than `until` - `at`, {}", until - at);
            FieldError::unless(every > until - at, &format!("{field}.every"), every, &allowed)?;
            every
        }
    };
    let shifted = |time: Time, number: u32| Time(time.0.saturating_add(period.0.saturating_mul(number.into())));
    let outage = |number| Outage {
        links: links.to_vec(),
        at: shifted(at, number),
        until: until.map(|until| shifted(until, number)),
        silent,
    };
    Ok((0..times).map(outage).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flap(times: u32, until: Option<u64>, every: Option<u64>) -> Result<Vec<(u64, Option<u64>)>, String> {
        let (until, every) = (until.map(Time), every.map(Time));
        let failure = FailureParams { at: Time(100), until, times, every, ..FailureParams::default() };
        let found = outages(&failure, "failure", &[LinkId(0)]).map_err(|error| error.to_string())?;
        Ok(found.iter().map(|one| (one.at.0, one.until.map(|until| until.0))).collect())
    }

    #[test]
    fn a_flap_is_a_failure_every_period() {
        assert_eq!(flap(1, None, None), Ok(vec![(100, None)]));
        let three = vec![(100, Some(130)), (150, Some(180)), (200, Some(230))];
        assert_eq!(flap(3, Some(130), Some(50)), Ok(three));
    }

    #[test]
    fn a_flap_needs_repairs_and_a_longer_period() {
        for (times, until, every, field) in [
            (1, Some(130), Some(50), "failure.every"),
            (2, None, Some(50), "failure.times"),
            (2, Some(130), None, "failure.times"),
            (2, Some(130), Some(30), "failure.every"),
            (1, Some(100), None, "failure.until"),
        ] {
            let error = flap(times, until, every).unwrap_err();
            assert!(error.contains(field), "{error}");
        }
    }
}
