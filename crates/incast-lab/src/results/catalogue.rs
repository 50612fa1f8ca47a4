//! Declarations of results, for reference and Python.

use incast_sim::outcome::{Counter, Counts, HypervisorCounts, StopReason};
use serde::Serialize;

use super::columns::Column;
use super::tables::{TABLES, TableSpec};

/// Tables and columns, counters and reasons of stops.
#[derive(Debug, Clone, Serialize)]
pub struct ResultsCatalogue {
    /// Tables of a results folder.
    pub tables: Vec<TableEntry>,
    /// Counters of a scheme's run, `counts` of its manifest.
    pub counters: &'static [Counter],
    /// Counters of hypervisors, `hypervisors` of the manifest.
    pub hypervisor_counters: &'static [Counter],
    /// Reasons of a stop.
    pub stops: Vec<StopEntry>,
}

/// Table of a results folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableEntry {
    /// Name.
    pub name: &'static str,
    /// Meaning of a row.
    pub description: &'static str,
    /// Runs that have it, in words; `null` for all.
    pub condition: Option<&'static str>,
    /// Columns, in order.
    pub columns: Vec<Column>,
}

/// Reason of a stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopEntry {
    /// Name.
    pub name: &'static str,
    /// If true, the run failed.
    pub failure: bool,
    /// Meaning.
    pub description: &'static str,
}

/// Returns all declarations.
pub fn results_catalogue() -> ResultsCatalogue {
    let table = |table: &TableSpec| TableEntry {
        name: table.name,
        description: table.description,
        condition: table.condition.text(),
        columns: table.columns(),
    };
    let stop = |reason: &StopReason| StopEntry {
        name: reason.name(),
        failure: reason.is_failure(),
        description: reason.meaning(),
    };
    ResultsCatalogue {
        tables: TABLES.iter().map(table).collect(),
        counters: Counts::ALL,
        hypervisor_counters: HypervisorCounts::ALL,
        stops: StopReason::ALL.iter().map(stop).collect(),
    }
}
