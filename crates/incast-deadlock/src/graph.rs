use crate::watch;

const LOOK_UP: u32 = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Graph {
    /// By vertex, plus one: begin of its edges.
    first: Vec<u32>,
    to: Vec<u32>,
}

impl Graph {
    /// Calls `edges` twice.
    pub(crate) fn new<I: Iterator<Item = (u32, u32)>>(vertices: usize, edges: impl Fn() -> I) -> Self {
        let mut first = vec![0u32; vertices + 2];
        edges().for_each(|(from, _)| first[from as usize + 2] += 1);
        for vertex in 2..first.len() {
            first[vertex] += first[vertex - 1];
        }
        // Filling moves a vertex's begin to its end, the begin of the next.
        let mut to = vec![0; first[first.len() - 1] as usize];
        for (from, end) in edges() {
            let place = &mut first[from as usize + 1];
            to[*place as usize] = end;
            *place += 1;
        }
        first.pop();
        Self { first, to }
    }

    pub(crate) fn vertices(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn edges(&self) -> usize {
        self.to.len()
    }

    #[inline]
    pub(crate) fn next(&self, vertex: u32) -> &[u32] {
        &self.to[self.first[vertex as usize] as usize..self.first[vertex as usize + 1] as usize]
    }

    /// Those with a cycle, each ascending, by lowest vertex: Tarjan (SIAM Journal on Computing 1(2), 1972), without recursion.
    pub(crate) fn components(&self) -> Vec<Vec<u32>> {
        const UNSEEN: u32 = u32::MAX;
        let mut number = vec![UNSEEN; self.vertices()];
        let mut low = vec![0u32; self.vertices()];
        let mut on_stack = vec![false; self.vertices()];
        let (mut stack, mut way, mut count) = (Vec::new(), Vec::<(u32, usize)>::new(), 0);
        let mut components = Vec::new();
        for root in 0..self.vertices() as u32 {
            if number[root as usize] == UNSEEN {
                way.push((root, 0));
            }
            while let Some(&mut (vertex, ref mut edge)) = way.last_mut() {
                let v = vertex as usize;
                if *edge == 0 {
                    (number[v], low[v], on_stack[v]) = (count, count, true);
                    stack.push(vertex);
                    count += 1;
                    if count % LOOK_UP == 0 {
                        watch::check();
                    }
                }
                if let Some(&next) = self.next(vertex).get(*edge) {
                    *edge += 1;
                    let n = next as usize;
                    if number[n] == UNSEEN {
                        way.push((next, 0));
                    } else if on_stack[n] {
                        low[v] = low[v].min(number[n]);
                    }
                    continue;
                }
                way.pop();
                if let Some(&(parent, _)) = way.last() {
                    low[parent as usize] = low[parent as usize].min(low[v]);
                }
                if low[v] == number[v] {
                    let begin = stack.iter().rposition(|&other| other == vertex).expect("it was put there");
                    let component = stack.split_off(begin);
                    component.iter().for_each(|&member| on_stack[member as usize] = false);
                    if component.len() > 1 || self.next(vertex).contains(&vertex) {
                        components.push(component);
                    }
                }
            }
        }
        components.iter_mut().for_each(|component| component.sort_unstable());
        components.sort_unstable();
        components
    }

    /// At most `most`, one per lowest vertex, where each begins.
    pub(crate) fn shortest_cycles(&self, component: &[u32], most: usize) -> Vec<Vec<u32>> {
        let mut search = Search::new(self.vertices(), component);
        // All vertices quickly exclude cycles of length 3; then the first few of length 4 suffice.
        for length in 1..=LOOKED_FOR {
            let cycles = component.iter().filter_map(|&lowest| search.cycle(self, lowest, length));
            let cycles: Vec<Vec<u32>> = cycles.take(most.max(1)).collect();
            if !cycles.is_empty() {
                return cycles.into_iter().take(most).collect();
            }
        }
        let (mut length, mut cycles) = (usize::MAX, Vec::<Vec<u32>>::new());
        for &lowest in component {
            let Some(cycle) = search.cycle(self, lowest, length) else { continue };
            if cycle.len() < length {
                length = cycle.len();
                cycles.clear();
            }
            if cycles.len() < most {
                cycles.push(cycle);
            }
        }
        cycles
    }
}

/// If the shortest is longer, vertices have few edges: a search from each is cheap, and ends when only longer cycles can
/// follow.
const LOOKED_FOR: usize = 6;

struct Search {
    /// By vertex: last search that found it, and its predecessor.
    from: Vec<(u64, u32)>,
    round: u64,
    found: Vec<u32>,
}

/// Exceeds all search numbers: vertices of other components look found.
const OUTSIDE: u64 = u64::MAX;

impl Search {
    fn new(vertices: usize, component: &[u32]) -> Self {
        let mut from = vec![(OUTSIDE, 0); vertices];
        component.iter().for_each(|&member| from[member as usize].0 = 0);
        Self { from, round: 0, found: Vec::new() }
    }

