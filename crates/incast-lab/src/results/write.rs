use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sha2::{Digest, Sha256};

use super::error::ResultsError;
use super::labels::Labels;
use super::manifest::{Manifest, TableManifest, hex};
use super::records::Records;
use super::relative::relative;
#[cfg(test)]
use super::simulate::Engine;
use super::simulate::{RunProgress, SchemeRun, simulate};
use super::staging::Staging;
use super::tables::{TABLES, TableSpec};
use super::throughput::{self, Row};
use crate::scenario::Prepared;

/// Options of [`run`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunOptions {
    /// As in [`simulate`].
    pub threads: Option<usize>,
    /// If true, replaces existing results, never anything else.
    pub overwrite: bool,
    /// Constant columns of every table.
    pub labels: Labels,
}

/// A completed and written run.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// Manifest of the folder.
    pub manifest: Manifest,
    /// Runs of the schemes, in memory.
    pub runs: Vec<SchemeRun>,
}

/// Small enough to read in pieces, large enough to compress well.
const ROW_GROUP: usize = 1 << 20;

/// Simulates every scheme and writes a results folder, whole or not at all.
///
/// Checks the target first. Calls `progress` about ten times a second; if it breaks, nothing is written.
pub fn run(
    prepared: &Prepared,
    out: &Path,
    options: RunOptions,
    progress: &mut dyn FnMut(&RunProgress) -> ControlFlow<()>,
) -> Result<RunReport, ResultsError> {
    options.labels.check().map_err(ResultsError::Setup)?;
    let staging = Staging::begin(out, options.overwrite)?;
    let begin = Instant::now();
    let runs = simulate(prepared, options.threads, progress)?;
    finish(staging, prepared, runs, begin.elapsed(), options.labels)
}

/// Writes completed simulations; `wall` is their total time.
pub fn write(
    prepared: &Prepared,
    runs: Vec<SchemeRun>,
    wall: Duration,
    out: &Path,
    overwrite: bool,
) -> Result<RunReport, ResultsError> {
    finish(Staging::begin(out, overwrite)?, prepared, runs, wall, Labels::default())
}

#[cfg(test)]
pub(super) fn run_with(
    prepared: &Prepared,
    out: &Path,
    options: RunOptions,
    progress: &mut dyn FnMut(&RunProgress) -> ControlFlow<()>,
    engine: impl Engine,
) -> Result<RunReport, ResultsError> {
    options.labels.check().map_err(ResultsError::Setup)?;
    let staging = Staging::begin(out, options.overwrite)?;
    let runs = super::simulate::simulate_with(prepared, options.threads.unwrap_or(2), progress, engine)?;
    finish(staging, prepared, runs, Duration::ZERO, options.labels)
}

fn finish(
    staging: Staging,
    prepared: &Prepared,
    runs: Vec<SchemeRun>,
    wall: Duration,
    labels: Labels,
) -> Result<RunReport, ResultsError> {
    let scenario = prepared.scenario.to_toml();
    let mut manifest = Manifest { labels, ..Manifest::of(prepared, &runs, &scenario, wall) };
    if prepared.scenario.files(Path::new("")).iter().any(|file| file.is_relative()) {
        manifest.scenario_dir = relative(staging.target(), &prepared.base_dir);
    }
    staging.write("scenario.toml", scenario.as_bytes())?;
    let throughput = throughput_of(prepared, &runs);
    for table in TABLES.iter().filter(|table| table.condition.holds(prepared)) {
        let fail = |why: String| ResultsError::write(&staging.shown(&table.file()), why);
        let written = write_table(&staging, table, prepared, &runs, &throughput, &manifest.labels).map_err(fail)?;
        manifest.tables.insert(table.name.into(), written);
    }
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|error| ResultsError::write(&staging.shown("manifest.json"), error))?;
    staging.write("manifest.json", (text + "\n").as_bytes())?;
    staging.commit()?;
    Ok(RunReport { manifest, runs })
}

fn throughput_of(prepared: &Prepared, runs: &[SchemeRun]) -> Vec<Vec<Row>> {
    if prepared.tenancy.is_none() {
        return vec![Vec::new(); runs.len()];
    }
    (runs.iter().enumerate()).map(|(scheme, run)| throughput::rows(prepared, scheme, &run.outcome)).collect()
}

fn reason(error: &parquet::errors::ParquetError) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

fn write_table(
    staging: &Staging,
    table: &TableSpec,
    prepared: &Prepared,
    runs: &[SchemeRun],
    throughput: &[Vec<Row>],
    labels: &Labels,
) -> Result<TableManifest, String> {
    let file = staging.create(&table.file()).map_err(|error| error.to_string())?;
    let mut out = Digesting { file: io::BufWriter::with_capacity(1 << 18, file), bytes: 0, digest: Sha256::new() };
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_created_by(concat!("incast ", env!("CARGO_PKG_VERSION")).into())
        .build();
    let mut writer =
        ArrowWriter::try_new(&mut out, labels.schema(table), Some(properties)).map_err(|error| reason(&error))?;
    let schemes: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let mut rows = 0;
    for (scheme, run) in runs.iter().enumerate() {
        let records = Records {
            fabric: &prepared.fabric,
            flows: &prepared.schemes[scheme].setup.flows,
            tenancy: prepared.tenancy.as_deref(),
            schemes: &schemes,
            scheme,
            histogram_bin: prepared.scenario.measure.histogram_bin,
            outcome: &run.outcome,
            throughput: &throughput[scheme],
        };
        let batch = table.batch(&records).and_then(|batch| labels.added(table, &batch));
        let batch = batch.map_err(|error| error.to_string())?;
        rows += batch.num_rows() as u64;
        writer.write(&batch).map_err(|error| reason(&error))?;
    }
    writer.close().map_err(|error| reason(&error))?;
    out.finish(rows).map_err(|error| error.to_string())
}

struct Digesting {
    file: io::BufWriter<File>,
    bytes: u64,
    digest: Sha256,
}

impl Write for Digesting {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        let written = self.file.write(content)?;
        self.bytes += written as u64;
        self.digest.update(&content[..written]);
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Digesting {
    fn finish(mut self, rows: u64) -> io::Result<TableManifest> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        Ok(TableManifest { rows, bytes: self.bytes, sha256: hex(&self.digest.finalize()) })
    }
}
