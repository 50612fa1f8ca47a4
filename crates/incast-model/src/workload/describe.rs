//! The catalogue of patterns and size tables, for people who ask what there is.

use serde::Serialize;

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
    /// Mean flow size in bytes, of a size table.
    pub mean: Option<f64>,
    /// Median flow size in bytes, of a size table.
    pub median: Option<f64>,
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
    ("list", "flows written out in the scenario, with explicit paths, and flows they wait for, if wanted", None),
    ("trace", "flows of a CSV file, which may wait for each other", None),
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
        mean: None,
        median: None,
    });
    let tables = SizeTable::all().iter().map(|table| {
        let sizes = table.distribution();
        Described {
            kind: DescribedKind::SizeTable,
            name: table.name,
            description: table.description,
            source: Some(table.source),
            mean: Some(sizes.mean()),
            median: Some(sizes.quantile(0.5)),
        }
    });
    patterns.chain(tables).collect()
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
        assert_eq!(names[6..], ["fb_hadoop", "websearch"]);
    }

    #[test]
    fn tables_come_with_mean_and_median() {
        let items = catalogue();
        let websearch = items.iter().find(|item| item.name == "websearch").unwrap();
        assert_eq!((websearch.mean.unwrap().round(), websearch.median.unwrap().round()), (1_711_250.0, 73_077.0));
    }
}
