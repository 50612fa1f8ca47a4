use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::cdf::{Part, SizeCdf};
use super::cdf_file;
use super::law::SizeLaw;
use super::tables::SizeTable;
use crate::entry::EntryError;
use crate::input;
use crate::nearest::{hint, nearest};
use crate::units::{Bytes, QuantityError};

pub(super) const BACKLOGGED: &str = "backlogged";

/// Table's name (`"websearch"`), one size (`"500kB"`, or bytes), a table with one field of [`CustomSizes`], or, for single
/// flows, `"backlogged"`.
#[derive(Debug, Clone, PartialEq)]
pub enum SizeSpec {
    /// Published distribution.
    Table(&'static SizeTable),
    /// One size.
    Fixed(Bytes),
    /// The scenario's own distribution.
    Custom(CustomSizes),
    /// Data until the end of the entry or the simulation.
    Backlogged,
}

/// Size distribution of the scenario's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CustomSizes {
    /// Corners of a CDF, `[[size, cumulative percent], …]`: neither number falls, the last percentage is 100. Sizes
    /// between two corners are interpolated linearly; two corners of equal size are a jump; a first percentage above 0
    /// is the share of flows with exactly the first size.
    Points(Vec<(Bytes, f64)>),
    /// File with the same corners, one row `bytes percent` each, relative to the scenario's folder.
    File(PathBuf),
    /// Uniform from `min` to `max`, rounded down to whole bytes: `max` itself is never drawn, unless it is `min`.
    Uniform(UniformSizes),
    /// Lognormal.
    Lognormal(LognormalSizes),
    /// Pareto, cut off at `max`: the density falls with the power `alpha + 1` of the size.
    Pareto(ParetoSizes),
    /// Generalised Pareto, such as Atikoglu et al. (SIGMETRICS 2012, sec. 5) fitted to values of the key-value store
    /// ETC above 15 B: `scale = 214`, `shape = 0.348`.
    GeneralizedPareto(GeneralizedParetoSizes),
}

/// Bounds of a uniform size distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformSizes {
    /// Smallest size, at least 1 B.
    pub min: Bytes,
    /// Largest size, at least `min`.
    pub max: Bytes,
}

/// Parameters of a lognormal size distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalSizes {
    /// Mean size, at least 1 B.
    pub mean: Bytes,
    /// Standard deviation of the natural logarithm of the size, more than 0 and at most 10.
    pub sigma: f64,
}

/// Parameters of a bounded Pareto size distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSizes {
    /// Smallest size, at least 1 B.
    pub min: Bytes,
    /// Largest size, more than `min`.
    pub max: Bytes,
    /// Exponent of the tail, more than 0 and at most 100; 1.05 to 1.5 are common for flow sizes.
    pub alpha: f64,
}

/// Parameters of a generalised Pareto size distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneralizedParetoSizes {
    /// Smallest size. Default 0 B; flows have at least 1 B.
    #[serde(default)]
    pub location: Bytes,
    /// Scale, at least 1 B.
    pub scale: Bytes,
    /// Shape, 0 (exponential) or more and less than 1; larger for a heavier tail.
    pub shape: f64,
}

/// Invalid size or name of a size table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SizeSpecError(String);

impl SizeSpec {
    /// `field`: this field's path; relative files start at `base`.
    pub(super) fn law(&self, field: &str, base: &Path) -> Result<SizeLaw, EntryError> {
        match self {
            Self::Table(table) => Ok(table.law()),
            Self::Fixed(Bytes(0)) => Err(EntryError::field(field, Bytes(0), "a size of at least 1B")),
            Self::Fixed(size) => Ok(SizeCdf::fixed(size.0).into()),
            Self::Custom(custom) => custom.law(field, base),
            Self::Backlogged => Err(EntryError::field(
                field,
                BACKLOGGED,
                "a size or a distribution; only single flows of list, shuffle, incast, permutation and all_to_all can be \
                 backlogged",
            )),
        }
    }
}

