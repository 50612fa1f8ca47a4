//! Errors and notices about files, with their place.

use std::fmt;

use crate::fabric::FabricError;
use crate::nearest::hint;

/// Unusable file, with the place and the values allowed there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ns3Error {
    /// The file cannot be read.
    #[error("{file}: {why}")]
    Unreadable {
        /// The file.
        file: Box<str>,
        /// Operating system's message.
        why: Box<str>,
    },
    /// A token has an invalid value.
    #[error("{file}:{line}: {field} is `{value}`; allowed: {allowed}{}", hint(.nearest))]
    Value {
        /// The file.
        file: Box<str>,
        /// Its line, from 1.
        line: usize,
        /// Meaning of the token.
        field: Box<str>,
        /// The token.
        value: Box<str>,
        /// Allowed values.
        allowed: Box<str>,
        /// Closest valid name, where names are allowed.
        nearest: Option<Box<str>>,
    },
    /// The file ends too early.
    #[error("{file}:{line}: the file ends before {field}; allowed: {allowed}")]
    Truncated {
        /// The file.
        file: Box<str>,
        /// Its last line, from 1.
        line: usize,
        /// Missing item.
        field: Box<str>,
        /// Expected amount and its source.
        allowed: Box<str>,
    },
    /// The file continues after its end.
    #[error("{file}:{line}: `{value}` is too much: {allowed}")]
    Trailing {
        /// The file.
        file: Box<str>,
        /// Line of the first excess token, from 1.
        line: usize,
        /// That token.
        value: Box<str>,
        /// Expected content and its source.
        allowed: Box<str>,
    },
    /// Every row is well-formed, but together they are not a fabric.
    #[error("{file}: {source}")]
    Fabric {
        /// The file.
        file: Box<str>,
        /// Why.
        source: FabricError,
    },
}

/// Severity of a [`Notice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Results are not affected.
    Warning,
    /// Results would differ from those that the file asks for.
    Error,
}

/// Remark about a well-formed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// Severity of the notice.
    pub severity: Severity,
    /// Text for the user.
    pub text: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{}:{}: {severity}: {}", self.file, self.line, self.text)
    }
}
