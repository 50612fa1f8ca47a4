//! One timer per sent flow: ACKs move deadlines, not events.

use crate::kernel::{IdVec, SentId};

#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// By flow, in ps; [`u64::MAX`]: never.
    deadline: IdVec<SentId, u64>,
    /// By flow: its event; [`u64::MAX`]: none.
    pending: IdVec<SentId, u64>,
}

impl Timers {
    pub(crate) fn new(flows: usize) -> Self {
        Self { deadline: vec![u64::MAX; flows].into(), pending: vec![u64::MAX; flows].into() }
    }

    pub(crate) fn deadline(&self, flow: SentId) -> u64 {
        self.deadline[flow]
    }

    /// [`u64::MAX`] stops the timer. True if it needs an event.
    #[inline]
    pub(crate) fn set(&mut self, flow: SentId, deadline: u64) -> bool {
        self.deadline[flow] = deadline;
        let sooner = deadline < self.pending[flow];
        if sooner {
            self.pending[flow] = deadline;
        }
        sooner
    }

    /// True if the timer expires, which stops it. Error: time of another event for a moved timer.
    pub(crate) fn expires(&mut self, flow: SentId, now: u64) -> Result<bool, u64> {
        if self.pending[flow] != now {
            return Ok(false);
        }
        self.pending[flow] = u64::MAX;
        let deadline = self.deadline[flow];
        if deadline <= now {
            self.deadline[flow] = u64::MAX;
            return Ok(true);
        }
        if self.set(flow, deadline) { Err(deadline) } else { Ok(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: SentId = SentId(0);

    #[test]
    fn deadlines_move_and_events_do_not() {
        let mut timers = Timers::new(1);
        assert!(timers.set(FLOW, 50));
        assert!(!timers.set(FLOW, 80), "the event at 50 will find the new deadline");
        assert_eq!(timers.expires(FLOW, 50), Err(80));
        assert_eq!((timers.expires(FLOW, 80), timers.deadline(FLOW)), (Ok(true), u64::MAX));
        assert!(timers.set(FLOW, 100) && timers.set(FLOW, 90));
        assert!(!timers.set(FLOW, u64::MAX));
        assert_eq!([timers.expires(FLOW, 90), timers.expires(FLOW, 100)], [Ok(false), Ok(false)], "stopped");
    }
}
