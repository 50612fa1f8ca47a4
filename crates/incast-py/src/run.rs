//! Runs work without the interpreter lock, which it takes several times a second: for signals (Ctrl-C ends a run within a
//! fraction of a second) and a progress callback.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use incast_lab::deadlock::{Stage, Watch as StageWatch};
use incast_lab::results::RunProgress;
use pyo3::prelude::*;

use crate::errors::fault;
use crate::facade::{Failure, Kind, Watch, progress_json};

/// Does `work` without the interpreter lock. A signal or an exception of `callback` stops it and is raised.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&mut Watch<'_>) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let (done, raised) = py.detach(|| {
        let mut raised = None;
        let mut watch = |progress: &RunProgress| {
            // A stopped run is watched until its threads notice; the first exception counts.
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

/// Runs signal handlers, then the callback.
fn look_up(py: Python<'_>, callback: Option<&Py<PyAny>>, progress: &RunProgress) -> PyResult<()> {
    py.check_signals()?;
    match callback {
        Some(callback) => callback.call1(py, (progress_json(progress),)).map(drop),
        None => Ok(()),
    }
}

/// Interval of signal checks during an analysis.
const LOOK: Duration = Duration::from_millis(50);

/// Longest wait for an analysis to stop. A longer step (routing) ends at its next check or with the process; its result is
/// dropped.
const GRACE: Duration = Duration::from_millis(500);

/// Runs an analysis on its own thread. `callback` receives the unit, the number done and the total. A signal or an exception of
/// `callback` stops it and is raised.
pub(crate) fn analysed<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(StageWatch::default());
    let (done, wait) = channel();
    let watched = Arc::clone(&watch);
    let thread = thread::spawn(move || {
        // After a stop nobody receives it.
        let _ = done.send(watched.over(work));
    });
    py.detach(move || {
        loop {
            match wait.recv_timeout(LOOK) {
                Ok(Ok(done)) => return done.map_err(fault),
                Ok(Err(_)) => return Err(fault(Failure::new(Kind::Interrupted, "stopped"))),
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => return Err(fault(Failure::new(Kind::Internal, "the analysis ended without a result"))),
                },
                Err(RecvTimeoutError::Timeout) => {
                    let stage = watch.stage();
                    if let Err(raised) = Python::attach(|py| tell(py, callback.as_ref(), stage)) {
                        watch.stop();
                        let _ = wait.recv_timeout(GRACE);
                        return Err(raised);
                    }
                }
            }
        }
    })
}

/// Runs long work without the interpreter lock. A signal ends the wait: the work's result is dropped.
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    analysed(py, None, work)
}

/// Same for work on a Python object's data.
pub(crate) fn shared<S: Send + Sync + 'static, T: Send + 'static>(
    py: Python<'_>,
    data: &Arc<S>,
    work: impl FnOnce(&S) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let data = Arc::clone(data);
    detached(py, move || work(&data))
}

/// Same for work that must end, as it writes a file.
pub(crate) fn unbroken<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
    py.detach(work).map_err(fault)
}

fn tell(py: Python<'_>, callback: Option<&Py<PyAny>>, stage: Stage) -> PyResult<()> {
    py.check_signals()?;
    match callback {
        Some(callback) if !stage.what.is_empty() => callback.call1(py, (stage.what, stage.done, stage.of)).map(drop),
        _ => Ok(()),
    }
}
