//! Named parameter sets, filled in before reading into types.

use incast_sim::balance::Balance;
use incast_sim::congestion::{Control, ControlInfo};
use incast_sim::host::PacketParams;
use incast_sim::tenant::{Hypervisor, HypervisorInfo};
use incast_sim::transport::{TcpControl, Transport, TransportInfo};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::diagnostic::Diagnostic;
use crate::tree::{self, path};

/// Profiles of a whole scenario, with descriptions.
pub const SCENARIO_PROFILES: &[(&str, &str)] = &[(
    "ns3",
    "behaviour of the HPCC authors' ns-3: arithmetic, ECMP hash, order of next hops, headroom of three delays, 43 B PFC frames, no retransmission timeout, starts of flow files",
)];

/// Where "none" stands for an absent value.
const OPTIONAL_SECTIONS: [&str; 8] = ["network", "switch", "ecn", "packets", "host", "rdma", "measure", "simulation"];

fn scenario_profile(name: &str) -> Option<Value> {
    (name == "ns3").then(|| {
        json!({
            "simulation": { "arithmetic": "ns3" },
            "network": { "hash": "murmur3", "next_hop_order": "neighbour-descending" },
            "switch": { "headroom": "three-delays" },
            "packets": { "pfc": "43B" },
            "rdma": { "rto": "none" },
        })
    })
}

/// Resolves profiles, controls given by name, and "none".
pub(super) fn resolve(root: &mut Map<String, Value>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    balance_shorthand(root.get_mut("network"));
    // Packet profiles before the scenario's own: the nearer wins.
    if let Some(Value::Object(packets)) = root.get_mut("packets") {
        packet_profile(packets, "packets", &mut found);
    }
    if let Some(Value::Object(schemes)) = root.get_mut("scheme") {
        for (name, scheme) in schemes {
            let path = path::join("scheme", name);
            if let Value::Object(scheme) = scheme {
                resolve_scheme(scheme, &path, &mut found);
            }
        }
    }
    if let Some(name) = root.remove("profile") {
        match name.as_str().map(|name| (name, scenario_profile(name))) {
            Some((_, Some(Value::Object(sections)))) => {
                fill_sections(root, &sections);
                ns3_starts(root);
            }
            _ => found.push(unknown_profile("profile", &name, SCENARIO_PROFILES)),
        }
    }
    for section in OPTIONAL_SECTIONS {
        absent(root.get_mut(section));
    }
    found
}

fn resolve_scheme(scheme: &mut Map<String, Value>, path: &str, found: &mut Vec<Diagnostic>) {
    for (field, kind) in [("control", Kind::Control), ("transport", Kind::Transport)] {
        if let Some(value) = scheme.get_mut(field) {
            shorthand(kind, value, &path::join(path, field), found);
        }
        let by_label = format!("{field}_by_label");
        if let Some(Value::Object(values)) = scheme.get_mut(&by_label) {
            for (label, value) in values {
                shorthand(kind, value, &path::join(&path::join(path, &by_label), label), found);
            }
        }
    }
    hypervisor_shorthand(scheme.get_mut("hypervisor"), &path::join(path, "hypervisor"), found);
    balance_shorthand(scheme.get_mut("network"));
    if let Some(Value::Object(packets)) = scheme.get_mut("packets") {
        packet_profile(packets, &path::join(path, "packets"), found);
    }
    for section in OPTIONAL_SECTIONS {
        absent(scheme.get_mut(section));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Control,
    Transport,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Transport => "transport",
        }
    }

    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Control => Control::NAMES,
            Self::Transport => Transport::NAMES,
        }
    }

    fn profiles(self, name: &str) -> Option<&'static [(&'static str, &'static str)]> {
        match self {
            Self::Control => Control::profiles(name),
            Self::Transport => Transport::profiles(name),
        }
    }

    fn values(self, name: &str, profile: &str) -> Option<Value> {
        match self {
            Self::Control => Control::named(name, profile).and_then(|one| serde_json::to_value(one).ok()),
            Self::Transport => Transport::named(name, profile).and_then(|one| serde_json::to_value(one).ok()),
        }
    }
}

