//! Runs work on a thread of its own while the calling thread stays reachable: by signals, so that Ctrl-C ends a run
//! within a fraction of a second, and by a progress callback.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::fault;
use crate::facade::{Failure, SchemeProgress, Watch};

/// How often signals are looked for and progress is told.
const TICK: Duration = Duration::from_millis(50);

/// What the simulating threads and the calling thread share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// One entry per scheme seen so far, in order of appearance.
    schemes: Mutex<Vec<SchemeProgress>>,
}

impl Shared {
    fn note(&self, news: &SchemeProgress) -> ControlFlow<()> {
        let mut schemes = self.schemes.lock().unwrap_or_else(PoisonError::into_inner);
        match schemes.iter_mut().find(|known| known.scheme == news.scheme) {
            Some(known) => known.clone_from(news),
            None => schemes.push(news.clone()),
        }
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn tell(&self, callback: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = {
            let schemes = self.schemes.lock().unwrap_or_else(PoisonError::into_inner);
            serde_json::to_string(&*schemes).unwrap_or_default()
        };
        callback.call1((text,)).map(drop)
    }
}

/// Does `work` without the interpreter. A signal or an exception of `progress` stops it; that exception is then raised.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch<'_>) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let shared = Shared::default();
    let mut raised: Option<PyErr> = None;
    let done = std::thread::scope(|scope| {
        let shared = &shared;
        let caller = std::thread::current();
        let worker = scope.spawn(move || {
            let done = work(&|news| shared.note(news));
            caller.unpark();
            done
        });
        while !worker.is_finished() {
            py.detach(|| std::thread::park_timeout(TICK));
            let told = py.check_signals().and_then(|()| match progress {
                Some(callback) if raised.is_none() => shared.tell(callback),
                _ => Ok(()),
            });
            if let Err(error) = told {
                shared.stop.store(true, Ordering::Relaxed);
                raised.get_or_insert(error);
            }
        }
        py.detach(|| worker.join())
    });
    match (raised, done) {
        (Some(error), _) => Err(error),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
        (None, Ok(done)) => {
            let value = done.map_err(fault)?;
            if let Some(callback) = progress {
                shared.tell(callback)?;
            }
            Ok(value)
        }
    }
}
