//! Scenario. Its types are the only list of parameters: readers, schema, catalogue and reference follow them.

mod check;
mod effects;
mod elsewhere;
mod facts;
mod given;
pub(crate) mod given_paths;
#[cfg(test)]
mod given_tests;
mod idle;
mod key;
mod most;
mod patch;
mod paths;
#[cfg(test)]
mod place_tests;
mod prepare;
mod profiles;
mod read;
pub(crate) mod samples;
#[cfg(test)]
mod schema_tests;
mod scheme;
mod stand_ins;
pub(crate) mod tagging;
mod tenants;
#[cfg(test)]
mod tests;
mod write;

use incast_model::fabric::{FabricSpec, Service, Vms};
use incast_model::range::{above, least};
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

pub(crate) use given::{Given, value};
pub(crate) use idle::without_effect;
pub use patch::Patch;
pub use prepare::{Prepared, PreparedScheme};
pub(crate) use prepare::{located, of_classes};
pub use profiles::SCENARIO_PROFILES;
pub use read::Loaded;
pub use scheme::Scheme;
pub(crate) use scheme::marking;
pub(crate) use stand_ins::StandIns;

/// A simulation experiment: one fabric and one list of flows, simulated once under each scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = profiles::add_to_scenario)]
pub struct Scenario {
    /// Title for tables and reports, one line. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Seed of all random streams, below 2^63. Default 1.
    #[serde(default = "one")]
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// Hosts, switches and links: one generator or file.
    pub fabric: FabricSpec,
    /// VMs on every host of the fabric, which becomes a server. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vms: Option<Vms>,
    /// Tenants: groups of VMs with guarantees. Default none. Guarantees count during the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenant: Vec<TenantSpec>,
    /// Hosts added for services, such as Fastpass's arbiter, outside the workload. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub service: Vec<Service>,
    /// Traffic of the hosts: one entry per pattern.
    pub workload: Vec<WorkloadSpec>,
    /// Schemes to compare, by a name of your choice: congestion controls and transports with their parameters. Each is
    /// one simulation.
    #[serde(default)]
    pub scheme: IndexMap<String, Scheme>,
    /// Routing, load balancing, failures, and PFC storms.
    #[serde(default)]
    pub network: NetworkParams,
    /// Switch buffers, PFC and schedulers, for all schemes. Defaults depend on the scheme's transport.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub switch: Patch<SwitchParams>,
    /// ECN marking at switches, for all schemes. Defaults depend on the scheme's control or transport.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub ecn: Patch<EcnParams>,
    /// Header sizes and wire overheads.
    #[serde(default)]
    #[schemars(schema_with = "profiles::packets_schema")]
    pub packets: PacketParams,
    /// Hosts, whatever their transport.
    #[serde(default)]
    pub host: HostParams,
    /// RDMA at hosts.
    #[serde(default)]
    pub rdma: RdmaParams,
    /// Recorded data, besides flows and counters.
    #[serde(default)]
    pub measure: MeasureParams,
    /// Arithmetic of time, stopping rules, and threads.
    #[serde(default)]
    pub simulation: SimulationParams,
}

const fn one() -> u64 {
    1
}

/// Arithmetic of time, stopping rules, and threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulationParams {
    /// Arithmetic of time, and order of simultaneous events. Default exact (our choice).
    pub arithmetic: Arithmetic,
    /// Simulated time at which a run stops. Default none: a run stops when every flow is complete, or at 4000 s.
    #[schemars(transform = above("0s"))]
    pub horizon: Option<Time>,
    /// Events after which a run stops. Default none.
    #[schemars(range(max = 9_223_372_036_854_775_807_u64), transform = least(1))]
    pub max_events: Option<u64>,
    /// Threads for all schemes together; `incast run --threads` comes first. Results do not depend on it. Default one per core
    /// in `incast run`, one per run in sweeps.
    #[schemars(transform = least(1))]
    pub threads: Option<u32>,
}

impl Scenario {
    /// JSON schema for editors, documentation and other languages.
    pub fn schema() -> Schema {
        schemars::schema_for!(Scenario)
    }
}
