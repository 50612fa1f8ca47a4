use std::path::Path;
use std::sync::Arc;

use incast_deadlock::dependency::{
    DeadlockReport, Dependencies, FailureReport, Failures, FailuresError, Part, Rerouting,
};
use incast_deadlock::elp::{Elp, ShortestPaths};
use incast_deadlock::{TurnSet, Wiring};
use incast_model::fabric::LinkId;
use incast_model::field::FieldError;
use incast_model::flow::FlowSet;
use incast_model::routing::{Paths as RoutePaths, Routes};
use incast_model::units::Time;
use incast_sim::network::NetworkParams;
use serde::{Deserialize, Serialize};

use super::links::links;
use super::traffic::{self, Tagged, Traffic};
use super::{PathsOption, Ready, option};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::scenario::given_paths::{GivenPaths, path_set};
use crate::scenario::{self, Loaded};

/// Our choice.
const SAMPLES: u32 = 1000;

/// Options of [`check`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckOptions {
    /// Paths of packets.
    pub paths: PathsOption,
    /// Set of failed links, each `A-B` or `A:PORT-B`.
    #[serde(default)]
    pub fail: Vec<String>,
    /// Links that fail together, 1 or more: every set of one or two, drawn sets of more.
    #[serde(default)]
    pub failures: Option<u32>,
    /// Sets to draw; `None`: all of one or two links, 1000 of more.
    #[serde(default)]
    pub samples: Option<u32>,
    /// Most detours of a packet before routes converge; `None`: converged.
    pub detours: Option<u8>,
    /// Most named cycles and sets of failed links.
    pub most: usize,
    /// Seed of random choices.
    pub seed: u64,
}

/// Result of [`check`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// True if deadlocks are impossible under all schemes.
    pub deadlock_free: bool,
    /// Dependency graphs of lossless priorities.
    pub graphs: Vec<CheckedGraph>,
    /// Packets that never block others.
    pub lossy: Vec<Lossy>,
    /// True without a workload: one lossless priority is assumed.
    pub assumed: bool,
    #[serde(skip)]
    pub(super) schemes: usize,
}

/// Buffers of lossless priorities that can block each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedGraph {
    /// Schemes with this graph.
    pub schemes: Vec<String>,
    /// Priorities: with tags those of tags 1, 2, … in one graph; without tags one equal graph each.
    pub priorities: Vec<u8>,
    /// True if priorities are tags, which switches change.
    pub tagged: bool,
    /// Failed links by their ends.
    pub down: Vec<[String; 2]>,
    /// Result.
    #[serde(flatten)]
    pub found: Found,
}

/// Result for one graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// Result without links that are down.
    Whole(DeadlockReport),
    /// Results per set of failed links.
    Failed(FailureReport),
}

/// Packets that are dropped and never block others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lossy {
    /// Schemes with such packets.
    pub schemes: Vec<String>,
    /// Their priorities.
    pub priorities: Vec<u8>,
    /// Reason for no PFC at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_pfc: Option<&'static str>,
}

impl CheckedGraph {
    /// True if deadlocks are impossible.
    pub const fn deadlock_free(&self) -> bool {
        match &self.found {
            Found::Whole(report) => report.components.is_empty(),
            Found::Failed(report) => !report.cyclic_before && report.cyclic == 0,
        }
    }
}

/// Finds cyclic buffer dependencies per lossless priority and scheme. Relative file names start at `base`.
pub fn check(loaded: &Loaded, options: &CheckOptions, base: &Path) -> Result<Checked, Diagnostics> {
    let ready = Ready::new(loaded)?;
    let down = links(&ready.fabric, &options.fail)?;
    let failures = options.failed(&down)?;
    let scenario = loaded.scenario();
    let flows = scenario
        .tenancy(&ready.fabric, loaded.base_dir())
        .and_then(|tenancy| scenario.flows(&ready.fabric, tenancy.as_ref(), loaded.base_dir()));
    let flows = Arc::new(flows.map_err(|found| loaded.locate(found))?);
    let whole = Wiring::new(&ready.fabric);
    let schemes = traffic::of_schemes(&ready, &whole, &flows)?;
    if options.detours.is_some() {
        schemes.iter().try_for_each(|(names, traffic)| may_detour(loaded, &names[0], &traffic.network))?;
    }
    let without = if failures.is_none() { down.as_slice() } else { &[] };
    let wiring = Wiring::without(&ready.fabric, without);
    let mut search = Search { ready: &ready, options, wiring: &wiring, flows: &flows, failures, known: Vec::new() };
    if options.paths != PathsOption::Routes {
        let elp = options.paths.elp(&wiring, &ready, base, options.seed)?;
        let turns = Dependencies::turns_on(&wiring, &elp).map_err(|error| option("paths", error))?;
        search.known.push((None, Packets { turns, parts: vec![(None, Kind::Paths(elp))] }));
    }
    let (mut graphs, mut lossy) = (Vec::new(), Vec::new());
    for (names, traffic) in &schemes {
        graphs.extend(search.graphs(names, traffic)?);
        if !traffic.lossy.is_empty() || traffic.without_pfc.is_some() {
            let (priorities, without_pfc) = (traffic.lossy.clone(), traffic.without_pfc);
            lossy.push(Lossy { schemes: names.clone(), priorities, without_pfc });
        }
    }
    let deadlock_free = graphs.iter().all(CheckedGraph::deadlock_free);
    Ok(Checked { deadlock_free, graphs, lossy, assumed: loaded.is_fabric_only(), schemes: scenario.scheme.len() })
}

