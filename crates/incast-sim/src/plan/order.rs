//! Windows, and runs in which nodes depend on each other within one.

use std::fmt;

use incast_model::fabric::{Link, NodeKind};
use incast_model::units::Time;

use super::local::gates_are_local;
use crate::ns3;
use crate::setup::{Arithmetic, Setup};
use crate::switch::Forwarding;
use crate::tenant::Hypervisor;
use crate::transport::Transport;

/// Reason for which a fabric is not cut into partitions: one thread simulates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncut {
    /// Arithmetic `ns3`.
    Ns3,
    /// Ideal scheduler.
    Ideal,
    /// Hypervisor `edge_only`.
    EdgeOnly,
    /// Flows start sooner than a window after other hosts' flows end.
    Gate {
        /// From the ends to the start.
        delay: Time,
        /// Length of a window.
        window: Time,
    },
}

impl Uncut {
    /// `None` if several threads can share the simulation.
    pub fn of(setup: &Setup) -> Option<Self> {
        Order::new(setup).uncut
    }
}

impl fmt::Display for Uncut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ns3 => f.write_str(
                "arithmetic ns3 orders the events of the whole network; \
                 write `simulation.arithmetic = \"exact\"` to use more",
            ),
            Self::Ideal => f.write_str("the ideal scheduler matches all hosts at the same time"),
            Self::EdgeOnly => f.write_str(
                "hypervisor edge_only reads what the other VMs of its server receive; \
                 elasticswitch, seawall and reservation use more",
            ),
            Self::Gate { delay, window } => write!(
                f,
                "flows start {delay:#} after flows of other hosts end; \
                 a compute time or delay of at least {window:#}, the fastest link's, uses more"
            ),
        }
    }
}

/// How far nodes depend on each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    /// In ps: at most the shortest time from append to arrival on a wire. A sweep comes in a later window than the isolation
    /// that causes it.
    pub(crate) window: u64,
    /// Bytes of the shortest packet, or of the header after which a switch that cuts through may forward.
    pub(crate) least: u64,
    /// Windows for which switches keep lists of arrivals: nearly all packets arrive within so many.
    pub(crate) lists: usize,
    /// If true, hosts depend on each other within a window: the order of their events matters.
    pub(crate) hosts_in_order: bool,
    /// If true, hypervisors see which VMs on their server receive.
    pub(crate) neighbours: bool,
    /// True if there are gates, and each concerns one host alone.
    pub(crate) gates_are_local: bool,
    /// `None` if the fabric can be cut.
    pub(crate) uncut: Option<Uncut>,
}

impl Order {
    pub(crate) fn new(setup: &Setup) -> Self {
        let Setup { flows, params, .. } = setup;
        let isolation = &params.switch.isolation;
        let hold = if isolation.enabled { isolation.hold.0.max(1) } else { u64::MAX };
        let (least, window) = (least(setup), lookahead(setup).min(hold));
        let ns3 = params.arithmetic == Arithmetic::Ns3;
        let local = !ns3 && !flows.gates.is_empty() && gates_are_local(flows);
        let soonest = flows.gates.iter().map(|gate| gate.delay.0).min().filter(|_| !local).unwrap_or(u64::MAX);
        let neighbours = setup.tenancy.is_some() && params.hypervisor.as_ref().is_some_and(Hypervisor::sees_neighbours);
        let ideal = setup.transports.iter().any(|one| matches!(one, Transport::Ideal(_)));
        let reasons = [
            ideal.then_some(Uncut::Ideal),
            neighbours.then_some(Uncut::EdgeOnly),
            (soonest < window).then_some(Uncut::Gate { delay: Time(soonest), window: Time(window) }),
        ];
        let reason = reasons.into_iter().flatten().next();
        Self {
            window,
            least: least.0.min(least.1),
            lists: lists(setup, window),
            hosts_in_order: reason.is_some(),
            neighbours,
            gates_are_local: local,
            uncut: ns3.then_some(Uncut::Ns3).or(reason),
        }
    }
}

/// A power of two. A later arrival wakes its node in the last of these windows, with nothing to do yet.
fn lists(Setup { fabric, params, .. }: &Setup, window: u64) -> usize {
    let packets = &params.packets;
    let largest = (packets.payload.0 + packets.data_header.0).max(packets.mss.0 + packets.segment_header.0);
    let cross =
        |link: &Link| u128::from(link.delay.0) + u128::from(largest) * 8_000_000_000_000 / u128::from(link.rate.0);
    let longest = fabric.links().iter().map(cross).max().unwrap_or(0);
    let windows = longest / u128::from(window.max(1)) + 2;
    windows.clamp(LEAST_LISTS, MOST_LISTS).next_power_of_two() as usize
}

/// Our choice: an empty list takes 24 B, and 1 Gb/s links without delay need 32 lists.
const LEAST_LISTS: u128 = 8;
const MOST_LISTS: u128 = 64;

/// Bytes of the shortest packet, and those after which a switch may forward it.
fn least(Setup { params, .. }: &Setup) -> (u64, u64) {
    let packets = &params.packets;
    let ack = packets.ack.0.max(packets.min_ack.0);
    let others = packets.control.0.min(packets.segment_header.0);
    let isolation = &params.switch.isolation;
    let message = if isolation.enabled { isolation.message.0 } else { u64::MAX };
    let least = packets.pfc.0.min(ack).min(packets.cnp.0).min(packets.data_header.0).min(others).min(message);
    let header = match params.switch.forwarding {
        Forwarding::StoreAndForward => least,
        Forwarding::CutThrough | Forwarding::CutThroughUnderrun => least.min(params.switch.cut_through_header.0),
    };
    (least, header)
}

/// Shortest time from the begin of a transmission until the far end can handle the packet, in ps.
fn lookahead(setup: &Setup) -> u64 {
    let Setup { fabric, params, .. } = setup;
    let (least, header) = least(setup);
    let times = fabric.links().iter().flat_map(|link| {
        [link.a, link.b].map(|end| {
            let whole = fabric.node(fabric.port(end).node).kind == NodeKind::Host;
            let (bytes, rate) = (if whole { least } else { header }, link.rate.0);
            let exact = params.arithmetic == Arithmetic::Exact;
            let time = if exact { (bytes * 8_000_000_000_000).div_ceil(rate) } else { ns3::serialisation(bytes, rate) };
            link.delay.0 + time
        })
    });
    times.min().unwrap_or(1)
}
