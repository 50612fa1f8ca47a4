//! Paused queues that never send again.
//!
//! Egress queue v = (A→B, q) is paused by B's ingress counter of A's link and priority q. It waits for the queues of B that
//! hold the counted packets. Suppose that all packets outside stuck queues leave B and its shared buffer. If B still sends no
//! XON then, v is stuck as long as the remaining queues are. The queues stuck for ever are the greatest set in which this holds
//! for each (after the wait-for graph of Hu et al., HotNets 2016): none can move first. Only a watchdog or a link failure ends
//! it.

use std::collections::{BTreeMap, HashMap};

use incast_model::fabric::{NodeId, PortId};

use super::graph::WaitGraph;
use crate::kernel::NONE;
use crate::network::{Far, Network};
use crate::outcome::QueueRef;

/// Queues that never send again.
#[derive(Debug, Default)]
pub(super) struct Stuck {
    /// Egress queues of switches, and the queues that each waits for.
    pub(super) graph: WaitGraph,
    /// Ports of hosts that these queues keep paused.
    pub(super) hosts: Vec<PortId>,
}

struct Candidate {
    queue: QueueRef,
    /// Ingress counter that keeps the queue paused ([`Network::at`]).
    ingress: usize,
    /// If true, packets for that counter are on the wire: one may leave the switch immediately and cause an XON.
    in_flight: bool,
    at_host: bool,
    stuck: bool,
}

/// Bytes of an ingress counter in a candidate queue.
struct Held {
    ingress: usize,
    /// Index of the candidate.
    queue: usize,
    bytes: u32,
}

impl Network {
    /// Returns true if queues could be stuck, judged by pauses alone: a cycle needs two.
    pub(super) fn could_be_stuck(&self) -> bool {
        self.candidates().iter().filter(|one| !one.at_host).count() >= 2
    }

    /// Paused queues that wait for nodes with a paused queue.
    fn candidates(&self) -> Vec<Candidate> {
        let mut candidates = self.paused_queues();
        self.leave_out_hopeful(&mut candidates);
        candidates
    }

    /// Queues stuck for ever; `None` without any.
    pub(super) fn stuck(&self) -> Option<Stuck> {
        let mut candidates = self.candidates();
        if candidates.iter().filter(|one| !one.at_host).count() < 2 {
            return None;
        }
        let mut held: BTreeMap<NodeId, Vec<Held>> = BTreeMap::new();
        for (number, candidate) in candidates.iter().enumerate().filter(|(_, one)| !one.at_host) {
            let node = self.fabric.port(candidate.queue.port).node;
            held.entry(node).or_default().extend(self.held_in(number, candidate.queue));
        }
        while self.free_one(&mut candidates, &held) {}
        self.report(&candidates, &held)
    }

    /// Paused queues with packets to send, without an XON on the way.
    fn paused_queues(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (port, state) in (0u32..).zip(&self.ports) {
            let paused = state.paused & self.config.lossless;
            if paused == 0 || state.down || self.far(port) != Far::Switch {
                continue;
            }
            for priority in (1..8u8).filter(|prio| paused & 1 << prio != 0) {
                let ingress = self.at(state.peer, priority);
                if self.ingress[ingress].paused && (state.at_host || state.waiting & 1 << priority != 0) {
                    found.push(Candidate {
                        queue: QueueRef { port: PortId(port), priority },
                        ingress,
                        in_flight: self.in_flight(port, priority),
                        at_host: state.at_host,
                        stuck: true,
                    });
                }
            }
        }
        found
    }

    /// Returns true if packets of a priority are on the wire out of a port.
    fn in_flight(&self, port: u32, priority: u8) -> bool {
        let mut id = self.ports[port as usize].flight_head;
        while id != NONE {
            let packet = &self.pool[id];
            if packet.prio == priority {
                return true;
            }
            id = packet.next;
        }
        false
    }

