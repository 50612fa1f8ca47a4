//! Batches: windows that run one after the other, without decisions between them.

use incast_model::flow::Flow;

use super::Nodes;
use super::host::Hosts;
use super::partition::Task;
use super::plan::Plan;
use crate::kernel::FlowId;
use crate::plan::Network;
use crate::progress::Limits;

/// So many events take some milliseconds, after which a user sees progress and can interrupt (our choice).
const EVENTS: u64 = 1 << 17;
/// In windows that partitions can run without each other.
const MOST_ROUNDS: u32 = 64;
/// If traffic begins within a batch: packets of 1 kB on all links (our choice).
const MOST_PACKETS: u128 = 1 << 20;

/// Windows between two searches for a flow that ends late: so many, or one for [`FLOWS`] flows if that is more (our choice).
const SEARCH: u32 = 64;
const FLOWS: u32 = 16;

#[derive(Debug)]
pub(super) struct Batches {
    /// Windows of a batch; 1 if nodes may need the thread between windows after any window.
    most: u64,
    /// A flow that ends late: at first, the one that starts last.
    lasting: FlowId,
    /// Windows until a search may look for a later one.
    until_search: u32,
    /// Windows of the last batch, and events before it.
    windows: u32,
    events: u64,
}

impl Batches {
    /// `apart`: windows that partitions can run without each other.
    pub(super) fn new(network: &Network, apart: u32) -> Self {
        let (flows, order) = (&network.flows, &network.order);
        let gates = !flows.rounds.is_empty() || !(flows.gates.is_empty() || order.gates_are_local);
        let last = network.flow_ids().max_by_key(|&flow| network.flow(flow).start);
        let decides = gates || order.hosts_in_order || network.switches.isolation.is_some() || network.faults.is_some();
        let most = (MOST_PACKETS / capacity(network).max(1)).clamp(1, u128::from(MOST_ROUNDS * apart)) as u64;
        Self {
            most: if decides { 1 } else { most },
            lasting: last.unwrap_or(FlowId::NONE),
            until_search: 0,
            windows: 1,
            events: 0,
        }
    }
}

/// Packets of 1 kB that all links together carry in a window.
fn capacity(network: &Network) -> u128 {
    let fabric = &network.fabric;
    let rates: u128 = network.ports.ids().map(|port| u128::from(fabric.rate(port).0)).sum();
    rates * u128::from(network.order.window) / 8_000_000_000_000_000
}

impl Nodes {
    /// Number of windows from `begin` on after which nothing is to be decided; 1 if unknown. `moved`: time of the last arrival
    /// or start.
    pub(super) fn windows_of_batch(&mut self, limits: &Limits, (begin, end): (u64, u64), moved: u64) -> u32 {
        let most = u64::from(self.partitions.windows_together()).min(self.batches.most);
        if most == 1 || limits.events != u64::MAX {
            return 1;
        }
        let events = self.partitions.events();
        let each = (events - self.batches.events) / u64::from(self.batches.windows);
        let quiet = self.next_action().time.min(self.books.detector.next).min(limits.horizon);
        let quiet = quiet.min(moved.saturating_add(limits.stall));
        let free = |until: u64| until.saturating_sub(begin) / (end - begin);
        let wanted = most.min(EVENTS / each.max(1)).min(free(quiet));
        let certain = self.certain_until(begin, begin + wanted * (end - begin));
        let windows = wanted.min(free(certain)).max(1) as u32;
        (self.batches.windows, self.batches.events) = (windows, events);
        self.batches.until_search = self.batches.until_search.saturating_sub(windows);
        windows
    }

    /// The run does not end before the time returned. A search among all flows looks for a time as late as `wanted`.
    fn certain_until(&mut self, begin: u64, wanted: u64) -> u64 {
        let lasting = [self.batches.lasting, self.blocking].into_iter().filter(|&flow| flow != FlowId::NONE);
        let certain = lasting.map(|flow| self.soonest_end(flow, begin)).max().unwrap_or(0);
        if certain >= wanted || self.batches.until_search > 0 {
            return certain;
        }
        let flows = self.network.flows.flows.len() as u32;
        let all = (self.completing.0..flows).map(|flow| (self.soonest_end(FlowId(flow), begin), FlowId(flow)));
        let (latest, flow) = all.max().unwrap_or((0, FlowId::NONE));
        (self.batches.lasting, self.batches.until_search) = (flow, SEARCH.max(flows / FLOWS));
        latest
    }

    /// The flow does not end before the time returned: its unsent bytes need time.
    fn soonest_end(&self, flow: FlowId, begin: u64) -> u64 {
        let &Flow { src, start, until, .. } = self.network.flow(flow);
        let plan = Plan { layout: &self.layout, network: &self.network };
        let host = self.partitions.host(src);
        let Some(bytes) = host.flows.unsent(plan, self.layout.at_src[flow]) else { return 0 };
        let fabric = &self.network.fabric;
        let fastest = fabric.ports_of(host.node()).map(|port| fabric.rate(port).0).max().unwrap_or(u64::MAX);
        let time = (u128::from(bytes) * 8_000_000_000_000 / u128::from(fastest)) as u64;
        until.map_or(start.0.max(begin).saturating_add(time), |until| until.0)
    }

    /// Runs windows; `begin` and `end` are of the first. Returns when the last one ends.
    pub(super) fn run_batch(&mut self, (begin, end): (u64, u64), windows: u32) -> u64 {
        let task = Task { run: self.run, ahead: None, end, without_hosts: false, wakes: true };
        let peak = self.partitions.run_batch(&self.layout, &self.network, task, windows);
        self.books.peak_packets = self.books.peak_packets.max(peak);
        self.record();
        begin + u64::from(windows) * (end - begin)
    }
}

#[cfg(test)]
mod tests {
    use crate::nodes::bench::{Bench, flow};

    #[test]
    fn batches_have_a_limit_of_packets() {
        // All links have 100 Gb/s: a packet in 80 ns.
        let bench = Bench::host(0, &[flow(0, 1, 50)], |_| {});
        let network = &bench.nodes.network;
        let in_window = u128::from(network.order.window) * network.ports.len() as u128 / 80_000;
        assert_eq!(super::capacity(network), in_window);
        assert_eq!(bench.nodes.batches.most, u64::from(super::MOST_ROUNDS * bench.nodes.layout.windows_apart()));
    }

    #[test]
    fn a_flow_does_not_end_before_its_unsent_bytes_are_sent() {
        // Packets of 1,000 B at 100 Gb/s: 80 ns of payload each.
        let mut bench = Bench::host(0, &[flow(0, 1, 50)], |_| {});
        assert_eq!(bench.nodes.certain_until(7_000_000, 0), 7_000_000 + 50 * 80_000);
        bench.run(800);
        let unsent = 50 - bench.sent(0).len() as u64;
        assert!((1..50).contains(&unsent));
        assert_eq!(bench.nodes.certain_until(800_000, 0), 800_000 + unsent * 80_000);
    }
}
