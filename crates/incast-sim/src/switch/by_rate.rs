//! Headroom and alpha of ports by rate and delay, as in SONiC's `pg_profile_lookup.ini`.

use incast_model::range::{above, delay};
use incast_model::units::{Bytes, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Headroom and alpha of ports of one rate, with links up to one length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortProfile {
    /// Ports of exactly this rate.
    #[schemars(transform = above("0bps"))]
    pub rate: Rate,
    /// Longest one-way delay of the port's link; the entry with the shortest that suffices applies. Default none: any delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = delay())]
    pub max_delay: Option<Time>,
    /// Headroom of a lossless priority. Default: that of `switch.headroom`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Bytes>,
    /// Share alpha of the free buffer, above 0 and at most 16, equal in all entries of a rate; only with dynamic thresholds.
    /// Default: that of `switch.pfc_mode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above(0).most(16))]
    pub alpha: Option<f64>,
}

impl PortProfile {
    /// Profile of a port: of its rate, with the shortest sufficient delay.
    pub fn of(all: &[Self], rate: Rate, delay: Time) -> Option<&Self> {
        let fits = |one: &&Self| one.rate == rate && one.max_delay.is_none_or(|most| delay <= most);
        all.iter().filter(fits).min_by_key(|one| one.max_delay.unwrap_or(Time(u64::MAX)))
    }

    /// Alpha of ports of a rate, if given.
    pub fn alpha_of(all: &[Self], rate: Rate) -> Option<f64> {
        all.iter().filter(|one| one.rate == rate).find_map(|one| one.alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_sufficient_delay_applies() {
        let entry = |rate, ns: Option<u64>, headroom| PortProfile {
            rate: Rate::gbps(rate),
            max_delay: ns.map(Time::ns),
            headroom: Some(Bytes(headroom)),
            alpha: None,
        };
        let all = [entry(100, None, 4), entry(100, Some(203), 2), entry(100, Some(26), 1), entry(400, Some(26), 3)];
        let found = |rate, ns| PortProfile::of(&all, Rate::gbps(rate), Time::ns(ns)).and_then(|one| one.headroom);
        assert_eq!([26, 27, 203, 204].map(|ns| found(100, ns).unwrap().0), [1, 2, 2, 4]);
        assert_eq!((found(400, 27), found(25, 1)), (None, None));
    }
}
