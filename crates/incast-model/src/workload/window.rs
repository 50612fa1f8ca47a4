use crate::units::Time;

/// Interval without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: Time,
    pub(super) end: Time,
}

impl Window {
    /// Length in picoseconds.
    pub(super) fn length(self) -> f64 {
        (self.end - self.start).0 as f64
    }
}
