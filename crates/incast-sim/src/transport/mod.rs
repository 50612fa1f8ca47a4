//! End-host transports other than RDMA: one room each, on the same hosts, switches and links.
//!
//! A room has the transport's parameters, its state machines (told facts, asked what to send; they touch no packet, no queue
//! and no clock), and the few lines that join them to the network. What rooms have in common is here: packets made and taken
//! in ([`segments`]), timers of flows ([`timers`]), what hosts have to do at given times ([`agenda`]), streams put
//! together again ([`reassembly`]). To add a transport: write its room, and add its line to the list at the end of this file.

mod agenda;
mod by_flow;
mod catalogue;
mod dispatch;
mod fastpass;
mod ideal;
mod pfabric;
mod phost;
mod ranges;
mod reassembly;
mod segments;
mod slotted;
mod tcp;
mod timers;
mod together;
mod udp;

use std::sync::Arc;

use incast_model::flow::FlowSet;

pub(crate) use agenda::{Agenda, Job};
pub use catalogue::{Transport, TransportInfo, TransportParams};
pub use fastpass::{FastpassAlign, FastpassOrder, FastpassParams, FastpassPaths};
pub use ideal::IdealParams;
pub use pfabric::PfabricParams;
pub use phost::{PhostHold, PhostOrder, PhostParams};
pub(crate) use ranges::{Range, Ranges};
pub(crate) use reassembly::Reassembly;
pub use tcp::{CubicParams, RenoParams, SlowStartParams, TcpControl, TcpDctcpParams, TcpParams};
pub(crate) use timers::Timers;
pub use udp::UdpParams;

use by_flow::ByFlow;
pub(crate) use dispatch::Room;
use fastpass::Fastpass;
use ideal::Ideal;
use pfabric::Pfabric;
use phost::Phost;
use slotted::Slotted;
use tcp::Tcp;
use udp::Udp;

use crate::setup::Carrier;

/// Every flow that is not RDMA's, and what its hosts know of it.
#[derive(Debug, Default)]
pub(crate) struct Transports {
    /// By flow: the room that it is in; empty in runs of RDMA alone.
    rooms: Vec<Room>,
    /// By flow: the port that its sender sends by.
    ports: Vec<u32>,
    timers: Timers,
    /// By NIC.
    agendas: Vec<Agenda>,
    tcp: Tcp,
    pfabric: Pfabric,
    phost: Phost,
    fastpass: Fastpass,
    ideal: Ideal,
    udp: Udp,
}

impl Transports {
    pub(crate) fn new(flows: &Arc<FlowSet>, transports: &[Transport], carriers: &[Carrier], nics: usize) -> Self {
        if transports.is_empty() {
            return Self::default();
        }
        let count = flows.flows.len();
        let room = |label: u16| match carriers[usize::from(label)] {
            Carrier::Rdma(_) => Room::Rdma,
            Carrier::Transport(index) => Room::of(&transports[index], index),
        };
        Self {
            rooms: flows.flows.iter().map(|flow| room(flow.label)).collect(),
            ports: vec![0; count],
            timers: Timers::new(count),
            agendas: (0..nics).map(|_| Agenda::default()).collect(),
            tcp: Tcp::new(transports, count),
            pfabric: Pfabric::new(transports, count),
            phost: Phost::new(transports, count, nics),
            fastpass: Fastpass::new(transports, count),
            ideal: Ideal::new(transports, count, nics),
            udp: Udp::new(transports, count),
        }
    }

    /// Whether a flow of pHost that sends by this NIC may have a token.
    #[inline]
    pub(crate) fn has_tokens(&self, nic: u32) -> bool {
        self.phost.has_tokens(nic)
    }

    /// Flows under way with their windows in bytes, [`u64::MAX`] for those without; in no particular order.
    pub(crate) fn windows(&self) -> impl Iterator<Item = (u32, u64)> {
        let others = self.phost.flows().chain(self.fastpass.flows()).chain(self.ideal.flows()).chain(self.udp.flows());
        self.tcp.windows().chain(self.pfabric.windows()).chain(others.map(|flow| (flow, u64::MAX)))
    }

    /// The room of a flow.
    #[inline]
    pub(crate) fn room(&self, flow: u32) -> Room {
        self.rooms.get(flow as usize).copied().unwrap_or(Room::Rdma)
    }
}
