//! Threads that run partitions side by side.
//!
//! Partitions change hands by value: with each window a thread gets some of them, and it returns them when they have run. So
//! there is no unsafe code, and between windows all partitions are with the thread that called.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, available_parallelism};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::desk::Desk;
use super::exchange::Exchange;
use super::movable::{Movable, ahead, hand_over};
use super::pace::Pace;
use super::partition::Task;
use super::plan::{Layout, Plan};
use crate::plan::Network;

/// A thread waits awake for this time, then it sleeps. Most windows are shorter (our choice).
const AWAKE: Duration = Duration::from_micros(200);

/// After so many shared rounds, threads get new shares of the partitions (our choice).
const PERIOD: u32 = 256;

/// Windows that follow each other: work in the first, and their number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    pub(super) task: Task,
    pub(super) windows: u32,
}

/// Partitions of one thread for a batch.
#[derive(Debug)]
struct Load {
    partitions: Vec<Movable>,
    /// Number of the first one.
    first: usize,
    layout: Arc<Layout>,
    network: Arc<Network>,
    batch: Batch,
}

#[derive(Debug)]
struct Hand {
    desk: Arc<Desk<Load>>,
    /// Returns its CPU time. `None` when it has ended.
    thread: Option<JoinHandle<Duration>>,
    /// Between windows, without partitions: counting owners of the plan in each window would cost four cache lines.
    load: Option<Load>,
    /// The thread's first partition.
    first: usize,
}

#[derive(Debug)]
pub(super) struct Crew {
    /// Threads but the caller's, in order of their partitions.
    hands: Vec<Hand>,
    exchange: Arc<Exchange>,
    awake: Duration,
    /// Windows of a round: those that partitions can run without each other.
    apart: u32,
    /// Shared rounds until threads get new shares.
    rounds: u32,
    /// By partition: events when they were last shared out.
    events: Vec<u64>,
    /// `None`: threads share all windows.
    pace: Option<Pace>,
}

/// Runs windows on one thread.
pub(super) fn run_all(partitions: &mut [Movable], plan: Plan<'_>, Batch { mut task, windows }: Batch) {
    if windows == 1 {
        return partitions.iter_mut().for_each(|partition| partition.run_window(plan, task));
    }
    partitions.iter_mut().for_each(|partition| partition.live.clear());
    let (last, step) = (plan.layout.ends(task.end, windows), plan.layout.windows_apart());
    loop {
        let until = plan.layout.ends(task.end, step).min(last);
        partitions.iter_mut().for_each(|partition| partition.run_windows(plan, task, until));
        hand_over(partitions);
        let Some(ahead) = ahead(partitions) else { return };
        let end = partitions[0].out.calendar.window(ahead).1;
        if end > last {
            return;
        }
        (task.ahead, task.end) = (Some(ahead), end);
    }
}

/// Runs the partitions of a thread, which has this number; `first`: number of the first partition.
fn run_batch(
    partitions: &mut [Movable],
    first: usize,
    plan: Plan<'_>,
    Batch { mut task, windows }: Batch,
    (exchange, thread): (&Exchange, usize),
) {
    if windows == 1 {
        return run_all(partitions, plan, Batch { task, windows });
    }
    let _notice = exchange.notice();
    partitions.iter_mut().for_each(|partition| partition.live.clear());
    // Packets of a step are for the step that comes so many steps later.
    let (step, later) = match plan.layout.windows_apart() {
        1 => (1, 1),
        apart => (apart / 2, 2),
    };
    let (last, steps) = (plan.layout.ends(task.end, windows), windows.div_ceil(step));
    for number in 0..steps {
        if number >= later && !exchange.wait(number + 1 - later) {
            return; // the caller takes back the panic
        }
        let until = plan.layout.ends(task.end, step).min(last);
        for (own, partition) in (first..).zip(&mut *partitions) {
            if number > 0 {
                exchange.take(own, &mut partition.mail);
            }
            if later == 1 {
                partition.run_border(plan, task);
            } else {
                partition.run_windows(plan, task, until);
            }
            // The thread between windows passes on the packets of the last steps.
            if number + later < steps {
                partition.posted.drain(..).for_each(|(to, bag)| exchange.put(to, bag));
            }
        }
        exchange.post(thread, number + 1);
        if later == 1 {
            partitions.iter_mut().for_each(|partition| partition.run_inner(plan, task));
        }
        (task.ahead, task.end) = (Some(0), plan.layout.ends(until, 2));
    }
}

impl Crew {
    /// `threads` with that of the caller; at most one per partition. `always`: even if one thread is faster.
    pub(super) fn new(threads: usize, (partitions, apart): (usize, u32), always: bool) -> Self {
        let threads = threads.clamp(1, partitions);
        // Threads that wait awake would take time from those that work.
        let cores = available_parallelism().map_or(1, usize::from);
        let awake = if threads <= cores { AWAKE } else { Duration::ZERO };
        let exchange = Arc::new(Exchange::new(threads, partitions, awake));
        let hand = |number| Hand::new(number, number * partitions / threads, awake, exchange.clone());
        let hands: Vec<Hand> = (1..threads).map_while(hand).collect();
        let pace = (!always).then(Pace::new);
        Self { hands, exchange, awake, apart, rounds: PERIOD, events: vec![0; partitions], pace }
    }

    /// Windows that can run in a batch now, in which threads wait awake for each other; 1 if the system did not start all threads.
    pub(super) fn windows_together(&self) -> u32 {
        let all = self.exchange.threads() == self.hands.len() + 1;
        let most =
            self.pace.as_ref().map_or(u32::MAX, |pace| if self.awake.is_zero() { 1 } else { pace.rounds_together() });
        if all { most.min(self.rounds) * self.apart } else { 1 }
    }