/// Up-down routes forbid the valleys that detours add.
fn may_detour(loaded: &Loaded, scheme: &str, network: &NetworkParams) -> Result<(), Diagnostics> {
    if network.routing != RoutePaths::UpDown {
        return Ok(());
    }
    let what = "`up-down` forbids the valleys that --detours adds: a switch without a route drops packets";
    let bad = FieldError::new("network.routing", what)
        .allowed("no --detours; or `shortest`, for fast reroute and routing with valleys");
    Err(loaded.locate(scenario::located(loaded.scenario(), scheme, bad).into()))
}

impl CheckOptions {
    /// With other paths, down links are no failure: no routes could react.
    fn failed(&self, down: &[LinkId]) -> Result<Option<Failures>, Diagnostics> {
        let of_routes = self.paths == PathsOption::Routes;
        let routes_only = |what: &str| option("paths", format!("{what} the scenario's routes: omit --paths"));
        if !of_routes && self.detours.is_some() {
            return Err(routes_only("detours lead away from"));
        }
        if !down.is_empty() {
            return Ok(of_routes.then(|| Failures::Given(vec![down.to_vec()])));
        }
        let Some(links) = self.failures else { return Ok(None) };
        if !of_routes {
            return Err(routes_only("--failures goes through sets of links under"));
        }
        Ok(Some(match (links, self.samples) {
            (1, None) => Failures::Single,
            (2, None) => Failures::Double,
            (links, samples) => Failures::Random { links, samples: samples.unwrap_or(SAMPLES), seed: self.seed },
        }))
    }
}

struct Packets<'r> {
    turns: TurnSet,
    /// Kind of packets, and time when it adds turns.
    parts: Vec<(Option<String>, Kind<'r>)>,
}

enum Kind<'r> {
    Paths(Elp<'r>),
    Routes(Arc<Routes>),
}

impl Kind<'_> {
    fn elp(&self) -> Elp<'_> {
        match self {
            Self::Paths(elp) => elp.clone(),
            Self::Routes(routes) => Elp::Routes(routes),
        }
    }
}

struct Search<'s> {
    ready: &'s Ready<'s>,
    options: &'s CheckOptions,
    wiring: &'s Wiring<'s>,
    flows: &'s FlowSet,
    failures: Option<Failures>,
    /// `None` if paths do not depend on routing parameters.
    known: Vec<(Option<NetworkParams>, Packets<'s>)>,
}

