//! PINT at the switch: filtered port utilisation in packets, as a power of a base (Ben Basat et al., SIGCOMM 2020; HPCC
//! authors' ns-3, `switch-node.cc` and `pint.cc`).

use crate::kernel::{IdVec, LocalPort};
use std::sync::Arc;

use incast_model::rng::{Stream, unit};

use crate::ns3::{Approximate, Rand};

const UNITS: f64 = crate::congestion::PINT_UNITS;

#[derive(Debug, Clone, Copy, Default)]
struct PintPort {
    utilisation: f64,
    last_size: u32,
    /// In ticks.
    last_time: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Pint {
    ports: IdVec<LocalPort, PintPort>,
    /// 1 / ln(base).
    inverse_log: f64,
    base: f64,
    powers: Arc<[f64]>,
    /// In ticks: the filter's time constant.
    rtt: u64,
    /// Per second.
    ticks: f64,
    tick: u64,
    pub(crate) reference: Option<Rand>,
}

impl Pint {
    pub(crate) fn new(ports: usize, base: f64, rtt: u64, tick: u64, ns3: bool) -> Self {
        Self {
            ports: vec![PintPort::default(); ports].into(),
            inverse_log: 1.0 / libm::log(base),
            base,
            powers: (0..1024).map(|exponent| libm::pow(base, f64::from(exponent))).collect(),
            rtt,
            ticks: 1e12 / tick as f64,
            tick,
            reference: ns3.then(Rand::default),
        }
    }

    pub(crate) fn of_ports(&self, ports: usize) -> Self {
        Self { ports: vec![PintPort::default(); ports].into(), ..self.clone() }
    }

    /// `now` in ps, `queued` bytes behind the packet, `rate` in bit/s. Returns the packet's power, if any.
    pub(crate) fn pass(
        &mut self,
        port: LocalPort,
        (now, queued, rate): (u64, u32, u64),
        size: u16,
        carried: Option<u16>,
        rng: &mut Stream,
    ) -> Option<u16> {
        let now = now / self.tick;
        let power = carried.map(|before| {
            let utilisation = self.update(port, now, queued, rate);
            let power = match self.reference.take() {
                Some(mut rand) => {
                    let power = self.encode(utilisation, || f64::from(rand.next() & 0xffff) / 65_536.0);
                    self.reference = Some(rand);
                    power
                }
                None => self.encode(utilisation, || unit(rng)),
            };
            before.max(power)
        });
        let memory = &mut self.ports[port];
        (memory.last_size, memory.last_time) = (size.into(), now);
        power
    }

    /// `now` in ticks, `rate` in bit/s.
    fn update(&mut self, port: LocalPort, now: u64, queued: u32, rate: u64) -> f64 {
        let state = &mut self.ports[port];
        let gap = (now - state.last_time).min(self.rtt);
        let bytes_per_s = rate as f64 / 8.0;
        state.utilisation = match &mut self.reference {
            Some(rand) => Approximate { rand, bytes_per_s, rtt: self.rtt }.utilisation(
                state.utilisation,
                gap,
                queued,
                state.last_size,
            ),
            None => {
                // Average with weight gap/T of queue/(C·T) + lastSize/(C·gap).
                let t = self.rtt as f64;
                let drained = bytes_per_s * t / self.ticks;
                (t - gap as f64) / t * state.utilisation
                    + f64::from(queued) * gap as f64 / (drained * t)
                    + f64::from(state.last_size) / drained
            }
        };
        state.utilisation
    }

    /// Rounds up with the probability that keeps the mean.
    fn encode(&self, utilisation: f64, draw: impl FnOnce() -> f64) -> u16 {
        let x = (utilisation * UNITS).ceil().max(1.0);
        let power = libm::log(x) * self.inverse_log;
        let (low, high) = (power.floor(), power.ceil());
        let drawn = draw(); // always, as in ns-3
        if low == high {
            return low as u16;
        }
        let (below, above) = (self.power(low), self.power(high));
        let up = drawn < (x - below) / (above - below);
        (if up { high } else { low }) as u16
    }

