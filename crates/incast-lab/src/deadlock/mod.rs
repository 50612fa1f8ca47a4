//! What could deadlock on the fabric of a scenario, and the tags and rules that prevent it.

mod check;
mod paths;
mod tag;
#[cfg(test)]
mod tests;

use incast_model::fabric::Fabric;
use incast_model::routing::Routes;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::scenario::Loaded;

pub use check::{CheckOptions, Checked, check};
pub use paths::PathsOption;
pub use tag::{ExportForm, Method, RuleFile, TagOptions, TagShow, tag};

/// A fabric with the routes of a scenario.
struct Ready {
    fabric: Fabric,
    routes: Routes,
}

impl Ready {
    fn new(loaded: &Loaded) -> Result<Self, Diagnostics> {
        let scenario = loaded.scenario();
        let fabric = scenario.build_fabric(loaded.base_dir()).map_err(|found| loaded.locate(found))?;
        let routes = scenario.network.routes(&fabric, scenario.seed).map_err(|bad| {
            let found =
                Diagnostic { allowed: bad.allowed, nearest: bad.nearest, ..Diagnostic::new(bad.field, bad.message) };
            loaded.locate(found.into())
        })?;
        Ok(Self { fabric, routes })
    }
}

/// An option of the command that cannot be as it is.
fn option(name: &str, message: impl ToString) -> Diagnostics {
    Diagnostic::new(format!("--{name}"), message.to_string()).into()
}
