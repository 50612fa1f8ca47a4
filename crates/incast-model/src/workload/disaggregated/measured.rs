//! Gaps and sizes measured in one small system, for every simulated system.

use std::collections::BTreeMap;
use std::path::Path;

use super::applications::Kind;
use super::blades::{Blade, Blades};
use crate::entry::{EntryError, Place};
use crate::rng::{Stream, unit};
use crate::workload::table_file::whole;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pair {
    /// In ps, sorted, with the time to the first flow.
    gaps: Vec<u64>,
    sizes: Vec<u64>,
}

impl Pair {
    /// Interpolated between measured gaps.
    pub(super) fn gap(&self, rng: &mut Stream) -> u64 {
        let place = unit(rng) * (self.gaps.len() - 1) as f64;
        let below = place as usize;
        match self.gaps[below..] {
            [low, high, ..] => low + ((high - low) as f64 * (place - below as f64)) as u64,
            [only] => only,
            [] => unreachable!("a pair has a flow"),
        }
    }

    /// Remainder of a length-biased gap.
    pub(super) fn first_gap(&self, rng: &mut Stream) -> u64 {
        let mut place = unit(rng) * self.gaps.iter().sum::<u64>() as f64;
        for &gap in &self.gaps {
            if place < gap as f64 {
                return (gap as f64 - place) as u64;
            }
            place -= gap as f64;
        }
        0
    }

    pub(super) fn size(&self, rng: &mut Stream) -> u64 {
        self.sizes[(unit(rng) * self.sizes.len() as f64) as usize]
    }

    pub(super) fn mean_size(&self) -> f64 {
        self.sizes.iter().map(|&size| size as f64).sum::<f64>() / self.sizes.len() as f64
    }

    pub(super) fn expected(&self, length: f64) -> f64 {
        length * self.gaps.len() as f64 / (self.gaps.iter().sum::<u64>() as f64).max(1.0)
    }
}

pub(super) type Pairs = BTreeMap<(Blade, Blade, Kind), Pair>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    /// In ps.
    Time(u64),
    Src,
    Dst,
    Size,
    Address,
    Kind,
}

const COLUMNS: [(&str, Column); 9] = [
    ("time_ps", Column::Time(1)),
    ("time_ns", Column::Time(1_000)),
    ("time_us", Column::Time(1_000_000)),
    ("time_s", Column::Time(1_000_000_000_000)),
    ("src", Column::Src),
    ("dst", Column::Dst),
    ("size_bytes", Column::Size),
    ("address", Column::Address),
    ("kind", Column::Kind),
];

#[derive(Default)]
struct Row {
    time: u64,
    src: Option<Blade>,
    dst: Option<Blade>,
    size: Option<u64>,
    kind: Option<Kind>,
}

/// `page`: size of flows with an address only.
pub(super) fn parse(text: &str, file: &Path, blades: &Blades, page: u64) -> Result<Pairs, EntryError> {
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
    let (_, header) = lines.next().unwrap_or_default();
    let columns = columns(header, file)?;
    let (mut pairs, mut before, mut begin) = (Pairs::new(), 0, None);
    let mut last: BTreeMap<(Blade, Blade, Kind), u64> = BTreeMap::new();
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let place = |column| Place { file, line: index + 1, column };
        let count = line.split(',').count();
        if count != columns.len() {
            let allowed = format!("{} cells, as in the header; there are {count}", columns.len());
            return Err(EntryError::file(&place(1), line.trim(), allowed));
        }
        let (mut row, mut column) = (Row::default(), 1);
        for (cell, kind) in line.split(',').zip(&columns) {
            let text = cell.trim();
            let at = column + cell.chars().take_while(|c| c.is_whitespace()).count();
            column += cell.chars().count() + 1;
            row.read(*kind, text, blades, before).map_err(|allowed| EntryError::file(&place(at), text, allowed))?;
        }
        before = row.time;
        let begin = *begin.get_or_insert(row.time);
        let (Some(src), Some(dst)) = (row.src, row.dst) else { continue };
        let kind = row.kind.or(blades.kind(src, dst)).ok_or_else(|| {
            let allowed = "two blades that exchange something: CPUs with each other, with memory or with disks";
            EntryError::file(&place(1), line.trim(), allowed)
        })?;
        let from = last.insert((src, dst, kind), row.time).unwrap_or(begin);
        let pair = pairs.entry((src, dst, kind)).or_default();
        pair.gaps.push(row.time - from);
        pair.sizes.push(row.size.unwrap_or(page));
    }
    pairs.values_mut().for_each(|pair| pair.gaps.sort_unstable());
    let top = Place { file, line: 1, column: 1 };
    if pairs.is_empty() {
        return Err(EntryError::file(&top, header.trim(), "followed by flows"));
    }
    match pairs.iter().find(|(_, pair)| pair.gaps.last() == Some(&0)) {
        Some(((src, dst, _), _)) => {
            let allowed = "a pair with flows at several times: gaps are drawn from those between them";
            Err(EntryError::file(&top, format!("{src} to {dst}"), allowed))
        }
        None => Ok(pairs),
    }
}

