use std::collections::BTreeSet;

use incast_model::fabric::LinkId;
use incast_model::rng::stream;
use incast_model::routing::{FixedHops, NextHopOrder, Routes};
use serde::{Deserialize, Serialize};

use super::detours::{DeadEnds, Detours};
use super::report::NamedCycle;
use super::users::{Users, users};
use super::{Dependencies, flood, turns_of};
use crate::elp::{Elp, ElpError, Routed, below};
use crate::names::NamedPath;
use crate::rules::Rules;
use crate::tag::Tag;
use crate::threads::spread;
use crate::turns::TurnSet;
use crate::watch;
use crate::wiring::Wiring;

/// Sets of links between switches that are down together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failures {
    /// Given sets.
    Given(Vec<Vec<LinkId>>),
    /// Each link.
    Single,
    /// Each pair of links.
    Double,
    /// Random sets.
    Random {
        /// Links per set, 1 or more.
        links: u32,
        /// Number of sets.
        samples: u32,
        /// Seed.
        seed: u64,
    },
}

/// Reaction of switches to failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rerouting {
    /// All switches know: packets take shortest or up-down paths over links that are up.
    Converged,
    /// Only adjacent switches know (before convergence). Without a next hop, they send packets to any other switch, but not
    /// back; it forwards them as before. Packets that need more detours are left out.
    Local {
        /// Most detours of a packet, 1 or more; each is a bounce in a folded Clos fabric.
        bounces: u8,
    },
}

/// Our choice: some minutes on a fabric of 100 switches.
const MAX_SETS: usize = 1_000_000;

/// Invalid failures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FailuresError {
    /// A link to a host.
    #[error("link {link} joins {a} and {b}; only links between switches can fail here: a host has a single link")]
    HostLink {
        /// Link.
        link: u32,
        /// One end.
        a: String,
        /// Other end.
        b: String,
    },
    /// Unknown link.
    #[error("there is no link {link}; allowed: 0 to {last}")]
    NoLink {
        /// Given number.
        link: u32,
        /// Highest number.
        last: u32,
    },
    /// Too many sets.
    #[error("{sets} sets of failed links; at most {MAX_SETS} are possible: have some drawn at random")]
    TooMany {
        /// Number of sets.
        sets: usize,
    },
    /// Without links between switches.
    #[error("the fabric has no links between switches, so none of them can be down")]
    None,
    /// More links down than exist, or none.
    #[error("{links} of {all} links between switches cannot be down at a time; allowed: 1 to {all}")]
    TooFewLinks {
        /// Links down.
        links: u32,
        /// Links between switches.
        all: usize,
    },
}

/// Routing when links fail.
#[derive(Debug, Clone, Copy)]
pub struct Failing<'r> {
    /// Routes without failures.
    pub routes: &'r Routes,
    /// Fixed next hops; also after failures, while their links are up.
    pub given: &'r [FixedHops],
    /// Rules that change tags, and tags of hosts; `None`: one priority.
    pub tags: Option<(&'r Rules, &'r [Tag])>,
}

impl<'r> From<&'r Routes> for Failing<'r> {
    fn from(routes: &'r Routes) -> Self {
        Self { routes, given: &[], tags: None }
    }
}

/// Cyclic dependencies under failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureReport {
    /// True if dependencies are cyclic without failures.
    pub cyclic_before: bool,
    /// Sets checked.
    pub sets: usize,
    /// Sets with cyclic dependencies.
    pub cyclic: usize,
    /// First cyclic sets.
    pub named: Vec<FailedLinks>,
}

/// Failed links with cyclic dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedLinks {
    /// Names of each link's ends.
    pub links: Vec<[String; 2]>,
    /// A shortest cycle.
    pub cycle: NamedCycle,
}

