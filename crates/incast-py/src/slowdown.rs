use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, Field, Schema};
use incast_lab::results::{SlowdownRow, SlowdownTable};

use crate::facade::Batches;

/// A row per group of flows, bin and scheme.
pub(crate) fn batches(tables: &[(String, SlowdownTable)]) -> Result<Batches, ArrowError> {
    let of_table = |table| -> Vec<(u32, &SlowdownRow)> {
        let table: &SlowdownTable = table;
        (0u32..).zip(&table.bins).flat_map(|(bin, rows)| rows.iter().map(move |row| (bin, row))).collect()
    };
    let groups: Vec<(&str, Vec<(u32, &SlowdownRow)>)> =
        tables.iter().map(|(name, table)| (name.as_str(), of_table(table))).collect();
    let names = groups.iter().flat_map(|(name, rows)| std::iter::repeat_n(*name, rows.len()));
    let labels: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    let rows: Vec<(u32, &SlowdownRow)> = groups.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    let whole = |value: fn(&SlowdownRow) -> u64| -> ArrayRef {
        let values = rows.iter().map(|(_, row)| i64::try_from(value(row)).unwrap_or(i64::MAX));
        Arc::new(Int64Array::from_iter_values(values))
    };
    let real = |value: fn(&SlowdownRow) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|(_, row)| value(row))))
    };
    let schemes: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|(_, row)| &row.scheme)));
    let bins: ArrayRef = Arc::new(UInt32Array::from_iter_values(rows.iter().map(|(bin, _)| *bin)));
    let columns = [
        ("scheme", "", "the scheme simulated", schemes),
        ("label", "", "label of the flows, or the name of several together", labels),
        ("bin", "", "number of the bin, from the smallest flows up, from 0; merged bins leave gaps", bins),
        ("flows", "", "completed flows in the bin", whole(|row| row.flows as u64)),
        ("size_min_bytes", "B", "payload of the smallest of them", whole(|row| row.size_min)),
        ("size_max_bytes", "B", "payload of the largest of them", whole(|row| row.size_max)),
        ("p50", "", "median slowdown", real(|row| row.p50)),
        ("p95", "", "95th percentile of the slowdown", real(|row| row.p95)),
        ("p99", "", "99th percentile of the slowdown", real(|row| row.p99)),
        ("mean", "", "mean slowdown", real(|row| row.mean)),
        ("max", "", "largest slowdown", real(|row| row.max)),
    ];
    let fields = columns.iter().map(|(name, unit, description, values)| {
        let mut metadata = HashMap::from([("description".to_owned(), (*description).to_owned())]);
        if !unit.is_empty() {
            metadata.insert("unit".into(), (*unit).into());
        }
        Field::new(*name, values.data_type().clone(), false).with_metadata(metadata)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let columns = columns.into_iter().map(|column| column.3).collect();
    Ok(Batches { batches: vec![RecordBatch::try_new(schema.clone(), columns)?], schema })
}
