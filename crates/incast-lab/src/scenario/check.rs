//! Checks beyond types: ranges, orders of thresholds, valid priorities.

use std::fmt::Display;

use incast_model::field::FieldError;
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::Arithmetic;
use incast_sim::balance::Balance;
use incast_sim::congestion::{Control, MAX_INT_RECORDS};
use incast_sim::host::{PacketParams, RdmaParams};
use incast_sim::measure::MeasureParams;
use incast_sim::network::NetworkParams;
use incast_sim::switch::{Alpha, EcnParams, Forwarding, PfcMode, QueueParams, SchedulerParams, SwitchParams};
use incast_sim::tenant::Hypervisor;
use incast_sim::transport::Transport;

use super::prepare::where_set;
use super::{Scenario, Scheme};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::tree::path;

struct Section<'a> {
    path: &'a str,
    found: Vec<Diagnostic>,
}

impl Section<'_> {
    fn unless(&mut self, holds: bool, field: &str, value: impl Display, allowed: &str) {
        self.found
            .extend(FieldError::unless(holds, field, value, allowed).err().map(|bad| bad.within(self.path).into()));
    }

    fn priority(&mut self, field: &str, priority: u8) {
        self.unless((1..8).contains(&priority), field, priority, "a priority, 1 to 7 (0 carries PFC frames)");
    }
}

impl Scenario {
    /// Checks everything that does not need the fabric.
    pub fn check(&self) -> Result<(), Diagnostics> {
        let mut found = Vec::new();
        if self.seed > i64::MAX as u64 {
            found.push(Diagnostic::new("seed", format!("`{}` is out of range", self.seed)).allowed("0 to 2^63 - 1"));
        }
        if self.workload.is_empty() {
            found.push(Diagnostic::new("workload", "the workload is empty: add at least one [[workload]]"));
        }
        found.extend(network(&self.network, self.simulation.arithmetic, "network"));
        found.extend(self.switch.over(&SwitchParams::default(), "switch").err());
        found.extend(self.ecn.over(&EcnParams::default(), "ecn").err());
        found.extend(packets(&self.packets, "packets"));
        found.extend(rdma(&self.rdma, "rdma"));
        found.extend(measure(&self.measure));
        let mut section = Section { path: "simulation", found };
        section.unless(self.simulation.horizon != Some(Time::ZERO), "horizon", Time::ZERO, "more than 0s");
        let most = self.simulation.max_events;
        section.unless(most != Some(0), "max_events", 0, "1 or more");
        section.unless(most.is_none_or(|most| most <= i64::MAX as u64), "max_events", most.unwrap_or(0), "below 2^63");
        let mut found = section.found;
        if self.scheme.is_empty() {
            let known = format!(
                "a table such as [scheme.HPCC] with control = one of {}, or transport = one of {}",
                Control::NAMES.join(", "),
                Transport::NAMES.join(", ")
            );
            found.push(Diagnostic::new("scheme", "the scenario has no scheme: add at least one").allowed(known));
        }
        for (name, scheme) in &self.scheme {
            let path = path::join("scheme", name);
            if name.is_empty() {
                found.push(Diagnostic::new(&path, "a scheme needs a name"));
            }
            for one in self.check_scheme(scheme, name, &path) {
                // Schemes repeat faults of the scenario's own sections.
                if !found.contains(&one) {
                    found.push(one);
                }
            }
        }
        Diagnostics::check(found)
    }

