//! One timer for each flow at its sender: deadlines move with every acknowledgement, events do not.

use crate::kernel::{Event, Target};
use crate::network::Network;

/// Deadlines of flows.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// By flow: when its timer is to go off, in ps; [`u64::MAX`] for never.
    deadline: Vec<u64>,
    /// By flow: when its event is due; [`u64::MAX`] for none.
    pending: Vec<u64>,
}

impl Timers {
    pub(super) fn new(flows: usize) -> Self {
        Self { deadline: vec![u64::MAX; flows], pending: vec![u64::MAX; flows] }
    }

    /// When a flow's timer is to go off.
    pub(super) fn deadline(&self, flow: u32) -> u64 {
        self.deadline[flow as usize]
    }
}

impl Network {
    /// Sets a flow's timer, or stops it with [`u64::MAX`].
    #[inline]
    pub(super) fn set_timer(&mut self, flow: u32, deadline: u64) {
        let timers = &mut self.transports.timers;
        timers.deadline[flow as usize] = deadline;
        if deadline < timers.pending[flow as usize] {
            timers.pending[flow as usize] = deadline;
            self.events.push(Event::new(deadline, 0, Target::Timer(flow)));
        }
    }

    /// The event of a flow's timer: whether the timer goes off. It is stopped then.
    pub(super) fn timer_is_due(&mut self, flow: u32) -> bool {
        let timers = &mut self.transports.timers;
        if timers.pending[flow as usize] != self.now {
            return false;
        }
        timers.pending[flow as usize] = u64::MAX;
        let deadline = timers.deadline[flow as usize];
        if deadline <= self.now {
            timers.deadline[flow as usize] = u64::MAX;
            return true;
        }
        self.set_timer(flow, deadline);
        false
    }
}
