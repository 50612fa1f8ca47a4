mod topology;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GeneratorError;
use crate::fabric::Fabric;
use crate::foreign::Notice;

pub use topology::{Ns3Link, Ns3Topology, parse_topology, read_topology, topology_notices, write_topology};

/// Topology file of the HPCC authors' ns-3; nodes keep their numbers and are named `h` or `s` and that number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ns3File {
    /// Topology file, relative to the scenario's folder.
    pub topology: PathBuf,
}

impl Ns3File {
    /// Builds the fabric; relative paths start at `base_dir`.
    pub fn build(&self, base_dir: &Path) -> Result<Fabric, GeneratorError> {
        Ok(read_topology(&base_dir.join(&self.topology))?.fabric()?)
    }

    /// Notices content after the last link of a valid file.
    pub fn unread(&self, base_dir: &Path) -> Option<Notice> {
        read_topology(&base_dir.join(&self.topology)).ok()?.unread
    }
}
