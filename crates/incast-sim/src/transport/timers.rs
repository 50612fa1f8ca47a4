//! One timer per sent flow: ACKs move deadlines, not events.

#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// By flow, in ps; [`u64::MAX`]: never.
    deadline: Vec<u64>,
    /// By flow: its event; [`u64::MAX`]: none.
    pending: Vec<u64>,
}

impl Timers {
    pub(crate) fn new(flows: usize) -> Self {
        Self { deadline: vec![u64::MAX; flows], pending: vec![u64::MAX; flows] }
    }

    pub(crate) fn deadline(&self, flow: u32) -> u64 {
        self.deadline[flow as usize]
    }

    /// [`u64::MAX`] stops the timer. True if it needs an event.
    #[inline]
    pub(crate) fn set(&mut self, flow: u32, deadline: u64) -> bool {
        self.deadline[flow as usize] = deadline;
        let sooner = deadline < self.pending[flow as usize];
        if sooner {
            self.pending[flow as usize] = deadline;
        }
        sooner
    }

    /// True if the timer expires, which stops it. Error: time of another event for a moved timer.
    pub(crate) fn expires(&mut self, flow: u32, now: u64) -> Result<bool, u64> {
        if self.pending[flow as usize] != now {
            return Ok(false);
        }
        self.pending[flow as usize] = u64::MAX;
        let deadline = self.deadline[flow as usize];
        if deadline <= now {
            self.deadline[flow as usize] = u64::MAX;
            return Ok(true);
        }
        if self.set(flow, deadline) { Err(deadline) } else { Ok(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_move_and_events_do_not() {
        let mut timers = Timers::new(1);
        assert!(timers.set(0, 50));
        assert!(!timers.set(0, 80), "the event at 50 will find the new deadline");
        assert_eq!(timers.expires(0, 50), Err(80));
        assert_eq!((timers.expires(0, 80), timers.deadline(0)), (Ok(true), u64::MAX));
        assert!(timers.set(0, 100) && timers.set(0, 90));
        assert!(!timers.set(0, u64::MAX));
        assert_eq!([timers.expires(0, 90), timers.expires(0, 100)], [Ok(false), Ok(false)], "stopped");
    }
}
