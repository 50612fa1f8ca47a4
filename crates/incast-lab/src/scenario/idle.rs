use incast_model::fabric::Vms;
use incast_sim::congestion::Control;
use incast_sim::host::{HostParams, PacketParams, RdmaParams};
use incast_sim::measure::MeasureParams;
use incast_sim::network::NetworkParams;
use incast_sim::switch::{EcnParams, SwitchParams};
use incast_sim::tenant::Hypervisor;
use incast_sim::transport::Transport;
use serde_json::{Map, Value};

use super::facts::{Facts, Verdict};
use super::given::{Given, value};
use super::{Prepared, Scenario, SimulationParams};
use crate::tree::path;
use crate::warning::Warning;

const OF_SCHEMES: [&str; 6] = ["network", "switch", "ecn", "packets", "host", "rdma"];

struct Idle {
    table: String,
    name: String,
    reason: &'static str,
}

/// Warns about written values without effect; neighbours with one reason share a warning.
pub(crate) fn without_effect(prepared: &Prepared) -> Vec<Warning> {
    let given = &prepared.given;
    let found = Search::new(given, prepared).run();
    found.chunk_by(|a, b| (&a.table, a.reason) == (&b.table, b.reason)).map(|group| warning(given, group)).collect()
}

fn warning(given: &Given, group: &[Idle]) -> Warning {
    let first = path::join(&group[0].table, &group[0].name);
    let line = given.place(&first);
    let names: Vec<&str> = group.iter().map(|one| one.name.as_str()).collect();
    let reason = group[0].reason;
    let warning = match names[..] {
        [_] => Warning::new(first, format!("has no effect: {reason}")),
        _ => Warning::new(group[0].table.clone(), format!("{} have no effect: {reason}", names.join(", "))),
    };
    Warning { line, ..warning }
}

struct Search<'a> {
    given: &'a Map<String, Value>,
    prepared: &'a Prepared,
    whole: Value,
    schemes: Vec<Facts<'a>>,
    found: Vec<Idle>,
}

impl<'a> Search<'a> {
    fn new(given: &'a Given, prepared: &'a Prepared) -> Self {
        let schemes = (0..prepared.schemes.len()).map(|index| Facts::new(prepared, index)).collect();
        Self { given: &given.root, prepared, whole: value(&prepared.scenario), schemes, found: Vec::new() }
    }

    fn run(mut self) -> Vec<Idle> {
        if self.given.contains_key("seed") && self.whole["seed"] != 1 {
            self.of_all("", "seed", "seed", |_| true);
        }
        self.workload();
        self.tenants();
        for (section, default) in defaults(&self.prepared.scenario) {
            for name in names(self.given.get(section)) {
                let below = &self.given[section][&name];
                if self.differs(section, &name, &default) && !is_off(below) {
                    let own = |index: usize| {
                        let scheme = &self.prepared.scenario.scheme[index];
                        match section {
                            "network" => scheme.network.replaces(below, &name),
                            "switch" => scheme.switch.replaces(below, &name),
                            "ecn" => scheme.ecn.replaces(below, &name),
                            "packets" => scheme.packets.replaces(below, &name),
                            "host" => scheme.host.replaces(below, &name),
                            "rdma" => scheme.rdma.replaces(below, &name),
                            _ => false,
                        }
                    };
                    let without: Vec<bool> = (0..self.schemes.len()).map(|index| !own(index)).collect();
                    self.of_all(section, &name, &format!("{section}.{name}"), |index| without[index]);
                }
            }
        }
        for index in 0..self.schemes.len() {
            self.scheme(index);
        }
        self.found
    }

