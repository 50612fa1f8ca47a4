use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::watch;

/// Distributes numbers below `count` over a thread per core; returns the threads' states. `what`: unit of progress.
///
/// Results must not depend on which thread gets which number.
pub(crate) fn spread<S: Send>(
    what: &'static str,
    count: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) + Sync,
) -> Vec<S> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(count).max(1);
    let next = AtomicUsize::new(0);
    watch::begin(what, count);
    let run = || {
        let mut state = start();
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                at if at < count => work(&mut state, at),
                _ => return state,
            }
            watch::step();
        }
    };
    if threads == 1 {
        return vec![run()];
    }
    let watched = watch::current();
    thread::scope(|scope| {
        let start = || {
            let watched = watched.clone();
            scope.spawn(|| watch::under(watched, run))
        };
        let handles: Vec<_> = (0..threads).map(|_| start()).collect();
        let ended: Vec<_> = handles.into_iter().map(thread::ScopedJoinHandle::join).collect();
        // All threads end before a panic continues.
        ended.into_iter().map(|state| state.unwrap_or_else(|payload| std::panic::resume_unwind(payload))).collect()
    })
}
