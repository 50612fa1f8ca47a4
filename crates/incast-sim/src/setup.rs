//! Inputs of a run.

use std::sync::Arc;

use incast_model::fabric::{Fabric, Ways};
use incast_model::flow::FlowSet;
use incast_model::tenant::Tenancy;
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion::{Control, WindowMode};
use crate::host::{Carrier, HostParams, PacketParams, RdmaParams};
use crate::measure::MeasureParams;
use crate::network::NetworkParams;
use crate::switch::{EcnParams, SwitchParams, TagRules};
use crate::tenant::Hypervisor;
use crate::transport::Transport;

/// Arithmetic of time, and order of simultaneous events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// Picoseconds; simultaneous events ordered by stable keys. Physically exact, the same on any number of threads.
    #[default]
    Exact,
    /// The HPCC authors' ns-3: serialisation in whole nanoseconds, ties in order of scheduling, its NIC's wake-up rule,
    /// INT quantisation and random numbers. For comparison with that simulator only.
    Ns3,
}

/// Parameters independent of the fabric and the flows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Params {
    /// Arithmetic.
    pub arithmetic: Arithmetic,
    /// Load balancing, explicit routes, link failures.
    pub network: NetworkParams,
    /// Seed of every random stream.
    pub seed: u64,
    /// Switch buffers, PFC and schedulers.
    pub switch: SwitchParams,
    /// ECN marking at switches.
    pub ecn: EcnParams,
    /// Header sizes and wire overheads.
    pub packets: PacketParams,
    /// Parameters shared by a host's transports.
    pub host: HostParams,
    /// RDMA hosts.
    pub rdma: RdmaParams,
    /// Hypervisor; `None` without one.
    pub hypervisor: Option<Hypervisor>,
    /// Buffer of a VM server's port.
    pub server_queue: Bytes,
    /// Recorded data.
    pub measure: MeasureParams,
    /// Latest stop; `None`: when all flows end.
    pub horizon: Option<Time>,
    /// Maximum number of events; `None`: no limit.
    pub max_events: Option<u64>,
}

impl Params {
    /// Largest base RTT and bandwidth-delay product of flows with packets of `payload` bytes: on links that are not down from the
    /// start, and over all equal paths if load balancing spreads packets.
    pub fn longest_rtt(&self, fabric: &Fabric, payload: Bytes) -> (Time, Bytes) {
        let down = self.network.down_at_start(fabric, self.seed);
        fabric.longest_rtt_over(payload, &Ways { down, spread: self.network.load_balancing.reorders() })
    }
}

/// Congestion control of a group of flows.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlSetup {
    /// Algorithm and parameters.
    pub control: Control,
    /// Limit of bytes in flight.
    pub window: WindowMode,
}

/// Inputs of a simulation.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Fabric.
    pub fabric: Arc<Fabric>,
    /// Flows.
    pub flows: Arc<FlowSet>,
    /// Congestion controls.
    pub controls: Vec<ControlSetup>,
    /// Transports other than RDMA.
    pub transports: Vec<Transport>,
    /// Transports by label of the flows.
    pub carriers: Vec<Carrier>,
    /// Tenants, if hosts are VMs.
    pub tenancy: Option<Arc<Tenancy>>,
    /// Tagger's rules, with `switch.tagging`.
    pub tags: Option<Arc<TagRules>>,
    /// Other parameters.
    pub params: Params,
}
