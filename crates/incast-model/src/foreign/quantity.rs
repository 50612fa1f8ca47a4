//! Rates and times in ns-3's spelling (data-rate.cc and time.cc of ns-3.17).

use super::error::Ns3Error;
use super::tokens::{Token, Tokens};
use crate::nearest::nearest;
use crate::units::{Rate, Time, scale};

/// In bit/s: `b` bits, `B` bytes; decimal k, M, G, binary Ki, Mi, Gi.
const RATES: &[(&str, u64)] = &[
    ("bps", 1),
    ("b/s", 1),
    ("Bps", 8),
    ("B/s", 8),
    ("kbps", 1_000),
    ("kb/s", 1_000),
    ("Kbps", 1_000),
    ("Kb/s", 1_000),
    ("kBps", 8_000),
    ("kB/s", 8_000),
    ("KBps", 8_000),
    ("KB/s", 8_000),
    ("Kib/s", 1 << 10),
    ("KiB/s", 1 << 13),
    ("Mbps", 1_000_000),
    ("Mb/s", 1_000_000),
    ("MBps", 8_000_000),
    ("MB/s", 8_000_000),
    ("Mib/s", 1 << 20),
    ("MiB/s", 1 << 23),
    ("Gbps", 1_000_000_000),
    ("Gb/s", 1_000_000_000),
    ("GBps", 8_000_000_000),
    ("GB/s", 8_000_000_000),
    ("Gib/s", 1 << 30),
    ("GiB/s", 1 << 33),
];

/// In ps; our clock has no femtoseconds.
const TIMES: &[(&str, u64)] =
    &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];

/// A bare number is bit/s.
pub(crate) fn rate(tokens: &Tokens<'_>, token: Token<'_>, field: &str) -> Result<Rate, Ns3Error> {
    match exact(token.text, RATES, 1) {
        Ok(0) => Err(tokens.wrong(token, field, "a rate above 0, such as 100Gbps")),
        Ok(value) => Ok(Rate(value)),
        Err(why) => Err(explain(tokens, token, field, why, "a rate such as 100Gbps or 25Mb/s, or bare bit/s", RATES)),
    }
}

/// A bare number is seconds.
pub(crate) fn time(tokens: &Tokens<'_>, token: Token<'_>, field: &str) -> Result<Time, Ns3Error> {
    match exact(token.text, TIMES, 1_000_000_000_000) {
        Ok(value) => Ok(Time(value)),
        Err(why) => Err(explain(tokens, token, field, why, "a time such as 1000ns or 0.001ms, or bare seconds", TIMES)),
    }
}

pub(crate) fn decimal(text: &str, factor: u64) -> Result<u64, String> {
    exact(text, &[], factor).map_err(|why| match why {
        Wrong::Number(why) => why,
        Wrong::Unit(unit) => format!("`{unit}` after the number"),
    })
}

enum Wrong {
    Number(String),
    Unit(String),
}

fn exact(text: &str, units: &[(&str, u64)], bare: u64) -> Result<u64, Wrong> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match units.iter().find(|(name, _)| *name == unit) {
        Some(&(_, factor)) => factor,
        None if unit.is_empty() => bare,
        None if number.is_empty() => return Err(Wrong::Number("it does not begin with a number".into())),
        None => return Err(Wrong::Unit(unit.into())),
    };
    scale(number, factor).map_err(Wrong::Number)
}

fn explain(
    tokens: &Tokens<'_>,
    token: Token<'_>,
    field: &str,
    why: Wrong,
    example: &str,
    units: &[(&str, u64)],
) -> Ns3Error {
    let names = || units.iter().map(|(name, _)| *name);
    let (allowed, close) = match why {
        Wrong::Number(why) => (format!("{example} ({why})"), None),
        Wrong::Unit(unit) => {
            let list: Vec<&str> = names().collect();
            (format!("{example} (unknown unit `{unit}`; units: {})", list.join(", ")), nearest(&unit, names()))
        }
    };
    Ns3Error::Value {
        file: tokens.file().into(),
        line: token.line,
        at: Some(token.at),
        field: field.into(),
        value: token.text.into(),
        allowed: allowed.into(),
        nearest: close.map(Box::from),
    }
}

/// ns-3 has no Tbps.
pub(crate) fn write_rate(rate: Rate) -> String {
    match rate.0 {
        bps if bps % 1_000_000_000 == 0 => format!("{}Gbps", bps / 1_000_000_000),
        bps if bps % 1_000_000 == 0 => format!("{}Mbps", bps / 1_000_000),
        bps => format!("{bps}bps"),
    }
}

/// In ns, ns-3's clock, or if finer in ps.
pub(crate) fn write_time(time: Time) -> String {
    if time.0.is_multiple_of(1000) { format!("{}ns", time.0 / 1000) } else { format!("{}ps", time.0) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn as_rate(text: &str) -> Result<Rate, Ns3Error> {
        let mut tokens = Tokens::new(text, "t.txt");
        let token = tokens.want("rate", "1").unwrap();
        rate(&tokens, token, "the rate")
    }

    fn as_time(text: &str) -> Result<Time, Ns3Error> {
        let mut tokens = Tokens::new(text, "t.txt");
        let token = tokens.want("time", "1").unwrap();
        time(&tokens, token, "the delay")
    }

    #[test]
    fn the_spellings_of_ns3() {
        assert_eq!(as_rate("100Gbps"), Ok(Rate::gbps(100)));
        assert_eq!(as_rate("2.5GB/s"), Ok(Rate::gbps(20)));
        assert_eq!(as_rate("1Kib/s"), Ok(Rate(1024)));
        assert_eq!(as_rate("25000000000.0"), Ok(Rate::gbps(25)));
        assert_eq!(as_time("0.001ms"), Ok(Time::us(1)));
        assert_eq!(as_time("1000ns"), Ok(Time::us(1)));
        assert_eq!(as_time("0.5"), Ok(Time::ms(500)));
    }

    #[test]
    fn other_spellings_are_explained() {
        let message = as_rate("100Gbsp").unwrap_err().to_string();
        assert!(message.starts_with("t.txt:1: the rate is `100Gbsp`; allowed: a rate such as 100Gbps"), "{message}");
        assert!(message.ends_with("did you mean `Gbps`?"), "{message}");
        assert!(as_rate("0Gbps").unwrap_err().to_string().contains("above 0"));
        assert!(as_rate("Gbps").unwrap_err().to_string().contains("does not begin with a number"));
        assert!(as_time("-1us").unwrap_err().to_string().contains("does not begin with a number"));
        assert!(as_time("0.1ps").unwrap_err().to_string().contains("finer"));
        assert!(as_time("1fs").unwrap_err().to_string().contains("unknown unit `fs`"));
    }

    proptest! {
        #[test]
        fn written_ones_are_read_back(bps in 1..u64::MAX, ps: u64) {
            prop_assert_eq!(as_rate(&write_rate(Rate(bps))), Ok(Rate(bps)));
            prop_assert_eq!(as_time(&write_time(Time(ps))), Ok(Time(ps)));
        }
    }
}
