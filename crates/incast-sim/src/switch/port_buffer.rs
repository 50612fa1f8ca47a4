//! Buffers of single ports, without the packet being sent.

use super::params::QueueParams;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    Shared,
    /// Bytes by priority.
    Own(u32),
    /// Bytes.
    Ranked(u32),
}

impl Storage {
    pub(crate) fn new(params: &QueueParams) -> Self {
        let bytes = |limit: u64| limit.min(u64::from(u32::MAX)) as u32;
        match params {
            QueueParams::Shared => Self::Shared,
            QueueParams::DropTail { limit } => Self::Own(bytes(limit.0)),
            QueueParams::Pfabric { limit } => Self::Ranked(bytes(limit.0)),
        }
    }

    /// False also for a shared buffer, which hosts do not have.
    pub(crate) const fn has_limit(self) -> bool {
        matches!(self, Self::Own(limit) | Self::Ranked(limit) if limit < u32::MAX)
    }

    pub(crate) const fn without_limit(self) -> Self {
        match self {
            Self::Ranked(_) => Self::Ranked(u32::MAX),
            Self::Shared | Self::Own(_) => Self::Own(u32::MAX),
        }
    }
}