    /// Locates each fault in the scheme or the scenario's section.
    fn check_scheme(&self, scheme: &Scheme, name: &str, path: &str) -> Vec<Diagnostic> {
        let at = |field: &str| path::join(path, field);
        let mut found = carrier(scheme, path);
        if let Some(one) = &scheme.control {
            found.extend(control(one, &at("control")));
        }
        for (label, one) in &scheme.control_by_label {
            found.extend(control(one, &path::join(&at("control_by_label"), label)));
        }
        if let Some(one) = &scheme.transport {
            found.extend(transport(one, &at("transport")));
        }
        for (label, one) in &scheme.transport_by_label {
            found.extend(transport(one, &path::join(&at("transport_by_label"), label)));
        }
        if let Some(one) = &scheme.hypervisor {
            found.extend(hypervisor(one, self.tenant.is_empty(), &at("hypervisor")));
        }
        // Only patched parameters: faults in the base alone are reported already.
        let arithmetic = self.simulation.arithmetic;
        let mut of_section = |judged: Result<Vec<Diagnostic>, Diagnostic>| match judged {
            Ok(judged) => found.extend(judged.into_iter().map(|one| {
                let path = where_set(self, name, &one.path);
                Diagnostic { path, ..one }
            })),
            Err(error) => found.push(error),
        };
        let params = scheme.network.over(&self.network, &at("network"));
        of_section(params.map(|params| network(&params, arithmetic, "network")));
        of_section(self.switch(scheme, path).map(|params| switch(&params, arithmetic, "switch")));
        of_section(self.check_ecn(scheme, path));
        of_section(scheme.packets.over(&self.packets, &at("packets")).map(|params| packets(&params, "packets")));
        of_section(scheme.rdma.over(&self.rdma, &at("rdma")).map(|params| rdma(&params, "rdma")));
        found
    }
}

impl Scenario {
    fn check_ecn(&self, scheme: &Scheme, path: &str) -> Result<Vec<Diagnostic>, Diagnostic> {
        let given = |key: &str| scheme.ecn.given().contains_key(key) || self.ecn.given().contains_key(key);
        let whose = match scheme.wanted_ecn() {
            Some(_) if !given("kmax") => format!(", the default of {}", scheme.carrier()),
            _ => String::new(),
        };
        self.ecn(scheme, path).map(|params| ecn(&params, "ecn", &whose))
    }
}

fn hypervisor(one: &Hypervisor, no_tenants: bool, path: &str) -> Vec<Diagnostic> {
    let none = no_tenants.then(|| {
        let allowed = "[vms] and at least one [[tenant]]";
        Diagnostic::new(path, "there are no tenants").allowed(allowed)
    });
    let bad = one.check().err().map(|bad| bad.within(format!("{path}.{}", one.name())).into());
    none.into_iter().chain(bad).collect()
}

/// Requires either an RDMA control or another transport, of a scheme and every label.
fn carrier(scheme: &Scheme, path: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let one = "either `control`, for RDMA, or `transport`";
    match (&scheme.control, &scheme.transport) {
        (Some(_), Some(_)) => {
            let message = "the scheme has both a `control` and a `transport`";
            found.push(Diagnostic::new(path::join(path, "transport"), message).allowed(one));
        }
        (None, Some(_)) if scheme.window.is_some() => {
            let message = "a transport other than RDMA has its own window";
            found.push(Diagnostic::new(path::join(path, "window"), message).allowed("none"));
        }
        _ => {}
    }
    for label in scheme.transport_by_label.keys() {
        let at = |field: &str| path::join(&path::join(path, field), label);
        if scheme.control_by_label.contains_key(label) {
            let message = format!("flows with the label `{label}` have both a control and a transport");
            found.push(Diagnostic::new(at("transport_by_label"), message).allowed(one));
        }
        if scheme.window_by_label.contains_key(label) {
            let message = "a transport other than RDMA has its own window";
            found.push(Diagnostic::new(at("window_by_label"), message).allowed("none"));
        }
    }
    found
}

fn transport(transport: &Transport, path: &str) -> Option<Diagnostic> {
    let bad = transport.check().err()?;
    Some(bad.within(format!("{path}.{}", transport.name())).into())
}

fn control(control: &Control, path: &str) -> Option<Diagnostic> {
    let bad = control.check().err()?;
    Some(bad.within(format!("{path}.{}", control.name())).into())
}

/// Checks all but names, which are looked up later in the fabric.
fn network(params: &NetworkParams, arithmetic: Arithmetic, path: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let rule = &params.load_balancing;
    if let Err(bad) = rule.check() {
        found.push(bad.within(format!("{path}.load_balancing.{}", rule.name())).into());
    }
    if arithmetic == Arithmetic::Ns3 {
        let mut refuse = |holds: bool, field: &str, what: &str, allowed: &str| {
            if !holds {
                let message = format!("{what} is not possible in ns3 arithmetic");
                found.push(Diagnostic::new(format!("{path}.{field}"), message).allowed(allowed));
            }
        };
        let balance = format!("load balancing by `{}`", params.load_balancing.name());
        refuse(params.load_balancing == Balance::Ecmp, "load_balancing", &balance, "ecmp, or exact arithmetic");
        refuse(params.failure.is_empty(), "failure", "a failure of links", "none, or exact arithmetic");
        refuse(params.pause.is_empty(), "pause", "a PFC storm", "none, or exact arithmetic");
    }
    found
}

