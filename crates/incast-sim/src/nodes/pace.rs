//! Choice between one thread and several, by measured speed.

use std::time::Duration;

/// Windows of a trial of each way, with [`WARM`] (these and the next: our choice).
const TRIAL: u32 = 16;

/// Windows in which threads wake up.
const WARM: u32 = 4;

const SHORTEST: u32 = 128;
const LONGEST: u32 = 4096;

/// A window with so many times the events of the trial's windows ends a cycle.
const GROWTH: u64 = 4;

/// Windows come in cycles, shorter ones at the beginning of a run and when events become more. A cycle begins with a trial of both
/// ways.
#[derive(Debug)]
pub(super) struct Pace {
    /// Windows so far in the cycle.
    window: u32,
    cycle: u32,
    /// By all threads, and by one: time and events of the trial.
    trials: [(Duration, u64); 2],
    shared: bool,
    /// Events of a window of the trial.
    events: u64,
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self { window: 0, cycle: SHORTEST, trials: [(Duration::ZERO, 0); 2], shared: false, events: 0 }
    }

    /// True if threads share the next window.
    pub(super) const fn shares(&self) -> bool {
        match self.window / TRIAL {
            0 => true,
            1 => false,
            _ => self.shared,
        }
    }

    /// Windows that may follow each other before the next one to be measured, or not to be measured; 1 by one thread.
    pub(super) const fn windows_together(&self) -> u32 {
        if !self.shares() {
            return 1;
        }
        match self.window {
            0..WARM => WARM - self.window,
            WARM..TRIAL => TRIAL - self.window,
            _ => self.cycle - self.window,
        }
    }

    /// Time and events of the last windows.
    pub(super) fn note(&mut self, time: Duration, events: u64, windows: u32) {
        let trial = self.window / TRIAL;
        if trial < 2 && self.window % TRIAL >= WARM {
            let (times, counts) = &mut self.trials[trial as usize];
            *times += time;
            *counts += events;
        }
        self.window += windows;
        if self.window == 2 * TRIAL {
            let [shared, alone] = self.trials.map(|(time, events)| time.as_secs_f64() / events.max(1) as f64);
            self.shared = shared < alone;
            let all: u64 = self.trials.iter().map(|(_, events)| events).sum();
            self.events = all / u64::from(2 * (TRIAL - WARM));
            self.trials = Default::default();
        }
        if self.window > 2 * TRIAL && events > u64::from(windows) * GROWTH * self.events.max(1) {
            (self.window, self.cycle) = (0, SHORTEST);
        } else if self.window == self.cycle {
            self.window = 0;
            self.cycle = (2 * self.cycle).min(LONGEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of 100,000 that threads share, if an event takes so long by them and by one.
    fn shared(times: [u64; 2]) -> usize {
        let mut pace = Pace::new();
        let mut window = || {
            let shared = pace.shares();
            pace.note(Duration::from_nanos(100 * times[usize::from(!shared)]), 100, 1);
            shared
        };
        (0..100_000).filter(|_| window()).count()
    }

    #[test]
    fn the_faster_way_runs_all_windows_but_trials() {
        // Cycles of 128, 256, 512, 1024 and 2048 windows, and 24 of 4096: a trial each way in each.
        let trials = (5 + 24) * TRIAL as usize;
        assert!((100_000 - shared([5, 9])).abs_diff(trials) <= TRIAL as usize);
        assert!(shared([9, 5]).abs_diff(trials) <= TRIAL as usize);
    }

    #[test]
    fn more_events_are_a_reason_for_a_trial() {
        let mut pace = Pace::new();
        let mut trials = |events: u64, windows: u32| {
            let mut window = |_| {
                let trial = pace.window / TRIAL < 2;
                pace.note(Duration::from_nanos(100), events, 1);
                trial
            };
            (0..windows).filter(|&number| window(number)).count() as u32
        };
        assert_eq!(trials(100, 100), 2 * TRIAL);
        assert_eq!(trials(400, 20), 0);
        assert_eq!(trials(401, 100), 2 * TRIAL);
    }
}
