use std::sync::Arc;

use incast_model::fabric::PortId;

use crate::bits::ones;
use crate::elp::Hops;
use crate::rules::{Rules, Transitions};
use crate::tag::Tag;
use crate::turns::TurnSet;
use crate::wiring::Ports;

/// Reason that paths cannot be tagged.
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
        /// Classes.
        classes: u8,
        /// Bounces.
        bounces: u8,
    },
    /// No paths.
    #[error("there are no paths to keep lossless")]
    NoPaths,
}

/// Tag per ingress port and hop: Algorithm 1's hop number, or Algorithm 2's merged one.
#[derive(Debug, Clone)]
pub struct Placement<'h> {
    hops: &'h Hops,
    ports: Arc<Ports>,
    tags: u8,
    /// By hop and port; 0 if on no path.
    of: Vec<Vec<u8>>,
}

impl<'h> Placement<'h> {
    /// Algorithm 1 (CoNEXT 2017): the tag is the hop number, from 1.
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

    /// Number of tags.
    pub fn tags(&self) -> u8 {
        self.tags
    }

    pub(super) fn hops(&self) -> &'h Hops {
        self.hops
    }

    pub(super) fn ports(&self) -> &Arc<Ports> {
        &self.ports
    }

    /// Tag of packets that arrive at a port at a hop (from 0), if any.
    pub fn tag(&self, hop: usize, input: PortId) -> Option<Tag> {
        self.of.get(hop).map(|tags| tags[input.index()]).filter(|&tag| tag > 0).map(Tag)
    }

    /// Unchanged if a host follows.
    pub(super) fn after(&self, hop: usize, input: PortId, output: PortId) -> Option<Tag> {
        match self.ports.to_switch(output) {
            true => self.tag(hop + 1, self.ports.peer(output)),
            false => self.tag(hop, input),
        }
    }

    /// Tag changes that paths need. A port with one tag at several hops may need several.
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

    /// Rules with the smallest of several new tags.
    ///
    /// Packets may thus have smaller tags than planned. Paths to one destination are the same from everywhere: a rule exists;
    /// for paths given one by one, missing rules are added.
    pub fn rules(&self) -> Rules {
        let mut rules = self.transitions().smallest();
        self.complete(&mut rules);
        rules
    }

    pub(super) fn layer(&self, hop: usize) -> &TurnSet {
        &self.hops.layers()[hop]
    }
}
