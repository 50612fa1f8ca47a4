use std::fmt;

use crate::nearest::hint;

/// Error in a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ns3Error {
    /// Unreadable file.
    #[error("{file}: {why}")]
    Unreadable {
        /// File.
        file: Box<str>,
        /// Operating system's message.
        why: Box<str>,
    },
    /// Invalid value.
    #[error("{file}:{line}: {field} is `{value}`; allowed: {allowed}{}", hint(.nearest))]
    Value {
        /// File.
        file: Box<str>,
        /// Line, from 1.
        line: usize,
        /// Place of the token in its line, in bytes; `None`: the first that is equal.
        at: Option<usize>,
        /// Meaning of the token.
        field: Box<str>,
        /// Token.
        value: Box<str>,
        /// Allowed values.
        allowed: Box<str>,
        /// Closest name.
        nearest: Option<Box<str>>,
    },
    /// File that ends too early.
    #[error("{file}:{line}: the file ends before {field}; allowed: {allowed}")]
    Truncated {
        /// File.
        file: Box<str>,
        /// Last line, from 1.
        line: usize,
        /// Missing item.
        field: Box<str>,
        /// Expected amount and its source.
        allowed: Box<str>,
    },
    /// Content after the expected end.
    #[error("{file}:{line}: `{value}` is too much: {allowed}")]
    Trailing {
        /// File.
        file: Box<str>,
        /// Line of the first excess token, from 1.
        line: usize,
        /// First excess token.
        value: Box<str>,
        /// Expected content and its source.
        allowed: Box<str>,
    },
    /// Rows that form no fabric.
    #[error("{file}: {why}")]
    Fabric {
        /// File.
        file: Box<str>,
        /// Error of the fabric.
        why: Box<str>,
    },
}

/// Severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Results are not affected.
    Warning,
    /// Results differ from those that the file requests.
    Error,
}

/// Remark about a well-formed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// File.
    pub file: String,
    /// Line, from 1; 0: of the whole file.
    pub line: usize,
    /// Severity.
    pub severity: Severity,
    /// Text.
    pub text: String,
}

impl Notice {
    /// Place and text, without severity.
    pub fn remark(&self) -> String {
        format!("{}: {}", self.place(), self.text)
    }

    fn place(&self) -> String {
        if self.line == 0 { self.file.clone() } else { format!("{}:{}", self.file, self.line) }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{}: {severity}: {}", self.place(), self.text)
    }
}
