use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::entry::EntryError;
use crate::fabric::HostId;

/// Host numbers: `"0-15"`, `"0-15, 32-47, 60"`, or a list of such ranges and numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSet(Vec<HostRange>);

/// Consecutive hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRange {
    /// First host.
    pub first: u32,
    /// Last host (included).
    pub last: u32,
}

/// Invalid set of hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a range of hosts: write for example \"0-15\" (first and last host, both included) or \"7\"")]
pub struct HostSetError(String);

impl HostSet {
    /// All below `count`; `all` describes them in messages.
    pub(super) fn hosts(&self, field: &str, count: u32, all: &str) -> Result<Vec<HostId>, EntryError> {
        if let Some(range) = self.0.iter().find(|range| range.last >= count) {
            let allowed = format!("{all}, 0 to {}", count - 1);
            return Err(EntryError::field(field, format!("\"{range}\""), allowed));
        }
        let mut hosts: Vec<HostId> = self.0.iter().flat_map(|range| (range.first..=range.last).map(HostId)).collect();
        hosts.sort_unstable();
        hosts.dedup();
        Ok(hosts)
    }
}

impl FromIterator<HostRange> for HostSet {
    fn from_iter<I: IntoIterator<Item = HostRange>>(ranges: I) -> Self {
        Self(ranges.into_iter().collect())
    }
}

impl fmt::Display for HostRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { write!(f, "{}", self.first) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}

impl FromStr for HostRange {
    type Err = HostSetError;
    fn from_str(text: &str) -> Result<Self, HostSetError> {
        let text = text.trim();
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(HostSetError(text.into())),
        }
    }
}

impl FromStr for HostSet {
    type Err = HostSetError;
    fn from_str(text: &str) -> Result<Self, HostSetError> {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl Serialize for HostSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.iter().map(HostRange::to_string).collect::<Vec<_>>().join(", "))
    }
}

impl<'de> Deserialize<'de> for HostSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = HostSet;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("hosts such as \"0-15\", or a list of ranges and host numbers")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<HostSet, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, host: u64) -> Result<HostSet, E> {
                host.to_string().parse().map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, host: i64) -> Result<HostSet, E> {
                host.to_string().parse().map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<HostSet, A::Error> {
                let mut ranges = Vec::new();
                while let Some(HostSet(more)) = items.next_element()? {
                    ranges.extend(more);
                }
                Ok(HostSet(ranges))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl JsonSchema for HostSet {
    fn schema_name() -> Cow<'static, str> {
        "HostSet".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Hosts by number: \"0-15, 32\" (both ends included), or a list of ranges and numbers",
            "type": ["string", "integer", "array"],
            "minimum": 0,
            "items": { "type": ["string", "integer"] },
            "examples": ["0-15", ["0-15", 32]],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(json: &str) -> Vec<u32> {
        let set: HostSet = serde_json::from_str(json).unwrap();
        set.hosts("hosts", 64, "hosts of this fabric").unwrap().into_iter().map(|host| host.0).collect()
    }

    #[test]
    fn reads_ranges_numbers_and_lists() {
        assert_eq!(hosts("\"2-4, 9\""), [2, 3, 4, 9]);
        assert_eq!(hosts("7"), [7]);
        assert_eq!(hosts("[\"8-9\", 3, \"9 - 10\"]"), [3, 8, 9, 10]);
        let set: HostSet = "0-3, 60".parse().unwrap();
        assert_eq!(serde_json::to_string(&set).unwrap(), "\"0-3, 60\"");
    }

    #[test]
    fn bad_ranges_are_refused() {
        let refused = |json: &str| serde_json::from_str::<HostSet>(json).unwrap_err().to_string();
        assert!(refused("\"5-3\"").starts_with("`5-3` is not a range of hosts: write for example \"0-15\""));
        assert!(refused("\"a\"").contains("`a` is not a range"));
        assert!(refused("-1").contains("`-1` is not a range"));
        assert!(refused("\"\"").contains("`` is not a range"));
        let beyond = "0-64"
            .parse::<HostSet>()
            .unwrap()
            .hosts("workload[0].poisson.hosts", 64, "hosts of this fabric")
            .unwrap_err();
        assert_eq!(beyond.to_string(), "workload[0].poisson.hosts = \"0-64\": must be hosts of this fabric, 0 to 63");
    }
}
