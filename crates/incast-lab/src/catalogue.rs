//! Items that a scenario can name.

use incast_model::fabric::GENERATORS;
use incast_model::range;
use incast_model::workload::{Described, DescribedKind, catalogue as workload_catalogue};
use incast_sim::balance::Balance;
use incast_sim::congestion::{Control, WindowMode};
use incast_sim::host::PacketParams;
use incast_sim::switch::SwitchParams;
use incast_sim::tenant::Hypervisor;
use incast_sim::transport::{TcpControl, Transport};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::results::{ResultsCatalogue, results_catalogue};
use crate::scenario::{SCENARIO_PROFILES, Scenario, marking};

/// Named items, with parameters.
#[derive(Debug, Clone, Serialize)]
pub struct Catalogue {
    /// Fabric generators and files.
    pub fabrics: Vec<Entry>,
    /// Workload patterns.
    pub workloads: Vec<Entry>,
    /// Named flow-size distributions.
    pub sizes: Vec<SizeEntry>,
    /// Congestion controls.
    pub controls: Vec<ControlEntry>,
    /// Transports other than RDMA.
    pub transports: Vec<TransportEntry>,
    /// Hypervisors between VMs and the network.
    pub hypervisors: Vec<Entry>,
    /// TCP congestion controls.
    pub tcp_controls: Vec<Entry>,
    /// Load-balancing rules.
    pub load_balancers: Vec<Entry>,
    /// Profiles of a whole scenario.
    pub profiles: Vec<Profile>,
    /// Profiles of packet sizes.
    pub packet_profiles: Vec<Profile>,
    /// Other sections of a scenario.
    pub sections: Vec<Entry>,
    /// Tables, counters and stops of results.
    #[serde(flatten)]
    pub results: ResultsCatalogue,
}

/// Named item with parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Name in scenarios.
    pub name: String,
    /// Description.
    pub description: String,
    /// Source, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// Parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Kind of value: `rate`, `time`, `size`, `number`, `text`, list of names, …
    pub kind: String,
    /// True if it must be given.
    pub required: bool,
    /// Default; `null` for none.
    pub default: Value,
    /// Bounds as in a JSON schema, and words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Value>,
    /// Meaning, with unit, default and source.
    pub description: String,
    /// Parameters of inner tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
}

/// Named flow-size distribution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeEntry {
    /// Name in scenarios.
    pub name: String,
    /// Measured traffic.
    pub description: String,
    /// Measurement and source of its points.
    pub source: String,
    /// Its other names.
    pub also: Vec<String>,
    /// Mean in bytes under linear interpolation, for loads.
    pub mean_bytes: f64,
    /// Mean in bytes if only the points' sizes are drawn.
    pub step_mean_bytes: f64,
    /// Median in bytes.
    pub median_bytes: f64,
    /// 90th percentile in bytes.
    pub p90_bytes: f64,
    /// 99th percentile in bytes.
    pub p99_bytes: f64,
    /// Maximum in bytes.
    pub max_bytes: f64,
    /// Packet size in bytes to which draws are rounded; `null`: whole bytes.
    pub packet_bytes: Option<u64>,
    /// Other tables of this measurement, with means in bytes.
    pub variants: Vec<(String, f64)>,
}

/// Congestion control.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ControlEntry {
    /// Name in scenarios.
    pub name: String,
    /// Description.
    pub description: String,
    /// Default window.
    pub window: WindowMode,
    /// Default ECN marking in words; `None`: defaults of `ecn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marking: Option<String>,
    /// Parameter sets; the first is the default.
    pub profiles: Vec<Profile>,
    /// Parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// Transport other than RDMA.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransportEntry {
    /// Name in scenarios.
    pub name: String,
    /// Description.
    pub description: String,
    /// Required non-default switch parameters.
    pub switch: Value,
    /// Default ECN marking in words; `None`: no marking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marking: Option<String>,
    /// Parameter sets; the first is the default.
    pub profiles: Vec<Profile>,
    /// Parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// Named parameter set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// Name in scenarios.
    pub name: String,
    /// Description and source.
    pub source: String,
    /// Values.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub values: Value,
}

