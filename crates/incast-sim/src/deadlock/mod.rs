//! PFC deadlocks.

mod detector;
mod graph;
mod stuck;

use incast_model::fabric::{Fabric, NodeId};
use incast_model::units::Time;

use crate::outcome::QueueRef;
use crate::switch::{Buffer, Ingress};

pub(crate) use detector::Detector;
pub(crate) use stuck::deadlock;

/// Egress queue paused by the far end: at a switch with packets to send, or at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Paused {
    pub(crate) queue: QueueRef,
    pub(crate) at_host: bool,
}

/// State of a run. Queues: egress queues of switches; counters: their ingress counters.
pub(crate) trait Snapshot {
    fn fabric(&self) -> &Fabric;
    /// In order, without those with an XON on the way.
    fn paused(&self) -> Vec<Paused>;
    fn paused_since(&self, queue: QueueRef) -> Option<Time>;
    /// Buffer bytes of each queue of a switch, by counter.
    fn held(&self, switch: NodeId, queues: &[QueueRef]) -> Vec<Vec<(QueueRef, u32)>>;
    fn bytes(&self, queue: QueueRef) -> u64;
    /// True if the port's wire has packets of the priority.
    fn is_in_flight(&self, queue: QueueRef) -> bool;
    fn ingress(&self, counter: QueueRef) -> &Ingress;
    fn buffer(&self, switch: NodeId) -> &Buffer;
    /// False if routes have no cyclic buffer dependency. Takes up to seconds.
    fn may_deadlock(&self) -> bool;
}
