//! Wait-for graph of stuck queues, and its cycles.

use std::collections::VecDeque;

use crate::outcome::QueueRef;

/// Stuck queues in order; indices of those that each waits for.
#[derive(Debug, Default)]
pub(super) struct WaitGraph {
    pub(super) queues: Vec<QueueRef>,
    pub(super) waits_for: Vec<Vec<usize>>,
}

impl WaitGraph {
    /// One shortest cycle per strongly connected set, from its first queue.
    pub(super) fn cycles(&self) -> Vec<Vec<usize>> {
        let mut waited_for_by = vec![Vec::new(); self.queues.len()];
        for (place, all) in self.waits_for.iter().enumerate() {
            all.iter().for_each(|&other| waited_for_by[other].push(place));
        }
        let mut assigned = vec![false; self.queues.len()];
        let mut cycles = Vec::new();
        for start in 0..self.queues.len() {
            if assigned[start] {
                continue;
            }
            let (ahead, behind) = (reached(&self.waits_for, start), reached(&waited_for_by, start));
            let set: Vec<usize> = (0..self.queues.len()).filter(|&one| ahead[one] && behind[one]).collect();
            set.iter().for_each(|&one| assigned[one] = true);
            let shortest = set.iter().filter_map(|&one| self.shortest_cycle(one)).min_by_key(Vec::len);
            cycles.extend(shortest);
        }
        cycles
    }

    fn shortest_cycle(&self, start: usize) -> Option<Vec<usize>> {
        let mut from = vec![usize::MAX; self.queues.len()];
        let mut ahead = VecDeque::from([start]);
        while let Some(at) = ahead.pop_front() {
            for &next in &self.waits_for[at] {
                if next == start {
                    let mut cycle = vec![at];
                    while cycle[cycle.len() - 1] != start {
                        cycle.push(from[cycle[cycle.len() - 1]]);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if from[next] == usize::MAX {
                    from[next] = at;
                    ahead.push_back(next);
                }
            }
        }
        None
    }
}

/// Places reachable in one or more steps; `start` only if on a cycle.
fn reached(steps: &[Vec<usize>], start: usize) -> Vec<bool> {
    let mut seen = vec![false; steps.len()];
    let mut ahead = vec![start];
    while let Some(at) = ahead.pop() {
        for &next in &steps[at] {
            if !std::mem::replace(&mut seen[next], true) {
                ahead.push(next);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use incast_model::fabric::PortId;

    use super::*;

    fn graph(waits_for: &[&[usize]]) -> WaitGraph {
        WaitGraph {
            queues: (0..waits_for.len() as u32).map(|port| QueueRef { port: PortId(port), priority: 3 }).collect(),
            waits_for: waits_for.iter().map(|all| all.to_vec()).collect(),
        }
    }

    #[test]
    fn names_the_cycle_and_not_who_waits_for_it() {
        assert_eq!(graph(&[&[1], &[2, 3], &[], &[4], &[1]]).cycles(), [vec![1, 3, 4]]);
        assert!(graph(&[&[1], &[2], &[]]).cycles().is_empty());
        assert!(graph(&[]).cycles().is_empty());
    }

    #[test]
    fn names_the_shortest_cycle_of_each_set() {
        // Shortest cycle of 0 to 3: 1, 2. Another set: 4, 5.
        let cycles = graph(&[&[1], &[2], &[3, 1], &[0, 4], &[5], &[4]]).cycles();
        assert_eq!(cycles, [vec![1, 2], vec![4, 5]]);
    }
}
