//! Flow traces and tables of sizes.

use std::sync::LazyLock;

use incast_model::entry::EntryError;
use incast_model::fabric::Fabric;
use incast_model::fabric::generators::Star;
use incast_model::flow::FlowSet;
use incast_model::memory::Memory;
use incast_model::workload::{WorkloadSpec, check_trace, generate_within, write_trace};

use crate::folder;

/// Looked up once: it takes longer than an input.
static MEMORY: LazyLock<Memory> = LazyLock::new(Memory::available);
static STAR: LazyLock<Fabric> = LazyLock::new(|| Star::new(4).build().expect("a valid star"));

/// Flows of one entry that reads files.
pub(crate) fn flows(fabric: &Fabric, files: &[(&str, &[u8])], spec: WorkloadSpec) -> Result<FlowSet, EntryError> {
    generate_within(&[spec], fabric, None, &folder::with(files), (1, None), *MEMORY)
}

fn read(bytes: &[u8]) -> Result<FlowSet, EntryError> {
    let spec = serde_json::from_str(r#"{"trace": {"file": "t"}}"#).expect("a valid entry");
    flows(&STAR, &[("t", bytes)], spec)
}

/// A written trace reads back as the same flows.
pub fn trace(bytes: &[u8]) {
    let Ok(set) = read(bytes) else { return };
    if check_trace(&set).is_ok() {
        let mut text = Vec::new();
        write_trace(&set, &mut text).expect("flows that a trace can express");
        let again = read(&text).expect("a written trace is valid");
        assert_eq!(again.flows.len(), set.flows.len());
        for (one, other) in again.flows.iter().zip(&set.flows) {
            let label = |set: &FlowSet, label: u16| set.labels[usize::from(label)].clone();
            assert_eq!(label(&again, one.label), label(&set, other.label));
            let mut one = one.clone();
            one.label = other.label;
            assert_eq!(&one, other);
        }
        assert_eq!(again.gates, set.gates);
    }
}

/// Drawn sizes are at least a byte.
pub fn sizes(bytes: &[u8]) {
    let spec = r#"{"permutation": {"size": {"file": "s"}}}"#;
    let spec = serde_json::from_str(spec).expect("a valid entry");
    if let Ok(set) = flows(&STAR, &[("s", bytes)], spec) {
        assert!(set.flows.iter().all(|flow| flow.size.0 > 0));
    }
}
