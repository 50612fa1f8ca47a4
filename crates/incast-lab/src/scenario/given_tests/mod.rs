//! Every condition: a scenario without effect and one with.

mod hosts;
mod others;
mod switches;

use std::collections::HashMap;
use std::path::Path;

use incast_sim::switch::SwitchParams;

use super::effects::{RULES, When};
use super::*;
use crate::catalogue;

const HPCC: &str = "[scheme.A]\ncontrol = \"hpcc\"\n";
const TCP: &str = "[scheme.A]\ntransport = \"tcp\"\n";
const DCQCN: &str = "[scheme.A]\ncontrol = \"dcqcn\"\n";
const CNPS: &str = "[rdma]\ncnp = \"packet\"\n";
const LOSSY: &str = "[switch]\npfc = false\n";
const SPINES: &str = "[fabric.leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
const DIRECT: &str = "[fabric.custom]\nhosts = 2\nlinks = [{ a = \"h0\", b = \"h1\" }]\n";
const STAR: &str = "[fabric.star]\nhosts = 4\n";
const FLOW: &str = "[[workload]]\nlist = [{ src = 0, dst = 1, size = \"10kB\" }]\n";
const VMS: &str = "[vms]\nslots = 2\n";
const TENANT: &str = "[[tenant]]\nname = \"x\"\nvms = 4\nmappers = 0.5\n";
const SHUFFLE: &str = "[[workload]]\n";
const FIXED: &str = "[[tenant]]\nname = \"x\"\nvms = 2\nplacement.slots = [\"h0.0\", \"h1.0\"]\n";
const FILE: &str = "[[workload]]\nns3.flows = \"flows.txt\"\npriority = 2\n";

/// Rule, parameter, scenario without effect, scenario with effect.
type Case = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// Missing fabric and workload: one switch, one flow.
fn cases() -> impl Iterator<Item = &'static Case> {
    [hosts::CASES, others::CASES, switches::CASES].into_iter().flatten()
}

