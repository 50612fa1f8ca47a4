//! Threads that run partitions side by side.
//!
//! Partitions change hands by value: with each window a thread gets some of them, and it returns them when they have run. So
//! there is no lock and no unsafe code, and between windows all partitions are with the thread that called.

use std::hint::spin_loop;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{Builder, JoinHandle, available_parallelism};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::pace::Pace;
use super::partition::{Movable, Task};
use super::plan::{Layout, Plan};
use crate::plan::Network;

/// A thread waits awake for this time, then it sleeps. Most windows are shorter (our choice).
const AWAKE: Duration = Duration::from_micros(200);

/// After so many shared windows, threads get new shares of the partitions (our choice).
const PERIOD: u32 = 256;

/// Partitions of one thread for one window.
struct Order {
    partitions: Vec<Movable>,
    layout: Arc<Layout>,
    network: Arc<Network>,
    task: Task,
}

#[derive(Debug)]
struct Hand {
    /// `None` when the crew ends.
    orders: Option<SyncSender<Order>>,
    done: Receiver<Vec<Movable>>,
    /// Returns its CPU time.
    thread: Option<JoinHandle<Duration>>,
    /// Between windows: empty, for the next order.
    load: Vec<Movable>,
    /// The thread's first partition.
    first: usize,
}

#[derive(Debug)]
pub(super) struct Crew {
    /// Threads but the caller's, in order of their partitions.
    hands: Vec<Hand>,
    awake: Duration,
    /// Shared windows until threads get new shares.
    windows: u32,
    /// By partition: events when they were last shared out.
    events: Vec<u64>,
    /// `None`: threads share all windows.
    pace: Option<Pace>,
}

pub(super) fn run_all(partitions: &mut [Movable], plan: Plan<'_>, task: Task) {
    partitions.iter_mut().for_each(|partition| partition.run_window(plan, task));
}

impl Crew {
    /// `threads` with that of the caller; at most one per partition. `always`: even if one thread is faster.
    pub(super) fn new(threads: usize, partitions: usize, always: bool) -> Self {
        let threads = threads.clamp(1, partitions);
        // Threads that wait awake would take time from those that work.
        let cores = available_parallelism().map_or(1, usize::from);
        let awake = if threads <= cores { AWAKE } else { Duration::ZERO };
        let hands = (1..threads).map_while(|number| Hand::new(number, number * partitions / threads, awake)).collect();
        Self { hands, awake, windows: PERIOD, events: vec![0; partitions], pace: (!always).then(Pace::new) }
    }

    /// Runs a window of all partitions.
    pub(super) fn run(&mut self, all: &mut Vec<Movable>, layout: &Arc<Layout>, network: &Arc<Network>, task: Task) {
        let Some(pace) = &self.pace else { return self.share(all, layout, network, task) };
        let (begin, before) = (Instant::now(), events(all));
        if pace.shares() {
            self.share(all, layout, network, task);
        } else {
            run_all(all, Plan { layout, network }, task);
        }
        if let Some(pace) = &mut self.pace {
            pace.note(begin.elapsed(), events(all) - before);
        }
    }

    fn share(&mut self, all: &mut Vec<Movable>, layout: &Arc<Layout>, network: &Arc<Network>, task: Task) {
        for hand in self.hands.iter_mut().rev() {
            let mut partitions = std::mem::take(&mut hand.load);
            partitions.extend(all.drain(hand.first..));
            hand.give(Order { partitions, layout: layout.clone(), network: network.clone(), task });
        }
        run_all(all, Plan { layout, network }, task);
        for hand in &mut self.hands {
            hand.load = hand.take_back(self.awake);
            all.append(&mut hand.load);
        }
        self.windows -= 1;
        if self.windows == 0 {
            self.windows = PERIOD;
            self.share_out(all);
        }
    }

    /// Number of threads with the caller's; CPU time without it.
    pub(super) fn end(mut self) -> (usize, Duration) {
        (self.hands.len() + 1, self.hands.iter_mut().map(Hand::end).sum())
    }

    /// Neighbouring partitions stay with one thread. Threads get similar numbers of events, if the next windows are like the last.
    fn share_out(&mut self, all: &[Movable]) {
        let events: Vec<u64> = all.iter().map(|partition| partition.out.counts.events).collect();
        let costs: Vec<u64> = events.iter().zip(&self.events).map(|(now, before)| now - before).collect();
        let firsts = shares(&costs, self.hands.len() + 1);
        self.hands.iter_mut().zip(firsts).for_each(|(hand, first)| hand.first = first);
        self.events = events;
    }
}

