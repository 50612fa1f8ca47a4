use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use incast_model::entry::EntryError;
use incast_model::fabric::{Fabric, GeneratorError};
use incast_model::field::FieldError;
use incast_model::flow::FlowSet;
use incast_model::foreign::Ns3Error;
use incast_model::input;
use incast_model::tenant::Tenancy;
use incast_model::workload::generate_with;
use incast_sim::host::ClassBy;
use incast_sim::switch::{EcnParams, SwitchParams};
use incast_sim::transport::Transport;
use incast_sim::{Carrier, ControlSetup, Params, Setup, ValidSetup};
use serde::Serialize;
use serde_json::{Map, Value};

use super::given::value;
use super::{Given, Scenario, Scheme, StandIns};
use crate::diagnostic::{Diagnostic, Diagnostics, Place};
use crate::text_file;
use crate::tree::path;
use crate::warning::Warning;

/// Scenario ready to run.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Scenario with defaults.
    pub scenario: Scenario,
    /// Folder of relative files.
    pub base_dir: PathBuf,
    /// Fabric of all schemes.
    pub fabric: Arc<Fabric>,
    /// Tenants' VMs; `None` without `[[tenant]]`.
    pub tenancy: Option<Arc<Tenancy>>,
    /// Flows of all schemes.
    pub flows: Arc<FlowSet>,
    /// Schemes' simulations, in the scenario's order.
    pub schemes: Vec<PreparedScheme>,
    pub(crate) given: Arc<Given>,
    pub(crate) stand_ins: StandIns,
    pub(crate) found: OnceLock<Vec<Warning>>,
}

/// One scheme's simulation.
#[derive(Debug, Clone)]
pub struct PreparedScheme {
    /// Name of the scheme.
    pub name: String,
    /// Input of the simulator.
    pub setup: ValidSetup,
    /// Warnings about tagging rules that allow a cyclic buffer dependency, or make flows lossy.
    pub(crate) rule_warnings: Vec<String>,
}

impl Scenario {
    /// Expects a checked scenario.
    pub(super) fn setups(&self, base_dir: &Path) -> Result<Prepared, Diagnostics> {
        let fabric = Arc::new(self.build_fabric(base_dir)?);
        let tenancy = self.tenancy(&fabric, base_dir)?.map(Arc::new);
        let flows = Arc::new(self.flows(&fabric, tenancy.as_deref(), base_dir)?);
        Diagnostics::check(self.too_many_samples(&fabric, &flows).into_iter().collect())?;
        let mut schemes = Vec::new();
        for (name, scheme) in &self.scheme {
            let path = path::join("scheme", name);
            let Carried { controls, transports, carriers } = carried(scheme, &path, &flows)?;
            let params = self.params(scheme, &path)?;
            let (tags, warnings) = self.tag_rules(name, &fabric, (&params, &flows), base_dir)?.unzip();
            let (fabric, flows, tenancy) = (fabric.clone(), flows.clone(), tenancy.clone());
            let setup = Setup { fabric, flows, controls, transports, carriers, tenancy, tags, params };
            let setup = setup.checked().map_err(|error| located(self, name, error))?;
            schemes.push(PreparedScheme { name: name.clone(), setup, rule_warnings: warnings.unwrap_or_default() });
        }
        Ok(Prepared {
            scenario: self.clone(),
            base_dir: base_dir.to_owned(),
            fabric,
            tenancy,
            flows,
            schemes,
            given: Arc::default(),
            stand_ins: StandIns::default(),
            found: OnceLock::new(),
        })
    }

    /// Fabric with VMs and services.
    pub fn build_fabric(&self, base_dir: &Path) -> Result<Fabric, Diagnostics> {
        let fabric = self.fabric.build(base_dir).map_err(fabric_error)?;
        let fabric = match &self.vms {
            Some(vms) => fabric.with_vms(vms).map_err(Diagnostic::from)?,
            None => fabric,
        };
        Ok(fabric.with_services(&self.service).map_err(Diagnostic::from)?)
    }

    /// Generates all flows of the workload.
    pub fn flows(&self, fabric: &Fabric, tenancy: Option<&Tenancy>, base_dir: &Path) -> Result<FlowSet, Diagnostics> {
        let flows = generate_with(&self.workload, fabric, tenancy, base_dir, self.seed, self.simulation.horizon)
            .map_err(entry_error)?;
        if flows.flows.is_empty() {
            let of_files =
                self.workload.iter().all(|entry| entry.trace.is_some() || entry.ns3.is_some() || entry.htsim.is_some());
            let hint = if of_files { "files with flows" } else { "a longer duration or a higher load makes some" };
            return Err(Diagnostic::new("workload", "the workload has no flow").allowed(hint).into());
        }
        Ok(flows)
    }

