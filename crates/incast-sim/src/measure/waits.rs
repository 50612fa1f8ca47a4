//! Queueing delay in switches and at hosts, and its part due to head-of-line blocking.
//!
//! A packet *waits* in an egress queue of a switch. It is *blocked* while the next node pauses the queue (PFC). A flow is
//! blocked *at its host* while it has data that its window, rate and start allow, but its priority is paused.
//!
//! Each pause has a *root*, the congested egress port that caused it: the port with the largest part of the bytes that made the
//! switch pause, or, if pauses made that port's queue long, the root of those pauses. Pauses made a queue long if the bytes that
//! it could have sent while paused, since it was last empty, are at least half of its length. The PFC frame carries the root, so
//! that a node knows it from the arrival of the pause. A packet blocked by a pause with its root off the remaining path is a
//! *victim*: only flows to other destinations block it.

use std::ops::AddAssign;

use incast_model::field::FieldError;
use incast_model::units::Time;

use crate::setup::{Arithmetic, Params};
use crate::switch::QueueParams;

/// Queueing delay of a flow's data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Time in egress queues of switches, summed over packets.
    pub waited: Time,
    /// Part of `waited` under a pause by the next node.
    pub blocked: Time,
    /// Part of `blocked` with the root off the packet's remaining path.
    pub victim: Time,
    /// Time at the host with the next packet held only by the pause of its priority. Time of the flow, not of packets.
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

impl Params {
    /// Checks that the simulator knows packets' paths in advance.
    pub fn check_blocking(&self) -> Result<(), FieldError> {
        let refuse = |message: &str| Err(FieldError::new("measure.blocking", message));
        if !self.measure.blocking {
            return Ok(());
        }
        if self.arithmetic == Arithmetic::Ns3 {
            return refuse("ns3 arithmetic does not note since when a queue pair may send; only in exact arithmetic");
        }
        if self.network.load_balancing != crate::balance::Balance::Ecmp {
            return refuse(
                "a packet's port at the next switch is known in advance with network.load_balancing ecmp only",
            );
        }
        if self.switch.queues != QueueParams::Shared {
            return refuse("only with switch.queues \"shared\": without PFC no queue is blocked");
        }
        Ok(())
    }
}
