//! [`Time`] (integer picoseconds), [`Rate`] (bit/s) and [`Bytes`]. Prefixes are decimal (kB, MB, GB) or binary (KiB, MiB, GiB).

use std::borrow::Cow;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Invalid quantity, with the allowed form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QuantityError(String);

/// Largest first.
type Units = &'static [(&'static str, u64)];

const TIME: Units = &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];
const RATE: Units =
    &[("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)];
const SIZE: Units = &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)];

/// Read, never printed.
const TIME_ALIASES: Units = &[("µs", 1_000_000), ("μs", 1_000_000)];
const RATE_ALIASES: Units = &[
    ("Gb/s", 1_000_000_000),
    ("Mb/s", 1_000_000),
    ("kb/s", 1_000),
    ("Tb/s", 1_000_000_000_000),
    ("b/s", 1),
    ("bit/s", 1),
    ("Kbps", 1_000),
];
const SIZE_ALIASES: Units = &[("KB", 1_000), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
/// For sizes that are whole numbers of them and not of thousands.
const BINARY: Units = &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $units:ident, $aliases:ident, $what:literal, $example:literal, bare: $bare:literal, binary: $binary:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u64);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// Largest value.
            pub const MAX: Self = Self(u64::MAX);

            /// Difference, or zero if `other` is larger.
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Mul<u64> for $name {
            type Output = Self;
            fn mul(self, factor: u64) -> Self {
                Self(self.0 * factor)
            }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, Add::add)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = print(self.0, $units, $binary);
                if f.alternate() { f.pad(&spaced(&text)) } else { f.pad(&text) }
            }
        }

        impl FromStr for $name {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                parse(text, &[$units, $aliases], $bare)
                    .map(Self)
                    .map_err(|why| QuantityError(format!(concat!("`{}` is not ", $what, ": {}; write for example ", $example), text, why)))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!($what, " such as ", $example))
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_u64<E: de::Error>(self, value: u64) -> Result<$name, E> {
                        if $bare {
                            Ok($name(value))
                        } else {
                            Err(E::custom(format!(concat!("`{}` has no unit: ", $what, " is written for example ", $example), value)))
                        }
                    }
                    fn visit_i64<E: de::Error>(self, value: i64) -> Result<$name, E> {
                        match u64::try_from(value) {
                            Ok(value) => self.visit_u64(value),
                            Err(_) => Err(E::custom(format!(concat!("`{}` is negative: ", $what, " is written for example ", $example), value))),
                        }
                    }
                    fn visit_f64<E: de::Error>(self, value: f64) -> Result<$name, E> {
                        Err(E::custom(format!(concat!("`{}` has no unit: ", $what, " is written for example ", $example), value)))
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": if $bare { vec!["string", "integer"] } else { vec!["string"] }, "examples": [$example.trim_matches('"')], "description": concat!($what, ", written for example ", $example) })
            }
        }
    };
}

quantity!(
    /// Point in simulated time, or a duration, in integer picoseconds (up to 213 days).
    Time, TIME, TIME_ALIASES, "a time", "\"200ns\"", bare: false, binary: &[]
);
quantity!(
    /// Data rate in bit/s.
    Rate, RATE, RATE_ALIASES, "a rate", "\"100Gbps\"", bare: false, binary: &[]
);
quantity!(
    /// Number of bytes.
    Bytes, SIZE, SIZE_ALIASES, "a size", "\"32MB\"", bare: true, binary: BINARY
);

