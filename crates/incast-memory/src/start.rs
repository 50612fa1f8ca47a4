//! How it begins: in a program that was started, and in a process that it forks.

use std::fmt::Display;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::thread::{futex, set_name};

use crate::channel::{Channel, Config};
use crate::delays::Delays;
use crate::desk::{self, BELL, PAGE};
use crate::ended::Ended;
use crate::handler;
use crate::heap::Heap;
use crate::pager::Pager;
use crate::region::Region;
use crate::ring::{HEADER, RECORD, Ring};
use crate::space::{Extent, Space};
use crate::sys;

/// The name of the socket at which `incast` listens.
const VARIABLE: &str = "INCAST_MEMORY";
/// Names of the programs that are served, with slashes between them; all if there are none.
const ONLY: &str = "INCAST_MEMORY_ONLY";
/// Bytes of a program's name that Linux keeps (TASK_COMM_LEN less its end).
const NAME: usize = 15;
/// What a program ends with that could not be instrumented: the code of shells for a command that cannot be executed.
const NOT_INSTRUMENTED: i32 = 126;
/// What is said where a program began with permission to serve page faults, and a process of it has none.
const NO_PERMISSION: &str = " (the program has given up the permission to serve page faults, and then forked: \
`sysctl vm.unprivileged_userfaultfd=1` gives it to all users)";
/// Free ranges that are known at a time. Our choice.
const FREE_RANGES: usize = 1 << 16;
/// Records of a ring that nobody reads.
const FEW: usize = 1024;

/// What was asked when the program began.
static ASKED: OnceLock<(Vec<u8>, Config)> = OnceLock::new();
/// Whether a handler has begun, and how. Threads of Rust have channels for this, which allocate: see [`sys::spawn`].
static BEGUN: (AtomicU32, Mutex<Result<bool, String>>) = (AtomicU32::new(0), Mutex::new(Ok(false)));
/// Whether the process is between the two ends of a fork for which the handler rests.
static FORKING: AtomicBool = AtomicBool::new(false);

/// The program begins: serves its memory, if `incast` started it.
pub(crate) fn start() {
    let Some(name) = std::env::var_os(VARIABLE).filter(|_| is_wanted()) else { return };
    let name = name.into_encoded_bytes();
    run_handler(move || {
        // Without an incast that listens, there is nobody to record for: the program runs as ever.
        let Ok((channel, config)) = Channel::open(&name) else { return Ok(false) };
        if let Err(why) = first(&channel, &config) {
            channel.complain(&why);
            sys::exit(NOT_INSTRUMENTED);
        }
        let _ = ASKED.set((name, config));
        Ok(true)
    });
}

/// Whether this program is one of those that are to be served.
fn is_wanted() -> bool {
    let (Ok(only), Ok(own)) = (std::env::var(ONLY), std::fs::read_to_string("/proc/self/comm")) else { return true };
    only.split('/').any(|name| name.as_bytes().iter().take(NAME).eq(own.trim_end().as_bytes()))
}

/// Runs `begin` in the handler's thread, waits for it, and lets the thread serve if it says so. If it fails, the process ends: the
/// program has not begun, or could not go on.
fn run_handler(begin: impl FnOnce() -> Result<bool, String> + Send + 'static) {
    let outcome = || BEGUN.1.lock().unwrap_or_else(PoisonError::into_inner);
    BEGUN.0.store(0, Ordering::Relaxed);
    let started = sys::spawn(move || {
        let _ = set_name(c"incast-memory");
        let begin = || sys::leave_files().map_err(|error| said("close_range", error)).and_then(|()| begin());
        // How it fails is said by then.
        let begun = catch_unwind(AssertUnwindSafe(begin)).unwrap_or_else(|_| std::process::abort());
        let serves = matches!(begun, Ok(true));
        if serves {
            sys::uncount();
        }
        *outcome() = begun;
        BEGUN.0.store(1, Ordering::Release);
        let _ = futex::wake(&BEGUN.0, futex::Flags::PRIVATE, 1);
        // Whatever fails here, the program's memory is not served any more: it must not go on.
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

/// Makes the region, and says hello.
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

/// Has a failure of this library itself said where it is heard: the handler has no stderr.
fn report_panics(channel: &Channel) -> std::io::Result<()> {
    let channel = channel.try_clone()?;
    // The hook before, if a process was forked, has a file whose number is another's here: it is not dropped.
    std::mem::forget(std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| match panic.payload().downcast_ref::<Ended>() {
        Some(Ended(why)) => channel.complain(&format!("ended\n0\n{why}")),
        None => channel.complain(&format!("panic\n0\n{panic}")),
    }));
    Ok(())
}

/// A ring that the other side sees too.
fn shared_ring(channel: Option<&Channel>, records: usize) -> Result<Ring, String> {
    let words = HEADER + records * RECORD;
    let file = memfd_create("incast-memory", MemfdFlags::CLOEXEC).map_err(|error| said("ring", error))?;
    ftruncate(&file, words as u64 * 8).map_err(|error| said("ring", error))?;
    if let Some(channel) = channel {
        channel.hello(file.as_fd()).map_err(|error| said("hello", error))?;
    }
    Ok(Ring::new(sys::share(&file, words).map_err(|error| said("ring", error))?))
}

/// What failed and how, as `incast` reads it.
fn said(what: &str, error: impl Into<std::io::Error> + Display) -> String {
    let error = error.into();
    format!("{what}\n{}\n{error}", error.raw_os_error().unwrap_or(0))
}

/// The last before a fork: what others have to do before it may need memory that is served.
pub(crate) extern "C" fn before_fork() {
    if desk::serves(usize::MAX) {
        handler::before_fork();
        sys::inherit(true);
        // The turn is this thread's, as it is the handler's last call.
        FORKING.store(true, Ordering::Relaxed);
    }
}

/// The first after a fork.
pub(crate) extern "C" fn in_parent() {
    if FORKING.swap(false, Ordering::Relaxed) {
        sys::inherit(false);
        handler::after_fork();
    }
}

/// The new process has the pages and the state, but no handler and no file of faults: it gets its own, before anything of the
/// program runs in it. Allocators of the program may still be locked, so that nothing here may need them.
pub(crate) extern "C" fn in_child() {
    if !FORKING.swap(false, Ordering::Relaxed) {
        return;
    }
    run_handler(|| {
        let Some((name, config)) = ASKED.get() else { return Ok(false) };
        // If incast is gone the pages have to be served all the same.
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
