use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::Entry;
use super::law::SizeLaw;
use super::sizes::{BACKLOGGED, SizeSpec};
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::flow::Flow;
use crate::units::{Bytes, Time};

/// Message size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageSize {
    /// Number of bytes.
    Fixed(Bytes),
    /// Data until the end of the entry or the simulation.
    Backlogged,
}

impl From<Bytes> for MessageSize {
    fn from(size: Bytes) -> Self {
        Self::Fixed(size)
    }
}

impl fmt::Display for MessageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(size) => size.fmt(f),
            Self::Backlogged => f.write_str(BACKLOGGED),
        }
    }
}

impl Serialize for MessageSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MessageSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = MessageSize;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"500kB\", or \"backlogged\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<MessageSize, E> {
                match text.trim() {
                    BACKLOGGED => Ok(MessageSize::Backlogged),
                    size => size.parse().map(MessageSize::Fixed).map_err(E::custom),
                }
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<MessageSize, E> {
                Ok(MessageSize::Fixed(Bytes(bytes)))
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<MessageSize, E> {
                let negative = || E::custom(format!("`{bytes}` is negative: a size is written for example \"500kB\""));
                u64::try_from(bytes).map(|bytes| MessageSize::Fixed(Bytes(bytes))).map_err(|_| negative())
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl JsonSchema for MessageSize {
    fn schema_name() -> Cow<'static, str> {
        "MessageSize".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Size of a message, or \"backlogged\": always data to send until the entry's end",
            "anyOf": [generator.subschema_for::<Bytes>(), { "type": "string", "enum": [BACKLOGGED] }],
        })
    }
}

#[derive(Debug)]
pub(super) enum Amounts {
    Drawn(SizeLaw),
    /// End.
    Backlogged(Time),
}

impl Amounts {
    pub(super) fn new(entry: &Entry<'_>, field: &str, sizes: &SizeSpec) -> Result<Self, EntryError> {
        match sizes {
            SizeSpec::Backlogged => Self::backlogged(entry, field),
            sizes => Ok(Self::Drawn(sizes.law(field, entry.base_dir)?)),
        }
    }

    pub(super) fn backlogged(entry: &Entry<'_>, field: &str) -> Result<Self, EntryError> {
        let refuse = |allowed: String| Err(EntryError::field(field, BACKLOGGED, allowed));
        let Some(until) = entry.end.into_iter().chain(entry.horizon).min() else {
            return refuse("a size, or an end of the entry (`end`) or the simulation (simulation.horizon)".into());
        };
        let fastest = (0..entry.members.count()).map(|host| entry.members.all_links(HostId(host))).fold(0.0, f64::max);
        let most = bound(fastest, until.saturating_sub(entry.start));
        if most > MOST {
            // The bound is twice a host's capacity.
            let [most, limit] = [most, MOST].map(|bytes| bytes as f64 / 2e9);
            return refuse(format!(
                "{BACKLOGGED} with an end that is nearer than {until}: a host could send {most:.0} GB until then, at most \
                 {limit:.0} GB are possible"
            ));
        }
        Ok(Self::Backlogged(until))
    }

    pub(super) fn mean(&self) -> f64 {
        match self {
            Self::Drawn(law) => law.mean(),
            Self::Backlogged(_) => f64::INFINITY,
        }
    }

    /// `u`: uniform in [0, 1).
    pub(super) fn flow(&self, entry: &Entry<'_>, src: HostId, dst: HostId, u: f64, start: Time) -> Flow {
        match self {
            Self::Drawn(law) => entry.flow(src, dst, law.sample(u), start),
            Self::Backlogged(until) => {
                let size = bound(entry.members.all_links(src), until.saturating_sub(start));
                Flow { until: Some(*until), ..entry.flow(src, dst, size, start) }
            }
        }
    }
}

/// 70 TB, 700 s at 400 Gb/s: sums over a quarter of a million flows stay below 2^64.
const MOST: u64 = 70_000_000_000_000;