/// `"hpcc"` becomes `{ hpcc = {} }`; inner profiles become values.
fn shorthand(kind: Kind, value: &mut Value, path: &str, found: &mut Vec<Diagnostic>) {
    if let Value::String(name) = value {
        let name = std::mem::take(name);
        if !kind.names().contains(&name.as_str()) {
            let message = format!("unknown {} `{name}`", kind.word());
            found.push(Diagnostic::new(path, message).names(&name, kind.names().iter().copied()));
        }
        *value = Value::Object(Map::from_iter([(name, Value::Object(Map::new()))]));
    }
    let Value::Object(table) = value else { return };
    if table.len() != 1 {
        let message = format!("a scheme has exactly one {}, here are {}", kind.word(), table.len());
        found.push(Diagnostic::new(path, message).allowed(format!("one of {}", kind.names().join(", "))));
        return;
    }
    for (name, params) in table {
        absent(Some(params));
        let Value::Object(params) = params else { continue };
        if kind == Kind::Transport {
            window_shorthand(params);
        }
        let (Some(profile), Some(profiles)) = (params.remove("profile"), kind.profiles(name)) else { continue };
        match profile.as_str().and_then(|profile| kind.values(name, profile)) {
            Some(Value::Object(mut values)) => {
                if let Some(Value::Object(values)) = values.remove(name.as_str()) {
                    // Parameters of two controls do not mix.
                    let own = params.contains_key("control");
                    let values = values.into_iter().filter(|(key, _)| !(own && key == "control"));
                    tree::fill(params, &values.collect());
                }
            }
            _ => {
                let path = path::join(&path::join(path, name), "profile");
                found.push(unknown_profile(&path, &profile, profiles));
            }
        }
    }
}

/// TCP's `control = "reno"` becomes `{ reno = {} }`.
fn window_shorthand(params: &mut Map<String, Value>) {
    if let Some(control) = params.get_mut("control")
        && let Value::String(name) = control
        && TcpControl::named(name).is_some()
    {
        let name = std::mem::take(name);
        *control = Value::Object(Map::from_iter([(name, Value::Object(Map::new()))]));
    }
}

fn hypervisor_shorthand(value: Option<&mut Value>, path: &str, found: &mut Vec<Diagnostic>) {
    let Some(value) = value else { return };
    // ElasticSwitch's Hold-Increase and Rate-Caution: off in Seawall unless given.
    if let Some(Value::Object(rate)) = value.get_mut("seawall").and_then(|seawall| seawall.get_mut("rate")) {
        for of_elasticswitch in ["hold_increase", "rate_caution"] {
            rate.entry(of_elasticswitch).or_insert(false.into());
        }
    }
    let Value::String(name) = value else { return };
    let name = std::mem::take(name);
    if !Hypervisor::NAMES.contains(&name.as_str()) {
        let message = format!("unknown hypervisor `{name}`");
        found.push(Diagnostic::new(path, message).names(&name, Hypervisor::NAMES.iter().copied()));
    }
    *value = Value::Object(Map::from_iter([(name, Value::Object(Map::new()))]));
}

/// `load_balancing = "spray"` becomes `{ spray = {} }`; ECMP has no parameters.
fn balance_shorthand(network: Option<&mut Value>) {
    if let Some(balance) = network.and_then(|network| network.get_mut("load_balancing"))
        && let Value::String(name) = balance
        && Balance::parameters(name).is_some()
    {
        let name = std::mem::take(name);
        *balance = Value::Object(Map::from_iter([(name, Value::Object(Map::new()))]));
    }
}

fn packet_profile(packets: &mut Map<String, Value>, path: &str, found: &mut Vec<Diagnostic>) {
    let Some(name) = packets.remove("profile") else { return };
    match name.as_str().and_then(PacketParams::profile).map(serde_json::to_value) {
        Some(Ok(Value::Object(values))) => tree::fill(packets, &values),
        _ => found.push(unknown_profile(&path::join(path, "profile"), &name, PacketParams::PROFILES)),
    }
}

fn unknown_profile(path: &str, name: &Value, profiles: &[(&str, &str)]) -> Diagnostic {
    let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    Diagnostic::new(path, format!("unknown profile `{name}`")).names(&name, profiles.iter().map(|(name, _)| *name))
}

fn fill_sections(root: &mut Map<String, Value>, sections: &Map<String, Value>) {
    for (section, values) in sections {
        let here = root.entry(section.clone()).or_insert_with(|| Value::Object(Map::new()));
        if let (Value::Object(here), Value::Object(values)) = (here, values) {
            tree::fill(here, values);
        }
    }
}

