//! Slowdown by flow size: completion time relative to an idle fabric.

use std::fmt;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use incast_model::flow::FlowSet;
use incast_model::units::Bytes;
use incast_sim::measure::Ideal;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::error::ResultsError;
use super::read::Results;
use super::simulate::SchemeRun;

/// Options of slowdown tables. Defaults follow the HPCC authors' script (`fct_analysis.py`, commit 9f4be2a), which however
/// omits the largest flow (last line of its sorted input) and cuts bins at equal counts, even within one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlowdownOptions {
    /// Bins of nearly equal count. Default 20; fewer for few sizes: see [`slowdown_bins`].
    pub bins: usize,
    /// Reference time. Default: HPCC's ideal.
    pub ideal: Ideal,
    /// If true, slowdowns below 1 count as 1. Default true.
    pub clamp: bool,
    /// If true, omits the largest finished flow, like the script. Default false.
    pub drop_largest: bool,
    /// Labels to include; empty: all.
    pub labels: Vec<String>,
}

impl Default for SlowdownOptions {
    fn default() -> Self {
        Self { bins: 20, ideal: Ideal::Hpcc, clamp: true, drop_largest: false, labels: Vec::new() }
    }
}

/// Slowdowns of a group of flows under a scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowdownRow {
    /// Scheme.
    pub scheme: String,
    /// Flows counted.
    pub flows: usize,
    /// Smallest size in bytes.
    pub size_min: u64,
    /// Largest size in bytes, the label of a bin.
    pub size_max: u64,
    /// Median: element floor(n/2) of the sorted slowdowns.
    pub p50: f64,
    /// 95th percentile: element floor(0.95 n).
    pub p95: f64,
    /// 99th percentile: element floor(0.99 n).
    pub p99: f64,
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: f64,
}

/// Slowdowns by scheme: overall, by label, by size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowdownTable {
    /// Options of the table.
    pub options: SlowdownOptions,
    /// Schemes, in the scenario's order.
    pub schemes: Vec<String>,
    /// Unfinished flows by scheme; no row counts them.
    pub unfinished: Vec<usize>,
    /// One row per scheme with finished flows.
    pub overall: Vec<SlowdownRow>,
    /// Rows by label.
    pub by_label: IndexMap<String, Vec<SlowdownRow>>,
    /// Rows by size, smallest in bin 0; none for merged bins.
    pub bins: Vec<Vec<SlowdownRow>>,
}

/// Started flows: scheme, label, size, slowdown (`None`: not finished).
#[derive(Debug, Clone, Default)]
pub struct Finished {
    schemes: Vec<String>,
    labels: Vec<String>,
    rows: Vec<(usize, usize, u64, Option<f64>)>,
}

impl Finished {
    /// Reads flows of a results folder.
    pub fn of_results(results: &Results, ideal: Ideal) -> Result<Self, ResultsError> {
        let mut all = Self { schemes: results.manifest().schemes.keys().cloned().collect(), ..Self::default() };
        for batch in
            results.columns("flows", &["scheme", "label", "size_bytes", "start_ps", "backlogged", of(ideal)])?
        {
            all.add_batch(&batch?, ideal).ok_or_else(|| {
                ResultsError::damaged(&results.folder().join("flows.parquet"), "it lacks a column that this needs")
            })?;
        }
        Ok(all)
    }

    /// Flows of runs in memory.
    pub fn of_runs(flows: &FlowSet, runs: &[SchemeRun], ideal: Ideal) -> Self {
        let mut all = Self { labels: flows.labels.clone(), ..Self::default() };
        for (scheme, run) in runs.iter().enumerate() {
            all.schemes.push(run.name.clone());
            let sized = flows.flows.iter().zip(&run.outcome.flows).filter(|(flow, _)| flow.until.is_none());
            for (flow, record) in sized.filter(|(_, record)| record.start.is_some()) {
                let ideal = match ideal {
                    Ideal::Hpcc => record.ideal_hpcc,
                    Ideal::Exact => record.ideal_exact,
                };
                let slowdown = record.fct().map(|fct| fct.0 as f64 / ideal.0.max(1) as f64);
                all.rows.push((scheme, flow.label.into(), flow.size.0, slowdown));
            }
        }
        all
    }

