use std::path::Path;

use super::generate::generate;
use super::spec::WorkloadSpec;
use crate::entry::EntryError;
use crate::fabric::{Fabric, FabricBuilder};
use crate::flow::FlowSet;
use crate::units::{Rate, Time};

pub(super) fn star(hosts: u32, rate: Rate) -> Fabric {
    let mut builder = FabricBuilder::new();
    let ids: Vec<_> = (0..hosts).map(|host| builder.host(format!("h{host}"))).collect();
    let switch = builder.switch("s0", 1);
    for id in ids {
        builder.link(id, switch, rate, Time::us(1));
    }
    builder.finish().unwrap()
}

pub(super) fn pattern(name: &str, json: &str) -> WorkloadSpec {
    serde_json::from_str(&format!("{{\"{name}\": {json}}}")).unwrap()
}

pub(super) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub(super) fn all(specs: &[WorkloadSpec], fabric: &Fabric, seed: u64) -> Result<FlowSet, EntryError> {
    generate(specs, fabric, Path::new("."), seed, None)
}

pub(super) fn generate_in(
    folder: &Path,
    fabric: &Fabric,
    spec: &WorkloadSpec,
    seed: u64,
) -> Result<FlowSet, EntryError> {
    generate(std::slice::from_ref(spec), fabric, folder, seed, None)
}

pub(super) fn flows(fabric: &Fabric, spec: &WorkloadSpec, seed: u64) -> FlowSet {
    all(std::slice::from_ref(spec), fabric, seed).unwrap()
}

pub(super) fn refused_in(folder: &Path, fabric: &Fabric, spec: &WorkloadSpec) -> String {
    generate_in(folder, fabric, spec, 1).unwrap_err().to_string()
}

pub(super) fn refused(fabric: &Fabric, spec: &WorkloadSpec) -> String {
    refused_in(Path::new("."), fabric, spec)
}
