//! Why a workload is refused: the field (or the place in a file), its value, what is allowed, the nearest valid name.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::nearest::{hint, nearest};
use crate::ns3::Ns3Error;

/// A workload that cannot be generated, with what would be allowed instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A field of a workload entry.
    #[error("{field} = {value}: must be {allowed}{}", hint(.nearest))]
    Field {
        /// Its path, such as `workload[1].poisson.load`; entries count from 0.
        field: String,
        /// What was written.
        value: String,
        /// What may be written.
        allowed: String,
        /// The valid name that looks most like it, where names are meant.
        nearest: Option<String>,
    },
    /// A place in a file that a workload entry names.
    #[error("{}:{line}:{column}: `{value}`: must be {allowed}{}", .file.display(), hint(.nearest))]
    File {
        /// The file.
        file: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// Character in that line, from 1.
        column: usize,
        /// What stands there.
        value: String,
        /// What may stand there.
        allowed: String,
        /// The valid name that looks most like it, where names are meant.
        nearest: Option<String>,
    },
    /// A row of a table in a file that has no lines.
    #[error("{field}: {place}: `{value}`: must be {allowed}{}", hint(.nearest))]
    Row {
        /// Path of the field that names the file.
        field: String,
        /// The row, from 1, or the names of columns, and the file: `row 3 of pages.parquet`.
        place: String,
        /// What stands there.
        value: String,
        /// What may stand there.
        allowed: String,
        /// The valid name that looks most like it, where names are meant.
        nearest: Option<String>,
    },
    /// A file that cannot be read at all.
    #[error("{field}: cannot read {}: {why}", .file.display())]
    Unreadable {
        /// Path of the field that names the file.
        field: String,
        /// The file, as looked for.
        file: PathBuf,
        /// What the operating system says.
        why: String,
    },
    /// An ns-3 flow file with a fault.
    #[error("{field}: {source}")]
    Ns3 {
        /// Path of the field that names the file.
        field: String,
        /// The fault and its place.
        source: Box<Ns3Error>,
    },
}

impl WorkloadError {
    /// `field` holds `value`, which is none of what is `allowed`.
    pub(super) fn field(field: impl Into<String>, value: impl Display, allowed: impl Into<String>) -> Self {
        Self::Field { field: field.into(), value: value.to_string(), allowed: allowed.into(), nearest: None }
    }

    /// A place in a file holds `value`, which is none of what is `allowed`.
    pub(super) fn file(place: &Place<'_>, value: impl Display, allowed: impl Into<String>) -> Self {
        Self::File {
            file: place.file.into(),
            line: place.line,
            column: place.column,
            value: value.to_string(),
            allowed: allowed.into(),
            nearest: None,
        }
    }

    /// The same error, said of one of several tenants whose workload it is.
    pub(super) fn within(mut self, tenant: Option<&str>) -> Self {
        if let (Self::Field { allowed, .. } | Self::File { allowed, .. }, Some(tenant)) = (&mut self, tenant)
            && !allowed.contains("of tenant ")
        {
            *allowed += &format!(" (in tenant {tenant})");
        }
        self
    }

    /// The same error with the name among `names` that is nearest to the wrong one.
    pub(super) fn near<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        if let Self::Field { value, nearest: hint, .. } | Self::File { value, nearest: hint, .. } = &mut self {
            *hint = nearest(value, names).map(str::to_owned);
        }
        self
    }
}

/// A place in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The file, for the message.
    pub(super) file: &'a Path,
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_field_value_and_what_is_allowed() {
        let error = WorkloadError::field("workload[1].poisson.load", -0.5, "more than 0");
        assert_eq!(error.to_string(), "workload[1].poisson.load = -0.5: must be more than 0");
        let place = Place { file: Path::new("t.csv"), line: 3, column: 7 };
        let error = WorkloadError::file(&place, "scr", "a column").near(["src", "dst"]);
        assert_eq!(error.to_string(), "t.csv:3:7: `scr`: must be a column; did you mean `src`?");
    }
}
