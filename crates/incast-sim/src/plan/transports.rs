use incast_model::fabric::{HostId, PortId};

use super::Network;
use crate::transport::{FlowTransports, Transport};

#[derive(Debug, Default)]
pub(crate) struct Transports {
    pub(crate) of_flows: FlowTransports,
    arbiter: Option<HostId>,
}

impl Network {
    pub(crate) fn add_transports(&mut self, transports: Vec<Transport>) {
        if transports.is_empty() {
            return;
        }
        let arbiter = |one: &Transport| one.arbiter(&self.fabric, &self.flows).ok().flatten();
        self.hosts.transports.arbiter = transports.iter().find_map(arbiter);
        self.hosts.transports.of_flows = FlowTransports::new(transports, &self.hosts.carriers, &self.flows);
    }

    fn first_port_of(&self, host: u32) -> PortId {
        let node = self.fabric.hosts()[host as usize];
        self.fabric.ports_of(node).next().expect("hosts have a port")
    }

    /// The arbiter's host, and a full packet's time there in ps.
    pub(crate) fn arbiter(&self) -> Option<(u32, u64)> {
        let host = self.hosts.transports.arbiter?.0;
        Some((
            host,
            self.wire_time(self.first_port_of(host), self.config.packets.mss.0 + self.config.packets.segment_header.0),
        ))
    }
}
