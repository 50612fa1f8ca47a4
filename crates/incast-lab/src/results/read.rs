use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use incast_model::caught::caught;
use incast_model::echo::word;
use incast_model::input;
use incast_model::parquet_headers::{check_footer, check_pages};
use incast_model::renamed::renamed;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::error::{Damage, ResultsError};
use super::manifest::{FORMAT, Manifest, TableManifest, sha256_of_file};
use super::tables::{TABLES, TableSpec};
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
    /// Checks only sizes and rows of tables; [`Results::verify`] compares contents.
    pub fn open(folder: &Path) -> Result<Self, ResultsError> {
        let results = Self::open_unchecked(folder)?;
        let damage: Vec<Damage> = (results.manifest.tables.iter())
            .filter_map(|(name, table)| {
                results.damage_of_size(name, table).or_else(|| results.damage_of_rows(name, table))
            })
            .collect();
        if damage.is_empty() { Ok(results) } else { Err(ResultsError::Damaged(damage)) }
    }

    /// Opens even damaged tables, for [`Results::verify`].
    pub fn open_unchecked(folder: &Path) -> Result<Self, ResultsError> {
        let not = |why: String| ResultsError::NotResults { folder: folder.to_owned(), why };
        if !folder.is_dir() {
            return Err(not("there is no such folder".into()));
        }
        let file = folder.join("manifest.json");
        let text = input::read_text(&file, input::DOCUMENT)
            .map_err(|error| not(format!("manifest.json cannot be read: {error}")))?;
        let damaged = |error: serde_json::Error| ResultsError::damaged(&file, error.to_string());
        let value: serde_json::Value = serde_json::from_str(&text).map_err(damaged)?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => {
                let newer = if format > u64::from(FORMAT) { ": update incast" } else { "" };
                return Err(not(format!("its layout is version {format}, this incast reads version {FORMAT}{newer}")));
            }
            None => return Err(not("manifest.json has no `format`".into())),
        }
        let manifest: Manifest = serde_json::from_value(value).map_err(damaged)?;
        if let Some(name) = manifest.tables.keys().find(|name| TableSpec::named(name).is_none()) {
            return Err(ResultsError::damaged(&file, format!("it has an unknown table, `{}`", word(name))));
        }
        for (scheme, of_scheme) in &manifest.schemes {
            if let Some((name, _)) = of_scheme.counts.iter().find(|(_, count)| !count.is_u64()) {
                let why =
                    format!("counts.{} of scheme `{}` must be a whole number, 0 or more", word(name), word(scheme));
                return Err(ResultsError::damaged(&file, why));
            }
            if !of_scheme.counts.contains_key("drops") {
                let why = format!("counts of scheme `{}` lack `drops`", word(scheme));
                return Err(ResultsError::damaged(&file, why));
            }
        }
        Ok(Self { folder: folder.to_owned(), manifest })
    }

    /// Path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Manifest of the folder.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Scenario of the run with defaults; relative files start where they did.
    pub fn scenario(&self) -> Result<Loaded, Diagnostics> {
        let file = self.folder.join("scenario.toml");
        let name = file.display().to_string();
        let text = text_file::read(&file)?;
        Loaded::from_text(&name, &text, &self.scenario_dir(), &[])
    }

    /// Folder of the scenario's relative file names.
    pub fn scenario_dir(&self) -> PathBuf {
        self.manifest.scenario_dir.as_ref().map_or_else(|| self.folder.clone(), |dir| self.folder.join(dir))
    }

    /// A table in batches; first compares its file with the manifest.
    pub fn table(&self, name: &str) -> Result<TableReader, ResultsError> {
        self.read(name, None)
    }

    /// The given columns of a table in batches, much faster than all; those that it lacks are left out.
    pub fn columns(&self, name: &str, columns: &[&str]) -> Result<TableReader, ResultsError> {
        self.read(name, Some(columns))
    }

    fn read(&self, name: &str, columns: Option<&[&str]>) -> Result<TableReader, ResultsError> {
        let spec = spec(name)?;
        let file = self.file(name);
        let Some(table) = self.manifest.tables.get(name) else {
            let known: Vec<&str> = self.manifest.tables.keys().map(String::as_str).collect();
            return Err(ResultsError::UnknownTable { name: name.into(), known: known.join(", "), nearest: None });
        };
        if let Some(damage) = self.damage_of_size(name, table).or_else(|| self.damage_of_content(&file, &table.sha256))
        {
            return Err(ResultsError::Damaged(vec![damage]));
        }
        let opened = opened(&file)?;
        if let Some((old, new)) = older(spec, opened.schema()) {
            return Err(ResultsError::Older { file, old, new });
        }
        check_rows(&file, rows_of(&opened), table)?;
        let reader = reader(&file, opened, columns)?;
        Ok(TableReader { file, reader, broken: false })
    }

    /// Compares every file with the manifest.
    pub fn verify(&self) -> Vec<Damage> {
        let scenario = self.damage_of_content(&self.folder.join("scenario.toml"), &self.manifest.scenario_sha256);
        let tables = self.manifest.tables.iter().filter_map(|(name, table)| {
            let file = self.file(name);
            let content = || self.damage_of_content(&file, &table.sha256);
            self.damage_of_size(name, table).or_else(content).or_else(|| self.damage_of_rows(name, table))
        });
        tables.chain(scenario).collect()
    }

    fn file(&self, table: &str) -> PathBuf {
        self.folder.join(format!("{table}.parquet"))
    }

    fn damage_of_size(&self, name: &str, table: &TableManifest) -> Option<Damage> {
        let file = self.file(name);
        let why = match std::fs::metadata(&file) {
            Err(error) => unreadable(&error),
            Ok(data) if !data.is_file() => "it is not a file".to_owned(),
            Ok(data) if data.len() != table.bytes => {
                format!("it has {} bytes, the manifest says {}", data.len(), table.bytes)
            }
            Ok(_) => return None,
        };
        Some(Damage { file, why })
    }

    fn damage_of_rows(&self, name: &str, table: &TableManifest) -> Option<Damage> {
        let file = self.file(name);
        let rows = opened(&file).and_then(|opened| check_rows(&file, rows_of(&opened), table));
        // A changed file is reported as such.
        rows.err().map(|error| {
            self.damage_of_content(&file, &table.sha256).unwrap_or_else(|| Damage { file, why: why(error) })
        })
    }

    fn damage_of_content(&self, file: &Path, sha256: &str) -> Option<Damage> {
        // A named pipe would never end.
        let found = match std::fs::metadata(file) {
            Ok(data) if !data.is_file() => Err(io::Error::other("it is not a file")),
            _ => sha256_of_file(file),
        };
        let why = match found {
            Err(error) => unreadable(&error),
            Ok(found) if found != sha256 => {
                "its SHA-256 is not the manifest's: it was changed after the run".to_owned()
            }
            Ok(_) => return None,
        };
        Some(Damage { file: file.to_owned(), why })
    }
}

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the file is missing".into(),
        _ => format!("it cannot be read: {error}"),
    }
}

