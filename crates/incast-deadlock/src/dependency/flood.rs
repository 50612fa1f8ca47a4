//! Ports that packets to one destination reach, loops included.

use incast_model::fabric::{NodeId, PortId};
use incast_model::routing::Routes;

use crate::elp::Routed;
use crate::threads::spread;
use crate::turns::TurnSet;
use crate::wiring::{Ports, Wiring};

#[derive(Debug)]
pub(super) struct Flood {
    /// By port: last flood that found it, and the previous ingress port.
    cause: Vec<(u32, Option<PortId>)>,
    round: u32,
    pub(super) found: Vec<PortId>,
}

impl Flood {
    pub(super) fn new(ports: &Ports) -> Self {
        Self { cause: vec![(0, None); ports.len()], round: 0, found: Vec::new() }
    }

    pub(super) fn run(
        &mut self,
        ports: &Ports,
        sources: impl IntoIterator<Item = PortId>,
        mut hops: impl FnMut(NodeId, &mut Vec<PortId>),
    ) {
        self.round += 1;
        self.found.clear();
        for source in sources {
            self.find(source, None);
        }
        let (mut at, mut next) = (0, Vec::new());
        while let Some(&input) = self.found.get(at) {
            at += 1;
            next.clear();
            hops(ports.node(input), &mut next);
            for &output in next.iter().filter(|&&output| ports.to_switch(output)) {
                self.find(ports.peer(output), Some(input));
            }
        }
    }

    fn find(&mut self, input: PortId, cause: Option<PortId>) {
        if self.cause[input.index()].0 != self.round {
            self.cause[input.index()] = (self.round, cause);
            self.found.push(input);
        }
    }

    pub(super) fn comes_by(&self, input: PortId) -> bool {
        self.cause[input.index()].0 == self.round
    }

    pub(super) fn way(&self, input: PortId) -> Vec<PortId> {
        let mut way = vec![input];
        while let (_, Some(before)) = self.cause[way[way.len() - 1].index()] {
            way.push(before);
        }
        way.reverse();
        way
    }
}

pub(super) fn turns(wiring: &Wiring<'_>, routes: &Routes) -> TurnSet {
    let routed = Routed::new(wiring, routes);
    let start = || Turns::new(wiring, &routed);
    let parts = spread("destinations", routed.classes.len(), start, Turns::add);
    let mut all = TurnSet::new(wiring);
    parts.iter().for_each(|part| all.union(&part.turns));
    all
}

/// For callers that keep all threads busy.
pub(super) fn turns_alone(wiring: &Wiring<'_>, routes: &Routes) -> TurnSet {
    let routed = Routed::new(wiring, routes);
    let mut found = Turns::new(wiring, &routed);
    (0..routed.classes.len()).for_each(|class| found.add(class));
    found.turns
}

struct Turns<'t, 'f> {
    wiring: &'t Wiring<'f>,
    routed: &'t Routed<'t>,
    flood: Flood,
    turns: TurnSet,
}

impl<'t, 'f> Turns<'t, 'f> {
    fn new(wiring: &'t Wiring<'f>, routed: &'t Routed<'t>) -> Self {
        Self { wiring, routed, flood: Flood::new(wiring), turns: TurnSet::new(wiring) }
    }

    fn add(&mut self, class: usize) {
        let Self { wiring, routed, flood, turns } = self;
        flood.run(wiring, routed.sources(wiring, class), |node, next| next.extend(routed.hops(wiring, node, class)));
        for &input in &flood.found {
            for output in routed.hops(wiring, wiring.node(input), class) {
                turns.insert(input, output);
            }
        }
        // One host per switch suffices: the others use the same ports.
        for switch in wiring.switches().filter(|&switch| routed.is_source(wiring, switch, class)) {
            for output in routed.hops(wiring, switch, class) {
                let hosts = &routed.sources[wiring.span(switch)];
                turns.row_mut(output).iter_mut().zip(hosts).for_each(|(word, hosts)| *word |= hosts);
            }
        }
    }
}
