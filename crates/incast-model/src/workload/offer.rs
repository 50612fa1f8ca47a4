//! Expected traffic of patterns with a rate or a load.

use super::members::Members;
use super::window::Window;
use crate::fabric::HostId;
use crate::units::Time;

pub(super) struct Offer {
    pub(super) window: Window,
    pub(super) dial: Option<Dial>,
    pub(super) parts: Parts,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Dial {
    /// Proportional to traffic.
    Load(f64),
    /// Inversely.
    Every(Time),
}

impl Dial {
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Load(_) => "load",
            Self::Every(_) => "every",
        }
    }
}

/// Traffic spread evenly over sets of hosts.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Sorted, for binary search.
    pub(super) sets: Vec<Vec<HostId>>,
    pub(super) parts: Vec<Part>,
}

#[derive(Debug)]
pub(super) struct Part {
    /// Hosts, and the bit/s of payload that each sends.
    pub(super) sources: Vec<(HostId, f64)>,
    /// A source in it sends to the others.
    pub(super) to: usize,
    /// Subset that receives nothing.
    pub(super) except: Option<usize>,
}

impl Parts {
    pub(super) fn pairs(pairs: impl Iterator<Item = (HostId, HostId, f64)>) -> Self {
        let mut parts = Self::default();
        for (src, dst, rate) in pairs {
            let to = parts.set(vec![dst]);
            parts.add(vec![(src, rate)], to, None);
        }
        parts
    }

    pub(super) fn set(&mut self, mut hosts: Vec<HostId>) -> usize {
        hosts.sort_unstable();
        self.sets.push(hosts);
        self.sets.len() - 1
    }

    pub(super) fn add(&mut self, sources: Vec<(HostId, f64)>, to: usize, except: Option<usize>) {
        self.parts.push(Part { sources, to, except });
    }

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
