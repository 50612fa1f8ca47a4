//! The thread that answers page faults.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::channel::Channel;
use crate::delays::Delays;
use crate::desk;
use crate::ended::ended_unless;
use crate::faults::{self, Event};
use crate::heap::{Call, Heap};
use crate::pager::{BATCH, Fault, Memory};
use crate::region::Region;
use crate::ring::{Record, Ring, Word};

/// How long the handler looks for the next fault before it sleeps, in nanoseconds: to be woken takes several microseconds, which
/// would be in every fetch of a program that has them close together. Our choice.
const LOOKING: u64 = 50_000;
/// Fetches that can be on their way at a time: faults beyond them are seen when one of them is there.
const ON_THE_WAY: usize = 1024;
/// With a fetch to come within this, in nanoseconds, nothing else is looked at: that would take longer.
const SHORT: u64 = 1_000;
/// With no fetch to come within this, the handler sleeps until shortly before; in nanoseconds.
const LONG: u64 = 2_000_000;

/// How often the handler looks, while it rests, whether it is waited for.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// After so many looks at which a thread waits for a page, and that which forks sleeps, they wait for each other. Our choice.
const STUCK: u32 = 30;
/// What is said then before the process ends.
const DEADLOCK: &str = "the program forks while a thread that waits for remote memory has what fork waits for (a lock of stdio): they \
would wait for each other for ever, so it was ended";

/// How often the handler looks how much processor time it took, in nanoseconds.
const LOOK_AGAIN: u64 = 1_000_000;

/// A fetch on its way.
#[derive(Debug)]
struct Fetch {
    page: u32,
    thread: u32,
    write: bool,
    /// When its fault was seen.
    seen: u64,
    /// When the instrument was done with it, but for mapping it.
    ready: u64,
    asked: u32,
}

impl Fetch {
    const fn due(&self) -> u64 {
        self.ready + self.asked as u64
    }
}

/// All that the handler has.
#[derive(Debug)]
pub(crate) struct Server {
    heap: Heap<Region>,
    delays: Delays,
    channel: Option<Channel>,
    ring: Ring,
    fetches: Vec<Fetch>,
    /// When the handler's processor time was looked at last.
    looked: u64,
    calls: u64,
    stalled: u64,
    lost: u64,
    /// Nobody reads the ring any more.
    alone: bool,
}

/// The handler's state, which a process that is forked inherits.
static SERVER: Mutex<Option<Server>> = Mutex::new(None);

/// Where the handler is while the process forks.
static FORKING: AtomicU32 = AtomicU32::new(AWAKE);
const AWAKE: u32 = 0;
const RESTING: u32 = 1;

fn server() -> MutexGuard<'static, Option<Server>> {
    SERVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands over what the handler is to work with.
pub(crate) fn equip(heap: Heap<Region>, delays: Delays, channel: Channel, ring: Ring) {
    let fetches = Vec::with_capacity(ON_THE_WAY);
    ring.set(Word::Start, now());
    let channel = Some(channel);
    let new = Server { heap, delays, channel, ring, fetches, looked: 0, calls: 0, stalled: 0, lost: 0, alone: false };
    *server() = Some(new);
}

/// Equips the handler of a process that was forked with what is not inherited.
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
    // As with the file of faults, the number of the connection that was inherited is another file's here.
    std::mem::forget(std::mem::replace(&mut server.channel, channel));
    server.ring = ring;
    (server.looked, server.calls, server.stalled, server.lost) = (0, 0, 0, 0);
    Ok(())
}

/// Answers page faults for ever.
pub(crate) fn run() -> ! {
    loop {
        // Nothing that it borrows may last: a process that is forked could not get it.
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

/// Whether a thread of this process sleeps, as when it waits for a lock.
fn sleeps(thread: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S'))
}

/// Before a fork: the handler rests until [`after_fork`].
pub(crate) fn before_fork() {
    desk::rest();
    while FORKING.load(Ordering::Acquire) != RESTING {
        let _ = futex::wait(&FORKING, futex::Flags::PRIVATE, AWAKE, None);
    }
}

/// After a fork, in both processes.
pub(crate) fn after_fork() {
    FORKING.store(AWAKE, Ordering::Release);
    let _ = futex::wake(&FORKING, futex::Flags::PRIVATE, 1);
    desk::go_on();
}

fn now() -> u64 {
    time_of(ClockId::Monotonic)
}

/// What a clock shows, in nanoseconds.
fn time_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Server {
    /// Answers until the process is about to fork: gives the thread that does.
    fn serve(&mut self) -> u32 {
        let mut awake_until = now() + LOOKING;
        loop {
            let begun = now();
            let mut did = true;
            let mut forks = None;
            if let Some(at) = self.due(begun + SHORT) {
                let fetch = self.fetches.swap_remove(at);
                let mut time = begun;
                // Without a pause, which would be a few percent of a short delay.
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
                // What it was shows when it is read.
                let _ = faults::wait(self.heap.pager.memory.faults(), wait);
            } else if self.fetches.is_empty() {
                // On a core that others want it is theirs.
                std::thread::yield_now();
            }
            if let Some(stack) = forks {
                return self.prepare(stack);
            }
        }
    }

    /// The next fetch, if it is due by then.
    fn due(&self, then: u64) -> Option<usize> {
        let next = self.fetches.iter().enumerate().min_by_key(|(_, fetch)| fetch.due());
        next.filter(|(_, fetch)| fetch.due() <= then).map(|(at, _)| at)
    }

    /// How long to sleep, in nanoseconds, if at all; a time without end if nothing is on its way.
    fn rest(&self, now: u64, awake_until: u64) -> Option<u64> {
        match self.fetches.iter().map(Fetch::due).min() {
            Some(due) => due.checked_sub(now + LONG),
            None => (now > awake_until).then_some(u64::MAX),
        }
    }

    /// An event of the program; gives the thread that is about to fork, and where its stack is.
    fn on(&mut self, event: Event, seen: u64) -> Option<(u32, u32)> {
        if event.page == desk::BELL {
            return self.call(event.thread);
        }
        if event.guarded {
            self.heap.pager.write(event.page);
        } else if self.heap.pager.fault(event.page, event.write) == Fault::Fetch {
            // One without a delay goes the same way, so that the two differ by the delay alone.
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

    /// Has what a thread needs to fork, if its stack is of the region: nobody serves that until the fork is done. It is not delayed.
    fn prepare(&mut self, (thread, stack): (u32, u32)) -> u32 {
        // Those of the same look that are due already, as they would be without a fork.
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

    /// Maps a page that was fetched, from `begun` on, and makes room.
    fn arrive(&mut self, fetch: &Fetch, begun: u64) {
        self.fetched(fetch, begun);
        self.trim();
    }

    /// Maps a page that was fetched, from `begun` on, and records that.
    fn fetched(&mut self, fetch: &Fetch, begun: u64) {
        let &Fetch { page, thread, write, seen, asked, .. } = fetch;
        let ready = if asked == 0 { begun } else { fetch.ready };
        self.heap.pager.arrive(page, write);
        let done = now();
        // On one core the thread runs at once, until it waits again: that is not to be in the time.
        self.heap.pager.memory.wake(page);
        // What does not fit would be four seconds: of a machine that slept.
        let bounded = |time: u64| u32::try_from(time).unwrap_or(u32::MAX);
        let (achieved, software) = (bounded(begun - ready), bounded(ready - seen + done - begun));
        self.record(Record { time: seen, page, thread, kind: u8::from(write), asked, achieved, software });
    }

    /// Sends away what is too much.
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

    /// Tells the reader how things stand; `now` and then of the processor time too, which takes a system call.
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
