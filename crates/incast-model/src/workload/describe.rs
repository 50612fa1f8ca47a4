use serde::Serialize;

use super::cdf::SizeCdf;
use super::spec::WorkloadSpec;
use super::tables::SizeTable;

/// Pattern or size table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Described {
    /// Kind.
    pub kind: DescribedKind,
    /// Name in scenarios.
    pub name: &'static str,
    /// Description.
    pub description: &'static str,
    /// Publication or repository.
    pub source: Option<&'static str>,
    /// Size table's figures.
    pub sizes: Option<DescribedSizes>,
}

/// Figures computed from a size table's points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescribedSizes {
    /// Other names.
    pub also: &'static [&'static str],
    /// Name shared by a measurement's tables.
    pub family: &'static str,
    /// Mean in bytes under linear interpolation, for the arrival rate of a load.
    pub mean: f64,
    /// Mean in bytes of generators that draw only points' sizes.
    pub step_mean: f64,
    /// 50, 90 and 99 % quantiles in bytes.
    pub percentiles: [f64; 3],
    /// Largest size in bytes.
    pub max: f64,
    /// Packet size in bytes to which draws are rounded.
    pub packet: Option<u64>,
}

/// Kind of a catalogue entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DescribedKind {
    /// Field of a workload entry.
    Pattern,
    /// Name for `sizes` and `size`.
    SizeTable,
}

/// Patterns, then size tables.
pub fn catalogue() -> Vec<Described> {
    let patterns = WorkloadSpec::PATTERNS.iter().map(|&(name, description, source)| Described {
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
    use super::*;

    #[test]
    fn every_pattern_and_table_is_listed() {
        let names: Vec<&str> = catalogue().iter().map(|item| item.name).collect();
        let spec = WorkloadSpec::default();
        let patterns = spec.patterns().into_iter().map(|(name, _)| name);
        assert!(names.iter().copied().take(WorkloadSpec::PATTERNS.len()).eq(patterns));
        assert!(names[WorkloadSpec::PATTERNS.len()..].iter().eq(SizeTable::all().iter().map(|table| &table.name)));
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
