use incast_model::fabric::PortId;

/// 64 bits of a packet. Its kind decides what they mean; each meaning has names of its own to write and read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Word(u64);

impl Word {
    pub(crate) const NONE: Self = Self(0);

    /// Start of a transmission, in ps: of data and of a TCP handshake. Answers carry the word of what they answer.
    #[inline]
    pub(crate) const fn sent_at(time: u64) -> Self {
        Self(time)
    }

    #[inline]
    pub(crate) const fn since(self, now: u64) -> u64 {
        now - self.0
    }

    /// pFabric: bytes left of the flow.
    #[inline]
    pub(crate) const fn with_left(bytes: u64) -> Self {
        Self(bytes)
    }

    #[inline]
    pub(crate) const fn left(self) -> u64 {
        self.0
    }

    /// Segment with [`flag::OWN_PATH`](super::flag::OWN_PATH).
    #[inline]
    pub(crate) const fn with_path(number: u16) -> Self {
        Self(number as u64)
    }

    #[inline]
    pub(crate) const fn path(self) -> u16 {
        self.0 as u16
    }

    /// pHost token; a segment carries the number of its token. `left`: packets missing, at most 2^32 - 1.
    pub(crate) fn with_token(number: u32, left: u64) -> Self {
        Self(u64::from(number) | left.min(u64::from(u32::MAX)) << 32)
    }

    pub(crate) const fn token(self) -> u32 {
        self.0 as u32
    }

    pub(crate) const fn packets_left(self) -> u64 {
        self.0 >> 32
    }

    /// Fastpass request.
    pub(crate) fn with_reminder(reminds: bool) -> Self {
        Self(reminds.into())
    }

    pub(crate) const fn reminds(self) -> bool {
        self.0 != 0
    }

    /// Fastpass schedule: its epoch's begin, in ps.
    pub(crate) const fn with_begin(time: u64) -> Self {
        Self(time)
    }

    pub(crate) const fn begin(self) -> u64 {
        self.0
    }

    /// PFC frame: egress port and priority of the packet that caused it.
    pub(crate) fn with_culprit(port: PortId, priority: u8) -> Self {
        Self(u64::from(priority) << 32 | u64::from(port.0))
    }

    pub(crate) const fn culprit(self) -> (PortId, u8) {
        (PortId(self.0 as u32), (self.0 >> 32) as u8)
    }

    /// Message of a hypervisor: a rate in bit/s.
    pub(crate) const fn with_rate(rate: f64) -> Self {
        Self(rate.to_bits())
    }

    pub(crate) const fn rate(self) -> f64 {
        f64::from_bits(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_keeps_its_number_whatever_is_left() {
        let word = Word::with_token(7, u64::MAX);
        assert_eq!((word.token(), word.packets_left()), (7, u32::MAX.into()));
    }
}
