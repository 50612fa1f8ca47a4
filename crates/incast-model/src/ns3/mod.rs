//! Files of the HPCC authors' ns-3 (alibaba-edu/High-Precision-Congestion-Control).
//!
//! ns-3 reads with `>>`: it silently drops excess rows, reads missing rows as zeros, and takes an unknown key's value for the
//! next key. Here each of these is an error with file, line and token.

mod config;
mod error;
mod fct;
mod flows;
mod quantity;
mod tokens;
mod topology;
mod unsupported;
mod values;

pub use config::{CONFIG_KEYS, Ns3Config, parse_config, read_config};
pub use error::{Notice, Ns3Error, Severity};
pub use fct::{FctRecord, parse_fct, read_fct};
pub use flows::{StartRounding, earliest_start, parse_flows, read_flows, write_flows};
pub use topology::{Ns3Link, Ns3Topology, parse_topology, read_topology, topology_notices, write_topology};
pub use values::{CcMode, LinkDown};
