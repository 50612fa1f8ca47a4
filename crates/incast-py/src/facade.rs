//! Functions of `incast-lab` for the binding, with one failure type. Their Python counterparts document them.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use incast_lab::deadlock::{self, CheckOptions, TagOptions, VerifyOptions};
use incast_lab::fabric_export::FabricForm;
use incast_lab::results::{self, Finished, ResultsError, RunProgress, SchemeState, SlowdownOptions, SlowdownTable};
use incast_lab::show::TYPICAL_RATE;
use incast_lab::{Diagnostics, Loaded, Prepared, Warning};
use serde::Serialize;
use serde_json::Value;

/// Cause of a failure; decides exception and exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Wrong scenario, or wrong file for it.
    Scenario,
    /// Folder without results or table.
    Results,
    Damaged,
    /// Existing output that may not be overwritten, or that another run writes.
    Exists,
    /// Unwritable folder, full disk, ….
    Environment,
    Interrupted,
    /// Defect of incast.
    Internal,
}

impl Kind {
    /// Name in Python.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Results => "results",
            Self::Damaged => "damaged",
            Self::Exists => "exists",
            Self::Environment => "environment",
            Self::Interrupted => "interrupted",
            Self::Internal => "internal",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), diagnostics: Vec::new() }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Diagnostic {
    pub(crate) message: String,
    pub(crate) field: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
    pub(crate) allowed: Option<String>,
    pub(crate) nearest: Option<String>,
}

impl From<Diagnostics> for Failure {
    fn from(found: Diagnostics) -> Self {
        let text = found.to_string();
        let diagnostics = found.into_iter().map(|one| {
            let (file, line, column) = one
                .place
                .map(|place| (place.file, place.line, place.column))
                .map_or((None, None, None), |place| (Some(place.0), Some(place.1), Some(place.2)));
            let field = Some(one.path).filter(|path| !path.is_empty());
            Diagnostic { message: one.message, field, file, line, column, allowed: one.allowed, nearest: one.nearest }
        });
        Self { kind: Kind::Scenario, text, diagnostics: diagnostics.collect() }
    }
}

impl From<ResultsError> for Failure {
    fn from(error: ResultsError) -> Self {
        let text = error.to_string();
        let kind = match error {
            ResultsError::Setup(found) => return found.into(),
            ResultsError::Exists { .. } | ResultsError::Busy { .. } => Kind::Exists,
            ResultsError::Write { .. } => Kind::Environment,
            ResultsError::Interrupted => Kind::Interrupted,
            ResultsError::NotResults { .. } | ResultsError::UnknownTable { .. } | ResultsError::Older { .. } => {
                Kind::Results
            }
            ResultsError::Damaged(_) => Kind::Damaged,
            _ => Kind::Internal,
        };
        Self::new(kind, text)
    }
}

#[derive(Debug, Clone, Serialize)]
struct SchemeProgress<'a> {
    scheme: &'a str,
    state: &'static str,
    now_ps: u64,
    events: u64,
    packet_hops: u64,
    flows_done: u64,
    flows: u64,
    bytes_acked: u64,
    bytes: u64,
    end_ps: Option<u64>,
}

/// Progress as JSON text, an object per scheme.
pub(crate) fn progress_json(run: &RunProgress) -> String {
    let schemes: Vec<_> = (run.schemes.iter())
        .map(|scheme| SchemeProgress {
            scheme: &scheme.name,
            state: match scheme.state {
                SchemeState::Waiting => "waiting",
                SchemeState::Running => "running",
                SchemeState::Done => "done",
            },
            now_ps: scheme.progress.now.0,
            events: scheme.progress.events,
            packet_hops: scheme.progress.packet_hops,
            flows_done: scheme.progress.flows_done,
            flows: scheme.progress.flows,
            bytes_acked: scheme.progress.bytes_acked,
            bytes: scheme.progress.bytes,
            end_ps: scheme.progress.end.map(|end| end.0),
        })
        .collect();
    json(&schemes)
}

/// Plain data; cannot fail.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(crate) type Watch<'a> = dyn FnMut(&RunProgress) -> ControlFlow<()> + 'a;

pub(crate) use incast_lab::results::RunOptions;

/// Constant columns from a JSON object.
pub(crate) fn labels(columns: Option<&str>) -> Result<results::Labels, Failure> {
    let bad = |error: serde_json::Error| Failure::new(Kind::Scenario, format!("columns: {error}"));
    columns.map(serde_json::from_str).transpose().map_err(bad).map(Option::unwrap_or_default)
}

#[derive(Debug)]
pub(crate) struct Batches {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

#[derive(Debug)]
pub(crate) struct Scenario {
    loaded: Arc<Loaded>,
    /// Fabric, flows and setups, made on first use.
    prepared: OnceLock<Prepared>,
}

impl From<Loaded> for Scenario {
    fn from(loaded: Loaded) -> Self {
        Self { loaded: Arc::new(loaded), prepared: OnceLock::new() }
    }
}

fn read_options<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(Kind::Scenario, error.to_string()))
}

