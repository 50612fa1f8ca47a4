use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use incast_model::caught::message;
use incast_model::field::FieldError;
use incast_model::memory::Memory;
use incast_sim::measure::Ideal;
use incast_sim::outcome::Stop;
use incast_sim::{Carrier, Outcome, Progress, Simulation, ValidSetup};

use super::error::ResultsError;
use crate::diagnostic::Diagnostics;
use crate::memory::Demand;
use crate::scenario::{Prepared, PreparedScheme, located};

/// Progress of one scheme.
#[derive(Debug, Clone)]
pub struct SchemeProgress {
    /// Name.
    pub name: String,
    /// Latest progress.
    pub progress: Progress,
    /// State.
    pub state: SchemeState,
}

/// State of a scheme's simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemeState {
    /// Waits for a core.
    Waiting,
    /// Runs.
    Running,
    /// Simulated; results may not be written yet.
    Done,
}

/// Progress, about ten times a second.
#[derive(Debug, Clone)]
pub struct RunProgress {
    /// Schemes, in the scenario's order.
    pub schemes: Vec<SchemeProgress>,
    /// Wall time since the start.
    pub elapsed: Duration,
}

/// Completed simulation of one scheme.
#[derive(Debug, Clone)]
pub struct SchemeRun {
    /// Scheme.
    pub name: String,
    /// Measurements.
    pub outcome: Outcome,
    /// Wall time.
    pub wall: Duration,
    /// CPU time.
    pub cpu: Duration,
}

