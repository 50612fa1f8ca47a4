//! Tagger in the switch (Hu et al., CoNEXT 2017): rules rewrite a packet's tag by (tag, ingress port, egress port).
//! Each lossless tag is a PFC priority; packets without a rule become and stay lossy.

use std::path::PathBuf;
use std::sync::Arc;

use incast_model::fabric::{Fabric, PortId};
use incast_model::field::FieldError;
use incast_model::range::{least, priority};
use incast_model::rng::{stream, uniform};
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GuardParams;

/// Tags of Tagger: the first priority of `lossless` carries tag 1, and so on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TaggingParams {
    /// If true, switches rewrite tags. Default false (the HPCC evaluation).
    pub enabled: bool,
    /// Paths that stay lossless. Default up-down (Tagger, CoNEXT 2017, for folded Clos fabrics).
    pub paths: TaggedPaths,
    /// Bounces of up-down paths that stay lossless, 0 to 6. Default 1 (as in Tagger's testbed).
    #[schemars(transform = least(0).most(6))]
    pub bounces: u8,
    /// Algorithm that assigns tags. Default: clos for up-down paths, else greedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<TagMethod>,
    /// File of rules, as written by `incast deadlock tag --export json`, in place of paths and method. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<PathBuf>,
    /// Changes of rules during the run, in order of time. Default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<RuleChange>,
    /// Priority of packets that have become lossy, 1 to 7, not in `lossless`. Default 1 (our choice).
    #[schemars(transform = priority())]
    pub lossy_priority: u8,
    /// Egress queue of a packet with a changed tag. Default new-tag (Tagger, CoNEXT 2017).
    pub queue_by: QueueBy,
}

impl Default for TaggingParams {
    fn default() -> Self {
        Self {
            enabled: false,
            paths: TaggedPaths::default(),
            bounces: 1,
            method: None,
            rules: None,
            change: Vec::new(),
            lossy_priority: 1,
            queue_by: QueueBy::default(),
        }
    }
}

impl GuardParams for TaggingParams {
    fn enabled(&self) -> bool {
        self.enabled
    }

    fn needs_pfc(&self) -> bool {
        true
    }

    /// Changes follow each other.
    fn check(&self, _largest: Bytes) -> Result<(), FieldError> {
        for (number, pair) in self.change.windows(2).enumerate() {
            let done = pair[0].at.0.saturating_add(pair[0].within.0);
            let (field, allowed) = (format!("change[{}].at", number + 1), format!("{} or later", Time(done)));
            FieldError::unless(pair[1].at.0 >= done, &field, pair[1].at, &allowed)?;
        }
        Ok(())
    }
}

/// New rules in a running network. Each switch has its old rules until its own time, drawn by the scenario's seed between
/// `at` and `at` + `within`; it decides the new tag of each packet that arrives. `incast deadlock check` ignores changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleChange {
    /// File of the new rules, as in `rules`.
    pub rules: PathBuf,
    /// Start of the change at the first switches; at or after the end of the preceding change (`at` + `within`).
    pub at: Time,
    /// Time within which all switches change. Default 0s: all switches change simultaneously.
    #[serde(default)]
    pub within: Time,
}

impl RuleChange {
    /// Time of the change at each node, drawn with its number.
    pub fn times(&self, fabric: &Fabric, seed: u64, number: u64) -> Vec<Time> {
        let mut rng = stream(seed, "rule change", number);
        let last = self.at.0.saturating_add(self.within.0);
        fabric.nodes().iter().map(|_| Time(uniform(&mut rng, self.at.0, last))).collect()
    }
}

/// Paths that Tagger keeps lossless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaggedPaths {
    /// Up and down the tiers, with `bounces`.
    #[default]
    UpDown,
    /// All shortest paths.
    Shortest,
    /// Shortest-path tree for each host, drawn by the scenario's seed.
    Trees,
    /// Routes that hold from the start.
    Routes,
}

/// Algorithm that assigns tags to paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TagMethod {
    /// Number of bounces; up-down paths only.
    Clos,
    /// Tagger's algorithm 2: hop numbers, merged greedily.
    Greedy,
    /// Tagger's algorithm 1: hop numbers.
    PerHop,
}

/// Egress queue of a packet with a changed tag. Its ingress buffer is always that of the arriving tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueBy {
    /// Queue of the new tag, which the next switch's pause of that tag stops.
    #[default]
    NewTag,
    /// Queue of the arriving tag. Wrong: a pause of the new tag does not stop it, one of the old tag stops it without
    /// need.
    ArrivingTag,
}

