//! Choice between one thread and several, by measured speed.

use std::time::Duration;

/// Windows of a part of a trial in which caches fill, and threads wake up (our choice).
const WARM: u32 = 4;

/// Windows that a part measures: so many, or fewer in this time (our choice).
const MEASURED: u32 = 12;
const FEWEST: u32 = 4;
const ENOUGH: Duration = Duration::from_millis(2);

/// Time between trials, as a multiple of a trial's (our choice).
const BETWEEN: u32 = 64;
/// Time on one thread after windows in which several were hopeless, as a multiple of these windows (our choice).
const AFTER: u32 = 16;

/// Several threads are hopeless if they take so many times as long as one, and not only to wake up (our choice).
const HOPELESS: f64 = 4.0;
const WAKING: Duration = Duration::from_millis(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Trial of one thread, then of several.
    Alone,
    Shared,
    /// The faster way.
    Chosen,
}

/// Time of windows, their events and number.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    time: Duration,
    events: u64,
    windows: u32,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.time += other.time;
        self.events += other.events;
        self.windows += other.windows;
    }

    /// Seconds of an event.
    fn each(&self) -> f64 {
        self.time.as_secs_f64() / self.events.max(1) as f64
    }

    fn is_enough(&self) -> bool {
        let windows = self.windows >= MEASURED || self.windows >= FEWEST && self.time >= ENOUGH;
        // Windows of a batch may have no work.
        windows && self.events >= u64::from(MEASURED)
    }
}

#[derive(Debug)]
pub(super) struct Pace {
    step: Step,
    /// All windows of this step, and those that it measures.
    all: Sum,
    measured: Sum,
    /// Seconds of an event by one thread.
    alone: f64,
    /// Duration of the trial so far, and of this choice at least.
    trial: Duration,
    choice: Duration,
    shares: bool,
}

impl Pace {
    pub(super) fn new() -> Self {
        let none = Sum::default();
        Self {
            step: Step::Alone,
            all: none,
            measured: none,
            alone: 0.0,
            trial: Duration::ZERO,
            choice: Duration::ZERO,
            shares: false,
        }
    }

    /// True if threads share the next window.
    pub(super) const fn shares(&self) -> bool {
        match self.step {
            Step::Alone => false,
            Step::Shared => true,
            Step::Chosen => self.shares,
        }
    }

    /// Windows that may follow each other before the pace is measured.
    pub(super) const fn rounds_together(&self) -> u32 {
        match self.step {
            Step::Chosen => u32::MAX,
            _ if self.all.windows < WARM => WARM - self.all.windows,
            _ => FEWEST,
        }
    }

    /// Time and events of the last windows.
    pub(super) fn note(&mut self, time: Duration, events: u64, windows: u32) {
        let last = Sum { time, events, windows };
        let warm = self.all.windows < WARM;
        self.all.add(last);
        if self.step == Step::Chosen {
            if self.shares && self.is_hopeless(last) {
                self.choose(false, AFTER * time);
            } else if self.all.time >= self.choice {
                self.begin(Step::Alone);
                self.trial = Duration::ZERO;
            }
            return;
        }
        self.trial += time;
        if !warm {
            self.measured.add(last);
        }
        let hopeless = self.step == Step::Shared && self.is_hopeless(self.all);
        if !(hopeless || self.measured.is_enough()) {
            return;
        }
        if self.step == Step::Alone {
            self.alone = self.measured.each();
            self.begin(Step::Shared);
        } else {
            self.choose(!hopeless && self.measured.each() < self.alone, BETWEEN * self.trial);
        }
    }

    fn choose(&mut self, shares: bool, time: Duration) {
        (self.shares, self.choice) = (shares, time);
        self.begin(Step::Chosen);
    }

    fn begin(&mut self, step: Step) {
        (self.step, self.all, self.measured) = (step, Sum::default(), Sum::default());
    }

    /// If threads shared these windows: the machine has other work.
    fn is_hopeless(&self, sum: Sum) -> bool {
        sum.time > WAKING && sum.each() > HOPELESS * self.alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Share of windows that threads share, if a window takes so many microseconds by them and by one.
    fn shared(times: [u64; 2], windows: u32) -> f64 {
        let mut pace = Pace::new();
        let mut window = || {
            let shared = pace.shares();
            pace.note(Duration::from_micros(times[usize::from(!shared)]), 100, 1);
            shared
        };
        f64::from((0..windows).filter(|_| window()).count() as u32) / f64::from(windows)
    }

    #[test]
    fn the_faster_way_runs_nearly_all_windows() {
        assert!(shared([5, 9], 100_000) > 0.98);
        assert!(shared([9, 5], 100_000) < 0.02);
        assert!(shared([300, 500], 10_000) > 0.98);
    }

    #[test]
    fn a_hopeless_trial_ends_with_its_first_window() {
        let mut pace = Pace::new();
        let mut trials = 0;
        for _ in 0..100_000 {
            let shared = pace.shares();
            trials += u32::from(shared);
            pace.note(if shared { Duration::from_millis(8) } else { Duration::from_micros(10) }, 100, 1);
        }
        // 1 s of one thread alone: a trial takes 8 ms, the next one comes 64 times as long after it.
        assert_eq!(trials, 2);
    }

    #[test]
    fn other_work_of_the_machine_ends_the_choice() {
        let mut pace = Pace::new();
        while pace.step != Step::Chosen {
            pace.note(Duration::from_micros(if pace.shares() { 5 } else { 9 }), 100, 1);
        }
        assert!(pace.shares());
        pace.note(Duration::from_micros(5 * 64), 6400, 64);
        assert!(pace.shares());
        pace.note(Duration::from_millis(30), 6400, 64);
        assert!(!pace.shares());
        // One thread runs for 16 times as long, then comes a trial.
        pace.note(Duration::from_millis(479), 100, 1);
        assert_eq!(pace.step, Step::Chosen);
        pace.note(Duration::from_millis(1), 100, 1);
        assert_eq!(pace.step, Step::Alone);
    }
}
