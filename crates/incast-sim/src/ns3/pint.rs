//! PINT's arithmetic in ns-3: products in the log domain with 16 significant bits (`switch-node.cc`, log2apprx), rounded at
//! random by C's `rand()`, which is never seeded.

/// glibc's `rand()` with default seed 1: an additive feedback generator (`random_r.c`, TYPE_3).
#[derive(Debug, Clone)]
pub(crate) struct Rand {
    state: [u32; 31],
    at: usize,
}

impl Default for Rand {
    fn default() -> Self {
        let mut r = [0u32; 344];
        r[0] = 1;
        for i in 1..31 {
            r[i] = (16_807 * u64::from(r[i - 1]) % 2_147_483_647) as u32;
        }
        for i in 31..34 {
            r[i] = r[i - 31];
        }
        for i in 34..344 {
            r[i] = r[i - 3].wrapping_add(r[i - 31]);
        }
        Self { state: std::array::from_fn(|i| r[313 + i]), at: 0 }
    }
}

impl Rand {
    /// 31 bits.
    pub(crate) fn next(&mut self) -> u32 {
        let value = self.state[(self.at + 28) % 31].wrapping_add(self.state[self.at]);
        self.state[self.at] = value;
        self.at = (self.at + 1) % 31;
        value >> 1
    }
}

/// Unit of logarithms: 15 fraction bits.
const ONE: f64 = 32_768.0;
/// Significant bits of arguments.
const BITS: u32 = 16;
/// Bytes per unit of queue length.
const QUEUE_UNIT: u32 = 256;
/// Units per utilisation of 1.
const UTILISATION_UNIT: f64 = 8192.0;

#[derive(Debug)]
pub(crate) struct Approximate<'a> {
    pub(crate) rand: &'a mut Rand,
    pub(crate) bytes_per_s: f64,
    /// In ns.
    pub(crate) rtt: u64,
}

impl Approximate<'_> {
    /// Fixed-point log2 of the highest bits, rounded at random.
    fn log2(&mut self, x: u64) -> f64 {
        let length = 64 - x.leading_zeros();
        let mut x = x;
        if length > BITS {
            let dropped = length - BITS;
            let rest = x & ((1 << dropped) - 1);
            x >>= dropped;
            let up = u64::from(self.rand.next()) & ((1 << dropped) - 1) < rest;
            x = (x + u64::from(up)) << dropped;
        }
        (libm::log2(x as f64) * ONE).trunc()
    }

    /// `gap` in ns; `queued`: bytes left; `last_size`: bytes sent before.
    pub(crate) fn utilisation(&mut self, old: f64, gap: u64, queued: u32, last_size: u32) -> f64 {
        let [giga, rate, rtt] = [1e9, self.bytes_per_s, self.rtt as f64].map(|x| libm::log2(x) * ONE);
        let raise = |log: f64| libm::pow(2.0, log / ONE);
        let mut sum = 0.0;
        if queued >= QUEUE_UNIT {
            let logs = self.log2(gap) + self.log2(u64::from(queued / QUEUE_UNIT));
            sum += f64::from(QUEUE_UNIT) * raise(logs + giga - rate - 2.0 * rtt);
        }
        if last_size > 0 {
            sum += raise(self.log2(u64::from(last_size)) + giga - rate - rtt);
        }
        let carried = (old * UTILISATION_UNIT).round() as u64;
        if self.rtt > gap && carried > 0 {
            let logs = self.log2(self.rtt - gap) + self.log2(carried);
            sum += raise(logs - rtt) / UTILISATION_UNIT;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rand_is_glibcs() {
        let mut rand = Rand::default();
        assert_eq!([rand.next(), rand.next(), rand.next()], [1_804_289_383, 846_930_886, 1_681_692_777]);
    }

    #[test]
    fn products_are_close() {
        let mut rand = Rand::default();
        let mut approximate = Approximate { rand: &mut rand, bytes_per_s: 12.5e9, rtt: 12_240 };
        let exact = 0.5 * (12_240.0 - 84.0) / 12_240.0
            + 100_000.0 * 84.0 / (12.5 * 12_240.0 * 12_240.0)
            + 1050.0 / (12.5 * 12_240.0);
        let got = approximate.utilisation(0.5, 84, 100_000, 1050);
        assert!((got / exact - 1.0).abs() < 2e-3, "{got} for {exact}");
    }
}