    /// Labels of finished flows, most flows first; ties keep their order.
    pub fn labels(&self) -> Vec<&str> {
        let mut counts = vec![0; self.labels.len()];
        for row in self.rows.iter().filter(|row| row.3.is_some()) {
            counts[row.1] += 1;
        }
        let mut order: Vec<usize> = (0..counts.len()).filter(|&label| counts[label] > 0).collect();
        order.sort_by_key(|&label| std::cmp::Reverse(counts[label]));
        order.into_iter().map(|label| self.labels[label].as_str()).collect()
    }

    fn add_batch(&mut self, batch: &RecordBatch, ideal: Ideal) -> Option<()> {
        let sizes = batch.column_by_name("size_bytes")?.as_primitive_opt::<Int64Type>()?;
        let slowdowns = batch.column_by_name(of(ideal))?.as_primitive_opt::<Float64Type>()?;
        let schemes = numbers(batch, "scheme", &mut self.schemes)?;
        let labels = numbers(batch, "label", &mut self.labels)?;
        let starts = batch.column_by_name("start_ps")?;
        // Missing in earlier versions. Backlogged flows have no ideal time.
        let backlogged = match batch.column_by_name("backlogged") {
            Some(column) => Some(column.as_boolean_opt()?),
            None => None,
        };
        let counts = |row: &usize| starts.is_valid(*row) && backlogged.is_none_or(|column| !column.value(*row));
        for row in (0..batch.num_rows()).filter(counts) {
            let slowdown = slowdowns.is_valid(row).then(|| slowdowns.value(row));
            self.rows.push((schemes[row], labels[row], sizes.value(row).unsigned_abs(), slowdown));
        }
        Some(())
    }
}

const fn of(ideal: Ideal) -> &'static str {
    match ideal {
        Ideal::Hpcc => "slowdown_hpcc",
        Ideal::Exact => "slowdown_exact",
    }
}

