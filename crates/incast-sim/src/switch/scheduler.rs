//! Which of a port's waiting queues is served next.
//!
//! Priority 0 (PFC frames, CNPs) is served first and never paused under each of the schedulers.

use super::params::SchedulerParams;
use crate::network::Network;

/// A scheduler with its state for every port.
#[derive(Debug, Clone)]
pub(crate) enum Scheduler {
    RoundRobin,
    StrictPriority,
    /// One queue, which has an order of its own.
    Ranked,
    Drr {
        quanta: [u32; 8],
        /// By port: what each priority may still send in its turn.
        deficits: Vec<[u32; 8]>,
    },
}

impl Scheduler {
    pub(crate) fn new(params: &SchedulerParams, ranked: bool, ports: usize) -> Self {
        match params {
            _ if ranked => Self::Ranked,
            SchedulerParams::RoundRobin => Self::RoundRobin,
            SchedulerParams::StrictPriority => Self::StrictPriority,
            SchedulerParams::Drr { quanta } => Self::Drr { quanta: *quanta, deficits: vec![[0; 8]; ports] },
        }
    }

    /// Whether higher priorities always go first.
    pub(crate) const fn is_strict(&self) -> bool {
        matches!(self, Self::StrictPriority)
    }

    /// The next priority of a host's control packets, which come before data under each of the schedulers.
    pub(crate) fn choose_control(&self, eligible: u8, last: u8) -> u8 {
        match self {
            _ if eligible & 1 != 0 => 0,
            Self::StrictPriority => highest(eligible),
            Self::RoundRobin | Self::Drr { .. } | Self::Ranked => after(eligible, last),
        }
    }
}

/// The highest set bit.
#[inline]
fn highest(mask: u8) -> u8 {
    7 - mask.leading_zeros() as u8
}

/// The lowest set bit above `last`, or else the lowest of all.
#[inline]
fn after(mask: u8, last: u8) -> u8 {
    let above = mask & 0xfe_u8.checked_shl(u32::from(last)).unwrap_or(0);
    (if above != 0 { above } else { mask }).trailing_zeros() as u8
}

impl Network {
    /// The next priority to serve among those in `eligible`, which is not empty: of a switch port's queues, or of a host's
    /// rings of queue pairs.
    #[inline]
    pub(crate) fn choose(&mut self, port: u32, eligible: u8) -> u8 {
        if eligible & 1 != 0 {
            return 0;
        }
        let last = self.ports[port as usize].last_served;
        let prio = match &self.scheduler {
            Scheduler::RoundRobin | Scheduler::Ranked => after(eligible, last),
            Scheduler::StrictPriority => highest(eligible),
            Scheduler::Drr { .. } => self.choose_drr(port, eligible, last),
        };
        self.ports[port as usize].last_served = prio;
        prio
    }

    /// Deficit round robin: a queue earns its quantum when its turn comes and keeps the turn while its first packet is
    /// within its deficit. An emptied queue loses its deficit, a paused one keeps it and earns nothing (our choice).
    fn choose_drr(&mut self, port: u32, eligible: u8, last: u8) -> u8 {
        let state = &self.ports[port as usize];
        let at_host = state.at_host;
        let waiting = if at_host { self.nics[state.owner as usize].ready } else { state.waiting };
        let heads: [u32; 8] = std::array::from_fn(|prio| {
            if eligible & 1 << prio == 0 {
                0
            } else if at_host {
                self.ready_size(port, prio as u8) as u32
            } else {
                u32::from(self.pool[self.queues[self.at(port, prio as u8)].head].size)
            }
        });
        let Scheduler::Drr { quanta, deficits } = &mut self.scheduler else { unreachable!("called under DRR only") };
        let deficits = &mut deficits[port as usize];
        for (prio, deficit) in deficits.iter_mut().enumerate() {
            if waiting & 1 << prio == 0 {
                *deficit = 0;
            }
        }
        let mut turn = last;
        loop {
            let at = usize::from(turn);
            if eligible & 1 << turn != 0 && heads[at] <= deficits[at] {
                deficits[at] -= heads[at];
                return turn;
            }
            turn = after(eligible, turn);
            deficits[usize::from(turn)] += quanta[usize::from(turn)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn turns_go_round() {
        assert_eq!(after(0b1010_1000, 3), 5);
        assert_eq!(after(0b1010_1000, 5), 7);
        assert_eq!(after(0b1010_1000, 7), 3);
        assert_eq!(after(0b0000_1000, 3), 3);
    }
}
