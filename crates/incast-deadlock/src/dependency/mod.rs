//! Cyclic buffer dependencies: the necessary condition of a PFC deadlock.

mod detours;
mod failures;
mod flood;
mod report;
mod users;

use incast_model::fabric::PortId;
use incast_model::routing::Routes;

use crate::elp::{Elp, ElpError};
use crate::graph::Graph;
use crate::names::Cycle;
use crate::rules::{Rules, Transitions};
use crate::tag::Tag;
use crate::turns::TurnSet;
use crate::verify::Reached;
use crate::wiring::Wiring;

pub use failures::{FailedLinks, Failing, FailureReport, Failures, FailuresError, Rerouting};
pub use report::{Component, DeadlockReport, NamedCycle};
pub use users::{Part, Users};

/// Buffer dependency graph.
///
/// A vertex is a buffer that can pause its link: an ingress port of a switch with a PFC priority. An edge leads to the next
/// buffer of its packets. A cycle is a deadlock if all its buffers are full at once (Hu et al., HotNets 2016: necessary, not
/// sufficient). Without tags, one graph represents every priority.
#[derive(Debug, Clone)]
pub struct Dependencies {
    edges: Edges,
}

#[derive(Debug, Clone)]
enum Edges {
    /// One priority.
    Turns(TurnSet),
    /// A priority for each tag.
    Tagged(Transitions),
}

impl Dependencies {
    /// Dependencies of turns in one priority.
    pub fn of_turns(turns: TurnSet) -> Self {
        Self { edges: Edges::Turns(turns) }
    }

    /// Dependencies of paths in one priority.
    pub fn of_paths(wiring: &Wiring<'_>, elp: &Elp<'_>) -> Result<Self, ElpError> {
        Ok(Self::of_turns(elp.hops(wiring)?.turns(wiring)))
    }

    /// Turns on paths, loops of routes included.
    pub fn turns_on(wiring: &Wiring<'_>, elp: &Elp<'_>) -> Result<TurnSet, ElpError> {
        match elp {
            Elp::Routes(routes) => Ok(flood::turns(wiring, routes)),
            _ => Ok(elp.hops(wiring)?.turns(wiring)),
        }
    }

    /// Dependencies of packets that make these turns under rules. Hosts send with tags `sent`; packets without a rule become
    /// lossy.
    ///
    /// A packet may make any of `turns` next: the result may have too many dependencies, never too few.
    pub fn of_tagged_turns(wiring: &Wiring<'_>, turns: &TurnSet, rules: &Rules, sent: &[Tag]) -> Self {
        let mut taken = Transitions::none(wiring);
        for (tag, input, output, new) in Reached::new(wiring, rules.transitions(), sent, Some(turns)).moves {
            taken.insert(tag, input, output, new);
        }
        Self { edges: Edges::Tagged(taken) }
    }

    /// Dependencies of the simulator's routes in one priority, loops included.
    pub fn of_routes(wiring: &Wiring<'_>, routes: &Routes) -> Self {
        Self::of_turns(flood::turns(wiring, routes))
    }

    /// Dependencies of packets that rules keep lossless.
    pub fn of_rules(rules: &Rules) -> Self {
        Self { edges: Edges::Tagged(rules.transitions().clone()) }
    }

    /// Dependencies of packets that either set keeps lossless, as during a change.
    pub fn of_change(before: &Rules, after: &Rules) -> Self {
        let mut both = before.transitions().clone();
        both.union(after.transitions());
        Self { edges: Edges::Tagged(both) }
    }

    /// Without tags both are the first.
    fn turns(&self) -> Vec<(Tag, Tag, &TurnSet)> {
        match &self.edges {
            Edges::Turns(turns) => vec![(Tag::FIRST, Tag::FIRST, turns)],
            Edges::Tagged(tagged) => tagged.turns().collect(),
        }
    }

    fn graph(&self, wiring: &Wiring<'_>) -> Graph {
        let turns = self.turns();
        let tags = turns.iter().map(|(tag, new, _)| tag.0.max(new.0)).max().unwrap_or(1);
        Graph::new(usize::from(tags) * wiring.len(), || {
            turns.iter().flat_map(|&(tag, new, turns)| {
                let between = turns.iter().filter(|&(_, output)| wiring.to_switch(output));
                between
                    .map(move |(input, output)| (vertex(wiring, tag, input), vertex(wiring, new, wiring.peer(output))))
            })
        })
    }

    fn named(&self, wiring: &Wiring<'_>, turns: &[(Tag, PortId, PortId)]) -> Cycle {
        let tag = |tag| matches!(self.edges, Edges::Tagged(_)).then_some(tag);
        Cycle::new(wiring, turns.iter().map(|&(at, input, output)| (tag(at), input, output)))
    }
}

fn vertex(wiring: &Wiring<'_>, tag: Tag, input: PortId) -> u32 {
    u32::from(tag.0 - 1) * wiring.len() as u32 + input.0
}

fn port_of(wiring: &Wiring<'_>, vertex: u32) -> (Tag, PortId) {
    (Tag((vertex / wiring.len() as u32) as u8 + 1), PortId(vertex % wiring.len() as u32))
}

fn turns_of(wiring: &Wiring<'_>, cycle: &[u32]) -> Vec<(Tag, PortId, PortId)> {
    let ports: Vec<(Tag, PortId)> = cycle.iter().map(|&vertex| port_of(wiring, vertex)).collect();
    let next = ports.iter().cycle().skip(1);
    ports.iter().zip(next).map(|(&(tag, input), &(_, next))| (tag, input, wiring.peer(next))).collect()
}
