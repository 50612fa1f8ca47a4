//! Packets between partitions of several threads that run many windows without the thread that decides between windows.
//!
//! A batch has steps. If links between partitions are as short as others, a step is a window: a thread first runs the nodes with
//! links to other partitions, then posts their packets, then runs the others. It begins the next step when all threads have
//! posted, while some may still run their other nodes. So threads wait only where one is ahead by more than that work.
//!
//! If links between partitions are longer than others by two windows or more, a step is half of that, and packets posted in one
//! are for the next but one: a thread may be ahead of another by a step.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{panicking, park_timeout, yield_now};
use std::time::{Duration, Instant};

use super::mail::Bag;

/// A thread that has waited awake lets others run for this time, then it sleeps for [`NAP`] again and again (our choice).
const YIELDING: Duration = Duration::from_millis(1);
const NAP: Duration = Duration::from_micros(100);

/// Two cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Padded<T>(T);

#[derive(Debug)]
pub(super) struct Exchange {
    /// By thread: number of steps with posted packets.
    posted: Vec<Padded<AtomicU32>>,
    /// By partition: bags for it. Those for later steps may be among them.
    bags: Vec<Padded<Mutex<Vec<Bag>>>>,
    /// A thread has panicked.
    broken: AtomicBool,
    awake: Duration,
}

/// Ends the waits of the other threads in a panic.
#[must_use]
pub(super) struct Notice<'a>(&'a Exchange);

impl Drop for Notice<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
    }
}

impl Exchange {
    /// `awake`: time for which a thread waits before it lets others run.
    pub(super) fn new(threads: usize, partitions: usize, awake: Duration) -> Self {
        Self {
            posted: (0..threads).map(|_| Padded::default()).collect(),
            bags: (0..partitions).map(|_| Padded::default()).collect(),
            broken: AtomicBool::new(false),
            awake,
        }
    }

    pub(super) fn threads(&self) -> usize {
        self.posted.len()
    }

    /// Before a batch, while no thread runs.
    pub(super) fn reset(&self) {
        self.posted.iter().for_each(|count| count.0.store(0, Ordering::Relaxed));
    }

    /// To be kept while a thread runs a batch.
    pub(super) const fn notice(&self) -> Notice<'_> {
        Notice(self)
    }

    pub(super) fn put(&self, to: u32, bag: Bag) {
        self.bags[to as usize].0.lock().unwrap_or_else(PoisonError::into_inner).push(bag);
    }

    /// After [`Exchange::wait`].
    pub(super) fn take(&self, partition: usize, bags: &mut Vec<Bag>) {
        bags.append(&mut self.bags[partition].0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The thread has put all packets of so many steps.
    pub(super) fn post(&self, thread: usize, steps: u32) {
        self.posted[thread].0.store(steps, Ordering::Release);
    }

    /// Waits until all threads have posted packets of so many steps. False if one has panicked.
    #[must_use]
    pub(super) fn wait(&self, steps: u32) -> bool {
        self.posted.iter().all(|count| self.wait_for(&count.0, steps))
    }

    fn wait_for(&self, count: &AtomicU32, steps: u32) -> bool {
        let start = Instant::now();
        loop {
            for _ in 0..64 {
                if count.load(Ordering::Acquire) >= steps {
                    return true;
                }
                spin_loop();
            }
            if self.broken.load(Ordering::Acquire) {
                return false;
            }
            match start.elapsed().checked_sub(self.awake) {
                None => {}
                Some(long) if long < YIELDING => yield_now(),
                Some(_) => park_timeout(NAP),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::scope;

    use super::*;

    #[test]
    fn nobody_begins_a_step_before_all_have_posted_for_it() {
        const STEPS: u32 = if cfg!(miri) { 10 } else { 200 };
        for awake in [Duration::ZERO, Duration::from_millis(1)] {
            let exchange = Exchange::new(3, 3, awake);
            let behind = AtomicU32::new(0);
            scope(|scope| {
                for thread in 0..3 {
                    let (exchange, behind) = (&exchange, &behind);
                    scope.spawn(move || {
                        let mut bags = Vec::new();
                        for step in 1..STEPS {
                            for to in (0..3).filter(|&to| to as usize != thread) {
                                exchange.put(to, Bag::default());
                            }
                            exchange.post(thread, step);
                            assert!(exchange.wait(step));
                            exchange.take(thread, &mut bags);
                            if bags.len() < 2 * step as usize {
                                behind.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    });
                }
            });
            assert_eq!(behind.into_inner(), 0);
        }
    }

    #[test]
    fn a_panic_ends_the_waits_of_others() {
        let exchange = Exchange::new(2, 2, Duration::ZERO);
        let waited = scope(|scope| {
            let other = scope.spawn(|| {
                let _notice = exchange.notice();
                std::panic::panic_any("the message");
            });
            exchange.post(0, 1);
            let waited = exchange.wait(1);
            assert!(other.join().is_err());
            waited
        });
        assert!(!waited);
    }
}
