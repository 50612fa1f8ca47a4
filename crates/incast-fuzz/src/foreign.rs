//! Files of ns-3 and htsim.

use std::path::PathBuf;
use std::str::from_utf8;
use std::sync::LazyLock;

use incast_lab::import_ns3;
use incast_model::fabric::Fabric;
use incast_model::fabric::generators::{HtsimFile, Star, parse_topology, write_topology};
use incast_model::ns3::{StartRounding, parse_config, parse_fct, parse_flows, write_flows};
use incast_model::workload::WorkloadSpec;

use crate::folder;
use crate::tables::flows;

const HOSTS: u32 = 16;
static STAR: LazyLock<Fabric> = LazyLock::new(|| Star::new(HOSTS).build().expect("a valid star"));

/// A written topology reads back as the same links.
pub fn ns3_topology(bytes: &[u8]) {
    let Ok(topology) = from_utf8(bytes).map_err(drop).and_then(|text| parse_topology(text, "t").map_err(drop)) else {
        return;
    };
    if let Ok(fabric) = topology.fabric() {
        let again = parse_topology(&write_topology(&fabric), "t").expect("a written topology is valid");
        assert_eq!((again.kinds, again.links), (topology.kinds, topology.links));
    }
}

/// Written flows read back as the same flows.
pub fn ns3_flows(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    for rounding in [StartRounding::Exact, StartRounding::Ns3] {
        if let Ok(set) = parse_flows(text, "f", &STAR, rounding) {
            let again = parse_flows(&write_flows(&STAR, &set), "f", &STAR, StartRounding::Exact);
            assert_eq!(again.expect("written flows are valid"), set);
        }
    }
}

/// Every valid configuration gives a scenario or an error.
pub fn ns3_config(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    if let Ok(config) = parse_config(text, "c") {
        config.not_honoured();
        let topology = b"4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 400Gbps 1us 0\n";
        let flows = b"2\n0 1 3 100 5000 2.000200000\n2 1 3 200 100 2.1\n";
        let folder = folder::with(&[("t", topology), ("f", flows), ("c", bytes)]);
        let [topology, flows, config, out] = ["t", "f", "c", "s.toml"].map(|name| folder.join(name));
        if let Err(found) = import_ns3(&topology, &flows, &[config], &out) {
            assert!(!found.to_string().is_empty());
        }
    }
}

/// Text that is not a file of completion times is refused.
pub fn ns3_fct(bytes: &[u8]) {
    if let Ok(text) = from_utf8(bytes) {
        let _ = parse_fct(text, "f");
    }
}

/// Larger fabrics take seconds.
const MOST_NODES: u32 = 4096;

/// A topology gives a fabric or an error.
pub fn htsim_topo(bytes: &[u8]) {
    let mut words = bytes.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let large =
        |word: &[u8]| from_utf8(word).ok().and_then(|word| word.parse().ok()).is_none_or(|n: u32| n > MOST_NODES);
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case(b"nodes") && words.next().is_some_and(large) {
            return;
        }
    }
    let folder = folder::with(&[("t.topo", bytes)]);
    for ignore_queues in [false, true] {
        let _ = HtsimFile { topology: PathBuf::from("t.topo"), ignore_queues }.build(&folder);
    }
}

/// A connection matrix gives flows or an error.
pub fn htsim_cm(bytes: &[u8]) {
    let spec: WorkloadSpec = serde_json::from_str(r#"{"htsim": {"file": "m.cm"}}"#).expect("a valid entry");
    let _ = flows(&STAR, &[("m.cm", bytes)], spec);
}