fn numbers(batch: &RecordBatch, column: &str, names: &mut Vec<String>) -> Option<Vec<usize>> {
    let column = batch.column_by_name(column)?.as_any_dictionary_opt()?;
    let values = column.values().as_string_opt::<i32>()?;
    let known: Vec<Option<&str>> = values.iter().collect();
    let mut index = vec![usize::MAX; known.len()];
    let keys = column.normalized_keys();
    for &key in &keys {
        if index[key] == usize::MAX {
            let name = known[key]?;
            index[key] = names.iter().position(|other| other == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
        }
    }
    Some(keys.into_iter().map(|key| index[key]).collect())
}

/// Tabulates slowdowns: percentiles of bins by size, of nearly equal count.
///
/// Bins never split a size: a boundary moves to its nearer end (the lower on a tie); boundaries that meet become one. Bins are
/// cut from all started flows: schemes have the same bins even if flows did not complete. A bin has the number of the
/// equal-count bin that begins nearest, comparable between runs.
pub fn slowdown_bins(flows: &Finished, options: &SlowdownOptions) -> SlowdownTable {
    let mut table = SlowdownTable {
        options: options.clone(),
        schemes: flows.schemes.clone(),
        unfinished: vec![0; flows.schemes.len()],
        overall: Vec::new(),
        by_label: IndexMap::new(),
        bins: vec![Vec::new(); options.bins],
    };
    let wanted = |label: usize| options.labels.is_empty() || options.labels.contains(&flows.labels[label]);
    for (scheme, name) in flows.schemes.iter().enumerate() {
        let mine = || flows.rows.iter().filter(|row| row.0 == scheme && wanted(row.1));
        table.unfinished[scheme] = mine().filter(|row| row.3.is_none()).count();
        let slowdown = |slowdown: f64| if options.clamp { slowdown.max(1.0) } else { slowdown };
        let mut done: Vec<(u64, f64, usize)> =
            mine().filter_map(|&(_, label, size, value)| Some((size, slowdown(value?), label))).collect();
        done.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        if options.drop_largest {
            done.pop();
        }
        table.overall.extend(row(name, &done));
        for (label, label_name) in flows.labels.iter().enumerate().filter(|(label, _)| wanted(*label)) {
            let of_label: Vec<_> = done.iter().filter(|flow| flow.2 == label).copied().collect();
            table.by_label.entry(label_name.clone()).or_default().extend(row(name, &of_label));
        }
        let mut sizes: Vec<u64> = mine().map(|flow| flow.2).collect();
        sizes.sort_unstable();
        let mut rest = &done[..];
        for (bin, largest) in bins_of(&sizes, options.bins) {
            let (here, above) = rest.split_at(rest.partition_point(|flow| flow.0 <= largest));
            table.bins[bin].extend(row(name, here));
            rest = above;
        }
    }
    table
}

fn bins_of(sizes: &[u64], count: usize) -> Vec<(usize, u64)> {
    let all = sizes.len();
    let nearest = |at: usize| {
        let size = sizes[at];
        let (begin, end) = (sizes.partition_point(|one| *one < size), sizes.partition_point(|one| *one <= size));
        if at - begin <= end - at { begin } else { end }
    };
    let mut starts: Vec<usize> = (0..count).map(|bin| bin * all / count).filter(|at| *at < all).map(nearest).collect();
    starts.dedup();
    starts.retain(|start| *start < all);
    let mut free = 0;
    (0..starts.len())
        .map(|place| {
            let rounded = (2 * starts[place] * count + all) / (2 * all);
            // Leaves a number for each later bin.
            let bin = rounded.max(free).min(count - (starts.len() - place));
            free = bin + 1;
            (bin, sizes[starts.get(place + 1).copied().unwrap_or(all) - 1])
        })
        .collect()
}

fn row(scheme: &str, flows: &[(u64, f64, usize)]) -> Option<SlowdownRow> {
    let (first, last) = (flows.first()?, flows.last()?);
    let mut slowdowns: Vec<f64> = flows.iter().map(|flow| flow.1).collect();
    slowdowns.sort_by(f64::total_cmp);
    let n = slowdowns.len();
    let percentile = |p: f64| slowdowns[((n as f64 * p) as usize).min(n - 1)];
    Some(SlowdownRow {
        scheme: scheme.to_owned(),
        flows: n,
        size_min: first.0,
        size_max: last.0,
        p50: percentile(0.5),
        p95: percentile(0.95),
        p99: percentile(0.99),
        mean: slowdowns.iter().sum::<f64>() / n as f64,
        max: slowdowns[n - 1],
    })
}

impl fmt::Display for SlowdownTable {
    /// p50, p95 and p99, schemes side by side.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = || self.by_label.iter().filter(|(_, rows)| self.by_label.len() > 1 && !rows.is_empty());
        let names: Vec<String> = labels().map(|(label, _)| format!("label {label}")).collect();
        let width = self.widths(names.iter().map(String::as_str));
        self.write_head(f, width)?;
        self.write_bins("", f, width)?;
        for (name, (_, rows)) in names.iter().zip(labels()) {
            self.write_row(name, rows, f, width)?;
        }
        self.write_row("all", &self.overall, f, width)?;
        self.write_unfinished(f)
    }
}

/// Least widths of the names of rows, their numbers of flows, and three figures of a scheme.
const NAME: usize = 18;
const COUNT: usize = 7;
const FIGURES: usize = 21;

