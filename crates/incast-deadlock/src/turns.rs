use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use incast_model::fabric::PortId;

use crate::bits::ones;
use crate::wiring::{Ports, Wiring};

/// Set of turns: (ingress port, egress port) of a switch.
///
/// A row per egress port has a bit per ingress port: 1 MB for 2,000 switches of 64 ports, 64 ports a read.
#[derive(Clone, PartialEq, Eq)]
pub struct TurnSet {
    ports: Arc<Ports>,
    bits: Vec<u64>,
}

impl fmt::Debug for TurnSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|(input, output)| (input.0, output.0))).finish()
    }
}

impl TurnSet {
    /// Empty set.
    pub fn new(wiring: &Wiring<'_>) -> Self {
        Self::of(wiring.shared())
    }

    pub(crate) fn of(ports: &Arc<Ports>) -> Self {
        Self { ports: Arc::clone(ports), bits: vec![0; ports.words()] }
    }

    pub(crate) fn ports(&self) -> &Arc<Ports> {
        &self.ports
    }

    /// Adds a turn; true if it was missing.
    ///
    /// # Panics
    /// If the two are not ports of one switch.
    pub fn insert(&mut self, input: PortId, output: PortId) -> bool {
        assert!(self.is_turn(input, output), "{input:?} and {output:?} are not ports of one switch");
        let (word, bit) = self.place(input, output);
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        new
    }

    /// Removes a turn, if present.
    pub fn remove(&mut self, input: PortId, output: PortId) {
        if self.is_turn(input, output) {
            let (word, bit) = self.place(input, output);
            self.bits[word] &= !bit;
        }
    }

    /// True for a turn in the set, of one switch.
    #[inline]
    pub fn contains(&self, input: PortId, output: PortId) -> bool {
        self.is_turn(input, output) && {
            let (word, bit) = self.place(input, output);
            self.bits[word] & bit != 0
        }
    }

    fn is_turn(&self, input: PortId, output: PortId) -> bool {
        let node = self.ports.node(input);
        node == self.ports.node(output) && !self.ports.is_host(node)
    }

    #[inline]
    fn place(&self, input: PortId, output: PortId) -> (usize, u64) {
        let local = self.ports.local(input);
        (self.ports.row(output).start + local / 64, 1 << (local % 64))
    }

    /// Number of turns.
    pub fn len(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if empty.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|&word| word == 0)
    }

    /// Turns as (ingress port, egress port), by egress port.
    pub fn iter(&self) -> impl Iterator<Item = (PortId, PortId)> + '_ {
        (0..self.ports.len() as u32).map(PortId).flat_map(move |output| {
            let node = self.ports.node(output);
            ones(self.row(output)).map(move |local| (self.ports.port(node, local), output))
        })
    }

    /// Adds all turns of `other`.
    pub fn union(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, other)| *word |= other);
    }

    /// Removes all turns of `other`.
    pub fn subtract(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, other)| *word &= !other);
    }

    #[inline]
    pub(crate) fn row(&self, output: PortId) -> &[u64] {
        &self.bits[self.ports.row(output)]
    }

    #[inline]
    pub(crate) fn words(&self, row: Range<usize>) -> &[u64] {
        &self.bits[row]
    }

    #[inline]
    pub(crate) fn row_mut(&mut self, output: PortId) -> &mut [u64] {
        let row = self.ports.row(output);
        &mut self.bits[row]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_model::fabric::generators::Star;

    #[test]
    fn turns_of_a_switch_with_more_ports_than_a_word_has_bits() {
        let fabric = Star::new(130).build().unwrap();
        let wiring = Wiring::new(&fabric);
        let switch = wiring.switches().next().unwrap();
        let port = |local| wiring.port(switch, local);
        let mut turns = TurnSet::new(&wiring);
        let mut expected: Vec<(PortId, PortId)> =
            [(0, 129), (63, 64), (64, 63), (129, 0), (129, 129)].map(|(a, b)| (port(a), port(b))).into();
        for &(input, output) in &expected {
            assert!(turns.insert(input, output) && !turns.insert(input, output));
        }
        expected.sort_unstable_by_key(|&(input, output)| (output, input));
        assert_eq!(turns.iter().collect::<Vec<_>>(), expected);
        assert_eq!(
            (turns.len(), turns.contains(port(63), port(64)), turns.contains(port(64), port(64))),
            (5, true, false)
        );
        // Ports of a host and a switch are no turn.
        assert!(!turns.contains(PortId(0), port(0)));
        let mut rest = turns.clone();
        rest.remove(port(0), port(129));
        turns.subtract(&rest);
        assert_eq!(turns.iter().collect::<Vec<_>>(), [(port(0), port(129))]);
        turns.union(&rest);
        assert_eq!(turns.len(), 5);
    }
}
