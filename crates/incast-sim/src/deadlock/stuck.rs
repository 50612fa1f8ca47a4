//! Paused queues that never send again.
//!
//! Egress queue v = (A→B, q) is paused by B's ingress counter of A's link and priority q, and waits for B's queues with the
//! counted packets. Suppose that all packets of B outside stuck queues leave B and its shared buffer. If B still sends no XON,
//! v is stuck as long as those queues are. The greatest set of such queues is stuck for ever (after the wait-for graph of Hu et
//! al., HotNets 2016): none can move first. Only a watchdog or a link failure ends it.

use std::collections::{BTreeMap, HashMap};

use incast_model::fabric::{NodeId, PortId};

use super::graph::WaitGraph;
use crate::kernel::NONE;
use crate::network::{Far, Network};
use crate::outcome::QueueRef;

#[derive(Debug, Default)]
pub(super) struct Stuck {
    /// Egress queues of switches.
    pub(super) graph: WaitGraph,
    /// Host ports paused by these queues.
    pub(super) hosts: Vec<PortId>,
}

struct Candidate {
    queue: QueueRef,
    /// Counter that keeps it paused ([`Network::at`]).
    ingress: usize,
    /// Packets for that counter are on the wire: one may leave immediately and cause an XON.
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
    /// Returns true if queues could be stuck, by pauses alone: a cycle needs two.
    pub(super) fn could_be_stuck(&self) -> bool {
        self.candidates().iter().filter(|one| !one.at_host).count() >= 2
    }

    /// Paused queues in front of a node with a paused queue.
    fn candidates(&self) -> Vec<Candidate> {
        let mut candidates = self.paused_queues();
        self.leave_out_hopeful(&mut candidates);
        candidates
    }

    /// Queues stuck for ever.
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

    /// Removes queues in front of a switch without paused queues: cheap, and nearly always removes all.
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

    /// Removes queues that could resume if all packets but the stuck ones moved; false if none.
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

    /// Returns true if an XON could follow with only the stuck bytes left at the switch.
    fn could_resume(&self, candidate: &Candidate, stuck: &HashMap<usize, u32>) -> bool {
        let Some(&own) = stuck.get(&candidate.ingress) else { return true };
        let ingress = &self.ingress[candidate.ingress];
        if own == ingress.bytes + ingress.headroom && !candidate.in_flight && !ingress.held {
            // An XON follows a packet of the counter (none will leave), or the end of a hold. A hold without end is a storm,
            // not a cycle.
            return false;
        }
        let switch = self.fabric.neighbour(candidate.queue.port);
        let buffer = self.buffers[switch.index()].as_ref().expect("a switch has a buffer");
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
