use std::fmt;

use incast_model::fabric::PortId;
use serde::Serialize;

use super::NAMED;
use crate::graph::Graph;
use crate::names::{Cycle, Turn};
use crate::rules::{Rules, Transitions};
use crate::tag::Tag;
use crate::turns::TurnSet;
use crate::watch;
use crate::wiring::{Ports, Wiring};

/// Dependencies of packets that rules keep lossless, on any path.
///
/// Packets start with a host's tag at a host port; each switch applies a rule of any set: the union decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Circularity {
    /// Ingress ports with a tag that packets reach.
    pub buffers: usize,
    /// Buffer pairs: the first one's packets wait for the second.
    pub dependencies: usize,
    /// Rules that no packet reaches: (tag, ingress port, egress port, new tag).
    pub unused: usize,
    /// Rules to a smaller tag that packets reach.
    pub falling: usize,
    /// Some of these rules.
    pub falling_named: Vec<Step>,
    /// A shortest cyclic dependency, across tags.
    pub cycle: Option<TaggedCycle>,
}

/// Cyclic buffer dependency, with tags before and after each turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaggedCycle {
    /// Turns; packets of each wait for space at the next ingress port.
    pub turns: Vec<Step>,
}

/// Effect of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Turn, and tag before it.
    #[serde(flatten)]
    pub turn: Turn,
    /// Tag after the turn.
    pub new_tag: Tag,
    /// Sets with the rule, from 0.
    pub of: Vec<usize>,
}

impl Circularity {
    /// Analyses packets that hosts send with tags 1 to `classes`, under all sets.
    pub fn new(wiring: &Wiring<'_>, sets: &[&Rules], classes: u8) -> Self {
        let mut all = Transitions::none(wiring);
        sets.iter().for_each(|rules| all.union(rules.transitions()));
        let reached = Reached::new(wiring, &all, &Tag::all(classes).collect::<Vec<_>>(), None);
        let step = |(tag, input, output, new): Move| Step {
            turn: Turn::new(wiring, Some(tag), input, output),
            new_tag: new,
            of: (0..sets.len()).filter(|&at| sets[at].new_tag(tag, input, output) == Some(new)).collect(),
        };
        let falls = || reached.moves.iter().copied().filter(|&(tag, _, _, new)| new < tag);
        let vertex = |tag: Tag, port: PortId| u32::from(tag.0 - 1) * wiring.len() as u32 + port.0;
        let between = || reached.moves.iter().copied().filter(|&(_, _, output, _)| wiring.to_switch(output));
        let edges =
            || between().map(|(tag, input, output, new)| (vertex(tag, input), vertex(new, wiring.peer(output))));
        let graph = Graph::new(reached.tags * wiring.len(), edges);
        let components = graph.components();
        let shortest = components.iter().filter_map(|members| graph.shortest_cycles(members, 1).pop());
        let cycle = shortest.min_by_key(Vec::len).map(|cycle| {
            let ends = cycle.iter().zip(cycle.iter().cycle().skip(1));
            let turns = ends.map(|(&from, &to)| {
                let leads = |&(tag, input, output, new): &Move| {
                    (vertex(tag, input), vertex(new, wiring.peer(output))) == (from, to)
                };
                step(between().find(leads).expect("every edge is a rule"))
            });
            TaggedCycle { turns: turns.collect() }
        });
        Self {
            buffers: reached.buffers,
            dependencies: graph.edges(),
            unused: all.turns().map(|(_, _, turns)| turns.len()).sum::<usize>() - reached.moves.len(),
            falling: falls().count(),
            falling_named: falls().take(NAMED).map(step).collect(),
            cycle,
        }
    }

    /// True if cyclic dependencies are impossible.
    pub const fn deadlock_free(&self) -> bool {
        self.cycle.is_none()
    }
}

impl fmt::Display for TaggedCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Cycle { turns: self.turns.iter().map(|step| step.turn.clone()).collect() }.fmt(f)
    }
}

pub(crate) type Move = (Tag, PortId, PortId, Tag);

pub(crate) struct Reached {
    /// Tags of rules and hosts.
    tags: usize,
    buffers: usize,
    pub(crate) moves: Vec<Move>,
}

impl Reached {
    /// Walks only by turns of `within`, if given.
    pub(crate) fn new(ports: &Ports, rules: &Transitions, sent: &[Tag], within: Option<&TurnSet>) -> Self {
        let tags = usize::from(sent.iter().map(|tag| tag.0).fold(rules.tags(), u8::max));
        let mut seen = vec![false; tags * ports.len()];
        let mut found: Vec<(Tag, PortId)> = Vec::new();
        let mut come = |tag: Tag, port: PortId, found: &mut Vec<(Tag, PortId)>| {
            let seen = &mut seen[usize::from(tag.0 - 1) * ports.len() + port.index()];
            if !std::mem::replace(seen, true) {
                found.push((tag, port));
            }
        };
        for port in ports.switches().flat_map(|switch| ports.of(switch)).filter(|&port| !ports.to_switch(port)) {
            sent.iter().for_each(|&tag| come(tag, port, &mut found));
        }
        let mut moves = Vec::new();
        let mut at = 0;
        while let Some(&(tag, input)) = found.get(at) {
            at += 1;
            watch::check();
            for (_, new, turns) in rules.turns().filter(|&(from, _, _)| from == tag) {
                let taken = |output| within.is_none_or(|within| within.contains(input, output));
                let outputs = ports.of(ports.node(input)).filter(|&output| turns.contains(input, output));
                for output in outputs.filter(|&output| taken(output)) {
                    moves.push((tag, input, output, new));
                    if ports.to_switch(output) {
                        come(new, ports.peer(output), &mut found);
                    }
                }
            }
        }
        Self { tags, buffers: found.len(), moves }
    }
}
