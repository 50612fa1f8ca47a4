#[derive(Debug, Clone, Default)]
pub(crate) struct LengthHistogram {
    /// In ps.
    time_in_bin: Vec<u64>,
    /// Last change, in ps.
    since: u64,
    length: u32,
}

impl LengthHistogram {
    /// `bin`: width in bytes.
    pub(crate) fn note(&mut self, now: u64, length: u32, bin: u64) {
        let at = (u64::from(self.length) / bin) as usize;
        if self.time_in_bin.len() <= at {
            self.time_in_bin.resize(at + 1, 0);
        }
        self.time_in_bin[at] += now - self.since;
        (self.since, self.length) = (now, length);
    }

    pub(crate) fn into_bins(self) -> Vec<u64> {
        self.time_in_bin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_weighted_by_time() {
        let mut histogram = LengthHistogram::default();
        for (now, length) in [(10, 2500), (15, 999), (15, 1000), (40, 0), (41, 0)] {
            histogram.note(now, length, 1000);
        }
        assert_eq!(histogram.into_bins(), [10 + 1, 25, 5]);
    }
}
