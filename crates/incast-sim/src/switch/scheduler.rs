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
        /// Priorities that go before the rounds, one bit each.
        strict: u8,
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
            SchedulerParams::Drr { quanta, strict } => Self::Drr {
                quanta: *quanta,
                strict: strict.iter().fold(0, |mask, prio| mask | 1 << prio),
                deficits: vec![[0; 8]; ports],
            },
        }
    }

    /// Whether it remembers nothing of a port but the priority served last.
    pub(crate) const fn has_no_state(&self) -> bool {
        matches!(self, Self::RoundRobin | Self::StrictPriority)
    }

    /// The next priority among those in `eligible`, which is not empty, after `last`, under a scheduler that has no state.
    #[inline]
    pub(crate) fn choose_stateless(&self, eligible: u8, last: &mut u8) -> u8 {
        if eligible & 1 != 0 {
            return 0;
        }
        *last = if self.is_strict() { highest(eligible) } else { after(eligible, *last) };
        *last
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
            Self::Drr { strict, .. } if eligible & strict != 0 => highest(eligible & strict),
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
            // They leave the turns of the others alone.
            Scheduler::Drr { strict, .. } if eligible & strict != 0 => return highest(eligible & strict),
            Scheduler::Drr { .. } => self.choose_drr(port, eligible, last),
        };
        self.ports[port as usize].last_served = prio;
        prio
    }

    /// Deficit round robin: a queue earns its quantum when its turn comes and keeps the turn while its first packet is
    /// within its deficit. An emptied queue loses its deficit, a paused one keeps it and earns nothing (our choice).
    fn choose_drr(&mut self, port: u32, eligible: u8, last: u8) -> u8 {
        let state = &self.ports[port as usize];
        let waiting = if state.at_host { self.nics[state.owner as usize].ready } else { state.waiting };
        if waiting == eligible && waiting.is_power_of_two() {
            return self.go_on_alone(port, highest(eligible), last);
        }
        let Scheduler::Drr { quanta, deficits, .. } = &self.scheduler else { unreachable!("called under DRR only") };
        let mut own = deficits[port as usize];
        for (prio, deficit) in own.iter_mut().enumerate() {
            *deficit = if waiting & 1 << prio == 0 { 0 } else { *deficit };
        }
        let mut turn = last;
        loop {
            let at = usize::from(turn);
            if eligible & 1 << turn != 0 {
                let first = self.first_size(port, turn);
                if first <= own[at] {
                    own[at] -= first;
                    break;
                }
            }
            turn = after(eligible, turn);
            own[usize::from(turn)] += quanta[usize::from(turn)];
        }
        if let Scheduler::Drr { deficits, .. } = &mut self.scheduler {
            deficits[port as usize] = own;
        }
        turn
    }

    /// The same where one queue is all there is, which has the turn or takes it.
    #[inline]
    fn go_on_alone(&mut self, port: u32, prio: u8, last: u8) -> u8 {
        let first = self.first_size(port, prio);
        let Scheduler::Drr { quanta, deficits, .. } = &mut self.scheduler else {
            unreachable!("called under DRR only")
        };
        let at = usize::from(prio & 7);
        let quantum = quanta[at];
        let own = &mut deficits[port as usize];
        let mut deficit = own[at] + if prio == last { 0 } else { quantum };
        while first > deficit {
            deficit += quantum;
        }
        *own = [0; 8];
        own[at] = deficit - first;
        prio
    }

    /// Bytes of the packet that a priority of a port would send next.
    #[inline(always)]
    fn first_size(&self, port: u32, prio: u8) -> u32 {
        if self.ports[port as usize].at_host {
            self.ready_size(port, prio) as u32
        } else {
            u32::from(self.pool[self.queues[self.at(port, prio)].head].size)
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
