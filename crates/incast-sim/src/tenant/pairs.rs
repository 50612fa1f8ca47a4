use std::collections::HashMap;

use incast_model::flow::FlowSet;

use super::{Receiving, Sending};
use crate::kernel::{FlowId, IdVec};

#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    /// Number among the source's pairs to send, and the destination's to receive.
    pub(crate) at_src: u32,
    pub(crate) at_dst: u32,
    /// Any flow of the pair, for messages.
    pub(crate) flow: FlowId,
    pub(crate) carries_data: bool,
    pub(crate) send: Sending,
    pub(crate) receive: Receiving,
}

/// In order of first flows; by flow, pairs of data and answers.
pub(super) fn of(flows: &FlowSet, hosts: usize) -> (Vec<Pair>, IdVec<FlowId, [u32; 2]>) {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    let (mut sends, mut receives) = (vec![0; hosts], vec![0; hosts]);
    let next = |numbers: &mut Vec<u32>, host: u32| {
        numbers[host as usize] += 1;
        numbers[host as usize] - 1
    };
    let mut of_flows = IdVec::new();
    for (flow, spec) in (0..).map(FlowId).zip(&flows.flows) {
        let ends = [(spec.src.0, spec.dst.0), (spec.dst.0, spec.src.0)];
        let found = ends.map(|(src, dst)| {
            *known.entry((src, dst)).or_insert_with(|| {
                pairs.push(Pair {
                    src,
                    dst,
                    at_src: next(&mut sends, src),
                    at_dst: next(&mut receives, dst),
                    flow,
                    carries_data: false,
                    send: Sending::default(),
                    receive: Receiving::default(),
                });
                pairs.len() as u32 - 1
            })
        });
        pairs[found[0] as usize].carries_data = true;
        of_flows.push(found);
    }
    (pairs, of_flows)
}
