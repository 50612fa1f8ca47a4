//! Guards of switches: their list, their parameters, and guards that see packets alone ([`PacketGuard`]). Stages of guards that
//! act on queues and pauses are in `nodes/guards`.

pub(crate) mod isolation;
mod tagging;
mod watchdog;

use std::fmt::Debug;

use incast_model::field::FieldError;
use incast_model::units::{Bytes, Time};

pub use isolation::{FlowDetection, IsolationAtHosts, IsolationParams, MarkedFlows};
pub(crate) use tagging::Tagging;
pub use tagging::{QueueBy, RuleChange, TagMethod, TagRules, TaggedPaths, TaggingParams};
pub use watchdog::{WatchdogAction, WatchdogParams};

/// Calls a macro with the list of guards that have a table in `[switch]`, in the order of tables and counters. An entry has
/// - the documentation of the table;
/// - its name, and the type of its parameters ([`GuardParams`]);
/// - if the guard drops packets: `drops` and a cause, with the guard's name and the reason in texts, and counters of packets,
///   lossless packets and wire bytes.
macro_rules! for_each_guard {
    ($callback:ident) => {
        $callback! {
            /// Tags and rules against deadlocks (Tagger). Default off (the HPCC evaluation).
            tagging: TaggingParams;
            /// PFC watchdog. Default off (the HPCC evaluation).
            watchdog: WatchdogParams,
                drops Watchdog("PFC watchdog", "configured action: drop", watchdog_drops, watchdog_lossless_drops, watchdog_bytes);
            /// Congestion isolation (IEEE 802.1Qcz). Default off (the HPCC evaluation).
            isolation: IsolationParams;
        }
    };
}
pub(crate) use for_each_guard;

/// Parameters of a guard. Their ranges are in the schema ([`incast_model::range`]).
pub trait GuardParams {
    /// If true, switches have the guard.
    fn enabled(&self) -> bool;

    /// If true, the guard has no effect without PFC.
    fn needs_pfc(&self) -> bool {
        false
    }

    /// Checks relations between parameters, and to the wire size of the largest packet; only if enabled.
    fn check(&self, _largest: Bytes) -> Result<(), FieldError> {
        Ok(())
    }

    /// Line for `incast show`; only if enabled.
    fn summary(&self) -> Option<String> {
        None
    }

    /// State in a switch with so many ports, for guards that see packets alone; only if enabled.
    fn start(&self, _ports: usize) -> Option<Box<dyn PacketGuard>> {
        None
    }
}

/// State of a guard that sees only arriving packets.
pub trait PacketGuard: Debug + Send {
    /// Handles a packet that is to enter a queue. If true, the packet is dropped.
    fn drops(&mut self, arrival: &Arrival) -> bool;
}

/// Arrival of a packet at a switch.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// Time.
    pub now: Time,
    /// Port by which the packet came; ports of a switch count from 0.
    pub ingress: usize,
    /// Port by which the packet is to leave.
    pub egress: usize,
    /// Priority on arrival.
    pub priority: u8,
    /// Wire bytes.
    pub size: Bytes,
}
