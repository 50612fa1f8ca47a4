use std::path::{Path, PathBuf};
use std::sync::Arc;

use incast_model::fabric::GENERATORS;
use incast_model::input;
use serde_json::{Value, json};

use super::elsewhere::with_tables;
use super::most::too_many;
use super::{Given, Prepared, Scenario, StandIns, given, profiles};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::text_file;
use crate::tree::path::{self, Step};
use crate::tree::{Layout, Tree};

/// Scenario with places of values, for later errors.
#[derive(Debug, Clone)]
pub struct Loaded {
    scenario: Scenario,
    base_dir: PathBuf,
    given: Arc<Given>,
    stand_ins: StandIns,
}

impl Loaded {
    /// Reads a scenario file; `sets`: overrides (`workload[0].poisson.load=0.5`).
    pub fn from_path(file: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        let (tree, base_dir) = read(file)?;
        Self::from_tree(tree, &base_dir, sets)
    }

    /// Reads a file for its fabric: without a workload, one default flow and, if absent too, a scheme stand in.
    pub fn fabric_from_path(file: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        let (mut tree, base_dir) = read(file)?;
        let workload = !tree.root.contains_key("workload");
        let stand_ins = StandIns { workload, scheme: workload && !tree.root.contains_key("scheme") };
        if stand_ins.workload {
            tree.root.insert("workload".into(), json!([{ "list": [{ "src": 0, "dst": 1, "size": 1 }] }]));
        }
        if stand_ins.scheme {
            tree.root.insert("scheme".into(), json!({ "any": { "control": "unlimited" } }));
        }
        Ok(Self { stand_ins, ..Self::from_tree(tree, &base_dir, sets)? })
    }

    /// True without a workload.
    pub const fn is_fabric_only(&self) -> bool {
        self.stand_ins.workload
    }

    /// Scenario as TOML with defaults, without stand-ins.
    pub fn to_toml(&self) -> String {
        self.scenario.toml_without(self.stand_ins)
    }

    /// Scenario with defaults as plain values, without stand-ins.
    pub fn to_value(&self) -> Value {
        let mut value = given::value(&self.scenario);
        if let Value::Object(root) = &mut value {
            let StandIns { workload, scheme } = self.stand_ins;
            root.retain(|section, _| !(workload && section == "workload" || scheme && section == "scheme"));
        }
        value
    }

    /// `name`: the text's, in messages; relative files start at `base_dir`.
    pub fn from_text(name: &str, text: &str, base_dir: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        Self::from_tree(Tree::of_toml(name, text)?, base_dir, sets)
    }

    /// Reads plain values (tables, lists, texts, numbers), as from Python.
    pub fn from_value(value: Value, base_dir: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        match value {
            Value::Object(root) => Self::from_tree(Tree::of_value(root), base_dir, sets),
            _ => Err(Diagnostic::new("", "a scenario is a table of named values").into()),
        }
    }

    fn from_tree(mut tree: Tree, base_dir: &Path, sets: &[String]) -> Result<Self, Diagnostics> {
        // Without overrides nothing reads the text once more.
        let written = if sets.is_empty() { Tree::default() } else { tree.clone() };
        for set in sets {
            tree.set(set)?;
        }
        Diagnostics::check(tree.control_characters(Layout::Refused))?;
        Diagnostics::check(tree.locate_all(too_many(&tree.root)))?;
        let root = tree.root.clone();
        let found = profiles::resolve(&mut tree.root);
        Diagnostics::check(tree.locate_all(found))?;
        let scenario: Scenario = tree
            .take_typed()
            .map_err(|wrong| with_whole_path(with_tables(with_generators(wrong)), written, base_dir, sets))?;
        let loaded = Self {
            scenario,
            base_dir: base_dir.to_owned(),
            given: Arc::new(Given { root, tree }),
            stand_ins: StandIns::default(),
        };
        loaded
            .scenario
            .check()
            .map_err(|found| loaded.locate(found).map(|all| all.into_iter().map(with_tables).collect()))?;
        Ok(loaded)
    }