fn switch(params: &SwitchParams, arithmetic: Arithmetic, path: &str) -> Vec<Diagnostic> {
    let mut section = Section { path, found: Vec::new() };
    let most = Bytes(1 << 31);
    let exact = arithmetic == Arithmetic::Exact;
    let stored = exact || params.forwarding == Forwarding::StoreAndForward;
    section.unless(stored, "forwarding", "cut-through", "store-and-forward, or exact arithmetic");
    let shared = exact || params.queues == QueueParams::Shared;
    section.unless(shared, "queues", "a buffer for each port", "shared, or exact arithmetic");
    let header = (Bytes(1)..=Bytes(4096)).contains(&params.cut_through_header);
    section.unless(header, "cut_through_header", params.cut_through_header, "1B to 4096B");
    let field = match params.queues {
        QueueParams::Shared => "queues",
        QueueParams::DropTail { .. } => "queues.drop-tail.limit",
        QueueParams::Pfabric { .. } => "queues.pfabric.limit",
    };
    let limit = params.queues.limit().unwrap_or(Bytes(1));
    section.unless((Bytes(1)..=most).contains(&limit), field, limit, "more than 0B, at most 2GiB");
    section.unless((Bytes(1)..=most).contains(&params.buffer), "buffer", params.buffer, "more than 0B, at most 2GiB");
    section.unless(params.reserve <= Bytes(1 << 24), "reserve", params.reserve, "at most 16MiB");
    for (index, &priority) in params.lossless.iter().enumerate() {
        let field = format!("lossless[{index}]");
        section.unless(
            (1..8).contains(&priority),
            &field,
            priority,
            "a priority, 1 to 7 (0 carries PFC frames, never paused)",
        );
        section.unless(!params.lossless[..index].contains(&priority), &field, priority, "each priority once");
    }
    match &params.pfc_mode {
        PfcMode::Dynamic { alpha: Alpha::Value(alpha) } => {
            let holds = *alpha > 0.0 && *alpha <= 16.0;
            section.unless(holds, "pfc_mode.dynamic.alpha", alpha, "above 0, at most 16; switches have 1/128 to 8");
        }
        PfcMode::Dynamic { alpha: Alpha::ByRate } => {}
        PfcMode::Static { xoff } => {
            section.unless(*xoff > Bytes::ZERO, "pfc_mode.static.xoff", xoff, "more than 0B");
            section.unless(*xoff < params.buffer, "pfc_mode.static.xoff", xoff, "less than the buffer");
            resume_below(&mut section, params.resume_offset, *xoff);
        }
    }
    let resumes = params.resume_offset < params.buffer || params.buffer == Bytes::ZERO;
    section.unless(resumes, "resume_offset", params.resume_offset, "less than the buffer");
    let lossy = params.lossy_alpha > 0.0 && params.lossy_alpha <= 16.0;
    section.unless(lossy, "lossy_alpha", params.lossy_alpha, "above 0, at most 16");
    if let SchedulerParams::Drr { quanta, strict } = &params.scheduler {
        for (index, &priority) in strict.iter().enumerate() {
            let field = format!("scheduler.drr.strict[{index}]");
            section.unless(
                (1..8).contains(&priority),
                &field,
                priority,
                "a priority, 1 to 7 (0 goes before all others anyway)",
            );
            section.unless(!strict[..index].contains(&priority), &field, priority, "each priority once");
        }
        for (priority, &quantum) in quanta.iter().enumerate().skip(1) {
            section.unless(quantum > 0, &format!("scheduler.drr.quanta[{priority}]"), quantum, "1 byte or more");
        }
    }
    section.found
}

/// An offset above the threshold gives a negative resume length: no resume before the queue is empty. Reports the parameter that
/// is not the default, as the user wrote it.
fn resume_below(section: &mut Section<'_>, offset: Bytes, xoff: Bytes) {
    if offset == SwitchParams::default().resume_offset {
        let allowed = format!("at least switch.resume_offset, {offset}");
        section.unless(offset <= xoff || xoff == Bytes::ZERO, "pfc_mode.static.xoff", xoff, &allowed);
    } else {
        let allowed = format!("at most switch.pfc_mode.static.xoff, {xoff}");
        section.unless(offset <= xoff, "resume_offset", offset, &allowed);
    }
}

