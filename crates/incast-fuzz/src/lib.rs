//! Fuzz targets. Each gives bytes to one reader of foreign files and panics if the reader breaks a promise: it returns an error
//! or a value that survives writing and reading.
//!
//! libFuzzer calls them through `fuzz/fuzz_targets`; `tests/replay.rs` replays their corpora.

mod folder;
pub mod foreign;
pub mod recording;
pub mod results;
pub mod rules;
pub mod runs;
pub mod scenarios;
pub mod tables;

/// Function that panics at a finding.
pub type Target = fn(&[u8]);

/// Targets by name, which is also the name of the corpus's folder. Programs of libFuzzer call a function itself: libFuzzer
/// reads a counter of each branch of the program after every input, and so the linker leaves out other targets.
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
