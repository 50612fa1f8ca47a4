//! Scenarios: read, checked, shown, run.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::errors::fault;
use crate::results::Folder;
use crate::run::{detached, shared, unbroken};
use crate::{facade, run};

/// Checked scenario; immutable.
#[pyclass(frozen, module = "incast._core")]
#[derive(Debug)]
pub(crate) struct Scenario(Arc<facade::Scenario>);

impl<'py> IntoPyObject<'py> for facade::Scenario {
    type Target = Scenario;
    type Output = Bound<'py, Scenario>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        Bound::new(py, Scenario::from(self))
    }
}

impl From<facade::Scenario> for Scenario {
    fn from(scenario: facade::Scenario) -> Self {
        Self(Arc::new(scenario))
    }
}

#[pymethods]
impl Scenario {
    /// Reads and checks a scenario file; `overrides`: `path=value`.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        detached(py, move || facade::Scenario::load(&path, &overrides)).map(Self::from)
    }

    /// Reads a file for its fabric: workload and schemes may both be missing.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load_fabric(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        detached(py, move || facade::Scenario::load_fabric(&path, &overrides)).map(Self::from)
    }

    /// Checks a scenario from JSON text; relative files start at `base`.
    #[staticmethod]
    fn from_json(py: Python<'_>, tree: String, base: PathBuf) -> PyResult<Self> {
        detached(py, move || facade::Scenario::from_json(&tree, &base)).map(Self::from)
    }

    /// Whole scenario with defaults, as `json` or `toml`.
    fn whole(&self, format: &str) -> String {
        self.0.whole(format)
    }

    /// SHA-256 of scenario, its files and the build; equal keys have equal results.
    fn key(&self, py: Python<'_>) -> PyResult<String> {
        shared(py, &self.0, facade::Scenario::key)
    }

    /// Files named by fabric and workload.
    fn files(&self) -> Vec<PathBuf> {
        self.0.files()
    }

    /// Summary as `text` or `json`: fabric, flows, schemes, size of the run, warnings.
    fn summary(&self, py: Python<'_>, format: String) -> PyResult<String> {
        shared(py, &self.0, move |own| own.summary(&format))
    }

    /// Traffic with synthetic stand-ins for unpublished measurements.
    fn synthetic(&self) -> Vec<String> {
        self.0.synthetic()
    }

    /// Raises what a run raises when it begins.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        shared(py, &self.0, facade::Scenario::check)
    }

    /// Warnings to check before trusting results.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        shared(py, &self.0, facade::Scenario::warnings)
    }

    /// Writes the flows as a trace, CSV or Parquet by the name's ending; returns their number.
    fn write_trace(&self, py: Python<'_>, path: PathBuf) -> PyResult<usize> {
        shared(py, &self.0, facade::Scenario::prepare)?;
        unbroken(py, || self.0.write_trace(&path))
    }

    /// Finds cyclic buffer dependencies; `options`: the lab's, as JSON text; files of paths start at `base`. Returns true if
    /// there are none, the report, and the same as JSON text. `progress` receives unit, number done and total several times a
    /// second.
    #[pyo3(signature = (options, base, progress = None))]
    fn deadlock_check(
        &self,
        py: Python<'_>,
        options: String,
        base: PathBuf,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(bool, String, String)> {
        let loaded = self.0.loaded();
        run::analysed(py, progress, move || facade::deadlock_check(&loaded, &options, &base))
    }

    /// Makes tags and rules; returns the result as `text` or `json`, and files by name.
    #[pyo3(signature = (options, base, format, progress = None))]
    fn deadlock_tag(
        &self,
        py: Python<'_>,
        options: String,
        base: PathBuf,
        format: String,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<facade::Tagged> {
        let loaded = self.0.loaded();
        run::analysed(py, progress, move || facade::deadlock_tag(&loaded, &options, &base, &format))
    }

    /// Verifies rules files; `options`: the lab's, as JSON text; files start at `base`. Returns true if they hold, the report,
    /// and the same as JSON text.
    #[pyo3(signature = (options, base, progress = None))]
    fn deadlock_verify(
        &self,
        py: Python<'_>,
        options: String,
        base: PathBuf,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(bool, String, String)> {
        let loaded = self.0.loaded();
        run::analysed(py, progress, move || facade::deadlock_verify(&loaded, &options, &base))
    }

    /// Buffer and ECN thresholds of switch ports, by schemes with equal ones, as JSON text.
    fn thresholds(&self, py: Python<'_>) -> PyResult<String> {
        shared(py, &self.0, facade::Scenario::thresholds)
    }

    /// Nodes and links as JSON text: `{"nodes": [[name, tier, is host], …], "links": [[node, port, node, port], …]}`.
    fn fabric(&self, py: Python<'_>) -> PyResult<String> {
        shared(py, &self.0, facade::Scenario::fabric)
    }

    /// Writes the fabric as `dot` (Graphviz) or `ns3` (topology file); returns notices, one a line.
    #[pyo3(signature = (form, path, overwrite = false))]
    fn write_fabric(&self, py: Python<'_>, form: &str, path: PathBuf, overwrite: bool) -> PyResult<String> {
        shared(py, &self.0, facade::Scenario::fabric)?;
        unbroken(py, || self.0.write_fabric(form, &path, overwrite))
    }

    /// `simulation.threads`.
    #[getter]
    fn threads(&self) -> Option<u32> {
        self.0.loaded().scenario().simulation.threads
    }

    /// Runs every scheme and writes the results; `progress` receives JSON text several times a second. `columns`: constant
    /// columns of every table, as a JSON object.
    #[pyo3(signature = (out, overwrite = false, threads = None, progress = None, columns = None))]
    fn run(
        &self,
        py: Python<'_>,
        out: PathBuf,
        overwrite: bool,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
        columns: Option<&str>,
    ) -> PyResult<Folder> {
        let labels = facade::labels(columns).map_err(fault)?;
        shared(py, &self.0, facade::Scenario::prepare)?;
        let options = facade::RunOptions { overwrite, threads, labels };
        run::watched(py, progress, |watch| self.0.run(&out, options, watch)).map(Folder::from)
    }
}

/// JSON schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    facade::schema()
}

/// Items that a scenario can name, and result tables, as JSON text.
#[pyfunction]
pub(crate) fn catalogue() -> String {
    facade::catalogue()
}

/// Current name, among `names`, of a name of an earlier version.
#[pyfunction]
pub(crate) fn renamed(name: &str, names: Vec<String>) -> Option<String> {
    facade::renamed(name, &names)
}

/// Published rows of Tagger's table on Jellyfish, and conventions to read it, as JSON text.
#[pyfunction]
pub(crate) fn tagger_facts() -> String {
    facade::tagger_facts()
}

/// Row of that table on a Jellyfish from `seed`, as JSON text.
#[pyfunction]
pub(crate) fn tagger_row(py: Python<'_>, convention: String, switches: u32, ports: u32, seed: u64) -> PyResult<String> {
    run::analysed(py, None, move || facade::tagger_row(&convention, switches, ports, seed))
}

/// Writes the scenario of an ns-3 RDMA simulation's files; returns notices, one a line.
#[pyfunction]
#[pyo3(signature = (topology, flows, configs, out, overwrite = false))]
pub(crate) fn import_ns3(
    py: Python<'_>,
    topology: PathBuf,
    flows: PathBuf,
    configs: Vec<PathBuf>,
    out: PathBuf,
    overwrite: bool,
) -> PyResult<String> {
    unbroken(py, || facade::import_ns3(&topology, &flows, &configs, &out, overwrite))
}
