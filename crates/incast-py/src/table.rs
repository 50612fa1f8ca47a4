//! Tables: Arrow record batches that frame libraries take over by the Arrow C stream, and their plain forms.

use std::io::Write;
use std::path::PathBuf;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchIterator};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type, UInt64Type};
use arrow::error::ArrowError;
use arrow::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::{PyKeyError, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use serde_json::json;

use crate::facade::Batches;

/// A table in memory.
#[pyclass(frozen, module = "incast._core")]
#[derive(Debug)]
pub(crate) struct Table(Batches);

impl From<Batches> for Table {
    fn from(batches: Batches) -> Self {
        Self(batches)
    }
}

impl Table {
    /// The batches, cut to the first `limit` rows.
    fn head(&self, limit: Option<usize>) -> Vec<RecordBatch> {
        let mut left = limit.unwrap_or(usize::MAX);
        let mut head = Vec::new();
        for batch in &self.0.batches {
            let rows = batch.num_rows().min(left);
            head.push(batch.slice(0, rows));
            left -= rows;
        }
        head
    }
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.0.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The columns as JSON text: name, type, unit and description of each.
    fn columns(&self) -> String {
        let columns: Vec<_> = (self.0.schema.fields().iter())
            .map(|field| {
                json!({
                    "name": field.name(),
                    "type": field.data_type().to_string(),
                    "nullable": field.is_nullable(),
                    "unit": field.metadata().get("unit"),
                    "description": field.metadata().get("description"),
                })
            })
            .collect();
        json!(columns).to_string()
    }

    /// The values of one column as Python objects.
    #[pyo3(signature = (name, limit = None))]
    fn column<'py>(&self, py: Python<'py>, name: &str, limit: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let index = self.0.schema.index_of(name).map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        let list = PyList::empty(py);
        for batch in self.head(limit) {
            append(&list, batch.column(index))?;
        }
        Ok(list)
    }

    /// The rows as CSV text with a header, or written to `path`.
    #[pyo3(signature = (path = None, limit = None))]
    fn to_csv(&self, py: Python<'_>, path: Option<PathBuf>, limit: Option<usize>) -> PyResult<Option<String>> {
        let batches = self.head(limit);
        self.written(py, path, |out| {
            let mut writer = arrow::csv::WriterBuilder::new().with_header(true).build(out);
            if batches.is_empty() {
                writer.write(&RecordBatch::new_empty(self.0.schema.clone()))?;
            }
            batches.iter().try_for_each(|batch| writer.write(batch))
        })
    }

    /// The rows as JSON text, an array of objects, or written to `path`.
    #[pyo3(signature = (path = None, limit = None))]
    fn to_json(&self, py: Python<'_>, path: Option<PathBuf>, limit: Option<usize>) -> PyResult<Option<String>> {
        let batches = self.head(limit);
        self.written(py, path, |out| {
            let mut writer = arrow::json::WriterBuilder::new()
                .with_explicit_nulls(true)
                .build::<_, arrow::json::writer::JsonArray>(out);
            batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.finish()
        })
    }

    /// The table as an Arrow C stream (the Arrow PyCapsule interface); what `requested_schema` asks for is not looked at,
    /// as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.0.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.0.schema.clone());
        // The capsule owns the stream: whoever takes it over empties it, and dropping an emptied stream does nothing.
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

impl Table {
    /// What `write` writes, as text or in the file at `path`.
    fn written(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), ArrowError> + Send,
    ) -> PyResult<Option<String>> {
        let failed = |error: ArrowError| PyRuntimeError::new_err(error.to_string());
        py.detach(|| match path {
            None => {
                let mut text = Vec::new();
                write(&mut text).map_err(failed)?;
                Ok(Some(String::from_utf8_lossy(&text).into_owned()))
            }
            Some(path) => {
                let wrong = |error| PyOSError::new_err(format!("{}: {error}", path.display()));
                let file = std::fs::File::create(&path).map_err(wrong)?;
                let mut out = std::io::BufWriter::new(file);
                write(&mut out).map_err(failed)?;
                out.flush().map_err(wrong)?;
                Ok(None)
            }
        })
    }
}

/// Appends every value of `array` to `list`.
fn append(list: &Bound<'_, PyList>, array: &ArrayRef) -> PyResult<()> {
    use DataType as T;
    let plain = match array.data_type() {
        T::Int8 | T::Int16 | T::Int32 | T::Timestamp(..) | T::Duration(_) | T::Time64(_) => T::Int64,
        T::UInt8 | T::UInt16 | T::UInt32 => T::UInt64,
        T::Dictionary(_, values) => (**values).clone(),
        T::LargeUtf8 | T::Utf8View => T::Utf8,
        other => other.clone(),
    };
    let array = arrow::compute::cast(array, &plain).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    match plain {
        T::Int64 => array.as_primitive::<Int64Type>().iter().try_for_each(|value| list.append(value)),
        T::UInt64 => array.as_primitive::<UInt64Type>().iter().try_for_each(|value| list.append(value)),
        T::Float64 => array.as_primitive::<Float64Type>().iter().try_for_each(|value| list.append(value)),
        T::Float32 => array.as_primitive::<Float32Type>().iter().try_for_each(|value| list.append(value)),
        T::Boolean => array.as_boolean().iter().try_for_each(|value| list.append(value)),
        T::Utf8 => array.as_string::<i32>().iter().try_for_each(|value| list.append(value)),
        T::List(_) => array.as_list::<i32>().iter().try_for_each(|value| match value {
            None => list.append(list.py().None()),
            Some(value) => {
                let inner = PyList::empty(list.py());
                append(&inner, &value)?;
                list.append(inner)
            }
        }),
        other => Err(PyRuntimeError::new_err(format!("a column of {other} has no Python form"))),
    }
}
