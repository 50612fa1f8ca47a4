//! Match-action rules: (tag, ingress port, egress port) → new tag. Without a match packets become lossy.

mod compress;
mod count;

use std::collections::BTreeMap;
use std::sync::Arc;

use incast_model::fabric::PortId;

use crate::tag::Tag;
use crate::turns::TurnSet;
use crate::wiring::{Ports, Wiring};

pub use compress::{Compression, Entry, RuleTable};
pub use count::{Count, Counting};

/// Tag changes at turns. A turn may have several: these are not yet rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transitions {
    ports: Arc<Ports>,
    tags: u8,
    turns: BTreeMap<(Tag, Tag), TurnSet>,
}

impl Transitions {
    pub(crate) fn new(ports: &Arc<Ports>, tags: u8) -> Self {
        Self { ports: Arc::clone(ports), tags, turns: BTreeMap::new() }
    }

    pub(crate) fn insert(&mut self, tag: Tag, input: PortId, output: PortId, new: Tag) -> bool {
        self.tags = self.tags.max(tag.0).max(new.0);
        let ports = &self.ports;
        self.turns.entry((tag, new)).or_insert_with(|| TurnSet::of(ports)).insert(input, output)
    }

    pub(crate) fn none(wiring: &Wiring<'_>) -> Self {
        Self::new(wiring.shared(), 0)
    }

    pub(crate) fn union(&mut self, other: &Self) {
        self.tags = self.tags.max(other.tags);
        for (&change, turns) in &other.turns {
            self.turns.entry(change).or_insert_with(|| TurnSet::of(&self.ports)).union(turns);
        }
    }

    /// Number of tags.
    pub fn tags(&self) -> u8 {
        self.tags
    }

    /// Turns by tag and new tag.
    pub fn turns(&self) -> impl Iterator<Item = (Tag, Tag, &TurnSet)> {
        self.turns.iter().map(|(&(tag, new), turns)| (tag, new, turns))
    }

    /// Changes beyond the first per turn and tag.
    pub fn ambiguous(&self) -> usize {
        let all: usize = self.turns.values().map(TurnSet::len).sum();
        all - self.clone().smallest().len()
    }

    /// Keeps the smallest of several new tags. This only removes changes, so it adds no cycle.
    pub fn smallest(mut self) -> Rules {
        for tag in Tag::all(self.tags) {
            let mut taken = TurnSet::of(&self.ports);
            for (_, turns) in self.turns.range_mut((tag, Tag(0))..=(tag, Tag(u8::MAX))) {
                turns.subtract(&taken);
                taken.union(turns);
            }
        }
        self.turns.retain(|_, turns| !turns.is_empty());
        Rules(self)
    }
}

/// Rules of all switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules(Transitions);

/// Two rules for the same packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is a rule to tag {known} already")]
pub struct RuleExists {
    /// New tag of the existing rule.
    pub known: Tag,
}

impl Rules {
    /// No rules: all packets become lossy.
    pub fn new(wiring: &Wiring<'_>) -> Self {
        Self(Transitions::none(wiring))
    }

    /// Largest tag.
    pub fn tags(&self) -> u8 {
        self.0.tags
    }

    /// New tag of packets; `None` if lossy.
    pub fn new_tag(&self, tag: Tag, input: PortId, output: PortId) -> Option<Tag> {
        let of_tag = self.0.turns.range((tag, Tag(0))..=(tag, Tag(u8::MAX)));
        of_tag.into_iter().find(|(_, turns)| turns.contains(input, output)).map(|(&(_, new), _)| new)
    }

    /// Adds a rule.
    ///
    /// # Panics
    /// If the two are not ports of one switch.
    pub fn insert(&mut self, tag: Tag, input: PortId, output: PortId, new: Tag) -> Result<(), RuleExists> {
        match self.new_tag(tag, input, output) {
            Some(known) if known != new => Err(RuleExists { known }),
            _ => {
                self.0.insert(tag, input, output, new);
                Ok(())
            }
        }
    }

    /// Number of rules: (tag, ingress port, egress port).
    pub fn len(&self) -> usize {
        self.0.turns.values().map(TurnSet::len).sum()
    }

    /// True if empty.
    pub fn is_empty(&self) -> bool {
        self.0.turns.is_empty()
    }

    /// Turns by tag and new tag; sets of one tag are disjoint.
    pub fn turns(&self) -> impl Iterator<Item = (Tag, Tag, &TurnSet)> {
        self.0.turns()
    }

    /// Rules as changes.
    pub fn transitions(&self) -> &Transitions {
        &self.0
    }
}