    fn differs(&self, section: &str, name: &str, default: &Value) -> bool {
        let scenario = &self.prepared.scenario;
        match section {
            "ecn" => scenario.scheme.values().any(|scheme| {
                let wanted = scheme.wanted_ecn().unwrap_or_default();
                scenario.ecn.over(&wanted, "ecn").is_ok_and(|given| value(given)[name] != value(&wanted)[name])
            }),
            "switch" => scenario.scheme.values().any(|scheme| {
                let wanted = scheme.wanted_switch();
                scenario.switch.over(&wanted, "switch").is_ok_and(|given| value(given)[name] != value(&wanted)[name])
            }),
            _ => self.whole[section][name] != default[name],
        }
    }

    fn of_all(&mut self, table: &str, name: &str, rule: &str, concerns: impl Fn(usize) -> bool) {
        let mut verdicts = (0..self.schemes.len()).filter(|&index| concerns(index)).map(|index| {
            let verdict: Verdict = self.schemes[index].verdict(rule);
            verdict
        });
        let reason = match verdicts.next() {
            None if self.schemes.len() == 1 => "the scheme overrides it",
            None => "every scheme overrides it",
            Some(Ok(())) => return,
            Some(Err(reason)) if verdicts.all(|verdict| verdict.is_err()) => reason,
            Some(Err(_)) => return,
        };
        self.note(table, name, reason);
    }

    fn note(&mut self, table: &str, name: &str, reason: &'static str) {
        self.found.push(Idle { table: table.into(), name: name.into(), reason });
    }

