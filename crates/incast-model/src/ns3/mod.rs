//! Files of the HPCC authors' ns-3 (alibaba-edu/High-Precision-Congestion-Control).
//!
//! ns-3 reads with `>>`: it does not read excess rows (its own examples have some), reads missing ones as zeros, and takes an
//! unknown key's value for the next key. Here excess rows are noticed; the others are errors with file, line and token.

mod config;
mod fct;
mod flows;
mod unsupported;
mod values;

pub use config::{CONFIG_KEYS, InvalidConfig, Ns3Config, parse_config, read_config};
pub use fct::{FctRecord, parse_fct, read_fct};
pub use flows::{StartRounding, earliest_start, parse_flows, read_flows, unread_flows, write_flows};
pub use unsupported::whole_microseconds;
pub use values::{CcMode, LinkDown};
