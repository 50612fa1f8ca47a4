//! Flow traces as Parquet files, with the columns of a CSV trace.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use incast_model::flow::FlowSet;
use incast_model::workload::{GATED, Trace, WorkloadSpec, write_trace};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::diagnostic::{Diagnostic, Diagnostics};

/// Writes flows as a trace that a `trace` workload reads back: Parquet where the name ends in `.parquet`, CSV otherwise.
///
/// Explicit paths of flows are not part of a trace, nor is what message a flow is part of. Flows that wait for others are
/// refused.
pub fn export_trace(flows: &FlowSet, file: &Path) -> io::Result<()> {
    if !is_parquet(file) {
        let mut out = io::BufWriter::new(File::create(file)?);
        write_trace(flows, &mut out)?;
        return io::Write::flush(&mut out);
    }
    if !flows.gates.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, GATED));
    }
    let all = || flows.flows.iter();
    let tag = |tag: u16| flows.tags.get(usize::from(tag)).map_or("", String::as_str);
    let columns: [(&str, ArrayRef); 8] = [
        ("src", Arc::new(UInt32Array::from_iter_values(all().map(|f| f.src.0)))),
        ("dst", Arc::new(UInt32Array::from_iter_values(all().map(|f| f.dst.0)))),
        ("size_bytes", Arc::new(UInt64Array::from_iter_values(all().map(|f| f.size.0)))),
        ("start_ps", Arc::new(UInt64Array::from_iter_values(all().map(|f| f.start.0)))),
        ("priority", Arc::new(UInt8Array::from_iter_values(all().map(|f| f.priority)))),
        ("tag", Arc::new(StringArray::from_iter_values(all().map(|f| tag(f.tag))))),
        ("sport", Arc::new(UInt16Array::from_iter_values(all().map(|f| f.sport)))),
        ("dport", Arc::new(UInt16Array::from_iter_values(all().map(|f| f.dport)))),
    ];
    let batch = RecordBatch::try_from_iter(columns).map_err(io::Error::other)?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(File::create(file)?, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

fn is_parquet(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// A workload whose Parquet traces have been put into CSV files, which is what the workload reader takes.
///
/// The files are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct ParquetTraces {
    workload: Vec<WorkloadSpec>,
    /// The trace, and the CSV file made of it.
    converted: Vec<(PathBuf, PathBuf)>,
}

impl ParquetTraces {
    pub(crate) fn convert(workload: &[WorkloadSpec], base_dir: &Path) -> Result<Self, Diagnostics> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mut traces = Self { workload: workload.to_vec(), converted: Vec::new() };
        for (index, entry) in workload.iter().enumerate() {
            let Some(trace) = entry.trace.as_ref().filter(|trace| is_parquet(&trace.file)) else { continue };
            let file = base_dir.join(&trace.file);
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let csv = std::env::temp_dir().join(format!("incast-trace-{}-{number}.csv", std::process::id()));
            traces.converted.push((file.clone(), csv.clone()));
            let written = csv_of(&file).and_then(|text| std::fs::write(&csv, text).map_err(|error| error.to_string()));
            written.map_err(|why| {
                let at = format!("workload[{index}].trace.file");
                Diagnostic::new(at, format!("cannot read {}: {why}", file.display()))
            })?;
            traces.workload[index].trace = Some(Trace { file: csv });
        }
        Ok(traces)
    }

    pub(crate) fn workload(&self) -> &[WorkloadSpec] {
        &self.workload
    }

    /// A diagnostic about one of the CSV files as one about its trace.
    pub(crate) fn restore(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let Some(place) = &mut diagnostic.place else { return diagnostic };
        if let Some((trace, _)) = self.converted.iter().find(|(_, csv)| csv.display().to_string() == place.file) {
            place.file = trace.display().to_string();
            // The first line has the names of the columns.
            let row = match place.line {
                1 => "columns".to_owned(),
                line => format!("row {}", line - 2),
            };
            diagnostic.message = format!("{row}: {}", diagnostic.message);
        }
        diagnostic
    }
}

impl Drop for ParquetTraces {
    fn drop(&mut self) {
        for (_, csv) in &self.converted {
            // It may never have been written; and nothing more can be done here.
            let _ = std::fs::remove_file(csv);
        }
    }
}

