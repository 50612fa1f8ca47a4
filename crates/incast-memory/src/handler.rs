//! Thread that answers page faults and calls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::channel::Channel;
use crate::delays::Delays;
use crate::desk::{self, Call};
use crate::ended::ended_unless;
use crate::faults::{self, Event};
use crate::heap::Heap;
use crate::pager::{BATCH, Fault, Memory};
use crate::region::Region;
use crate::ring::{Record, Ring, Word};

/// Polling time before sleep, in ns: a wake-up takes microseconds, which would add to each fetch in quick succession. Our
/// choice.
const LOOKING: u64 = 50_000;
/// Most concurrent fetches; later faults wait.
const ON_THE_WAY: usize = 1024;
/// With a fetch due within this time (ns), the handler only waits: other work would take longer.
const SHORT: u64 = 1_000;
/// Sleep ends this long before the next fetch is due (ns).
const LONG: u64 = 2_000_000;

const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Consecutive checks that count as a deadlock: a thread waits for a page, the forking thread sleeps. Our choice.
const STUCK: u32 = 30;
const DEADLOCK: &str = "the program forks while a thread that waits for remote memory has what fork waits for (a lock of stdio): they \
would wait for each other for ever, so it was ended";

const LOOK_AGAIN: u64 = 1_000_000;

#[derive(Debug)]
struct Fetch {
    page: u32,
    thread: u32,
    write: bool,
    seen: u64,
    /// Begin of the mapping, once all else is done.
    ready: u64,
    asked: u32,
}