/// `whose`: source of kmax if it is a default.
fn ecn(params: &EcnParams, path: &str, whose: &str) -> Vec<Diagnostic> {
    let mut section = Section { path, found: Vec::new() };
    let fraction = |p: f64| (0.0..=1.0).contains(&p);
    section.unless(params.kmin <= params.kmax, "kmin", params.kmin, &format!("at most kmax, {}{whose}", params.kmax));
    section.unless(fraction(params.pmax), "pmax", params.pmax, "0 to 1");
    section.unless(params.per_rate > Rate::ZERO, "per_rate", params.per_rate, "more than 0bps");
    for (index, one) in params.by_rate.iter().enumerate() {
        let field = |name: &str| format!("by_rate[{index}].{name}");
        section.unless(one.kmin <= one.kmax, &field("kmin"), one.kmin, &format!("at most kmax, {}", one.kmax));
        section.unless(fraction(one.pmax), &field("pmax"), one.pmax, "0 to 1");
        let twice = params.by_rate[..index].iter().any(|other| other.rate == one.rate);
        section.unless(!twice, &field("rate"), one.rate, "each rate once");
    }
    section.found
}

fn packets(params: &PacketParams, path: &str) -> Vec<Diagnostic> {
    let mut section = Section { path, found: Vec::new() };
    // Lengths have 16 bits on the wire; a jumbo frame has 9000 B.
    let most = Bytes(65_535);
    section.unless((Bytes(1)..=most).contains(&params.payload), "payload", params.payload, "1B to 65535B");
    section.unless((Bytes(1)..=most).contains(&params.mss), "mss", params.mss, "1B to 65535B");
    for (field, size) in [
        ("ack", params.ack),
        ("min_ack", params.min_ack),
        ("timestamp", params.timestamp),
        ("pint", params.pint),
        ("int_base", params.int_base),
        ("int_record", params.int_record),
        ("gap", params.gap),
    ] {
        section.unless(size <= most, field, size, "at most 65535B");
    }
    for (field, size) in [
        ("data_header", params.data_header),
        ("cnp", params.cnp),
        ("pfc", params.pfc),
        ("segment_header", params.segment_header),
        ("control", params.control),
    ] {
        section.unless((Bytes(1)..=Bytes(4096)).contains(&size), field, size, "1B to 4096B");
    }
    section.unless(params.ack.0 + params.min_ack.0 > 0, "ack", params.ack, "more than 0B");
    let records = usize::from(params.int_records) <= MAX_INT_RECORDS;
    section.unless(records, "int_records", params.int_records, &format!("0 to {MAX_INT_RECORDS}"));
    section.found
}

fn rdma(params: &RdmaParams, path: &str) -> Vec<Diagnostic> {
    let mut section = Section { path, found: Vec::new() };
    section.unless(params.ack_every > 0, "ack_every", params.ack_every, "1 or more");
    if let Some(priority) = params.ack_priority {
        section.priority("ack_priority", priority);
    }
    section.priority("cnp_priority", params.cnp_priority);
    section.unless(params.rto != Some(Time::ZERO), "rto", Time::ZERO, "more than 0s, or \"none\"");
    section.unless(params.base_rtt != Some(Time::ZERO), "base_rtt", Time::ZERO, "more than 0s, or \"none\"");
    section.unless(params.window != Some(Bytes::ZERO), "window", Bytes::ZERO, "more than 0B, or \"none\"");
    section.unless(params.cnp_interval > Time::ZERO, "cnp_interval", params.cnp_interval, "more than 0s");
    section.found
}

fn measure(params: &MeasureParams) -> Vec<Diagnostic> {
    let mut section = Section { path: "measure", found: Vec::new() };
    section.unless(params.sample_every != Some(Time::ZERO), "sample_every", Time::ZERO, "more than 0s, or \"none\"");
    if let Some(until) = params.sample_until {
        section.unless(
            until > params.sample_from,
            "sample_until",
            until,
            &format!("after sample_from, {}", params.sample_from),
        );
    }
    section.unless(params.histogram_bin > Bytes::ZERO, "histogram_bin", params.histogram_bin, "more than 0B");
    section.found
}
