//! What can be wrong with a file, and where.

use std::fmt;

use crate::fabric::FabricError;
use crate::nearest::hint;

/// A file that cannot be used, with the place and what would have been accepted there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ns3Error {
    /// The file cannot be read at all.
    #[error("{file}: {why}")]
    Unreadable {
        /// The file.
        file: Box<str>,
        /// What the system says.
        why: Box<str>,
    },
    /// A token that is not what its place asks for.
    #[error("{file}:{line}: {field} is `{value}`; allowed: {allowed}{}", hint(.nearest))]
    Value {
        /// The file.
        file: Box<str>,
        /// Its line, from 1.
        line: usize,
        /// What the token stands for.
        field: Box<str>,
        /// The token.
        value: Box<str>,
        /// What would have been accepted.
        allowed: Box<str>,
        /// The closest valid name, where names are asked for.
        nearest: Option<Box<str>>,
    },
    /// The file ends too early.
    #[error("{file}:{line}: the file ends before {field}; allowed: {allowed}")]
    Truncated {
        /// The file.
        file: Box<str>,
        /// Its last line, from 1.
        line: usize,
        /// What is missing.
        field: Box<str>,
        /// How much there should be, and who says so.
        allowed: Box<str>,
    },
    /// The file goes on after its end.
    #[error("{file}:{line}: `{value}` is too much: {allowed}")]
    Trailing {
        /// The file.
        file: Box<str>,
        /// Line of the first token too many, from 1.
        line: usize,
        /// That token.
        value: Box<str>,
        /// What the file should hold, and who says so.
        allowed: Box<str>,
    },
    /// Every row is well-formed, together they are not a fabric.
    #[error("{file}: {source}")]
    Fabric {
        /// The file.
        file: Box<str>,
        /// Why.
        source: FabricError,
    },
}

/// How much a [`Notice`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Results are not touched, but somebody should know.
    Warning,
    /// Results would differ from what the file asks for.
    Error,
}

/// Something about a well-formed file that its reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// How much it matters.
    pub severity: Severity,
    /// What is the matter.
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