impl Fetch {
    const fn due(&self) -> u64 {
        self.ready + self.asked as u64
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    heap: Heap<Region>,
    delays: Delays,
    channel: Option<Channel>,
    ring: Ring,
    fetches: Vec<Fetch>,
    looked: u64,
    calls: u64,
    stalled: u64,
    lost: u64,
    /// No reader of the ring.
    alone: bool,
}

/// Static, so that forked processes inherit it.
static SERVER: Mutex<Option<Server>> = Mutex::new(None);

static FORKING: AtomicU32 = AtomicU32::new(AWAKE);
const AWAKE: u32 = 0;
const RESTING: u32 = 1;

fn server() -> MutexGuard<'static, Option<Server>> {
    SERVER.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn equip(heap: Heap<Region>, delays: Delays, channel: Channel, ring: Ring) {
    let fetches = Vec::with_capacity(ON_THE_WAY);
    ring.set(Word::Start, now());
    let channel = Some(channel);
    let new = Server { heap, delays, channel, ring, fetches, looked: 0, calls: 0, stalled: 0, lost: 0, alone: false };
    *server() = Some(new);
}

/// Replaces state that a forked process does not inherit.
pub(crate) fn equip_anew(channel: Option<Channel>, ring: Ring, seed: u64) -> std::io::Result<()> {
    let mut server = server();
    let server = server.as_mut().expect("the process that forked had a handler");
    server.heap.pager.memory.connect()?;
    for fetch in server.fetches.drain(..) {
        server.heap.pager.give_up(fetch.page);
    }
    server.heap.pager.forked();
    server.delays.reseed(seed);
    ring.set(Word::Start, now());
    server.alone = channel.is_none();
    // Not closed: the old number belongs to another file here.
    std::mem::forget(std::mem::replace(&mut server.channel, channel));
    server.ring = ring;
    (server.looked, server.calls, server.stalled, server.lost) = (0, 0, 0, 0);
    Ok(())
}

pub(crate) fn run() -> ! {
    loop {
        // No borrow past this line: a forked process could not take the lock.
        let forking = server().as_mut().map(|server| (server.serve(), !server.fetches.is_empty()));
        let faults = server().as_ref().and_then(|server| server.heap.pager.memory.faults().try_clone().ok());
        FORKING.store(RESTING, Ordering::Release);
        let _ = futex::wake(&FORKING, futex::Flags::PRIVATE, 1);
        let mut stuck = 0;
        while FORKING.load(Ordering::Acquire) == RESTING {
            let _ = futex::wait(&FORKING, futex::Flags::PRIVATE, RESTING, Some(&PATIENCE));
            let waits = faults.as_ref().is_some_and(|file| faults::wait(file, 0));
            let is_stuck = forking.is_some_and(|(thread, fetches)| (waits || fetches) && sleeps(thread));
            stuck = if is_stuck { stuck + 1 } else { 0 };
            ended_unless(stuck < STUCK, DEADLOCK);
        }
    }
}

fn sleeps(thread: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S'))
}

pub(crate) fn before_fork() {
    desk::rest();
    while FORKING.load(Ordering::Acquire) != RESTING {
        let _ = futex::wait(&FORKING, futex::Flags::PRIVATE, AWAKE, None);
    }
}

pub(crate) fn after_fork() {
    FORKING.store(AWAKE, Ordering::Release);
    let _ = futex::wake(&FORKING, futex::Flags::PRIVATE, 1);
    desk::go_on();
}

fn now() -> u64 {
    time_of(ClockId::Monotonic)
}

fn time_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Server {
    /// Serves until a fork; returns the forking thread.
    fn serve(&mut self) -> u32 {
        let mut awake_until = now() + LOOKING;
        loop {
            let begun = now();
            let mut did = true;
            let mut forks = None;
            if let Some(at) = self.due(begun + SHORT) {
                let fetch = self.fetches.swap_remove(at);
                let mut time = begun;
                // No spin-loop hint: it costs a few percent of a short delay.
                while time < fetch.due() {
                    time = now();
                }
                self.arrive(&fetch, time);
            } else if self.fetches.len() < ON_THE_WAY {
                let mut events = [Event::default(); 16];
                let region = &self.heap.pager.memory;
                let seen = faults::read(region.faults(), region.base(), &mut events);
                for event in &events[..seen] {
                    forks = self.on(*event, begun).or(forks);
                }
                did = seen > 0;
            }
            if did {
                let done = now();
                awake_until = done + LOOKING;
                self.tell(done);
            } else if let Some(wait) = self.rest(begun, awake_until) {
                self.ring.set(Word::Processor, time_of(ClockId::ThreadCPUTime));
                let _ = faults::wait(self.heap.pager.memory.faults(), wait);
            } else if self.fetches.is_empty() {
                // Other threads may need this core.
                std::thread::yield_now();
            }
            if let Some(stack) = forks {
                return self.prepare(stack);
            }
        }
    }

    fn due(&self, then: u64) -> Option<usize> {
        let next = self.fetches.iter().enumerate().min_by_key(|(_, fetch)| fetch.due());
        next.filter(|(_, fetch)| fetch.due() <= then).map(|(at, _)| at)
    }

    /// Nanoseconds to sleep; `None`: poll; `u64::MAX`: no fetches.
    fn rest(&self, now: u64, awake_until: u64) -> Option<u64> {
        match self.fetches.iter().map(Fetch::due).min() {
            Some(due) => due.checked_sub(now + LONG),
            None => (now > awake_until).then_some(u64::MAX),
        }
    }

    /// Returns a fork's thread and stack page.
    fn on(&mut self, event: Event, seen: u64) -> Option<(u32, u32)> {
        if event.page == desk::BELL {
            return self.call(event.thread);
        }
        if event.guarded {
            self.heap.pager.write(event.page);
        } else if self.heap.pager.fault(event.page, event.write) == Fault::Fetch {
            // Same path without a delay, so that only the delay differs.
            let asked = self.delays.draw();
            let Event { page, thread, write, .. } = event;
            let fetch = Fetch { page, thread, write, seen, ready: now(), asked };
            self.fetches.push(fetch);
        } else {
            self.trim();
        }
        None
    }

    fn call(&mut self, thread: u32) -> Option<(u32, u32)> {
        let call = desk::slip().0;
        let answer = self.heap.answer(call);
        desk::slip().1 = answer;
        self.calls += 1;
        self.heap.pager.memory.zero(desk::BELL, false);
        if let Call::Fork { stack } = call { Some((thread, stack)) } else { None }
    }

    /// Fetches stack pages of the forking thread without delay: nothing serves them until the fork is done.
    fn prepare(&mut self, (thread, stack): (u32, u32)) -> u32 {
        // Due fetches complete as without a fork.
        while let Some(at) = self.due(now()) {
            let fetch = self.fetches.swap_remove(at);
            self.arrive(&fetch, now());
        }
        for page in self.heap.around(stack) {
            let seen = now();
            if self.heap.hold(page) {
                let ready = now();
                self.fetched(&Fetch { page, thread, write: true, seen, ready, asked: 0 }, ready);
            }
        }
        self.tell(now());
        thread
    }

    fn arrive(&mut self, fetch: &Fetch, begun: u64) {
        self.fetched(fetch, begun);
        self.trim();
    }

    /// Maps and records a fetched page, from time `begun`.
    fn fetched(&mut self, fetch: &Fetch, begun: u64) {
        let &Fetch { page, thread, write, seen, asked, .. } = fetch;
        let ready = if asked == 0 { begun } else { fetch.ready };
        self.heap.pager.arrive(page, write);
        let done = now();
        // On one core the woken thread runs immediately until it waits: its time must not count.
        self.heap.pager.memory.wake(page);
        // Beyond u32 (4 s) the machine slept.
        let bounded = |time: u64| u32::try_from(time).unwrap_or(u32::MAX);
        let (achieved, software) = (bounded(begun - ready), bounded(ready - seen + done - begun));
        self.record(Record { time: seen, page, thread, kind: u8::from(write), asked, achieved, software });
    }

    fn trim(&mut self) {
        if self.heap.pager.is_over() {
            let time = now();
            let mut sent = [0; BATCH];
            while let Some(count) = self.heap.pager.trim(&mut sent) {
                for page in &sent[..count] {
                    let page = *page;
                    self.record(Record { time, page, thread: 0, kind: 2, asked: 0, achieved: 0, software: 0 });
                }
            }
        }
    }

    fn record(&mut self, record: Record) {
        if self.ring.is_full() && !self.alone {
            let begun = now();
            while self.ring.is_full() && !self.alone {
                self.alone = self.channel.as_ref().is_none_or(Channel::is_closed);
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            self.stalled += now() - begun;
        }
        if self.alone && self.ring.is_full() {
            self.lost += 1;
        } else {
            self.ring.write(record);
        }
    }

    /// Publishes counts, and at intervals processor time (a system call).
    fn tell(&mut self, now: u64) {
        if now - self.looked > LOOK_AGAIN {
            self.looked = now;
            self.ring.set(Word::Processor, time_of(ClockId::ThreadCPUTime));
        }
        let counts = self.heap.pager.counts();
        for (word, value) in [
            (Word::First, counts.first),
            (Word::Fetched, counts.fetched),
            (Word::Sent, counts.written),
            (Word::Dropped, counts.dropped),
            (Word::MappedAgain, counts.mapped_again),
            (Word::Guarded, counts.guarded),
            (Word::Footprint, counts.footprint),
            (Word::Peak, counts.peak),
            (Word::Pinned, counts.pinned),
            (Word::Limit, self.heap.pager.limit()),
            (Word::Calls, self.calls),
            (Word::Unserved, desk::unserved_bytes()),
            (Word::Stalled, self.stalled),
            (Word::Lost, self.lost),
        ] {
            self.ring.set(word, value);
        }
    }
}
