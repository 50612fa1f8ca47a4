//! Files of the HPCC authors' ns-3 (alibaba-edu/High-Precision-Congestion-Control): topology, flows, configuration,
//! completion times.
//!
//! The original reads by `>>` into variables: rows too many are dropped in silence, rows too few become zeros, and an
//! unknown key has its value taken for the next key. Here every such slip is an error that names file, line and token.

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
