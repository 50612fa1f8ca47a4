use serde::Serialize;

use super::trace::{self, Goal, Hit, Walk};
use super::{LossyWalk, NAMED};
use crate::bits::set;
use crate::elp::{Destinations, Elp, ElpError, Hop, Towards};
use crate::names::{NamedPath, Turn};
use crate::tag::Tag;
use crate::threads::spread;
use crate::turns::TurnSet;
use crate::wiring::{Ports, Wiring};

/// Extent of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Walked {
    /// Paths given one by one.
    pub paths: usize,
    /// Trees of shortest paths, or sets of equal ones to a destination.
    pub trees: usize,
    /// Ingress ports on up-down paths, once per number of bounces.
    pub states: usize,
}

impl Walked {
    pub(super) fn add(&mut self, other: Self) {
        self.paths += other.paths;
        self.trees += other.trees;
        self.states += other.states;
    }
}

type Found = (Walked, usize, Vec<LossyWalk>);

pub(super) fn walk(walk: Walk<'_, '_>, elp: &Elp<'_>) -> Result<Found, ElpError> {
    let rules = walk.1;
    let lossy: Goal<'_> = &mut |tag, input, output| rules.new_tag(tag, input, output).is_none();
    let (walked, hits) = match elp {
        Elp::Paths(paths) => {
            let hits = paths.iter().flat_map(|path| trace::path(walk, paths, path, lossy)).collect();
            (Walked { paths: paths.len(), ..Walked::default() }, hits)
        }
        Elp::UpDown(up_down) => {
            let found = trace::up_down(walk, up_down, lossy)?;
            (Walked { states: found.states, ..Walked::default() }, found.hits)
        }
        Elp::Shortest(_) | Elp::Routes(_) => return walk_trees(walk, &Destinations::new(walk.0, elp)),
    };
    let named = hits.iter().take(NAMED).map(|hit| lossy_walk(walk.0, hit)).collect();
    Ok((walked, hits.len(), named))
}

fn lossy_walk(wiring: &Wiring<'_>, hit: &Hit) -> LossyWalk {
    let (tag, input, output) = hit.turn;
    LossyWalk { turn: Turn::new(wiring, Some(tag), input, output), path: NamedPath::new(wiring, &hit.path) }
}

type LossyTree = (usize, usize);

fn walk_trees(walk: Walk<'_, '_>, destinations: &Destinations<'_, '_>) -> Result<Found, ElpError> {
    let rules = walk.1;
    let start = || (destinations.tables(), Packets::new(walk), Vec::<LossyTree>::new(), Ok(()), 0, 0);
    let parts =
        spread("destinations", destinations.len(), start, |(tables, packets, lossy, result, turns, trees), at| {
            let mut tree = 0;
            let outcome = destinations.each(at, tables, &mut |towards| {
                let lost = packets.walk(towards);
                if lost > 0 && lossy.len() < NAMED {
                    lossy.push((at, tree));
                }
                *turns += lost;
                *trees += 1;
                tree += 1;
            });
            if result.is_ok() {
                *result = outcome;
            }
        });
    let mut walked = Walked::default();
    let (mut all, mut count) = (Vec::new(), 0);
    for (_, _, lossy, result, turns, trees) in parts {
        result?;
        walked.trees += trees;
        count += turns;
        all.extend(lossy);
    }
    // Each thread keeps its first ones, so the first of all.
    all.sort_unstable();
    let mut named = Vec::new();
    for (at, wanted) in all {
        if named.len() < NAMED {
            let mut tree = 0;
            destinations.each(at, &mut destinations.tables(), &mut |towards| {
                if tree == wanted {
                    let lossy: Goal<'_> = &mut |tag, input, output| rules.new_tag(tag, input, output).is_none();
                    named.extend(trace::towards(walk, towards, lossy).iter().map(|hit| lossy_walk(walk.0, hit)));
                }
                tree += 1;
            })?;
        }
    }
    named.truncate(NAMED);
    Ok((walked, count, named))
}

