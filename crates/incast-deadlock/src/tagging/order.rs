use std::ops::Range;
use std::sync::Arc;

use incast_model::fabric::{NodeId, PortId};

use crate::bits::{bit, ones, set};
use crate::turns::TurnSet;
use crate::wiring::Ports;

/// Ingress ports and acyclic turns between them.
///
/// Maintains a topological order. As in Pearce and Kelly (ACM Journal of Experimental Algorithmics 11, 2006), a search visits
/// only ports between both ends of new edges. But forward and backward search alternate, and the first to end moves its side
/// past the other: in Jellyfish one side is some 75 times the other. A search reads 64 ports of a switch at a time. Ports to single-linked hosts are omitted: they are never on a cycle.
#[derive(Debug)]
pub(crate) struct Dag {
    ports: Arc<Ports>,
    /// By egress port: ingress ports with an edge to its far end.
    into: TurnSet,
    /// By ingress port: egress ports.
    out_of: TurnSet,
    order: List,
    forward: Search,
    backward: Search,
}

impl Dag {
    /// Order by switch is right for edges to later switches.
    pub(crate) fn new(ports: &Arc<Ports>) -> Self {
        Self {
            into: TurnSet::of(ports),
            out_of: TurnSet::of(ports),
            order: List::new(ports.len() as u32),
            forward: Search::new(ports),
            backward: Search::new(ports),
            ports: Arc::clone(ports),
        }
    }

    /// Edges go from a switch's ingress ports, a bit each, to the far end of `output`; false, with none added, if they close a
    /// cycle.
    pub(crate) fn add(&mut self, inputs: &[u64], output: PortId) -> bool {
        let node = self.ports.node(output);
        let rest = self.ports.single_hosts(node).iter().zip(self.into.row(output));
        let new: Vec<u64> = inputs.iter().zip(rest).map(|(bits, (hosts, known))| bits & !hosts & !known).collect();
        if new.iter().all(|&word| word == 0) {
            return true;
        }
        if !self.make_way(&new, output) {
            return false;
        }
        let row = self.into.row_mut(output);
        row.iter_mut().zip(&new).for_each(|(word, new)| *word |= new);
        let local = self.ports.local(output);
        for input in ones(&new) {
            set(self.out_of.row_mut(self.ports.port(node, input)), local);
        }
        true
    }

