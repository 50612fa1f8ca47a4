//! Stack of all hosts, for their transports: flows have one number, that of the run.

use incast_model::fabric::HostId;

use crate::network::Network;
use crate::transport::{Endpoints, Stack, Transport, TransportHost};

#[derive(Debug, Default)]
pub(crate) struct Transports {
    pub(crate) endpoints: Endpoints,
    arbiter: Option<HostId>,
    /// By flow under way: port of its sender.
    pub(crate) ports: Vec<u32>,
}

impl Network {
    pub(crate) fn add_transports(&mut self, transports: Vec<Transport>) {
        self.transports.ports = vec![0; self.flows.flows.len()];
        if transports.is_empty() {
            return;
        }
        let arbiter = |one: &Transport| one.arbiter(&self.fabric, &self.flows).ok().flatten();
        self.transports.arbiter = transports.iter().find_map(arbiter);
        self.transports.endpoints = Endpoints::new(transports, &self.carriers, &self.flows);
    }

    fn first_port_of(&self, host: u32) -> u32 {
        let node = self.fabric.hosts()[host as usize];
        self.fabric.ports_of(node).next().expect("hosts have a port").0
    }

    /// Host of the arbiter, and time of a full packet there in ps.
    pub(crate) fn arbiter(&self) -> Option<(u32, u64)> {
        let host = self.transports.arbiter?.0;
        Some((
            host,
            self.wire_time(self.first_port_of(host), self.config.packets.mss.0 + self.config.packets.segment_header.0),
        ))
    }

    pub(crate) fn source_port(&self, flow: u32) -> u32 {
        self.transports.ports[flow as usize]
    }

    pub(crate) fn is_under_way(&self, flow: u32) -> bool {
        let record = &self.flow_records[flow as usize];
        record.start.is_some() && record.finish.is_none()
    }
}
