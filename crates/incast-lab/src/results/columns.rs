use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray, UInt8Array,
    UInt16Array, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use incast_model::units::Time;
use serde::Serialize;

use super::records::{Records, Row};

/// Type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text from a small set, dictionary-encoded.
    Name,
    /// Boolean.
    Flag,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits: times and bytes, to allow differences.
    I64,
    /// Fraction or ratio.
    F64,
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Name => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::Flag => DataType::Boolean,
            Self::U8 => DataType::UInt8,
            Self::U16 => DataType::UInt16,
            Self::U32 => DataType::UInt32,
            Self::I64 => DataType::Int64,
            Self::F64 => DataType::Float64,
        }
    }
}

/// Column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// If true, values can be missing.
    pub nullable: bool,
    /// Unit; empty for names, numbers of things and ratios.
    pub unit: &'static str,
    /// Meaning.
    pub description: Cow<'static, str>,
}

pub(crate) fn schema(description: &str, columns: &[Column]) -> SchemaRef {
    let fields = columns.iter().map(|column| {
        let mut metadata = HashMap::from([("description".to_owned(), column.description.to_string())]);
        if !column.unit.is_empty() {
            metadata.insert("unit".into(), column.unit.into());
        }
        Field::new(column.name, column.kind.data_type(), column.nullable).with_metadata(metadata)
    });
    let metadata = HashMap::from([("description".to_owned(), description.to_owned())]);
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata))
}

pub(super) type Names = &'static [(&'static str, &'static str)];