    /// Moves the inputs before the far end of `output`; false if impossible.
    fn make_way(&mut self, inputs: &[u64], output: PortId) -> bool {
        let (ports, node, head) = (&self.ports, self.ports.node(output), self.ports.peer(output));
        let place = |port: PortId| self.order.place(port);
        let tails = || ones(inputs).map(|local| ports.port(node, local));
        let Some(last) = tails().max_by_key(|&port| place(port)) else { return true };
        let range = place(head)..=place(last);
        if range.is_empty() {
            return true;
        }
        let between = |port: PortId| range.contains(&place(port));
        self.forward.begin([head]);
        self.backward.begin(tails().filter(|&port| between(port)));
        self.backward.mark(ports.span(node), inputs);
        let is_tail = |port: PortId| ports.node(port) == node && bit(inputs, ports.local(port));
        loop {
            let on = |port: PortId| (ports.node(port), self.out_of.row(port), Side::Far);
            match self.forward.step(ports, on, between, is_tail) {
                Step::Hit => return false,
                Step::Done => {
                    self.forward.found.sort_unstable_by_key(|&port| place(port));
                    self.order.move_behind(last, &self.forward.found);
                    return true;
                }
                Step::More => {}
            }
            let back = |port: PortId| (ports.far(port), self.into.row(ports.peer(port)), Side::Near);
            match self.backward.step(ports, back, between, |port| port == head) {
                Step::Hit => return false,
                Step::Done => {
                    self.backward.found.sort_unstable_by_key(|&port| place(port));
                    self.order.move_before(head, &self.backward.found);
                    return true;
                }
                Step::More => {}
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Near,
    /// At the far ends of its links.
    Far,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    More,
    Done,
    Hit,
}

#[derive(Debug)]
struct Search {
    seen: Vec<u64>,
    touched: Vec<Range<usize>>,
    found: Vec<PortId>,
    next: usize,
}

impl Search {
    fn new(ports: &Ports) -> Self {
        Self { seen: vec![0; ports.spans()], touched: Vec::new(), found: Vec::new(), next: 0 }
    }

    fn begin(&mut self, from: impl IntoIterator<Item = PortId>) {
        self.touched.drain(..).for_each(|span| self.seen[span].fill(0));
        self.found.clear();
        self.found.extend(from);
        self.next = 0;
    }

    fn mark(&mut self, span: Range<usize>, bits: &[u64]) {
        self.touched.push(span.clone());
        self.seen[span].iter_mut().zip(bits).for_each(|(seen, bits)| *seen |= bits);
    }

    /// `next_to` returns a node with a bit per port with an edge.
    fn step<'r>(
        &mut self,
        ports: &Ports,
        next_to: impl Fn(PortId) -> (NodeId, &'r [u64], Side),
        between: impl Fn(PortId) -> bool,
        wanted: impl Fn(PortId) -> bool,
    ) -> Step {
        let Some(&port) = self.found.get(self.next) else { return Step::Done };
        if wanted(port) {
            return Step::Hit;
        }
        self.next += 1;
        let (node, edges, side) = next_to(port);
        let span = ports.span(node);
        self.touched.push(span.clone());
        for (at, (seen, edges)) in self.seen[span].iter_mut().zip(edges).enumerate() {
            let fresh = edges & !*seen;
            *seen |= fresh;
            for local in ones(&[fresh]) {
                let port = ports.port(node, at * 64 + local);
                let port = if side == Side::Far { ports.peer(port) } else { port };
                if wanted(port) {
                    return Step::Hit;
                }
                if between(port) {
                    self.found.push(port);
                }
            }
        }
        Step::More
    }
}

/// Linked list of ports, numbered for comparison.
#[derive(Debug)]
struct List {
    /// Grows along the list.
    place: Vec<u64>,
    next: Vec<u32>,
    previous: Vec<u32>,
}

/// Before the first and behind the last port.
const NONE: u32 = u32::MAX;

/// Distance between neighbours after renumbering.
const GAP: u64 = 1 << 36;

impl List {
    fn new(ports: u32) -> Self {
        let place = (1..=u64::from(ports)).map(|at| at * GAP).collect();
        let next = (1..ports).chain([NONE]).collect();
        let previous = [NONE].into_iter().chain(0..ports.saturating_sub(1)).collect();
        Self { place, next, previous }
    }

    #[inline]
    fn place(&self, port: PortId) -> u64 {
        self.place[port.index()]
    }

    fn move_behind(&mut self, anchor: PortId, ports: &[PortId]) {
        ports.iter().for_each(|&port| self.take_out(port));
        self.put_in(anchor.0, self.next[anchor.index()], ports);
    }

    fn move_before(&mut self, anchor: PortId, ports: &[PortId]) {
        ports.iter().for_each(|&port| self.take_out(port));
        self.put_in(self.previous[anchor.index()], anchor.0, ports);
    }

    fn take_out(&mut self, port: PortId) {
        self.join(self.previous[port.index()], self.next[port.index()]);
    }

    fn put_in(&mut self, before: u32, after: u32, ports: &[PortId]) {
        let low = if before == NONE { 0 } else { self.place[before as usize] };
        let high = if after == NONE { low + GAP * (ports.len() as u64 + 1) } else { self.place[after as usize] };
        let step = (high - low) / (ports.len() as u64 + 1);
        let mut last = before;
        for (port, at) in ports.iter().zip(1..) {
            self.join(last, port.0);
            self.place[port.index()] = low + at * step;
            last = port.0;
        }
        self.join(last, after);
        if step == 0 {
            self.number_anew(ports[0]);
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        if a != NONE {
            self.next[a as usize] = b;
        }
        if b != NONE {
            self.previous[b as usize] = a;
        }
    }

    fn number_anew(&mut self, any: PortId) {
        let mut port = any.0;
        while self.previous[port as usize] != NONE {
            port = self.previous[port as usize];
        }
        let mut place = GAP;
        while port != NONE {
            self.place[port as usize] = place;
            place += GAP;
            port = self.next[port as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use incast_model::fabric::generators::Jellyfish;
    use incast_model::rng::stream;

    use super::*;
    use crate::elp::below;
    use crate::wiring::Wiring;

    fn acyclic(wiring: &Wiring<'_>, turns: &TurnSet) -> bool {
        let mut edges: Vec<(PortId, PortId)> =
            turns.iter().map(|(input, output)| (input, wiring.peer(output))).collect();
        loop {
            let before = edges.len();
            let heads: std::collections::HashSet<PortId> = edges.iter().map(|&(_, head)| head).collect();
            edges.retain(|(tail, _)| heads.contains(tail));
            if edges.is_empty() || edges.len() == before {
                return edges.is_empty();
            }
        }
    }

    #[test]
    fn edges_are_added_exactly_if_they_close_no_cycle() {
        let (mut added, mut refused) = (0, 0);
        for seed in 0..40 {
            let fabric = Jellyfish { seed, ..Jellyfish::new(8, 5, 4) }.build().unwrap();
            let wiring = Wiring::new(&fabric);
            let links: Vec<PortId> =
                wiring.switches().flat_map(|switch| wiring.of(switch)).filter(|&p| wiring.to_switch(p)).collect();
            let mut rng = stream(seed, "test", 0);
            let (mut dag, mut turns) = (Dag::new(wiring.shared()), TurnSet::new(&wiring));
            for _ in 0..300 {
                let output = links[below(links.len(), &mut rng)];
                let inputs = [below(32, &mut rng) as u64];
                let mut more = turns.clone();
                ones(&inputs).for_each(|local| {
                    more.insert(wiring.port(wiring.node(output), local), output);
                });
                let fits = acyclic(&wiring, &more);
                assert_eq!(dag.add(&inputs, output), fits);
                if fits {
                    turns = more;
                    added += 1;
                } else {
                    refused += 1;
                }
            }
        }
        assert!(added > 1000 && refused > 1000, "{added} {refused}");
    }

    #[test]
    fn a_list_is_numbered_anew_when_there_is_no_room() {
        let mut list = List::new(6);
        for _ in 0..100 {
            list.move_behind(PortId(0), &[PortId(5)]);
            list.move_before(PortId(5), &[PortId(4), PortId(3)]);
            let places: Vec<u64> = [0, 4, 3, 5, 1, 2].map(|port| list.place(PortId(port))).into();
            assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
        }
    }
}
