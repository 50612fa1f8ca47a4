use incast_model::field::FieldError;
use incast_model::flow::Flow;
use incast_model::routing::{Paths, Routes};
use incast_model::units::Time;

use super::Network;
use crate::congestion::MAX_INT_RECORDS;
use crate::host::Carrier;
use crate::kernel::flag;
use crate::network::Faults;

impl Network {
    /// Rejects INT on loops or with too few records, and flows without a path from the start. Explicit paths do not change.
    pub(super) fn check_detours(&self, faults: &Faults, int_records: u8) -> Result<(), FieldError> {
        let routed = |(_, flow): &(usize, &Flow)| flow.path.is_none();
        let flows: Vec<(usize, &Flow)> = self.flows.flows.iter().enumerate().filter(routed).collect();
        let has_int = |flow: &Flow| match self.hosts.carriers[usize::from(flow.label)] {
            Carrier::Rdma(control) => self.hosts.controls[control].flags & flag::INT != 0,
            Carrier::Transport(_) => false,
        };
        let with_int: Vec<(usize, &Flow)> = flows.iter().copied().filter(|(_, flow)| has_int(flow)).collect();
        let mut unreachable = if faults.starts_rerouted() { flows } else { Vec::new() };
        for (time, routes) in faults.states(&self.fabric) {
            unreachable.retain(|(_, flow)| self.links(&routes, flow).is_none());
            for &(index, flow) in &with_int {
                if self.has_routing_loop(&routes, flow) {
                    return Err(routing_loop(index, time));
                }
                let switches = self.links(&routes, flow).map_or(0, |links| links - 1);
                if switches > usize::from(int_records) {
                    return Err(no_room(int_records, switches, index, time));
                }
            }
            if unreachable.is_empty() && with_int.is_empty() {
                break;
            }
        }
        match unreachable.first() {
            Some(&(index, flow)) => Err(self.never(index, flow, faults.rule.0)),
            None => Ok(()),
        }
    }

    /// Links on the longer of the data and ACK paths; `None`: no path.
    fn links(&self, routes: &Routes, flow: &Flow) -> Option<usize> {
        let out = routes.links_between(&self.fabric, flow.src, flow.dst)?;
        Some(out.max(routes.links_between(&self.fabric, flow.dst, flow.src)?))
    }

    fn has_routing_loop(&self, routes: &Routes, flow: &Flow) -> bool {
        let (mut node, end) = (self.fabric.hosts()[flow.src.index()], self.fabric.hosts()[flow.dst.index()]);
        for _ in 0..self.fabric.nodes().len() {
            match routes.next_hops(node, flow.dst).first() {
                Some(&port) if node != end => node = self.fabric.neighbour(port),
                _ => return false,
            }
        }
        true
    }

    fn never(&self, index: usize, flow: &Flow, paths: Paths) -> FieldError {
        let [src, dst] = [flow.src, flow.dst].map(|host| &self.fabric.node(self.fabric.hosts()[host.index()]).name);
        FieldError::new(
            "network.failure",
            format!(
                "flow {index} never has a path from {src} to {dst} by {} routing: links that are down from the start separate them",
                paths.name()
            ),
        )
    }
}

fn routing_loop(flow: usize, time: Time) -> FieldError {
    FieldError::new(
        "network.route",
        format!(
            "from {time} on packets of flow {flow} loop, over more switches than INT records; use a control \
             without INT"
        ),
    )
}

fn no_room(records: u8, switches: usize, flow: usize, time: Time) -> FieldError {
    FieldError::new(
        "packets.int_records",
        format!(
            "{records} records do not cover the {switches} switches on the path of flow {flow} round the failures from {time} \
             on; at least {switches} are needed (at most {MAX_INT_RECORDS} are possible)"
        ),
    )
}