/// Determines the column's type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Get<R> {
    U8(fn(Row<'_, R>) -> u8),
    U16(fn(Row<'_, R>) -> u16),
    U32(fn(Row<'_, R>) -> u32),
    MaybeU32(fn(Row<'_, R>) -> Option<u32>),
    I64(fn(Row<'_, R>) -> u64),
    MaybeI64(fn(Row<'_, R>) -> Option<u64>),
    Time(fn(Row<'_, R>) -> Time),
    MaybeTime(fn(Row<'_, R>) -> Option<Time>),
    MaybeF64(fn(Row<'_, R>) -> Option<f64>),
    Flag(fn(Row<'_, R>) -> bool),
    MaybeFlag(fn(Row<'_, R>) -> Option<bool>),
    /// Index into names of the run.
    Name(for<'a> fn(&'a Records<'a>) -> Vec<&'a str>, fn(Row<'_, R>) -> usize),
    /// Index into names of an enum's values.
    OneOf(Names, fn(Row<'_, R>) -> usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnOf<R> {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    get: Get<R>,
}

macro_rules! constructors {
    ($($(#[$doc:meta])+ $name:ident: $get:ident($value:ty), $unit:literal;)+) => {$(
        $(#[$doc])+
        pub(super) const fn $name<R>(
            name: &'static str,
            description: &'static str,
            get: fn(Row<'_, R>) -> $value,
        ) -> ColumnOf<R> {
            ColumnOf { name, unit: $unit, description, get: Get::$get(get) }
        }
    )+};
}

constructors! {
    /// Number of up to 8 bits.
    u8: U8(u8), "";
    /// Number of up to 16 bits.
    u16: U16(u16), "";
    /// Number of up to 32 bits.
    u32: U32(u32), "";
    /// Number of up to 32 bits, if any.
    maybe_u32: MaybeU32(Option<u32>), "";
    /// Count.
    count: I64(u64), "";
    /// Amount of data.
    bytes: I64(u64), "B";
    /// Amount of data, if any.
    maybe_bytes: MaybeI64(Option<u64>), "B";
    /// Rate.
    bps: I64(u64), "bit/s";
    /// Rate, if any.
    maybe_bps: MaybeI64(Option<u64>), "bit/s";
    /// Time.
    ps: Time(Time), "ps";
    /// Time, if any.
    maybe_ps: MaybeTime(Option<Time>), "ps";
    /// Ratio, if any.
    maybe_ratio: MaybeF64(Option<f64>), "";
    /// Boolean.
    flag: Flag(bool), "";
    /// Boolean, if any.
    maybe_flag: MaybeFlag(Option<bool>), "";
}

pub(super) const fn name<R>(
    name: &'static str,
    description: &'static str,
    names: for<'a> fn(&'a Records<'a>) -> Vec<&'a str>,
    index: fn(Row<'_, R>) -> usize,
) -> ColumnOf<R> {
    ColumnOf { name, unit: "", description, get: Get::Name(names, index) }
}

pub(super) const fn one_of<R>(name: &'static str, names: Names, index: fn(Row<'_, R>) -> usize) -> ColumnOf<R> {
    ColumnOf { name, unit: "", description: "", get: Get::OneOf(names, index) }
}

impl<R> ColumnOf<R> {
    pub(super) fn described(&self) -> Column {
        let (kind, nullable) = match self.get {
            Get::U8(_) => (Kind::U8, false),
            Get::U16(_) => (Kind::U16, false),
            Get::U32(_) => (Kind::U32, false),
            Get::MaybeU32(_) => (Kind::U32, true),
            Get::I64(_) | Get::Time(_) => (Kind::I64, false),
            Get::MaybeI64(_) | Get::MaybeTime(_) => (Kind::I64, true),
            Get::MaybeF64(_) => (Kind::F64, true),
            Get::Flag(_) => (Kind::Flag, false),
            Get::MaybeFlag(_) => (Kind::Flag, true),
            Get::Name(..) | Get::OneOf(..) => (Kind::Name, false),
        };
        let description = match self.get {
            Get::OneOf(names, _) => listed(names).into(),
            _ => self.description.into(),
        };
        Column { name: self.name, kind, nullable, unit: self.unit, description }
    }

    pub(super) fn array<'a>(
        &self,
        run: &'a Records<'a>,
        rows: impl Iterator<Item = Row<'a, R>>,
    ) -> Result<ArrayRef, ArrowError>
    where
        R: 'a,
    {
        Ok(match self.get {
            Get::U8(get) => Arc::new(UInt8Array::from_iter_values(rows.map(get))),
            Get::U16(get) => Arc::new(UInt16Array::from_iter_values(rows.map(get))),
            Get::U32(get) => Arc::new(UInt32Array::from_iter_values(rows.map(get))),
            Get::MaybeU32(get) => Arc::new(rows.map(get).collect::<UInt32Array>()),
            Get::I64(get) => Arc::new(Int64Array::from_iter_values(rows.map(|row| signed(get(row))))),
            Get::MaybeI64(get) => Arc::new(rows.map(|row| get(row).map(signed)).collect::<Int64Array>()),
            Get::Time(get) => Arc::new(Int64Array::from_iter_values(rows.map(|row| signed(get(row).0)))),
            Get::MaybeTime(get) => {
                Arc::new(rows.map(|row| get(row).map(|time| signed(time.0))).collect::<Int64Array>())
            }
            Get::MaybeF64(get) => Arc::new(rows.map(get).collect::<Float64Array>()),
            Get::Flag(get) => Arc::new(rows.map(|row| Some(get(row))).collect::<BooleanArray>()),
            Get::MaybeFlag(get) => Arc::new(rows.map(get).collect::<BooleanArray>()),
            Get::Name(names, index) => dictionary(names(run).into_iter(), rows.map(index))?,
            Get::OneOf(names, index) => dictionary(names.iter().map(|one| one.0), rows.map(index))?,
        })
    }
}

/// Tables store times and bytes signed.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn dictionary<'a>(
    names: impl Iterator<Item = &'a str>,
    indices: impl Iterator<Item = usize>,
) -> Result<ArrayRef, ArrowError> {
    let keys = Int32Array::from_iter_values(indices.map(|index| i32::try_from(index).unwrap_or(i32::MAX)));
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(StringArray::from_iter_values(names)))?))
}

/// `name (meaning), …`.
fn listed(names: Names) -> String {
    let one = |(name, meaning): &(&str, &str)| format!("{name} ({meaning})");
    names.iter().map(one).collect::<Vec<_>>().join(", ")
}