impl Failures {
    fn sets(&self, wiring: &Wiring<'_>) -> Result<Vec<Vec<LinkId>>, FailuresError> {
        let fabric = wiring.fabric();
        let between = |link: &LinkId| {
            let link = fabric.link(*link);
            [link.a, link.b].iter().all(|&port| !wiring.is_host(wiring.node(port)))
        };
        let all: Vec<LinkId> = (0..fabric.links().len() as u32).map(LinkId).filter(between).collect();
        match self {
            Self::Given(sets) => {
                for &link in sets.iter().flatten() {
                    let last = fabric.links().len() as u32 - 1;
                    if link.0 > last {
                        return Err(FailuresError::NoLink { link: link.0, last });
                    }
                    if !between(&link) {
                        let [a, b] = ends(wiring, link);
                        return Err(FailuresError::HostLink { link: link.0, a, b });
                    }
                }
                Ok(sets.clone())
            }
            Self::Single => Ok(all.into_iter().map(|link| vec![link]).collect()),
            Self::Double => {
                let sets = all.len() * all.len().saturating_sub(1) / 2;
                if sets > MAX_SETS {
                    return Err(FailuresError::TooMany { sets });
                }
                let pairs = all.iter().enumerate().flat_map(|(at, &a)| all[at + 1..].iter().map(move |&b| vec![a, b]));
                Ok(pairs.collect())
            }
            Self::Random { .. } if all.is_empty() => Err(FailuresError::None),
            &Self::Random { links, samples, seed } => {
                if links == 0 || links as usize > all.len() {
                    return Err(FailuresError::TooFewLinks { links, all: all.len() });
                }
                if samples as usize > MAX_SETS {
                    return Err(FailuresError::TooMany { sets: samples as usize });
                }
                let links = links as usize;
                if number_of_sets(all.len(), links) <= samples as usize {
                    return Ok(sets_of(&all, links));
                }
                let mut seen = BTreeSet::new();
                let drawn = (0..).map(|sample| draw(all.clone(), links, seed, sample));
                Ok(drawn.filter(|set| seen.insert(set.clone())).take(samples as usize).collect())
            }
        }
    }
}

/// Binomial coefficient, at most the largest number.
fn number_of_sets(all: usize, links: usize) -> usize {
    let more = |sets: usize, taken| Some(sets.checked_mul(all - taken)? / (taken + 1));
    (0..links.min(all - links)).try_fold(1, more).unwrap_or(usize::MAX)
}

