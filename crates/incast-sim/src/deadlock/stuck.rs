//! Paused queues that never send again (docs/design/network.md, "Deadlock detection").
//!
//! Queue v = (A→B, q), paused by B's ingress counter of A's link and priority q, waits for B's queues with the counted packets.
//! It is stuck while they are, if B would send no XON even without its packets outside stuck queues.

use std::collections::{BTreeMap, HashMap};

use incast_model::fabric::{NodeId, PortId};

use super::graph::WaitGraph;
use super::{Paused, Snapshot};
use crate::outcome::QueueRef;

#[derive(Debug, Default)]
pub(super) struct Stuck {
    pub(super) graph: WaitGraph,
    pub(super) hosts: Vec<PortId>,
}

struct Candidate {
    queue: QueueRef,
    at_host: bool,
    counter: QueueRef,
    stuck: bool,
}

struct Held {
    counter: QueueRef,
    queue: usize,
    bytes: u32,
}

pub(crate) fn deadlock(run: &impl Snapshot) -> Option<Vec<QueueRef>> {
    let stuck = stuck(run)?;
    let cycle = stuck.graph.cycles().into_iter().next()?;
    Some(cycle.into_iter().map(|place| stuck.graph.queues[place]).collect())
}

/// By pauses alone: a cycle needs two.
pub(super) fn could_be_stuck(run: &impl Snapshot) -> bool {
    candidates(run).iter().filter(|one| !one.at_host).count() >= 2
}

pub(super) fn stuck(run: &impl Snapshot) -> Option<Stuck> {
    let mut candidates = candidates(run);
    if candidates.iter().filter(|one| !one.at_host).count() < 2 {
        return None;
    }
    let held = held(run, &candidates);
    while free_one(run, &mut candidates, &held) {}
    report(run, &candidates, &held)
}

/// Paused queues in front of a node with a paused queue.
fn candidates(run: &impl Snapshot) -> Vec<Candidate> {
    let candidate = |Paused { queue, at_host }| {
        let counter = QueueRef { port: run.fabric().port(queue.port).peer, priority: queue.priority };
        Candidate { queue, at_host, counter, stuck: true }
    };
    let mut candidates = run.paused().into_iter().map(candidate).collect();
    leave_out_hopeful(run, &mut candidates);
    candidates
}

/// Removes queues in front of a switch without paused queues: cheap, and nearly always all.
fn leave_out_hopeful(run: &impl Snapshot, candidates: &mut Vec<Candidate>) {
    loop {
        let mut waiting: HashMap<NodeId, u32> = HashMap::new();
        for one in candidates.iter().filter(|one| !one.at_host) {
            *waiting.entry(run.fabric().port(one.queue.port).node).or_default() += 1;
        }
        let before = candidates.len();
        candidates.retain(|one| waiting.contains_key(&run.fabric().neighbour(one.queue.port)));
        if candidates.len() == before {
            return;
        }
    }
}

/// By switch: contents of its paused queues.
fn held(run: &impl Snapshot, candidates: &[Candidate]) -> BTreeMap<NodeId, Vec<Held>> {
    let mut numbers: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for (number, candidate) in candidates.iter().enumerate().filter(|(_, one)| !one.at_host) {
        numbers.entry(run.fabric().port(candidate.queue.port).node).or_default().push(number);
    }
    let held_at = |node, numbers: Vec<usize>| {
        let queues: Vec<QueueRef> = numbers.iter().map(|&number| candidates[number].queue).collect();
        let of_queue = |(number, held): (usize, Vec<_>)| {
            held.into_iter().map(move |(counter, bytes)| Held { counter, queue: number, bytes })
        };
        numbers.into_iter().zip(run.held(node, &queues)).flat_map(of_queue).collect()
    };
    numbers.into_iter().map(|(node, numbers)| (node, held_at(node, numbers))).collect()
}

/// False if there is none.
fn free_one(run: &impl Snapshot, candidates: &mut [Candidate], held: &BTreeMap<NodeId, Vec<Held>>) -> bool {
    let mut stuck_bytes: BTreeMap<NodeId, HashMap<QueueRef, u32>> = BTreeMap::new();
    for (node, all) in held {
        let of_node = stuck_bytes.entry(*node).or_default();
        for one in all.iter().filter(|one| candidates[one.queue].stuck) {
            *of_node.entry(one.counter).or_default() += one.bytes;
        }
    }
    let mut freed = false;
    for one in candidates.iter_mut().filter(|one| one.stuck) {
        let node = run.fabric().neighbour(one.queue.port);
        let of_node = stuck_bytes.get(&node);
        one.stuck = of_node.is_some_and(|stuck| !could_resume(run, one, stuck));
        freed |= !one.stuck;
    }
    freed
}

/// True if an XON could follow with only stuck bytes left at the switch.
fn could_resume(run: &impl Snapshot, candidate: &Candidate, stuck: &HashMap<QueueRef, u32>) -> bool {
    let Some(&own) = stuck.get(&candidate.counter) else { return true };
    let ingress = run.ingress(candidate.counter);
    if own == ingress.bytes + ingress.headroom && !ingress.held && !run.is_in_flight(candidate.queue) {
        // An XON follows a packet of the counter (none will leave or come) or the end of a hold. An endless hold is a storm.
        return false;
    }
    let buffer = run.buffer(run.fabric().neighbour(candidate.queue.port));
    let used = stuck.iter().map(|(&counter, &bytes)| buffer.left_of(run.ingress(counter), bytes).1).sum();
    buffer.resumes_with(ingress, own, used)
}

fn report(run: &impl Snapshot, candidates: &[Candidate], held: &BTreeMap<NodeId, Vec<Held>>) -> Option<Stuck> {
    let numbers: Vec<usize> =
        (0..candidates.len()).filter(|&one| candidates[one].stuck && !candidates[one].at_host).collect();
    if numbers.is_empty() {
        return None;
    }
    let place: HashMap<usize, usize> = numbers.iter().enumerate().map(|(place, &number)| (number, place)).collect();
    let waits_for = |number: usize| {
        let node = run.fabric().neighbour(candidates[number].queue.port);
        let there = held.get(&node).into_iter().flatten();
        let own = there.filter(|one| one.counter == candidates[number].counter);
        own.filter_map(|one| place.get(&one.queue).copied()).collect()
    };
    let hosts = candidates.iter().filter(|one| one.stuck && one.at_host).map(|one| one.queue.port).collect();
    let graph = WaitGraph {
        queues: numbers.iter().map(|&number| candidates[number].queue).collect(),
        waits_for: numbers.iter().map(|&number| waits_for(number)).collect(),
    };
    Some(Stuck { graph, hosts })
}