/// Widths of two columns: names of rows, and numbers of flows.
#[derive(Clone, Copy)]
struct Widths {
    name: usize,
    count: usize,
}

fn count_of(rows: &[SlowdownRow]) -> String {
    let flows = || rows.iter().map(|row| row.flows);
    let (least, most) = (flows().min().unwrap_or(0), flows().max().unwrap_or(0));
    if least == most { most.to_string() } else { format!("{least}-{most}") }
}

/// Width of a scheme's first figure, so that its name fits above the three.
fn first_width(scheme: &str) -> usize {
    scheme.chars().count().max(FIGURES) - 2 * FIGURES / 3
}

impl SlowdownTable {
    fn widths<'a>(&self, names: impl Iterator<Item = &'a str>) -> Widths {
        let name = names.map(|name| name.chars().count()).max().unwrap_or(0).max(NAME);
        Widths { name, count: count_of(&self.overall).len().max(COUNT) }
    }

    fn write_head(&self, f: &mut impl fmt::Write, Widths { name, count }: Widths) -> fmt::Result {
        write!(f, "{:<name$} {:>count$}", "slowdown", "flows")?;
        for scheme in &self.schemes {
            write!(f, "  {scheme:>FIGURES$}")?;
        }
        write!(f, "\n{:name$} {:count$}", "", "")?;
        self.schemes.iter().try_for_each(|scheme| {
            write!(f, "  {:>first$}{:>7}{:>7}", "p50", "p95", "p99", first = first_width(scheme))
        })
    }

    fn write_row(&self, name: &str, rows: &[SlowdownRow], f: &mut impl fmt::Write, width: Widths) -> fmt::Result {
        let Widths { name: first, count } = width;
        write!(f, "\n{name:<first$} {:>count$}", count_of(rows))?;
        for scheme in &self.schemes {
            let row = rows.iter().find(|row| row.scheme == *scheme);
            let [p50, p95, p99] = row.map_or(["-".into(), "-".into(), "-".into()], |row| {
                [figure(row.p50), figure(row.p95), figure(row.p99)]
            });
            write!(f, "  {p50:>first$} {p95:>6} {p99:>6}", first = first_width(scheme))?;
        }
        Ok(())
    }

    /// One size needs no bins.
    fn write_bins(&self, indent: &str, f: &mut impl fmt::Write, width: Widths) -> fmt::Result {
        let sizes = |row: &SlowdownRow| row.size_min < row.size_max;
        let bins = || self.bins.iter().filter(|rows| !rows.is_empty() && self.overall.iter().any(sizes));
        let edges: Vec<u64> = bins().map(|rows| rows.iter().map(|row| row.size_max).max().unwrap_or(0)).collect();
        bins()
            .zip(distinct(&edges))
            .try_for_each(|(rows, edge)| self.write_row(&format!("{indent}up to {edge}"), rows, f, width))
    }

    fn write_unfinished(&self, f: &mut impl fmt::Write) -> fmt::Result {
        for (scheme, unfinished) in self.schemes.iter().zip(&self.unfinished).filter(|(_, unfinished)| **unfinished > 0)
        {
            write!(f, "\n{scheme}: unfinished and not counted: {unfinished}")?;
        }
        Ok(())
    }
}

const LABELS: usize = 4;

