//! Expected traffic of patterns with a rate or a load.

use super::arrivals::Window;
use super::members::Members;
use crate::fabric::HostId;
use crate::units::Time;

/// Traffic that a pattern offers while it lasts.
pub(super) struct Offer {
    /// Interval in which flows start.
    pub(super) window: Window,
    /// Parameter that sets how much is offered, if one does.
    pub(super) dial: Option<Dial>,
    /// Between which hosts.
    pub(super) parts: Parts,
}

/// Parameter that sets how much a pattern offers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Dial {
    /// `load`: the traffic is proportional to it.
    Load(f64),
    /// `every`: the traffic is inversely proportional to it.
    Every(Time),
}

impl Dial {
    /// Name of the field.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Load(_) => "load",
            Self::Every(_) => "every",
        }
    }
}

/// Traffic between hosts: sources that spread what they send evenly over a set of hosts.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Sets of hosts, each in order.
    pub(super) sets: Vec<Vec<HostId>>,
    /// In order of addition.
    pub(super) parts: Vec<Part>,
}

/// Sources that spread what they send evenly over the same hosts.
#[derive(Debug)]
pub(super) struct Part {
    /// Hosts, with the bit/s that each sends.
    pub(super) sources: Vec<(HostId, f64)>,
    /// Number of the set of receivers; a source in it sends to the others.
    pub(super) to: usize,
    /// Number of a set within it that receives nothing.
    pub(super) except: Option<usize>,
}

impl Parts {
    /// Traffic of single pairs.
    pub(super) fn pairs(pairs: impl Iterator<Item = (HostId, HostId, f64)>) -> Self {
        let mut parts = Self::default();
        for (src, dst, rate) in pairs {
            let to = parts.set(vec![dst]);
            parts.add(vec![(src, rate)], to, None);
        }
        parts
    }

    /// Adds a set of hosts; returns its number.
    pub(super) fn set(&mut self, mut hosts: Vec<HostId>) -> usize {
        hosts.sort_unstable();
        self.sets.push(hosts);
        self.sets.len() - 1
    }

    /// Adds traffic from some hosts to those of set `to` that are not in set `except`.
    pub(super) fn add(&mut self, sources: Vec<(HostId, f64)>, to: usize, except: Option<usize>) {
        self.parts.push(Part { sources, to, except });
    }

    /// The same traffic between the fabric's hosts, where they have other numbers in the pattern.
    pub(super) fn placed(mut self, members: Members<'_>) -> Self {
        for set in &mut self.sets {
            set.iter_mut().for_each(|host| *host = members.host(*host));
            set.sort_unstable();
        }
        for part in &mut self.parts {
            part.sources.iter_mut().for_each(|(host, _)| *host = members.host(*host));
        }
        self
    }
}
