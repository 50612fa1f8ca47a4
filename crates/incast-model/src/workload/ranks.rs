use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::hosts::HostSet;
use super::rails;
use crate::echo::counted;
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::rng::pick;

/// Hosts of the ranks of a collective, one rank per host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ranks {
    /// Number of ranks. Default: all hosts to choose from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Hosts to choose from. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostSet>,
    /// Order of the hosts as ranks. Default host.
    #[serde(default)]
    pub order: RankOrder,
    /// Host of each rank, instead of the other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<u32>>,
}

/// Order in which hosts become ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankOrder {
    /// By host number: neighbouring ranks share racks.
    #[default]
    Host,
    /// Random; every choice and order is equally likely.
    Random,
    /// One ring for each GPU of a server, for `ring_all_reduce` in `rail_optimized`: ring r visits all GPUs of a server,
    /// enters it on rail r or the next one, and leaves it on the other (alternating rings of NCCL 2.20).
    Rails,
}

impl Ranks {
    /// At least `least`; `name`: field of `ranks`.
    pub(super) fn place(
        ranks: Option<&Self>,
        name: &str,
        least: usize,
        entry: &Entry<'_>,
    ) -> Result<Vec<HostId>, EntryError> {
        let default = Self::default();
        let ranks = ranks.unwrap_or(&default);
        if ranks.order == RankOrder::Rails {
            return Err(entry.refuse(
                &format!("{name}.order"),
                "rails",
                "host or random; rails is for ring_all_reduce",
            ));
        }
        ranks.at_least(least, name, entry)
    }

    /// At least 2, and rings over all of them, as ranks in order.
    pub(super) fn rings(ranks: Option<&Self>, entry: &Entry<'_>) -> Result<(Vec<HostId>, Vec<Vec<usize>>), EntryError> {
        match ranks.filter(|ranks| ranks.order == RankOrder::Rails) {
            Some(ranks) => {
                let placed = ranks.at_least(2, "ranks", entry)?;
                let rings = rails::rings(&placed, entry)?;
                Ok((placed, rings))
            }
            None => {
                let placed = Self::place(ranks, "ranks", 2, entry)?;
                let ring = (0..placed.len()).collect();
                Ok((placed, vec![ring]))
            }
        }
    }

    fn at_least(&self, least: usize, name: &str, entry: &Entry<'_>) -> Result<Vec<HostId>, EntryError> {
        let placed = match &self.list {
            Some(list) => self.listed(list, name, entry)?,
            None => self.chosen(name, entry)?,
        };
        if placed.len() < least {
            return Err(entry.refuse(name, counted(placed.len() as u64, "host"), format!("at least {least} hosts")));
        }
        Ok(placed)
    }

    fn chosen(&self, name: &str, entry: &Entry<'_>) -> Result<Vec<HostId>, EntryError> {
        let mut hosts = entry.members.select(self.hosts.as_ref(), &entry.field(&format!("{name}.hosts")))?;
        let count = self.count.unwrap_or(hosts.len() as u32) as usize;
        if count == 0 || count > hosts.len() {
            let allowed = format!("1 to {}, the hosts to choose from", hosts.len());
            return Err(entry.refuse(&format!("{name}.count"), count, allowed));
        }
        if self.order == RankOrder::Random {
            let mut rng = entry.stream(name, 0);
            for rank in 0..count {
                let other = rank + pick(&mut rng, hosts.len() - rank);
                hosts.swap(rank, other);
            }
        }
        hosts.truncate(count);
        Ok(hosts)
    }

    fn listed(&self, list: &[u32], name: &str, entry: &Entry<'_>) -> Result<Vec<HostId>, EntryError> {
        if self.count.is_some() || self.hosts.is_some() || self.order != RankOrder::Host {
            return Err(entry.refuse(name, "list and other fields", "either list, or count, hosts and order"));
        }
        let mut taken = vec![false; entry.host_count() as usize];
        for (rank, &host) in list.iter().enumerate() {
            let refuse = |allowed| entry.refuse(&format!("{name}.list[{rank}]"), host, allowed);
            let taken = taken.get_mut(host as usize).ok_or_else(|| refuse(entry.members.numbers()))?;
            if std::mem::replace(taken, true) {
                return Err(refuse("a host that is not in the list yet".into()));
            }
        }
        Ok(list.iter().map(|&host| HostId(host)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{flows, pattern, refused, star};
    use crate::units::Rate;

    fn ring(ranks: &str) -> Vec<u32> {
        let json = format!(r#"{{"size": "1kB", "part": "all_gather", "ranks": {ranks}}}"#);
        let set = flows(&star(16, Rate::gbps(100)), &pattern("ring_all_reduce", &json), 1);
        let n = set.flows.iter().map(|flow| flow.src).collect::<std::collections::BTreeSet<_>>().len();
        set.flows.iter().take(n).map(|flow| flow.src.0).collect()
    }

    #[test]
    fn by_number_at_random_or_as_listed() {
        assert_eq!(ring("{}"), (0..16).collect::<Vec<_>>());
        assert_eq!(ring(r#"{"count": 3, "hosts": "4-9"}"#), [4, 5, 6]);
        assert_eq!(ring(r#"{"list": [7, 0, 3]}"#), [7, 0, 3]);
        let mut random = ring(r#"{"order": "random"}"#);
        assert_ne!(random, (0..16).collect::<Vec<_>>());
        random.sort_unstable();
        assert_eq!(random, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn bad_ranks_are_named() {
        let why = |ranks: &str| {
            let json = format!(r#"{{"size": "1kB", "ranks": {ranks}}}"#);
            refused(&star(8, Rate::gbps(100)), &pattern("ring_all_reduce", &json))
        };
        assert_eq!(
            why(r#"{"count": 9}"#),
            "workload[0].ring_all_reduce.ranks.count = 9: must be 1 to 8, the hosts to choose from"
        );
        assert_eq!(why(r#"{"count": 1}"#), "workload[0].ring_all_reduce.ranks = 1 host: must be at least 2 hosts");
        assert!(why(r#"{"hosts": "5-8"}"#).contains("ranks.hosts = \"5-8\": must be hosts of this fabric, 0 to 7"));
        assert!(why(r#"{"list": [0, 8]}"#).contains("ranks.list[1] = 8: must be a host of this fabric, 0 to 7"));
        assert!(why(r#"{"list": [3, 1, 3]}"#).contains("ranks.list[2] = 3: must be a host that is not in the list"));
        assert!(why(r#"{"list": [3, 1], "order": "random"}"#).contains("either list, or count, hosts and order"));
    }
}