/// As in ns-3.
fn ns3_starts(root: &mut Map<String, Value>) {
    for entry in root.get_mut("workload").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(Value::Object(ns3)) = entry.get_mut("ns3") {
            ns3.entry("ns3_starts").or_insert(Value::Bool(true));
        }
    }
}

/// TOML has no absent values.
fn absent(section: Option<&mut Value>) {
    if let Some(Value::Object(section)) = section {
        for value in section.values_mut().filter(|value| value.as_str() == Some("none")) {
            *value = Value::Null;
        }
    }
}

fn profile_schema(profiles: &[(&str, &str)]) -> Value {
    let sources: Vec<String> = profiles.iter().map(|(name, source)| format!("`{name}`: {source}")).collect();
    let names: Vec<&str> = profiles.iter().map(|(name, _)| *name).collect();
    json!({
        "description": format!("Profile: values of parameters that are not given. {}.", sources.join("; ")),
        "type": "string",
        "enum": names,
    })
}

fn add_profile(schema: &mut Schema, profiles: &[(&str, &str)]) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("profile".into(), profile_schema(profiles));
    }
}

pub(super) fn add_to_scenario(schema: &mut Schema) {
    add_profile(schema, SCENARIO_PROFILES);
}

pub(super) fn packets_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = <PacketParams as schemars::JsonSchema>::json_schema(generator);
    add_profile(&mut schema, PacketParams::PROFILES);
    schema
}

struct Named {
    name: &'static str,
    summary: &'static str,
    profiles: &'static [(&'static str, &'static str)],
    schema: Schema,
}

fn named_schema(generator: &mut SchemaGenerator, description: &str, all: Vec<Named>) -> Schema {
    let names: Vec<&str> = all.iter().map(|one| one.name).collect();
    let mut alternatives = vec![json!({ "type": "string", "enum": names, "description": "with all defaults" })];
    for one in all {
        let mut schema = one.schema;
        if !one.profiles.is_empty() {
            add_profile(&mut schema, one.profiles);
        }
        schema.remove("$schema");
        if let Some(Value::Object(definitions)) = schema.remove("$defs") {
            generator.definitions_mut().extend(definitions);
        }
        alternatives.push(json!({
            "description": one.summary,
            "type": "object",
            "properties": { one.name: schema },
            "required": [one.name],
            "additionalProperties": false,
        }));
    }
    json_schema(json!({ "description": description, "anyOf": alternatives }))
}

pub(super) fn control_schema(generator: &mut SchemaGenerator) -> Schema {
    let named = |info: ControlInfo| Named {
        name: info.name,
        summary: info.summary,
        profiles: info.profiles,
        schema: info.schema,
    };
    let description = "A congestion control: its name, or its name with parameters";
    named_schema(generator, description, Control::catalogue().into_iter().map(named).collect())
}

pub(super) fn transport_schema(generator: &mut SchemaGenerator) -> Schema {
    let named = |info: TransportInfo| Named {
        name: info.name,
        summary: info.summary,
        profiles: info.profiles,
        schema: info.schema,
    };
    let description = "A transport other than RDMA: its name, or its name with parameters";
    named_schema(generator, description, Transport::catalogue().into_iter().map(named).collect())
}

pub(super) fn hypervisor_schema(generator: &mut SchemaGenerator) -> Schema {
    let named =
        |info: HypervisorInfo| Named { name: info.name, summary: info.summary, profiles: &[], schema: info.schema };
    let description = "A hypervisor: its name, or its name with parameters";
    named_schema(generator, description, Hypervisor::catalogue().into_iter().map(named).collect())
}

pub(super) fn controls_schema(generator: &mut SchemaGenerator) -> Schema {
    let control = control_schema(generator);
    json_schema(json!({
        "description": "Congestion controls of flows with these labels, if not the scheme's; the flows use RDMA",
        "type": "object",
        "additionalProperties": control,
    }))
}

pub(super) fn transports_schema(generator: &mut SchemaGenerator) -> Schema {
    let transport = transport_schema(generator);
    json_schema(json!({
        "description": "Transports of flows with these labels, if not the scheme's",
        "type": "object",
        "additionalProperties": transport,
    }))
}

fn json_schema(value: Value) -> Schema {
    Schema::try_from(value).unwrap_or_default()
}
