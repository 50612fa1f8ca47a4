use super::MeasureParams;
use crate::kernel::{IdVec, LocalPort};

#[derive(Debug)]
pub(crate) struct Lengths {
    /// Empty if not measured.
    histograms: IdVec<LocalPort, LengthHistogram>,
    /// In bytes.
    bin: u64,
}

#[derive(Debug, Clone, Default)]
struct LengthHistogram {
    /// In ps.
    time_in_bin: Vec<u64>,
    /// Last change, in ps.
    since: u64,
    length: u32,
}

impl Lengths {
    pub(crate) fn new(params: &MeasureParams, ports: usize) -> Self {
        let measured = if params.queue_histogram { ports } else { 0 };
        Self { histograms: vec![LengthHistogram::default(); measured].into(), bin: params.histogram_bin.0 }
    }

    #[inline]
    pub(crate) fn note(&mut self, port: LocalPort, now: u64, length: u32) {
        if let Some(histogram) = self.histograms.get_mut(port) {
            histogram.note(now, length, self.bin);
        }
    }

    /// Times in bins, by port.
    pub(crate) fn close(self, now: u64) -> impl Iterator<Item = Vec<u64>> {
        self.histograms.into_iter().map(move |mut histogram| {
            histogram.note(now, 0, self.bin);
            histogram.time_in_bin
        })
    }
}

impl LengthHistogram {
    fn note(&mut self, now: u64, length: u32, bin: u64) {
        let at = (u64::from(self.length) / bin) as usize;
        if self.time_in_bin.len() <= at {
            self.time_in_bin.resize(at + 1, 0);
        }
        self.time_in_bin[at] += now - self.since;
        (self.since, self.length) = (now, length);
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
        assert_eq!(histogram.time_in_bin, [10 + 1, 25, 5]);
    }
}
