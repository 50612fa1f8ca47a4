//! Work that falls into parts, on as many threads as there are cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Hands the numbers below `count` out to threads, each with a state of its own, and returns the states.
///
/// Which thread gets which number is left to chance: what is made of the states must not depend on it.
pub(crate) fn spread<S: Send>(
    count: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) + Sync,
) -> Vec<S> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(count).max(1);
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = start();
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                at if at < count => work(&mut state, at),
                _ => return state,
            }
        }
    };
    if threads == 1 {
        return vec![run()];
    }
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        handles.into_iter().map(|handle| handle.join().expect("workers do not panic")).collect()
    })
}
