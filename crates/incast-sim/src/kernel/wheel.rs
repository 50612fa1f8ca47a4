//! Event queue: a wheel of short slots for the near future, a heap for the rest.
//!
//! Most events lie one serialisation and one propagation ahead: a push is a store into a slot's list, sorted when time reaches
//! it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Event;
use super::kind::NONE;

const SLOTS: usize = 1 << 13;

#[derive(Debug, Clone, Copy)]
struct Node {
    event: Event,
    next: u32,
}

#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Slot width is 2^shift picoseconds.
    shift: u32,
    /// Slot number (time >> shift) of `current`.
    cursor: u64,
    /// Events of the present and earlier slots; latest first.
    current: Vec<Event>,
    /// First node of a slot's list, by slot number modulo [`SLOTS`].
    heads: Vec<u32>,
    /// As bits: slots with events.
    occupied: Vec<u64>,
    nodes: Vec<Node>,
    free: u32,
    far: BinaryHeap<Reverse<Event>>,
}

impl EventQueue {
    pub(crate) fn new(shift: u32) -> Self {
        Self {
            shift,
            cursor: 0,
            current: Vec::with_capacity(64),
            heads: vec![NONE; SLOTS],
            occupied: vec![0; SLOTS / 64],
            nodes: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        let slot = event.time >> self.shift;
        if slot <= self.cursor {
            let at = self.current.partition_point(|other| other.order() > event.order());
            self.current.insert(at, event);
        } else if slot - self.cursor < SLOTS as u64 {
            let index = slot as usize % SLOTS;
            let head = self.heads[index];
            self.heads[index] = self.node(event, head);
            self.occupied[index / 64] |= 1 << (index % 64);
        } else {
            self.far.push(Reverse(event));
        }
    }

    #[inline]
    fn node(&mut self, event: Event, next: u32) -> u32 {
        let id = self.free;
        if id == NONE {
            self.nodes.push(Node { event, next });
            return self.nodes.len() as u32 - 1;
        }
        let node = &mut self.nodes[id as usize];
        self.free = node.next;
        *node = Node { event, next };
        id
    }

    #[inline]
    pub(crate) fn pop_current(&mut self) -> Option<Event> {
        self.current.pop()
    }

    /// False if no slot has events.
    pub(crate) fn advance(&mut self) -> bool {
        let near = self.next_slot();
        let far = self.far.peek().map(|Reverse(event)| event.time >> self.shift);
        let slot = match (near, far) {
            (None, None) => return false,
            (Some(near), None) => near,
            (None, Some(far)) => far,
            (Some(near), Some(far)) => near.min(far),
        };
        self.cursor = slot;
        if near == Some(slot) {
            self.unload(slot as usize % SLOTS);
        }
        while let Some(Reverse(event)) = self.far.peek()
            && event.time >> self.shift == slot
        {
            self.current.push(*event);
            self.far.pop();
        }
        self.current.sort_unstable_by_key(|event| Reverse(event.order()));
        true
    }

    #[inline]
    fn unload(&mut self, index: usize) {
        let mut id = std::mem::replace(&mut self.heads[index], NONE);
        self.occupied[index / 64] &= !(1 << (index % 64));
        while id != NONE {
            let node = &mut self.nodes[id as usize];
            self.current.push(node.event);
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = id;
            id = next;
        }
    }

    #[inline]
    fn next_slot(&self) -> Option<u64> {
        let start = (self.cursor + 1) as usize % SLOTS;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        for _ in 0..=SLOTS / 64 {
            if bits != 0 {
                let index = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (index + SLOTS - start) % SLOTS;
                return Some(self.cursor + 1 + ahead as u64);
            }
            word = (word + 1) % (SLOTS / 64);
            bits = self.occupied[word];
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use incast_model::fabric::PortId;

    use proptest::prelude::*;

    use super::*;
    use crate::kernel::Target;

    fn pop(wheel: &mut EventQueue) -> Option<Event> {
        wheel.pop_current().or_else(|| if wheel.advance() { wheel.pop_current() } else { None })
    }

    proptest! {
        /// Same order as a heap.
        #[test]
        fn pops_in_order(steps in prop::collection::vec((0u64..400_000_000, 0u32..5, any::<bool>()), 1..400), shift in 8u32..16) {
            let mut wheel = EventQueue::new(shift);
            let mut heap = BinaryHeap::new();
            let mut now = 0;
            for (delay, port, near) in steps {
                let delay = if near { delay % 3000 } else { delay };
                let event = Event::new(now + delay, 0, Target::Port(PortId(port)));
                wheel.push(event);
                heap.push(Reverse(event));
                if port < 2 {
                    let got = pop(&mut wheel);
                    prop_assert_eq!(got, heap.pop().map(|Reverse(event)| event));
                    now = got.map_or(now, |event| event.time);
                }
            }
            while let Some(Reverse(event)) = heap.pop() {
                prop_assert_eq!(pop(&mut wheel), Some(event));
            }
            prop_assert_eq!(pop(&mut wheel), None);
        }
    }
}
