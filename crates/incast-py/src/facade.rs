//! What the binding needs of `incast-lab`, in one place.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde::Serialize;

/// Whose fault a failure is; decides the exception and the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Something given to incast is wrong: a scenario, a file to import, a name, a results folder.
    Input,
    /// The machine: a folder that cannot be written, a full disk.
    Environment,
    /// The results folder exists and was not to be overwritten.
    Exists,
    /// The caller asked to stop.
    Interrupted,
}

impl Kind {
    /// Its name on the Python side.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Environment => "environment",
            Self::Exists => "exists",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A failure with everything needed to report it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// The whole report as a person reads it, source lines included.
    pub(crate) text: String,
    /// The same, item by item.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// One located problem.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Diagnostic {
    pub(crate) file: Option<PathBuf>,
    /// From 1.
    pub(crate) line: Option<usize>,
    /// From 1, in characters.
    pub(crate) column: Option<usize>,
    /// Dotted path such as `switch.buffer`.
    pub(crate) field: Option<String>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// How far one scheme has come.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct SchemeProgress {
    pub(crate) scheme: String,
    /// `waiting`, `running` or `done`.
    pub(crate) state: &'static str,
    pub(crate) now_ps: u64,
    pub(crate) events: u64,
    pub(crate) packet_hops: u64,
    pub(crate) flows_done: u64,
    pub(crate) flows: u64,
    pub(crate) bytes_acked: u64,
    pub(crate) bytes: u64,
}

/// How a run is to be carried out; nothing here changes its results.
#[derive(Debug, Clone)]
pub(crate) struct RunOptions {
    /// Folder for the results.
    pub(crate) out: PathBuf,
    /// Replace a results folder that is there.
    pub(crate) overwrite: bool,
    /// Schemes run at once; `None` is one per core.
    pub(crate) threads: Option<usize>,
}
/// Watches a run and may stop it.
pub(crate) type Watch<'a> = dyn Fn(&SchemeProgress) -> ControlFlow<()> + Sync + 'a;
/// A table in memory.
#[derive(Debug)]
pub(crate) struct Batches {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

/// Values that overrule the file, as `path=value` (`switch.buffer=16MB`).
pub(crate) type Overrides = [String];

fn missing<T>() -> Result<T, Failure> {
    Err(Failure { kind: Kind::Environment, text: "not built yet".into(), diagnostics: Vec::new() })
}

/// A checked scenario.
#[derive(Debug)]
pub(crate) struct Scenario {}

impl Scenario {
    pub(crate) fn load(_path: &Path, _overrides: &Overrides) -> Result<Self, Failure> {
        missing()
    }
    pub(crate) fn from_json(_tree: &str, _base: &Path, _name: &str) -> Result<Self, Failure> {
        missing()
    }
    pub(crate) fn tree(&self) -> String {
        String::new()
    }
    pub(crate) fn show(&self, _format: &str) -> Result<String, Failure> {
        missing()
    }
    pub(crate) fn run(&self, _options: &RunOptions, _watch: &Watch<'_>) -> Result<Folder, Failure> {
        missing()
    }
    pub(crate) fn write_trace(&self, _path: &Path) -> Result<u64, Failure> {
        missing()
    }
}

pub(crate) fn schema() -> String {
    String::new()
}
pub(crate) fn catalogue(_kind: Option<&str>, _name: Option<&str>) -> Result<String, Failure> {
    missing()
}
pub(crate) fn import_ns3(
    _topology: &Path,
    _flows: &Path,
    _config: Option<&Path>,
    _out: &Path,
) -> Result<String, Failure> {
    missing()
}

/// A results folder.
#[derive(Debug)]
pub(crate) struct Folder {}

impl Folder {
    pub(crate) fn open(_path: &Path) -> Result<Self, Failure> {
        missing()
    }
    pub(crate) fn path(&self) -> &Path {
        Path::new("")
    }
    pub(crate) fn manifest(&self) -> String {
        String::new()
    }
    pub(crate) fn tables(&self) -> Vec<String> {
        Vec::new()
    }
    pub(crate) fn table(&self, _name: &str) -> Result<Batches, Failure> {
        missing()
    }
    pub(crate) fn slowdown(&self) -> Result<Batches, Failure> {
        missing()
    }
}
