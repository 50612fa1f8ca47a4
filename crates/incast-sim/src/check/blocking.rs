use incast_model::field::FieldError;

use crate::balance::Balance;
use crate::setup::{Arithmetic, Params};
use crate::switch::QueueParams;

impl Params {
    /// Checks that packets' paths are known in advance.
    pub fn check_blocking(&self) -> Result<(), FieldError> {
        let refuse = |message: &str| Err(FieldError::new("measure.blocking", message));
        if !self.measure.blocking {
            return Ok(());
        }
        if self.arithmetic == Arithmetic::Ns3 {
            return refuse("ns3 arithmetic does not note since when a queue pair may send; only in exact arithmetic");
        }
        if self.network.load_balancing != Balance::Ecmp {
            return refuse(
                "only with `network.load_balancing = \"ecmp\"`: a packet's port at the next switch must be known in advance",
            );
        }
        if self.switch.queues != QueueParams::Shared {
            return refuse("only with switch.queues \"shared\": without PFC no queue is blocked");
        }
        Ok(())
    }
}
