//! Pairs of VMs.

use std::collections::HashMap;

use incast_model::flow::FlowSet;

use super::{Allocator, Gaps, Pair, PairCount, Receiving, Sending, Shaper, Window};

/// Pairs in order of first flows; by flow, the pairs of data and of answers.
pub(super) fn of(flows: &FlowSet) -> (Vec<Pair>, Vec<[u32; 2]>) {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    let mut of_flows = Vec::with_capacity(flows.flows.len());
    for (flow, spec) in (0u32..).zip(&flows.flows) {
        let ends = [(spec.src.0, spec.dst.0), (spec.dst.0, spec.src.0)];
        let found = ends.map(|(src, dst)| {
            *known.entry((src, dst)).or_insert_with(|| {
                pairs.push(Pair::new(src, dst, flow));
                pairs.len() as u32 - 1
            })
        });
        pairs[found[0] as usize].carries_data = true;
        of_flows.push(found);
    }
    (pairs, of_flows)
}

impl Pair {
    fn new(src: u32, dst: u32, flow: u32) -> Self {
        Self {
            src,
            dst,
            flow,
            carries_data: false,
            shaper: Shaper::default(),
            asleep: Vec::new(),
            send: Sending {
                active: false,
                since: 0,
                last: 0,
                next: 0,
                divided: Window::default(),
                period: Window::default(),
                demand: f64::INFINITY,
                mine: f64::INFINITY,
                theirs: f64::INFINITY,
                offer: f64::INFINITY,
                guarantee: 0.0,
                allocator: Allocator::new(0.0, 0),
                reports: 0,
                handled: 0,
            },
            receive: Receiving {
                active: false,
                since: 0,
                last: 0,
                gaps: Gaps::default(),
                bytes: 0,
                demand: f64::INFINITY,
                limited: false,
                offer: f64::INFINITY,
                reports: 0,
            },
            count: PairCount::default(),
        }
    }
}