impl CustomSizes {
    fn law(&self, field: &str, base: &Path) -> Result<SizeLaw, EntryError> {
        let refuse = |name: &str, value: &dyn fmt::Display, allowed: &str| {
            EntryError::field(format!("{field}.{name}"), value, allowed)
        };
        let at_least_1 = |name: &str, size: Bytes| match size {
            Bytes(0) => Err(refuse(name, &size, "a size of at least 1B")),
            _ => Ok(size.0 as f64),
        };
        let within = |name: &str, value: f64, max: f64| match value > 0.0 && value <= max {
            true => Ok(value),
            false => Err(refuse(name, &value, &format!("more than 0 and at most {max}"))),
        };
        match self {
            Self::Points(points) => from_points(field, points).map(SizeLaw::Cdf),
            Self::File(file) => from_file(field, &base.join(file)).map(SizeLaw::Cdf),
            Self::Uniform(UniformSizes { min, max }) => {
                at_least_1("uniform.min", *min)?;
                if max < min {
                    return Err(refuse("uniform.max", max, &format!("at least min, {min}")));
                }
                Ok(SizeCdf::uniform(min.0, max.0).into())
            }
            Self::Lognormal(LognormalSizes { mean, sigma }) => Ok(SizeLaw::Lognormal {
                mean: at_least_1("lognormal.mean", *mean)?,
                sigma: within("lognormal.sigma", *sigma, 10.0)?,
            }),
            Self::Pareto(ParetoSizes { min, max, alpha }) => {
                if max <= min {
                    return Err(refuse("pareto.max", max, &format!("more than min, {min}")));
                }
                Ok(SizeLaw::BoundedPareto {
                    min: at_least_1("pareto.min", *min)?,
                    max: max.0 as f64,
                    alpha: within("pareto.alpha", *alpha, 100.0)?,
                })
            }
            Self::GeneralizedPareto(GeneralizedParetoSizes { location, scale, shape }) => {
                if !(0.0..1.0).contains(shape) {
                    return Err(refuse("generalized_pareto.shape", shape, "0 or more and less than 1"));
                }
                let scale = at_least_1("generalized_pareto.scale", *scale)?;
                Ok(SizeLaw::GeneralizedPareto { location: location.0 as f64, scale, shape: *shape })
            }
        }
    }
}

fn from_file(field: &str, file: &Path) -> Result<SizeCdf, EntryError> {
    let text = input::read_text(file, input::DOCUMENT)
        .map_err(|why| EntryError::unreadable(format!("{field}.file"), file, why))?;
    cdf_file::parse(&text, file)
}

fn from_points(field: &str, points: &[(Bytes, f64)]) -> Result<SizeCdf, EntryError> {
    let numbers: Vec<(f64, f64)> = points.iter().map(|&(bytes, percent)| (bytes.0 as f64, percent)).collect();
    SizeCdf::from_percent(&numbers).map_err(|error| match points.get(error.point) {
        None => EntryError::field(format!("{field}.points"), "[]", "a list of [size, cumulative percent]"),
        Some((bytes, percent)) => {
            let (part, value) = match error.part {
                Part::Bytes => (0, bytes.to_string()),
                Part::Percent => (1, percent.to_string()),
            };
            EntryError::field(format!("{field}.points[{}][{part}]", error.point), value, error.allowed)
        }
    })
}

impl fmt::Display for SizeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(table) => f.write_str(table.name),
            Self::Fixed(size) => write!(f, "{size}"),
            Self::Backlogged => f.write_str(BACKLOGGED),
            Self::Custom(CustomSizes::Points(points)) => write!(f, "{} points", points.len()),
            Self::Custom(CustomSizes::File(file)) => write!(f, "{}", file.display()),
            Self::Custom(CustomSizes::Uniform(UniformSizes { min, max })) => write!(f, "{min} to {max}"),
            Self::Custom(CustomSizes::Lognormal(LognormalSizes { mean, .. })) => write!(f, "lognormal around {mean}"),
            Self::Custom(CustomSizes::Pareto(ParetoSizes { min, max, .. })) => write!(f, "Pareto from {min} to {max}"),
            Self::Custom(CustomSizes::GeneralizedPareto(sizes)) => {
                write!(f, "generalised Pareto from {}", sizes.location)
            }
        }
    }
}

impl FromStr for SizeSpec {
    type Err = SizeSpecError;

