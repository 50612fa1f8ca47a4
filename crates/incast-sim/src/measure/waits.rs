//! Queueing delay in switches and at hosts, and its part due to head-of-line blocking.
//!
//! A packet *waits* in a switch's egress queue and is *blocked* while the next node pauses that queue. A flow is blocked *at
//! its host* while it has data that window, rate and start allow and its priority is paused. A *victim* is blocked by a pause
//! with its root off the remaining path.
//!
//! A *root* is the congested egress port that caused a pause (docs/design/isolation.md); the PFC frame carries it.

use std::ops::AddAssign;

use incast_model::units::Time;

/// Queueing delay of a flow's data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Time in switches' egress queues, summed over packets.
    pub waited: Time,
    /// Part of `waited` under a pause by the next node.
    pub blocked: Time,
    /// Part of `blocked` with the root off the packet's remaining path.
    pub victim: Time,
    /// Time at the host with the next packet held only by its priority's pause. Time of the flow, not of packets.
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
