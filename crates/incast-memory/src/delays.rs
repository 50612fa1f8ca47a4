//! Delays of fetches.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

/// Uniform draws from a sample of delays in ns.
#[derive(Debug)]
pub(crate) struct Delays {
    sample: Vec<u32>,
    rng: Pcg32,
}

impl Delays {
    /// An empty `sample` draws 0.
    pub(crate) fn new(sample: Vec<u32>, seed: u64) -> Self {
        Self { sample, rng: Pcg32::seed_from_u64(seed) }
    }

    pub(crate) fn reseed(&mut self, seed: u64) {
        self.rng = Pcg32::seed_from_u64(seed);
    }

    pub(crate) fn draw(&mut self) -> u32 {
        match self.sample[..] {
            [] => 0,
            [constant] => constant,
            _ => self.sample[self.rng.random_range(0..self.sample.len())],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_each_of_the_sample_as_often() {
        let mut delays = Delays::new(vec![1_000, 2_000, 6_000], 1);
        let drawn: Vec<u32> = (0..30_000).map(|_| delays.draw()).collect();
        for delay in [1_000, 2_000, 6_000] {
            let share = drawn.iter().filter(|drawn| **drawn == delay).count() as f64 / 3e4;
            // Five standard deviations.
            assert!((share - 1.0 / 3.0).abs() < 0.0136, "{delay}: {share}");
        }
    }

    #[test]
    fn a_seed_says_which() {
        let draws = |seed| {
            let mut delays = Delays::new((0..1000).collect(), seed);
            (0..20).map(|_| delays.draw()).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }

    #[test]
    fn nothing_and_a_constant_need_no_draw() {
        assert_eq!(Delays::new(vec![], 1).draw(), 0);
        assert_eq!(Delays::new(vec![3_000], 1).draw(), 3_000);
    }
}
