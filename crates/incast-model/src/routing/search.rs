use super::links::{End, Links};
use crate::fabric::NodeId;

const WORDS: usize = 8;

/// Destinations that are searched at once. Their groups in a row of the table fill a page of memory.
pub(super) const TOGETHER: usize = 64 * WORDS;

/// A bit for each destination.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Targets([u64; WORDS]);

impl Targets {
    fn one(number: usize) -> Self {
        let mut one = Self::default();
        one.0[number / 64] = 1 << (number % 64);
        one
    }

    pub(super) const fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    /// Calls `each` with the number of every destination.
    #[inline]
    pub(super) fn each(&self, mut each: impl FnMut(usize)) {
        for (word, &bits) in self.0.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                each(64 * word + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }
}

/// Breadth-first searches from many destinations at once, as in "The More the Merrier: Efficient Multi-Source Graph Traversal"
/// (Then et al., VLDB 2014).
pub(super) struct Search<'a> {
    links: &'a Links,
    /// By end: destinations to which its port is a next hop.
    towards: Vec<Targets>,
    /// By node: destinations that it leads to.
    reached: Vec<Targets>,
    pub(super) front: Front,
    next: Front,
}

/// Nodes at one distance, and the destinations that they have it from.
pub(super) struct Front {
    pub(super) nodes: Vec<NodeId>,
    /// By node.
    of: Vec<Targets>,
}

impl Front {
    fn new(nodes: usize) -> Self {
        Self { nodes: Vec::new(), of: vec![Targets::default(); nodes] }
    }

    pub(super) fn add(&mut self, node: NodeId, targets: &Targets) {
        let of = &mut self.of[node.index()];
        if *of == Targets::default() {
            self.nodes.push(node);
        }
        of.add(targets);
    }

    pub(super) fn of(&self, node: NodeId) -> Targets {
        self.of[node.index()]
    }

    fn clear(&mut self) {
        for node in self.nodes.drain(..) {
            self.of[node.index()] = Targets::default();
        }
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(links: &'a Links) -> Self {
        let nodes = links.nodes();
        let (towards, reached) = (vec![Targets::default(); links.ends()], vec![Targets::default(); nodes]);
        Self { links, towards, reached, front: Front::new(nodes), next: Front::new(nodes) }
    }

    /// Destinations of each end of a node.
    pub(super) fn towards(&self, node: NodeId) -> &[Targets] {
        &self.towards[self.links.range(node)]
    }

    pub(super) fn shortest(&mut self, targets: &[NodeId]) {
        self.begin(targets);
        while !self.front.nodes.is_empty() {
            self.step(|_| true);
        }
    }

    /// Forgets the last search.
    pub(super) fn begin(&mut self, targets: &[NodeId]) {
        self.towards.fill(Targets::default());
        self.reached.fill(Targets::default());
        for (number, &target) in targets.iter().enumerate() {
            self.front.add(target, &Targets::one(number));
            self.reached[target.index()].add(&Targets::one(number));
        }
    }

    /// Goes on by one hop, over `ends` to nodes that are not reached yet; hosts do not forward.
    pub(super) fn step(&mut self, ends: impl Fn(&End) -> bool) {
        for &node in &self.front.nodes {
            let targets = self.front.of(node);
            for end in self.links.of(node).iter().filter(|end| ends(end)) {
                let new = targets.without(&self.reached[end.neighbour.index()]);
                if new != Targets::default() {
                    self.towards[end.back as usize].add(&new);
                    self.next.add(end.neighbour, &new);
                }
            }
        }
        self.front.clear();
        for node in self.next.nodes.drain(..) {
            let new = std::mem::take(&mut self.next.of[node.index()]);
            self.reached[node.index()].add(&new);
            if self.links.is_switch(node) {
                self.front.add(node, &new);
            }
        }
    }
}