    /// `path`: the scheme's, for errors.
    pub(crate) fn params(&self, scheme: &Scheme, path: &str) -> Result<Params, Diagnostic> {
        Ok(Params {
            arithmetic: self.simulation.arithmetic,
            network: scheme.network.over(&self.network, &path::join(path, "network"))?,
            seed: self.seed,
            switch: self.switch(scheme, path)?,
            ecn: self.ecn(scheme, path)?,
            packets: scheme.packets.over(&self.packets, &path::join(path, "packets"))?,
            host: scheme.host.over(&self.host, &path::join(path, "host"))?,
            rdma: scheme.rdma.over(&self.rdma, &path::join(path, "rdma"))?,
            hypervisor: scheme.hypervisor.clone(),
            server_queue: self.vms.as_ref().map_or_else(Default::default, |vms| vms.queue),
            measure: self.measure.clone(),
            horizon: self.simulation.horizon,
            max_events: self.simulation.max_events,
        })
    }
}

impl Scenario {
    /// From scheme, scenario, transport, or default.
    pub(crate) fn switch(&self, scheme: &Scheme, path: &str) -> Result<SwitchParams, Diagnostic> {
        let wanted = scheme.wanted_switch();
        let switch = scheme.switch.over(&self.switch.over(&wanted, "switch")?, &path::join(path, "switch"))?;
        let given = [&self.switch, &scheme.switch].iter().any(|patch| patch.given().contains_key("lossless"));
        Ok(if given { switch } else { switch.with_isolated_lossless() })
    }

    /// From scheme, scenario, control or transport, or default.
    pub(crate) fn ecn(&self, scheme: &Scheme, path: &str) -> Result<EcnParams, Diagnostic> {
        let wanted = scheme.wanted_ecn().unwrap_or_default();
        scheme.ecn.over(&self.ecn.over(&wanted, "ecn")?, &path::join(path, "ecn"))
    }
}

pub(crate) fn of_classes(flows: &Arc<FlowSet>, params: &Params) -> Arc<FlowSet> {
    let mut flows = flows.clone();
    if params.host.classes.by != ClassBy::Given {
        params.host.classes.apply(Arc::make_mut(&mut flows));
    }
    flows
}

struct Carried {
    controls: Vec<ControlSetup>,
    transports: Vec<Transport>,
    /// By label.
    carriers: Vec<Carrier>,
}

fn place_of<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

fn carried(scheme: &Scheme, path: &str, flows: &FlowSet) -> Result<Carried, Diagnostics> {
    let mut found = Vec::new();
    let controls = scheme.control_by_label.keys().map(|label| ("control_by_label", label));
    let transports = scheme.transport_by_label.keys().map(|label| ("transport_by_label", label));
    let windows = scheme.window_by_label.keys().map(|label| ("window_by_label", label));
    for (field, label) in controls.chain(transports).chain(windows) {
        if !flows.labels.contains(label) {
            let at = path::join(&path::join(path, field), label);
            let names = flows.labels.iter().map(String::as_str);
            found.push(Diagnostic::new(at, format!("no flow has the label `{label}`")).names(label, names));
        }
    }
    Diagnostics::check(found)?;
    let mut carried = Carried { controls: Vec::new(), transports: Vec::new(), carriers: Vec::new() };
    if let (Some(control), Some(window)) = (&scheme.control, scheme.window()) {
        carried.controls.push(ControlSetup { control: control.clone(), window });
    }
    carried.transports.extend(scheme.transport.clone());
    for label in &flows.labels {
        let own = (scheme.control_by_label.get(label), scheme.transport_by_label.get(label));
        let carrier = match (own, &scheme.control, &scheme.transport) {
            ((_, Some(own)), ..) => Carrier::Transport(place_of(&mut carried.transports, own.clone())),
            ((None, None), None, Some(_)) => Carrier::Transport(0),
            ((own, None), usual, _) => {
                // Checked: a scheme has a control or a transport.
                let Some(control) = own.or(usual.as_ref()) else { continue };
                let as_usual = if own.is_some() { None } else { scheme.window() };
                let window =
                    scheme.window_by_label.get(label).copied().or(as_usual).unwrap_or(control.default_window());
                Carrier::Rdma(place_of(&mut carried.controls, ControlSetup { control: control.clone(), window }))
            }
        };
        carried.carriers.push(carrier);
    }
    Ok(carried)
}

/// Maps a simulator error to the scenario field that caused it.
pub(crate) fn located(scenario: &Scenario, scheme: &str, error: FieldError) -> Diagnostic {
    let field = where_set(scenario, scheme, &error.field);
    FieldError { field, ..error }.into()
}

