//! Tables: Arrow record batches, as Arrow C streams and plain forms.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{Field, Schema};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use serde_json::{Value, json};

use crate::cells::{cells, write_csv, write_json};
use crate::facade::Batches;

#[pyclass(frozen, module = "incast._core")]
#[derive(Debug)]
pub(crate) struct Table(Batches);

impl From<Batches> for Table {
    fn from(batches: Batches) -> Self {
        Self(batches)
    }
}

/// Column from Python: name, kind, unit, description, values.
type Given<'py> = (String, String, Option<String>, String, Bound<'py, PyAny>);

type Writer = fn(&mut dyn Write, &Schema, &[RecordBatch]) -> io::Result<()>;

impl Table {
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

    /// Writes the first rows as text, or to `path`.
    fn written(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        limit: Option<usize>,
        writer: Writer,
    ) -> PyResult<Option<String>> {
        let batches = self.head(limit);
        let written = py.detach(|| match &path {
            None => {
                let mut text = Vec::new();
                writer(&mut text, &self.0.schema, &batches)?;
                Ok(Some(String::from_utf8_lossy(&text).into_owned()))
            }
            Some(path) => {
                let mut out = BufWriter::new(File::create(path)?);
                writer(&mut out, &self.0.schema, &batches)?;
                out.flush().map(|()| None)
            }
        });
        written.map_err(|error: io::Error| match path {
            Some(path) => io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())).into(),
            None => error.into(),
        })
    }
}

#[pymethods]
impl Table {
    /// Makes a table of columns (name, kind, unit, description, values). Values are of one kind, `i64`, `f64` or `name`;
    /// missing ones are `None`.
    #[staticmethod]
    fn of_columns(columns: Vec<Given<'_>>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (name, kind, unit, description, values) in columns {
            let array: ArrayRef = match kind.as_str() {
                "i64" => Arc::new(values.extract::<Vec<Option<i64>>>()?.into_iter().collect::<Int64Array>()),
                "f64" => Arc::new(values.extract::<Vec<Option<f64>>>()?.into_iter().collect::<Float64Array>()),
                _ => Arc::new(values.extract::<Vec<Option<String>>>()?.into_iter().collect::<StringArray>()),
            };
            let mut metadata = HashMap::from([("description".to_owned(), description)]);
            metadata.extend(unit.map(|unit| ("unit".to_owned(), unit)));
            let field = Field::new(name, array.data_type().clone(), array.null_count() > 0);
            fields.push(field.with_metadata(metadata));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays);
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(Batches { schema, batches: vec![batch] }))
    }

    fn __len__(&self) -> usize {
        self.0.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Columns as JSON text: name, type, unit, description.
    pub(crate) fn columns(&self) -> String {
        let columns: Vec<Value> = (self.0.schema.fields().iter())
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

    /// Values of a column as Python objects.
    #[pyo3(signature = (name, limit = None))]
    fn column<'py>(&self, py: Python<'py>, name: &str, limit: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let index = self.0.schema.index_of(name).map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        let list = PyList::empty(py);
        for batch in self.head(limit) {
            let cell = cells(batch.column(index).as_ref());
            for row in 0..batch.num_rows() {
                match cell(row) {
                    Value::Bool(flag) => list.append(flag)?,
                    Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                        (Some(whole), _) => list.append(whole)?,
                        (None, Some(whole)) => list.append(whole)?,
                        (None, None) => list.append(number.as_f64())?,
                    },
                    Value::String(text) => list.append(text)?,
                    _ => list.append(py.None())?,
                }
            }
        }
        Ok(list)
    }

    /// CSV text with a header, or written to `path`.
    #[pyo3(signature = (path = None, limit = None))]
    fn to_csv(&self, py: Python<'_>, path: Option<PathBuf>, limit: Option<usize>) -> PyResult<Option<String>> {
        self.written(py, path, limit, write_csv)
    }

    /// JSON text, an array of objects, or written to `path`.
    #[pyo3(signature = (path = None, limit = None))]
    fn to_json(&self, py: Python<'_>, path: Option<PathBuf>, limit: Option<usize>) -> PyResult<Option<String>> {
        self.written(py, path, limit, write_json)
    }

    /// Arrow C stream (Arrow PyCapsule interface); ignores `requested_schema`, as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.0.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.0.schema.clone());
        // The capsule owns the stream: a consumer empties it, and dropping an emptied stream does nothing.
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
