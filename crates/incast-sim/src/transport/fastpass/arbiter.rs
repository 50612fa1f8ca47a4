//! Arbiter: at most one packet per slot for each source and destination (section 3; YAPS, `ext/fastpasshost.cpp`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::params::FastpassOrder;
use super::paths::Ways;
use crate::kernel::FlowId;

#[derive(Debug, Clone, Copy)]
struct Demand {
    src: u32,
    dst: u32,
    left: u64,
    /// Order of first requests, for ties.
    rank: u64,
    /// Total of slots granted at its last one.
    served: u64,
    /// Last epoch with slots, and their number.
    given: (u64, u64),
}

#[derive(Debug, Default)]
pub(super) struct Arbiter {
    demands: HashMap<FlowId, Demand>,
    waiting: BTreeSet<(u64, u64, FlowId)>,
    order: FastpassOrder,
    asked: u64,
    slots: u64,
    pub(super) requests: u64,
    pub(super) ways: Option<Ways>,
    used_src: Vec<bool>,
    used_dst: Vec<bool>,
}

/// By source: slots and flows; a flow's high half: its packet's path, from 1, or 0 for any.
pub(super) type Schedules = BTreeMap<u32, Vec<(u64, u64)>>;

impl Arbiter {
    pub(super) fn new(order: FastpassOrder, hosts: usize) -> Self {
        Self { order, used_src: vec![false; hosts], used_dst: vec![false; hosts], ..Self::default() }
    }

    fn key(&self, flow: FlowId, demand: &Demand) -> (u64, u64, FlowId) {
        match self.order {
            FastpassOrder::Srpt => (demand.left, demand.rank, flow),
            FastpassOrder::LeastRecent => (demand.served, demand.rank, flow),
        }
    }

