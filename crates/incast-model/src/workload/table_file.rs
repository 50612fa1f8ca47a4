//! Tables of flows in files: CSV, or Parquet as data frames write it.

use std::path::{Path, PathBuf};

use parquet::data_type::Decimal;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::error::WorkloadError;
use crate::caught::caught;

/// The bytes that a Parquet file begins with.
const PARQUET: &[u8] = b"PAR1";

/// A table of a file as CSV text.
#[derive(Debug)]
pub(super) struct Table {
    /// Where the scenario names the file.
    field: String,
    pub(super) file: PathBuf,
    pub(super) text: String,
    /// Whether the file has rows, no lines: the text's second line is the first row.
    rows: bool,
}

/// The table in a file. `field`: where the scenario names it.
pub(super) fn read(field: String, file: PathBuf) -> Result<Table, WorkloadError> {
    let (text, rows) = match std::fs::read(&file) {
        Ok(bytes) if bytes.starts_with(PARQUET) => {
            let text = caught(|| parquet_as_csv(&file));
            (text.unwrap_or_else(|panic| Err(format!("no whole Parquet file: {panic}"))), true)
        }
        Ok(bytes) => (String::from_utf8(bytes).map_err(|_| "it is neither UTF-8 text nor Parquet".to_owned()), false),
        Err(error) => (Err(error.to_string()), false),
    };
    match text {
        Ok(text) => Ok(Table { field, file, text, rows }),
        Err(why) => Err(WorkloadError::Unreadable { field, file, why }),
    }
}

impl Table {
    /// An error about a line of the text as one about what the file has.
    pub(super) fn told(&self, error: WorkloadError) -> WorkloadError {
        match error {
            WorkloadError::File { file, line, value, allowed, nearest, .. } if self.rows => {
                let row = if line > 1 { format!("row {}", line - 1) } else { "the names of columns".to_owned() };
                let place = format!("{row} of {}", file.display());
                WorkloadError::Row { field: self.field.clone(), place, value, allowed, nearest }
            }
            other => other,
        }
    }
}

fn parquet_as_csv(file: &Path) -> Result<String, String> {
    let broken = |error: parquet::errors::ParquetError| format!("no whole Parquet file: {error}");
    let open = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let reader = SerializedFileReader::new(open).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
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

/// A value as CSV has it; `None`: CSV has nothing like it.
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

/// A decimal number, as SQL engines write a literal such as `0.5`.
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
