use incast_model::fabric::{HostId, NodeId};

use crate::host::selective::Rules;
use crate::host::{PacketParams, RdmaParams};
use crate::nodes::run::NS3;
use crate::ns3;
use crate::plan::Network;
use crate::switch::Storage;

/// Constants of a host, mostly from [`crate::plan::Config`].
#[derive(Debug)]
#[repr(C)]
pub(super) struct HostParams {
    pub(super) port_rank: u64,
    pub(super) node: NodeId,
    pub(super) ranks: bool,
    pub(super) mixed: bool,
    /// Bytes of a packet that fits into an empty port.
    pub(super) least_buffer: u32,
    pub(super) id: HostId,
    pub(super) packets: PacketParams,
    pub(super) rdma: RdmaParams,
    /// `None` without selective repeat.
    pub(super) rules: Option<Rules>,
    /// Bytes after which a flow is an elephant, and elephants' priority.
    pub(super) demotion: (u64, u8),
    pub(super) in_flight: u64,
}

impl HostParams {
    pub(super) fn new(network: &Network, id: HostId) -> Self {
        let config = &network.config;
        let rules = || Rules::new(&config.packets, &config.host.rdma, config.host.reorder_window);
        Self {
            port_rank: config.queues.port_rank,
            node: network.fabric.hosts()[id.index()],
            ranks: config.queues.ranked,
            mixed: config.mixed,
            least_buffer: match config.queues.host_storage {
                Storage::Ranked(limit) | Storage::Own(limit) => limit,
                Storage::Shared => u32::MAX,
            },
            id,
            packets: config.packets,
            rdma: config.host.rdma.clone(),
            rules: config.host.selective.then(rules),
            demotion: (config.host.demotion, config.host.elephants),
            in_flight: config.host.in_flight,
        }
    }

    #[inline]
    pub(super) fn rto(&self) -> u64 {
        self.rdma.rto.map_or(u64::MAX, |rto| rto.0)
    }

    /// Time between starts of packets at `rate` (bit/s).
    #[inline]
    pub(super) fn pacing_gap<const RUN: u8>(&self, bytes: u64, rate: u64) -> u64 {
        if RUN == NS3 {
            return ns3::serialisation(bytes, rate);
        }
        ((bytes + self.packets.gap.0) * 8_000_000_000_000).div_ceil(rate)
    }
}
