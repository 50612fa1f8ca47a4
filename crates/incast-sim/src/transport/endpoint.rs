use super::Job;
use super::stack::{Incoming, Outgoing, Stack};
use crate::kernel::{LocalPort, SentId};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) sent: usize,
    pub(crate) received: usize,
    pub(crate) nics: usize,
    /// The host's queues have no limit.
    pub(crate) unlimited: bool,
}

/// A transport's senders and receivers at a host, which they use only through a [`Stack`].
pub(crate) trait Endpoint {
    type Params;

    /// All packets of a flow have its priority.
    const KEEPS_PRIORITY: bool = false;

    /// Flows end by ACKs, not perhaps as they start.
    const ACKNOWLEDGES: bool = true;

    /// Senders learn of bytes that arrived before a flow ends; otherwise receivers call [`Stack::count_arrived`].
    const REPORTS_ARRIVALS: bool = true;

    fn new(params: &Self::Params, scope: Scope) -> Self;

    fn start(&mut self, stack: &mut impl Stack, own: SentId);

    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>);

    fn timer(&mut self, _stack: &mut impl Stack, _own: SentId) {}

    fn task(&mut self, _stack: &mut impl Stack, _nic: LocalPort, _job: Job) {}

    /// After [`Stack::watch_queue`]: a data packet or handshake left its host's queue, or was dropped there.
    fn left_host(&mut self, _stack: &mut impl Stack, _own: SentId) {}

    fn stop(&mut self, _stack: &mut impl Stack, _own: SentId) {}

    /// See [`Stack::may_send`].
    fn resume(&mut self, _stack: &mut impl Stack, _own: SentId) {}

    /// `paused`: priorities that may not be sent, as bits.
    fn pull(&mut self, _stack: &mut impl Stack, _nic: LocalPort, _paused: u8) -> Option<(SentId, Outgoing)> {
        None
    }

    fn may_pull(&self, _nic: LocalPort) -> bool {
        false
    }

    /// `end` in ps; `acks`: sequence numbers of [`SegmentAck`](crate::kernel::Kind) packets that reach its sender before.
    fn may_end(&self, own: SentId, end: u64, acks: impl Iterator<Item = u64>) -> bool;

    /// Windows in bytes ([`u64::MAX`]: none), in any order.
    fn flows(&self) -> impl Iterator<Item = (SentId, u64)>;

    /// Rate of a flow in bit/s; `None`: the rate of the link.
    fn rate(&self) -> Option<u64> {
        None
    }

    /// Flows that ended at their sender, perhaps with packets in flight.
    fn late(&mut self, _now: u64, _arrived: &dyn Fn(SentId) -> u64) -> Vec<SentId> {
        Vec::new()
    }
}