impl Time {
    /// Nanoseconds.
    pub const fn ns(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// Microseconds.
    pub const fn us(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// Milliseconds.
    pub const fn ms(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// Seconds, for people and statistics, not to order events.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

impl Rate {
    /// Gbit/s.
    pub const fn gbps(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// Mbit/s.
    pub const fn mbps(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// Picoseconds per byte, if an integer (80 at 100 Gb/s).
    pub const fn ps_per_byte(self) -> Option<u64> {
        if self.0 != 0 && 8_000_000_000_000 % self.0 == 0 { Some(8_000_000_000_000 / self.0) } else { None }
    }
    /// Time to send `bytes`, rounded up to a whole picosecond.
    pub const fn time_for(self, bytes: u64) -> Time {
        Time((bytes as u128 * 8_000_000_000_000).div_ceil(self.0 as u128) as u64)
    }
}

/// Rounds down to three digits: 4169981 to 4160000.
pub const fn floor3(number: u64) -> u64 {
    number / unit3(number) * unit3(number)
}

/// Rounds up to three digits: 4169981 to 4170000.
pub const fn ceil3(number: u64) -> u64 {
    number.div_ceil(unit3(number)).saturating_mul(unit3(number))
}

/// Rounds to three digits: 4169981 to 4170000.
pub const fn round3(number: u64) -> u64 {
    number.saturating_add(unit3(number) / 2) / unit3(number) * unit3(number)
}

const fn unit3(number: u64) -> u64 {
    match number.checked_ilog10() {
        Some(digits) => 10u64.pow(digits.saturating_sub(2)),
        None => 1,
    }
}

fn parse(text: &str, units: &[Units], bare: bool) -> Result<u64, String> {
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_' || c == '-' || c == '+'))
        .unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let binary = units.iter().skip(1).flat_map(|table| table.iter()).filter(|(name, _)| name.ends_with("iB"));
    let names = || units[0].iter().chain(binary.clone()).map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let factor = match units.iter().flat_map(|table| table.iter()).find(|(name, _)| *name == unit) {
        Some((_, factor)) => *factor,
        None if unit.is_empty() && bare => 1,
        None if unit.is_empty() => return Err(format!("it has no unit (allowed: {})", names())),
        None => return Err(format!("unknown unit `{unit}` (allowed: {})", names())),
    };
    if number.starts_with('-') {
        return Err("it is negative".into());
    }
    scale(number.strip_prefix('+').unwrap_or(&number), factor)
}

/// Multiplies decimal digits, with at most one point, exactly.
pub(crate) fn scale(number: &str, factor: u64) -> Result<u64, String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("it does not begin with a number".into());
    }
    let digits: u128 = digits.parse().map_err(|_| "too many digits".to_string())?;
    let divisor = 10u128.checked_pow(fraction.len() as u32).ok_or("too many digits")?;
    let scaled = digits.checked_mul(u128::from(factor)).ok_or("too large")?;
    if scaled % divisor != 0 {
        return Err("it is finer than the smallest unit held".into());
    }
    u64::try_from(scaled / divisor).map_err(|_| "too large".into())
}

fn spaced(text: &str) -> String {
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    format!("{} {}", &text[..unit], text[unit..].replace("bps", "b/s"))
}

/// In the largest unit with at most three decimals, or in a binary unit if `value` is a whole number of it and not of
/// thousands.
fn print(value: u64, units: Units, binary: Units) -> String {
    let whole = |factor: u64| value >= factor && value.is_multiple_of(factor);
    if !value.is_multiple_of(1000)
        && let Some((name, factor)) = binary.iter().find(|(_, factor)| whole(*factor))
    {
        return format!("{}{name}", value / factor);
    }
    for &(name, factor) in units {
        if whole(factor) {
            return format!("{}{name}", value / factor);
        }
        if factor >= 1000 && value >= factor && whole(factor / 1000) {
            let text = format!("{}.{:03}", value / factor, value % factor / (factor / 1000));
            return format!("{}{name}", text.trim_end_matches('0'));
        }
    }
    format!("{value}{}", units[units.len() - 1].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!("100Gbps".parse(), Ok(Rate::gbps(100)));
        assert_eq!("0.5 us".parse(), Ok(Time::ns(500)));
        assert_eq!("32MiB".parse(), Ok(Bytes(33_554_432)));
        assert_eq!("1_000".parse(), Ok(Bytes(1000)));
        assert_eq!("1.5µs".parse(), Ok(Time::ns(1500)));
    }

    #[test]
    fn says_what_is_wrong() {
        let why = |text: &str| text.parse::<Time>().unwrap_err().to_string();
        assert_eq!(
            why("200"),
            "`200` is not a time: it has no unit (allowed: s, ms, us, ns, ps); write for example \"200ns\""
        );
        assert!(why("3 parsecs").contains("unknown unit `parsecs`"));
        assert!("1kiB".parse::<Bytes>().unwrap_err().to_string().contains("(allowed: GB, MB, kB, B, GiB, MiB, KiB)"));
        assert!(why("-3us").contains("negative"));
        assert!(why("0.5ps").contains("finer"));
        assert!(why("99999999999999s").contains("too large"));
    }

    #[test]
    fn prints_what_it_reads_back() {
        for value in [0, 1, 999, 1000, 1500, 12_240_000, 1_234_567, 4_160_000_000_001] {
            assert_eq!(Time(value).to_string().parse(), Ok(Time(value)), "{}", Time(value));
        }
        assert_eq!(Time::ns(1500).to_string(), "1.5us");
        assert_eq!(Rate::gbps(100).to_string(), "100Gbps");
        assert_eq!(Bytes(0).to_string(), "0B");
        assert_eq!(Bytes(32 << 20).to_string(), "32MiB");
        assert_eq!(Bytes(4096).to_string(), "4KiB");
        assert_eq!(Bytes(32_000_000).to_string(), "32MB");
        assert_eq!(Bytes(1048).to_string(), "1.048kB");
        assert_eq!(
            format!("{:#}, {:#}, {:#}", Rate::gbps(100), Time::ns(1500), Bytes(4096)),
            "100 Gb/s, 1.5 us, 4 KiB"
        );
    }

    #[test]
    fn serialisation_is_exact() {
        assert_eq!(Rate::gbps(100).ps_per_byte(), Some(80));
        assert_eq!(Rate::gbps(400).ps_per_byte(), Some(20));
        assert_eq!(Rate(3_000_000_000).ps_per_byte(), None);
        assert_eq!(Rate::gbps(100).time_for(1048), Time(83_840));
        assert_eq!(Rate(3_000_000_000).time_for(1), Time(2667));
    }
}
