use incast_model::fabric::PortId;

use super::Network;
use crate::ns3;

impl Network {
    /// In ps.
    #[inline]
    pub(crate) fn wire_time(&self, port: PortId, bytes: u64) -> u64 {
        let port = &self.ports[port];
        if self.config.ns3 {
            ns3::serialisation(bytes, self.rates[usize::from(port.rate)])
        } else if port.ps_per_byte != 0 {
            bytes * u64::from(port.ps_per_byte)
        } else {
            (bytes * 8_000_000_000_000).div_ceil(self.rates[usize::from(port.rate)])
        }
    }

    /// With the gap behind, in ps.
    #[inline]
    pub(crate) fn busy_time(&self, port: PortId, bytes: u64) -> u64 {
        self.wire_time(port, bytes + self.config.packets.gap.0)
    }
}
