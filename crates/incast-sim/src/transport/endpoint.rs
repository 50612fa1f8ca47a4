//! A transport: how its flows start, react to packets and timers, and end.

use super::Job;
use super::stack::{Incoming, Outgoing, Stack};

/// How many flows and NICs an endpoint has to do with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    /// Flows sent.
    pub(crate) sent: usize,
    /// Flows received.
    pub(crate) received: usize,
    pub(crate) nics: usize,
}

/// The flows of a transport at a host, as sender and as receiver.
///
/// It sees its host through a [`Stack`] alone. To add a transport, implement this trait, and add a line to the list in `mod.rs`.
pub(crate) trait Endpoint {
    /// What a scenario says of the transport.
    type Params;

    /// True if [`Self::left_host`] is to be called.
    const WATCHES_QUEUE: bool = false;

    /// True if all packets of a flow have the priority of the flow.
    const KEEPS_PRIORITY: bool = false;

    /// An endpoint without flows.
    fn new(params: &Self::Params, scope: Scope) -> Self;

    /// A flow starts at its sender.
    fn start(&mut self, stack: &mut impl Stack, own: u32);

    /// A packet of one of its flows has arrived.
    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>);

    /// The timer of a flow has expired, and is stopped.
    fn timer(&mut self, _stack: &mut impl Stack, _own: u32) {}

    /// A task that it planned is due.
    fn task(&mut self, _stack: &mut impl Stack, _nic: u32, _job: Job) {}

    /// A data packet or handshake has left the queue of its host, or was dropped there.
    fn left_host(&mut self, _stack: &mut impl Stack, _own: u32) {}

    /// The time of a flow without a size is over: it sends nothing new.
    fn stop(&mut self, _stack: &mut impl Stack, _own: u32) {}

    /// A flow that the host held back ([`Stack::may_send`]) may send again.
    fn resume(&mut self, _stack: &mut impl Stack, _own: u32) {}

    /// Makes the next data packet of a flow for an idle NIC, if the transport leaves it to NICs when to send; `paused`: priorities
    /// that may not be sent, one bit each.
    fn pull(&mut self, _stack: &mut impl Stack, _nic: u32, _paused: u8) -> Option<(u32, Outgoing)> {
        None
    }

    /// True if [`Self::pull`] may have a packet for this NIC.
    fn may_pull(&self, _nic: u32) -> bool {
        false
    }

    /// True if a flow under way may end before `end`, in ps; `acks`: sequence numbers of the [`SegmentAck`](crate::kernel::Kind)
    /// packets that reach its sender before.
    fn may_end(&self, own: u32, end: u64, acks: &[u64]) -> bool;

    /// Flows under way with their windows in bytes, [`u64::MAX`] for those without; in no particular order.
    fn flows(&self) -> impl Iterator<Item = (u32, u64)>;

    /// Flows that have ended at their sender, and packets of which may still arrive; `arrived` says how many bytes of a flow have.
    fn late(&mut self, _now: u64, _arrived: &dyn Fn(u32) -> u64) -> Vec<u32> {
        Vec::new()
    }
}
