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

impl<'py> IntoPyObject<'py> for facade::Scenario {
    type Target = Scenario;
    type Output = Bound<'py, Scenario>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        Bound::new(py, Scenario(self))
    }
}

#[pymethods]
impl Scenario {
    /// Reads and checks a scenario file; `overrides` are texts `path=value` that overrule it.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        detached(py, || facade::Scenario::load(&path, &overrides)).map(Self)
    }

    /// Reads a file of which the fabric counts: it may lack both workload and schemes.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load_fabric(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        detached(py, || facade::Scenario::load_fabric(&path, &overrides)).map(Self)
    }

    /// Checks a scenario given as JSON text; files it names are looked for in `base`.
    #[staticmethod]
    fn from_json(py: Python<'_>, tree: &str, base: PathBuf) -> PyResult<Self> {
        detached(py, || facade::Scenario::from_json(tree, &base)).map(Self)
    }

    /// The whole scenario as `json` or `toml`, every default filled in.
    fn whole(&self, format: &str) -> String {
        self.0.whole(format)
    }

    /// SHA-256 of the whole scenario, of the files that it names and of the build; equal keys have equal results.
    fn key(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || self.0.key())
    }

    /// The files that the fabric and the workload name.
    fn files(&self) -> Vec<PathBuf> {
        self.0.files()
    }

    /// What the scenario amounts to, as `text` or `json`: fabric, flows, schemes, size of the run, warnings.
    fn summary(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        detached(py, || self.0.summary(format))
    }

    /// What should be checked before the results are trusted.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        detached(py, || self.0.warnings())
    }

    /// Writes the flows as a trace, CSV or Parquet by the name's ending; returns how many.
    fn write_trace(&self, py: Python<'_>, path: PathBuf) -> PyResult<usize> {
        detached(py, || self.0.write_trace(&path))
    }

    /// Looks for cyclic buffer dependencies; `options` are the lab's, as JSON text, files of paths start at `base`. Whether
    /// there are none, what was found for people, and the same as JSON text. `progress` is called several times a second
    /// with what is counted, how many are done and how many there are.
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

    /// Makes tags and rules; what came of it as `text` or `json`, and files by name.
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

    /// Verifies files of rules; `options` are the lab's, as JSON text, files start at `base`. Whether they hold, what was
    /// found for people, and the same as JSON text.
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

    /// Nodes and links of the fabric as JSON text: `{"nodes": [[name, tier, is host], …], "links": [[node, port, node, port],
    /// …]}`.
    fn fabric(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || self.0.fabric())
    }

    /// Writes the fabric as `dot` (a drawing for Graphviz) or `ns3` (a topology file); returns notices, one a line.
    #[pyo3(signature = (form, path, overwrite = false))]
    fn write_fabric(&self, py: Python<'_>, form: &str, path: PathBuf, overwrite: bool) -> PyResult<String> {
        detached(py, || self.0.write_fabric(form, &path, overwrite))
    }

    /// Runs every scheme and writes the results; `progress` is called with JSON text several times a second. `columns` are
    /// constant columns for every table, as the JSON text of an object.
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
        let options = facade::RunOptions { overwrite, threads, labels };
        run::watched(py, progress, |watch| self.0.run(&out, options, watch)).map(Folder::from)
    }
}

/// The JSON schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    facade::schema()
}

/// What can be named in a scenario, and the tables of results, as JSON text.
#[pyfunction]
pub(crate) fn catalogue() -> String {
    facade::catalogue()
}

/// The one of `names` that a name of an earlier version became, if it became one of them.
#[pyfunction]
pub(crate) fn renamed(name: &str, names: Vec<String>) -> Option<String> {
    facade::renamed(name, &names)
}

/// The published rows of Tagger's table on Jellyfish, and the conventions by which it can be read, as JSON text.
#[pyfunction]
pub(crate) fn tagger_facts() -> String {
    facade::tagger_facts()
}

/// A row of that table, on a Jellyfish drawn by `seed`, as JSON text.
#[pyfunction]
pub(crate) fn tagger_row(py: Python<'_>, convention: String, switches: u32, ports: u32, seed: u64) -> PyResult<String> {
    run::analysed(py, None, move || facade::tagger_row(&convention, switches, ports, seed))
}

/// Writes the scenario that the files of an ns-3 RDMA simulation describe; returns notices, one a line.
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
    detached(py, || facade::import_ns3(&topology, &flows, &configs, &out, overwrite))
}
