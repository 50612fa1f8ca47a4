//! Quirks of the HPCC authors' simulator in `ns3` arithmetic. Others are parameters (`profile = "ns3"`), the order of
//! scheduling ([`crate::kernel`]) and the NIC (`nodes/host/reference.rs`).

mod pint;
mod random;

pub(crate) use pint::{Approximate, Rand};
pub(crate) use random::Draws;

/// Time in ps for `bytes` at `rate` bit/s, in whole nanoseconds: a double of seconds (`data-rate.cc`, CalculateTxTime), cut to 64
/// fraction bits (`int64x64-128.h`), times 10^9, cut. Times of whole nanoseconds become one less, long ones not always.
#[inline]
pub(crate) fn serialisation(bytes: u64, rate: u64) -> u64 {
    const NS_PER_S: u64 = 1_000_000_000;
    /// 2^64.
    const FRACTIONS_PER_S: f64 = 18_446_744_073_709_551_616.0;
    let seconds = (bytes * 8) as f64 / rate as f64;
    let whole = seconds.floor();
    let fraction = ((seconds - whole) * FRACTIONS_PER_S) as u64;
    let ns = whole as u64 * NS_PER_S + ((u128::from(fraction) * u128::from(NS_PER_S)) >> 64) as u64;
    ns * 1000
}

#[cfg(test)]
mod tests {
    #[test]
    fn serialisation_is_cut_to_nanoseconds() {
        let ns = |bytes, gbps: u64| super::serialisation(bytes, gbps * 1_000_000_000) / 1000;
        assert_eq!([60, 88, 1048, 1050, 1056, 1090].map(|b| ns(b, 100)), [4, 7, 83, 83, 84, 87]);
        assert_eq!([60, 88, 43, 1048, 1050, 1056, 1090].map(|b| ns(b, 400)), [1, 1, 0, 20, 20, 21, 21]);
    }
}
