use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::backlog::Amounts;
use super::entry::{Collector, Entry, Pattern};
use super::ranks::Ranks;
use super::sizes::SizeSpec;
use crate::entry::EntryError;
use crate::rng::unit;

/// Shuffle: every mapper sends one flow to every other reducer at the entry's start.
///
/// One mapper makes an outcast, one reducer an incast of named hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shuffle {
    /// Size of each flow, drawn if it is a distribution; can be `backlogged`.
    pub size: SizeSpec,
    /// Hosts that send. Default: the tenant's mappers if it has some, else all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mappers: Option<Ranks>,
    /// Hosts that receive. Default: the tenant's other VMs if it has mappers, else all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reducers: Option<Ranks>,
}

impl Pattern for Shuffle {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let amounts = Amounts::new(entry, &entry.field("size"), &self.size)?;
        let place = |ranks: &Option<Ranks>, name: &str, mappers: bool| match (ranks, entry.members.mappers(mappers)) {
            (None, Some(own)) => Ok(own),
            _ => Ranks::place(ranks.as_ref(), name, 1, entry),
        };
        let mappers = place(&self.mappers, "mappers", true)?;
        let reducers = place(&self.reducers, "reducers", false)?;
        if mappers == reducers && mappers.len() == 1 {
            return Err(entry.refuse("reducers", reducers[0].0, "another host than the only mapper"));
        }
        entry.expect(
            "reducers",
            format!("{} hosts", reducers.len()),
            mappers.len() as f64 * reducers.len() as f64,
            0.0,
        )?;
        for &mapper in &mappers {
            // Changed reducers do not affect other mappers' sizes.
            let mut rng = entry.stream("sizes", mapper.0.into());
            for &reducer in &reducers {
                let u = unit(&mut rng);
                if mapper != reducer {
                    out.push(amounts.flow(entry, mapper, reducer, u, entry.start))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{flows, pattern, refused, star};
    use crate::units::{Rate, Time};

    fn pairs(json: &str) -> Vec<(u32, u32)> {
        let set = flows(&star(6, Rate::gbps(100)), &pattern("shuffle", json), 1);
        assert!(set.flows.iter().all(|flow| flow.start == Time::ZERO));
        set.flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect()
    }

    #[test]
    fn every_mapper_to_every_reducer() {
        let halves = r#"{"size": "1MB", "mappers": {"hosts": "0-2"}, "reducers": {"hosts": "2-4"}}"#;
        assert_eq!(pairs(halves), [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)]);
        assert_eq!(pairs(r#"{"size": "websearch"}"#).len(), 30);
        assert_eq!(pairs(r#"{"size": 1, "mappers": {"list": [5]}}"#), [(5, 0), (5, 1), (5, 2), (5, 3), (5, 4)]);
        let random = pairs(r#"{"size": 1, "mappers": {"count": 2, "order": "random"}}"#);
        assert_eq!(random.len(), 10);
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |json: &str| refused(&star(6, Rate::gbps(100)), &pattern("shuffle", json));
        let alone = r#"{"size": 1, "mappers": {"list": [5]}, "reducers": {"list": [5]}}"#;
        assert_eq!(why(alone), "workload[0].shuffle.reducers = 5: must be another host than the only mapper");
        assert!(why(r#"{"size": 0}"#).starts_with("workload[0].shuffle.size = 0B: must be"));
        assert!(why(r#"{"size": 1, "mappers": {"list": []}}"#).contains("mappers = 0 hosts: must be at least 1 h"));
        assert!(why(r#"{"size": 1, "mappers": {"count": 7}}"#).contains("shuffle.mappers.count = 7: must be 1 to 6"));
    }
}
