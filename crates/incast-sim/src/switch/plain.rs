//! Parameters that are a name, a plain value, or a table with one value.

use std::fmt;

use incast_model::units::Bytes;
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::SonicHeadroom;

/// Share of the free buffer for one ingress queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = or_number)]
pub enum Alpha {
    /// 1/8 for a port of the hosts' rate, doubled per doubling of the rate, at most 1 (NS3 `third.cc`: shift 3, one
    /// less per doubling).
    ByRate,
    /// Equal for every port.
    Value(f64),
}

/// Buffer per ingress port and lossless priority for packets after XOFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = or_size)]
pub enum Headroom {
    /// 2·rate·delay + 2 full packets + the triggering packet + a pause frame for each lossless priority: no lossless
    /// drop.
    Computed,
    /// 3·rate·delay only (NS3 `third.cc`); too small below about 0.4 us at 100 Gb/s.
    ThreeDelays,
    /// As SONiC computes it from cells, delays and packet sizes.
    Sonic(SonicHeadroom),
    /// Given size.
    Bytes(Bytes),
}

const ALPHAS: &str = "`by-rate`, `a number such as 0.125`, `{ value = 0.125 }`";
const HEADROOMS: &str =
    "`computed`, `three-delays`, `sonic`, `a size such as \"40kB\"`, `{ bytes = \"40kB\" }`, `{ sonic = { … } }`";

fn unknown<E: Error>(wrong: &str, allowed: &str) -> E {
    E::custom(format_args!("unknown variant `{wrong}`, expected one of {allowed}"))
}

impl<'de> Deserialize<'de> for Alpha {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Alpha;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`by-rate`, a number such as 0.125 or { value = 0.125 }")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Alpha, E> {
                Ok(Alpha::Value(value))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Alpha, E> {
                Ok(Alpha::Value(value as f64))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Alpha, E> {
                Ok(Alpha::Value(value as f64))
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Alpha, E> {
                if name == "by-rate" { Ok(Alpha::ByRate) } else { Err(unknown(name, ALPHAS)) }
            }
            fn visit_map<M: MapAccess<'de>>(self, mut table: M) -> Result<Alpha, M::Error> {
                let value = match table.next_key::<String>()?.as_deref() {
                    Some("value") => table.next_value().map(Alpha::Value)?,
                    Some(other) => return Err(unknown(other, ALPHAS)),
                    None => return Err(unknown("{}", ALPHAS)),
                };
                table.next_key::<String>()?.map_or(Ok(value), |more| Err(unknown(&more, ALPHAS)))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Headroom {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Headroom;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`computed`, `three-delays`, `sonic`, a size such as \"40kB\", { bytes = \"40kB\" } or { sonic = { … } }")
            }
            fn visit_u64<E: Error>(self, bytes: u64) -> Result<Headroom, E> {
                Ok(Headroom::Bytes(Bytes(bytes)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Headroom, E> {
                match text {
                    "computed" => Ok(Headroom::Computed),
                    "three-delays" => Ok(Headroom::ThreeDelays),
                    "sonic" => Ok(Headroom::Sonic(SonicHeadroom::default())),
                    // Text that starts with a digit is a size, also in errors.
                    _ if text.starts_with(|first: char| first.is_ascii_digit()) => {
                        text.parse().map(Headroom::Bytes).map_err(E::custom)
                    }
                    _ => Err(unknown(text, HEADROOMS)),
                }
            }
            fn visit_map<M: MapAccess<'de>>(self, mut table: M) -> Result<Headroom, M::Error> {
                let value = match table.next_key::<String>()?.as_deref() {
                    Some("sonic") => table.next_value().map(Headroom::Sonic)?,
                    Some("bytes") => table.next_value().map(Headroom::Bytes)?,
                    Some(other) => return Err(unknown(other, HEADROOMS)),
                    None => return Err(unknown("{}", HEADROOMS)),
                };
                table.next_key::<String>()?.map_or(Ok(value), |more| Err(unknown(&more, HEADROOMS)))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

pub(super) fn or_number(schema: &mut Schema) {
    or(schema, json_schema!({ "type": "number", "description": "The same share for every port." }));
}

pub(super) fn or_size(schema: &mut Schema) {
    or(schema, json_schema!({ "$ref": "#/$defs/Bytes" }));
}

fn or(schema: &mut Schema, choice: Schema) {
    // `anyOf`, not `oneOf`: in the schema a name also passes as a size.
    if let Some(object) = schema.as_object_mut()
        && let Some(mut choices) = object.remove("oneOf")
    {
        if let Some(choices) = choices.as_array_mut() {
            choices.push(choice.to_value());
        }
        object.insert("anyOf".into(), choices);
    }
}
