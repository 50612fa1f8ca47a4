//! Writes remote-memory traces of `incast memory` as Parquet.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Bytes of a record: time (8 bytes), then 4 each: page, thread, kind (0 read fetch, 1 write fetch, 2 write-back), requested
/// delay, achieved delay, instrument's time.
const RECORD: usize = 32;
/// A row group.
const BATCH: usize = 1 << 20;

const DESCRIPTION: &str =
    "Pages that a program fetched from remote memory or wrote back, in order of arrival for each process";

/// Columns of a trace, with units and descriptions as metadata.
pub fn schema() -> SchemaRef {
    let name = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = vec![
        field("time_ns", DataType::Int64, false, "ns", "time of the fault or write-back since the program's start"),
        field("process", DataType::UInt32, false, "", "process, as numbered in summary.json"),
        field("thread", DataType::UInt32, true, "", "waiting thread, by gettid; missing for a write-back"),
        field("page", DataType::UInt32, false, "", "page number in the process's region"),
        field("kind", name, false, "", "read: page fetched; write-back: changed page written back"),
        field("write", DataType::Boolean, true, "", "true if the page was fetched for writing"),
        field("asked_ns", DataType::UInt32, true, "ns", "requested delay"),
        field("achieved_ns", DataType::UInt32, true, "ns", "achieved delay"),
        field("software_ns", DataType::UInt32, true, "ns", "additional time of the instrument, from the fault on"),
    ];
    Arc::new(Schema::new_with_metadata(fields, described(DESCRIPTION)))
}

fn field(name: &str, kind: DataType, nullable: bool, unit: &str, description: &str) -> Field {
    let mut metadata = described(description);
    if !unit.is_empty() {
        metadata.insert("unit".into(), unit.into());
    }
    Field::new(name, kind, nullable).with_metadata(metadata)
}

fn described(text: &str) -> HashMap<String, String> {
    HashMap::from([("description".into(), text.into())])
}

/// Writes the records of processes, one file each, as one trace; returns its rows. `start_ns`: start on the records' clock.
pub fn write(out: &Path, start_ns: u64, processes: &[(u32, PathBuf)]) -> io::Result<u64> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(BATCH))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(out)?, schema(), Some(properties))?;
    let mut rows = 0;
    for (process, file) in processes {
        let mut file = File::open(file)?;
        loop {
            let mut bytes = Vec::with_capacity(BATCH * RECORD);
            (&mut file).take((BATCH * RECORD) as u64).read_to_end(&mut bytes)?;
            let (records, rest) = bytes.as_chunks::<RECORD>();
            if !rest.is_empty() {
                return Err(io::Error::other("a record is not whole"));
            }
            if records.is_empty() {
                break;
            }
            rows += records.len() as u64;
            writer.write(&batch(*process, start_ns, records).map_err(io::Error::other)?)?;
        }
    }
    writer.close()?;
    Ok(rows)
}

fn batch(process: u32, start_ns: u64, records: &[[u8; RECORD]]) -> Result<RecordBatch, ArrowError> {
    let word = |record: &[u8; RECORD], at: usize| {
        u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    let long = |record: &[u8; RECORD]| u64::from(word(record, 0)) | u64::from(word(record, 4)) << 32;
    let is_fetch = |record: &[u8; RECORD]| word(record, 16) < 2;
    let plain = |at: usize| UInt32Array::from_iter_values(records.iter().map(|record| word(record, at)));
    let of_fetch =
        |at: usize| UInt32Array::from_iter(records.iter().map(|record| is_fetch(record).then(|| word(record, at))));
    let times = records.iter().map(|record| long(record).wrapping_sub(start_ns) as i64);
    let kinds = Int32Array::from_iter_values(records.iter().map(|record| i32::from(!is_fetch(record))));
    let kinds = DictionaryArray::<Int32Type>::try_new(kinds, Arc::new(StringArray::from(vec!["read", "write-back"])))?;
    let writes = records.iter().map(|record| is_fetch(record).then(|| word(record, 16) == 1));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(times)),
        Arc::new(UInt32Array::from_value(process, records.len())),
        Arc::new(of_fetch(12)),
        Arc::new(plain(8)),
        Arc::new(kinds),
        Arc::new(BooleanArray::from_iter(writes)),
        Arc::new(of_fetch(20)),
        Arc::new(of_fetch(24)),
        Arc::new(of_fetch(28)),
    ];
    RecordBatch::try_new(schema(), columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int64Type, UInt32Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    fn record(time: u64, words: [u32; 6]) -> Vec<u8> {
        time.to_le_bytes().into_iter().chain(words.into_iter().flat_map(u32::to_le_bytes)).collect()
    }

    #[test]
    fn records_become_rows() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second, out) = (folder.path().join("0"), folder.path().join("1"), folder.path().join("t.parquet"));
        let fetch = record(1_500, [7, 42, 1, 3_000, 3_010, 900]);
        std::fs::write(&first, [fetch, record(1_600, [9, 0, 2, 0, 0, 0])].concat()).unwrap();
        std::fs::write(&second, record(1_400, [1, 43, 0, 0, 5, 800])).unwrap();
        assert_eq!(write(&out, 1_000, &[(0, first), (3, second)]).unwrap(), 3);
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&out).unwrap()).unwrap().build().unwrap();
        let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
        let rows = arrow_select::concat::concat_batches(&schema(), &batches).unwrap();
        let numbers = |name: &str| {
            let column = rows.column_by_name(name).unwrap().as_primitive::<UInt32Type>();
            column.iter().map(|value| value.map_or(-1, i64::from)).collect::<Vec<_>>()
        };
        assert_eq!(rows.column(0).as_primitive::<Int64Type>().values(), &[500, 600, 400]);
        assert_eq!(numbers("process"), [0, 0, 3]);
        assert_eq!(numbers("thread"), [42, -1, 43]);
        assert_eq!(numbers("page"), [7, 9, 1]);
        assert_eq!(numbers("asked_ns"), [3_000, -1, 0]);
        assert_eq!(numbers("achieved_ns"), [3_010, -1, 5]);
        assert_eq!(numbers("software_ns"), [900, -1, 800]);
        let kinds = rows.column(4).as_dictionary::<Int32Type>();
        let names = kinds.downcast_dict::<StringArray>().unwrap();
        assert_eq!(names.into_iter().flatten().collect::<Vec<_>>(), ["read", "write-back", "read"]);
        let writes: Vec<_> = rows.column(5).as_boolean().iter().collect();
        assert_eq!(writes, [Some(true), None, Some(false)]);
    }

    #[test]
    fn half_a_record_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (file, out) = (folder.path().join("0"), folder.path().join("t.parquet"));
        std::fs::write(&file, [0; RECORD + 5]).unwrap();
        assert!(write(&out, 0, &[(0, file)]).is_err());
    }
}
