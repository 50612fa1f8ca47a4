//! Hosts and switches joined by full-duplex links, with stable port order.

mod derived;
mod dot;
mod ends;
pub mod generators;
mod gpus;
mod graph;
mod groups;
mod rtt;
mod service;
mod summary;
mod tiers;
mod vms;

pub use dot::write_dot;
pub(crate) use ends::Ends;
pub use generators::{FabricSpec, GENERATORS, GeneratorError};
pub use graph::{Fabric, FabricBuilder, FabricError, HostId, Link, LinkId, Node, NodeId, NodeKind, Port, PortId};
pub(crate) use groups::{Groups, tiers_with_uplinks};
pub use rtt::{BaseRtts, PairRtt, Ways, pair_base_rtt};
pub use service::Service;
pub use summary::{LinkSummary, Summary, TierSummary};
pub(crate) use tiers::tiers;
pub use vms::{AdmissionMode, Vms};
