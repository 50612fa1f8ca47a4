//! Table cells; tables as CSV and JSON text.

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{DataType, Schema};
use serde_json::Value;

type Cell<'a> = Box<dyn Fn(usize) -> Value + 'a>;

/// Reads a column's values; `null` if missing.
pub(crate) fn cells(column: &dyn Array) -> Cell<'_> {
    match column.data_type() {
        DataType::Boolean => {
            let values = column.as_boolean();
            Box::new(move |row| if values.is_valid(row) { values.value(row).into() } else { Value::Null })
        }
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let (keys, names) = (dictionary.keys().as_primitive::<Int32Type>(), cells(dictionary.values().as_ref()));
            Box::new(move |row| if keys.is_valid(row) { names(keys.value(row) as usize) } else { Value::Null })
        }
        DataType::Float64 => numbers::<Float64Type>(column),
        DataType::Int64 => numbers::<Int64Type>(column),
        DataType::UInt8 => numbers::<UInt8Type>(column),
        DataType::UInt16 => numbers::<UInt16Type>(column),
        DataType::UInt32 => numbers::<UInt32Type>(column),
        DataType::UInt64 => numbers::<UInt64Type>(column),
        DataType::Utf8 => {
            let values = column.as_string::<i32>();
            Box::new(move |row| if values.is_valid(row) { values.value(row).into() } else { Value::Null })
        }
        // The lab has no other types; a test would notice missing values of a new one.
        _ => Box::new(|_| Value::Null),
    }
}

fn numbers<T: ArrowPrimitiveType<Native: Into<Value>>>(column: &dyn Array) -> Cell<'_> {
    let values = column.as_primitive::<T>();
    Box::new(move |row| if values.is_valid(row) { values.value(row).into() } else { Value::Null })
}

pub(crate) fn write_csv(out: &mut dyn Write, schema: &Schema, batches: &[RecordBatch]) -> io::Result<()> {
    let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
    writeln!(out, "{}", names.join(","))?;
    for batch in batches {
        let columns: Vec<Cell<'_>> = batch.columns().iter().map(|column| cells(column.as_ref())).collect();
        for row in 0..batch.num_rows() {
            for (index, cell) in columns.iter().enumerate() {
                if index > 0 {
                    out.write_all(b",")?;
                }
                match cell(row) {
                    Value::Null => {}
                    Value::String(text) => out.write_all(quoted(&text).as_bytes())?,
                    value => write!(out, "{value}")?,
                }
            }
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// CSV field (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Writes an array with an object per row.
pub(crate) fn write_json(out: &mut dyn Write, schema: &Schema, batches: &[RecordBatch]) -> io::Result<()> {
    let names: Vec<String> =
        schema.fields().iter().map(|field| Value::from(field.name().as_str()).to_string()).collect();
    let mut before = "[";
    for batch in batches {
        let columns: Vec<Cell<'_>> = batch.columns().iter().map(|column| cells(column.as_ref())).collect();
        for row in 0..batch.num_rows() {
            write!(out, "{before}\n{{")?;
            for (index, (name, cell)) in names.iter().zip(&columns).enumerate() {
                write!(out, "{}{name}:{}", if index > 0 { "," } else { "" }, cell(row))?;
            }
            out.write_all(b"}")?;
            before = ",";
        }
    }
    writeln!(out, "{}\n]", if before == "[" { "[" } else { "" })
}
