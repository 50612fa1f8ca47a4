use std::collections::HashMap;
use std::collections::hash_map::Entry;

use incast_model::fabric::{NodeId, PortId};
use incast_model::routing::Routes;
use serde::Serialize;

use super::flood::Flood;
use crate::bits::ones;
use crate::elp::{Destinations, Elp, ElpError, Hop, PathSet, Routed, State, Tiers, UpDown, entries};
use crate::names::NamedPath;
use crate::watch;
use crate::wiring::{Ports, Wiring};

/// Traffic of a turn, one edge of a cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Users {
    /// Paths with the turn, if paths are given or drawn one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<usize>,
    /// Destinations (switches with their hosts, hosts with several links), if paths depend on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destinations: Option<usize>,
    /// Place of the first path (`line 7`); absent if random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Time of the packets, if not always: `from 5ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// A path between hosts; if routes loop, up to the first repetition.
    pub example: Option<NamedPath>,
}

pub(super) type Turn = (PortId, PortId);

/// Packets that coexist with others.
#[derive(Debug, Clone, Copy)]
pub struct Part<'p> {
    /// Paths.
    pub elp: &'p Elp<'p>,
    /// Time, if not always: `from 5ms`.
    pub when: Option<&'p str>,
}

/// From the first part with such packets.
pub(super) fn users_of_parts(wiring: &Wiring<'_>, parts: &[Part<'_>], turns: &[Turn]) -> Result<Vec<Users>, ElpError> {
    let mut all = vec![Users::default(); turns.len()];
    for part in parts {
        let left: Vec<usize> = (0..turns.len()).filter(|&at| all[at].example.is_none()).collect();
        let asked: Vec<Turn> = left.iter().map(|&at| turns[at]).collect();
        if asked.is_empty() {
            break;
        }
        for (at, found) in left.into_iter().zip(users(wiring, part.elp, &asked)?) {
            if found.example.is_some() {
                all[at] = Users { when: part.when.map(str::to_owned), ..found };
            }
        }
    }
    Ok(all)
}

pub(super) fn users(wiring: &Wiring<'_>, elp: &Elp<'_>, turns: &[Turn]) -> Result<Vec<Users>, ElpError> {
    match elp {
        Elp::Paths(paths) => Ok(turns.iter().map(|&turn| of_paths(wiring, paths, turn)).collect()),
        Elp::UpDown(up_down) => of_up_down(wiring, up_down, turns),
        Elp::Shortest(_) => of_shortest(wiring, elp, turns),
        Elp::Routes(routes) => Ok(of_routes(wiring, routes, turns)),
    }
}

fn of_paths(wiring: &Wiring<'_>, paths: &PathSet, (input, output): Turn) -> Users {
    let makes = |path: &[PortId]| path.windows(2).any(|pair| wiring.peer(pair[0]) == input && pair[1] == output);
    let mut those = (0..paths.len()).filter(|&at| makes(paths.path(at)));
    let first = those.next();
    Users {
        paths: Some(usize::from(first.is_some()) + those.count()),
        destinations: None,
        when: None,
        place: first.map(|at| paths.place(at).to_owned()).filter(|place| !place.is_empty()),
        example: first.map(|at| NamedPath::new(wiring, paths.path(at))),
    }
}

struct Counter<'t> {
    turns: &'t [Turn],
    users: Vec<Users>,
}

impl<'t> Counter<'t> {
    fn new(turns: &'t [Turn]) -> Self {
        let users = vec![Users { destinations: Some(0), ..Users::default() }; turns.len()];
        Self { turns, users }
    }

    /// Turns in `counted` have been counted for this destination.
    fn add(&mut self, wiring: &Wiring<'_>, flood: &Flood, hops: &dyn Fn(NodeId) -> Vec<PortId>, counted: &mut [bool]) {
        for (at, &(input, output)) in self.turns.iter().enumerate() {
            if counted[at] || !flood.comes_by(input) || !hops(wiring.node(input)).contains(&output) {
                continue;
            }
            counted[at] = true;
            let users = &mut self.users[at];
            users.destinations = users.destinations.map(|count| count + 1);
            users
                .example
                .get_or_insert_with(|| NamedPath::new(wiring, &whole_path(wiring, flood, (input, output), hops)));
        }
    }
}

/// As the packet came, then by first next hops to a host or repeated port.
fn whole_path(
    ports: &Ports,
    flood: &Flood,
    (input, output): Turn,
    hops: &dyn Fn(NodeId) -> Vec<PortId>,
) -> Vec<PortId> {
    let mut path: Vec<PortId> = flood.way(input).into_iter().map(|input| ports.peer(input)).chain([output]).collect();
    while let Some(&last) = path.last().filter(|&&last| ports.to_switch(last)) {
        match hops(ports.far(last)).first() {
            Some(hop) if !path.contains(hop) => path.push(*hop),
            _ => break,
        }
    }
    path
}