impl Scenario {
    pub(crate) fn load(path: &Path, overrides: &[String]) -> Result<Self, Failure> {
        Ok(Loaded::from_path(path, overrides)?.into())
    }

    pub(crate) fn load_fabric(path: &Path, overrides: &[String]) -> Result<Self, Failure> {
        Ok(Loaded::fabric_from_path(path, overrides)?.into())
    }

    pub(crate) fn from_json(tree: &str, base: &Path) -> Result<Self, Failure> {
        let tree = serde_json::from_str(tree).map_err(|error| Failure::new(Kind::Scenario, error.to_string()))?;
        Ok(Loaded::from_value(tree, base, &[])?.into())
    }

    /// Makes fabric, flows and setups.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        self.prepared().map(drop)
    }

    fn prepared(&self) -> Result<&Prepared, Failure> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let prepared = self.loaded.prepare()?;
        Ok(self.prepared.get_or_init(|| prepared))
    }

    /// Whole scenario with defaults; absent values are `"none"`, as in files.
    fn tree(&self) -> Value {
        let mut tree = self.loaded.to_value();
        spell_absent(&mut tree);
        tree
    }

    pub(crate) fn whole(&self, format: &str) -> String {
        match format {
            "json" => json(&self.tree()),
            _ => self.loaded.to_toml(),
        }
    }

    pub(crate) fn summary(&self, format: &str) -> Result<String, Failure> {
        let show = incast_lab::show(self.prepared()?, TYPICAL_RATE);
        Ok(match format {
            "json" => {
                let mut value = serde_json::to_value(&show).unwrap_or_default();
                value["scenario"] = self.tree();
                value.to_string()
            }
            _ => show.to_string(),
        })
    }

    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded)
    }

    pub(crate) fn key(&self) -> Result<String, Failure> {
        self.loaded.key().map_err(|found| Diagnostics::from(found).into())
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.loaded.files()
    }

    pub(crate) fn synthetic(&self) -> Vec<String> {
        incast_lab::synthetic(&self.loaded.scenario().workload)
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.prepared()?.check_simulations().map_err(|found| self.loaded.locate(found).into())
    }

    pub(crate) fn warnings(&self) -> Result<Vec<String>, Failure> {
        let prepared = self.prepared()?;
        Ok(summaries(prepared.warnings(), prepared.schemes.len()))
    }

    pub(crate) fn run(&self, out: &Path, options: RunOptions, watch: &mut Watch<'_>) -> Result<Folder, Failure> {
        results::run(self.prepared()?, out, options, watch).map_err(|error| match error {
            ResultsError::Setup(found) => self.loaded.locate(found).into(),
            other => Failure::from(other),
        })?;
        Folder::open(out)
    }

    pub(crate) fn write_fabric(&self, form: &str, path: &Path, overwrite: bool) -> Result<String, Failure> {
        let form = if form == "dot" { FabricForm::Dot } else { FabricForm::Ns3 };
        let export = incast_lab::export_fabric(&self.loaded, form, path)?;
        export.write(overwrite).map_err(|error| not_written(path, &error))?;
        Ok(lines(&export.notices))
    }

    pub(crate) fn thresholds(&self) -> Result<String, Failure> {
        Ok(json(&incast_lab::thresholds::thresholds(self.prepared()?)))
    }

    pub(crate) fn fabric(&self) -> Result<String, Failure> {
        Ok(incast_lab::fabric_export::fabric_json(&self.loaded)?.to_string())
    }

    pub(crate) fn write_trace(&self, path: &Path) -> Result<usize, Failure> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !["csv", "parquet"].contains(&ending) {
            let text = format!("{}: the name of a trace ends in .csv or .parquet", path.display());
            return Err(Failure::new(Kind::Scenario, text));
        }
        let prepared = self.prepared()?;
        incast_lab::trace::export_trace(&prepared.flows, path).map_err(|error| {
            let _ = std::fs::remove_file(path);
            if error.kind() == ErrorKind::InvalidInput {
                return Failure::new(Kind::Scenario, error.to_string());
            }
            Failure::new(Kind::Environment, format!("cannot write {}: {error}", path.display()))
        })?;
        Ok(prepared.flows.flows.len())
    }
}

pub(crate) fn deadlock_check(loaded: &Loaded, options: &str, base: &Path) -> Result<(bool, String, String), Failure> {
    let options: CheckOptions = read_options(options)?;
    let found = deadlock::check(loaded, &options, base)?;
    Ok((found.deadlock_free, found.to_string(), json(&found)))
}

/// Report, and files by name.
pub(crate) type Tagged = (String, Vec<(String, String)>);

pub(crate) fn deadlock_tag(loaded: &Loaded, options: &str, base: &Path, format: &str) -> Result<Tagged, Failure> {
    let options: TagOptions = read_options(options)?;
    let (made, files) = deadlock::tag(loaded, &options, base)?;
    let text = if format == "json" { json(&made) } else { made.to_string() };
    Ok((text, files.into_iter().map(|file| (file.name, file.text)).collect()))
}

