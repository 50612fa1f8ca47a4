use incast_model::fabric::Fabric;
use incast_model::units::Bytes;

use super::buffer::host_rate;
use crate::congestion::IntFormat;
use crate::host::{NicQueue, PacketParams, RdmaParams, Recovery};
use crate::setup::{Arithmetic, Params};
use crate::switch::{Forwarding, MarkAt, QueueParams, Storage};

#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) ns3: bool,
    pub(crate) seed: u64,
    pub(crate) packets: PacketParams,
    pub(crate) queues: QueueConfig,
    pub(crate) switch: SwitchConfig,
    pub(crate) host: HostConfig,
    /// Some flows are RDMA's, some are not.
    pub(crate) mixed: bool,
    /// Whole picoseconds per byte; no gaps, jitter or ns-3 rounding.
    pub(crate) plain_wires: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct QueueConfig {
    /// Under PFC, as bits.
    pub(crate) lossless: u8,
    /// At switch ports, and at host ports except for RDMA data.
    pub(crate) storage: Storage,
    pub(crate) host_storage: Storage,
    /// In bytes, of a VM server's port.
    pub(crate) server: u32,
    pub(crate) ranked: bool,
    /// Rank of ports that become free, in exact arithmetic; 1: last in their instant.
    pub(crate) port_rank: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct SwitchConfig {
    pub(crate) mark_at_enqueue: bool,
    /// Most switches of a packet; the last drops it.
    pub(crate) ttl: u8,
    /// Switches cut through to faster links too.
    pub(crate) underrun: bool,
    pub(crate) telemetry: bool,
    pub(crate) int: IntFormat,
}

#[derive(Debug, Clone)]
pub(crate) struct HostConfig {
    pub(crate) rdma: RdmaParams,
    /// Bytes until a flow is an elephant; [`u64::MAX`]: never.
    pub(crate) demotion: u64,
    pub(crate) elephants: u8,
    /// Bytes per flow; [`u64::MAX`]: none.
    pub(crate) in_flight: u64,
    pub(crate) selective: bool,
    /// Packets that may overtake before a loss counts.
    pub(crate) reorder_window: u64,
}

impl Config {
    pub(super) fn new(params: &Params, fabric: &Fabric, mixed: bool, telemetry: bool) -> Self {
        let ns3 = params.arithmetic == Arithmetic::Ns3;
        let nic = host_rate(fabric);
        let by_rate = || ((nic.0 / 25_000_000_000) as u32).max(1);
        let quantised = IntFormat::Quantised { multi: params.switch.int_multiplier.unwrap_or_else(by_rate) };
        Self {
            ns3,
            seed: params.seed,
            packets: params.packets,
            queues: QueueConfig::new(params),
            switch: SwitchConfig {
                mark_at_enqueue: params.ecn.mark_at == MarkAt::Enqueue,
                ttl: params.network.ttl,
                underrun: params.switch.forwarding == Forwarding::CutThroughUnderrun,
                telemetry,
                int: if ns3 { quantised } else { IntFormat::Exact },
            },
            host: HostConfig::new(params, fabric),
            mixed,
            plain_wires: false,
        }
    }
}

impl QueueConfig {
    fn new(params: &Params) -> Self {
        let storage = Storage::new(&params.switch.queues);
        let ranked = matches!(params.switch.queues, QueueParams::Pfabric { .. });
        Self {
            lossless: params.switch.paused_priorities(),
            storage,
            host_storage: match params.host.nic_queue {
                NicQueue::Unlimited => storage.without_limit(),
                NicQueue::Port => storage,
            },
            server: params.server_queue.0.min(u64::from(u32::MAX)) as u32,
            ranked,
            port_rank: ranked.into(),
        }
    }
}

impl HostConfig {
    fn new(params: &Params, fabric: &Fabric) -> Self {
        let selective = params.rdma.recovery == Recovery::SelectiveRepeat;
        let payload = params.packets.payload;
        let bdp = if selective { params.longest_rtt(fabric, payload).1 } else { Bytes::ZERO };
        let window = params.rdma.window.unwrap_or(bdp).0.min(params.rdma.most_kept(payload));
        Self {
            rdma: params.rdma.clone(),
            demotion: params.host.classes.demotion(),
            elephants: params.host.classes.elephants,
            in_flight: if selective && params.rdma.bdp_bound { window } else { u64::MAX },
            selective,
            reorder_window: params.rdma.reorder_packets(&params.network.load_balancing, bdp, payload).into(),
        }
    }
}
