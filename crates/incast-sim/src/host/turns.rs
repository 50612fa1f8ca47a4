use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::kernel::{FlowId, PairId};

/// Ready queue pairs, served in rounds in order of their flows.
///
/// A paced flow keeps its place (docs/design/network.md, "Host scheduling").
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Flows and their queue pairs.
    round: BinaryHeap<Reverse<(FlowId, PairId)>>,
    next: BinaryHeap<Reverse<(FlowId, PairId)>>,
    /// First flow that can still be served in this round.
    from: FlowId,
}

impl Turns {
    #[inline]
    pub(crate) fn push(&mut self, flow: FlowId, pair: PairId) {
        let turns = if flow >= self.from { &mut self.round } else { &mut self.next };
        turns.push(Reverse((flow, pair)));
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<PairId> {
        self.round.peek().or_else(|| self.next.peek()).map(|Reverse((_, pair))| *pair)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<PairId> {
        self.round.pop().or_else(|| self.next.pop()).map(|Reverse((_, pair))| pair)
    }

    pub(crate) fn remove(&mut self, flow: FlowId) {
        self.round.retain(|Reverse((one, _))| *one != flow);
        self.next.retain(|Reverse((one, _))| *one != flow);
    }

    #[inline]
    pub(crate) fn served(&mut self, flow: FlowId) {
        if flow < self.from {
            // The pair was first of the next round.
            debug_assert!(self.round.is_empty());
            std::mem::swap(&mut self.round, &mut self.next);
        }
        self.from = FlowId(flow.0 + 1);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (FlowId, PairId)> + '_ {
        self.round.iter().chain(&self.next).map(|Reverse(one)| *one)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.round.is_empty() && self.next.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes a flow ready, with a queue pair of the same number.
    fn push(turns: &mut Turns, flow: u32) {
        turns.push(FlowId(flow), PairId(flow));
    }

    fn serve(turns: &mut Turns) -> Option<u32> {
        let PairId(flow) = turns.pop()?;
        turns.served(FlowId(flow));
        Some(flow)
    }

    #[test]
    fn turns_go_by_flow() {
        let mut turns = Turns::default();
        [4, 1, 9].into_iter().for_each(|flow| push(&mut turns, flow));
        assert_eq!(serve(&mut turns), Some(1));
        push(&mut turns, 1);
        // Late, but before its turn.
        push(&mut turns, 2);
        assert_eq!((turns.first(), serve(&mut turns), serve(&mut turns)), (Some(PairId(2)), Some(2), Some(4)));
        // Too late for this round.
        push(&mut turns, 3);
        assert_eq!([9, 1, 3].map(Some), [0; 3].map(|_| serve(&mut turns)));
        assert!(turns.is_empty() && serve(&mut turns).is_none());
    }

    proptest! {
        /// Compares with a scan of all flows from the one after the last served.
        #[test]
        fn as_by_a_scan(steps in prop::collection::vec(prop::option::weighted(0.6, 0u32..12), 1..200)) {
            let (mut turns, mut ready, mut last) = (Turns::default(), [false; 12], 11);
            for step in steps {
                match step {
                    Some(flow) if ready[flow as usize] => {}
                    Some(flow) => {
                        ready[flow as usize] = true;
                        push(&mut turns, flow);
                    }
                    None => {
                        let expected = (1..=12).map(|ahead| (last + ahead) % 12).find(|&flow| ready[flow]);
                        prop_assert_eq!(serve(&mut turns).map(|flow| flow as usize), expected);
                        if let Some(flow) = expected {
                            (ready[flow], last) = (false, flow);
                        }
                    }
                }
            }
        }
    }
}
