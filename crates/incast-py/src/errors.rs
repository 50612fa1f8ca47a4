//! Errors for Python: one exception with kind and diagnostics; `incast.errors` makes the public exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::facade;

create_exception!(
    incast._core,
    Fault,
    PyException,
    "A failure inside the core: args are (kind, text, diagnostics as JSON)."
);

pub(crate) fn fault(failure: facade::Failure) -> PyErr {
    let diagnostics = serde_json::to_string(&failure.diagnostics).unwrap_or_else(|_| "[]".into());
    Fault::new_err((failure.kind.name(), failure.text, diagnostics))
}