impl Search<'_> {
    fn graphs(&mut self, names: &[String], traffic: &Traffic) -> Result<Vec<CheckedGraph>, Diagnostics> {
        let at = match self.known.iter().position(|(known, _)| known.as_ref().is_none_or(|one| *one == traffic.network))
        {
            Some(at) => at,
            None => {
                self.known.push((Some(traffic.network.clone()), self.routed(&names[0], &traffic.network)?));
                self.known.len() - 1
            }
        };
        let packets = &self.known[at].1;
        let mut graphs = Vec::new();
        for (priorities, paths) in &traffic.held {
            graphs.push(self.graph(names, (priorities, None), (packets, paths), &traffic.network)?);
        }
        if let Some(tagged) = &traffic.tagged {
            let priorities = (tagged.priorities.as_slice(), Some(tagged));
            graphs.push(self.graph(names, priorities, (packets, &tagged.paths), &traffic.network)?);
        }
        Ok(graphs)
    }

    fn graph(
        &self,
        names: &[String],
        (priorities, tagged): (&[u8], Option<&Tagged>),
        (packets, paths): (&Packets<'_>, &GivenPaths),
        network: &NetworkParams,
    ) -> Result<CheckedGraph, Diagnostics> {
        let (wiring, options) = (self.wiring, self.options);
        let wrong = |error| option("paths", error);
        let mut turns = packets.turns.clone();
        let mut elps: Vec<(Option<&str>, Elp<'_>)> =
            packets.parts.iter().map(|(when, kind)| (when.as_deref(), kind.elp())).collect();
        if options.paths == PathsOption::Routes && !paths.is_empty() {
            let elp = Elp::Paths(path_set(wiring, self.flows, paths));
            turns.union(&Dependencies::turns_on(wiring, &elp).map_err(|error| wrong(error.to_string()))?);
            // First: an explicit path explains more than routes.
            elps.insert(0, (None, elp));
        }
        let dependencies = match tagged {
            None => Dependencies::of_turns(turns),
            Some(Tagged { rules, sent, .. }) => Dependencies::of_tagged_turns(wiring, &turns, rules, sent),
        };
        let mut down = Vec::new();
        let found = match (&self.failures, packets.parts.first()) {
            (Some(failures), Some((_, Kind::Routes(routes)))) => {
                let found = self.failing(failures, routes, tagged, network)?;
                let cyclic_before = found.cyclic_before || dependencies.cyclic(wiring);
                Found::Failed(FailureReport { cyclic_before, ..found })
            }
            _ => {
                let parts: Vec<Part<'_>> = elps.iter().map(|&(when, ref elp)| Part { elp, when }).collect();
                let report = dependencies.report_of(wiring, options.most, &parts);
                down = links(&self.ready.fabric, &options.fail)?.into_iter().map(|link| wiring.ends(link)).collect();
                Found::Whole(report.map_err(|error| wrong(error.to_string()))?)
            }
        };
        let (schemes, priorities) = (names.to_vec(), priorities.to_vec());
        Ok(CheckedGraph { schemes, priorities, tagged: tagged.is_some(), down, found })
    }

    fn failing(
        &self,
        failures: &Failures,
        routes: &Routes,
        tagged: Option<&Tagged>,
        network: &NetworkParams,
    ) -> Result<FailureReport, Diagnostics> {
        let rerouting = match self.options.detours {
            None => Rerouting::Converged,
            Some(bounces) => Rerouting::Local { bounces },
        };
        let given = network.given_hops(&self.ready.fabric, self.ready.loaded.scenario().seed);
        let given = given.expect("routes have been made from them: they fit");
        let tags = tagged.map(|tagged| (&tagged.rules, tagged.sent.as_slice()));
        let failing = incast_deadlock::dependency::Failing { routes, given: &given, tags };
        Dependencies::under_failures(self.wiring, failing, failures, rerouting, self.options.most).map_err(|error| {
            let found = Diagnostic::new("--failures", error.to_string());
            match error {
                FailuresError::TooMany { .. } => found.allowed("--samples N, which draws N of them at random"),
                _ => found,
            }
            .into()
        })
    }

    fn routed(&self, scheme: &str, network: &NetworkParams) -> Result<Packets<'static>, Diagnostics> {
        let (wiring, scenario) = (self.wiring, self.ready.loaded.scenario());
        let changes = !network.route.is_empty() || network.failure.iter().any(|failure| failure.silent.is_none());
        if !changes && network.routing == RoutePaths::Shortest && self.failures.is_none() {
            // Without a table of routes, slow on thousands of switches.
            network.check(&self.ready.fabric, scenario.seed).map_err(|bad| self.located(scheme, bad))?;
            let elp = Elp::Shortest(ShortestPaths::default());
            let turns = Dependencies::turns_on(wiring, &elp).map_err(|error| option("paths", error))?;
            return Ok(Packets { turns, parts: vec![(None, Kind::Paths(elp))] });
        }
        let mut packets = Packets { turns: TurnSet::new(wiring), parts: Vec::new() };
        let mut outcome = Ok(());
        let done =
            network.each_routes(&self.ready.fabric, scenario.seed, &mut |time, routes| match Dependencies::turns_on(
                wiring,
                &Elp::Routes(&routes),
            ) {
                Ok(turns) => {
                    let before = packets.turns.len();
                    packets.turns.union(&turns);
                    if packets.parts.is_empty() || packets.turns.len() > before {
                        let when = (time > Time::ZERO).then(|| format!("from {time}"));
                        packets.parts.push((when, Kind::Routes(routes)));
                    }
                }
                Err(error) => outcome = Err(option("paths", error)),
            });
        done.map_err(|bad| self.located(scheme, bad))?;
        outcome.map(|()| packets)
    }

    fn located(&self, scheme: &str, bad: FieldError) -> Diagnostics {
        let loaded = self.ready.loaded;
        loaded.locate(scenario::located(loaded.scenario(), scheme, bad).into())
    }
}
