//! Everything a run is made from.

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

/// All parameters of a run that do not depend on the fabric or the flows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Params {
    /// How time is counted.
    pub arithmetic: Arithmetic,
    /// Load balancing, given routes, failures of links.
    pub network: NetworkParams,
    /// Every random stream derives from it.
    pub seed: u64,
    /// Switch buffers, PFC and schedulers.
    pub switch: SwitchParams,
    /// ECN marking at switches.
    pub ecn: EcnParams,
    /// Header sizes and wire overheads.
    pub packets: PacketParams,
    /// What all transports of a host share.
    pub host: HostParams,
    /// The RDMA host.
    pub rdma: RdmaParams,
    /// What stands between VMs and the network; `None`: nothing.
    pub hypervisor: Option<Hypervisor>,
    /// What a port of a server of VMs keeps, where hosts are VMs.
    pub server_queue: Bytes,
    /// What is recorded beside flows and counters.
    pub measure: MeasureParams,
    /// Simulated time at which the run stops whatever is left; `None` runs until all flows end.
    pub horizon: Option<Time>,
    /// Events after which the run stops; `None` is unlimited.
    pub max_events: Option<u64>,
}

/// One congestion control as used by a group of flows.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlSetup {
    /// The algorithm with its parameters.
    pub control: Control,
    /// Whether bytes in flight are limited, and how.
    pub window: WindowMode,
}

/// What carries a group of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// RDMA under a congestion control, an index into [`Setup::controls`].
    Rdma(usize),
    /// Another transport, an index into [`Setup::transports`].
    Transport(usize),
}

/// What a simulation is built from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The fabric.
    pub fabric: Arc<Fabric>,
    /// The flows.
    pub flows: Arc<FlowSet>,
    /// The congestion controls in use.
    pub controls: Vec<ControlSetup>,
    /// The transports other than RDMA in use.
    pub transports: Vec<Transport>,
    /// For each label of the flows, what carries them.
    pub carriers: Vec<Carrier>,
    /// Who has which VM, where hosts are VMs.
    pub tenancy: Option<Arc<Tenancy>>,
    /// The rules of Tagger, where `switch.tagging` is enabled.
    pub tags: Option<Arc<TagRules>>,
    /// The rest.
    pub params: Params,
}
