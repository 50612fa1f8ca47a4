//! Type names must be unique: definitions of catalogues and scenario are merged by name.

use std::collections::BTreeMap;

use incast_model::fabric::{FabricSpec, Service, Vms};
use incast_model::tenant::TenantSpec;
use incast_model::workload::WorkloadSpec;
use incast_sim::congestion::Control;
use incast_sim::host::{HostParams, PacketParams, RdmaParams};
use incast_sim::measure::MeasureParams;
use incast_sim::network::NetworkParams;
use incast_sim::switch::{EcnParams, SwitchParams};
use incast_sim::tenant::Hypervisor;
use incast_sim::transport::Transport;
use schemars::{Schema, schema_for};
use serde_json::{Map, Value};

use super::{Scenario, SimulationParams};

fn definitions(schema: &Schema) -> Map<String, Value> {
    schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default()
}

#[test]
fn no_two_types_share_a_name() {
    let whole = definitions(&Scenario::schema());
    assert!(whole.len() > 40 && whole.contains_key("FlowDetection"), "{:?}", whole.keys());
    let controls = Control::catalogue().into_iter().map(|info| info.schema);
    let transports = Transport::catalogue().into_iter().map(|info| info.schema);
    let hypervisors = Hypervisor::catalogue().into_iter().map(|info| info.schema);
    let sections = [
        schema_for!(FabricSpec),
        schema_for!(Service),
        schema_for!(Vms),
        schema_for!(TenantSpec),
        schema_for!(WorkloadSpec),
        schema_for!(SwitchParams),
        schema_for!(EcnParams),
        schema_for!(NetworkParams),
        schema_for!(PacketParams),
        schema_for!(HostParams),
        schema_for!(RdmaParams),
        schema_for!(MeasureParams),
        schema_for!(SimulationParams),
    ];
    let mut by_name: BTreeMap<String, Value> = BTreeMap::new();
    for schema in controls.chain(transports).chain(hypervisors).chain(sections) {
        for (name, definition) in definitions(&schema) {
            assert_eq!(whole.get(&name), Some(&definition), "{name} is another type in the schema of a scenario");
            assert_eq!(*by_name.entry(name.clone()).or_insert_with(|| definition.clone()), definition, "{name}");
        }
    }
    // The schema renames duplicates: `Name2`.
    for name in whole.keys() {
        let base = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
        assert!(base == name || !whole.contains_key(base), "{name} stands beside {base}");
    }
}
