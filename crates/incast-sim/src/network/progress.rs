use incast_model::units::Time;

use super::Network;
use crate::simulation::Progress;

/// Events between two checks of the budget and the observer.
pub(crate) const STRIDE: u64 = 1 << 15;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Simulated time in ps.
    pub(crate) horizon: u64,
    pub(crate) events: u64,
    /// Simulated time in ps without an arrival or a start, after which a run may count as stuck.
    pub(crate) stall: u64,
}

impl Network {
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            now: Time(self.now),
            events: self.counts.events,
            packet_hops: self.counts.packet_hops(),
            flows_done: self.flows_done as u64,
            flows: self.flows_due as u64,
            bytes_acked: self.bytes_acked,
            bytes: self.bytes,
            end: self.end,
        }
    }
}
