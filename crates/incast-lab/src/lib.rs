//! The laboratory around the simulator: scenarios in, results out.
//!
//! A [`Scenario`] is read from TOML or plain values ([`Loaded`]), made into a fabric, flows and one simulator setup for
//! each scheme ([`Prepared`]), run, and written as one folder of tables ([`results`]).

pub mod diagnostic;
pub mod results;
pub mod scenario;
pub mod trace;
mod tree;

pub use diagnostic::{Diagnostic, Diagnostics};
pub use scenario::{Loaded, Prepared, Scenario, Scheme};
