//! Losses of a pair, by gaps in received sequence numbers.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    from: u32,
    to: u32,
    since: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    next: u32,
    /// Few: paths of trees do not reorder.
    open: Vec<Gap>,
    pub(super) lost: u64,
}

impl Gaps {
    /// Packets are lost after `patience` later ones.
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
        // Packet 1 is too late: lost.
        assert_eq!(lost(&[0, 2, 3, 4, 1, 5], 3), 1);
    }
}
