//! State of a priority at a port, of switches and hosts.

use crate::kernel::PacketId;
use crate::switch::Ingress;

/// Packets of a slab; sizes in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    pub(super) head: PacketId,
    pub(super) tail: PacketId,
    pub(super) bytes: u32,
    pub(super) peak: u32,
    pub(super) tx_bytes: u64,
    pub(super) tx_packets: u64,
}

impl Queue {
    pub(super) const EMPTY: Self =
        Self { head: PacketId::NONE, tail: PacketId::NONE, bytes: 0, peak: 0, tx_bytes: 0, tx_packets: 0 };
}

/// One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Lane {
    pub(super) queue: Queue,
    pub(super) ingress: Ingress,
}

const _: () = assert!(size_of::<Lane>() == 64);

#[derive(Debug)]
pub(super) struct Failed {
    /// End of the last transmission.
    pub(super) free_at: u64,
    /// Priorities paused by the far end, and priorities paused there.
    pub(super) paused: u8,
    pub(super) pausing: u8,
}
