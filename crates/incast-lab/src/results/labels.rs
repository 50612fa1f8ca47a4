//! Constant columns, which distinguish runs of a sweep.

use std::collections::HashMap;
use std::iter::repeat_n;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use incast_model::echo::{is_control, word};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::tables::{TABLES, TableSpec};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Value of a constant column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Label {
    /// Boolean.
    Flag(bool),
    /// Integer.
    Whole(i64),
    /// Real number.
    Real(f64),
    /// Text.
    Text(String),
}

impl Label {
    fn data_type(&self) -> DataType {
        match self {
            Self::Flag(_) => DataType::Boolean,
            Self::Whole(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
            Self::Text(_) => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        }
    }

    fn column(&self, rows: usize) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Flag(value) => Arc::new(BooleanArray::from(vec![*value; rows])),
            Self::Whole(value) => Arc::new(Int64Array::from_iter_values(repeat_n(*value, rows))),
            Self::Real(value) => Arc::new(Float64Array::from_iter_values(repeat_n(*value, rows))),
            Self::Text(value) => {
                let keys = Int32Array::from_iter_values(repeat_n(0, rows));
                Arc::new(DictionaryArray::try_new(keys, Arc::new(StringArray::from(vec![value.as_str()])))?)
            }
        })
    }
}

/// Constant columns by name, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Labels(pub IndexMap<String, Label>);

impl Labels {
    /// Returns true without columns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Readers of tables, such as DuckDB, take names that differ in case for one.
    pub(super) fn check(&self) -> Result<(), Diagnostics> {
        let of_table = |name: &str| {
            let has = |table: &TableSpec| table.columns().iter().any(|one| one.name.eq_ignore_ascii_case(name));
            TABLES.iter().find(|table| has(table)).map(|table| format!("table {} has it already", table.name))
        };
        let names: Vec<&String> = self.0.keys().collect();
        let found = names.iter().enumerate().filter_map(|(place, name)| {
            let why = match names[..place].iter().find(|other| other.eq_ignore_ascii_case(name)) {
                _ if name.trim().is_empty() => "it is blank".to_owned(),
                _ if name.chars().any(is_control) => "it has control characters".to_owned(),
                Some(other) => format!("`{other}` is one"),
                None => of_table(name)?,
            };
            Some(Diagnostic::new("", format!("`{}` cannot be added as a column: {why}", word(name))))
        });
        Diagnostics::check(found.collect())
    }

    pub(super) fn schema(&self, table: &TableSpec) -> SchemaRef {
        let schema = table.schema();
        let mut fields: Vec<Field> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
        fields.extend(self.0.iter().map(|(name, label)| {
            let metadata =
                HashMap::from([("description".to_owned(), "varied parameter, constant in this file".to_owned())]);
            Field::new(name, label.data_type(), false).with_metadata(metadata)
        }));
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    pub(super) fn added(&self, table: &TableSpec, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let mut columns = batch.columns().to_vec();
        for label in self.0.values() {
            columns.push(label.column(batch.num_rows())?);
        }
        RecordBatch::try_new(self.schema(table), columns)
    }
}