/// Returns the catalogue.
pub fn catalogue() -> Catalogue {
    let schema = Scenario::schema().to_value();
    let schema = Book(&schema);
    let described = workload_catalogue();
    let patterns = described.iter().filter(|one| one.kind == DescribedKind::Pattern);
    let entry_schema = schema.definition("WorkloadSpec");
    Catalogue {
        fabrics: GENERATORS.iter().map(|(name, description)| schema.fabric(name, description)).collect(),
        workloads: patterns
            .map(|one| Entry {
                name: one.name.into(),
                description: one.description.into(),
                source: one.source.map(str::to_owned),
                parameters: schema.parameters(&schema.follow(&entry_schema["properties"][one.name])),
            })
            .collect(),
        sizes: sizes(&described),
        controls: controls(),
        transports: transports(),
        hypervisors: Hypervisor::catalogue()
            .into_iter()
            .map(|info| {
                let own = info.schema.to_value();
                Entry {
                    name: info.name.into(),
                    description: info.summary.into(),
                    source: None,
                    parameters: Book(&own).parameters(&own),
                }
            })
            .collect(),
        tcp_controls: TcpControl::CATALOGUE
            .iter()
            .map(|(name, description)| {
                let own = TcpControl::parameters(name).map(|schema| schema.to_value());
                Entry {
                    name: (*name).into(),
                    description: (*description).into(),
                    source: None,
                    parameters: own.map(|own| Book(&own).parameters(&own)).unwrap_or_default(),
                }
            })
            .collect(),
        load_balancers: Balance::CATALOGUE
            .iter()
            .map(|(name, description)| {
                let own = Balance::parameters(name).map(|schema| schema.to_value());
                Entry {
                    name: (*name).into(),
                    description: (*description).into(),
                    source: None,
                    parameters: own.map(|own| Book(&own).parameters(&own)).unwrap_or_default(),
                }
            })
            .collect(),
        profiles: SCENARIO_PROFILES.iter().map(|one| profile(one, Value::Null)).collect(),
        packet_profiles: PacketParams::PROFILES
            .iter()
            .map(|one| profile(one, PacketParams::profile(one.0).map_or(Value::Null, to_value)))
            .collect(),
        sections: ["vms", "tenant", "network", "switch", "ecn", "packets", "host", "rdma", "measure", "simulation"]
            .map(|name| schema.section(name))
            .into(),
        results: results_catalogue(),
    }
}

fn sizes(described: &[Described]) -> Vec<SizeEntry> {
    let tables = || described.iter().filter_map(|one| Some((one, one.sizes.as_ref()?)));
    tables()
        .map(|(one, sizes)| {
            let [median_bytes, p90_bytes, p99_bytes] = sizes.percentiles;
            let variants = tables().filter(|(other, of)| of.family == sizes.family && other.name != one.name);
            SizeEntry {
                name: one.name.into(),
                description: one.description.into(),
                source: one.source.expect("a table names its source").into(),
                also: sizes.also.iter().map(|&name| name.into()).collect(),
                mean_bytes: sizes.mean,
                step_mean_bytes: sizes.step_mean,
                median_bytes,
                p90_bytes,
                p99_bytes,
                max_bytes: sizes.max,
                packet_bytes: sizes.packet,
                variants: variants.map(|(other, of)| (other.name.into(), of.mean)).collect(),
            }
        })
        .collect()
}

fn to_value(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("parameters are plain values")
}

fn profile((name, source): &(&str, &str), values: Value) -> Profile {
    Profile { name: (*name).into(), source: (*source).into(), values }
}

fn controls() -> Vec<ControlEntry> {
    Control::catalogue()
        .into_iter()
        .map(|info| {
            let values = |profile: &str| Control::named(info.name, profile).map(to_value);
            let values = |name: &str| values(name).map_or(Value::Null, |mut value| value[info.name].take());
            let schema = info.schema.to_value();
            ControlEntry {
                name: info.name.into(),
                description: info.summary.into(),
                window: info.window,
                marking: info.ecn.as_ref().map(marking),
                profiles: info.profiles.iter().map(|one| profile(one, values(one.0))).collect(),
                parameters: Book(&schema).parameters(&schema),
            }
        })
        .collect()
}

