//! TOML files other than scenarios: values and located errors.

use std::path::PathBuf;

use incast_lab::{Diagnostic, Diagnostics};
use pyo3::prelude::*;

use crate::errors::fault;
use crate::facade::Failure;

/// TOML file with places of its values; immutable.
#[pyclass(frozen, module = "incast._core")]
#[derive(Debug)]
pub(crate) struct Document(incast_lab::Document);

#[pymethods]
impl Document {
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        incast_lab::Document::read(&path).map(Self).map_err(|found| fault(Failure::from(Diagnostics::from(found))))
    }

    /// Values as JSON text.
    fn tree(&self) -> String {
        serde_json::to_string(self.0.values()).unwrap_or_default()
    }

    /// Exception for a wrong value at path `field` (`vary[0].values`). `wrong`: an invalid name; `names`: the valid ones.
    #[pyo3(signature = (field, message, allowed = None, wrong = None, names = Vec::new()))]
    fn fault(
        &self,
        field: &str,
        message: &str,
        allowed: Option<String>,
        wrong: Option<&str>,
        names: Vec<String>,
    ) -> PyErr {
        let mut found = Diagnostic::new(field, message);
        if let Some(wrong) = wrong {
            found = found.names(wrong, names.iter().map(String::as_str));
        }
        if let Some(allowed) = allowed {
            found = found.allowed(allowed);
        }
        fault(Failure::from(Diagnostics::from(self.0.locate(found))))
    }
}
