//! Results: a folder per run with scenario, manifest and Parquet tables; evaluations.

mod catalogue;
mod columns;
#[cfg(test)]
mod damage_tests;
mod deadlocks;
mod error;
mod labels;
mod manifest;
mod owner;
mod read;
mod records;
mod relative;
mod simulate;
mod slowdown;
mod staging;
mod tables;
#[cfg(test)]
mod tests;
mod throughput;
mod warnings;
mod write;

pub use catalogue::{ResultsCatalogue, StopEntry, TableEntry, results_catalogue};
pub use columns::{Column, Kind};
pub use deadlocks::{DeadlockManifest, QueueManifest};
pub use error::{Damage, ResultsError};
pub use incast_sim::measure::Ideal;
pub use labels::{Label, Labels};
pub use manifest::{
    CutOffManifest, FORMAT, FabricCounts, FingerprintManifest, Machine, Manifest, SchemeManifest, StopManifest,
    TableManifest,
};
pub use read::{Results, TableReader, read_table};
pub use simulate::{RunProgress, SchemeProgress, SchemeRun, SchemeState, simulate};
pub use slowdown::{Finished, SlowdownOptions, SlowdownRow, SlowdownTable, slowdown_bins, slowdown_text};
pub use tables::{Condition, TABLES, TableSpec};
pub use write::{RunOptions, RunReport, run, write};
