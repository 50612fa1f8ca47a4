//! Results folders.

use std::path::PathBuf;
use std::sync::Arc;

use incast_lab::results::SlowdownTable;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::facade::Batches;
use crate::run::{detached, shared};
use crate::table::Table;
use crate::{facade, slowdown};

/// A results folder on disk.
#[pyclass(frozen, module = "incast._core")]
#[derive(Debug)]
pub(crate) struct Folder(Arc<facade::Folder>);

impl From<facade::Folder> for Folder {
    fn from(folder: facade::Folder) -> Self {
        Self(Arc::new(folder))
    }
}

#[pymethods]
impl Folder {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        detached(py, move || facade::Folder::open(&path)).map(Self::from)
    }

    /// Compares every file with the manifest; returns the number of tables, and damaged files with the kind of damage.
    #[staticmethod]
    fn verify(py: Python<'_>, path: PathBuf) -> PyResult<(usize, Vec<(PathBuf, String)>)> {
        detached(py, move || facade::Folder::verify(&path))
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.0.path()
    }

    #[getter]
    fn scenario_dir(&self) -> PathBuf {
        self.0.scenario_dir()
    }

    /// Manifest as JSON text.
    fn manifest(&self) -> String {
        self.0.manifest()
    }

    fn scenario(&self, py: Python<'_>) -> PyResult<facade::Scenario> {
        shared(py, &self.0, facade::Folder::scenario)
    }

    /// Warnings to check before trusting results.
    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    fn tables(&self) -> Vec<String> {
        self.0.tables()
    }

    fn table(&self, py: Python<'_>, name: String) -> PyResult<Table> {
        shared(py, &self.0, move |own| own.table(&name)).map(Table::from)
    }

    /// Slowdowns by scheme and flow size; `options`: the lab's, as JSON text. `groups`: names and their labels (none: all);
    /// default: a group per label.
    #[pyo3(signature = (options, groups = None))]
    fn slowdown(&self, py: Python<'_>, options: String, groups: Option<Vec<(String, Vec<String>)>>) -> PyResult<Table> {
        let tables = shared(py, &self.0, move |own| own.slowdown(&options, groups))?;
        Ok(slowdown_batches(&tables)?.into())
    }

    /// Text with schemes side by side, a block per label.
    fn slowdown_text(&self, py: Python<'_>, options: String) -> PyResult<String> {
        shared(py, &self.0, move |own| own.slowdown_text(&options))
    }
}

fn slowdown_batches(tables: &[(String, SlowdownTable)]) -> PyResult<Batches> {
    slowdown::batches(tables).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Tables, counters and stops as JSON text: the fast part of the catalogue.
#[pyfunction]
pub(crate) fn results_catalogue() -> String {
    facade::results_catalogue()
}

/// Columns of a slowdown table as JSON text.
#[pyfunction]
pub(crate) fn slowdown_columns() -> PyResult<String> {
    Ok(Table::from(slowdown_batches(&[])?).columns())
}
