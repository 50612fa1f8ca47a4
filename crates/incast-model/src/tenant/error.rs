//! Why tenants are refused: the field (or the place in a file), its value, what is allowed, the nearest valid name.

use std::fmt::Display;
use std::path::PathBuf;

use crate::nearest::{hint, nearest};

/// Tenants that cannot be placed as described, with what would be possible instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TenantError {
    /// A field of a `[[tenant]]`.
    #[error("{field} = {value}: must be {allowed}{}", hint(.nearest))]
    Field {
        /// Its path, such as `tenant[1].vms`; entries count from 0.
        field: String,
        /// What was written.
        value: String,
        /// What may be written.
        allowed: String,
        /// The valid name that looks most like it, where names are meant.
        nearest: Option<String>,
    },
    /// A place in a file that a `[[tenant]]` names.
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
}

impl TenantError {
    /// `field` holds `value`, which is none of what is `allowed`.
    pub(super) fn field(field: impl Into<String>, value: impl Display, allowed: impl Into<String>) -> Self {
        Self::Field { field: field.into(), value: value.to_string(), allowed: allowed.into(), nearest: None }
    }

    /// The same error with the name among `names` that is nearest to the wrong one.
    pub(super) fn near<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        if let Self::Field { value, nearest: hint, .. } | Self::File { value, nearest: hint, .. } = &mut self {
            *hint = nearest(value, names).map(str::to_owned);
        }
        self
    }
}
