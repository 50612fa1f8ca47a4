use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::Rate;

/// A tenant, or several alike: VMs in slots of the servers, with a guarantee each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantSpec {
    /// Name of the tenant; unique. Several alike are `x1`, `x2`, ….
    pub name: String,
    /// Number of VMs, at least 2, or `{ from = 2, to = 30 }`: drawn uniformly for each tenant.
    pub vms: VmCount,
    /// Guarantee of each VM (hose model): a rate both ways, or `{ send = "450Mbps", receive = "100Mbps" }`, at most
    /// what its virtual link and its server's NIC carry, less the headroom. Default: none.
    #[serde(default, skip_serializing_if = "Guarantee::is_none")]
    pub guarantee: Guarantee,
    /// Number of such tenants, at least 1. Default: one, with this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Share of the free VM slots that such tenants fill, more than 0 and at most 1; instead of `count`. Numbers of VMs
    /// that do not fit are drawn again. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<f64>,
    /// Share of the VMs that are mappers, the first ones, more than 0 and less than 1; rounded up, with at least one
    /// other VM. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mappers: Option<f64>,
    /// Placement of the VMs in free slots. Default random (ElasticSwitch, SIGCOMM 2013).
    #[serde(default)]
    pub placement: Placement,
}

/// Placement of a tenant's VMs in free slots. Tenants are placed in the scenario's order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Uniformly at random.
    #[default]
    Random,
    /// Mappers from server 0 on, all others from the last server back: far apart (ElasticSwitch, SIGCOMM 2013).
    Unbalanced,
    /// Close together, as Oktopus's greedy allocation (SIGCOMM 2011, section 4): the lowest subtree with enough slots
    /// and enough capacity on its links. Needs a fabric in tiers.
    Packed,
    /// Slots by name, such as `["h0.0", "h5.1"]`: one per VM, in order, for a single tenant.
    Slots(Vec<String>),
    /// CSV file, relative to the scenario's folder, with columns `tenant`, `vm` (from 0) and `slot`, such as
    /// `x1,0,h3.1`; other tenants are ignored.
    File(PathBuf),
}

/// Number of VMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VmCount {
    /// Fixed.
    Fixed(u32),
    /// Uniform over a range.
    Uniform(VmRange),
}

/// Range of numbers of VMs, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VmRange {
    /// Fewest VMs, at least 2.
    pub from: u32,
    /// Most VMs, at least `from`.
    pub to: u32,
}

/// Guarantee of each VM (hose model).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guarantee {
    /// Sending rate; 0 for none.
    pub send: Rate,
    /// Receiving rate; 0 for none.
    pub receive: Rate,
}

/// Guarantee with its two directions.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Hose {
    /// Guaranteed sending rate of each VM.
    send: Rate,
    /// Guaranteed receiving rate of each VM.
    receive: Rate,
}

impl Guarantee {
    /// Equal rates both ways.
    pub const fn both(rate: Rate) -> Self {
        Self { send: rate, receive: rate }
    }

    /// Returns true without any guarantee.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Larger of the two rates.
    pub fn most(&self) -> Rate {
        self.send.max(self.receive)
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.send == self.receive {
            return self.send.fmt(f);
        }
        match f.alternate() {
            true => write!(f, "{:#} sent, {:#} received", self.send, self.receive),
            false => write!(f, "{} sent, {} received", self.send, self.receive),
        }
    }
}

impl Serialize for Guarantee {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.send == self.receive {
            return self.send.serialize(serializer);
        }
        Hose { send: self.send, receive: self.receive }.serialize(serializer)
    }
}

// Serde's untagged enums only report "did not match any variant".
impl<'de> Deserialize<'de> for Guarantee {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Guarantee;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate such as \"450Mbps\", or a table { send = …, receive = … }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Guarantee, E> {
                text.parse().map(Guarantee::both).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Guarantee, A::Error> {
                let Hose { send, receive } = Hose::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Guarantee { send, receive })
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl JsonSchema for Guarantee {
    fn schema_name() -> Cow<'static, str> {
        "Guarantee".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Guarantee of each VM: one rate both ways, or both rates",
            "anyOf": [generator.subschema_for::<Rate>(), generator.subschema_for::<Hose>()],
        })
    }
}

impl fmt::Display for VmCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(count) => count.fmt(f),
            Self::Uniform(VmRange { from, to }) => write!(f, "{from} to {to}"),
        }
    }
}

impl Serialize for VmCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(count) => count.serialize(serializer),
            Self::Uniform(range) => range.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for VmCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = VmCount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of VMs, or a table { from = …, to = … }")
            }
            fn visit_u64<E: de::Error>(self, count: u64) -> Result<VmCount, E> {
                u32::try_from(count).map(VmCount::Fixed).map_err(|_| E::custom(format!("`{count}` VMs are too many")))
            }
            fn visit_i64<E: de::Error>(self, count: i64) -> Result<VmCount, E> {
                let count =
                    u64::try_from(count).map_err(|_| E::custom(format!("`{count}` is negative: at least 2 VMs")))?;
                self.visit_u64(count)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<VmCount, A::Error> {
                VmRange::deserialize(MapAccessDeserializer::new(map)).map(VmCount::Uniform)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl JsonSchema for VmCount {
    fn schema_name() -> Cow<'static, str> {
        "VmCount".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Number of VMs, or a range to draw it from",
            "anyOf": [{ "type": "integer", "minimum": 2 }, generator.subschema_for::<VmRange>()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<TenantSpec, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn tenants_read_back_as_written() {
        for json in [
            r#"{"name":"x","vms":2,"placement":"random"}"#,
            r#"{"name":"x","vms":{"from":2,"to":30},"guarantee":"56.25Mbps","fill":0.9,"mappers":0.5,"placement":"unbalanced"}"#,
            r#"{"name":"x","vms":2,"guarantee":{"send":"1Gbps","receive":"100Mbps"},"count":3,"placement":{"slots":["h0.0","h5.1"]}}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(json).unwrap()).unwrap(), json);
        }
        assert_eq!(
            read(r#"{"name": "x", "vms": 2, "guarantee": "450Mbps"}"#).unwrap().guarantee,
            Guarantee::both(Rate::mbps(450))
        );
    }

    #[test]
    fn mistakes_are_named() {
        let why = |more: &str| read(&format!(r#"{{"name": "x", {more}}}"#)).unwrap_err();
        assert!(why(r#""vms": -1"#).starts_with("`-1` is negative: at least 2 VMs"));
        assert!(why(r#""vms": "2""#).contains("expected a number of VMs, or a table { from = …, to = … }"));
        assert!(why(r#""vms": {"form": 2, "to": 3}"#).starts_with("unknown field `form`, expected `from` or `to`"));
        assert!(why(r#""vms": 2, "guarantee": 5"#).contains("expected a rate such as \"450Mbps\", or a table"));
        assert!(why(r#""vms": 2, "guarantee": "5"#).contains("EOF"));
        assert!(why(r#""vms": 2, "guarantee": "5""#).contains("`5` is not a rate: it has no unit"));
        assert!(why(r#""vms": 2, "guarantee": {"send": "1Gbps"}"#).starts_with("missing field `receive`"));
        assert!(
            why(r#""vms": 2, "placement": "paked""#).starts_with("unknown variant `paked`, expected one of `random`")
        );
    }
}