    /// Removes queues that wait for a switch without paused queues. Cheap, and nearly always removes all.
    fn leave_out_hopeful(&self, candidates: &mut Vec<Candidate>) {
        loop {
            let mut waiting: HashMap<NodeId, u32> = HashMap::new();
            for one in candidates.iter().filter(|one| !one.at_host) {
                *waiting.entry(self.fabric.port(one.queue.port).node).or_default() += 1;
            }
            let before = candidates.len();
            candidates.retain(|one| waiting.contains_key(&self.fabric.neighbour(one.queue.port)));
            if candidates.len() == before {
                return;
            }
        }
    }

    /// Bytes in a queue, by ingress counter.
    fn held_in(&self, number: usize, queue: QueueRef) -> Vec<Held> {
        let mut bytes: BTreeMap<usize, u32> = BTreeMap::new();
        let mut id = self.queues[self.at(queue.port.0, queue.priority)].head;
        while id != NONE {
            let packet = &self.pool[id];
            *bytes.entry(self.at(packet.in_port, packet.in_prio)).or_default() += u32::from(packet.size);
            id = packet.next;
        }
        bytes.into_iter().map(|(ingress, bytes)| Held { ingress, queue: number, bytes }).collect()
    }

    /// Removes queues that could resume once all other packets than the stuck ones moved; returns false if there are none.
    fn free_one(&self, candidates: &mut [Candidate], held: &BTreeMap<NodeId, Vec<Held>>) -> bool {
        let mut stuck_bytes: BTreeMap<NodeId, HashMap<usize, u32>> = BTreeMap::new();
        for (node, all) in held {
            let of_node = stuck_bytes.entry(*node).or_default();
            for one in all.iter().filter(|one| candidates[one.queue].stuck) {
                *of_node.entry(one.ingress).or_default() += one.bytes;
            }
        }
        let mut freed = false;
        for one in candidates.iter_mut().filter(|one| one.stuck) {
            let node = self.fabric.neighbour(one.queue.port);
            let of_node = stuck_bytes.get(&node);
            one.stuck = of_node.is_some_and(|stuck| !self.could_resume(one, stuck));
            freed |= !one.stuck;
        }
        freed
    }

    /// Returns true if a counter could send an XON when only stuck bytes remain at its switch.
    fn could_resume(&self, candidate: &Candidate, stuck: &HashMap<usize, u32>) -> bool {
        let Some(&own) = stuck.get(&candidate.ingress) else { return true };
        let ingress = &self.ingress[candidate.ingress];
        if own == ingress.bytes + ingress.headroom && !candidate.in_flight && !ingress.held {
            // An XON follows when a packet of the counter leaves (none will), or when a hold ends. A hold that never ends is a
            // storm, not a cycle.
            return false;
        }
        let switch = self.ports[self.ports[candidate.queue.port.index()].peer as usize].owner;
        let buffer = &self.switches[switch as usize].buffer;
        let used = stuck.iter().map(|(&at, &bytes)| buffer.left_of(&self.ingress[at], bytes).1).sum();
        buffer.resumes_with(ingress, own, used)
    }

    fn report(&self, candidates: &[Candidate], held: &BTreeMap<NodeId, Vec<Held>>) -> Option<Stuck> {
        let numbers: Vec<usize> =
            (0..candidates.len()).filter(|&one| candidates[one].stuck && !candidates[one].at_host).collect();
        if numbers.is_empty() {
            return None;
        }
        let place: HashMap<usize, usize> = numbers.iter().enumerate().map(|(place, &number)| (number, place)).collect();
        let waits_for = |number: usize| {
            let node = self.fabric.neighbour(candidates[number].queue.port);
            let there = held.get(&node).into_iter().flatten();
            let own = there.filter(|one| one.ingress == candidates[number].ingress);
            own.filter_map(|one| place.get(&one.queue).copied()).collect()
        };
        let hosts = candidates.iter().filter(|one| one.stuck && one.at_host).map(|one| one.queue.port).collect();
        let graph = WaitGraph {
            queues: numbers.iter().map(|&number| candidates[number].queue).collect(),
            waits_for: numbers.iter().map(|&number| waits_for(number)).collect(),
        };
        Some(Stuck { graph, hosts })
    }
}