    /// Returns the scenario.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Folder of relative files.
    pub fn base_dir(&self) -> &Path {
        &self.base_dir
    }

    /// Builds fabric, flows, and a setup per scheme.
    pub fn prepare(&self) -> Result<Prepared, Diagnostics> {
        let prepared = self.scenario.setups(&self.base_dir).map_err(|found| self.locate(found))?;
        Ok(Prepared { given: self.given.clone(), stand_ins: self.stand_ins, ..prepared })
    }

    /// Adds places of parameters.
    pub fn locate(&self, found: Diagnostics) -> Diagnostics {
        found.map(|all| self.given.tree.locate_all(all))
    }
}

/// A missing fabric's diagnostic gets the names of generators.
fn with_generators(wrong: Diagnostic) -> Diagnostic {
    if !wrong.path.is_empty() || wrong.message != "missing field `fabric`" {
        return wrong;
    }
    let names: Vec<&str> = GENERATORS.iter().map(|(name, _)| *name).collect();
    let known = format!("a table such as [fabric.leaf_spine], with one of {}", names.join(", "));
    Diagnostic { message: "the scenario has no fabric".into(), ..wrong }.allowed(known)
}

/// For an unknown first name, suggests paths with the same ending.
fn with_whole_path(mut diagnostic: Diagnostic, written: Tree, base_dir: &Path, sets: &[String]) -> Diagnostic {
    let unknown = diagnostic.message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let text = diagnostic.place.as_ref().filter(|place| place.file == "--set").map(|place| place.text.clone());
    let (Some(unknown), Some(text)) = (unknown, text) else { return diagnostic };
    let steps = text.split_once('=').and_then(|(wanted, _)| path::parse(wanted).ok()).unwrap_or_default();
    if steps.first() != Some(&Step::Key(unknown.to_owned())) {
        return diagnostic;
    }
    let others: Vec<String> = sets.iter().filter(|set| **set != text).cloned().collect();
    if others.len() == sets.len() {
        // Not an override: reading without it would fail again.
        return diagnostic;
    }
    let Ok(whole) = Loaded::from_tree(written, base_dir, &others) else { return diagnostic };
    let mut found = Vec::new();
    ending(&given::value(whole.scenario()), &mut Vec::new(), &steps, &mut found);
    match &found[..] {
        [] => {}
        [one] => diagnostic.nearest = Some(one.clone()),
        several => {
            diagnostic.nearest = None;
            diagnostic.allowed = Some(several.join(", "));
        }
    }
    diagnostic
}

fn ending(value: &Value, at: &mut Vec<Step>, steps: &[Step], found: &mut Vec<String>) {
    if at.len() > steps.len() && at.ends_with(steps) {
        found.push(path::print(at));
    }
    let inner: Vec<(Step, &Value)> = match value {
        Value::Object(table) => table.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in inner {
        at.push(step);
        ending(value, at, steps, found);
        at.pop();
    }
}

/// Values, and folder of relative files.
fn read(file: &Path) -> Result<(Tree, PathBuf), Diagnostics> {
    let text = text_file::read(file)?;
    Ok((Tree::of_toml(&file.display().to_string(), &text)?, base_dir(file)))
}

/// Folder of relative files; the scenario of a results folder has those of the run's scenario.
fn base_dir(file: &Path) -> PathBuf {
    let parent = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let of_run = || {
        let manifest = file.ends_with("scenario.toml").then(|| parent.join("manifest.json"))?;
        let manifest: Value = serde_json::from_str(&input::read_text(&manifest, input::DOCUMENT).ok()?).ok()?;
        Some(parent.join(manifest.get("scenario_dir")?.as_str()?))
    };
    of_run().unwrap_or_else(|| parent.to_owned())
}
