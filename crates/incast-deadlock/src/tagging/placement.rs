//! Which tag a packet should have at each ingress port and hop, and the rules that follow from it.

use std::sync::Arc;

use incast_model::fabric::PortId;

use super::Tag;
use crate::elp::Hops;
use crate::rules::{Rules, Transitions};
use crate::turns::{TurnSet, ones};
use crate::wiring::Ports;

/// Why paths cannot be tagged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// More tags than a byte counts.
    #[error("the longest path has {hops} switches; a tag for each hop is possible for at most {}", u8::MAX)]
    TooLong {
        /// Switches on the longest path.
        hops: usize,
    },
    /// More classes and bounces than a byte counts, or no class.
    #[error("{classes} classes that survive {bounces} bounces; allowed: 1 class or more, {} of both together", u8::MAX)]
    Classes {
        /// Classes of traffic.
        classes: u8,
        /// Bounces.
        bounces: u8,
    },
    /// There are no paths.
    #[error("there are no paths to keep lossless")]
    NoPaths,
}

/// A tag for each ingress port at each hop: Algorithm 1's hop number, or what Algorithm 2 merged it into.
#[derive(Debug, Clone)]
pub struct Placement<'h> {
    hops: &'h Hops,
    ports: Arc<Ports>,
    tags: u8,
    /// By hop and port; 0 where no path is.
    of: Vec<Vec<u8>>,
}

impl<'h> Placement<'h> {
    /// Algorithm 1 (CoNEXT 2017): the tag is the number of the hop, from 1. As many tags as the longest path has switches.
    pub fn per_hop(hops: &'h Hops) -> Result<Self, TagError> {
        let mut placement = Self::empty(hops)?;
        for (hop, layer) in hops.layers().iter().enumerate() {
            for (input, _) in layer.iter() {
                placement.put(hop, input, Tag(hop as u8 + 1));
            }
        }
        Ok(placement)
    }

    pub(super) fn empty(hops: &'h Hops) -> Result<Self, TagError> {
        let ports = Arc::clone(hops.layers().first().ok_or(TagError::NoPaths)?.ports());
        if hops.layers().len() > usize::from(u8::MAX) {
            return Err(TagError::TooLong { hops: hops.layers().len() });
        }
        let of = vec![vec![0; ports.len()]; hops.layers().len()];
        Ok(Self { hops, ports, tags: 0, of })
    }

    pub(super) fn put(&mut self, hop: usize, input: PortId, tag: Tag) {
        self.of[hop][input.index()] = tag.0;
        self.tags = self.tags.max(tag.0);
    }

    /// How many tags there are.
    pub fn tags(&self) -> u8 {
        self.tags
    }

    /// The paths' turns.
    pub(super) fn hops(&self) -> &'h Hops {
        self.hops
    }

    pub(super) fn ports(&self) -> &Arc<Ports> {
        &self.ports
    }

    /// The tag of packets that arrive at a port at a hop (from 0), if any do.
    pub fn tag(&self, hop: usize, input: PortId) -> Option<Tag> {
        self.of.get(hop).map(|tags| tags[input.index()]).filter(|&tag| tag > 0).map(Tag)
    }

    /// The tag after a turn at a hop: that of the next port, or the same if a host follows.
    pub(super) fn after(&self, hop: usize, input: PortId, output: PortId) -> Option<Tag> {
        match self.ports.to_switch(output) {
            true => self.tag(hop + 1, self.ports.peer(output)),
            false => self.tag(hop, input),
        }
    }

    /// Every change of a tag that some path asks for. A port that got one tag at several hops may ask for several.
    pub fn transitions(&self) -> Transitions {
        let mut transitions = Transitions::new(&self.ports, self.tags);
        for (hop, layer) in self.hops.layers().iter().enumerate() {
            for output in (0..self.ports.len() as u32).map(PortId) {
                let node = self.ports.node(output);
                for local in ones(layer.row(output)) {
                    let input = self.ports.port(node, local);
                    if let (Some(tag), Some(new)) = (self.tag(hop, input), self.after(hop, input, output)) {
                        transitions.insert(tag, input, output, new);
                    }
                }
            }
        }
        transitions
    }

    /// The rules: of several new tags the smallest, and what paths need besides.
    ///
    /// With the smallest, a packet may have a smaller tag than was planned for it. Paths to a destination are the same from
    /// everywhere, so there is a rule for that too; among paths given one by one there may be none, and one is added, up
    /// to the tag that was planned. It leads from a tag to a larger one, and so is on no cycle.
    pub fn rules(&self) -> Rules {
        let mut rules = self.transitions().smallest();
        self.complete(&mut rules);
        rules
    }

    /// The turns that were used at a hop.
    pub(super) fn layer(&self, hop: usize) -> &TurnSet {
        &self.hops.layers()[hop]
    }
}
