//! Runs work without holding the interpreter, and comes back to it several times a second: for signals, so that Ctrl-C
//! ends a run within a fraction of a second, and for a progress callback.

use std::ops::ControlFlow;

use incast_lab::results::RunProgress;
use pyo3::prelude::*;

use crate::errors::fault;
use crate::facade::{Failure, Watch, progress_json};

/// Does `work` without the interpreter. A signal or an exception of `callback` stops it; that exception is then raised.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&mut Watch<'_>) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let (done, raised) = py.detach(|| {
        let mut raised = None;
        let mut watch = |progress: &RunProgress| {
            // Once stopped, a run is watched until its threads have noticed; the first exception counts.
            if raised.is_none() {
                raised = Python::attach(|py| look_up(py, callback.as_ref(), progress)).err();
            }
            if raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let done = work(&mut watch);
        (done, raised)
    });
    match raised {
        Some(error) => Err(error),
        None => done.map_err(fault),
    }
}

/// Runs the handlers of signals that came, then the callback.
fn look_up(py: Python<'_>, callback: Option<&Py<PyAny>>, progress: &RunProgress) -> PyResult<()> {
    py.check_signals()?;
    match callback {
        Some(callback) => callback.call1(py, (progress_json(progress),)).map(drop),
        None => Ok(()),
    }
}