fn of_shortest(wiring: &Wiring<'_>, elp: &Elp<'_>, turns: &[Turn]) -> Result<Vec<Users>, ElpError> {
    let destinations = Destinations::new(wiring, elp);
    let (mut tables, mut flood, mut counter) = (destinations.tables(), Flood::new(wiring), Counter::new(turns));
    let mut next: Vec<Vec<PortId>> = vec![Vec::new(); wiring.nodes()];
    watch::begin("destinations", destinations.len());
    for at in 0..destinations.len() {
        watch::step();
        let mut counted = vec![false; turns.len()];
        destinations.each(at, &mut tables, &mut |towards| {
            // Most destinations have no such turn: their switches alone show it.
            let asked = |node: NodeId, hops: &[Hop]| {
                turns
                    .iter()
                    .any(|&(input, output)| wiring.node(input) == node && hops.iter().any(|hop| hop.port == output))
            };
            if !towards.iter().any(|(node, hops)| asked(node, hops)) {
                return;
            }
            next.iter_mut().for_each(Vec::clear);
            towards.iter().for_each(|(node, hops)| next[node.index()].extend(hops.iter().map(|hop| hop.port)));
            let of_switch = |node| ones(towards.injecting(wiring, node)).map(move |at| wiring.port(node, at)).next();
            let sources = towards.iter().flat_map(|(node, hops)| match wiring.is_host(node) {
                true => hops.iter().filter(|hop| !wiring.is_host(hop.far)).map(|hop| hop.input).collect::<Vec<_>>(),
                false => of_switch(node).into_iter().collect(),
            });
            flood.run(wiring, sources, |node, hops| hops.extend(&next[node.index()]));
            counter.add(wiring, &flood, &|node| next[node.index()].clone(), &mut counted);
        })?;
    }
    Ok(counter.users)
}

fn of_routes(wiring: &Wiring<'_>, routes: &Routes, turns: &[Turn]) -> Vec<Users> {
    let routed = Routed::new(wiring, routes);
    let (mut flood, mut counter) = (Flood::new(wiring), Counter::new(turns));
    watch::begin("destinations", routed.classes.len());
    for class in 0..routed.classes.len() {
        watch::step();
        flood.run(wiring, routed.sources(wiring, class), |node, next| next.extend(routed.hops(wiring, node, class)));
        counter.add(wiring, &flood, &|node| routed.hops(wiring, node, class), &mut vec![false; turns.len()]);
    }
    counter.users
}

/// One path: they are too many to count.
fn of_up_down(wiring: &Wiring<'_>, up_down: &UpDown, turns: &[Turn]) -> Result<Vec<Users>, ElpError> {
    let walks = Walks::new(wiring, up_down)?;
    let example = |&turn| walks.by(turn).map(|path| NamedPath::new(wiring, &path));
    Ok(turns.iter().map(|turn| Users { example: example(turn), ..Users::default() }).collect())
}

struct Walks<'w, 'f> {
    wiring: &'w Wiring<'f>,
    up_down: &'w UpDown,
    tiers: Tiers,
    /// By port and bounces: a host can still be reached.
    useful: Vec<Vec<bool>>,
    states: Vec<State>,
    before: HashMap<State, Option<State>>,
}

impl<'w, 'f> Walks<'w, 'f> {
    fn new(wiring: &'w Wiring<'f>, up_down: &'w UpDown) -> Result<Self, ElpError> {
        let tiers = Tiers::new(wiring)?;
        let useful = up_down.useful(wiring, &tiers);
        let states: Vec<State> = entries(wiring).map(|port| (port, 0)).collect();
        let before = states.iter().map(|&state| (state, None)).collect();
        let mut walks = Self { wiring, up_down, tiers, useful, states, before };
        let mut at = 0;
        while let Some(&state) = walks.states.get(at) {
            at += 1;
            watch::check();
            let next: Vec<State> = walks.moves(state).filter_map(|(_, next)| next).collect();
            for next in next {
                if let Entry::Vacant(unknown) = walks.before.entry(next) {
                    unknown.insert(Some(state));
                    walks.states.push(next);
                }
            }
        }
        Ok(walks)
    }

    fn moves(&self, state: State) -> impl Iterator<Item = (PortId, Option<State>)> + '_ {
        let useful = |(port, bounces): State| self.useful[port.index()][usize::from(bounces)];
        self.up_down.moves(self.wiring, &self.tiers, state).filter(move |(_, next)| next.is_none_or(useful))
    }

    /// As the packet came, then down where possible.
    fn by(&self, (input, output): Turn) -> Option<Vec<PortId>> {
        let turns = |state: State| self.moves(state).find(|&(port, _)| state.0 == input && port == output);
        let (state, (_, mut next)) = self.states.iter().find_map(|&state| Some((state, turns(state)?)))?;
        let mut path = vec![output];
        let mut at = Some(state);
        while let Some(state) = at {
            path.push(self.wiring.peer(state.0));
            at = self.before[&state];
        }
        path.reverse();
        while let Some(state) = next {
            let down = |&(output, next): &(PortId, Option<State>)| (next.is_some(), self.tiers.up(output), output);
            let (output, after) = self.moves(state).min_by_key(down)?;
            path.push(output);
            next = after;
        }
        Some(path)
    }
}
