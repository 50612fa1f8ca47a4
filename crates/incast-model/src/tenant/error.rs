use std::fmt::Display;
use std::path::PathBuf;

use crate::nearest::{hint, nearest};

/// Error of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TenantError {
    /// Invalid field of a `[[tenant]]`.
    #[error("{field} = {value}: must be {allowed}{}", hint(.nearest))]
    Field {
        /// Path, such as `tenant[1].vms`; entries count from 0.
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
}

impl TenantError {
    pub(super) fn field(field: impl Into<String>, value: impl Display, allowed: impl Into<String>) -> Self {
        Self::Field { field: field.into(), value: value.to_string(), allowed: allowed.into(), nearest: None }
    }

    pub(super) fn near<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        if let Self::Field { value, nearest: hint, .. } | Self::File { value, nearest: hint, .. } = &mut self {
            *hint = nearest(value, names).map(str::to_owned);
        }
        self
    }
}