pub(crate) fn deadlock_verify(loaded: &Loaded, options: &str, base: &Path) -> Result<(bool, String, String), Failure> {
    let options: VerifyOptions = read_options(options)?;
    let found = deadlock::verify(loaded, &options, base)?;
    Ok((found.holds(), found.to_string(), json(&found)))
}

/// Replaces absent values by `"none"`: TOML cannot express them.
fn spell_absent(tree: &mut Value) {
    match tree {
        Value::Null => *tree = Value::String("none".into()),
        Value::Array(items) => items.iter_mut().for_each(spell_absent),
        Value::Object(table) => table.values_mut().for_each(spell_absent),
        _ => {}
    }
}

pub(crate) fn schema() -> String {
    serde_json::to_string_pretty(&incast_lab::Scenario::schema()).unwrap_or_default()
}

pub(crate) fn catalogue() -> String {
    json(&incast_lab::catalogue())
}

pub(crate) fn results_catalogue() -> String {
    json(&results::results_catalogue())
}

pub(crate) fn renamed(name: &str, names: &[String]) -> Option<String> {
    incast_lab::renamed(name, names.iter().map(String::as_str)).map(str::to_owned)
}

pub(crate) fn tagger_facts() -> String {
    json(&deadlock::table_facts())
}

pub(crate) fn tagger_row(convention: &str, switches: u32, ports: u32, seed: u64) -> Result<String, Failure> {
    Ok(json(&deadlock::table_row(convention, switches, ports, seed)?))
}

pub(crate) fn import_ns3(
    topology: &Path,
    flows: &Path,
    configs: &[PathBuf],
    out: &Path,
    overwrite: bool,
) -> Result<String, Failure> {
    let import = incast_lab::import_ns3(topology, flows, configs, out)?;
    import.write(overwrite).map_err(|error| not_written(out, &error))?;
    Ok(lines(&import.notices))
}

fn not_written(file: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => Failure::new(Kind::Exists, format!("{} exists already", file.display())),
        _ => Failure::new(Kind::Environment, format!("cannot write {}: {error}", file.display())),
    }
}

fn lines(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Lines for a scenario with `schemes` schemes.
fn summaries(warnings: &[Warning], schemes: usize) -> Vec<String> {
    warnings.iter().map(|warning| warning.summary(schemes)).collect()
}

#[derive(Debug)]
pub(crate) struct Folder(results::Results);

impl Folder {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        Ok(Self(results::Results::open(path)?))
    }

    pub(crate) fn verify(path: &Path) -> Result<(usize, Vec<(PathBuf, String)>), Failure> {
        let results = results::Results::open_unchecked(path)?;
        let damage = results.verify().into_iter().map(|damage| (damage.file, damage.why)).collect();
        Ok((results.manifest().tables.len(), damage))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.folder().to_owned()
    }

    pub(crate) fn manifest(&self) -> String {
        json(self.0.manifest())
    }

    pub(crate) fn scenario_dir(&self) -> PathBuf {
        self.0.scenario_dir()
    }

    /// Relative file names start as in the run.
    pub(crate) fn scenario(&self) -> Result<Scenario, Failure> {
        Ok(self.0.scenario()?.into())
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        summaries(&self.0.manifest().warnings, self.0.manifest().schemes.len())
    }

    pub(crate) fn tables(&self) -> Vec<String> {
        self.0.manifest().tables.keys().cloned().collect()
    }

    pub(crate) fn table(&self, name: &str) -> Result<Batches, Failure> {
        let reader = self.0.table(name)?;
        Ok(Batches { schema: reader.schema(), batches: reader.collect::<Result<_, _>>()? })
    }

    pub(crate) fn slowdown(
        &self,
        options: &str,
        groups: Option<Vec<(String, Vec<String>)>>,
    ) -> Result<Vec<(String, SlowdownTable)>, Failure> {
        let (options, flows) = self.finished(options)?;
        let alone = || flows.labels().into_iter().map(|label| (label.to_owned(), vec![label.to_owned()])).collect();
        let groups: Vec<(String, Vec<String>)> = groups.unwrap_or_else(alone);
        let table = |labels| results::slowdown_bins(&flows, &SlowdownOptions { labels, ..options.clone() });
        Ok(groups.into_iter().map(|(name, labels)| (name, table(labels))).collect())
    }

    pub(crate) fn slowdown_text(&self, options: &str) -> Result<String, Failure> {
        let (options, flows) = self.finished(options)?;
        Ok(results::slowdown_text(&flows, &options))
    }

    fn finished(&self, options: &str) -> Result<(SlowdownOptions, Finished), Failure> {
        let options: SlowdownOptions =
            serde_json::from_str(options).map_err(|error| Failure::new(Kind::Results, error.to_string()))?;
        let flows = Finished::of_results(&self.0, options.ideal)?;
        Ok((options, flows))
    }
}
