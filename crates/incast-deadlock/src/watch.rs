//! Long work that can be watched and stopped from another thread.
//!
//! Work that is stopped unwinds, from whatever depth, to where it was begun ([`Watch::over`]), as in salsa and rust-analyzer: no
//! function on the way can take half a result for a whole one, and none has to say that it may be stopped. Nothing is printed.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How far work has come, and whether it should stop. Shared between the threads that work and the one that watches.
#[derive(Debug, Default)]
pub struct Watch {
    stopped: AtomicBool,
    done: AtomicU64,
    stage: Mutex<(&'static str, u64)>,
}

/// A part of the work, in units of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// What is counted, such as `destinations`; empty before anything is.
    pub what: &'static str,
    /// How many are done.
    pub done: u64,
    /// How many there are.
    pub of: u64,
}

/// The work was stopped before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
}

impl Watch {
    /// Asks the work to end.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Where the work is.
    pub fn stage(&self) -> Stage {
        let (what, of) = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        Stage { what, done: self.done.load(Ordering::Relaxed).min(of), of }
    }

    /// Does work of this crate under the watch.
    ///
    /// # Errors
    /// If [`Watch::stop`] was called before its end.
    pub fn over<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> Result<T, Stopped> {
        catch_unwind(AssertUnwindSafe(|| under(Some(Arc::clone(self)), work))).map_err(|payload| {
            match payload.downcast::<Stopped>() {
                Ok(stopped) => *stopped,
                Err(other) => resume_unwind(other),
            }
        })
    }
}

/// The watch of this thread.
pub(crate) fn current() -> Option<Arc<Watch>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Does work on this thread under a watch, if there is one; the one before comes back in any case.
pub(crate) fn under<T>(watch: Option<Arc<Watch>>, work: impl FnOnce() -> T) -> T {
    struct Back(Option<Arc<Watch>>);
    impl Drop for Back {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _back = Back(CURRENT.replace(watch));
    work()
}

/// A stage begins: so many of something.
pub(crate) fn begin(what: &'static str, of: usize) {
    CURRENT.with_borrow(|watch| {
        if let Some(watch) = watch {
            *watch.stage.lock().unwrap_or_else(PoisonError::into_inner) = (what, of as u64);
            watch.done.store(0, Ordering::Relaxed);
        }
    });
    check();
}

/// One more is done.
pub(crate) fn step() {
    CURRENT.with_borrow(|watch| watch.as_ref().map(|watch| watch.done.fetch_add(1, Ordering::Relaxed)));
    check();
}

/// Unwinds if the work should stop. Called at least several times a second by all that may take long.
pub(crate) fn check() {
    if CURRENT.with_borrow(|watch| watch.as_ref().is_some_and(|watch| watch.stopped.load(Ordering::Relaxed))) {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::spread;

    #[test]
    fn work_is_counted_and_stopped_on_every_thread() {
        let watch = Arc::new(Watch::default());
        let sum = |parts: Vec<u64>| parts.into_iter().sum::<u64>();
        let add = |sum: &mut u64, at: usize| *sum += at as u64;
        let found = watch.over(|| sum(spread("numbers", 100, || 0, add)));
        assert_eq!((found, watch.stage()), (Ok(4950), Stage { what: "numbers", done: 100, of: 100 }));
        let ended = watch.over(|| {
            sum(spread(
                "more",
                1_000_000,
                || 0,
                |sum, at| {
                    add(sum, at);
                    if at == 10 {
                        watch.stop();
                    }
                },
            ))
        });
        assert_eq!(ended, Err(Stopped));
        assert!(watch.stage().done < 1_000_000 && current().is_none());
        // Nobody watches: nothing stops.
        assert_eq!(sum(spread("numbers", 10, || 0, add)), 45);
    }

    #[test]
    #[should_panic(expected = "of another kind")]
    fn other_panics_go_on() {
        let _ = Arc::new(Watch::default()).over(|| panic!("of another kind"));
    }
}
