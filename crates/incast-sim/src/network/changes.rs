use incast_model::fabric::{LinkId, PortId};
use incast_model::routing::FixedHops;
use incast_model::units::Time;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outage {
    pub(crate) links: Vec<LinkId>,
    pub(crate) at: Time,
    pub(crate) until: Option<Time>,
    /// Fraction lost by a link that seems up.
    pub(crate) silent: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimedHops {
    pub(crate) hops: FixedHops,
    pub(crate) from: Time,
    pub(crate) until: Option<Time>,
}

impl TimedHops {
    pub(crate) fn holds_at(&self, time: Time) -> bool {
        self.from <= time && self.until.is_none_or(|until| until > time)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) fixed: Vec<TimedHops>,
    pub(crate) outages: Vec<Outage>,
    pub(crate) holds: Vec<Hold>,
}

impl Resolved {
    pub(crate) fn fixed_at(&self, time: Time) -> Vec<FixedHops> {
        self.fixed.iter().filter(|one| one.holds_at(time)).map(|one| one.hops.clone()).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) ports: Vec<PortId>,
    pub(crate) priority: u8,
    pub(crate) from: Time,
    pub(crate) until: Option<Time>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Outages begin and end.
    Change { begins: Vec<usize>, ends: Vec<usize> },
    /// Routing learns of links that are down (true) or up.
    Learn(Vec<(LinkId, bool)>),
    /// Given routes change.
    Given,
    /// Ports start (true) or stop holding priorities.
    Hold(Vec<(PortId, u8, bool)>),
}
