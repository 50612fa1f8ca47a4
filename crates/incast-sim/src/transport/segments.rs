#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) seq: u64,
    pub(crate) len: u64,
    pub(crate) again: bool,
}

/// Sizes are payload bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packets {
    pub(crate) size: u64,
    pub(crate) mss: u64,
}

impl Packets {
    pub(crate) const fn count(&self) -> u64 {
        self.size.div_ceil(self.mss)
    }

    pub(crate) fn len(&self, seq: u64) -> u64 {
        self.mss.min(self.size - seq)
    }
}
