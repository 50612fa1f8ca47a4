//! Tables of a results folder, each declared once.

mod flows;
mod iterations;
mod losses;
mod pfc;
mod ports;
mod shared;
mod tenants;

use std::borrow::Cow;
use std::fmt::Debug;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};

use super::columns::{Column, ColumnOf, schema};
use super::records::Records;
use super::records::Row;
use crate::scenario::{Prepared, PreparedScheme};

/// All tables of a results folder, in order.
pub static TABLES: [TableSpec; 18] = [
    flows::FLOWS.spec(),
    flows::MESSAGES.spec(),
    iterations::ITERATIONS.spec(),
    ports::PORTS.spec(),
    pfc::PAUSES.spec(),
    pfc::DEADLOCKS.spec(),
    pfc::STORMS.spec(),
    pfc::ISOLATIONS.spec(),
    flows::WAITS.spec(),
    losses::DROPS.spec(),
    losses::LINKS.spec(),
    ports::QUEUES.spec(),
    flows::RATES.spec(),
    ports::HISTOGRAMS.spec(),
    tenants::VMS.spec(),
    tenants::PAIRS.spec(),
    tenants::LIMITS.spec(),
    tenants::THROUGHPUT.spec(),
];

/// Runs that have a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// All runs.
    Always,
    /// Runs with collectives.
    Collectives,
    /// Runs with tenants.
    Tenants,
    /// Runs in which a scheme isolates flows.
    Isolation,
    /// Runs with `measure.blocking`.
    Blocking,
}

impl Condition {
    /// Condition in words, if there is one.
    pub const fn text(self) -> Option<&'static str> {
        match self {
            Self::Always => None,
            Self::Collectives => Some("with collectives"),
            Self::Tenants => Some("with tenants"),
            Self::Isolation => Some("with congestion isolation"),
            Self::Blocking => Some("with measure.blocking"),
        }
    }

    pub(super) fn holds(self, prepared: &Prepared) -> bool {
        let isolates = |scheme: &PreparedScheme| scheme.setup.params.switch.isolation.enabled;
        match self {
            Self::Always => true,
            Self::Collectives => !prepared.flows.iterations.is_empty(),
            Self::Tenants => prepared.tenancy.is_some(),
            Self::Isolation => prepared.schemes.iter().any(isolates),
            Self::Blocking => prepared.scenario.measure.blocking,
        }
    }
}

/// Table, stored as `NAME.parquet`.
#[derive(Debug, Clone, Copy)]
pub struct TableSpec {
    /// Name.
    pub name: &'static str,
    /// Meaning of a row.
    pub description: &'static str,
    /// Runs that have it.
    pub condition: Condition,
    columns: &'static dyn Columns,
}

impl TableSpec {
    /// Returns the table of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// Columns, in order.
    pub fn columns(&self) -> Vec<Column> {
        self.columns.described()
    }

    /// Schema, with units and descriptions as metadata of fields.
    pub fn schema(&self) -> SchemaRef {
        schema(self.description, &self.columns())
    }

    /// Name of its file.
    pub fn file(&self) -> String {
        format!("{}.parquet", self.name)
    }

    pub(super) fn batch(&self, run: &Records<'_>) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(self.schema(), self.columns.arrays(run)?)
    }
}

trait Columns: Debug + Sync {
    fn described(&self) -> Vec<Column>;
    fn arrays(&self, run: &Records<'_>) -> Result<Vec<ArrayRef>, ArrowError>;
}

#[derive(Debug)]
struct Table<R: Clone + 'static> {
    name: &'static str,
    description: &'static str,
    condition: Condition,
    rows: for<'a> fn(&'a Records<'a>) -> Cow<'a, [R]>,
    columns: &'static [ColumnOf<R>],
}

impl<R: Clone + Debug + Sync> Table<R> {
    const fn spec(&'static self) -> TableSpec {
        TableSpec { name: self.name, description: self.description, condition: self.condition, columns: self }
    }
}

impl<R: Clone + Debug + Sync> Columns for Table<R> {
    fn described(&self) -> Vec<Column> {
        self.columns.iter().map(ColumnOf::described).collect()
    }

    fn arrays(&self, run: &Records<'_>) -> Result<Vec<ArrayRef>, ArrowError> {
        let records = (self.rows)(run);
        let rows = || (0u32..).zip(records.iter()).map(|(number, record)| Row { run, number, record });
        self.columns.iter().map(|column| column.array(run, rows())).collect()
    }
}
