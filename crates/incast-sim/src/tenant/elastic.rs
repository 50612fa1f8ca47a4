//! ElasticSwitch and Seawall: timers of VMs, and messages between hypervisors.

use crate::network::Network;

impl Network {
    /// Bytes of a full packet with the gap behind it.
    pub(crate) fn full_packet(&self) -> u64 {
        self.config.packets.mss.0 + self.config.packets.segment_header.0 + self.config.packets.gap.0
    }
}
