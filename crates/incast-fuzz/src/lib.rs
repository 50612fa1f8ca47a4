//! Fuzz targets. Each gives bytes to one reader of foreign files and panics if the reader breaks a promise: it returns an error
//! or a value that survives writing and reading.
//!
//! libFuzzer calls them through `fuzz/fuzz_targets`; `tests/replay.rs` replays their corpora.

mod folder;
mod foreign;
mod recording;
mod results;
mod rules;
mod runs;
mod scenarios;
mod tables;

/// Function that panics at a finding.
pub type Target = fn(&[u8]);

/// Targets by name, which is also the name of the corpus's folder.
pub const TARGETS: [(&str, Target); 19] = [
    ("scenario", scenarios::scenario),
    ("overrides", scenarios::overrides),
    ("document", scenarios::document),
    ("ns3_topology", foreign::ns3_topology),
    ("ns3_flows", foreign::ns3_flows),
    ("ns3_config", foreign::ns3_config),
    ("ns3_fct", foreign::ns3_fct),
    ("htsim_topo", foreign::htsim_topo),
    ("htsim_cm", foreign::htsim_cm),
    ("trace_csv", tables::trace),
    ("trace_parquet", tables::trace),
    ("sizes", tables::sizes),
    ("tag_rules_json", rules::json),
    ("tag_rules_csv", rules::csv),
    ("paths", rules::paths),
    ("manifest", results::manifest),
    ("results_table", results::table),
    ("memory_records", recording::records),
    ("run", runs::run),
];

/// Gives bytes to the target of a name.
///
/// # Panics
/// At a finding, or if there is no such target.
pub fn fuzz(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.unwrap_or_else(|| panic!("no target is called {name}")).1(bytes);
}
