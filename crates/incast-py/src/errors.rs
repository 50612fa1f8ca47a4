//! Errors for Python: one exception with kind and diagnostics; `incast.errors` makes the public exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::{facade, run};

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

/// Runs long work without the interpreter lock. A signal ends the wait: the work's result is dropped.
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, facade::Failure> + Send + 'static,
) -> PyResult<T> {
    run::analysed(py, None, work)
}

/// Same for work that must end, as it writes a file.
pub(crate) fn unbroken<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, facade::Failure> + Send,
) -> PyResult<T> {
    py.detach(work).map_err(fault)
}
