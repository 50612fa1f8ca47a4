use incast_model::fabric::{LinkId, NodeId, PortId};

use crate::elp::Routed;
use crate::wiring::Wiring;

/// Packets to one destination under `Rerouting::Local`; paths that end elsewhere are left out.
#[derive(Debug)]
pub(super) struct Detours<'d, 'f> {
    wiring: &'d Wiring<'f>,
    routed: &'d Routed<'d>,
    most: u8,
    /// By port and detours: index in `states` plus one, or 0.
    known: Vec<u32>,
    states: Vec<State>,
    /// Consecutive for each state.
    moves: Vec<Move>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    input: PortId,
    detours: u8,
    before: Option<u32>,
    /// Can reach the destination.
    good: bool,
}

#[derive(Debug, Clone, Copy)]
struct Move {
    from: u32,
    output: PortId,
    /// None if a host follows.
    to: Option<u32>,
}

impl<'d, 'f> Detours<'d, 'f> {
    pub(super) fn new(wiring: &'d Wiring<'f>, routed: &'d Routed<'d>, most: u8) -> Self {
        let known = vec![0; wiring.len() * (usize::from(most) + 1)];
        Self { wiring, routed, most, known, states: Vec::new(), moves: Vec::new() }
    }

    pub(super) fn run(&mut self, class: usize, down: &[LinkId]) {
        for at in 0..self.states.len() {
            let place = self.place(self.states[at].input, self.states[at].detours);
            self.known[place] = 0;
        }
        self.states.clear();
        self.moves.clear();
        let up = |wiring: &Wiring<'_>, port: PortId| !down.contains(&wiring.fabric().port(port).link);
        for input in self.routed.sources(self.wiring, class) {
            if up(self.wiring, input) {
                self.find(input, 0, None);
            }
        }
        let mut at = 0;
        while let Some(&State { input, detours, .. }) = self.states.get(at) {
            let from = at as u32;
            at += 1;
            let (wiring, node) = (self.wiring, self.wiring.node(input));
            let hops = self.routed.hops(wiring, node, class);
            let left: Vec<PortId> = hops.iter().copied().filter(|&port| up(wiring, port)).collect();
            if !left.is_empty() {
                left.into_iter().for_each(|output| self.go(from, output, detours));
            } else if !hops.is_empty() && detours < self.most {
                let others =
                    wiring.of(node).filter(|&port| port != input && wiring.to_switch(port) && up(wiring, port));
                others.for_each(|output| self.go(from, output, detours + 1));
            }
        }
        self.look_back();
    }

    fn place(&self, input: PortId, detours: u8) -> usize {
        input.index() * (usize::from(self.most) + 1) + usize::from(detours)
    }

    fn find(&mut self, input: PortId, detours: u8, before: Option<u32>) -> u32 {
        let place = self.place(input, detours);
        if self.known[place] == 0 {
            self.states.push(State { input, detours, before, good: false });
            self.known[place] = self.states.len() as u32;
        }
        self.known[place] - 1
    }

    fn go(&mut self, from: u32, output: PortId, detours: u8) {
        let to = self.wiring.to_switch(output).then(|| self.find(self.wiring.peer(output), detours, Some(from)));
        self.moves.push(Move { from, output, to });
    }

    fn look_back(&mut self) {
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); self.states.len()];
        let mut good: Vec<u32> = Vec::new();
        for step in &self.moves {
            match step.to {
                Some(to) => into[to as usize].push(step.from),
                None => good.push(step.from),
            }
        }
        while let Some(state) = good.pop() {
            if !std::mem::replace(&mut self.states[state as usize].good, true) {
                good.append(&mut into[state as usize]);
            }
        }
    }

    fn leads_there(&self, step: &Move) -> bool {
        step.to.is_none_or(|to| self.states[to as usize].good)
    }

    pub(super) fn turns(&self) -> impl Iterator<Item = (PortId, PortId)> + '_ {
        let those = self.moves.iter().filter(|step| self.leads_there(step));
        those.map(|step| (self.states[step.from as usize].input, step.output))
    }

    pub(super) fn path(&self, (input, output): (PortId, PortId)) -> Option<Vec<PortId>> {
        let makes = |step: &&Move| self.states[step.from as usize].input == input && step.output == output;
        let mut step = self.moves.iter().filter(makes).find(|step| self.leads_there(step))?;
        let mut path = vec![output];
        let mut at = Some(step.from);
        while let Some(state) = at {
            path.push(self.wiring.peer(self.states[state as usize].input));
            at = self.states[state as usize].before;
        }
        path.reverse();
        let mut been = vec![step.from];
        while let Some(state) = step.to {
            been.push(state);
            let new = |step: &&Move| step.from == state && step.to.is_none_or(|to| !been.contains(&to));
            step = self.moves.iter().filter(new).find(|step| self.leads_there(step))?;
            path.push(step.output);
        }
        Some(path)
    }
}

#[derive(Debug)]
pub(super) struct DeadEnds {
    /// By link: (class, node) with this link among at most as many next hops as links fail together.
    by_link: Vec<Vec<(u32, NodeId)>>,
}

impl DeadEnds {
    pub(super) fn new(wiring: &Wiring<'_>, routed: &Routed<'_>, links: usize) -> Self {
        let mut by_link = vec![Vec::new(); wiring.fabric().links().len()];
        for class in 0..routed.classes.len() {
            for node in (0..wiring.nodes() as u32).map(NodeId).filter(|&node| wiring.is_routed(node)) {
                let hops = routed.hops(wiring, node, class);
                if hops.len() <= links {
                    hops.iter()
                        .for_each(|&hop| by_link[wiring.fabric().port(hop).link.index()].push((class as u32, node)));
                }
            }
        }
        Self { by_link }
    }

    pub(super) fn classes(&self, wiring: &Wiring<'_>, routed: &Routed<'_>, down: &[LinkId]) -> Vec<usize> {
        let is_down = |&hop: &PortId| down.contains(&wiring.fabric().port(hop).link);
        let mut classes: Vec<usize> = down
            .iter()
            .flat_map(|link| &self.by_link[link.index()])
            .map(|&(class, node)| (class as usize, node))
            .filter(|&(class, node)| routed.hops(wiring, node, class).iter().all(is_down))
            .map(|(class, _)| class)
            .collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }
}
