//! From text or values to a checked scenario.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Given, Prepared, Scenario, profiles};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::tree::Tree;

/// A scenario with the places of its values, so that what is found wrong with it later can be shown where it stands.
#[derive(Debug, Clone)]
pub struct Loaded {
    scenario: Scenario,
    base_dir: PathBuf,
    given: Given,
}

impl Loaded {
    /// Reads a scenario file; `sets` are overrides such as `workload[0].poisson.load=0.5`.
    pub fn from_path(file: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Diagnostic::new("", format!("cannot read {}: {error}", file.display())))?;
        let base_dir = match file.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        Self::from_text(&file.display().to_string(), &text, base_dir, sets)
    }

    /// Reads a scenario's text. `name` is how messages call it; relative files start at `base_dir`.
    pub fn from_text(name: &str, text: &str, base_dir: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        Self::from_tree(Tree::of_toml(name, text)?, base_dir, sets)
    }

    /// Reads a scenario made of plain values (tables, lists, texts, numbers), as from Python.
    pub fn from_value(value: Value, base_dir: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        match value {
            Value::Object(root) => Self::from_tree(Tree::of_value(root), base_dir, sets),
            _ => Err(Diagnostic::new("", "a scenario is a table of named values").into()),
        }
    }

    fn from_tree(mut tree: Tree, base_dir: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        for set in sets {
            tree.set(set)?;
        }
        let root = tree.root.clone();
        let found = profiles::resolve(&mut tree.root);
        let found = found.into_iter().map(|diagnostic| tree.locate(diagnostic)).collect();
        Diagnostics::check(found)?;
        let scenario: Scenario = tree.typed()?;
        let loaded = Self { scenario, base_dir: base_dir.to_owned(), given: Given { root, tree } };
        loaded.scenario.check().map_err(|found| loaded.locate(found))?;
        Ok(loaded)
    }

    /// The scenario.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The folder that relative files start at.
    pub fn base_dir(&self) -> &Path {
        &self.base_dir
    }

    /// The fabric, the flows, and one setup for each scheme.
    pub fn prepare(&self) -> Result<Prepared, Diagnostics> {
        let prepared = self.scenario.setups(&self.base_dir).map_err(|found| self.locate(found))?;
        Ok(Prepared { given: self.given.clone(), ..prepared })
    }

    /// The same diagnostics with the places of the parameters they are about.
    pub fn locate(&self, found: Diagnostics) -> Diagnostics {
        found.map(|diagnostic| self.given.tree.locate(diagnostic))
    }
}
