//! Queueing delay in switches and at hosts, and its part due to head-of-line blocking (docs/design/isolation.md).
//!
//! The *root* of a pause, the congested egress port that caused it, is in the PFC frame.

use std::ops::AddAssign;

use incast_model::units::Time;

/// Queueing delay of a flow's data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Time in switches' egress queues, summed over packets.
    pub waited: Time,
    /// Part of `waited` while the next node paused the queue (PFC).
    pub blocked: Time,
    /// Part of `blocked` with the pause's root off the packet's remaining path.
    pub victim: Time,
    /// Time at the host with data that window, rate and start allow, but a paused priority. Time of the flow, not of packets.
    pub host_blocked: Time,
    /// Part of `host_blocked` with the root off the path.
    pub host_victim: Time,
}

impl AddAssign for Waits {
    fn add_assign(&mut self, other: Self) {
        self.waited += other.waited;
        self.blocked += other.blocked;
        self.victim += other.victim;
        self.host_blocked += other.host_blocked;
        self.host_victim += other.host_victim;
    }
}