    /// Runs windows of all partitions.
    pub(super) fn run(&mut self, all: &mut Vec<Movable>, layout: &Arc<Layout>, network: &Arc<Network>, batch: Batch) {
        let Some(pace) = &self.pace else { return self.share(all, layout, network, batch) };
        let (begin, before) = (Instant::now(), events(all));
        if pace.shares() {
            self.share(all, layout, network, batch);
        } else {
            run_all(all, Plan { layout, network }, batch);
        }
        if let Some(pace) = &mut self.pace {
            pace.note(begin.elapsed(), events(all) - before, batch.windows.div_ceil(self.apart));
        }
    }

    fn share(&mut self, all: &mut Vec<Movable>, layout: &Arc<Layout>, network: &Arc<Network>, batch: Batch) {
        self.exchange.reset();
        for hand in self.hands.iter_mut().rev() {
            let empty =
                || Load { partitions: Vec::new(), first: 0, layout: layout.clone(), network: network.clone(), batch };
            let mut load = hand.load.take().unwrap_or_else(empty);
            load.partitions.extend(all.drain(hand.first..));
            (load.first, load.batch) = (hand.first, batch);
            hand.order(load);
        }
        run_batch(all, 0, Plan { layout, network }, batch, (&self.exchange, 0));
        for hand in &mut self.hands {
            let mut load = hand.take_back(self.awake);
            all.append(&mut load.partitions);
            hand.load = Some(load);
        }
        self.rounds -= batch.windows.div_ceil(self.apart);
        if self.rounds == 0 {
            self.rounds = PERIOD;
            self.share_out(all);
        }
    }

    /// Leaves the caller the only owner of the plan until the next window.
    pub(super) fn release_plan(&mut self) {
        self.hands.iter_mut().for_each(|hand| hand.load = None);
    }

    /// Number of threads with the caller's; CPU time without it.
    pub(super) fn end(mut self) -> (usize, Duration) {
        (self.hands.len() + 1, self.hands.iter_mut().map(Hand::end).sum())
    }

    /// Neighbouring partitions stay with one thread. Threads get similar numbers of events, if the next windows are like the last.
    fn share_out(&mut self, all: &[Movable]) {
        let events: Vec<u64> = all.iter().map(Movable::events).collect();
        let costs: Vec<u64> = events.iter().zip(&self.events).map(|(now, before)| now - before).collect();
        let firsts = shares(&costs, self.hands.len() + 1);
        self.hands.iter_mut().zip(firsts).for_each(|(hand, first)| hand.first = first);
        self.events = events;
    }
}

fn events(all: &[Movable]) -> u64 {
    all.iter().map(Movable::events).sum()
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
    fn new(number: usize, first: usize, awake: Duration, exchange: Arc<Exchange>) -> Option<Self> {
        let desk = Arc::new(Desk::new());
        let thread = Builder::new().name(format!("incast-{number}"));
        let own = desk.clone();
        let thread = thread.spawn(move || work(&own, awake, (&exchange, number))).ok()?;
        Some(Self { desk, thread: Some(thread), load: None, first })
    }

    fn order(&self, load: Load) {
        if let Some(thread) = &self.thread {
            self.desk.order(load, thread.thread());
        }
    }

    /// The thread ends early only if it panics.
    fn take_back(&mut self, awake: Duration) -> Load {
        self.desk.take_back(awake).unwrap_or_else(|| {
            let ended = self.thread.take().and_then(|thread| thread.join().err());
            resume_unwind(ended.unwrap_or_else(|| Box::new("a thread of the simulation ended")))
        })
    }

    fn end(&mut self) -> Duration {
        let Some(thread) = self.thread.take() else { return Duration::ZERO };
        self.desk.dismiss(thread.thread());
        // The caller has had any panic of the thread with its last order, or panics itself.
        thread.join().unwrap_or_default()
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.end();
    }
}

/// Leaves the desk in a panic too.
struct Leaving<'a>(&'a Desk<Load>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// `number`: of the thread.
fn work(desk: &Desk<Load>, awake: Duration, (exchange, number): (&Exchange, usize)) -> Duration {
    let _leaving = Leaving(desk);
    // Miri lacks this clock.
    let cpu = (!cfg!(miri)).then(ThreadTime::now);
    while let Some(mut load) = desk.next(awake) {
        let Load { partitions, first, layout, network, batch } = &mut load;
        run_batch(partitions, *first, Plan { layout, network }, *batch, (exchange, number));
        desk.done(load);
    }
    cpu.map_or(Duration::ZERO, |cpu| cpu.elapsed())
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
        let desk = Arc::new(Desk::new());
        let thread = std::thread::spawn({
            let desk = desk.clone();
            move || {
                let _leaving = Leaving(&desk);
                let _load = desk.next(Duration::ZERO);
                std::panic::panic_any("the message");
            }
        });
        let bench = crate::nodes::bench::Bench::switch(&[], |_| {});
        let task = Task { run: 0, ahead: None, end: 0, without_hosts: false, wakes: false };
        let (layout, network) = (bench.nodes.layout.clone(), bench.nodes.network.clone());
        let mut hand = Hand { desk, thread: Some(thread), load: None, first: 0 };
        hand.order(Load { partitions: Vec::new(), first: 0, layout, network, batch: Batch { task, windows: 1 } });
        let take = || drop(hand.take_back(Duration::ZERO));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(take)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"the message"));
    }
}
