//! Sections that a scenario lacks.

/// Sections that a file lacks and that defaults stand in for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StandIns {
    /// One flow of 1 B.
    pub(crate) workload: bool,
    /// One scheme.
    pub(crate) scheme: bool,
}
