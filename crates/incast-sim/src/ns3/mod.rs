//! Quirks of the HPCC authors' simulator in `ns3` arithmetic. Others are parameters (`profile = "ns3"`), the order of
//! scheduling ([`crate::kernel`]) and the NIC (`nodes/host/reference.rs`).

mod pint;
mod random;

pub(crate) use pint::{Approximate, Rand};
pub(crate) use random::Draws;

/// Time in ps for `bytes` at `rate` bit/s: whole nanoseconds, rounded down, one less if exact (`data-rate.cc`, CalculateTxTime,
/// through a double and a 64-bit fraction).
#[inline]
pub(crate) const fn serialisation(bytes: u64, rate: u64) -> u64 {
    (bytes * 8_000_000_000 - 1) / rate * 1000
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
