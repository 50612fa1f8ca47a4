//! Memory of a run, without packets in flight, samples, and transports' state of lost packets.

use std::mem::size_of;

use incast_model::flow::{Flow, Gate};
use incast_model::memory::{Memory, amount};
use incast_sim::outcome::FlowRecord;

use crate::diagnostic::Diagnostic;
use crate::scenario::Prepared;

/// Per flow, without its record. Measured: 170 (RDMA), 210 (TCP).
const FLOW_STATE: u64 = 170;

/// Per port, measured.
const PORT_STATE: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demand {
    shared: u64,
    /// Kept until all schemes are done.
    records: u64,
    flows: u64,
    fabric: u64,
    /// Shared by schemes without given routes and failures.
    routes: u64,
    schemes: u64,
}

impl Demand {
    pub(crate) fn new(prepared: &Prepared) -> Self {
        let (set, ports) = (&*prepared.flows, prepared.fabric.ports().len() as u64);
        let flows = set.flows.len() as u64;
        let waits: usize = set.gates.iter().map(|gate| gate.waits_for.len() + gate.starts.len()).sum();
        let gates = set.gates.len() * size_of::<Gate>() + waits * size_of::<u32>();
        let routes = prepared.fabric.size_of_routes().2;
        let own_routes = prepared.schemes.iter().any(|scheme| {
            let network = &scheme.setup.params.network;
            !network.route.is_empty() || !network.failure.is_empty()
        });
        Self {
            shared: flows * size_of::<Flow>() as u64 + gates as u64,
            records: flows * size_of::<FlowRecord>() as u64,
            flows: flows * FLOW_STATE,
            fabric: ports * PORT_STATE + if own_routes { routes } else { 0 },
            routes,
            schemes: prepared.schemes.len() as u64,
        }
    }

    pub(crate) fn bytes(&self, threads: u64) -> u64 {
        self.shared + self.routes + self.schemes * self.records + threads.min(self.schemes) * (self.flows + self.fabric)
    }

    pub(crate) fn check(&self, threads: u64, memory: Memory) -> Result<(), Diagnostic> {
        let needed = self.bytes(threads);
        if needed <= memory.bytes {
            return Ok(());
        }
        let larger = if self.fabric + self.routes > self.flows + self.records { "fabric" } else { "workload" };
        let at_a_time = if threads == 1 { String::new() } else { format!(" with {threads} schemes at a time") };
        let message = format!("the run takes about {} of memory{at_a_time}; {memory}", amount(needed as f64));
        let fitting = (1..threads).rev().find(|&fewer| self.bytes(fewer) <= memory.bytes);
        Err(Diagnostic::new(larger, message).allowed(match fitting {
            Some(fewer) => format!("fewer schemes at a time: --threads {fewer}"),
            None if larger == "fabric" => "a smaller fabric".into(),
            None => "fewer flows".into(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::Loaded;

    fn demand(flows: u32, more: &str) -> Demand {
        let text = format!(
            "[fabric.star]\nhosts = 4\n[[workload]]\nincast = {{ fan_in = 1, size = \"1kB\", every = \"1us\", duration = \"{flows}us\" }}\n\
             [scheme.A]\ncontrol = \"hpcc\"\n[scheme.B]\ncontrol = \"dcqcn\"\n{more}"
        );
        Demand::new(&Loaded::from_text("s.toml", &text, Path::new("."), &[]).unwrap().prepare().unwrap())
    }

    #[test]
    fn flows_and_schemes_count() {
        let (few, many) = (demand(10, ""), demand(1_010, ""));
        assert_eq!(many.fabric, few.fabric);
        let of_flow = (many.bytes(1) - few.bytes(1)) / 1_000;
        assert!((400..2_000).contains(&of_flow), "{of_flow}");
        assert!(many.bytes(2) > many.bytes(1) && many.bytes(9) == many.bytes(2));
    }

    #[test]
    fn runs_that_do_not_fit_are_refused() {
        let demand = demand(10_000, "");
        let memory = |bytes| Memory { bytes, limit: "available on this machine" };
        assert_eq!(demand.check(2, memory(demand.bytes(2))), Ok(()));
        let found = demand.check(2, memory(demand.bytes(1))).unwrap_err();
        assert_eq!(
            (found.path.as_str(), found.allowed.as_deref()),
            ("workload", Some("fewer schemes at a time: --threads 1"))
        );
        assert!(found.message.contains("MB of memory with 2 schemes at a time; "), "{found}");
        let found = demand.check(1, memory(1_000_000)).unwrap_err();
        assert!(found.message.ends_with("of memory; 1 MB are available on this machine"), "{found}");
        assert_eq!(found.allowed.as_deref(), Some("fewer flows"));
    }
}