struct Packets<'w, 'f> {
    wiring: &'w Wiring<'f>,
    first: Tag,
    /// By tag.
    rules: Vec<Vec<(Tag, &'w TurnSet)>>,
    /// By tag: a bit per ingress port.
    at: Vec<Vec<u64>>,
    packets: Vec<u64>,
    /// By egress port: new tag of packets from all single-linked hosts.
    sent: Vec<u8>,
}

/// Not looked up; several tags, or lossy for some.
const UNKNOWN: u8 = 0;
const MIXED: u8 = u8::MAX;

impl<'w, 'f> Packets<'w, 'f> {
    fn new((wiring, rules, first): Walk<'w, 'f>) -> Self {
        let mut by_tag = vec![Vec::new(); usize::from(rules.tags().max(first.0)) + 1];
        for (tag, new, turns) in rules.turns() {
            by_tag[usize::from(tag.0)].push((new, turns));
        }
        let at = vec![vec![0; wiring.spans()]; by_tag.len()];
        Self { wiring, first, rules: by_tag, at, packets: Vec::new(), sent: vec![UNKNOWN; wiring.len()] }
    }

    fn walk(&mut self, towards: &Towards) -> usize {
        let ports: &Ports = self.wiring;
        let mut lossy = 0;
        for (node, next) in towards.iter() {
            if ports.is_host(node) {
                next.iter().for_each(|hop| self.arrive(hop, self.first));
                continue;
            }
            let hosts = towards.injecting(ports, node);
            let first = usize::from(self.first.0);
            if std::ptr::eq(hosts, ports.single_hosts(node)) {
                lossy += next.iter().map(|hop| self.send(hosts, hop)).sum::<usize>();
            } else {
                self.at[first][ports.span(node)].iter_mut().zip(hosts).for_each(|(word, hosts)| *word |= hosts);
            }
            let span = ports.span(node);
            for tag in first..self.at.len() {
                if self.at[tag][span.clone()].iter().any(|&word| word != 0) {
                    let mut packets = std::mem::take(&mut self.packets);
                    packets.clear();
                    packets.extend_from_slice(&self.at[tag][span.clone()]);
                    lossy += next.iter().map(|hop| self.turn(tag, &packets, hop)).sum::<usize>();
                    self.at[tag][span.clone()].fill(0);
                    self.packets = packets;
                }
            }
        }
        lossy
    }

    fn send(&mut self, hosts: &[u64], hop: &Hop) -> usize {
        if hosts.iter().all(|&word| word == 0) {
            return 0;
        }
        let first = usize::from(self.first.0);
        let port = hop.port;
        if self.sent[port.index()] == UNKNOWN {
            let covers = |turns: &TurnSet| hosts.iter().zip(turns.row(port)).all(|(hosts, row)| hosts & !row == 0);
            let only = self.rules[first].iter().find(|(_, turns)| covers(turns));
            self.sent[port.index()] = only.map_or(MIXED, |(new, _)| new.0);
        }
        match self.sent[port.index()] {
            MIXED => self.turn(first, hosts, hop),
            tag => {
                self.arrive(hop, Tag(tag));
                0
            }
        }
    }

    /// Number of ingress ports without a rule.
    #[inline]
    fn turn(&mut self, tag: usize, packets: &[u64], hop: &Hop) -> usize {
        let row = self.wiring.row(hop.port);
        for at in 0..self.rules[tag].len() {
            let (new, turns) = self.rules[tag][at];
            if packets.iter().zip(turns.words(row.clone())).any(|(packets, turns)| packets & turns != 0) {
                self.arrive(hop, new);
            }
        }
        let without_rule = |(at, &packets): (usize, &u64)| {
            let place = row.start + at;
            self.rules[tag].iter().fold(packets, |left, (_, turns)| left & !turns.words(place..place + 1)[0])
        };
        packets.iter().enumerate().map(|word| without_rule(word).count_ones() as usize).sum()
    }

    #[inline]
    fn arrive(&mut self, &Hop { input, far, .. }: &Hop, tag: Tag) {
        let ports: &Ports = self.wiring;
        if !ports.is_host(far) {
            set(&mut self.at[usize::from(tag.0)][ports.span(far)], ports.local_at(far, input));
        }
    }
}