/// Formats a block per label: flows by size, then the total. Beyond four labels, the smallest share one.
pub fn slowdown_text(flows: &Finished, options: &SlowdownOptions) -> String {
    let all = slowdown_bins(flows, options);
    let mut labels = flows.labels();
    labels.retain(|label| options.labels.is_empty() || options.labels.iter().any(|wanted| wanted == label));
    if labels.len() < 2 {
        return all.to_string();
    }
    let alone = if labels.len() > LABELS { LABELS - 1 } else { labels.len() };
    let others = labels.split_off(alone);
    let mut blocks: Vec<(String, Vec<&str>)> =
        labels.into_iter().map(|label| (format!("label {label}"), vec![label])).collect();
    if !others.is_empty() {
        blocks.push((format!("{} other labels", others.len()), others));
    }
    let mut text = String::new();
    let width = all.widths(blocks.iter().map(|(name, _)| name.as_str()));
    let _ = all.write_head(&mut text, width);
    for (name, labels) in &blocks {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        let table = slowdown_bins(flows, &SlowdownOptions { labels, ..options.clone() });
        let _ = table.write_row(name, &table.overall, &mut text, width);
        let _ = table.write_bins("  ", &mut text, width);
    }
    if let Some((name, labels)) = blocks.last().filter(|(_, labels)| labels.len() > 1) {
        let _ = fmt::Write::write_fmt(&mut text, format_args!("\n{name}: {}", labels.join(", ")));
    }
    let _ = all.write_unfinished(&mut text);
    text
}

/// At most five characters, up to 99999.
fn figure(slowdown: f64) -> String {
    let decimals = if slowdown < 99.995 { 2 } else { usize::from(slowdown < 999.95) };
    format!("{slowdown:.decimals$}")
}

/// Sizes in short, or exact if several would be the same.
fn distinct(edges: &[u64]) -> impl Iterator<Item = String> {
    let names: Vec<String> = edges.iter().map(|&edge| short(edge)).collect();
    let alone = move |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    edges.iter().map(move |&edge| Some(short(edge)).filter(&alone).unwrap_or_else(|| Bytes(edge).to_string()))
}

