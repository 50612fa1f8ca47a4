//! Checks without fabric and flows.

use std::collections::HashSet;

use incast_model::field::FieldError;
use incast_model::range;
use incast_sim::congestion::Control;
use incast_sim::switch::{EcnParams, SwitchParams};
use incast_sim::transport::Transport;

use super::prepare::located;
use super::{Scenario, Scheme};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::tree::path;

impl Scenario {
    /// Checks every range, then relations that need no fabric.
    pub fn check(&self) -> Result<(), Diagnostics> {
        let mut found: Vec<Diagnostic> = range::faults(self).into_iter().map(Diagnostic::from).collect();
        let in_range = found.is_empty();
        for (field, value, allowed) in [
            ("seed", Some(self.seed), "0 to 2^63 - 1"),
            ("simulation.max_events", self.simulation.max_events, "below 2^63"),
        ] {
            let value = value.unwrap_or(0);
            found.extend(
                FieldError::unless(value <= i64::MAX as u64, field, value, allowed).err().map(Diagnostic::from),
            );
        }
        if self.workload.is_empty() {
            found.push(Diagnostic::new("workload", "the workload is empty: add at least one [[workload]]"));
        }
        found.extend(self.switch.over(&SwitchParams::default(), "switch").err());
        found.extend(self.ecn.over(&EcnParams::default(), "ecn").err());
        if self.scheme.is_empty() {
            let known = format!(
                "a table such as [scheme.HPCC] with control = one of {}, or transport = one of {}",
                Control::NAMES.join(", "),
                Transport::NAMES.join(", ")
            );
            found.push(Diagnostic::new("scheme", "the scenario has no scheme: add at least one").allowed(known));
        }
        let key = |one: &Diagnostic| (one.path.clone(), one.message.clone(), one.allowed.clone());
        let mut seen: HashSet<_> = found.iter().map(key).collect();
        for (name, scheme) in &self.scheme {
            let path = path::join("scheme", name);
            if name.is_empty() {
                found.push(Diagnostic::new(&path, "a scheme needs a name"));
            }
            found.extend(carrier(scheme, &path));
            if scheme.hypervisor.is_some() && self.tenant.is_empty() {
                let none = Diagnostic::new(path::join(&path, "hypervisor"), "there are no tenants");
                found.push(none.allowed("[vms] and at least one [[tenant]]"));
            }
            for one in self.relations(scheme, name, &path, in_range) {
                // Schemes repeat faults of common sections.
                if seen.insert(key(&one)) {
                    found.push(one);
                }
            }
        }
        Diagnostics::check(found)
    }

    /// Located where scheme or scenario sets the parameter; out of range, only unreadable patches.
    fn relations(&self, scheme: &Scheme, name: &str, path: &str, in_range: bool) -> Vec<Diagnostic> {
        let params = match self.params(scheme, path) {
            Err(error) => return vec![error],
            Ok(_) if !in_range => return Vec::new(),
            Ok(params) => params,
        };
        let mut found: Vec<Diagnostic> = Vec::new();
        let at = |field: &str| path::join(path, field);
        let by_label = |field: &str, label: &str| path::join(&at(field), label);
        let labelled = scheme.control_by_label.iter().map(|(label, one)| (one, by_label("control_by_label", label)));
        for (one, at) in scheme.control.iter().map(|one| (one, at("control"))).chain(labelled) {
            found.extend(one.check().err().map(|bad| bad.within(path::join(&at, one.name())).into()));
        }
        let labelled =
            scheme.transport_by_label.iter().map(|(label, one)| (one, by_label("transport_by_label", label)));
        for (one, at) in scheme.transport.iter().map(|one| (one, at("transport"))).chain(labelled) {
            found.extend(one.check().err().map(|bad| bad.within(path::join(&at, one.name())).into()));
        }
        let given = scheme.ecn.given().contains_key("kmax") || self.ecn.given().contains_key("kmax");
        let of_carrier = scheme.wanted_ecn().is_some() && !given;
        found.extend(params.faults().into_iter().map(|mut error| {
            if let (true, "ecn.kmin", Some(allowed)) = (of_carrier, &*error.field, &mut error.allowed) {
                *allowed += &format!(", the default of {}", scheme.carrier());
            }
            located(self, name, error)
        }));
        found
    }
}

/// A scheme and its labels need an RDMA control or another transport.
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
        (None, None) => {
            let none = Diagnostic::new(path, "the scheme has no `control` and no `transport`");
            let (controls, transports) = (Control::NAMES.join(", "), Transport::NAMES.join(", "));
            found.push(none.allowed(format!("control = one of {controls}; or transport = one of {transports}")));
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