    fn power(&self, exponent: f64) -> f64 {
        self.powers.get(exponent as usize).copied().unwrap_or_else(|| libm::pow(self.base, exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_the_utilisation() {
        // C = 100 Gb/s, T = 12.24 us, packets of 1050 B; by hand from the equations.
        let mut pint = Pint::new(1, 1.05, 12_240, 1000, false);
        for (ns, queue, expected) in [
            (100_000, 0, 0.0),
            (100_084, 1050, 0.006910),
            (100_168, 2100, 0.013819),
            (101_008, 100_000, 0.064588),
            (105_000, 100_000, 0.263552),
            (120_000, 0, 0.006863),
        ] {
            let got = pint.update(LocalPort(0), ns, queue, 100_000_000_000);
            assert!((got - expected).abs() < 1e-6, "{got} for {expected} at {ns} ns");
            pint.ports[LocalPort(0)].last_size = 1050;
            pint.ports[LocalPort(0)].last_time = ns;
        }
    }

    /// A power is one of the two neighbours of x, with mean x and standard deviation `sqrt((x - low) (high - x))`:
    /// relative to x at most `(b - 1) / (2 sqrt b)`.
    #[test]
    fn encoding_errs_as_little_as_two_neighbours_allow() {
        const DRAWS: u32 = 4000;
        let mut rng = incast_model::rng::stream(1, "test", 0);
        for base in [1.01, 1.025, 1.05, 1.1] {
            let pint = Pint::new(1, base, 12_240, 1000, false);
            let bound = (base - 1.0) / (2.0 * libm::sqrt(base));
            for step in 0..200 {
                // 1/512 to 511, on a logarithmic scale.
                let u = libm::pow(512.0 * 511.0, f64::from(step) / 199.0) / UNITS;
                let x = (u * UNITS).ceil();
                let decoded: Vec<f64> =
                    (0..DRAWS).map(|_| libm::pow(base, pint.encode(u, || unit(&mut rng)).into()) / x).collect();
                let least = decoded.iter().copied().fold(f64::MAX, f64::min);
                let most = decoded.iter().copied().fold(0.0, f64::max);
                assert!(most < base * (1.0 + 1e-12) && least > (1.0 - 1e-12) / base, "{x}: {least} to {most}");
                let mean = decoded.iter().sum::<f64>() / f64::from(DRAWS);
                let spread = libm::sqrt(decoded.iter().map(|d| (d - 1.0) * (d - 1.0)).sum::<f64>() / f64::from(DRAWS));
                let expected = libm::sqrt((1.0 - least) * (most - 1.0));
                // Five standard errors of the mean; the largest of 800 is about four.
                assert!((mean - 1.0).abs() <= 5.0 * expected / f64::from(DRAWS).sqrt() + 1e-12, "{x}: mean {mean}");
                assert!((spread - expected).abs() <= 0.1 * bound, "{x}: {spread} for {expected}");
                assert!(spread <= 1.03 * bound, "{x}: {spread} above {bound}");
            }
        }
    }

    /// 8 bits for base 1.05 (PINT's paper).
    #[test]
    fn bits_of_the_largest_power() {
        for (base, bits) in [(1.05, 8), (1.01, 11), (1.025, 9), (1.1, 8)] {
            let pint = Pint::new(1, base, 12_240, 1000, false);
            let largest = pint.encode(511.0, || 1.0); // rounded down
            assert_eq!(u16::BITS - largest.leading_zeros(), bits, "{base}: {largest}");
        }
    }

    #[test]
    fn encoding_keeps_the_mean() {
        let pint = Pint::new(1, 1.05, 12_240, 1000, false);
        let mut rng = incast_model::rng::stream(1, "test", 0);
        for u in [0.01, 0.3, 0.95, 1.7, 40.0] {
            let draws = 20_000;
            let sum: f64 = (0..draws).map(|_| libm::pow(1.05, pint.encode(u, || unit(&mut rng)).into()) / UNITS).sum();
            let (mean, carried) = (sum / f64::from(draws), (u * UNITS).ceil() / UNITS);
            assert!((mean / carried - 1.0).abs() < 0.002, "{mean} for {carried}");
        }
    }
}
