use std::fmt::Display;
use std::path::PathBuf;

use crate::foreign::{Ns3Error, Tokens, quantity};
use crate::units::{Bytes, Rate, Time};

/// ns-3's congestion control (CC_MODE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CcMode {
    /// 1.
    Dcqcn,
    /// 3.
    Hpcc,
    /// 7.
    Timely,
    /// 8.
    Dctcp,
    /// 10.
    HpccPint,
}

/// Failure of a link (LINK_DOWN).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkDown {
    /// Time of the failure after 2 s; 0 for never.
    pub after: Time,
    /// One end.
    pub a: u32,
    /// Other end.
    pub b: u32,
}

type Read<T> = Result<T, Ns3Error>;

fn missing(key: &str) -> String {
    format!("a value of {key}")
}

fn parsed<T>(
    tokens: &mut Tokens<'_>,
    key: &str,
    allowed: impl Display,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Read<T> {
    let token = tokens.want(missing(key), &allowed)?;
    parse(token.text).ok_or_else(|| tokens.wrong(token, key, allowed))
}

pub(super) fn flag(tokens: &mut Tokens<'_>, key: &str) -> Read<bool> {
    parsed(tokens, key, "0 (no) or 1 (yes)", |text| match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    })
}

pub(super) fn count(tokens: &mut Tokens<'_>, key: &str) -> Read<u32> {
    tokens.number(key, (0, u32::MAX), "an integer")
}

pub(super) fn real(tokens: &mut Tokens<'_>, key: &str) -> Read<f64> {
    parsed(tokens, key, "a number of 0 or more", |text| text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0))
}

pub(super) fn fraction(tokens: &mut Tokens<'_>, key: &str) -> Read<f64> {
    parsed(tokens, key, "a number from 0 to 1", |text| text.parse().ok().filter(|x| (0.0..=1.0).contains(x)))
}

pub(super) fn rate(tokens: &mut Tokens<'_>, key: &str) -> Read<Rate> {
    let token = tokens.want(missing(key), "a rate such as 100Gbps")?;
    quantity::rate(tokens, token, key)
}

pub(super) fn time(tokens: &mut Tokens<'_>, key: &str) -> Read<Time> {
    let token = tokens.want(missing(key), "a time such as 1000ns")?;
    quantity::time(tokens, token, key)
}

fn bare(tokens: &mut Tokens<'_>, key: &str, unit: &str, factor: u64) -> Read<Time> {
    let allowed = format!("a number of {unit} (without unit)");
    let token = tokens.want(missing(key), &allowed)?;
    quantity::decimal(token.text, factor)
        .map(Time)
        .map_err(|why| tokens.wrong(token, key, format!("{allowed} ({why})")))
}

pub(super) fn nanoseconds(tokens: &mut Tokens<'_>, key: &str) -> Read<Time> {
    bare(tokens, key, "nanoseconds", 1_000)
}

pub(super) fn microseconds(tokens: &mut Tokens<'_>, key: &str) -> Read<Time> {
    bare(tokens, key, "microseconds", 1_000_000)
}

pub(super) fn seconds(tokens: &mut Tokens<'_>, key: &str) -> Read<Time> {
    bare(tokens, key, "seconds", 1_000_000_000_000)
}

pub(super) fn bytes(tokens: &mut Tokens<'_>, key: &str) -> Read<Bytes> {
    count(tokens, key).map(|n| Bytes(n.into()))
}

/// MiB: ns-3 multiplies by 2^20.
pub(super) fn mebibytes(tokens: &mut Tokens<'_>, key: &str) -> Read<Bytes> {
    count(tokens, key).map(|n| Bytes(u64::from(n) << 20))
}

pub(super) fn path(tokens: &mut Tokens<'_>, key: &str) -> Read<PathBuf> {
    tokens.want(missing(key), "a file name without white space").map(|token| token.text.into())
}

pub(super) fn cc_mode(tokens: &mut Tokens<'_>, key: &str) -> Read<CcMode> {
    let allowed = "1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP) or 10 (HPCC-PINT)";
    parsed(tokens, key, allowed, |text| match text {
        "1" => Some(CcMode::Dcqcn),
        "3" => Some(CcMode::Hpcc),
        "7" => Some(CcMode::Timely),
        "8" => Some(CcMode::Dctcp),
        "10" => Some(CcMode::HpccPint),
        _ => None,
    })
}

pub(super) fn link_down(tokens: &mut Tokens<'_>, key: &str) -> Read<LinkDown> {
    Ok(LinkDown { after: microseconds(tokens, key)?, a: count(tokens, key)?, b: count(tokens, key)? })
}

fn map<T>(
    tokens: &mut Tokens<'_>,
    key: &str,
    mut value: impl FnMut(&mut Tokens<'_>) -> Read<T>,
) -> Read<Vec<(Rate, T)>> {
    let entries: u32 = tokens.number(key, (0, 1000), "the number of rates, then each rate in bit/s and its value")?;
    let mut map: Vec<(Rate, T)> = Vec::new();
    for _ in 0..entries {
        let token = tokens.want(missing(key), format!("{entries} rates with a value each"))?;
        let rate = quantity::rate(tokens, token, key)?;
        if map.iter().any(|&(other, _)| other == rate) {
            return Err(tokens.wrong(token, key, "every rate once"));
        }
        map.push((rate, value(tokens)?));
    }
    Ok(map)
}

/// Reads `n (rate kB)…`; ns-3's kB is 1000 bytes.
pub(super) fn kilobytes_by_rate(tokens: &mut Tokens<'_>, key: &str) -> Read<Vec<(Rate, Bytes)>> {
    map(tokens, key, |tokens| count(tokens, key).map(|n| Bytes(u64::from(n) * 1000)))
}

pub(super) fn fraction_by_rate(tokens: &mut Tokens<'_>, key: &str) -> Read<Vec<(Rate, f64)>> {
    map(tokens, key, |tokens| fraction(tokens, key))
}
