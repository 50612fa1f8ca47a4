use std::fmt;

use serde::{Deserialize, Serialize};

/// Tag of lossless packets, from 1: tag t is PFC priority t. Lossy packets have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tag(pub u8);

impl Tag {
    /// Tag with which hosts send.
    pub const FIRST: Self = Self(1);

    /// Tags 1 to `count`.
    pub fn all(count: u8) -> impl DoubleEndedIterator<Item = Self> {
        (1..=count).map(Self)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
