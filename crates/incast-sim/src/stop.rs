//! Reason of a stop.

use crate::network::Network;
use crate::outcome::{FlowRecord, Stop};

/// End of the event loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    Finished,
    Horizon,
    Budget,
    Interrupted,
    /// No event is left, or nothing moves.
    Idle,
}

/// Maximum number of flows listed.
const NAMED: usize = 100;

impl Network {
    pub(crate) fn explain(&self, halt: Halt) -> Stop {
        let unfinished = (self.flows_due - self.flows_done) as u32;
        match halt {
            Halt::Finished => Stop::Finished,
            Halt::Budget => Stop::Budget { unfinished },
            Halt::Interrupted => Stop::Interrupted { unfinished },
            Halt::Horizon | Halt::Idle => match self.deadlock() {
                Some(cycle) => Stop::Deadlock { cycle, unfinished },
                None if halt == Halt::Horizon => Stop::Horizon { unfinished },
                None => Stop::Stalled { flows: self.unfinished_flows(), unfinished },
            },
        }
    }

    /// Unfinished flows that have started: others wait and are not the cause.
    fn unfinished_flows(&self) -> Vec<u32> {
        let records = self.flow_records.iter().enumerate();
        let unfinished = |record: &FlowRecord| record.start.is_some() && record.finish.is_none();
        records.filter(|(_, record)| unfinished(record)).map(|(flow, _)| flow as u32).take(NAMED).collect()
    }
}
