use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::foreign::Ns3Error;
use crate::nearest::{hint, nearest};

/// Error of a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// Invalid field of a workload entry.
    #[error("{field} = {value}: must be {allowed}{}", hint(.nearest))]
    Field {
        /// Path, such as `workload[1].poisson.load`; entries count from 0.
        field: String,
        /// Invalid value.
        value: String,
        /// Allowed values.
        allowed: String,
        /// Nearest valid name.
        nearest: Option<String>,
    },
    /// Invalid value in a file.
    #[error("{}:{line}:{column}: `{value}`: must be {allowed}{}", .file.display(), hint(.nearest))]
    File {
        /// File.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Invalid value.
        value: String,
        /// Allowed values.
        allowed: String,
        /// Nearest valid name.
        nearest: Option<String>,
    },
    /// Invalid value in a file without lines.
    #[error("{field}: {place}: `{value}`: must be {allowed}{}", hint(.nearest))]
    Row {
        /// Field that names the file.
        field: String,
        /// Row (from 1) or column names, and the file: `row 3 of pages.parquet`.
        place: String,
        /// Invalid value.
        value: String,
        /// Allowed values.
        allowed: String,
        /// Nearest valid name.
        nearest: Option<String>,
    },
    /// Unreadable file.
    #[error("{field}: cannot read {}: {why}", .file.display())]
    Unreadable {
        /// Field that names the file.
        field: String,
        /// File.
        file: PathBuf,
        /// Operating system's message.
        why: String,
    },
    /// Invalid ns-3 flow file.
    #[error("{field}: {source}")]
    Ns3 {
        /// Field that names the file.
        field: String,
        /// Error in the file.
        source: Box<Ns3Error>,
    },
}

impl WorkloadError {
    pub(super) fn field(field: impl Into<String>, value: impl Display, allowed: impl Into<String>) -> Self {
        Self::Field { field: field.into(), value: value.to_string(), allowed: allowed.into(), nearest: None }
    }

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

    pub(super) fn within(mut self, tenant: Option<&str>) -> Self {
        if let (Self::Field { allowed, .. } | Self::File { allowed, .. }, Some(tenant)) = (&mut self, tenant)
            && !allowed.contains("of tenant ")
        {
            *allowed += &format!(" (in tenant {tenant})");
        }
        self
    }

    pub(super) fn near<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        if let Self::Field { value, nearest: hint, .. } | Self::File { value, nearest: hint, .. } = &mut self {
            *hint = nearest(value, names).map(str::to_owned);
        }
        self
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a Path,
    pub(super) line: usize,
    /// In characters.
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
