//! Total order of events: time, *rank*, *target* (docs/design/kernel.md).
//!
//! A target has at most one live event: no two are equal, and the order of scheduling has no effect. (A rescheduled target's
//! old event stays queued, without effect.)

use incast_model::fabric::PortId;
use incast_model::flow::MAX_FLOWS;

use super::ids::FlowId;

/// In the order of classes within one picosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Step; exact arithmetic only.
    Fault(u32),
    /// By flow.
    Timer(FlowId),
    /// By flow.
    Start(FlowId),
    Port(PortId),
    /// Wake-up of a paced NIC's port; `ns3` arithmetic only.
    Wake(PortId),
    /// First packet on a sending port's wire arrives.
    Arrival(PortId),
    /// Task in a host's timer queue, by NIC; after all arrivals.
    Agenda(u32),
    /// See [`periodic`].
    Periodic(u32),
}

const ID_BITS: u32 = 25;
const TARGET_BITS: u32 = ID_BITS + 3;

pub(crate) const MAX_ID: u32 = (1 << ID_BITS) - 1;
const _: () = assert!(MAX_ID == MAX_FLOWS);

pub(crate) mod periodic {
    pub(crate) const SAMPLE: u32 = 0;
    pub(crate) const WATCHDOG: u32 = 1;
    pub(crate) const ISOLATION: u32 = 2;
}

pub(crate) mod rank {
    /// Congestion controls' timers: scheduled long before other events of the nanosecond.
    pub(crate) const FIRST: u64 = 0;
    /// Flow starts: zero-delay events, last of their nanosecond.
    pub(crate) const LAST: u64 = (1 << (64 - super::TARGET_BITS)) - 1;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    /// In ps.
    pub(crate) time: u64,
    /// Rank, class, number; most significant first.
    key: u64,
}

impl Event {
    #[inline]
    pub(crate) const fn new(time: u64, rank: u64, target: Target) -> Self {
        let (class, id) = match target {
            Target::Fault(step) => (0, step),
            Target::Timer(flow) => (1, flow.0),
            Target::Start(flow) => (2, flow.0),
            Target::Port(port) => (3, port.0),
            Target::Wake(port) => (4, port.0),
            Target::Arrival(port) => (5, port.0),
            Target::Agenda(nic) => (6, nic),
            Target::Periodic(which) => (7, which),
        };
        Self { time, key: rank << TARGET_BITS | (class << ID_BITS | id) as u64 }
    }

    #[inline]
    pub(crate) const fn rank(self) -> u64 {
        self.key >> TARGET_BITS
    }

    #[inline]
    pub(crate) const fn target(self) -> Target {
        let id = self.key as u32 & MAX_ID;
        match self.key as u32 >> ID_BITS & 7 {
            0 => Target::Fault(id),
            1 => Target::Timer(FlowId(id)),
            2 => Target::Start(FlowId(id)),
            3 => Target::Port(PortId(id)),
            4 => Target::Wake(PortId(id)),
            5 => Target::Arrival(PortId(id)),
            6 => Target::Agenda(id),
            _ => Target::Periodic(id),
        }
    }

    pub(crate) const fn target_code(self) -> u32 {
        self.key as u32 & ((1 << TARGET_BITS) - 1)
    }

    /// Compares in event order.
    #[inline]
    pub(crate) const fn order(self) -> u128 {
        (self.time as u128) << 64 | self.key as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_time_rank_class_number() {
        let ordered = [
            Event::new(1, 9, Target::Periodic(periodic::SAMPLE)),
            Event::new(2, 0, Target::Fault(8)),
            Event::new(2, 0, Target::Fault(9)),
            Event::new(2, 0, Target::Timer(FlowId(7))),
            Event::new(2, 0, Target::Start(FlowId(0))),
            Event::new(2, 0, Target::Start(FlowId(1))),
            Event::new(2, 0, Target::Port(PortId(0))),
            Event::new(2, 0, Target::Port(PortId(1))),
            Event::new(2, 0, Target::Wake(PortId(0))),
            Event::new(2, 0, Target::Arrival(PortId(0))),
            Event::new(2, 0, Target::Arrival(PortId(MAX_ID))),
            Event::new(2, 0, Target::Agenda(0)),
            Event::new(2, 0, Target::Periodic(periodic::SAMPLE)),
            Event::new(2, 0, Target::Periodic(periodic::WATCHDOG)),
            Event::new(2, 1, Target::Timer(FlowId(0))),
            Event::new(2, rank::LAST, Target::Start(FlowId(0))),
            Event::new(3, 0, Target::Timer(FlowId(0))),
        ];
        assert!(ordered.windows(2).all(|pair| pair[0] < pair[1] && pair[0].order() < pair[1].order()));
    }

    #[test]
    fn events_keep_what_they_are_for() {
        for target in [
            Target::Fault(2),
            Target::Timer(FlowId(3)),
            Target::Start(FlowId(8)),
            Target::Port(PortId(MAX_ID)),
            Target::Arrival(PortId(5)),
            Target::Agenda(9),
            Target::Periodic(periodic::SAMPLE),
            Target::Periodic(periodic::WATCHDOG),
        ] {
            let event = Event::new(u64::MAX, rank::LAST, target);
            assert_eq!((event.target(), event.rank()), (target, rank::LAST));
        }
    }
}
