//! Scenarios: read, checked, shown, run.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::errors::{detached, fault};
use crate::results::Folder;
use crate::{facade, run};

/// A checked scenario; immutable.
#[pyclass(frozen, module = "incast._core")]
#[derive(Debug)]
pub(crate) struct Scenario(facade::Scenario);

#[pymethods]
impl Scenario {
    /// Reads and checks a scenario file; `overrides` are texts `path=value` that overrule it.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        detached(py, || facade::Scenario::load(&path, &overrides)).map(Self)
    }

    /// Checks a scenario given as JSON text; files it names are looked for in `base`.
    #[staticmethod]
    fn from_json(py: Python<'_>, tree: &str, base: PathBuf, name: &str) -> PyResult<Self> {
        detached(py, || facade::Scenario::from_json(tree, &base, name)).map(Self)
    }

    /// The scenario as it was written, as JSON text.
    fn tree(&self) -> String {
        self.0.tree()
    }

    /// The scenario with every default filled in, as `text`, `json` or `toml`.
    fn show(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        detached(py, || self.0.show(format))
    }

    /// Writes the flows as a trace, CSV or Parquet by the name's ending; returns how many.
    fn write_trace(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        detached(py, || self.0.write_trace(&path))
    }

    /// Runs every scheme and writes the results; `progress` is called with JSON text several times a second.
    #[pyo3(signature = (out, overwrite = false, threads = None, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        out: PathBuf,
        overwrite: bool,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Folder> {
        let options = facade::RunOptions { out, overwrite, threads };
        run::watched(py, progress, |watch| self.0.run(&options, watch)).map(Folder::from)
    }
}

/// The JSON schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    facade::schema()
}

/// What can be named in a scenario, as JSON text: everything, one kind, or one entry of a kind.
#[pyfunction]
#[pyo3(signature = (kind = None, name = None))]
pub(crate) fn catalogue(kind: Option<&str>, name: Option<&str>) -> PyResult<String> {
    facade::catalogue(kind, name).map_err(fault)
}

/// Writes the scenario that the files of an ns-3 RDMA simulation describe; returns notes on what was read.
#[pyfunction]
#[pyo3(signature = (topology, flows, config, out))]
pub(crate) fn import_ns3(
    py: Python<'_>,
    topology: PathBuf,
    flows: PathBuf,
    config: Option<PathBuf>,
    out: PathBuf,
) -> PyResult<String> {
    detached(py, || facade::import_ns3(&topology, &flows, config.as_deref(), &out))
}
