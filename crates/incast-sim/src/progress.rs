use incast_model::units::Time;

/// Progress of a run, every few thousand events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Packets per link crossed.
    pub packet_hops: u64,
    /// Completed flows.
    pub flows_done: u64,
    /// Flows, without cancelled ones.
    pub flows: u64,
    /// Payload acknowledged, in bytes.
    pub bytes_acked: u64,
    /// Payload of `flows`, in bytes.
    pub bytes: u64,
    /// End of the last backlogged flow, at most the horizon; `None`: none.
    pub end: Option<Time>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// In ps.
    pub(crate) horizon: u64,
    pub(crate) events: u64,
    /// Time in ps without an arrival or a start after which a run may be stuck.
    pub(crate) stall: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    Finished,
    Horizon,
    Budget,
    Interrupted,
    /// No event is left, or nothing moves.
    Idle,
}