fn events(all: &[Movable]) -> u64 {
    all.iter().map(|partition| partition.out.counts.events).sum()
}

/// First partition of each thread but the first thread. Each thread has at least one.
fn shares(costs: &[u64], threads: usize) -> Vec<usize> {
    let all: u64 = costs.iter().sum();
    let (mut first, mut before) = (0, 0);
    let next = |thread: usize| {
        let fair = (u128::from(all) * thread as u128 / threads as u128) as u64;
        let last = costs.len() - (threads - thread);
        // The middle of a partition decides to which share it belongs.
        while first < last && before + costs[first] / 2 < fair {
            before += costs[first];
            first += 1;
        }
        let least = first.max(thread);
        before += costs[first..least].iter().sum::<u64>();
        first = least;
        first
    };
    (1..threads).map(next).collect()
}

impl Hand {
    /// `None` if the system starts no further thread.
    fn new(number: usize, first: usize, awake: Duration) -> Option<Self> {
        let ((orders, inbox), (outbox, done)) = (sync_channel(1), sync_channel(1));
        let thread = Builder::new().name(format!("incast-{number}"));
        let thread = thread.spawn(move || work(&inbox, &outbox, awake)).ok()?;
        Some(Self { orders: Some(orders), done, thread: Some(thread), load: Vec::new(), first })
    }

    fn give(&mut self, order: Order) {
        let given = self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
        if !given {
            self.pass_panic_on();
        }
    }

    fn take_back(&mut self, awake: Duration) -> Vec<Movable> {
        receive(&self.done, awake).unwrap_or_else(|| self.pass_panic_on())
    }

    /// The thread ends early only if it panics.
    fn pass_panic_on(&mut self) -> ! {
        let ended = self.thread.take().and_then(|thread| thread.join().err());
        resume_unwind(ended.unwrap_or_else(|| Box::new("a thread of the simulation ended")))
    }

    fn end(&mut self) -> Duration {
        self.orders = None;
        // A panic is already on its way up.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.end();
    }
}

fn work(orders: &Receiver<Order>, done: &SyncSender<Vec<Movable>>, awake: Duration) -> Duration {
    // Miri lacks this clock.
    let cpu = (!cfg!(miri)).then(ThreadTime::now);
    while let Some(Order { mut partitions, layout, network, task }) = receive(orders, awake) {
        run_all(&mut partitions, Plan { layout: &layout, network: &network }, task);
        // Between windows the caller may change the network.
        drop((layout, network));
        if done.send(partitions).is_err() {
            break;
        }
    }
    cpu.map_or(Duration::ZERO, |cpu| cpu.elapsed())
}

/// `None` if the sender is gone.
fn receive<T>(from: &Receiver<T>, awake: Duration) -> Option<T> {
    let start = Instant::now();
    loop {
        for _ in 0..64 {
            match from.try_recv() {
                Ok(sent) => return Some(sent),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => spin_loop(),
            }
        }
        if start.elapsed() >= awake {
            return from.recv().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_get_similar_shares_of_neighbouring_partitions() {
        assert_eq!(shares(&[1, 1, 1, 1], 2), [2]);
        assert_eq!(shares(&[4, 1, 1, 1, 1], 2), [1]);
        assert_eq!(shares(&[1, 1, 1, 1, 4], 2), [4]);
        assert_eq!(shares(&[1; 8], 4), [2, 4, 6]);
        assert_eq!(shares(&[0, 0, 0, 9], 3), [2, 3]);
    }

    #[test]
    fn each_thread_has_a_partition() {
        assert_eq!(shares(&[9, 0, 0, 0], 4), [1, 2, 3]);
        assert_eq!(shares(&[0, 0, 0, 9], 4), [1, 2, 3]);
        assert_eq!(shares(&[0, 0, 0], 3), [1, 2]);
        assert!(shares(&[5], 1).is_empty());
    }

    #[test]
    fn a_panic_of_a_thread_reaches_the_caller() {
        let (orders, inbox) = sync_channel(1);
        let (outbox, done) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            let _held: (Receiver<Order>, SyncSender<Vec<Movable>>) = (inbox, outbox);
            std::panic::panic_any("the message");
        });
        let mut hand = Hand { orders: Some(orders), done, thread: Some(thread), load: Vec::new(), first: 0 };
        let take = || drop(hand.take_back(Duration::ZERO));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(take)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"the message"));
    }
}