fn transports() -> Vec<TransportEntry> {
    let usual = to_value(SwitchParams::default());
    Transport::catalogue()
        .into_iter()
        .map(|info| {
            let values = |profile: &str| Transport::named(info.name, profile).map(to_value);
            let values = |name: &str| values(name).map_or(Value::Null, |mut value| value[info.name].take());
            let schema = info.schema.to_value();
            let mut switch = to_value(&info.switch);
            if let Value::Object(switch) = &mut switch {
                switch.retain(|name, value| *value != usual[name.as_str()]);
            }
            TransportEntry {
                name: info.name.into(),
                description: info.summary.into(),
                switch,
                marking: info.ecn.as_ref().map(marking),
                profiles: info.profiles.iter().map(|one| profile(one, values(one.0))).collect(),
                parameters: Book(&schema).parameters(&schema),
            }
        })
        .collect()
}

struct Book<'a>(&'a Value);

impl Book<'_> {
    fn definition(&self, name: &str) -> Value {
        self.0["$defs"][name].clone()
    }

    fn follow(&self, schema: &Value) -> Value {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            return self.definition(name);
        }
        if let Some(Value::Array(choices)) = schema.get("anyOf")
            && let [one, Value::Object(null)] = &choices[..]
            && null.get("type").and_then(Value::as_str) == Some("null")
        {
            return self.follow(one);
        }
        match schema.get("items") {
            Some(items) => self.follow(items),
            None => schema.clone(),
        }
    }

    fn fabric(&self, name: &str, description: &str) -> Entry {
        let generators = self.definition("FabricSpec");
        let alternatives = generators["oneOf"].as_array().cloned().unwrap_or_default();
        let schema = alternatives.iter().find_map(|one| one["properties"].get(name)).map(|one| self.follow(one));
        let parameters = schema.map(|schema| self.parameters(&schema)).unwrap_or_default();
        Entry { name: name.into(), description: description.into(), source: None, parameters }
    }

    fn section(&self, name: &str) -> Entry {
        let schema = self.0["properties"][name].clone();
        let text = |value: &Value| value["description"].as_str().unwrap_or_default().to_owned();
        let parameters = self.parameters(&self.follow(&schema));
        Entry { name: name.into(), description: text(&schema), source: None, parameters }
    }

    fn parameters(&self, schema: &Value) -> Vec<Parameter> {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        properties
            .iter()
            .map(|(name, field)| Parameter {
                name: name.clone(),
                kind: self.kind(field),
                required: required(name),
                default: field.get("default").cloned().unwrap_or_default(),
                range: field.get(range::KEYWORD).cloned(),
                description: field["description"].as_str().unwrap_or_default().to_owned(),
                parameters: self.parameters(&self.follow(field)),
            })
            .collect()
    }

    fn kind(&self, field: &Value) -> String {
        if let Some(name) = field["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            return match name {
                "Rate" => "rate".into(),
                "Time" => "time".into(),
                "Bytes" => "size".into(),
                _ => self.kind(&self.definition(name)),
            };
        }
        if let Some(names) = field["enum"].as_array() {
            return names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ");
        }
        if let Some(name) = field["const"].as_str() {
            return name.into();
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = field[key].as_array() {
                let kinds = choices.iter().filter(|one| one["type"] != "null").map(|one| self.kind(one));
                return kinds.collect::<Vec<_>>().join(" | ");
            }
        }
        let types: Vec<&str> = match &field["type"] {
            Value::String(one) => vec![one],
            Value::Array(all) => all.iter().filter_map(Value::as_str).filter(|one| *one != "null").collect(),
            _ => vec![],
        };
        let kinds = types.into_iter().map(|one| match one {
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            "boolean" => "true | false".to_owned(),
            "array" => match field.get("items") {
                Some(items) => format!("list of {}", self.kind(items)),
                None => "list".to_owned(),
            },
            "object" => match field["properties"].as_object().filter(|all| all.len() == 1) {
                Some(one) => one.keys().next().map(|name| format!("{{ {name} = … }}")).unwrap_or_default(),
                None => "table".to_owned(),
            },
            other => other.to_owned(),
        });
        kinds.collect::<Vec<_>>().join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_described() {
        let all = catalogue();
        assert_eq!(all.fabrics.len(), GENERATORS.len());
        for entry in all.fabrics.iter().chain(&all.workloads).chain(&all.sections) {
            assert!(!entry.description.is_empty() && !entry.parameters.is_empty(), "{}", entry.name);
            for parameter in &entry.parameters {
                let named = format!("{}.{}", entry.name, parameter.name);
                assert!(!parameter.description.is_empty(), "{named}");
                assert!(!parameter.kind.is_empty(), "{named}");
            }
        }
        assert_eq!(all.controls.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), Control::NAMES);
        for control in &all.controls {
            assert!(control.profiles.iter().all(|profile| profile.values.is_object()), "{}", control.name);
        }
        let load_balancers: Vec<&str> = all.load_balancers.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(load_balancers, ["ecmp", "spray", "flowlet", "adaptive"]);
        for parameter in all.load_balancers.iter().flat_map(|one| &one.parameters) {
            assert!(!parameter.description.is_empty() && !parameter.kind.is_empty(), "{}", parameter.name);
        }
        assert!(all.results.tables.iter().all(|table| table.columns.len() > 5));
        let websearch = all.sizes.iter().find(|one| one.name == "websearch").unwrap();
        assert_eq!((websearch.mean_bytes.round(), websearch.p90_bytes), (1_711_250.0, 5e6));
        let yaps = websearch.variants.iter().find(|variant| variant.0 == "websearch_yaps").unwrap();
        assert_eq!((yaps.1.round(), websearch.variants.len()), (1_665_831.0, 4));
    }

    #[test]
    fn parameters_come_from_the_schema() {
        let all = catalogue();
        let hpcc = all.controls.iter().find(|one| one.name == "hpcc").unwrap();
        let eta = &hpcc.parameters[0];
        assert_eq!(
            (eta.name.as_str(), eta.kind.as_str(), eta.required, &eta.default),
            ("eta", "number", false, &Value::from(0.95))
        );
        assert!(eta.description.contains("SIGCOMM 2019"));
        assert_eq!(hpcc.profiles[1].values["eta"], 0.99);
        let dctcp = all.controls.iter().find(|one| one.name == "dctcp").unwrap();
        assert_eq!((dctcp.marking.as_deref(), &hpcc.marking), (Some("Kmin = Kmax = 300 kB at 100 Gb/s"), &None));
        let find = |entries: &[Entry], name: &str, parameter: &str| {
            let entry = entries.iter().find(|one| one.name == name).unwrap();
            entry.parameters.iter().find(|one| one.name == parameter).unwrap().clone()
        };
        assert_eq!(find(&all.fabrics, "star", "rate").kind, "rate");
        assert!(find(&all.fabrics, "star", "hosts").required);
        assert_eq!(find(&all.workloads, "incast", "every").kind, "time");
        assert_eq!(find(&all.sections, "network", "hash").kind, "mix64 | murmur3");
        assert_eq!(
            find(&all.sections, "network", "load_balancing").kind,
            "ecmp | spray | flowlet | adaptive | { spray = … } | { flowlet = … } | { adaptive = … }"
        );
        assert_eq!(find(&all.load_balancers, "flowlet", "gap").default, "100us");
        assert_eq!(find(&all.load_balancers, "spray", "order").kind, "random | round-robin");
        assert_eq!(find(&all.sections, "switch", "reserve").default, "4KiB");
        let inside = |section: &str, name: &str| -> Vec<String> {
            find(&all.sections, section, name).parameters.into_iter().map(|one| one.name).collect()
        };
        assert_eq!(inside("switch", "watchdog"), ["enabled", "detection", "restoration", "poll", "action"]);
        assert!(inside("network", "failure").contains(&"until".to_owned()));
        assert!(inside("ecn", "by_rate").contains(&"kmin".to_owned()));
        assert!(inside("switch", "reserve").is_empty());
        assert_eq!(find(&all.sections, "rdma", "rto").kind, "time");
    }
}
