//! Choice between one thread and several, by measured speed.

use std::time::Duration;

/// Windows of a trial of each way, with [`WARM`] (these and the next: our choice).
const TRIAL: u32 = 16;

/// Windows in which threads wake up.
const WARM: u32 = 4;

const SHORTEST: u32 = 128;
const LONGEST: u32 = 2048;

/// Windows come in cycles, shorter ones at the beginning of a run. A cycle begins with a trial of both ways.
#[derive(Debug)]
pub(super) struct Pace {
    /// Windows so far in the cycle.
    window: u32,
    cycle: u32,
    /// By all threads, and by one: time and events of the trial.
    trials: [(Duration, u64); 2],
    shared: bool,
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self { window: 0, cycle: SHORTEST, trials: [(Duration::ZERO, 0); 2], shared: false }
    }

    /// True if threads share the next window.
    pub(super) const fn shares(&self) -> bool {
        match self.window / TRIAL {
            0 => true,
            1 => false,
            _ => self.shared,
        }
    }

    /// Time and events of the last window.
    pub(super) fn note(&mut self, time: Duration, events: u64) {
        let trial = self.window / TRIAL;
        if trial < 2 && self.window % TRIAL >= WARM {
            let (times, counts) = &mut self.trials[trial as usize];
            *times += time;
            *counts += events;
        }
        self.window += 1;
        if self.window == 2 * TRIAL {
            let [shared, alone] = self.trials.map(|(time, events)| time.as_secs_f64() / events.max(1) as f64);
            self.shared = shared < alone;
            self.trials = Default::default();
        }
        if self.window == self.cycle {
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
            pace.note(Duration::from_nanos(100 * times[usize::from(!shared)]), 100);
            shared
        };
        (0..100_000).filter(|_| window()).count()
    }

    #[test]
    fn the_faster_way_runs_all_windows_but_trials() {
        // Cycles of 128, 256, 512 and 1024 windows, and 48 of 2048: a trial each way in each.
        let trials = (4 + 48) * TRIAL as usize;
        assert!((100_000 - shared([5, 9])).abs_diff(trials) <= TRIAL as usize);
        assert!(shared([9, 5]).abs_diff(trials) <= TRIAL as usize);
    }
}
