use std::path::{Path, PathBuf};

use incast_deadlock::Wiring;
use incast_deadlock::elp::{Choice, Elp, PathSet, Roots, ShortestPaths, UpDown};
use incast_model::input::{self, InputError};
use incast_model::nearest::nearest;
use serde::Deserialize;

use super::{Ready, option};
use crate::diagnostic::{Diagnostic, Diagnostics};

const KINDS: [&str; 5] = ["routes", "shortest", "trees", "random", "up-down"];

const MOST_PER_PAIR: u32 = 1000;

/// Paths from host to host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathsOption {
    /// Routes of the scenario.
    Routes,
    /// All shortest paths.
    Shortest,
    /// A random shortest-path tree per server.
    Trees,
    /// Random shortest paths per pair of switches with hosts, for all single-link hosts.
    Random {
        /// Paths per pair, 1 to 1000.
        per_pair: u32,
    },
    /// Paths up and down the tiers.
    UpDown {
        /// Most bounces of a path.
        bounces: u8,
    },
    /// Paths of a file, one a line.
    File(PathBuf),
}

impl PathsOption {
    pub(super) fn elp<'r>(
        &self,
        wiring: &Wiring<'_>,
        ready: &'r Ready<'_>,
        base: &Path,
        seed: u64,
    ) -> Result<Elp<'r>, Diagnostics> {
        Ok(match self {
            Self::Routes => Elp::Routes(ready.routes()?),
            Self::Shortest => Elp::Shortest(ShortestPaths::default()),
            Self::Trees => Elp::Shortest(ShortestPaths {
                choice: Choice::Random,
                roots: Roots::Host,
                seed,
                ..ShortestPaths::default()
            }),
            Self::Random { per_pair: per_pair @ 1..=MOST_PER_PAIR } => {
                Elp::Paths(PathSet::random_shortest(wiring, *per_pair, seed))
            }
            Self::Random { per_pair } => {
                return Err(option("per-pair", format!("{per_pair}; allowed: 1 to {MOST_PER_PAIR}")));
            }
            Self::UpDown { bounces } => Elp::UpDown(UpDown { bounces: *bounces }),
            Self::File(file) => {
                let shown = file.display();
                let text = input::read_text(&base.join(file), input::LARGE).map_err(|error| unread(file, &error))?;
                let paths =
                    PathSet::parse(wiring, &text).map_err(|error| option("paths", format!("{shown}: {error}")))?;
                if paths.is_empty() {
                    return Err(option("paths", format!("{shown} has no path")));
                }
                Elp::Paths(paths)
            }
        })
    }
}

fn unread(file: &Path, error: &InputError) -> Diagnostics {
    let name = file.to_string_lossy();
    let found = Diagnostic::new("--paths", format!("`{name}`: {error}"));
    let nearest = nearest(&name, KINDS).map(str::to_owned);
    Diagnostic { nearest, ..found.allowed(format!("{}, or a file of paths", KINDS.join(", "))) }.into()
}