/// The text of the CSV trace with the same rows.
fn csv_of(file: &Path) -> Result<String, String> {
    let open = File::open(file).map_err(|error| error.to_string())?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(open).and_then(|builder| builder.build());
    let reader = reader.map_err(|error| format!("not a Parquet file, or a damaged one: {error}"))?;
    let names: Vec<String> = reader.schema_names();
    let mut text = names.join(",") + "\n";
    for batch in reader {
        let batch = batch.map_err(|error| format!("the file is damaged: {error}"))?;
        for row in 0..batch.num_rows() {
            for (index, column) in batch.columns().iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                cell(&mut text, column, row).ok_or_else(|| {
                    format!("column `{}` holds {}, neither numbers nor text", names[index], column.data_type())
                })?;
            }
            text.push('\n');
        }
    }
    Ok(text)
}

/// Names of a reader's columns.
trait SchemaNames {
    fn schema_names(&self) -> Vec<String>;
}

impl SchemaNames for parquet::arrow::arrow_reader::ParquetRecordBatchReader {
    fn schema_names(&self) -> Vec<String> {
        use arrow_array::RecordBatchReader;
        self.schema().fields().iter().map(|field| field.name().clone()).collect()
    }
}

/// Appends one value; `None` for a type that no cell of a trace has.
fn cell(text: &mut String, column: &ArrayRef, row: usize) -> Option<()> {
    if column.is_null(row) {
        return Some(());
    }
    macro_rules! number {
        ($($kind:ident => $of:ty),+) => {
            match column.data_type() {
                $(DataType::$kind => write!(text, "{}", column.as_primitive::<$of>().value(row)).ok(),)+
                DataType::Utf8 => push(text, column.as_string::<i32>().value(row)),
                DataType::LargeUtf8 => push(text, column.as_string::<i64>().value(row)),
                DataType::Utf8View => push(text, column.as_string_view().value(row)),
                DataType::Dictionary(..) => {
                    let keys = column.as_any_dictionary();
                    cell(text, keys.values(), *keys.normalized_keys().get(row)?)
                }
                _ => None,
            }
        };
    }
    number!(
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type, UInt8 => UInt8Type,
        UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type, Float32 => Float32Type, Float64 => Float64Type
    )
}

fn push(text: &mut String, value: &str) -> Option<()> {
    text.push_str(value);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Loaded;

    const LIST: &str = r#"
[fabric.star]
hosts = 4
[[workload]]
list = [{ src = 0, dst = 1, size = 5 }, { src = 2, dst = 1, size = "2MB", start = "1500ps", priority = 4 }]
[[workload]]
incast = { fan_in = 3, size = "1kB", receiver = 3 }
[scheme.A]
control = "hpcc"
"#;

    fn flows(text: &str, folder: &Path) -> Result<FlowSet, Diagnostics> {
        let loaded = Loaded::from_text("s.toml", text, folder, &[])?;
        Ok((*loaded.prepare()?.flows).clone())
    }

    fn replay(file: &str) -> String {
        format!("[fabric.star]\nhosts = 4\n[[workload]]\ntrace.file = \"{file}\"\n[scheme.A]\ncontrol = \"hpcc\"\n")
    }

    #[test]
    fn traces_are_read_back_in_both_forms() {
        let folder = tempfile::tempdir().unwrap();
        let made = flows(LIST, folder.path()).unwrap();
        for name in ["t.csv", "t.parquet"] {
            export_trace(&made, &folder.path().join(name)).unwrap();
            let read = flows(&replay(name), folder.path()).unwrap();
            let facts = |set: &FlowSet| {
                let tag = |f: &incast_model::flow::Flow| set.tags[usize::from(f.tag)].clone();
                set.flows
                    .iter()
                    .map(|f| (f.src, f.dst, f.size, f.start, f.priority, f.sport, f.dport, tag(f)))
                    .collect::<Vec<_>>()
            };
            assert_eq!(facts(&read), facts(&made), "{name}");
        }
        assert!(std::fs::read_dir(std::env::temp_dir()).unwrap().flatten().all(|entry| {
            !entry.file_name().to_string_lossy().starts_with(&format!("incast-trace-{}-", std::process::id()))
        }));
    }

    #[test]
    fn bad_traces_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let why = |name: &str| flows(&replay(name), folder.path()).unwrap_err().to_string();
        assert!(why("none.parquet").contains("cannot read "), "{}", why("none.parquet"));
        std::fs::write(folder.path().join("x.parquet"), "no").unwrap();
        assert!(why("x.parquet").contains("not a Parquet file, or a damaged one"), "{}", why("x.parquet"));
        assert!(why("x.parquet").contains("--> s.toml:4:14 (workload[0].trace.file)"), "{}", why("x.parquet"));
        let mut made = flows(LIST, folder.path()).unwrap();
        made.flows[1].size.0 = 0;
        export_trace(&made, &folder.path().join("y.parquet")).unwrap();
        assert!(why("y.parquet").contains("row 1: `0` is not possible here"), "{}", why("y.parquet"));
    }
}
