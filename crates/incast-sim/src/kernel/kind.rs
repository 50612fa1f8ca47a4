/// Byte range without its end.
pub(crate) type Range = (u64, u64);

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Data,
    Ack,
    Nack,
    Cnp,
    /// Data of a transport other than RDMA.
    Segment,
    SegmentAck,
    Syn,
    SynAck,
    Probe,
    /// pHost: request to send.
    Rts,
    Token,
    Request,
    Schedule,
    /// PFC frame for class `in_prio`: pause with [`flag::XOFF`], otherwise resume.
    Pfc,
    /// Packet on a failed link's wire: never arrives.
    Lost,
    /// Hypervisors: offer of a pair's sender.
    Offer,
    /// Hypervisors: offer and share of a pair's receiver.
    Share,
    /// Hypervisors: lost and marked packets.
    Feedback,
    /// Hypervisors: a receiver's rate.
    Rate,
    /// Congestion isolation: with [`flag::XOFF`] isolates a flow, otherwise releases it.
    Isolation,
}

impl Kind {
    /// True in the direction of the flow's data.
    #[inline]
    pub(crate) const fn is_forward(self) -> bool {
        matches!(self, Self::Data | Self::Segment | Self::Syn | Self::Probe | Self::Rts | Self::Request | Self::Offer)
    }

    #[inline]
    pub(crate) const fn is_data(self) -> bool {
        matches!(self, Self::Data | Self::Segment)
    }

    /// True if the packets' sender reacts to marks. In RDMA packets [`flag::NOT_ECT`] has another meaning.
    #[inline]
    pub(crate) const fn understands_marks(self, flags: u8) -> bool {
        matches!(self, Self::Data | Self::Ack | Self::Nack | Self::Cnp) || flags & flag::NOT_ECT == 0
    }
}

pub(crate) mod flag {
    pub(crate) const CE: u8 = 1;
    /// Answers a marked packet.
    pub(crate) const ECHO: u8 = 2;
    pub(crate) const XOFF: u8 = 4;
    pub(crate) const INT: u8 = 8;
    /// Follows an explicit path.
    pub(crate) const PATH: u8 = 16;
    pub(crate) const STAMP: u8 = 32;
    pub(crate) const PINT: u8 = 64;
    // For segments and their answers only: the bits differ in PFC frames and RDMA packets.

    /// The stamp is a pFabric rank.
    pub(crate) const RANKED: u8 = 4;
    /// The sender reduced its window.
    pub(crate) const CWR: u8 = 2;
    pub(crate) const NOT_ECT: u8 = 32;
    /// A segment's stamp is the number of the packet's own path.
    pub(crate) const OWN_PATH: u8 = 64;
}