impl Row {
    /// Errors state the allowed values. `before`: the previous line's time.
    fn read(&mut self, column: Column, text: &str, blades: &Blades, before: u64) -> Result<(), String> {
        match column {
            Column::Time(factor) => {
                let time = time(text, factor).ok_or("a time of 0 or more, without a unit")?;
                if time < before {
                    return Err("no earlier than the line before: gaps between flows are not negative".into());
                }
                self.time = time;
            }
            Column::Src => self.src = Some(blades.named(text).ok_or_else(|| blades.rule())?),
            Column::Dst => self.dst = Some(blades.named(text).ok_or_else(|| blades.rule())?),
            Column::Size => match whole(text) {
                Some(bytes) if bytes > 0 => self.size = Some(bytes),
                _ => return Err("a whole number of bytes, at least 1".into()),
            },
            // The network needs no identity of pages.
            Column::Address if !is_address(text) => {
                return Err("the address of a page: decimal or hexadecimal digits".into());
            }
            Column::Address => {}
            Column::Kind => {
                let known = Kind::ALL.into_iter().find(|kind| kind.name() == text);
                self.kind = Some(known.ok_or("memory, disk or network")?);
            }
        }
        Ok(())
    }
}

fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn time(text: &str, factor: u64) -> Option<u64> {
    if let Ok(whole) = text.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let ps = (text.parse::<f64>().ok()? * factor as f64).round();
    (ps >= 0.0 && ps < u64::MAX as f64).then_some(ps as u64)
}

fn columns(header: &str, file: &Path) -> Result<Vec<Column>, EntryError> {
    let names = || COLUMNS.iter().map(|(name, _)| *name);
    let mut found: Vec<Column> = Vec::new();
    let same = |a: &Column, b: &Column| std::mem::discriminant(a) == std::mem::discriminant(b);
    let mut column = 1;
    for cell in header.split(',') {
        let name = cell.trim();
        let place = Place { file, line: 1, column: column + cell.chars().take_while(|c| c.is_whitespace()).count() };
        column += cell.chars().count() + 1;
        let Some((_, kind)) = COLUMNS.iter().find(|(known, _)| *known == name) else {
            let allowed = format!("a column of such a trace ({})", names().collect::<Vec<_>>().join(", "));
            return Err(EntryError::file(&place, name, allowed).near(names()));
        };
        if found.iter().any(|other| same(other, kind)) {
            return Err(EntryError::file(&place, name, "the only column of its kind"));
        }
        found.push(*kind);
    }
    let has = |wanted: Column| found.iter().any(|other| same(other, &wanted));
    let needed = [
        (has(Column::Time(1)), "time_s"),
        (has(Column::Src), "src"),
        (has(Column::Dst), "dst"),
        (has(Column::Size) || has(Column::Address), "size_bytes or address"),
    ];
    match needed.into_iter().find(|(there, _)| !there) {
        None => Ok(found),
        Some((_, name)) => {
            let place = Place { file, line: 1, column: 1 };
            Err(EntryError::file(&place, header.trim(), format!("a header with a column {name}")))
        }
    }
}