/// All sets of so many links, in order.
fn sets_of(all: &[LinkId], links: usize) -> Vec<Vec<LinkId>> {
    if links == 0 {
        return vec![Vec::new()];
    }
    let with_first = |(at, &first): (usize, &LinkId)| {
        let others = sets_of(&all[at + 1..], links - 1).into_iter();
        others.map(move |others| std::iter::once(first).chain(others).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    all.iter().enumerate().take(all.len() + 1 - links).flat_map(with_first).collect()
}

fn draw(mut all: Vec<LinkId>, links: usize, seed: u64, sample: u32) -> Vec<LinkId> {
    watch::check();
    let mut rng = stream(seed, "failed-links", u64::from(sample));
    for drawn in 0..links {
        let other = drawn + below(all.len() - drawn, &mut rng);
        all.swap(drawn, other);
    }
    all.truncate(links);
    all.sort_unstable();
    all
}

fn ends(wiring: &Wiring<'_>, link: LinkId) -> [String; 2] {
    wiring.ends(link)
}

impl Dependencies {
    /// Searches for cyclic dependencies under each set of failed links; names at most `most` sets. [`Rerouting::Local`]
    /// includes packets on earlier routes, except those on failed links.
    ///
    /// # Errors
    /// Links that cannot fail, or too many sets.
    pub fn under_failures<'r>(
        wiring: &Wiring<'_>,
        failing: impl Into<Failing<'r>>,
        failures: &Failures,
        rerouting: Rerouting,
        most: usize,
    ) -> Result<FailureReport, FailuresError> {
        let sets = failures.sets(wiring)?;
        let search = Search::new(wiring, failing.into(), rerouting, sets.iter().map(Vec::len).max().unwrap_or(0));
        let parts = spread(
            "sets of failed links",
            sets.len(),
            || (search.detours(), Vec::new()),
            |(detours, cyclic), at| {
                if search.cyclic(&sets[at], detours) {
                    cyclic.push(at);
                }
            },
        );
        let mut cyclic: Vec<usize> = parts.into_iter().flat_map(|(_, cyclic)| cyclic).collect();
        cyclic.sort_unstable();
        Ok(FailureReport {
            cyclic_before: search.dependencies(search.before.clone()).cyclic(wiring),
            sets: sets.len(),
            cyclic: cyclic.len(),
            named: cyclic.iter().take(most).map(|&at| search.named(&sets[at])).collect(),
        })
    }
}

struct Search<'s, 'f> {
    wiring: &'s Wiring<'f>,
    failing: Failing<'s>,
    routed: Routed<'s>,
    /// Without failures.
    before: TurnSet,
    rerouting: Rerouting,
    dead_ends: DeadEnds,
}

impl<'s, 'f> Search<'s, 'f> {
    fn new(wiring: &'s Wiring<'f>, failing: Failing<'s>, rerouting: Rerouting, links: usize) -> Self {
        let routed = Routed::new(wiring, failing.routes);
        let dead_ends = DeadEnds::new(wiring, &routed, links);
        Self { wiring, before: flood::turns(wiring, failing.routes), failing, routed, rerouting, dead_ends }
    }

    fn dependencies(&self, turns: TurnSet) -> Dependencies {
        match self.failing.tags {
            None => Dependencies::of_turns(turns),
            Some((rules, sent)) => Dependencies::of_tagged_turns(self.wiring, &turns, rules, sent),
        }
    }

    fn detours(&self) -> Detours<'_, 'f> {
        let most = match self.rerouting {
            Rerouting::Converged => 0,
            Rerouting::Local { bounces } => bounces,
        };
        Detours::new(self.wiring, &self.routed, most)
    }

    fn around(&self, down: &[LinkId]) -> Routes {
        let up = |link| !down.contains(&link);
        let Failing { routes, given, .. } = self.failing;
        Routes::along(self.wiring.fabric(), routes.paths(), NextHopOrder::Port, &up, given)
    }

    fn cyclic(&self, down: &[LinkId], detours: &mut Detours<'_, '_>) -> bool {
        self.dependencies(self.turns(down, detours)).cyclic(self.wiring)
    }

    fn turns(&self, down: &[LinkId], detours: &mut Detours<'_, '_>) -> TurnSet {
        if self.rerouting == Rerouting::Converged {
            return flood::turns_alone(self.wiring, &self.around(down));
        }
        let (fabric, mut turns) = (self.wiring.fabric(), self.before.clone());
        for port in down.iter().flat_map(|&link| [fabric.link(link).a, fabric.link(link).b]) {
            for other in self.wiring.of(self.wiring.node(port)) {
                turns.remove(port, other);
                turns.remove(other, port);
            }
        }
        for class in self.dead_ends.classes(self.wiring, &self.routed, down) {
            detours.run(class, down);
            detours.turns().for_each(|(input, output)| {
                turns.insert(input, output);
            });
        }
        turns
    }

    fn named(&self, down: &[LinkId]) -> FailedLinks {
        let mut detours = self.detours();
        let after = self.dependencies(self.turns(down, &mut detours));
        let graph = after.graph(self.wiring);
        let components = graph.components();
        let shortest = components.iter().flat_map(|members| graph.shortest_cycles(members, 1)).min_by_key(Vec::len);
        let turns = turns_of(self.wiring, &shortest.expect("these links come with a cycle"));
        let plain: Vec<_> = turns.iter().map(|&(_, input, output)| (input, output)).collect();
        let users = match self.rerouting {
            Rerouting::Converged => self.users_of(&self.around(down), &plain),
            Rerouting::Local { .. } => self.users(down, &plain, &mut detours),
        };
        FailedLinks {
            links: down.iter().map(|&link| ends(self.wiring, link)).collect(),
            cycle: NamedCycle { cycle: after.named(self.wiring, &turns), users },
        }
    }

    fn users_of(&self, routes: &Routes, turns: &[super::users::Turn]) -> Vec<Users> {
        let result: Result<_, ElpError> = users(self.wiring, &Elp::Routes(routes), turns);
        result.expect("routes have users whether they end or not")
    }

    fn users(&self, down: &[LinkId], turns: &[super::users::Turn], detours: &mut Detours<'_, '_>) -> Vec<Users> {
        let mut all = self.users_of(self.failing.routes, turns);
        for class in self.dead_ends.classes(self.wiring, &self.routed, down) {
            detours.run(class, down);
            for (users, &turn) in all.iter_mut().zip(turns).filter(|(_, turn)| !self.before.contains(turn.0, turn.1)) {
                if let Some(path) = detours.path(turn) {
                    users.destinations = users.destinations.map(|count| count + 1);
                    users.example.get_or_insert_with(|| NamedPath::new(self.wiring, &path));
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_sets_are_listed_once_each() {
        let all: Vec<LinkId> = (0..6).map(LinkId).collect();
        for (links, sets) in [(1, 6), (3, 20), (5, 6), (6, 1)] {
            assert_eq!((number_of_sets(6, links), sets_of(&all, links).len()), (sets, sets));
        }
        assert_eq!(sets_of(&all[..3], 2), [[0, 1], [0, 2], [1, 2]].map(|set| set.map(LinkId).to_vec()));
        assert!(number_of_sets(100_000, 50_000) > 1 << 60, "no overflow");
    }
}
