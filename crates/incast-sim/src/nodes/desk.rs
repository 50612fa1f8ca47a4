//! Passes work to a thread and back. One of the two threads owns what is on the desk: the state says which, so the lock is always free.
//! A channel moves more cache lines: its round trip takes 1.3 us, that of a line 0.34 us (docs/design/threads.md).

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Thread, current, park};
use std::time::{Duration, Instant};

const CALLERS: u32 = 0;
const WORKERS: u32 = 1;
/// One of the threads has ended.
const CLOSED: u32 = 2;

/// Two cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Desk<T> {
    state: AtomicU32,
    load: Mutex<Option<T>>,
    /// Always the same thread.
    caller: OnceLock<Thread>,
}

impl<T> Desk<T> {
    pub(super) const fn new() -> Self {
        Self { state: AtomicU32::new(CALLERS), load: Mutex::new(None), caller: OnceLock::new() }
    }

    /// By the caller.
    pub(super) fn order(&self, load: T, worker: &Thread) {
        let _ = self.caller.get_or_init(current);
        self.put(load, CALLERS, WORKERS);
        worker.unpark();
    }

    /// By the caller, after an order; waits. `None` if the worker has ended.
    pub(super) fn take_back(&self, awake: Duration) -> Option<T> {
        debug_assert_eq!(self.caller.get().map(Thread::id), Some(current().id()), "only the caller is woken");
        self.take(CALLERS, awake)
    }

    /// By the worker; waits. `None` if the caller has ended.
    pub(super) fn next(&self, awake: Duration) -> Option<T> {
        self.take(WORKERS, awake)
    }

    /// By the worker.
    pub(super) fn done(&self, load: T) {
        self.put(load, WORKERS, CALLERS);
        self.wake_caller();
    }

    /// By the caller, after its last order.
    pub(super) fn dismiss(&self, worker: &Thread) {
        self.state.store(CLOSED, Ordering::Release);
        worker.unpark();
    }

    /// By the worker, after its last load.
    pub(super) fn leave(&self) {
        self.state.store(CLOSED, Ordering::Release);
        self.wake_caller();
    }

    fn wake_caller(&self) {
        if let Some(caller) = self.caller.get() {
            caller.unpark();
        }
    }

    fn put(&self, load: T, from: u32, to: u32) {
        *self.load.lock().unwrap_or_else(PoisonError::into_inner) = Some(load);
        // A closed desk stays closed.
        let _ = self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Waits awake at first, then asleep. It looks at the clock after each 64 looks at the state (our choice).
    fn take(&self, own: u32, awake: Duration) -> Option<T> {
        let start = Instant::now();
        loop {
            for _ in 0..64 {
                match self.state.load(Ordering::Acquire) {
                    state if state == own => return self.load.lock().unwrap_or_else(PoisonError::into_inner).take(),
                    CLOSED => return None,
                    _ => spin_loop(),
                }
            }
            if start.elapsed() >= awake {
                park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread::spawn;

    use super::*;

    #[test]
    fn each_order_comes_back_done() {
        for awake in [Duration::ZERO, Duration::from_millis(1)] {
            let desk = Arc::new(Desk::new());
            let worker = spawn({
                let desk = Arc::clone(&desk);
                move || {
                    while let Some(number) = desk.next(awake) {
                        desk.done(number + 1);
                    }
                }
            });
            let back = |number: u32| {
                desk.order(number, worker.thread());
                desk.take_back(awake)
            };
            assert!((0..100).all(|number| back(number) == Some(number + 1)));
            desk.dismiss(worker.thread());
            worker.join().unwrap();
        }
    }

    #[test]
    fn a_worker_that_leaves_is_not_waited_for() {
        let desk = Arc::new(Desk::new());
        let worker = spawn({
            let desk = Arc::clone(&desk);
            move || {
                let _order: Option<u32> = desk.next(Duration::ZERO);
                desk.leave();
            }
        });
        desk.order(1, worker.thread());
        assert_eq!(desk.take_back(Duration::ZERO), None);
        worker.join().unwrap();
    }
}
