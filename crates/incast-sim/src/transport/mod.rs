//! End-host transports other than RDMA.
//!
//! A folder each: parameters, state machines (without packets, queues or clock), an `Endpoint`.

mod agenda;
mod by_flow;
mod endpoint;
mod endpoints;
mod fastpass;
mod ideal;
mod matching;
mod pfabric;
mod phost;
mod ranges;
mod reassembly;
mod segments;
mod slotted;
mod stack;
mod tcp;
mod timers;
mod together;
mod udp;

#[macro_use]
mod catalogue;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use agenda::{Agenda, Job};
pub use catalogue::{TransportInfo, TransportParams};
pub use fastpass::{FastpassAlign, FastpassOrder, FastpassParams, FastpassPaths};
pub use ideal::IdealParams;
pub(crate) use matching::Matching;
pub use pfabric::PfabricParams;
pub use phost::{PhostHold, PhostOrder, PhostParams};
pub(crate) use ranges::Ranges;
pub(crate) use reassembly::Reassembly;
pub(crate) use stack::{Incoming, Outgoing, Path, Stack, To};
pub use tcp::{CubicParams, RenoParams, SlowStartParams, TcpControl, TcpDctcpParams, TcpParams};
pub(crate) use timers::Timers;
pub use udp::UdpParams;

use by_flow::ByFlow;
pub(crate) use endpoint::{Endpoint, Scope};
pub(crate) use endpoints::{Endpoints, FlowTransports, TransportHost};
use slotted::Slotted;

transports! {
    /// TCP: NewReno, CUBIC or DCTCP, with or without selective acknowledgements.
    "tcp" => Tcp(TcpParams, tcp::Tcp),
    /// Queues in order of what is left of flows, and hardly any rate control.
    "pfabric" => Pfabric(PfabricParams, pfabric::Pfabric),
    /// Receivers give out tokens, one packet each.
    "phost" => Phost(PhostParams, phost::Phost),
    /// An arbiter says who sends when.
    "fastpass" => Fastpass(FastpassParams, fastpass::Fastpass),
    /// A scheduler that knows everything at once.
    "ideal" => Ideal(IdealParams, ideal::Ideal),
    /// A constant rate, whatever becomes of it.
    "udp" => Udp(UdpParams, udp::Udp),
}
