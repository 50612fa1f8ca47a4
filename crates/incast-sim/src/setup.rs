//! Inputs of a run.

use std::sync::Arc;

use incast_model::fabric::Fabric;
use incast_model::flow::FlowSet;
use incast_model::tenant::Tenancy;
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion::{Control, WindowMode};
use crate::host::{HostParams, PacketParams, RdmaParams};
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

/// Parameters that do not depend on the fabric or the flows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Params {
    /// Arithmetic of time, and order of simultaneous events.
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
    /// Parameters that all transports of a host share.
    pub host: HostParams,
    /// Parameters of RDMA hosts.
    pub rdma: RdmaParams,
    /// Hypervisor between VMs and the network; `None` if absent.
    pub hypervisor: Option<Hypervisor>,
    /// Buffer of a port of a server of VMs, if hosts are VMs.
    pub server_queue: Bytes,
    /// Recorded data.
    pub measure: MeasureParams,
    /// Simulated time at which the run stops in any case; `None`: runs until all flows end.
    pub horizon: Option<Time>,
    /// Maximum number of events; `None`: unlimited.
    pub max_events: Option<u64>,
}

/// Congestion control of a group of flows.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlSetup {
    /// Algorithm with its parameters.
    pub control: Control,
    /// Limit of bytes in flight.
    pub window: WindowMode,
}

/// Transport of a group of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// RDMA under a congestion control, an index into [`Setup::controls`].
    Rdma(usize),
    /// Another transport, an index into [`Setup::transports`].
    Transport(usize),
}

/// Inputs of a simulation.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Fabric.
    pub fabric: Arc<Fabric>,
    /// Flows.
    pub flows: Arc<FlowSet>,
    /// Congestion controls in use.
    pub controls: Vec<ControlSetup>,
    /// Transports in use other than RDMA.
    pub transports: Vec<Transport>,
    /// Transport of each label of the flows.
    pub carriers: Vec<Carrier>,
    /// Tenants' VMs, if hosts are VMs.
    pub tenancy: Option<Arc<Tenancy>>,
    /// Tagger's rules, if `switch.tagging` is enabled.
    pub tags: Option<Arc<TagRules>>,
    /// Other parameters.
    pub params: Params,
}
