//! Results folders.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::errors::detached;
use crate::facade;
use crate::table::Table;

/// A results folder on disk.
#[pyclass(frozen, module = "incast._core")]
#[derive(Debug)]
pub(crate) struct Folder(facade::Folder);

impl From<facade::Folder> for Folder {
    fn from(folder: facade::Folder) -> Self {
        Self(folder)
    }
}

#[pymethods]
impl Folder {
    /// Opens a results folder.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        detached(py, || facade::Folder::open(&path)).map(Self)
    }

    /// Where it lies.
    #[getter]
    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// The manifest, as JSON text.
    fn manifest(&self) -> String {
        self.0.manifest()
    }

    /// Names of the tables.
    fn tables(&self) -> Vec<String> {
        self.0.tables()
    }

    /// Reads a table.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        detached(py, || self.0.table(name)).map(Table::from)
    }

    /// Slowdowns of completed flows by scheme and size.
    fn slowdown(&self, py: Python<'_>) -> PyResult<Table> {
        detached(py, || self.0.slowdown()).map(Table::from)
    }
}
