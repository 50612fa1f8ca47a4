//! Choice of a port's next queue. Priority 0 (PFC frames, CNPs) is always first, and no pause stops it.

use super::params::SchedulerParams;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    RoundRobin,
    StrictPriority,
    Ranked,
    /// `strict` priorities, as bits, are served before the rounds.
    Drr {
        quanta: [u32; 8],
        strict: u8,
    },
}

/// Deficits in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Served {
    pub(crate) last: u8,
    pub(crate) deficits: [u32; 8],
}

impl Rule {
    pub(crate) fn new(params: &SchedulerParams, ranked: bool) -> Self {
        match params {
            _ if ranked => Self::Ranked,
            SchedulerParams::RoundRobin => Self::RoundRobin,
            SchedulerParams::StrictPriority => Self::StrictPriority,
            SchedulerParams::Drr { quanta, strict } => {
                Self::Drr { quanta: *quanta, strict: strict.iter().fold(0, |mask, prio| mask | 1 << prio) }
            }
        }
    }

    pub(crate) const fn is_drr(&self) -> bool {
        matches!(self, Self::Drr { .. })
    }

    pub(crate) const fn is_strict(&self) -> bool {
        matches!(self, Self::StrictPriority)
    }

    /// `eligible` is not empty; not for deficit round robin.
    #[inline]
    pub(crate) fn choose_simply(&self, eligible: u8, last: &mut u8) -> u8 {
        if eligible & 1 != 0 {
            return 0;
        }
        *last = if self.is_strict() { highest(eligible) } else { after(eligible, *last) };
        *last
    }

    /// `eligible` is not empty; `waiting` includes paused priorities; `first`: wire bytes of a priority's next packet.
    ///
    /// A queue earns its quantum when its turn comes and keeps the turn while its first packet is within its deficit. An
    /// emptied queue loses its deficit; a paused one keeps it and earns nothing (our choice).
    #[inline(never)]
    pub(crate) fn choose_drr(&self, eligible: u8, waiting: u8, served: &mut Served, first: impl Fn(u8) -> u32) -> u8 {
        let Self::Drr { quanta, strict } = self else { unreachable!("called under DRR only") };
        if eligible & 1 != 0 {
            return 0;
        }
        if eligible & strict != 0 {
            return highest(eligible & strict);
        }
        let own = &mut served.deficits;
        if waiting == eligible && waiting.is_power_of_two() {
            let prio = highest(eligible);
            let (at, first) = (usize::from(prio & 7), first(prio));
            let mut deficit = own[at] + if prio == served.last { 0 } else { quanta[at] };
            while first > deficit {
                deficit += quanta[at];
            }
            *own = [0; 8];
            own[at] = deficit - first;
            served.last = prio;
            return prio;
        }
        for (prio, deficit) in own.iter_mut().enumerate() {
            *deficit = if waiting & 1 << prio == 0 { 0 } else { *deficit };
        }
        let mut turn = served.last;
        loop {
            let at = usize::from(turn);
            if eligible & 1 << turn != 0 {
                let first = first(turn);
                if first <= own[at] {
                    own[at] -= first;
                    break;
                }
            }
            turn = after(eligible, turn);
            own[usize::from(turn)] += quanta[usize::from(turn)];
        }
        served.last = turn;
        turn
    }

    /// All schedulers serve a host's control packets before data.
    pub(crate) fn choose_control(&self, eligible: u8, last: u8) -> u8 {
        match self {
            _ if eligible & 1 != 0 => 0,
            Self::StrictPriority => highest(eligible),
            Self::Drr { strict, .. } if eligible & strict != 0 => highest(eligible & strict),
            Self::RoundRobin | Self::Drr { .. } | Self::Ranked => after(eligible, last),
        }
    }
}

#[inline]
fn highest(mask: u8) -> u8 {
    7 - mask.leading_zeros() as u8
}

/// Lowest bit above `last`, or else the lowest.
#[inline]
fn after(mask: u8, last: u8) -> u8 {
    let above = mask & 0xfe_u8.checked_shl(u32::from(last)).unwrap_or(0);
    (if above != 0 { above } else { mask }).trailing_zeros() as u8
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