/// At most three digits, rounded up.
fn short(bytes: u64) -> String {
    let mut unit = 1;
    while bytes / unit >= 1000 {
        unit *= 10;
    }
    Bytes(bytes.div_ceil(unit) * unit).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_almost_equal_sizes_have_different_names() {
        let names: Vec<String> = distinct(&[1_234, 4_993, 5_000, 9_999]).collect();
        assert_eq!(names, ["1.24kB", "4.993kB", "5kB", "10kB"]);
    }

    /// Number of flows per label, of sizes from 1 kB.
    fn flows(labels: &[(&str, usize)]) -> Finished {
        let rows = labels.iter().enumerate().flat_map(|(label, &(_, count))| {
            (0..2)
                .flat_map(move |scheme| (1..=count).map(move |flow| (scheme, label, 1000 * flow as u64, Some(1000.0))))
        });
        let labels = labels.iter().map(|(name, _)| (*name).to_owned()).collect();
        Finished { schemes: vec!["DCQCN".into(), "HPCC".into()], labels, rows: rows.collect() }
    }

    #[test]
    fn every_label_has_a_block_and_nothing_is_mixed() {
        let options = SlowdownOptions { bins: 2, ..SlowdownOptions::default() };
        let text = slowdown_text(&flows(&[("incast", 1), ("background", 4), ("idle", 0)]), &options);
        let names: Vec<&str> = text.lines().skip(2).map(|line| line[..NAME].trim_end()).collect();
        assert_eq!(names, ["label background", "  up to 2kB", "  up to 4kB", "label incast"]);
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        assert!(text.contains("  1000   1000   1000"), "{text}");
        let one = flows(&[("burst", 3)]);
        assert_eq!(slowdown_text(&one, &options), slowdown_bins(&one, &options).to_string());
    }

    #[test]
    fn long_names_keep_columns_in_line() {
        let label = "client-response-of-the-second-tenant";
        let mut all = flows(&[(label, 40), ("burst", 3)]);
        all.schemes[0] = "DCQCN with the parameters of 2015".into();
        let text = slowdown_text(&all, &SlowdownOptions { bins: 2, ..SlowdownOptions::default() });
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("                   HPCC") && lines[0].contains(&all.schemes[0]), "{text}");
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
        assert!(lines[2].starts_with(&format!("label {label}      40")), "{text}");
    }

    /// Flows as (size, number); bins as `number: largest size`.
    fn bins(sizes: &[(u64, usize)], count: usize) -> Vec<String> {
        let sizes: Vec<u64> = sizes.iter().flat_map(|&(size, flows)| std::iter::repeat_n(size, flows)).collect();
        bins_of(&sizes, count).into_iter().map(|(bin, largest)| format!("{bin}: {largest}")).collect()
    }

    #[test]
    fn a_size_is_never_split_over_bins() {
        assert_eq!(bins(&[(7, 100)], 20), ["0: 7"]);
        assert_eq!(bins(&[(7, 1)], 20), ["0: 7"]);
        assert_eq!(bins(&[], 20), [""; 0]);
        let different: Vec<(u64, usize)> = (1..=10).map(|size| (size, 1)).collect();
        assert_eq!(bins(&different, 5), ["0: 2", "1: 4", "2: 6", "3: 8", "4: 10"]);
        assert_eq!(bins(&different[..3], 5), ["0: 1", "2: 2", "3: 3"]);
        // Two bins, numbered by where they begin.
        assert_eq!(bins(&[(1, 50), (2, 50)], 20), ["0: 1", "10: 2"]);
        assert_eq!(bins(&[(1, 49), (2, 52)], 20), ["0: 1", "10: 2"]);
        assert_eq!(bins(&[(1, 99), (2, 1)], 20), ["0: 1", "19: 2"]);
        // A boundary within a size moves to its nearer end: 5 of 10 to 4, then to 7.
        assert_eq!(bins(&[(1, 2), (2, 2), (3, 4), (4, 2)], 2), ["0: 2", "1: 4"]);
        assert_eq!(bins(&[(1, 2), (2, 5), (3, 3)], 2), ["0: 2", "1: 3"]);
    }

    #[test]
    fn schemes_have_the_same_bins_even_if_flows_did_not_complete() {
        let sized = |scheme, sizes: &[(u64, usize, usize)]| -> Vec<(usize, usize, u64, Option<f64>)> {
            let of_size = |&(size, all, done): &(u64, usize, usize)| {
                (0..all).map(move |flow| (scheme, 0, size, (flow < done).then_some(1.0 + flow as f64)))
            };
            sizes.iter().flat_map(of_size).collect()
        };
        let mut rows = sized(0, &[(1000, 10, 10), (5000, 10, 10)]);
        rows.extend(sized(1, &[(1000, 10, 10), (5000, 10, 2)]));
        let flows = Finished { schemes: vec!["A".into(), "B".into()], labels: vec!["x".into()], rows };
        let table = slowdown_bins(&flows, &SlowdownOptions { bins: 4, ..SlowdownOptions::default() });
        let counts = |rows: &Vec<SlowdownRow>| rows.iter().map(|row| (row.size_max, row.flows)).collect::<Vec<_>>();
        let expected = [vec![(1000, 10), (1000, 10)], vec![], vec![(5000, 10), (5000, 2)], vec![]];
        assert_eq!(table.bins.iter().map(counts).collect::<Vec<_>>(), expected);
        let text = table.to_string();
        let names: Vec<&str> = text.lines().skip(2).map(|line| line[..NAME].trim_end()).collect();
        assert_eq!(names[..3], ["up to 1kB", "up to 5kB", "all"], "{text}");
    }

    #[test]
    fn many_labels_share_a_block_but_for_the_largest() {
        let many = flows(&[("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)]);
        let text = slowdown_text(&many, &SlowdownOptions { bins: 1, ..SlowdownOptions::default() });
        let names: Vec<&str> = text.lines().skip(2).map(|line| line[..NAME].trim()).collect();
        assert_eq!(
            names[..7],
            ["label e", "up to 5kB", "label d", "up to 4kB", "label c", "up to 3kB", "2 other labels"]
        );
        assert!(text.ends_with("\n2 other labels: b, a"), "{text}");
    }
}
