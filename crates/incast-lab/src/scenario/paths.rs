//! Paths of flows, and their expected load.

use std::sync::Arc;

use incast_model::fabric::{HostId, NodeId};
use incast_model::flow::Flow;
use incast_model::routing::Routes;
use incast_model::workload::{OfferedLoad, offered};

use super::Prepared;
use incast_sim::Carrier;

impl Prepared {
    /// Routes at the start of a run, without settings of schemes.
    pub(crate) fn routes(&self) -> Arc<Routes> {
        let network = &self.scenario.network;
        // Schemes are checked, each with its own settings.
        let usual = |_| Routes::of(&self.fabric, network.routing, network.next_hop_order);
        network.starting_routes(&self.fabric, self.scenario.seed).unwrap_or_else(usual)
    }

    pub(crate) fn links(&self, routes: &Routes, flow: &Flow) -> u64 {
        if let Some(path) = flow.path {
            return self.flows.paths[path as usize].len() as u64 - 1;
        }
        let node = |host: HostId| self.fabric.hosts()[host.index()];
        let next = |&at: &NodeId| {
            let port = *routes.next_hops(at, flow.dst).first()?;
            Some(self.fabric.neighbour(port))
        };
        // Shortest and up-down paths have no loops.
        std::iter::successors(Some(node(flow.src)), |at| if *at == node(flow.dst) { None } else { next(at) }).count()
            as u64
            - 1
    }

    /// Calls `routes` only for entries with a rate or a load.
    pub(crate) fn loads<'a>(&self, routes: impl Fn() -> &'a Routes) -> Vec<OfferedLoad> {
        let scenario = &self.scenario;
        let (fabric, tenancy) = (&*self.fabric, self.tenancy.as_deref());
        let horizon = scenario.simulation.horizon;
        let given = (&*self.base_dir, scenario.seed, horizon);
        let found = offered(&scenario.workload, fabric, routes, tenancy, given, |label| self.wire_share(label));
        // The flows were generated with these arguments.
        found.unwrap_or_default()
    }

    /// Bytes on a link per byte of a label's payload: with headers and gaps, of the scheme with the fewest; 1 without flows.
    fn wire_share(&self, label: &str) -> f64 {
        let Some(number) = self.flows.labels.iter().position(|one| one == label) else { return 1.0 };
        let share = |payload: u64, header: u64| {
            let flows =
                self.flows.flows.iter().filter(|flow| usize::from(flow.label) == number && flow.until.is_none());
            let sum = |(bytes, packets): (f64, f64), flow: &Flow| {
                (bytes + flow.size.0 as f64, packets + flow.size.0.div_ceil(payload) as f64)
            };
            let (bytes, packets) = flows.fold((0.0, 0.0), sum);
            if bytes > 0.0 { 1.0 + packets * header as f64 / bytes } else { 1.0 }
        };
        let packets = &self.scenario.packets;
        let carriers = self.schemes.iter().map(|scheme| scheme.setup.carriers[number]);
        let mut headers: Vec<(u64, u64)> = carriers
            .map(|carrier| match carrier {
                Carrier::Rdma(_) => (packets.payload.0, packets.data_header.0 + packets.gap.0),
                Carrier::Transport(_) => (packets.mss.0, packets.segment_header.0 + packets.gap.0),
            })
            .collect();
        headers.dedup();
        headers.into_iter().map(|(payload, header)| share(payload, header)).reduce(f64::min).unwrap_or(1.0)
    }
}