/// Simulates a scheme; shows its progress, and stops at a break.
pub(super) trait Engine:
    Fn(ValidSetup, &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<Outcome, FieldError> + Send + Sync + 'static
{
}

impl<F> Engine for F where
    F: Fn(ValidSetup, &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<Outcome, FieldError>
        + Send
        + Sync
        + 'static
{
}

const TICK: Duration = Duration::from_millis(100);

/// Longest wait for threads to stop (our choice). Those that make a large simulation notice it later, by themselves, and write
/// nothing.
const GRACE: Duration = Duration::from_millis(500);

impl Prepared {
    /// Refuses what a run refuses when it begins: parameters that do not suit the paths of flows.
    pub fn check_simulations(&self) -> Result<(), Diagnostics> {
        let refused = |scheme: &PreparedScheme| {
            let error = Simulation::new(scheme.setup.clone()).err()?;
            Some(located(&self.scenario, &scheme.name, error))
        };
        Diagnostics::check(self.schemes.iter().find_map(refused).into_iter().collect())
    }
}

/// Simulates every scheme on `threads` in all (`None`: the scenario's, or one per core). With fewer schemes than threads, a
/// simulation gets several.
///
/// Calls `progress` on the caller's thread; its break returns [`ResultsError::Interrupted`]. Refuses runs beyond the available
/// memory.
pub fn simulate(
    prepared: &Prepared,
    threads: Option<usize>,
    progress: &mut dyn FnMut(&RunProgress) -> ControlFlow<()>,
) -> Result<Vec<SchemeRun>, ResultsError> {
    let own = prepared.scenario.simulation.threads.map(|threads| threads as usize);
    let threads = threads.or(own).unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    let demand = Demand::new(prepared);
    let at_a_time = at_a_time(prepared, threads);
    demand.check(at_a_time as u64, Memory::available()).map_err(|found| ResultsError::Setup(found.into()))?;
    let each = threads / at_a_time;
    let engine = move |setup: ValidSetup, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>| {
        Simulation::new(setup).map(|simulation| simulation.threads(each).run(observe))
    };
    simulate_with(prepared, threads, progress, engine)
}

fn at_a_time(prepared: &Prepared, threads: usize) -> usize {
    threads.clamp(1, prepared.schemes.len().max(1))
}

pub(super) fn simulate_with(
    prepared: &Prepared,
    threads: usize,
    progress: &mut dyn FnMut(&RunProgress) -> ControlFlow<()>,
    engine: impl Engine,
) -> Result<Vec<SchemeRun>, ResultsError> {
    let begin = Instant::now();
    let shared = Arc::new(Shared::new(&prepared.schemes, Box::new(engine)));
    let mut runs: Vec<Option<SchemeRun>> = prepared.schemes.iter().map(|_| None).collect();
    let mut failure = None;
    let (sender, results) = mpsc::channel();
    for _ in 0..at_a_time(prepared, threads) {
        let (sender, shared) = (sender.clone(), Arc::clone(&shared));
        std::thread::spawn(move || shared.work(&sender));
    }
    drop(sender);
    // Keeps the first failure: it causes others.
    let mut fail = |error: ResultsError| {
        shared.stop.store(true, Ordering::Relaxed);
        failure.get_or_insert((error, Instant::now())).1.elapsed()
    };
    loop {
        match results.recv_timeout(TICK) {
            Ok((index, Ok(run))) => runs[index] = Some(run),
            Ok((index, Err(failed))) => {
                fail(failed.of(prepared, index));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let schemes = shared.board.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stops = progress(&RunProgress { schemes, elapsed: begin.elapsed() }).is_break();
        if stops && fail(ResultsError::Interrupted) > GRACE {
            break;
        }
    }
    match failure {
        Some((error, _)) => Err(error),
        None => Ok(comparable(prepared, runs.into_iter().flatten().collect())),
    }
}

/// Slowdowns of all schemes refer to the exact ideal time if one asks for it, and with RDMA and other transports: HPCC's
/// formula, which applies to RDMA alone, is longer for short flows.
fn comparable(prepared: &Prepared, mut runs: Vec<SchemeRun>) -> Vec<SchemeRun> {
    let mut carriers = prepared.schemes.iter().flat_map(|scheme| &scheme.setup.carriers);
    let mixed = carriers.clone().any(|one| matches!(one, Carrier::Rdma(_)))
        && carriers.any(|one| matches!(one, Carrier::Transport(_)));
    let asked = prepared.schemes.iter().any(|scheme| scheme.setup.params.measure.ideal == Ideal::Exact);
    if mixed || asked {
        for flow in runs.iter_mut().flat_map(|run| &mut run.outcome.flows) {
            flow.ideal_hpcc = flow.ideal_exact;
        }
    }
    runs
}

enum Failed {
    /// Refused by the simulator.
    Refused(FieldError),
    Ended(ResultsError),
}

impl Failed {
    fn of(self, prepared: &Prepared, index: usize) -> ResultsError {
        match self {
            Self::Refused(error) => {
                ResultsError::Setup(located(&prepared.scenario, &prepared.schemes[index].name, error).into())
            }
            Self::Ended(error) => error,
        }
    }
}

/// Owned by the threads, which may go on after the call has returned.
struct Shared {
    schemes: Vec<(String, ValidSetup)>,
    engine: Box<dyn Engine>,
    board: Mutex<Vec<SchemeProgress>>,
    next: AtomicUsize,
    stop: AtomicBool,
}

impl Shared {
    fn new(schemes: &[PreparedScheme], engine: Box<dyn Engine>) -> Self {
        let waiting = |scheme: &PreparedScheme| SchemeProgress {
            name: scheme.name.clone(),
            progress: Progress::default(),
            state: SchemeState::Waiting,
        };
        Self {
            schemes: schemes.iter().map(|scheme| (scheme.name.clone(), scheme.setup.clone())).collect(),
            engine,
            board: Mutex::new(schemes.iter().map(waiting).collect()),
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        }
    }

    fn work(&self, results: &mpsc::Sender<(usize, Result<SchemeRun, Failed>)>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.schemes.len() || self.stop.load(Ordering::Relaxed) {
                return;
            }
            // After a stop nobody may receive it.
            let _ = results.send((index, self.run(index)));
        }
    }

    fn note(&self, index: usize, note: impl FnOnce(&mut SchemeProgress)) {
        note(&mut self.board.lock().unwrap_or_else(PoisonError::into_inner)[index]);
    }

    fn run(&self, index: usize) -> Result<SchemeRun, Failed> {
        let (name, setup) = &self.schemes[index];
        self.note(index, |entry| entry.state = SchemeState::Running);
        let (wall, cpu) = (Instant::now(), ThreadTime::now());
        let mut observe = |progress: &Progress| {
            self.note(index, |entry| entry.progress = *progress);
            if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let ran = catch_unwind(AssertUnwindSafe(|| (self.engine)(setup.clone(), &mut observe)));
        let outcome = ran
            .map_err(|panic| Failed::Ended(ResultsError::Panicked { scheme: name.clone(), why: message(&*panic) }))?
            .map_err(Failed::Refused)?;
        let cpu = cpu.elapsed() + outcome.threads.others_cpu;
        let run = SchemeRun { name: name.clone(), outcome, wall: wall.elapsed(), cpu };
        let priorities: Vec<usize> = run.outcome.ledger.unbalanced().collect();
        if !priorities.is_empty() {
            return Err(Failed::Ended(ResultsError::Unbalanced { scheme: run.name, priorities }));
        }
        if matches!(run.outcome.stop, Stop::Interrupted { .. }) {
            return Err(Failed::Ended(ResultsError::Interrupted));
        }
        self.note(index, |entry| entry.state = SchemeState::Done);
        Ok(run)
    }
}