    /// Text that begins like a number is a size.
    fn from_str(text: &str) -> Result<Self, SizeSpecError> {
        let text = text.trim();
        if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            return text.parse().map(Self::Fixed).map_err(|error: QuantityError| SizeSpecError(error.to_string()));
        }
        if text == BACKLOGGED {
            return Ok(Self::Backlogged);
        }
        if text.contains(['.', '/']) {
            return Err(SizeSpecError(format!(
                "`{text}` is neither a size such as \"500kB\" nor a size table; for a file write {{ file = \"{text}\" }}"
            )));
        }
        SizeTable::named(text).map(Self::Table).ok_or_else(|| {
            let names = || SizeTable::names().chain([BACKLOGGED]);
            let what = format!("`{text}` is neither a size such as \"500kB\" nor a size table");
            SizeSpecError(match nearest(text, names()) {
                Some(name) => format!("{what}{}", hint(&Some(name))),
                None => format!("{what} ({})", names().collect::<Vec<_>>().join(", ")),
            })
        })
    }
}

impl Serialize for SizeSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Table(table) => serializer.serialize_str(table.name),
            Self::Fixed(size) => size.serialize(serializer),
            Self::Backlogged => serializer.serialize_str(BACKLOGGED),
            Self::Custom(custom) => custom.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SizeSpec {
    // Serde's untagged enums only report "did not match any variant".
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = SizeSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"500kB\", the name of a size table, or a table such as { uniform = … }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeSpec, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<SizeSpec, E> {
                Ok(SizeSpec::Fixed(Bytes(bytes)))
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<SizeSpec, E> {
                let negative = || E::custom(format!("`{bytes}` is negative: a size is written for example \"500kB\""));
                u64::try_from(bytes).map(|bytes| SizeSpec::Fixed(Bytes(bytes))).map_err(|_| negative())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SizeSpec, A::Error> {
                let custom = CustomSizes::deserialize(MapAccessDeserializer::new(&mut map))?;
                match map.next_key::<String>()? {
                    None => Ok(SizeSpec::Custom(custom)),
                    Some(other) => {
                        Err(de::Error::custom(format!("sizes have one distribution, but `{other}` is here too")))
                    }
                }
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl JsonSchema for SizeSpec {
    fn schema_name() -> Cow<'static, str> {
        "SizeSpec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = SizeTable::names().collect();
        json_schema!({
            "description": "Flow sizes: a table by name, one size, or a distribution",
            "anyOf": [
                { "type": "string", "enum": names, "description": "a published distribution" },
                generator.subschema_for::<Bytes>(),
                generator.subschema_for::<CustomSizes>(),
                { "type": "string", "enum": [BACKLOGGED], "description": "always data to send until the entry's end (TCP and UDP)" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> SizeSpec {
        serde_json::from_str(json).unwrap()
    }
    fn refused(json: &str) -> String {
        serde_json::from_str::<SizeSpec>(json).unwrap_err().to_string()
    }
    fn why(json: &str) -> String {
        read(json).law("sizes", Path::new(".")).unwrap_err().to_string()
    }

    #[test]
    fn all_spellings_are_read_and_written_back() {
        assert_eq!(read("\"websearch\""), SizeSpec::Table(SizeTable::named("websearch").unwrap()));
        assert_eq!(read("\"500kB\""), SizeSpec::Fixed(Bytes(500_000)));
        assert_eq!(read("1000"), SizeSpec::Fixed(Bytes(1000)));
        let custom = [
            r#"{"points":[["0B",0.0],["10kB",100.0]]}"#,
            r#"{"file":"sizes.txt"}"#,
            r#"{"uniform":{"min":"1kB","max":"2kB"}}"#,
            r#"{"lognormal":{"mean":"10kB","sigma":2.0}}"#,
            r#"{"pareto":{"min":"1kB","max":"10MB","alpha":1.2}}"#,
            r#"{"generalized_pareto":{"location":"15B","scale":"214B","shape":0.348238}}"#,
        ];
        for json in custom.iter().copied().chain(["\"fb_hadoop\"", "\"500kB\""]) {
            assert_eq!(serde_json::to_string(&read(json)).unwrap(), json);
        }
        let mean = |json| read(json).law("sizes", Path::new(".")).unwrap().mean();
        assert_eq!(mean(r#"{"points": [[0, 0], ["10kB", 100]]}"#), 5000.0);
        assert_eq!([mean(custom[2]), mean(custom[3])], [1500.0, 10_000.0]);
        assert_eq!(mean(custom[5]), 15.0 + 214.0 / (1.0 - 0.348_238));
        assert_eq!(read("\"websearch_hpcc\""), read("\"websearch\""));
    }

    #[test]
    fn unknown_names_get_the_nearest() {
        let message = refused("\"websaerch\"");
        let said = "`websaerch` is neither a size such as \"500kB\" nor a size table; did you mean `websearch`?";
        assert!(message.starts_with(said), "{message}");
        assert!(refused("\"hadoop\"").contains("did you mean `fb_hadoop`?"));
        assert!(refused("\"datamining_yasp\"").contains("did you mean `datamining_yaps`?"));
        assert!(refused("\"zipf\"").contains("nor a size table (ali_solar2022"));
        assert!(refused("\"sizes.csv\"").contains("nor a size table; for a file write { file = \"sizes.csv\" }"));
    }

    #[test]
    fn mistakes_are_named() {
        let two = r#"{"points": [[0, 0], ["1kB", 100]], "interpolation": "step"}"#;
        assert!(refused(two).contains("sizes have one distribution, but `interpolation` is here too"));
        assert!(refused("\"5 parsecs\"").contains("`5 parsecs` is not a size: unknown unit `parsecs`"));
        assert!(refused("-5").contains("`-5` is negative"));
        assert!(refused("true").contains("expected a size such as"));
        assert!(refused(r#"{"pionts": []}"#).contains("unknown variant `pionts`, expected one of `points`"));
        assert!(refused(r#"{"uniform": {"min": 1, "top": 2}}"#).contains("unknown field `top`"));
        assert_eq!(why("0"), "sizes = 0B: must be a size of at least 1B");
        assert_eq!(
            why(r#"{"uniform": {"min": 0, "max": 2}}"#),
            "sizes.uniform.min = 0B: must be a size of at least 1B"
        );
        assert_eq!(why(r#"{"uniform": {"min": 3, "max": 2}}"#), "sizes.uniform.max = 2B: must be at least min, 3B");
        assert_eq!(why(r#"{"points": []}"#), "sizes.points = []: must be a list of [size, cumulative percent]");
        assert_eq!(
            why(r#"{"points": [[1, 50], [2, 90]]}"#),
            "sizes.points[1][1] = 90: must be 100 (percent) at the last point"
        );
        assert_eq!(
            why(r#"{"points": [[5, 50], [2, 100]]}"#),
            "sizes.points[1][0] = 2B: must be at least the size before it, 5 B"
        );
        let lognormal = |rest: &str| why(&format!(r#"{{"lognormal": {{{rest}}}}}"#));
        assert_eq!(
            lognormal(r#""mean": "1kB", "sigma": 0"#),
            "sizes.lognormal.sigma = 0: must be more than 0 and at most 10"
        );
        assert!(lognormal(r#""mean": 0, "sigma": 1"#).starts_with("sizes.lognormal.mean = 0B: must be a size of at"));
        assert_eq!(
            why(r#"{"pareto": {"min": 5, "max": 5, "alpha": 1.2}}"#),
            "sizes.pareto.max = 5B: must be more than min, 5B"
        );
        assert!(why(r#"{"pareto": {"min": 5, "max": 9, "alpha": -1}}"#).starts_with("sizes.pareto.alpha = -1: must"));
        assert_eq!(
            why(r#"{"generalized_pareto": {"scale": 5, "shape": 1}}"#),
            "sizes.generalized_pareto.shape = 1: must be 0 or more and less than 1"
        );
        assert!(why(r#"{"file": "no-such-file"}"#).starts_with("sizes.file: cannot read ./no-such-file: "));
    }

    #[test]
    fn the_schema_lists_the_tables() {
        let schema = serde_json::to_string(&schemars::schema_for!(SizeSpec)).unwrap();
        for name in SizeTable::names() {
            assert!(schema.contains(&format!("\"{name}\"")), "{name}: {schema}");
        }
    }
}
