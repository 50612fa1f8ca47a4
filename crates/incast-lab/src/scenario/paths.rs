//! Paths of flows, and their expected load.

use incast_model::fabric::{HostId, NodeId};
use incast_model::flow::Flow;
use incast_model::routing::Routes;
use incast_model::workload::{OfferedLoad, offered};

use super::Prepared;

impl Prepared {
    /// Ignores failures.
    pub(crate) fn routes(&self) -> Routes {
        let network = &self.scenario.network;
        Routes::along(&self.fabric, network.routing, network.next_hop_order, &|_| true, &[])
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
        let found = offered(&scenario.workload, fabric, routes, tenancy, &self.base_dir, scenario.seed, horizon);
        // The flows were generated with these arguments.
        found.unwrap_or_default()
    }
}
