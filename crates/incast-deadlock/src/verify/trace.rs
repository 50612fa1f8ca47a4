use std::collections::HashMap;
use std::collections::hash_map::Entry;

use incast_model::fabric::PortId;

use crate::bits::ones;
use crate::elp::{ElpError, PathSet, State, Tiers, Towards, UpDown, entries};
use crate::rules::Rules;
use crate::tag::Tag;
use crate::wiring::{Ports, Wiring};

pub(super) type Goal<'a> = &'a mut dyn FnMut(Tag, PortId, PortId) -> bool;

/// Tag of hosts.
pub(super) type Walk<'w, 'f> = (&'w Wiring<'f>, &'w Rules, Tag);

#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) turn: (Tag, PortId, PortId),
    pub(super) path: Vec<PortId>,
}

/// By state: previous state, and egress port.
type Causes<S> = HashMap<S, Option<(S, PortId)>>;

fn path_to<S: Copy + Eq + std::hash::Hash>(
    ports: &Ports,
    causes: &Causes<S>,
    state: S,
    input: impl Fn(S) -> PortId,
    output: PortId,
) -> Vec<PortId> {
    let mut path = vec![output];
    let mut at = state;
    while let Some(&Some((before, by))) = causes.get(&at) {
        path.push(by);
        at = before;
    }
    path.push(ports.peer(input(at)));
    path.reverse();
    path
}

/// Packets of all hosts on a path, up to wanted turns.
pub(super) fn path((wiring, rules, sent): Walk<'_, '_>, paths: &PathSet, path: &[PortId], goal: Goal<'_>) -> Vec<Hit> {
    let [entries, exits] = paths.ends(wiring, path);
    let mut hits = Vec::new();
    // Behind the first switch one entry per tag suffices.
    let mut packets: Vec<(PortId, Tag)> = entries.into_iter().map(|entry| (entry, sent)).collect();
    for at in 0..path.len() - 1 {
        let outputs = if at + 2 == path.len() { &exits[..] } else { &path[at + 1..at + 2] };
        let mut next: Vec<(PortId, Tag)> = Vec::new();
        for (entry, tag) in packets {
            let input = if at == 0 { entry } else { wiring.peer(path[at]) };
            for &output in outputs {
                if goal(tag, input, output) {
                    let way = [wiring.peer(entry)].into_iter().chain(path[1..=at].iter().copied()).chain([output]);
                    hits.push(Hit { turn: (tag, input, output), path: way.collect() });
                } else if let Some(new) = rules.new_tag(tag, input, output)
                    && next.iter().all(|&(_, known)| known != new)
                {
                    next.push((entry, new));
                }
            }
        }
        packets = next;
    }
    hits
}

pub(super) fn towards((wiring, rules, sent): Walk<'_, '_>, towards: &Towards, goal: Goal<'_>) -> Vec<Hit> {
    let hops: HashMap<_, _> = towards.iter().collect();
    let mut causes: Causes<(PortId, Tag)> = HashMap::new();
    let mut states = Vec::new();
    for (node, next) in towards.iter() {
        let inputs: Vec<PortId> = match wiring.is_host(node) {
            true => next.iter().filter(|hop| !wiring.is_host(hop.far)).map(|hop| hop.input).collect(),
            false => ones(towards.injecting(wiring, node)).map(|local| wiring.port(node, local)).collect(),
        };
        states.extend(inputs.into_iter().map(|input| (input, sent)));
    }
    states.iter().for_each(|&state| {
        causes.insert(state, None);
    });
    let mut hits = Vec::new();
    while let Some(state @ (input, tag)) = states.pop() {
        for output in hops.get(&wiring.node(input)).copied().unwrap_or_default().iter().map(|hop| hop.port) {
            if goal(tag, input, output) {
                let path = path_to(wiring, &causes, state, |(input, _)| input, output);
                hits.push(Hit { turn: (tag, input, output), path });
            }
            let new = rules.new_tag(tag, input, output).filter(|_| wiring.to_switch(output));
            let next = new.map(|new| (wiring.peer(output), new));
            states.extend(next.filter(|next| !causes.contains_key(next)));
            next.map(|next| causes.entry(next).or_insert(Some((state, output))));
        }
    }
    hits
}

pub(super) struct UpDownFound {
    pub(super) hits: Vec<Hit>,
    /// Ingress ports, once per number of bounces.
    pub(super) states: usize,
}

pub(super) fn up_down(
    (wiring, rules, sent): Walk<'_, '_>,
    up_down: &UpDown,
    goal: Goal<'_>,
) -> Result<UpDownFound, ElpError> {
    let tiers = Tiers::new(wiring)?;
    let useful = up_down.useful(wiring, &tiers);
    let mut causes: Causes<(State, Tag)> = HashMap::new();
    let mut states: Vec<(State, Tag)> = entries(wiring).map(|port| ((port, 0), sent)).collect();
    states.iter().for_each(|&state| {
        causes.insert(state, None);
    });
    let mut hits = Vec::new();
    while let Some(state @ ((input, bounces), tag)) = states.pop() {
        for (output, next) in up_down.moves(wiring, &tiers, (input, bounces)) {
            if !next.is_none_or(|(port, bounces)| useful[port.index()][usize::from(bounces)]) {
                continue;
            }
            if goal(tag, input, output) {
                let path = path_to(wiring, &causes, state, |((input, _), _)| input, output);
                hits.push(Hit { turn: (tag, input, output), path });
            }
            let new = rules.new_tag(tag, input, output);
            if let (Some(new), Some(next)) = (new, next)
                && let Entry::Vacant(unknown) = causes.entry((next, new))
            {
                unknown.insert(Some((state, output)));
                states.push((next, new));
            }
        }
    }
    let mut reached: Vec<State> = causes.into_keys().map(|(state, _)| state).collect();
    reached.sort_unstable();
    reached.dedup();
    Ok(UpDownFound { hits, states: reached.len() })
}