    /// Sets a flow's packets to place; 0: none. `reminds`: epoch in which a flow without slots asks again; slots of the last
    /// two epochs may be on their way.
    pub(super) fn request(&mut self, flow: FlowId, (src, dst): (u32, u32), mut left: u64, reminds: Option<u64>) {
        self.requests += 1;
        if let Some(&known) = self.demands.get(&flow) {
            self.waiting.remove(&self.key(flow, &known));
            let (epoch, slots) = known.given;
            if reminds.is_some_and(|now| slots > 0 && epoch + 2 > now) {
                left = left.min(known.left);
            }
        }
        if left == 0 {
            // If its last slots are lost, it reminds again.
            if reminds.is_none() {
                self.demands.remove(&flow);
            }
            return;
        }
        self.asked += 1;
        let fresh = Demand { src, dst, left, rank: self.asked, served: 0, given: (0, 0) };
        let demand = self.demands.entry(flow).or_insert(fresh);
        demand.left = left;
        let demand = *demand;
        self.waiting.insert(self.key(flow, &demand));
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn fill(&mut self, slots: u32, now: u64) -> Schedules {
        self.requests = 0;
        let mut schedules = Schedules::new();
        for slot in 0..u64::from(slots) {
            let given = self.matching();
            for &(key, edge) in &given {
                let flow = key.2;
                self.waiting.remove(&key);
                self.slots += 1;
                let demand = self.demands.get_mut(&flow).expect("flows that wait are known");
                demand.left -= 1;
                demand.served = self.slots;
                let given = if demand.given.0 == now { demand.given.1 } else { 0 };
                demand.given = (now, given + 1);
                let way = edge.and_then(|edge| Some(self.ways.as_ref()?.way(edge) + 1)).unwrap_or(0);
                schedules.entry(demand.src).or_default().push((slot, u64::from(way) << 32 | u64::from(flow.0)));
                let demand = *demand;
                (self.used_src[demand.src as usize], self.used_dst[demand.dst as usize]) = (false, false);
                if demand.left > 0 {
                    self.waiting.insert(self.key(flow, &demand));
                }
            }
        }
        schedules
    }

    /// A greedy maximal matching, numbered where a packet needs a path.
    fn matching(&mut self) -> Vec<((u64, u64, FlowId), Option<usize>)> {
        let mut given = Vec::new();
        if let Some(ways) = &mut self.ways {
            ways.clear();
        }
        for &key in &self.waiting {
            let demand = &self.demands[&key.2];
            let (src, dst) = (demand.src as usize, demand.dst as usize);
            if self.used_src[src] || self.used_dst[dst] {
                continue;
            }
            let edge = self.ways.as_mut().map_or(Ok(None), |ways| ways.add(demand.src, demand.dst));
            if let Ok(edge) = edge {
                (self.used_src[src], self.used_dst[dst]) = (true, true);
                given.push((key, edge));
            }
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arbiter(order: FastpassOrder) -> Arbiter {
        Arbiter::new(order, 8)
    }

    #[test]
    fn the_shortest_goes_first_and_others_fill_in() {
        let mut arbiter = arbiter(FastpassOrder::Srpt);
        arbiter.request(FlowId(0), (0, 1), 5, None);
        arbiter.request(FlowId(1), (0, 2), 2, None);
        arbiter.request(FlowId(2), (3, 2), 4, None);
        arbiter.request(FlowId(3), (3, 1), 9, None);
        let schedules = arbiter.fill(4, 0);
        assert_eq!(schedules[&0], [(0, 1), (1, 1), (2, 0), (3, 0)]);
        assert_eq!(schedules[&3], [(0, 3), (1, 3), (2, 2), (3, 2)]);
        arbiter.request(FlowId(0), (0, 1), 0, None);
        assert_eq!(arbiter.fill(9, 0)[&3], [(0, 2), (1, 2), (2, 3), (3, 3), (4, 3), (5, 3), (6, 3), (7, 3), (8, 3)]);
        assert!(arbiter.is_idle() && arbiter.fill(8, 0).is_empty());
    }

    #[test]
    fn the_least_recently_served_takes_turns() {
        let mut arbiter = arbiter(FastpassOrder::LeastRecent);
        arbiter.request(FlowId(7), (0, 1), 5, None);
        arbiter.request(FlowId(8), (2, 1), 50, None);
        let schedules = arbiter.fill(6, 0);
        assert_eq!(schedules[&0], [(0, 7), (2, 7), (4, 7)]);
        assert_eq!(schedules[&2], [(1, 8), (3, 8), (5, 8)]);
    }

    #[test]
    fn a_request_counts_anew() {
        let mut arbiter = arbiter(FastpassOrder::Srpt);
        arbiter.request(FlowId(0), (0, 1), 5, None);
        arbiter.request(FlowId(0), (0, 1), 2, None);
        assert_eq!(arbiter.requests, 2);
        assert_eq!(arbiter.fill(8, 0)[&0].len(), 2);
        assert_eq!(arbiter.requests, 0);
    }

    #[test]
    fn a_reminder_does_not_ask_for_slots_on_their_way() {
        let mut arbiter = arbiter(FastpassOrder::Srpt);
        arbiter.request(FlowId(0), (0, 1), 10, None);
        assert_eq!(arbiter.fill(8, 5)[&0].len(), 8);
        arbiter.request(FlowId(0), (0, 1), 10, Some(5));
        assert_eq!(arbiter.fill(8, 6)[&0].len(), 2);
        arbiter.request(FlowId(0), (0, 1), 10, Some(7));
        assert!(arbiter.fill(8, 7).is_empty());
        // The slots would have arrived.
        arbiter.request(FlowId(0), (0, 1), 10, Some(8));
        assert_eq!(arbiter.fill(8, 8)[&0].len(), 8);
    }

    proptest! {
        #[test]
        fn matchings_are_maximal(asked in prop::collection::vec((0u32..8, 0u32..8, 1u64..12), 1..40)) {
            let mut arbiter = arbiter(FastpassOrder::Srpt);
            let mut left: Vec<u64> = asked.iter().map(|(.., left)| *left).collect();
            for (flow, &(src, dst, packets)) in asked.iter().enumerate() {
                arbiter.request(FlowId(flow as u32), (src, dst), packets, None);
            }
            let schedules = arbiter.fill(8, 0);
            for slot in 0..8 {
                let given: Vec<usize> = schedules
                    .values()
                    .flatten()
                    .filter(|(at, _)| *at == slot)
                    .map(|(_, flow)| *flow as usize)
                    .collect();
                let busy = |src: bool| -> Vec<u32> {
                    given.iter().map(|&flow| if src { asked[flow].0 } else { asked[flow].1 }).collect()
                };
                for hosts in [busy(true), busy(false)] {
                    prop_assert_eq!(hosts.iter().collect::<BTreeSet<_>>().len(), hosts.len());
                }
                for (flow, (src, dst, _)) in asked.iter().enumerate() {
                    let fits = left[flow] > 0 && !busy(true).contains(src) && !busy(false).contains(dst);
                    prop_assert!(!fits, "flow {} was left out of slot {}", flow, slot);
                }
                for flow in given {
                    prop_assert!(left[flow] > 0);
                    left[flow] -= 1;
                }
            }
        }
    }
}
