//! Losses of a pair, told by the numbers of its packets at the receiving hypervisor.

/// A gap in the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    /// Numbers missing, first and one past the last.
    from: u32,
    to: u32,
    /// Packets that have come since it opened.
    since: u32,
}

/// What has come of a pair's packets, which are numbered from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    /// One past the highest number that has come.
    next: u32,
    /// What may still come; short, as paths of trees do not reorder.
    open: Vec<Gap>,
    /// Packets taken as lost so far.
    pub(super) lost: u64,
}

impl Gaps {
    /// Packet `number` has come. What is missing counts as lost once `patience` packets have come after it.
    pub(super) fn hear(&mut self, number: u32, patience: u32) {
        if number < self.next {
            self.fill(number);
            return;
        }
        for gap in &mut self.open {
            gap.since += 1;
        }
        if number > self.next {
            self.open.push(Gap { from: self.next, to: number, since: 1 });
        }
        self.next = number + 1;
        let lost = &mut self.lost;
        self.open.retain(|gap| {
            let over = gap.since >= patience;
            *lost += if over { u64::from(gap.to - gap.from) } else { 0 };
            !over
        });
    }

    /// A packet has come late.
    fn fill(&mut self, number: u32) {
        let Some(at) = self.open.iter().position(|gap| (gap.from..gap.to).contains(&number)) else { return };
        let gap = self.open.swap_remove(at);
        self.open.extend(
            [(gap.from, number), (number + 1, gap.to)]
                .into_iter()
                .filter(|(from, to)| from < to)
                .map(|(from, to)| Gap { from, to, since: gap.since }),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(numbers: &[u32], patience: u32) -> u64 {
        let mut gaps = Gaps::default();
        numbers.iter().for_each(|&number| gaps.hear(number, patience));
        gaps.lost
    }

    #[test]
    fn what_is_missing_is_lost_after_a_while() {
        assert_eq!(lost(&[0, 1, 2, 3], 3), 0);
        assert_eq!(lost(&[0, 3, 4], 3), 0);
        assert_eq!(lost(&[0, 3, 4, 5], 3), 2);
        assert_eq!(lost(&[2, 3, 4], 3), 2);
        assert_eq!(lost(&[0, 2], 1), 1);
    }

    #[test]
    fn what_comes_late_is_not() {
        assert_eq!(lost(&[0, 2, 3, 1, 4, 5, 6], 3), 0);
        assert_eq!(lost(&[0, 4, 2, 5, 6, 7], 3), 2);
        // Too late: it was lost for whom it may concern.
        assert_eq!(lost(&[0, 2, 3, 4, 1, 5], 3), 1);
    }
}
