//! Reads a results folder.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use incast_model::input::{self, Input};
use incast_model::renamed::renamed;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::columns::{TABLES, TableSpec};
use super::error::ResultsError;
use super::manifest::{FORMAT, Manifest, sha256};
use crate::diagnostic::Diagnostics;
use crate::scenario::Loaded;
use crate::text_file;

/// A results folder.
#[derive(Debug, Clone)]
pub struct Results {
    folder: PathBuf,
    manifest: Manifest,
}

impl Results {
    /// Opens a folder that a run has written.
    pub fn open(folder: &Path) -> Result<Self, ResultsError> {
        let not = |why: String| ResultsError::NotResults { folder: folder.to_owned(), why };
        if !folder.is_dir() {
            return Err(not("there is no such folder".into()));
        }
        let file = folder.join("manifest.json");
        let text = input::read_text(&file, input::DOCUMENT)
            .map_err(|error| not(format!("manifest.json cannot be read: {error}")))?;
        let corrupt = |why: String| ResultsError::Corrupt { file: file.clone(), why };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| corrupt(error.to_string()))?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => {
                return Err(not(format!("its layout is version {format}, this incast reads version {FORMAT}")));
            }
            None => return Err(not("manifest.json has no `format`".into())),
        }
        let manifest = serde_json::from_value(value).map_err(|error| corrupt(error.to_string()))?;
        Ok(Self { folder: folder.to_owned(), manifest })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the folder says of itself.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The scenario that was run, with all defaults; its relative files start where they did then.
    pub fn scenario(&self) -> Result<Loaded, Diagnostics> {
        let file = self.folder.join("scenario.toml");
        let name = file.display().to_string();
        let text = text_file::read(&file)?;
        Loaded::from_text(&name, &text, &self.manifest.scenario_dir, &[])
    }

    /// A table, read in pieces.
    pub fn table(&self, name: &str) -> Result<TableReader, ResultsError> {
        let spec = spec(name)?;
        let file = self.folder.join(spec.file());
        let corrupt = |why: String| ResultsError::Corrupt { file: file.clone(), why };
        let open = Input::open(&file, u64::MAX).map_err(|error| corrupt(format!("cannot be read: {error}")))?;
        let length = open.len().map_err(|error| corrupt(error.to_string()))?;
        if let Some(table) = self.manifest.tables.get(name).filter(|table| table.bytes != length) {
            return Err(corrupt(format!("it has {length} bytes, the manifest says {}", table.bytes)));
        }
        let reader = ParquetRecordBatchReaderBuilder::try_new(open.into_file())
            .and_then(|builder| builder.with_batch_size(1 << 16).build());
        let reader = reader.map_err(|error| corrupt(error.to_string()))?;
        if let Some((old, new)) = older(spec, &arrow_array::RecordBatchReader::schema(&reader)) {
            return Err(ResultsError::Older { file, old, new });
        }
        Ok(TableReader { file, reader })
    }

    /// Reads every file and compares it with the manifest.
    pub fn verify(&self) -> Result<(), ResultsError> {
        let digests = self.manifest.tables.iter().map(|(name, table)| (format!("{name}.parquet"), &table.sha256));
        for (name, expected) in digests.chain([("scenario.toml".to_owned(), &self.manifest.scenario_sha256)]) {
            let file = self.folder.join(name);
            let corrupt = |why: String| ResultsError::Corrupt { file: file.clone(), why };
            let content =
                input::read(&file, input::LARGE).map_err(|error| corrupt(format!("cannot be read: {error}")))?;
            if sha256(&content) != *expected {
                return Err(corrupt("its SHA-256 is not the manifest's: it was changed after the run".into()));
            }
        }
        Ok(())
    }
}

fn spec(name: &str) -> Result<&'static TableSpec, ResultsError> {
    TableSpec::named(name).ok_or_else(|| {
        let known: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        let nearest = incast_model::nearest::nearest(name, known.iter().copied()).map(str::to_owned);
        ResultsError::UnknownTable { name: name.into(), known: known.join(", "), nearest }
    })
}

/// A column that a file has under its name of an earlier version, and its name now.
fn older(spec: &TableSpec, found: &Schema) -> Option<(String, String)> {
    let missing = || spec.columns.iter().map(|column| column.name).filter(|name| found.field_with_name(name).is_err());
    found.fields().iter().find_map(|field| Some((field.name().clone(), renamed(field.name(), missing())?.to_owned())))
}

/// A table of a results folder in the form of the given name, all in one piece.
pub fn read_table(folder: &Path, name: &str) -> Result<RecordBatch, ResultsError> {
    let reader = Results::open(folder)?.table(name)?;
    let (schema, file) = (reader.schema(), reader.file.clone());
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    arrow_select::concat::concat_batches(&schema, &batches)
        .map_err(|error| ResultsError::Corrupt { file, why: error.to_string() })
}

/// The pieces of a table, in order.
pub struct TableReader {
    file: PathBuf,
    reader: ParquetRecordBatchReader,
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").field("file", &self.file).finish_non_exhaustive()
    }
}

impl TableReader {
    /// The columns, with units and descriptions.
    pub fn schema(&self) -> SchemaRef {
        arrow_array::RecordBatchReader::schema(&self.reader)
    }
}

impl Iterator for TableReader {
    type Item = Result<RecordBatch, ResultsError>;

    fn next(&mut self) -> Option<Self::Item> {
        let corrupt =
            |why: arrow_schema::ArrowError| ResultsError::Corrupt { file: self.file.clone(), why: why.to_string() };
        Some(self.reader.next()?.map_err(corrupt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_earlier_versions_are_named() {
        let spec = spec("flows").unwrap();
        let found = spec.schema();
        assert_eq!(older(spec, &found), None);
        let named = |field: &arrow_schema::FieldRef| match field.name().as_str() {
            "label" => field.as_ref().clone().with_name("tag"),
            _ => field.as_ref().clone(),
        };
        let before = Schema::new(found.fields().iter().map(named).collect::<Vec<_>>());
        assert_eq!(older(spec, &before), Some(("tag".into(), "label".into())));
    }
}
