//! Warnings about workloads.

use std::fmt;

/// Warning about a valid setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadWarning {
    /// Field's path, or label of the flows.
    pub field: String,
    /// Message.
    pub message: String,
}

impl fmt::Display for WorkloadWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}