fn why(error: ResultsError) -> String {
    match error {
        ResultsError::Damaged(mut damage) if damage.len() == 1 => damage.remove(0).why,
        other => other.to_string(),
    }
}

type Opened = ParquetRecordBatchReaderBuilder<File>;

fn opened(file: &Path) -> Result<Opened, ResultsError> {
    valid(file, || {
        let data = File::open(file)?;
        check_footer(&data).map_err(ParquetError::General)?;
        let opened = Opened::try_new(data.try_clone()?)?;
        check_pages(&data, opened.metadata()).map_err(ParquetError::General)?;
        Ok(opened)
    })
}

fn rows_of(opened: &Opened) -> i64 {
    opened.metadata().file_metadata().num_rows()
}

fn reader(file: &Path, opened: Opened, columns: Option<&[&str]>) -> Result<ParquetRecordBatchReader, ResultsError> {
    let mask = columns.map_or_else(ProjectionMask::all, |columns| {
        ProjectionMask::columns(opened.parquet_schema(), columns.iter().copied())
    });
    valid(file, || opened.with_batch_size(1 << 16).with_projection(mask).build())
}

/// The library panics on some damaged files.
fn valid<T>(file: &Path, call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ResultsError> {
    let made = caught(call).map_err(|panic| invalid(file, panic))?;
    made.map_err(|error| invalid(file, error))
}

fn invalid(file: &Path, why: impl std::fmt::Display) -> ResultsError {
    ResultsError::damaged(file, format!("it is not valid Parquet: {why}"))
}

fn check_rows(file: &Path, rows: i64, table: &TableManifest) -> Result<(), ResultsError> {
    if u64::try_from(rows) == Ok(table.rows) {
        return Ok(());
    }
    Err(ResultsError::damaged(file, format!("it has {rows} rows, the manifest says {}", table.rows)))
}

fn spec(name: &str) -> Result<&'static TableSpec, ResultsError> {
    TableSpec::named(name).ok_or_else(|| {
        let known: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        let nearest = incast_model::nearest::nearest(name, known.iter().copied()).map(str::to_owned);
        ResultsError::UnknownTable { name: name.into(), known: known.join(", "), nearest }
    })
}

fn older(spec: &TableSpec, found: &Schema) -> Option<(String, String)> {
    let columns = spec.columns();
    let missing = || columns.iter().map(|column| column.name).filter(|name| found.field_with_name(name).is_err());
    found.fields().iter().find_map(|field| Some((field.name().clone(), renamed(field.name(), missing())?.to_owned())))
}

/// Reads a whole table of a results folder.
pub fn read_table(folder: &Path, name: &str) -> Result<RecordBatch, ResultsError> {
    let reader = Results::open(folder)?.table(name)?;
    let (schema, file) = (reader.schema(), reader.file.clone());
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    arrow_select::concat::concat_batches(&schema, &batches)
        .map_err(|error| ResultsError::damaged(&file, error.to_string()))
}

/// Batches of a table, in order.
pub struct TableReader {
    file: PathBuf,
    reader: ParquetRecordBatchReader,
    /// The library's reader is not used after an error: it can repeat it without end.
    broken: bool,
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").field("file", &self.file).finish_non_exhaustive()
    }
}

impl TableReader {
    /// Columns with units and descriptions.
    pub fn schema(&self) -> SchemaRef {
        arrow_array::RecordBatchReader::schema(&self.reader)
    }
}

impl Iterator for TableReader {
    type Item = Result<RecordBatch, ResultsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.broken {
            return None;
        }
        let batch = match caught(|| self.reader.next()) {
            Ok(batch) => batch?.map_err(|error| invalid(&self.file, error)),
            Err(panic) => Err(invalid(&self.file, panic)),
        };
        self.broken = batch.is_err();
        Some(batch)
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
