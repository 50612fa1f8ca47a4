use incast_model::fabric::{NodeId, PortId};
use incast_model::units::Time;

use super::Network;
use crate::kernel::FlowId;

impl Network {
    /// True if `root` is on the path from `port` on, of a packet's own path or of the flow's data.
    pub(crate) fn goes_by(&self, root: PortId, port: PortId, flow: FlowId, own_path: Option<u16>) -> bool {
        let Some(number) = own_path else { return self.flow_goes_by(root, port, flow) };
        let dst = self.flow(flow).dst.0;
        self.is_ahead(root, port, dst, |node| self.chosen_port(node, dst, number))
    }

    pub(crate) fn flow_goes_by(&self, root: PortId, port: PortId, flow: FlowId) -> bool {
        let dst = self.flow(flow).dst.0;
        match self.rest_of_path(flow, port) {
            Some(rest) => rest.contains(&root),
            None => self.is_ahead(root, port, dst, |node| self.port_by_ecmp(node, dst, flow)),
        }
    }

    fn is_ahead(&self, root: PortId, mut port: PortId, dst: u32, next: impl Fn(NodeId) -> Option<PortId>) -> bool {
        let target = self.fabric.hosts()[dst as usize];
        for _ in 0..=self.config.switch.ttl {
            if port == root {
                break;
            }
            let node = self.fabric.neighbour(port);
            if node == target {
                return false;
            }
            match next(node) {
                Some(next) => port = next,
                None => return false,
            }
        }
        port == root
    }

    pub(crate) fn tags_on_the_wire(&self) -> bool {
        self.switches.tagging.as_ref().is_some_and(|tagging| tagging.on_the_wire)
    }

    /// Priority by the rules after all changes.
    pub(crate) fn priority_beyond(&self, priority: u8, input: PortId, output: PortId) -> u8 {
        let tagging = self.switches.tagging.as_ref();
        tagging.map_or(priority, |tagging| tagging.rewritten(&self.fabric, Time::MAX, priority, input, output))
    }
}
