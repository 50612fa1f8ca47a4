//! Matching of senders and receivers, shared by all hosts.

use incast_model::fabric::PortId;

use crate::kernel::{FlowId, IdVec, NONE};

#[derive(Debug, Clone, Copy)]
struct Entry {
    src: u32,
    dst: u32,
    port: PortId,
    /// Time to the last link, in ps.
    away: u64,
    due: u64,
}

const UNKNOWN: Entry = Entry { src: NONE, dst: NONE, port: PortId(NONE), away: 0, due: 0 };

/// Times in ps.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    flows: IdVec<FlowId, Entry>,
    waiting: Vec<FlowId>,
    /// By host; [`FlowId::NONE`]: sends no flow.
    turn_of: Vec<FlowId>,
    /// By port.
    free_at: Vec<u64>,
    /// By host: end of its last packet on its link.
    taken_until: Vec<u64>,
}

fn slot<T: Clone>(table: &mut Vec<T>, index: u32, empty: T) -> &mut T {
    let index = index as usize;
    if table.len() <= index {
        table.resize(index + 1, empty);
    }
    &mut table[index]
}

impl Matching {
    pub(super) fn start(&mut self, flow: FlowId, (src, dst): (u32, u32), port: PortId, away: u64) {
        self.flows.extend_to(flow, || UNKNOWN);
        self.flows[flow] = Entry { src, dst, port, away, due: 0 };
        slot(&mut self.free_at, port.0, 0);
        slot(&mut self.taken_until, src.max(dst), 0);
        slot(&mut self.turn_of, src.max(dst), FlowId::NONE);
    }

    pub(super) fn wait(&mut self, flow: FlowId, packets: u64) {
        self.flows[flow].due = packets;
        self.waiting.push(flow);
    }

    pub(super) fn leave(&mut self, flow: FlowId) -> bool {
        let place = self.waiting.iter().position(|&waiting| waiting == flow);
        place.map(|place| self.waiting.remove(place)).is_some()
    }

    pub(super) fn turn(&self, host: u32, now: u64) -> Option<FlowId> {
        let flow = self.turn_of.get(host as usize).copied().filter(|&flow| flow != FlowId::NONE)?;
        (self.next_time(flow) <= now).then_some(flow)
    }

    /// `time`: the packet's, with its gap.
    pub(super) fn send(&mut self, flow: FlowId, now: u64, time: u64) {
        let entry = &mut self.flows[flow];
        entry.due = entry.due.saturating_sub(1);
        self.free_at[entry.port.index()] = now + time;
        self.taken_until[entry.dst as usize] = now + entry.away + time;
    }

    /// Flows that hosts begin to send, and starts; fewest packets first.
    pub(super) fn choose(&mut self, now: u64) -> Vec<(FlowId, u64)> {
        let Self { flows, waiting, .. } = self;
        waiting.sort_by_key(|&flow| (flows[flow].due, flow));
        let hosts = self.turn_of.len();
        let before = std::mem::replace(&mut self.turn_of, vec![FlowId::NONE; hosts]);
        let mut receives = vec![false; hosts];
        let mut turns = Vec::new();
        for &flow in &self.waiting {
            let Entry { src, dst, .. } = self.flows[flow];
            let (src, dst) = (src as usize, dst as usize);
            if self.turn_of[src] == FlowId::NONE && !receives[dst] {
                (self.turn_of[src], receives[dst]) = (flow, true);
                if before[src] != flow {
                    turns.push((flow, self.next_time(flow).max(now)));
                }
            }
        }
        turns
    }

    /// Earliest time with an idle port and, at the packet's arrival, a free last link.
    fn next_time(&self, flow: FlowId) -> u64 {
        let Entry { dst, port, away, .. } = self.flows[flow];
        self.free_at[port.index()].max(self.taken_until[dst as usize].saturating_sub(away))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching() -> Matching {
        let mut matching = Matching::default();
        for (flow, hosts) in [(0, 2), (1, 2), (0, 1)].into_iter().enumerate() {
            matching.start(FlowId(flow as u32), hosts, PortId(hosts.0), 100);
        }
        matching
    }

    #[test]
    fn fewest_packets_go_first_one_flow_per_host_and_direction() {
        let mut matching = matching();
        [(0, 3), (1, 2), (2, 4)].into_iter().for_each(|(flow, packets)| matching.wait(FlowId(flow), packets));
        assert_eq!(matching.choose(5), [(FlowId(1), 5), (FlowId(2), 5)], "flow 0 waits for its receiver");
        assert_eq!([0, 1, 2].map(|host| matching.turn(host, 5)), [Some(FlowId(2)), Some(FlowId(1)), None]);
        assert!(matching.choose(6).is_empty(), "both go on");
        assert!(matching.leave(FlowId(1)) && !matching.leave(FlowId(1)));
        assert_eq!(matching.choose(7), [(FlowId(0), 7)]);
        assert_eq!(matching.turn(0, 7), Some(FlowId(0)));
    }

    #[test]
    fn a_turn_begins_when_the_last_link_is_free() {
        let mut matching = matching();
        matching.wait(FlowId(1), 1);
        assert_eq!(matching.choose(0), [(FlowId(1), 0)]);
        matching.send(FlowId(1), 0, 40);
        assert_eq!(matching.turn(1, 39), None, "the packet and its gap");
        assert!(matching.leave(FlowId(1)));
        matching.start(FlowId(0), (0, 2), PortId(0), 30);
        matching.wait(FlowId(0), 1);
        assert_eq!(matching.choose(10), [(FlowId(0), 110)], "nearer by 70, after a packet that has passed at 140");
        assert_eq!((matching.turn(0, 109), matching.turn(0, 110)), (None, Some(FlowId(0))));
    }
}
