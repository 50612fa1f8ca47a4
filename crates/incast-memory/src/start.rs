use std::fmt::Display;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::thread::{futex, set_name};

use crate::channel::{Channel, Config};
use crate::delays::Delays;
use crate::desk::{self, BELL};
use crate::ended::Ended;
use crate::handler;
use crate::heap::Heap;
use crate::pager::Pager;
use crate::region::Region;
use crate::ring::{HEADER, RECORD, Ring};
use crate::space::{Extent, PAGE, Space};
use crate::sys;

/// Variable: name of `incast`'s socket.
const VARIABLE: &str = "INCAST_MEMORY";
/// Variable: programs to serve, separated by slashes; unset: all.
const ONLY: &str = "INCAST_MEMORY_ONLY";
/// Bytes of a program's name in Linux (TASK_COMM_LEN without its end).
const NAME: usize = 15;
/// Exit code of programs that cannot be instrumented: like shells for a command that cannot run.
const NOT_INSTRUMENTED: i32 = 126;
/// Hint if the program had the permission to serve faults and its forked process has not.
const NO_PERMISSION: &str = " (the program has given up the permission to serve page faults, and then forked: \
`sysctl vm.unprivileged_userfaultfd=1` gives it to all users)";
/// Capacity for free ranges. Our choice.
const FREE_RANGES: usize = 1 << 16;
/// Records of a ring without a reader.
const FEW: usize = 1024;

static ASKED: OnceLock<(Vec<u8>, Config)> = OnceLock::new();
/// State of the start (1: complete), and its outcome. A channel of std would allocate: see [`sys::spawn`].
static BEGUN: (AtomicU32, Mutex<Result<bool, String>>) = (AtomicU32::new(0), Mutex::new(Ok(false)));
/// A fork with a paused handler is in progress.
static FORKING: AtomicBool = AtomicBool::new(false);

pub(crate) fn start() {
    let Some(name) = std::env::var_os(VARIABLE).filter(|_| is_wanted()) else { return };
    let name = name.into_encoded_bytes();
    run_handler(move || {
        // Without `incast` nobody receives records: run unserved.
        let Ok((channel, config)) = Channel::open(&name) else { return Ok(false) };
        if let Err(why) = first(&channel, &config) {
            channel.complain(&why);
            sys::exit(NOT_INSTRUMENTED);
        }
        let _ = ASKED.set((name, config));
        Ok(true)
    });
}

fn is_wanted() -> bool {
    let (Ok(only), Ok(own)) = (std::env::var(ONLY), std::fs::read_to_string("/proc/self/comm")) else { return true };
    only.split('/').any(|name| name.as_bytes().iter().take(NAME).eq(own.trim_end().as_bytes()))
}

/// Runs `begin` in the handler's thread and waits; the thread then serves if `begin` returns true. An error ends the process:
/// the program has not begun, or cannot go on.
fn run_handler(begin: impl FnOnce() -> Result<bool, String> + Send + 'static) {
    let outcome = || BEGUN.1.lock().unwrap_or_else(PoisonError::into_inner);
    BEGUN.0.store(0, Ordering::Relaxed);
    let started = sys::spawn(move || {
        let _ = set_name(c"incast-memory");
        let begin = || sys::leave_files().map_err(|error| said("close_range", error)).and_then(|()| begin());
        // The panic hook has run by then.
        let begun = catch_unwind(AssertUnwindSafe(begin)).unwrap_or_else(|_| std::process::abort());
        let serves = matches!(begun, Ok(true));
        if serves {
            sys::uncount();
        }
        *outcome() = begun;
        BEGUN.0.store(1, Ordering::Release);
        let _ = futex::wake(&BEGUN.0, futex::Flags::PRIVATE, 1);
        // The program must not go on without a handler.
        if serves && catch_unwind(AssertUnwindSafe(|| handler::run())).is_err() {
            std::process::abort();
        }
    });
    let begun = started.map_err(|error| said("thread", error)).and_then(|()| {
        while BEGUN.0.load(Ordering::Acquire) == 0 {
            let _ = futex::wait(&BEGUN.0, futex::Flags::PRIVATE, 0, None);
        }
        outcome().clone()
    });
    if let Err(why) = begun {
        let hint = if ASKED.get().is_some() && why.starts_with("userfaultfd\n") { NO_PERMISSION } else { "" };
        let text = format!("incast: this process cannot be instrumented: {}{hint}\n", why.replace('\n', ": "));
        let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
        sys::exit(NOT_INSTRUMENTED);
    }
}

