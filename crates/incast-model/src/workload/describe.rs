use serde::Serialize;

use super::cdf::SizeCdf;
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
    /// Publication or repository, if any.
    pub source: Option<&'static str>,
    /// Figures of a size table.
    pub sizes: Option<DescribedSizes>,
}

/// Figures of a size table, computed from its points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescribedSizes {
    /// Other names.
    pub also: &'static [&'static str],
    /// Name shared by tables of one measurement.
    pub family: &'static str,
    /// Mean in bytes under linear interpolation, which converts a load to an arrival rate.
    pub mean: f64,
    /// Mean in bytes of generators that draw only the points' sizes.
    pub step_mean: f64,
    /// Sizes in bytes below which 50, 90 and 99 % of the flows lie.
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

const PATTERNS: &[(&str, &str, Option<&str>)] = &[
    (
        "poisson",
        "open-loop flows between random hosts at a load: Poisson or bursty, optionally with locality",
        Some("Li et al. (HPCC), SIGCOMM 2019, sec. 5.1"),
    ),
    (
        "incast",
        "incasts: many random hosts send to one at the same instant, once, periodically, or at a load",
        Some("Li et al. (HPCC), SIGCOMM 2019, sec. 5.3"),
    ),
    (
        "permutation",
        "every host sends to one other and receives from one, random or by stride: one flow each, or at a load",
        None,
    ),
    ("all_to_all", "every rank sends to every other, all at the same time or with a window; repeatable", None),
    ("shuffle", "every mapper sends to every reducer at the same time; one mapper makes an outcast", None),
    (
        "ring_all_reduce",
        "ring all-reduce of data-parallel training, or one of its phases, in dependent steps",
        Some("Patarasuk and Yuan, JPDC 69(2), 2009"),
    ),
    (
        "tree_all_reduce",
        "all-reduce in a logarithmic number of steps: binomial or binary tree, recursive doubling, halving-doubling",
        Some("Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005"),
    ),
    (
        "moe_all_to_all",
        "mixture-of-experts layers: dispatch, compute, combine; optionally skewed",
        Some("Lepikhin et al. (GShard), ICLR 2021, sec. 3"),
    ),
    (
        "request_response",
        "closed-loop requests of clients to random servers; partition-aggregate with fan_out",
        Some("Alizadeh et al. (DCTCP), SIGCOMM 2010, sec. 2.1"),
    ),
    (
        "disaggregated",
        "flows between CPU, memory and disk blades: synthetic applications, or drawn from measured flows",
        Some("Gao et al., OSDI 2016; the applications are synthetic"),
    ),
    ("list", "flows listed in the scenario, optionally with explicit paths and dependencies", None),
    ("trace", "flows of a CSV or Parquet file, optionally with dependencies", None),
    (
        "ns3",
        "flows of an ns-3 flow file",
        Some("the HPCC authors' simulator, repository alibaba-edu/High-Precision-Congestion-Control"),
    ),
    (
        "htsim",
        "flows and triggers of an htsim connection matrix (.cm)",
        Some("repository Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp"),
    ),
];

/// Patterns, then size tables.
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
        let spec = WorkloadSpec::default();
        let patterns = spec.patterns().into_iter().map(|(name, _)| name);
        assert!(names.iter().copied().take(PATTERNS.len()).eq(patterns));
        assert!(names[PATTERNS.len()..].iter().eq(SizeTable::all().iter().map(|table| &table.name)));
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
