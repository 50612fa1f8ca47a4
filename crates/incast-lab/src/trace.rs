//! Flow traces as Parquet, with the columns of a CSV trace.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use incast_model::flow::FlowSet;
use incast_model::workload::{TraceWaits, check_trace, write_trace};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Writes flows for a `trace` workload: Parquet if the name ends in `.parquet`, else CSV.
///
/// Omits explicit paths, message numbers and iterations of collectives; refuses backlogged flows, and those that an entry's end
/// cancels.
pub fn export_trace(flows: &FlowSet, file: &Path) -> io::Result<()> {
    if !is_parquet(file) {
        let mut out = io::BufWriter::new(File::create(file)?);
        write_trace(flows, &mut out)?;
        return io::Write::flush(&mut out);
    }
    check_trace(flows)?;
    let all = || flows.flows.iter();
    let label = |label: u16| flows.labels.get(usize::from(label)).map_or("", String::as_str);
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("src", Arc::new(UInt32Array::from_iter_values(all().map(|f| f.src.0)))),
        ("dst", Arc::new(UInt32Array::from_iter_values(all().map(|f| f.dst.0)))),
        ("size_bytes", Arc::new(UInt64Array::from_iter_values(all().map(|f| f.size.0)))),
        ("start_ps", Arc::new(UInt64Array::from_iter_values(all().map(|f| f.start.0)))),
        ("priority", Arc::new(UInt8Array::from_iter_values(all().map(|f| f.priority)))),
        ("label", Arc::new(StringArray::from_iter_values(all().map(|f| label(f.label))))),
        ("sport", Arc::new(UInt16Array::from_iter_values(all().map(|f| f.sport)))),
        ("dport", Arc::new(UInt16Array::from_iter_values(all().map(|f| f.dport)))),
    ];
    if let Some(waits) = TraceWaits::new(flows) {
        let numbers = || 0..flows.flows.len();
        columns.extend([
            ("name", Arc::new(StringArray::from_iter_values(numbers().map(|flow| waits.name(flow)))) as ArrayRef),
            ("after", Arc::new(StringArray::from_iter_values(numbers().map(|flow| waits.after(flow))))),
            (
                "delay_ps",
                Arc::new(UInt64Array::from_iter_values(numbers().map(|flow| waits.delay(flow).unwrap_or_default().0))),
            ),
        ]);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostics;
    use crate::scenario::Loaded;

    const LIST: &str = r#"
[fabric.star]
hosts = 4
[[workload]]
list = [{ src = 0, dst = 1, size = 5 }, { src = 2, dst = 1, size = "2MB", start = "1500ps", priority = 4 }]
[[workload]]
incast = { fan_in = 3, size = "1kB", receiver = 3 }
[[workload]]
list = [{ src = 0, dst = 1, size = 5, name = "a" }, { src = 1, dst = 0, size = 1, after = ["a"], delay = "7ns" }]
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
                let label = |f: &incast_model::flow::Flow| set.labels[usize::from(f.label)].clone();
                set.flows
                    .iter()
                    .map(|f| (f.src, f.dst, f.size, f.start, f.priority, f.sport, f.dport, label(f)))
                    .collect::<Vec<_>>()
            };
            assert_eq!(facts(&read), facts(&made), "{name}");
            assert_eq!((read.gates.len(), &read.gates), (1, &made.gates), "{name}");
        }
    }

    #[test]
    fn bad_traces_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let why = |name: &str| flows(&replay(name), folder.path()).unwrap_err().to_string();
        assert!(why("none.parquet").contains("cannot read "), "{}", why("none.parquet"));
        std::fs::write(folder.path().join("x.parquet"), "PAR1, but no more").unwrap();
        assert!(why("x.parquet").contains("no whole Parquet file"), "{}", why("x.parquet"));
        assert!(why("x.parquet").contains("--> s.toml:4:14 (workload[0].trace.file)"), "{}", why("x.parquet"));
        let mut made = flows(LIST, folder.path()).unwrap();
        made.flows[1].size.0 = 0;
        export_trace(&made, &folder.path().join("y.parquet")).unwrap();
        assert!(why("y.parquet").contains("`0` is not possible in row 2 of "), "{}", why("y.parquet"));
    }
}