    /// Shortest cycle from `start` over higher vertices.
    fn cycle(&mut self, graph: &Graph, start: u32, longest: usize) -> Option<Vec<u32>> {
        watch::check();
        self.round += 1;
        self.found.clear();
        self.found.push(start);
        // The vertices of the next distance begin at `end`.
        let (mut at, mut end, mut distance) = (0, 1, 0);
        while let Some(&vertex) = self.found.get(at) {
            if at == end {
                (end, distance) = (self.found.len(), distance + 1);
            }
            if distance + 1 > longest {
                return None;
            }
            at += 1;
            for &next in graph.next(vertex) {
                if next == start {
                    return Some(self.way(start, vertex));
                }
                if next > start && self.from[next as usize].0 < self.round {
                    self.from[next as usize] = (self.round, vertex);
                    self.found.push(next);
                }
            }
        }
        None
    }

    fn way(&self, start: u32, mut at: u32) -> Vec<u32> {
        let mut way = vec![at];
        while at != start {
            at = self.from[at as usize].1;
            way.push(at);
        }
        way.reverse();
        way
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(vertices: usize, edges: &[(u32, u32)]) -> Graph {
        Graph::new(vertices, || edges.iter().copied())
    }

    fn all_cycles(graph: &Graph) -> Vec<Vec<u32>> {
        fn go(graph: &Graph, way: &mut Vec<u32>, all: &mut Vec<Vec<u32>>) {
            for &next in graph.next(way[way.len() - 1]) {
                if next == way[0] {
                    all.push(way.clone());
                } else if next > way[0] && !way.contains(&next) {
                    way.push(next);
                    go(graph, way, all);
                    way.pop();
                }
            }
        }
        let mut all = Vec::new();
        (0..graph.vertices() as u32).for_each(|lowest| go(graph, &mut vec![lowest], &mut all));
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn two_rings_and_a_bridge() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 6), (6, 3), (5, 3), (7, 7), (8, 0)];
        let graph = graph(9, &edges);
        assert_eq!((graph.vertices(), graph.edges()), (9, 11));
        let components = graph.components();
        assert_eq!(components, [vec![0, 1, 2], vec![3, 4, 5, 6], vec![7]]);
        assert_eq!(graph.shortest_cycles(&components[0], 9), [vec![0, 1, 2]]);
        assert_eq!(graph.shortest_cycles(&components[1], 9), [vec![3, 4, 5]]);
        assert_eq!(graph.shortest_cycles(&components[2], 9), [vec![7]]);
    }

    #[test]
    fn a_ring_of_a_million_needs_no_deep_stack() {
        let ring = Graph::new(1_000_000, || (0..1_000_000).map(|vertex| (vertex, (vertex + 1) % 1_000_000)));
        let components = ring.components();
        assert_eq!((components.len(), components[0].len()), (1, 1_000_000));
    }

    proptest! {
        #[test]
        fn components_and_shortest_cycles_as_by_brute_force(edges in proptest::collection::vec((0..7u32, 0..7u32), 0..16)) {
            let graph = graph(7, &edges);
            let cycles = all_cycles(&graph);
            let components = graph.components();
            let mut on_cycles: Vec<u32> = cycles.concat();
            on_cycles.sort_unstable();
            on_cycles.dedup();
            let mut members: Vec<u32> = components.concat();
            members.sort_unstable();
            prop_assert_eq!(&members, &on_cycles);
            for component in &components {
                let within: Vec<&Vec<u32>> = cycles.iter().filter(|cycle| component.contains(&cycle[0])).collect();
                prop_assert!(within.iter().all(|cycle| cycle.iter().all(|vertex| component.contains(vertex))));
                let shortest = within.iter().map(|cycle| cycle.len()).min().unwrap();
                let found = graph.shortest_cycles(component, usize::MAX);
                let mut lowest: Vec<u32> = within.iter().filter(|cycle| cycle.len() == shortest).map(|cycle| cycle[0]).collect();
                lowest.dedup();
                prop_assert_eq!(found.iter().map(|cycle| cycle[0]).collect::<Vec<_>>(), lowest);
                prop_assert!(found.iter().all(|cycle| cycles.contains(cycle) && cycle.len() == shortest));
                prop_assert_eq!(graph.shortest_cycles(component, 1).len(), 1);
            }
        }
    }
}