/// `path: reason`.
fn said(parts: &[&str]) -> Vec<String> {
    let mut text = parts.concat();
    if !text.contains("[fabric.") {
        text += STAR;
    }
    if !text.contains("[[workload]]") {
        text += FLOW;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flows.txt"), "1\n0 1 2 100 1000 2.0\n").unwrap();
    warnings(&text, folder.path())
}

fn warnings(text: &str, folder: &Path) -> Vec<String> {
    let loaded = Loaded::from_text("s.toml", text, folder, &[]).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let prepared = loaded.prepare().unwrap_or_else(|found| panic!("{found}\n{text}"));
    without_effect(&prepared).iter().map(ToString::to_string).collect()
}

fn is_of_guard(rule: &str) -> bool {
    SwitchParams::default().guards().any(|(guard, _)| rule.strip_prefix("switch.") == Some(guard))
}

#[test]
fn every_condition_is_told_and_only_where_it_holds() {
    for (rule, path, without, with) in cases() {
        let named = |said: &[String]| said.iter().any(|one| one.split([' ', ':']).next() == Some(path));
        assert!(RULES.iter().any(|(name, _)| name == rule) || is_of_guard(rule), "{rule}");
        assert!(named(&said(without)), "{rule}: {:?} of\n{}", said(without), without.concat());
        assert!(!named(&said(with)), "{rule}: {:?} of\n{}", said(with), with.concat());
    }
    let tested = |rule: &str| cases().any(|(name, ..)| *name == rule);
    let untested: Vec<&str> = RULES
        .iter()
        .filter(|(rule, when)| matches!(when, When::If(_)) && !tested(rule))
        .map(|(rule, _)| *rule)
        .collect();
    assert_eq!(untested, [""; 0], "conditions without a case");
}

#[test]
fn no_parameter_is_forgotten() {
    let all = catalogue::catalogue();
    let parameters = all.sections.iter().flat_map(|section| {
        section
            .parameters
            .iter()
            .filter(|one| one.name != "profile")
            .map(|one| format!("{}.{}", section.name, one.name))
    });
    for parameter in parameters.filter(|parameter| !is_of_guard(parameter)) {
        assert_eq!(RULES.iter().filter(|(rule, _)| *rule == parameter).count(), 1, "{parameter} in effects.rs");
    }
    let controls: HashMap<_, _> = all.controls.iter().map(|one| (&*one.name, &one.parameters[..])).collect();
    let transports: HashMap<_, _> = all.transports.iter().map(|one| (&*one.name, &one.parameters[..])).collect();
    let rate = serde_json::to_value(incast_sim::tenant::RateParams::default()).unwrap();
    for (rule, _) in RULES {
        if let Some(name) = rule.strip_prefix("hypervisor.rate.") {
            assert!(rate.get(name).is_some(), "{rule} is no parameter");
            continue;
        }
        let (place, name) = rule.rsplit_once('.').unwrap_or(("", rule));
        let owner = [("control.", &controls), ("transport.", &transports)]
            .into_iter()
            .find_map(|(prefix, all)| place.strip_prefix(prefix).map(|name| (all, name)));
        let known = match owner {
            Some((all, owner)) => name == "*" || all[owner].iter().any(|one| one.name == name),
            None => match all.sections.iter().find(|section| section.name == place) {
                Some(section) => section.parameters.iter().any(|one| one.name == name),
                None => ["seed", "workload.priority", "scheme.window"].contains(rule),
            },
        };
        assert!(known, "{rule} is no parameter");
    }
}

#[test]
fn neighbours_are_told_together_with_their_place() {
    assert_eq!(
        said(&["[ecn]\nkmin = \"1kB\"\nkmax = \"2kB\"\npmax = 1.0\n", HPCC]),
        ["ecn (s.toml:2): kmin, kmax, pmax have no effect: no control here reads ECN marks; they are only counted"]
    );
    let udp = "[scheme.UDP]\ntransport = \"udp\"\n";
    assert_eq!(
        said(&["[ecn]\nkmin = \"1kB\"\nkmax = \"2kB\"\n", udp]),
        ["ecn (s.toml:2): kmin, kmax have no effect: no packet here is ECN-capable, so none is marked"]
    );
    let text = said(&["[rdma]\ncnp_interval = \"4us\"\n", DCQCN]);
    assert_eq!(
        text,
        [
            "rdma.cnp_interval (s.toml:2): has no effect: rdma.cnp is \"echo\": marks return in ACKs; write `rdma.cnp = \"packet\"`"
        ]
    );
}

#[test]
fn a_default_that_is_written_out_is_no_mistake() {
    assert_eq!(said(&["seed = 1\n[ecn]\nkmin = \"400kB\"\n[rdma]\ncnp_interval = \"50us\"\n", HPCC]), [""; 0]);
    let folder = tempfile::tempdir().unwrap();
    for parts in [&[HPCC, STAR, FLOW], &[DCQCN, STAR, FLOW]] {
        let text = parts.concat();
        let whole = Loaded::from_text("s", &text, folder.path(), &[]).unwrap().scenario().to_toml();
        assert_eq!(warnings(&whole, folder.path()), [""; 0], "{whole}");
    }
    // A profile's parameters give no warnings.
    assert_eq!(said(&["profile = \"ns3\"\n", HPCC, LOSSY]), [""; 0]);
}

#[test]
fn it_must_be_without_effect_under_every_scheme() {
    let both = "[scheme.B]\ncontrol = \"hpcc\"\n";
    let own = "[scheme.A]\ncontrol = \"dcqcn\"\necn.kmin = \"2kB\"\n";
    let kmin = "[ecn]\nkmin = \"1kB\"\n";
    assert_eq!(said(&[kmin, DCQCN, both]), [""; 0]);
    assert!(said(&[kmin, own, both])[0].starts_with("ecn.kmin (s.toml:2): has no effect: no control here reads"));
    assert_eq!(said(&[kmin, own]), ["ecn.kmin (s.toml:2): has no effect: the scheme overrides it"]);
    let text = said(&["[scheme.A]\ncontrol = \"hpcc\"\necn.kmin = \"2kB\"\n"]);
    assert!(text[0].starts_with("scheme.A.ecn.kmin (s.toml:3): has no effect: "), "{text:?}");
}

#[test]
fn a_control_that_no_flow_has_is_told() {
    let text = said(&["[scheme.A]\ncontrol.hpcc.eta = 0.9\ncontrol_by_label.list.dcqcn.byte_counter = \"1MB\"\n"]);
    assert_eq!(
        text,
        [
            "scheme.A.control.hpcc.eta (s.toml:2): has no effect: no flow of this scheme has this control",
            "scheme.A.control_by_label.list.dcqcn.byte_counter (s.toml:3): has no effect: the vendor variant has no byte counter; \
             write `variant = \"paper\"`",
        ]
    );
}

#[test]
fn overrides_count_as_written() {
    let text = [HPCC, STAR, FLOW].concat();
    let sets = ["ecn.kmin=1kB".to_owned()];
    let prepared = Loaded::from_text("s", &text, Path::new("."), &sets).unwrap().prepare().unwrap();
    let said = without_effect(&prepared);
    assert!(said[0].to_string().starts_with("ecn.kmin (--set): has no effect"), "{said:?}");
}
