//! The catalogue of patterns and size tables, for people who ask what there is.

use serde::Serialize;

use super::cdf::SizeCdf;
use super::tables::SizeTable;

/// A pattern or a size table, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Described {
    /// What kind of thing it is.
    pub kind: DescribedKind,
    /// What a scenario writes.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// Where it comes from, if from anywhere in particular.
    pub source: Option<&'static str>,
    /// The figures of a size table.
    pub sizes: Option<DescribedSizes>,
}

/// A size table in figures, all computed from its points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescribedSizes {
    /// Other names of the table.
    pub also: &'static [&'static str],
    /// What tables of one measurement have in common.
    pub family: &'static str,
    /// Mean flow size in bytes under linear interpolation: what loads are computed with.
    pub mean: f64,
    /// Mean in bytes if only the sizes of the points were drawn, as some generators do.
    pub step_mean: f64,
    /// Sizes in bytes below which 50, 90 and 99 % of the flows lie.
    pub percentiles: [f64; 3],
    /// Largest size in bytes.
    pub max: f64,
    /// Bytes of the packets that draws are rounded to, if they are.
    pub packet: Option<u64>,
}

/// What a catalogue entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DescribedKind {
    /// A field of a workload entry.
    Pattern,
    /// A name for `sizes` and `size`.
    SizeTable,
}

/// Name, description and source of the patterns, in the order of a workload entry's fields.
const PATTERNS: [(&str, &str, Option<&str>); 6] = [
    (
        "poisson",
        "open-loop Poisson flows from every host to random others, at a load",
        Some("Li et al. (HPCC), SIGCOMM 2019, sec. 5.1"),
    ),
    (
        "incast",
        "many random hosts send to one at the same instant: once, periodically, or at a load",
        Some("Li et al. (HPCC), SIGCOMM 2019, sec. 5.3"),
    ),
    ("permutation", "every host sends to one other and receives from one: one flow each, or at a load", None),
    ("list", "flows written out in the scenario, with explicit paths if wanted", None),
    ("trace", "flows of a CSV file", None),
    (
        "ns3",
        "flows of an ns-3 flow file",
        Some("the HPCC authors' simulator, repository alibaba-edu/High-Precision-Congestion-Control"),
    ),
];

/// All patterns, then all size tables.
pub fn catalogue() -> Vec<Described> {
    let patterns = PATTERNS.iter().map(|&(name, description, source)| Described {
        kind: DescribedKind::Pattern,
        name,
        description,
        source,
        sizes: None,
    });
    let tables = SizeTable::all().iter().map(|table| Described {
        kind: DescribedKind::SizeTable,
        name: table.name,
        description: table.description,
        source: Some(table.source),
        sizes: Some(sizes(table)),
    });
    patterns.chain(tables).collect()
}

fn sizes(table: &SizeTable) -> DescribedSizes {
    let law = table.law();
    DescribedSizes {
        also: table.also,
        family: table.family,
        mean: law.mean(),
        step_mean: law.cdf().map_or(law.mean(), SizeCdf::step_mean),
        percentiles: [0.5, 0.9, 0.99].map(|p| law.quantile(p)),
        max: law.quantile(1.0),
        packet: table.packet(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::WorkloadSpec;
    use super::*;

    #[test]
    fn every_pattern_and_table_is_listed() {
        let names: Vec<&str> = catalogue().iter().map(|item| item.name).collect();
        let patterns = WorkloadSpec::default().patterns().map(|(name, _)| name);
        assert_eq!(names[..6], patterns);
        assert!(names[6..].iter().eq(SizeTable::all().iter().map(|table| &table.name)));
    }

    #[test]
    fn tables_come_with_their_figures() {
        let items = catalogue();
        let sizes = |name| items.iter().find(|item| item.name == name).unwrap().sizes.clone().unwrap();
        let websearch = sizes("websearch");
        assert_eq!((websearch.mean.round(), websearch.percentiles[0].round()), (1_711_250.0, 73_077.0));
        assert_eq!((websearch.packet, websearch.max), (None, 30e6));
        let yaps = sizes("websearch_yaps");
        assert_eq!((yaps.packet, yaps.family, yaps.mean.round()), (Some(1460), "websearch", 1_665_831.0));
    }
}