/// The scheme's field if it has more of the path's steps than the common section, else the common one's.
pub(super) fn where_set(scenario: &Scenario, name: &str, field: &str) -> String {
    let Some(scheme) = scenario.scheme.get(name) else { return field.to_owned() };
    let (section, rest) = field.split_once('.').unwrap_or((field, ""));
    let of_name = |(_, one): &(&String, &Transport)| rest.split('.').next() == Some(one.name());
    if let ("transport", Some((label, _))) = (section, scheme.transport_by_label.iter().rfind(of_name)) {
        let at = path::join("scheme", name);
        return format!("{}.{rest}", path::join(&path::join(&at, "transport_by_label"), label));
    }
    let (own, common) = match section.split('[').next().unwrap_or(section) {
        "control" | "transport" | "window" | "hypervisor" => (1, 0),
        "network" => (steps(scheme.network.given(), rest), steps(&unusual(&scenario.network), rest)),
        "switch" => (steps(scheme.switch.given(), rest), steps(scenario.switch.given(), rest)),
        "ecn" => (steps(scheme.ecn.given(), rest), steps(scenario.ecn.given(), rest)),
        "packets" => (steps(scheme.packets.given(), rest), steps(&unusual(&scenario.packets), rest)),
        "host" => (steps(scheme.host.given(), rest), steps(&unusual(&scenario.host), rest)),
        "rdma" => (steps(scheme.rdma.given(), rest), steps(&unusual(&scenario.rdma), rest)),
        _ => (0, 0),
    };
    // On a tie the scheme's, which overrides the common section.
    if own > common || own == common && own > 1 {
        format!("{}.{field}", path::join("scheme", name))
    } else {
        field.to_owned()
    }
}

/// Those written for all schemes, as far as that matters.
fn unusual<T: Serialize + Default>(params: &T) -> Map<String, Value> {
    match (value(params), value(T::default())) {
        (Value::Object(now), Value::Object(usual)) => differing(&now, &usual),
        _ => Map::new(),
    }
}

fn differing(now: &Map<String, Value>, usual: &Map<String, Value>) -> Map<String, Value> {
    let differs = |(name, value): (&String, &Value)| match (value, usual.get(name)) {
        (now, Some(usual)) if now == usual => None,
        (Value::Object(now), Some(Value::Object(usual))) => Some((name.clone(), Value::Object(differing(now, usual)))),
        _ => Some((name.clone(), value.clone())),
    };
    now.iter().filter_map(differs).collect()
}

/// Leading steps of a path in a table, plus one if the table has content.
fn steps(table: &Map<String, Value>, path: &str) -> usize {
    let mut steps = path.split(['.', '[']).filter(|step| !step.is_empty());
    let Some(mut at) = steps.next().and_then(|first| table.get(first)) else { return usize::from(!table.is_empty()) };
    let mut found = 2;
    for step in steps {
        let next = match step.strip_suffix(']') {
            Some(index) => index.parse::<usize>().ok().and_then(|index| at.get(index)),
            None => at.get(step),
        };
        let Some(next) = next else { break };
        (at, found) = (next, found + 1);
    }
    found
}

fn fabric_error(error: GeneratorError) -> Diagnostic {
    match error {
        GeneratorError::Field(error) => error.within("fabric").into(),
        GeneratorError::Fabric(error) => Diagnostic::new("fabric", error.to_string()),
        GeneratorError::Ns3(error) => file_error("fabric.ns3.topology", &error),
        GeneratorError::Htsim(error) => file_error("fabric.htsim.topology", &error),
    }
}

/// The message names the parameter.
pub(crate) fn file_error(path: &str, error: &Ns3Error) -> Diagnostic {
    let (file, line, at, value) = match error {
        Ns3Error::Value { file, line, at, value, .. } => (file, *line, *at, &**value),
        Ns3Error::Trailing { file, line, value, .. } => (file, *line, None, &**value),
        Ns3Error::Truncated { file, line, .. } => (file, *line, None, ""),
        Ns3Error::Unreadable { .. } | Ns3Error::Fabric { .. } => return Diagnostic::new(path, error.to_string()),
    };
    let mut found = Diagnostic::new(path, error.to_string());
    let text = input::read_text(Path::new(&**file), input::LARGE).unwrap_or_default();
    if let Some(text) = text.lines().nth(line.saturating_sub(1)) {
        let at = at.or_else(|| text.find(value)).unwrap_or(0);
        let place = Place::of(file, text, at..at + value.len());
        found.place = Some(Box::new(Place { line, ..place }));
    }
    found
}

pub(super) fn entry_error(error: EntryError) -> Diagnostic {
    match error {
        EntryError::Field(error) => error.into(),
        EntryError::File { file, line, column, value, allowed, nearest } => {
            Diagnostic { nearest, ..text_file::in_file(&file, (line, column), &value).allowed(allowed) }
        }
        EntryError::Ns3 { field, source } => file_error(&field, &source),
        other => Diagnostic::new("", other.to_string()),
    }
}
