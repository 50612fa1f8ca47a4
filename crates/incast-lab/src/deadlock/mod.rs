//! Deadlocks of a fabric, and tags and rules that prevent them.

mod check;
mod links;
mod paths;
mod table;
mod tag;
#[cfg(test)]
mod tests;
mod text;
mod traffic;
mod verify;

use std::cell::OnceCell;
use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::routing::Routes;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::scenario::Loaded;

pub use incast_deadlock::{Stage, Stopped, Watch};

pub use check::{CheckOptions, Checked, CheckedGraph, Found, Lossy, check};
pub use paths::PathsOption;
pub use table::{TableFacts, table_facts, table_row};
pub use tag::{ExportForm, Method, RuleFile, TagOptions, TagShow, tag};
pub use verify::{Verified, VerifiedFile, VerifyOptions, verify};

/// Made on first use: slow on thousands of switches.
struct Ready<'l> {
    loaded: &'l Loaded,
    fabric: Fabric,
    routes: OnceCell<Arc<Routes>>,
}

impl<'l> Ready<'l> {
    fn new(loaded: &'l Loaded) -> Result<Self, Diagnostics> {
        let fabric = loaded.scenario().build_fabric(loaded.base_dir()).map_err(|found| loaded.locate(found))?;
        Ok(Self { loaded, fabric, routes: OnceCell::new() })
    }

    fn routes(&self) -> Result<&Routes, Diagnostics> {
        if let Some(made) = self.routes.get() {
            return Ok(made);
        }
        let scenario = self.loaded.scenario();
        let made = scenario.network.routes(&self.fabric, scenario.seed).map_err(|bad| {
            let found =
                Diagnostic { allowed: bad.allowed, nearest: bad.nearest, ..Diagnostic::new(bad.field, bad.message) };
            self.loaded.locate(found.into())
        })?;
        Ok(self.routes.get_or_init(|| made))
    }
}

fn option(name: &str, message: impl ToString) -> Diagnostics {
    Diagnostic::new(format!("--{name}"), message.to_string()).into()
}