    fn workload(&mut self) {
        let entries = self.given.get("workload").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, entry) in entries.iter().enumerate() {
            let usual = value(incast_model::workload::WorkloadSpec::default());
            let now = &self.whole["workload"][index];
            if entry.get("priority").is_some() && now["priority"] != usual["priority"] {
                self.schemes.iter_mut().for_each(|facts| facts.entry = Some(index));
                self.of_all(&path::index("workload", index), "priority", "workload.priority", |_| true);
            }
        }
    }

    fn tenants(&mut self) {
        let entries = self.given.get("tenant").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, entry) in entries.iter().enumerate() {
            for name in names(Some(entry)) {
                self.schemes.iter_mut().for_each(|facts| facts.tenant = Some(index));
                self.of_all(&path::index("tenant", index), &name, &format!("tenant.{name}"), |_| true);
            }
        }
    }

    fn scheme(&mut self, index: usize) {
        let Some((name, scheme)) = self.prepared.scenario.scheme.get_index(index) else { return };
        let Some(given) = self.given.get("scheme").and_then(|all| all.get(name)) else { return };
        let at = path::join("scheme", name);
        let usual = scheme.control.as_ref().map(Control::default_window);
        if given.get("window").is_some() && scheme.window() != usual {
            self.judge(index, &at, "window", "scheme.window");
        }
        let params = &self.prepared.schemes[index].setup.params;
        let scenario = &self.prepared.scenario;
        let marks = scenario.ecn.over(&scheme.wanted_ecn().unwrap_or_default(), "ecn").map(value).unwrap_or_default();
        let switch = scenario.switch.over(&scheme.wanted_switch(), "switch").map(value).unwrap_or_default();
        let mine = [
            value(&params.network),
            value(&params.switch),
            value(&params.ecn),
            value(params.packets),
            value(params.host),
            value(&params.rdma),
        ];
        for (section, mine) in OF_SCHEMES.into_iter().zip(mine) {
            for name in names(given.get(section)) {
                let usual = match section {
                    "ecn" => &marks,
                    "switch" => &switch,
                    _ => &self.whole[section],
                };
                if mine[&name] != usual[&name] && !is_off(&given[section][&name]) {
                    self.judge(index, &path::join(&at, section), &name, &format!("{section}.{name}"));
                }
            }
        }
        if let Some(control) = &scheme.control {
            self.control(index, given.get("control"), control, &path::join(&at, "control"));
        }
        for (label, control) in &scheme.control_by_label {
            let given = given.get("control_by_label").and_then(|all| all.get(label));
            self.control(index, given, control, &path::join(&path::join(&at, "control_by_label"), label));
        }
        if let Some(transport) = &scheme.transport {
            self.transport(index, given.get("transport"), transport, &path::join(&at, "transport"));
        }
        if let Some(hypervisor) = &scheme.hypervisor {
            self.hypervisor(index, given.get("hypervisor"), hypervisor, &path::join(&at, "hypervisor"));
        }
        for (label, transport) in &scheme.transport_by_label {
            let given = given.get("transport_by_label").and_then(|all| all.get(label));
            self.transport(index, given, transport, &path::join(&path::join(&at, "transport_by_label"), label));
        }
    }

    fn hypervisor(&mut self, index: usize, given: Option<&Value>, hypervisor: &Hypervisor, at: &str) {
        let name = hypervisor.name();
        let rate = given.and_then(|given| given.get(name)).and_then(|given| given.get("rate"));
        let usual = value(Hypervisor::named(name));
        let now = value(hypervisor);
        for parameter in names(rate) {
            if now[name]["rate"][&parameter] != usual[name]["rate"][&parameter] {
                let at = path::join(&path::join(at, name), "rate");
                self.judge(index, &at, &parameter, &format!("hypervisor.rate.{parameter}"));
            }
        }
    }

    fn transport(&mut self, index: usize, given: Option<&Value>, transport: &'a Transport, at: &str) {
        let name = transport.name();
        let at = path::join(at, name);
        let now = value(transport);
        let usual = Transport::catalogue().into_iter().find(|info| info.name == name);
        let usual = value(usual.and_then(|info| Transport::named(name, info.profiles[0].0)));
        self.schemes[index].transport = Some(transport);
        for parameter in names(given.and_then(|given| given.get(name))) {
            if parameter != "profile" && now[name][&parameter] != usual[name][&parameter] {
                match self.schemes[index].uses_transport(transport) {
                    Ok(()) => self.judge(index, &at, &parameter, &format!("transport.{name}.{parameter}")),
                    Err(reason) => self.note(&at, &parameter, reason),
                }
            }
        }
        self.schemes[index].transport = None;
    }

    fn control(&mut self, index: usize, given: Option<&Value>, control: &'a Control, at: &str) {
        let name = control.name();
        let usual = Control::catalogue().into_iter().find(|info| info.name == name);
        let usual = usual.and_then(|info| Control::named(name, info.profiles[0].0));
        let (now, usual) = (value(control), value(usual));
        let at = path::join(at, name);
        self.schemes[index].control = Some(control);
        for parameter in names(given.and_then(|given| given.get(name))) {
            if parameter != "profile" && now[name][&parameter] != usual[name][&parameter] {
                match self.schemes[index].uses(control) {
                    Ok(()) => self.judge(index, &at, &parameter, &format!("control.{name}.{parameter}")),
                    Err(reason) => self.note(&at, &parameter, reason),
                }
            }
        }
        self.schemes[index].control = None;
    }

    fn judge(&mut self, index: usize, table: &str, name: &str, rule: &str) {
        if let Err(reason) = self.schemes[index].verdict(rule) {
            self.note(table, name, reason);
        }
    }
}

/// A guard that is off on purpose.
fn is_off(given: &Value) -> bool {
    given.get("enabled") == Some(&Value::Bool(false))
}

fn defaults(scenario: &Scenario) -> [(&'static str, Value); 9] {
    [
        ("vms", scenario.vms.as_ref().map_or(Value::Null, |vms| value(Vms::new(vms.slots)))),
        ("network", value(NetworkParams::default())),
        ("switch", value(SwitchParams::default())),
        ("ecn", value(EcnParams::default())),
        ("packets", value(PacketParams::default())),
        ("host", value(HostParams::default())),
        ("rdma", value(RdmaParams::default())),
        ("measure", value(MeasureParams::default())),
        ("simulation", value(SimulationParams::default())),
    ]
}

fn names(table: Option<&Value>) -> Vec<String> {
    let keys = table.and_then(Value::as_object).into_iter().flat_map(Map::keys);
    keys.filter(|key| *key != "profile").cloned().collect()
}
