//! Runs scenarios and writes results.
//!
//! [`Loaded`] reads a [`Scenario`]; [`Prepared`] holds its fabric, flows and a simulator setup per scheme; a run writes a
//! folder of tables ([`results`]).

pub mod catalogue;
pub mod deadlock;
pub mod diagnostic;
pub mod document;
pub mod fabric_export;
mod memory;
mod ns3_control;
pub mod ns3_import;
pub mod results;
pub mod scenario;
pub mod show;
mod text_file;
pub mod thresholds;
pub mod trace;
mod tree;
mod warning;
mod warnings;

pub use catalogue::catalogue;
pub use diagnostic::{Diagnostic, Diagnostics};
pub use document::Document;
pub use fabric_export::export_fabric;
pub use incast_model::input;
pub use incast_model::renamed::renamed;
pub use ns3_import::import_ns3;
pub use scenario::{Loaded, Prepared, Scenario, Scheme};
pub use show::{show, synthetic};
pub use trace::export_trace;
pub use warning::Warning;

/// Digest of all sources of outcomes: equal digests give equal results.
pub const BUILD: &str = env!("INCAST_BUILD");
