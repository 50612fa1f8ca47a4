//! The scenario: one description of fabric, workload and schemes, with every parameter of a run.
//!
//! The types here and those they are made of are the only list of parameters there is: readers, JSON schema, catalogue and
//! reference pages all come from them.

mod check;
mod effects;
mod given;
#[cfg(test)]
mod given_tests;
mod key;
mod patch;
#[cfg(test)]
mod place_tests;
mod prepare;
mod profiles;
mod read;
#[cfg(test)]
mod schema_tests;
mod scheme;
pub(crate) mod tagging;
mod tenants;
#[cfg(test)]
mod tests;
mod write;

use incast_model::fabric::{FabricSpec, Service, Vms};
use incast_model::tenant::TenantSpec;
use incast_model::units::Time;
use incast_model::workload::WorkloadSpec;
use incast_sim::Arithmetic;
use incast_sim::host::{HostParams, PacketParams, RdmaParams};
use incast_sim::measure::MeasureParams;
use incast_sim::network::NetworkParams;
use incast_sim::switch::{EcnParams, SwitchParams};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

pub(crate) use given::Given;
pub use patch::Patch;
pub use prepare::{Prepared, PreparedScheme};
pub(crate) use prepare::{network_error, of_classes, setup_error};
pub use profiles::SCENARIO_PROFILES;
pub use read::Loaded;
pub use scheme::Scheme;

/// A simulation experiment: one fabric and one list of flows, simulated once under each scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = profiles::add_to_scenario)]
pub struct Scenario {
    /// One line for tables and reports. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Every random stream derives from it; below 2^63. Default 1.
    #[serde(default = "one")]
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// Hosts, switches and links: exactly one generator or file.
    pub fabric: FabricSpec,
    /// Virtual machines on every host of the fabric, which becomes a server. Default none: hosts are hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vms: Option<Vms>,
    /// Tenants that have VMs, with their guarantees. Default none. Tenants count all the time, whenever their workload begins and
    /// ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenant: Vec<TenantSpec>,
    /// Hosts added to the fabric for services, such as Fastpass's arbiter; no part of the workload. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub service: Vec<Service>,
    /// What the hosts send: one entry per pattern.
    pub workload: Vec<WorkloadSpec>,
    /// What is compared: congestion controls and transports with their parameters, by a name of your choice. Each is one
    /// simulation.
    #[serde(default)]
    pub scheme: IndexMap<String, Scheme>,
    /// How packets find their way: load balancing, given routes, links that fail, pauses that nodes send by
    /// themselves.
    #[serde(default)]
    pub network: NetworkParams,
    /// Switch buffers, PFC and schedulers, under every scheme. What is not given is as the scheme's transport wants it, or by
    /// default.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub switch: Patch<SwitchParams>,
    /// ECN marking at switches, under every scheme. What is not given is as the scheme's control or transport wants it, or by
    /// default.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub ecn: Patch<EcnParams>,
    /// Header sizes and wire overheads.
    #[serde(default)]
    #[schemars(schema_with = "profiles::packets_schema")]
    pub packets: PacketParams,
    /// What all transports of a host share.
    #[serde(default)]
    pub host: HostParams,
    /// The RDMA host.
    #[serde(default)]
    pub rdma: RdmaParams,
    /// What is recorded beside flows and counters.
    #[serde(default)]
    pub measure: MeasureParams,
    /// How time is counted and when a run stops.
    #[serde(default)]
    pub simulation: SimulationParams,
}

const fn one() -> u64 {
    1
}

/// How time is counted and when a run stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulationParams {
    /// How time is counted and ties are broken. Default exact (our choice).
    pub arithmetic: Arithmetic,
    /// Simulated time at which a run stops, whatever is left. Default none: it runs until every flow is complete.
    pub horizon: Option<Time>,
    /// Events after which a run stops. Default none.
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    pub max_events: Option<u64>,
}

impl Scenario {
    /// The JSON schema of scenarios, for editors, documentation and other languages.
    pub fn schema() -> Schema {
        schemars::schema_for!(Scenario)
    }
}
