//! Why a run stopped, and who is concerned: the wait-for graph of paused queues.

use std::collections::HashMap;

use incast_model::fabric::PortId;

use crate::kernel::NONE;
use crate::network::{Far, Network};
use crate::outcome::{FlowRecord, QueueRef, Stop};

/// What ended the event loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    Finished,
    Horizon,
    Budget,
    Interrupted,
    /// Nothing is left to happen, or nothing moves.
    Idle,
}

/// Unfinished flows named at most.
const NAMED: usize = 100;

impl Network {
    /// The halt in the words of the outcome.
    pub(crate) fn explain(&self, halt: Halt) -> Stop {
        let unfinished = (self.flows_due - self.flows_done) as u32;
        match halt {
            Halt::Finished => Stop::Finished,
            Halt::Budget => Stop::Budget { unfinished },
            Halt::Interrupted => Stop::Interrupted { unfinished },
            Halt::Horizon | Halt::Idle => match self.deadlock() {
                Some(cycle) => Stop::Deadlock { cycle, unfinished },
                None if halt == Halt::Horizon => Stop::Horizon { unfinished },
                None => Stop::Starved { flows: self.unfinished_flows(), unfinished },
            },
        }
    }

    /// Those that have started: whatever waits behind a gate is not the cause.
    fn unfinished_flows(&self) -> Vec<u32> {
        let records = self.flow_records.iter().enumerate();
        let unfinished = |record: &FlowRecord| record.start.is_some() && record.finish.is_none();
        records.filter(|(_, record)| unfinished(record)).map(|(flow, _)| flow as u32).take(NAMED).collect()
    }

    /// A cycle of egress queues of switches, each paused and waiting for the next to move.
    ///
    /// Queue v = (A→B, q) waits for queue w of B if B holds A's queue paused and packets that A sent under q sit in w. A
    /// cycle whose members are all paused cannot resolve itself unless a resume is on its way to one of them.
    pub(crate) fn deadlock(&self) -> Option<Vec<QueueRef>> {
        let mut graph: HashMap<QueueRef, Vec<QueueRef>> = HashMap::new();
        for port in 0..self.ports.len() as u32 {
            let state = &self.ports[port as usize];
            for priority in 0..8 {
                let stuck = state.paused & state.waiting & 1 << priority != 0;
                if stuck
                    && !state.at_host
                    && self.far(port) == Far::Switch
                    && self.ingress[self.at(state.peer, priority)].paused
                {
                    graph.insert(QueueRef { port: PortId(port), priority }, self.waits_for(state.peer, priority));
                }
            }
        }
        let mut starts: Vec<QueueRef> = graph.keys().copied().collect();
        starts.sort();
        let mut finished: HashMap<QueueRef, bool> = HashMap::new();
        starts.into_iter().find_map(|start| find_cycle(&graph, start, &mut finished))
    }

    /// Paused egress queues of the node at `in_port` that hold packets which came in there under `priority`.
    fn waits_for(&self, in_port: u32, priority: u8) -> Vec<QueueRef> {
        let node = self.fabric.port(PortId(in_port)).node;
        let mut queues = Vec::new();
        for port in self.fabric.ports_of(node) {
            let state = &self.ports[port.index()];
            for out in (1..8u8).filter(|out| state.waiting & state.paused & 1 << out != 0) {
                let mut id = self.queues[self.at(port.0, out)].head;
                while id != NONE {
                    let packet = &self.pool[id];
                    if packet.in_port == in_port && packet.in_prio == priority {
                        queues.push(QueueRef { port, priority: out });
                        break;
                    }
                    id = packet.next;
                }
            }
        }
        queues
    }
}

/// Depth-first search for a cycle from `start`, over queues not yet `finished` (true: on the current path).
fn find_cycle(
    graph: &HashMap<QueueRef, Vec<QueueRef>>,
    start: QueueRef,
    on_path: &mut HashMap<QueueRef, bool>,
) -> Option<Vec<QueueRef>> {
    if on_path.contains_key(&start) {
        return None;
    }
    let mut path: Vec<(QueueRef, usize)> = vec![(start, 0)];
    on_path.insert(start, true);
    while let Some((queue, edge)) = path.last_mut() {
        let Some(&next) = graph.get(queue).and_then(|edges| edges.get(*edge)) else {
            on_path.insert(*queue, false);
            path.pop();
            continue;
        };
        *edge += 1;
        match on_path.get(&next) {
            Some(true) => {
                let first = path.iter().position(|(queue, _)| *queue == next)?;
                return Some(path[first..].iter().map(|(queue, _)| *queue).collect());
            }
            Some(false) => {}
            None => {
                on_path.insert(next, true);
                path.push((next, 0));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(port: u32) -> QueueRef {
        QueueRef { port: PortId(port), priority: 3 }
    }

    #[test]
    fn finds_the_cycle_and_only_the_cycle() {
        let edges = |list: &[(u32, &[u32])]| -> HashMap<_, _> {
            list.iter().map(|(from, to)| (queue(*from), to.iter().map(|&t| queue(t)).collect())).collect()
        };
        let graph = edges(&[(0, &[1]), (1, &[2, 3]), (2, &[]), (3, &[4]), (4, &[1])]);
        let cycle = find_cycle(&graph, queue(0), &mut HashMap::new());
        assert_eq!(cycle, Some(vec![queue(1), queue(3), queue(4)]));
        let open = edges(&[(0, &[1]), (1, &[2]), (2, &[])]);
        assert_eq!(find_cycle(&open, queue(0), &mut HashMap::new()), None);
    }
}