/// Twice the capacity of a link of `rate` bit/s, and a mebibyte.
fn bound(rate: f64, time: Time) -> u64 {
    (rate * time.seconds() / 4.0) as u64 + (1 << 20)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::generate::generate;
    use super::super::testing::{flows, pattern, refused, star};
    use super::*;
    use crate::units::Rate;
    use crate::workload::WorkloadSpec;

    fn with_end(name: &str, json: &str, end: Option<Time>) -> WorkloadSpec {
        WorkloadSpec { end, ..pattern(name, json) }
    }

    const EVERY: [(&str, &str, usize); 5] = [
        ("list", r#"[{"src": 0, "dst": 1, "size": "backlogged"}, {"src": 2, "dst": 1, "size": "backlogged"}]"#, 2),
        ("incast", r#"{"fan_in": 3, "size": "backlogged", "receiver": 0}"#, 3),
        ("permutation", r#"{"size": "backlogged"}"#, 4),
        ("all_to_all", r#"{"size": "backlogged"}"#, 12),
        ("shuffle", r#"{"size": "backlogged"}"#, 12),
    ];

    #[test]
    fn senders_have_something_until_the_end() {
        let fabric = star(4, Rate::gbps(100));
        for (name, json, count) in EVERY {
            let set = flows(&fabric, &with_end(name, json, Some(Time::ms(1))), 1);
            assert_eq!(set.flows.len(), count, "{name}");
            for flow in &set.flows {
                assert_eq!((flow.until, flow.size), (Some(Time::ms(1)), Bytes(25_000_000 + (1 << 20))), "{name}");
            }
            assert_eq!(set.bytes(), Bytes::ZERO);
        }
    }

    #[test]
    fn the_end_is_that_of_the_entry_or_of_the_simulation() {
        let fabric = star(4, Rate::gbps(100));
        let (name, json, _) = EVERY[4];
        let until = |end, horizon| {
            let set = generate(&[with_end(name, json, end)], &fabric, Path::new("."), 1, horizon);
            set.map(|set| set.flows[0].until).map_err(|error| error.to_string())
        };
        let (one, two) = (Some(Time::us(1)), Some(Time::us(2)));
        assert_eq!([until(one, None), until(None, two), until(one, two)], [Ok(one), Ok(two), Ok(one)]);
        assert_eq!(until(two, one), Ok(one));
        assert!(
            until(None, None)
                .unwrap_err()
                .starts_with("workload[0].shuffle.size = backlogged: must be a size, or an end of the entry")
        );
        let far = until(Some(Time(u64::MAX)), None).unwrap_err();
        assert!(
            far.contains("with an end that is nearer than") && far.contains("at most 35000 GB are possible"),
            "{far}"
        );
    }

    #[test]
    fn only_messages_that_come_once_can_be_backlogged() {
        let fabric = star(4, Rate::gbps(100));
        let why = |name: &str, json: &str| refused(&fabric, &with_end(name, json, Some(Time::ms(1))));
        let law = "size = backlogged: must be a size or a distribution; only single flows of list, shuffle, incast, \
                   permutation and all_to_all can be backlogged";
        assert_eq!(
            why("permutation", r#"{"size": "backlogged", "load": 0.1}"#),
            format!("workload[0].permutation.{law}")
        );
        for json in [
            r#"{"fan_in": 1, "size": "backlogged", "load": 0.1}"#,
            r#"{"fan_in": 1, "size": "backlogged", "every": "1us"}"#,
        ] {
            assert_eq!(why("incast", json), format!("workload[0].incast.{law}"));
        }
        let sizes = why("poisson", r#"{"load": 0.1, "sizes": "backlogged"}"#);
        assert!(
            sizes.starts_with("workload[0].poisson.sizes = backlogged: must be a size or a distribution; only"),
            "{sizes}"
        );
        for more in [r#""window": 1"#, r#""iterations": 2"#] {
            let json = format!(r#"{{"size": "backlogged", {more}}}"#);
            let text = why("all_to_all", &json);
            assert!(text.contains("backlogged: must be a size, with a window or several iterations"), "{text}");
        }
        let waits = r#"[{"name": "a", "src": 0, "dst": 1, "size": "backlogged"}, {"src": 1, "dst": 0, "size": 1, "after": ["a"]}]"#;
        assert_eq!(
            why("list", waits),
            "workload[0].list[1].after[0] = a: must be a flow with a size of its own: this one is backlogged"
        );
        let spelt = serde_json::from_str::<WorkloadSpec>(r#"{"list": [{"src": 0, "dst": 1, "size": "backloged"}]}"#);
        assert!(spelt.unwrap_err().to_string().contains("`backloged` is not a size"));
    }
}