fn first(channel: &Channel, config: &Config) -> Result<(), String> {
    let pages = (config.region / PAGE) as u32;
    let region = Region::new(pages).map_err(|error| said("userfaultfd", error))?;
    let base = region.base();
    let table = |error| said("tables", error);
    let of_pages = (sys::table(pages as usize).map_err(table)?, sys::table(pages as usize).map_err(table)?);
    let mut space = Space::new(sys::table(FREE_RANGES).map_err(table)?, pages);
    space.claim(Extent::new(BELL, 1));
    let pager = Pager::new(region, of_pages, config.policy, config.limit);
    report_panics(channel).map_err(|error| said("socket", error))?;
    let sizes: &'static [AtomicU32] = sys::table(pages as usize).map_err(table)?;
    let heap = Heap::new(pager, space, sizes);
    let delays = Delays::new(config.delays.clone(), config.seed);
    let ring = shared_ring(Some(channel), config.records)?;
    handler::equip(heap, delays, channel.try_clone().map_err(|error| said("socket", error))?, ring);
    desk::open(base, config.region, config.threshold, sizes);
    Ok(())
}

/// Reports panics to `incast`: the handler has no stderr.
fn report_panics(channel: &Channel) -> std::io::Result<()> {
    let channel = channel.try_clone()?;
    // The previous hook is not dropped: in a forked process its file number belongs to another file.
    std::mem::forget(std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| match panic.payload().downcast_ref::<Ended>() {
        Some(Ended(why)) => channel.complain(&format!("ended\n0\n{why}")),
        None => channel.complain(&format!("panic\n0\n{panic}")),
    }));
    Ok(())
}

fn shared_ring(channel: Option<&Channel>, records: usize) -> Result<Ring, String> {
    let words = HEADER + records * RECORD;
    let file = memfd_create("incast-memory", MemfdFlags::CLOEXEC).map_err(|error| said("ring", error))?;
    ftruncate(&file, words as u64 * 8).map_err(|error| said("ring", error))?;
    if let Some(channel) = channel {
        channel.hello(file.as_fd()).map_err(|error| said("hello", error))?;
    }
    Ok(Ring::new(sys::share(&file, words).map_err(|error| said("ring", error))?))
}

/// Failed step and error, as `incast` parses them.
fn said(what: &str, error: impl Into<std::io::Error> + Display) -> String {
    let error = error.into();
    format!("{what}\n{}\n{error}", error.raw_os_error().unwrap_or(0))
}

/// Runs last before a fork: others may need served memory.
pub(crate) extern "C" fn before_fork() {
    if desk::serves(usize::MAX) {
        handler::before_fork();
        sys::inherit(true);
        // This thread keeps the lock of requests: no other thread forks.
        FORKING.store(true, Ordering::Relaxed);
    }
}

/// Runs first after a fork, in the parent.
pub(crate) extern "C" fn in_parent() {
    if FORKING.swap(false, Ordering::Relaxed) {
        sys::inherit(false);
        handler::after_fork();
    }
}

/// Runs first in a forked process, which has pages and state but no handler or fault file: it gets its own before program code
/// runs. Program allocators may be locked: nothing here may use them.
pub(crate) extern "C" fn in_child() {
    if !FORKING.swap(false, Ordering::Relaxed) {
        return;
    }
    run_handler(|| {
        let Some((name, config)) = ASKED.get() else { return Ok(false) };
        // Pages need service even without `incast`.
        let channel = Channel::open(name).ok().map(|(channel, _)| channel);
        let records = if channel.is_some() { config.records } else { FEW };
        if let Some(channel) = &channel {
            report_panics(channel).map_err(|error| said("socket", error))?;
        }
        let ring = shared_ring(channel.as_ref(), records)?;
        let seed = config.seed ^ u64::from(std::process::id());
        handler::equip_anew(channel, ring, seed).map_err(|error| said("userfaultfd", error))?;
        Ok(true)
    });
    sys::inherit(false);
    handler::after_fork();
}