/// Rules of all switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRules {
    tags: u8,
    /// Start of a node's table, and number of its ports.
    tables: Vec<(usize, u32)>,
    /// By switch, tag, ingress port and egress port; 0 for lossy.
    new_tags: Vec<u8>,
    /// Later rules with their start by node, in order of time.
    changes: Vec<(Vec<Time>, TagRules)>,
}

impl TagRules {
    /// Without rules, every packet becomes lossy. `tags` is at least 1.
    pub fn new(fabric: &Fabric, tags: u8) -> Self {
        let mut tables = Vec::with_capacity(fabric.nodes().len());
        let mut size = 0;
        for node in 0..fabric.nodes().len() as u32 {
            let node = incast_model::fabric::NodeId(node);
            let ports = if fabric.host_of(node).is_some() { 0 } else { fabric.ports_of(node).len() as u32 };
            tables.push((size, ports));
            size += usize::from(tags) * (ports as usize).pow(2);
        }
        Self { tags, tables, new_tags: vec![0; size], changes: Vec::new() }
    }

    /// Number of tags, with those of later rules.
    pub fn tags(&self) -> u8 {
        self.changes.iter().map(|(_, rules)| rules.tags).fold(self.tags, u8::max)
    }

    /// Adds the rules that replace those before from a time of each node on.
    pub fn change(&mut self, from: Vec<Time>, rules: Self) {
        self.changes.push((from, rules));
    }

    /// Sets the new tag of packets with `tag` from `input` to `output`, ports of one switch.
    ///
    /// # Panics
    /// If a tag is 0 or above the number of tags.
    pub fn insert(&mut self, fabric: &Fabric, tag: u8, input: PortId, output: PortId, new: u8) {
        assert!((1..=self.tags).contains(&tag) && (1..=self.tags).contains(&new), "tags are 1 to {}", self.tags);
        let at = self.at(fabric, tag, input, output);
        self.new_tags[at] = new;
    }

    /// New tag at a time; `None` for lossy.
    #[inline]
    pub fn new_tag(&self, fabric: &Fabric, now: Time, tag: u8, input: PortId, output: PortId) -> Option<u8> {
        let node = fabric.port(input).node.index();
        let changed = self.changes.iter().rfind(|(from, _)| from[node] <= now);
        let rules = changed.map_or(self, |(_, rules)| rules);
        if tag > rules.tags {
            return None;
        }
        Some(rules.new_tags[rules.at(fabric, tag, input, output)]).filter(|&tag| tag != 0)
    }

    #[inline]
    fn at(&self, fabric: &Fabric, tag: u8, input: PortId, output: PortId) -> usize {
        let (input, output) = (fabric.port(input), fabric.port(output));
        let (first, ports) = self.tables[input.node.index()];
        let ports = ports as usize;
        first + (usize::from(tag - 1) * ports + input.local as usize) * ports + output.local as usize
    }
}

#[derive(Debug)]
pub(crate) struct Tagging {
    rules: Arc<TagRules>,
    /// Tag of each priority; 0 for lossy.
    tags: [u8; 8],
    /// Priority of each tag; at 0 the lossy priority.
    priorities: [u8; 8],
    /// If true, tags change on the wire (wrong variant).
    pub(crate) on_the_wire: bool,
}

impl Tagging {
    /// Maps tags to the `lossless` priorities, in order; there must be enough.
    pub(crate) fn new(rules: Arc<TagRules>, params: &TaggingParams, lossless: &[u8]) -> Self {
        let mut tagging = Self {
            tags: [0; 8],
            priorities: [params.lossy_priority; 8],
            on_the_wire: params.queue_by == QueueBy::ArrivingTag,
            rules,
        };
        for (tag, &priority) in (1..=tagging.rules.tags()).zip(lossless) {
            tagging.tags[usize::from(priority)] = tag;
            tagging.priorities[usize::from(tag)] = priority;
        }
        tagging
    }

    #[inline]
    pub(crate) fn rewritten(&self, fabric: &Fabric, now: Time, priority: u8, input: PortId, output: PortId) -> u8 {
        match self.tags[usize::from(priority)] {
            0 => priority,
            tag => {
                let new = self.rules.new_tag(fabric, now, tag, input, output);
                self.priorities[usize::from(new.unwrap_or(0))]
            }
        }
    }
}
