//! Circular buffer dependencies of a scenario's fabric, as it is and with links down.

use std::fmt;
use std::path::Path;

use incast_deadlock::Wiring;
use incast_deadlock::dependency::{DeadlockReport, Dependencies, FailureReport, Failures, Rerouting};
use incast_model::fabric::{Fabric, LinkId};
use incast_model::nearest::nearest;
use serde::{Deserialize, Serialize};

use super::{PathsOption, Ready, option};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::scenario::Loaded;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckOptions {
    /// Which packets there are.
    pub paths: PathsOption,
    /// Links that are down at a time, each named by its ends as `A-B`; all of one set.
    #[serde(default)]
    pub fail: Vec<String>,
    /// So many links down at a time, 1 or more: every set of one or two, `samples` drawn sets of more.
    #[serde(default)]
    pub failures: Option<u32>,
    /// How many sets of failed links are drawn where not all are looked at.
    pub samples: u32,
    /// Whether routes have converged after a failure; else packets make detours, so many at most.
    pub detours: Option<u8>,
    /// Cycles, and sets of failed links, that are named.
    pub most: usize,
    /// What is drawn at random follows from it.
    pub seed: u64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Checked {
    /// On the fabric as it is.
    Whole(DeadlockReport),
    /// With links down.
    Failed(FailureReport),
}

impl Checked {
    /// Whether no deadlock is possible.
    pub const fn deadlock_free(&self) -> bool {
        match self {
            Self::Whole(report) => report.components.is_empty(),
            Self::Failed(report) => !report.circular_before && report.circular == 0,
        }
    }
}

/// Looks for circular buffer dependencies. Files of paths start at `base`.
pub fn check(loaded: &Loaded, options: &CheckOptions, base: &Path) -> Result<Checked, Diagnostics> {
    let ready = Ready::new(loaded)?;
    let wiring = Wiring::new(&ready.fabric);
    let Some(failures) = options.failed(&ready.fabric)? else {
        let elp = options.paths.elp(&wiring, &ready, base, options.seed)?;
        let dependencies = match options.paths {
            PathsOption::Routes => Dependencies::of_routes(&wiring, ready.routes()?),
            _ => Dependencies::of_paths(&wiring, &elp).map_err(|error| option("paths", error))?,
        };
        let report = dependencies.report(&wiring, options.most, Some(&elp)).map_err(|error| option("paths", error))?;
        return Ok(Checked::Whole(report));
    };
    if options.paths != PathsOption::Routes {
        return Err(option("paths", "links fail under the scenario's routes only: leave --paths out"));
    }
    let rerouting = match options.detours {
        None => Rerouting::Converged,
        Some(bounces) => Rerouting::Local { bounces },
    };
    let found = Dependencies::under_failures(&wiring, ready.routes()?, &failures, rerouting, options.most);
    Ok(Checked::Failed(found.map_err(|error| option("failures", error))?))
}

impl CheckOptions {
    /// The sets of links that fail; `None` if none do.
    fn failed(&self, fabric: &Fabric) -> Result<Option<Failures>, Diagnostics> {
        if !self.fail.is_empty() {
            let links = self.fail.iter().map(|name| link(fabric, name)).collect::<Result<_, _>>()?;
            return Ok(Some(Failures::Given(vec![links])));
        }
        Ok(match self.failures {
            None => None,
            Some(1) => Some(Failures::Single),
            Some(2) => Some(Failures::Double),
            Some(links) => Some(Failures::Random { links, samples: self.samples, seed: self.seed }),
        })
    }
}

/// The link that is named by its ends; of parallel ones the first.
fn link(fabric: &Fabric, name: &str) -> Result<LinkId, Diagnostics> {
    let names = || fabric.nodes().iter().map(|node| node.name.as_str());
    // Names may have dashes of their own.
    let splits: Vec<(&str, &str)> = name.match_indices('-').map(|(at, _)| (&name[..at], &name[at + 1..])).collect();
    let known = |text: &str| names().any(|name| name == text);
    let Some(&(a, b)) = splits.iter().find(|(a, b)| known(a) && known(b)).or(splits.first()) else {
        let found = Diagnostic::new("--fail", format!("`{name}` is no link"));
        return Err(found.allowed("its two ends with a dash between them, such as leaf0-spine1").into());
    };
    if let Some(wrong) = [a, b].into_iter().find(|end| !known(end)) {
        let nearest = nearest(wrong, names()).map(str::to_owned);
        let found = Diagnostic::new("--fail", format!("`{name}`: the fabric has no node `{wrong}`"));
        return Err(Diagnostic { nearest, ..found }.into());
    }
    let ends = |link: &incast_model::fabric::Link| {
        [link.a, link.b].map(|port| fabric.node(fabric.port(port).node).name.as_str())
    };
    let found =
        fabric.links().iter().position(|link| matches!(ends(link), [x, y] if (x, y) == (a, b) || (y, x) == (a, b)));
    found.map(|at| LinkId(at as u32)).ok_or_else(|| {
        let others = fabric.links().iter().map(ends).filter(|ends| ends.contains(&a));
        let mut neighbours: Vec<&str> = others.map(|[x, y]| if x == a { y } else { x }).collect();
        neighbours.dedup();
        let found = Diagnostic::new("--fail", format!("`{name}`: no link joins {a} and {b}"));
        found.allowed(format!("{a} and a neighbour of it: {}", neighbours.join(", "))).into()
    })
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(report) => write!(f, "{report}"),
            Self::Failed(report) => failed(report, f),
        }
    }
}

fn failed(report: &FailureReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let FailureReport { circular_before, sets, circular, named } = report;
    if *circular_before {
        writeln!(f, "some dependencies are circular without any failure: deadlocks are possible")?;
    }
    let of = if *sets == 1 { "1 set" } else { &format!("{sets} sets") };
    if *circular == 0 {
        let free = if *circular_before { "" } else { ": no deadlock is possible" };
        return writeln!(f, "{of} of failed links, none of them with circular dependencies{free}");
    }
    let has = if *circular == 1 { "has" } else { "have" };
    writeln!(f, "{circular} of {of} of failed links {has} circular dependencies: deadlocks are possible")?;
    for one in named {
        let links: Vec<String> = one.links.iter().map(|[a, b]| format!("{a}-{b}")).collect();
        writeln!(f, "\nwith {} down\n{}", links.join(" and "), one.cycle.to_string().trim_end())?;
    }
    match circular - named.len() {
        0 => Ok(()),
        1 => writeln!(f, "\nand 1 set more: --cycles says how many are named"),
        more => writeln!(f, "\nand {more} sets more: --cycles says how many are named"),
    }
}
