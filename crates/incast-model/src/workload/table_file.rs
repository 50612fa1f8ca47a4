use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::Compression;
use parquet::data_type::Decimal;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::caught::caught;
use crate::entry::EntryError;
use crate::field::FieldError;
use crate::input::{self, Input, InputError};
use crate::memory::{Memory, amount};
use crate::parquet_headers::{check_footer, check_pages};

const PARQUET: &[u8] = b"PAR1";

#[derive(Debug)]
pub(super) struct Table {
    field: String,
    pub(super) file: PathBuf,
    pub(super) text: String,
    /// Parquet has rows: the text's second line is the first row.
    rows: bool,
}

pub(super) fn read(field: String, file: PathBuf) -> Result<Table, EntryError> {
    match text(&file) {
        Ok((text, rows)) => Ok(Table { field, file, text, rows }),
        Err(why) => Err(EntryError::unreadable(field, &file, why)),
    }
}

fn text(file: &Path) -> Result<(String, bool), String> {
    let mut input = Input::open(file, input::LARGE).map_err(|error| error.to_string())?;
    let head = input.head(PARQUET.len() as u64).map_err(|error| error.to_string())?;
    if head == PARQUET {
        let text = caught(|| parquet_as_csv(input.into_file()));
        return Ok((text.unwrap_or_else(|panic| Err(format!("no whole Parquet file: {panic}")))?, true));
    }
    let text = input.read(head).and_then(input::text).map_err(|error| match error {
        InputError::Text { .. } => format!("it is neither Parquet nor text: {error}"),
        other => other.to_string(),
    });
    Ok((text?, false))
}

impl Table {
    pub(super) fn located(&self, error: EntryError) -> EntryError {
        match error {
            EntryError::File { file, line, value, allowed, nearest, .. } if self.rows => {
                let row = if line > 1 { format!("row {}", line - 1) } else { "the names of columns".to_owned() };
                let place = format!("{row} of {}", file.display());
                let message = format!("`{value}` is not possible in {place}");
                FieldError { nearest, ..FieldError::new(&self.field, message).allowed(allowed) }.into()
            }
            other => other,
        }
    }
}

/// Row's text and flow.
const ROW_BYTES: f64 = 100.0;

fn parquet_as_csv(file: File) -> Result<String, String> {
    let broken = |error: parquet::errors::ParquetError| format!("no whole Parquet file: {error}");
    check_footer(&file)?;
    let reader = SerializedFileReader::new(file.try_clone().map_err(|error| error.to_string())?).map_err(broken)?;
    check_compression(reader.metadata())?;
    check_pages(&file, reader.metadata())?;
    let metadata = reader.metadata().file_metadata();
    // A small file can hold many equal rows.
    let (rows, memory) = (metadata.num_rows(), Memory::available());
    let needed = rows as f64 * ROW_BYTES;
    if needed > memory.bytes as f64 {
        return Err(format!("its {rows} rows take at least {}; {memory}", amount(needed)));
    }
    let schema = metadata.schema_descr_ptr();
    // Rows have times of nanoseconds and durations as plain numbers, without their unit.
    let arrow = parquet_to_arrow_schema(&schema, metadata.key_value_metadata()).map_err(broken)?;
    let has_unit = |kind: String| ["Duration", "Timestamp", "Time", "Date"].iter().any(|name| kind.starts_with(name));
    if let Some(field) = arrow.fields().iter().find(|field| has_unit(field.data_type().to_string())) {
        return Err(format!(
            "column {}: {} is no number; its unit belongs into its name",
            field.name(),
            field.data_type()
        ));
    }
    let names: Vec<&str> = schema.root_schema().get_fields().iter().map(|field| field.name()).collect();
    let mut text = names.join(",") + "\n";
    for (index, row) in reader.get_row_iter(None).map_err(broken)?.enumerate() {
        for (column, (name, value)) in row.map_err(broken)?.get_column_iter().enumerate() {
            if column > 0 {
                text.push(',');
            }
            match cell(value) {
                Some(cell) if !cell.contains([',', '\n', '\r']) => text.push_str(&cell),
                _ => return Err(format!("row {}, column {name}: {value} is neither a number nor a word", index + 1)),
            }
        }
        text.push('\n');
    }
    Ok(text)
}

fn check_compression(metadata: &ParquetMetaData) -> Result<(), String> {
    let read =
        |codec: Compression| matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_));
    let mut columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    match columns.find(|column| !read(column.compression())) {
        None => Ok(()),
        Some(column) => {
            let (name, codec) = (column.column_path().string(), column.compression().to_string());
            let codec = codec.split_once('(').map_or(codec.as_str(), |(name, _)| name);
            Err(format!("column {name} is compressed with {codec}; incast reads zstd, snappy and uncompressed columns"))
        }
    }
}

/// Whole number of a cell. Tools write columns with missing values as floats, such as `1000.0`.
pub(super) fn whole(text: &str) -> Option<u64> {
    let digits =
        text.split_once('.').filter(|(_, rest)| rest.bytes().all(|b| b == b'0')).map_or(text, |(whole, _)| whole);
    digits.parse().ok()
}

/// `None` if CSV has no equivalent.
fn cell(value: &Field) -> Option<String> {
    Some(match value {
        Field::Null => String::new(),
        Field::Bool(value) => value.to_string(),
        Field::Byte(value) => value.to_string(),
        Field::Short(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::UByte(value) => value.to_string(),
        Field::UShort(value) => value.to_string(),
        Field::UInt(value) => value.to_string(),
        Field::ULong(value) => value.to_string(),
        Field::Float(value) => value.to_string(),
        Field::Double(value) => value.to_string(),
        Field::Decimal(value) => decimal(value)?,
        Field::Str(value) => value.clone(),
        _ => return None,
    })
}

/// SQL engines write decimals for literals such as `0.5`.
fn decimal(value: &Decimal) -> Option<String> {
    let bytes = value.data();
    if bytes.is_empty() || bytes.len() > 16 {
        return None;
    }
    let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1i128 };
    let unscaled = bytes.iter().fold(sign, |number, &byte| number << 8 | i128::from(byte));
    let places = usize::try_from(value.scale()).ok()?;
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = places + 1);
    let (whole, part) = digits.split_at(digits.len() - places);
    let sign = if unscaled < 0 { "-" } else { "" };
    Some(if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") })
}

#[cfg(test)]
mod tests {
    use parquet::data_type::{ByteArray, Decimal};

    use super::decimal;

    #[test]
    fn decimals_are_written_with_their_places() {
        let written = |unscaled: i32, scale: i32| {
            decimal(&Decimal::from_bytes(ByteArray::from(unscaled.to_be_bytes().to_vec()), 9, scale))
        };
        assert_eq!(written(15, 1).as_deref(), Some("1.5"));
        assert_eq!(written(-5, 3).as_deref(), Some("-0.005"));
        assert_eq!(written(42, 0).as_deref(), Some("42"));
        assert_eq!(written(0, 2).as_deref(), Some("0.00"));
    }
}
