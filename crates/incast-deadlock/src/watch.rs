//! Stopped work unwinds to [`Watch::over`] (as in salsa and rust-analyzer): no function can mistake half a result for a whole
//! one.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Progress of long work; another thread can stop it.
#[derive(Debug, Default)]
pub struct Watch {
    stopped: AtomicBool,
    done: AtomicU64,
    stage: Mutex<(&'static str, u64)>,
}

/// Part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Unit (`destinations`, …); empty before the first stage.
    pub what: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all.
    pub of: u64,
}

/// Stopped work.
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

    /// Current stage.
    pub fn stage(&self) -> Stage {
        let (what, of) = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        Stage { what, done: self.done.load(Ordering::Relaxed).min(of), of }
    }

    /// Runs this crate's work under the watch.
    ///
    /// # Errors
    /// If [`Watch::stop`] was called before the end.
    pub fn over<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> Result<T, Stopped> {
        catch_unwind(AssertUnwindSafe(|| under(Some(Arc::clone(self)), work))).map_err(|payload| {
            match payload.downcast::<Stopped>() {
                Ok(stopped) => *stopped,
                Err(other) => resume_unwind(other),
            }
        })
    }
}

pub(crate) fn current() -> Option<Arc<Watch>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Restores the previous watch even after a panic.
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

pub(crate) fn begin(what: &'static str, of: usize) {
    CURRENT.with_borrow(|watch| {
        if let Some(watch) = watch {
            *watch.stage.lock().unwrap_or_else(PoisonError::into_inner) = (what, of as u64);
            watch.done.store(0, Ordering::Relaxed);
        }
    });
    check();
}

pub(crate) fn step() {
    CURRENT.with_borrow(|watch| watch.as_ref().map(|watch| watch.done.fetch_add(1, Ordering::Relaxed)));
    check();
}

/// Unwinds if stopped; long work calls this several times a second.
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
        assert_eq!(sum(spread("numbers", 10, || 0, add)), 45);
    }

    #[test]
    #[should_panic(expected = "of another kind")]
    fn other_panics_go_on() {
        let _ = Arc::new(Watch::default()).over(|| panic!("of another kind"));
    }
}
