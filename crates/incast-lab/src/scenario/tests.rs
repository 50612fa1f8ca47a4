use std::path::Path;

use incast_model::routing::{EcmpHash, NextHopOrder};
use incast_model::units::{Bytes, Time};
use incast_sim::Carrier;
use incast_sim::balance::{Balance, SprayOrder};
use incast_sim::congestion::{Control, WindowMode};
use incast_sim::host::RdmaParams;
use incast_sim::switch::{Alpha, Headroom, PfcMode, SwitchParams};
use incast_sim::transport::Transport;
use proptest::prelude::*;

use super::*;
use crate::diagnostic::Diagnostics;

const SMALL: &str = r#"
title = "four to one"
[fabric.star]
hosts = 5
[[workload]]
label = "burst"
incast = { fan_in = 4, size = "10kB", receiver = 0 }
[scheme.HPCC]
control.hpcc = { profile = "key-results", ai = "40Mbps" }
[scheme."DCQCN+w"]
control = "dcqcn"
window = "rate"
"#;

fn load(text: &str) -> Result<Loaded, Diagnostics> {
    Loaded::from_text("s.toml", text, Path::new("."), &[])
}

fn scenario(text: &str) -> Scenario {
    load(text).unwrap_or_else(|found| panic!("{found}")).scenario().clone()
}

fn with(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    SMALL.replacen(from, to, 1)
}

fn refused(text: &str) -> String {
    let found = match load(text) {
        Ok(loaded) => loaded.prepare().expect_err("accepted"),
        Err(found) => found,
    };
    assert_eq!(found.iter().count(), 1, "{found}");
    without_names(&found.iter().next().unwrap().summary())
}

/// Without the growing list of controls.
fn without_names(message: &str) -> String {
    message.replace(&Control::NAMES.join(", "), "<controls>").replace(&Transport::NAMES.join(", "), "<transports>")
}

#[test]
fn profiles_lie_under_what_is_written() {
    let scenario = scenario(SMALL);
    let Some(Control::Hpcc(hpcc)) = &scenario.scheme["HPCC"].control else { panic!() };
    assert_eq!((hpcc.eta, hpcc.ai.0), (0.99, 40_000_000));
    assert_eq!(scenario.scheme.keys().collect::<Vec<_>>(), ["HPCC", "DCQCN+w"]);
    assert_eq!(scenario.scheme["HPCC"].window(), Some(WindowMode::Rate));
    assert_eq!(scenario.seed, 1);
}

#[test]
fn the_ns3_profile_sets_what_is_not_set() {
    let text = format!("profile = \"ns3\"\n{SMALL}\n[packets]\npfc = \"50B\"\n[rdma]\nack_every = 2\n");
    let read = scenario(&text);
    assert_eq!(read.simulation.arithmetic, Arithmetic::Ns3);
    assert_eq!(read.network.hash, EcmpHash::Murmur3);
    assert_eq!(read.network.next_hop_order, NextHopOrder::NeighbourDescending);
    assert_eq!(read.switch(&read.scheme["HPCC"], "").unwrap().headroom, Headroom::ThreeDelays);
    assert_eq!(read.packets.pfc, Bytes(50));
    assert_eq!((read.rdma.rto, read.rdma.ack_every), (None, 2));
    let text = format!("profile = \"ns3\"\n{SMALL}\n[packets]\nprofile = \"rocev2\"\n");
    assert_eq!(scenario(&text).packets.pfc, Bytes(64));
}

#[test]
fn merged_scenarios_read_back_equal() {
    for text in [
        SMALL.to_owned(),
        format!("profile = \"ns3\"\n{SMALL}"),
        format!(
            "{SMALL}control_by_label.burst.hpcc.eta = 0.9\nswitch.pfc_mode.static.xoff = \"1MB\"\nrdma.rto = \"none\"\n"
        ),
        with("receiver = 0", "every = \"1ms\", duration = \"2ms\"")
            + "\n[switch]\nscheduler.drr.quanta = [1,1,1,1,1,1,1,1]\n",
        format!("{SMALL}\n[simulation]\nhorizon = \"1.5ms\"\nmax_events = 7\n[measure]\nsample_every = \"10us\"\n"),
        format!("{SMALL}\n[ecn]\nmark_at = \"enqueue\"\n[scheme.S.control.swift]\ninitial_cwnd = \"none\"\n"),
        format!("{SMALL}\n[scheme.D]\ncontrol = \"dctcp\"\necn.pmax = 0.5\nrdma.ack_every = 2\n"),
    ] {
        let first = scenario(&text);
        let merged = first.to_toml();
        let mut second = scenario(&merged);
        assert!(merged.contains("max_stage = 0") && merged.contains("kmin = \"400kB\""), "{merged}");
        for (name, scheme) in &mut second.scheme {
            let was = &first.scheme[name];
            assert_eq!(scheme.window, was.window());
            assert_eq!(scheme.ecn, Patch::whole(&first.ecn(was, "").unwrap()));
            assert_eq!(scheme.switch, Patch::whole(&first.switch(was, "").unwrap()));
            (scheme.window, scheme.ecn, scheme.switch) = (was.window, was.ecn.clone(), was.switch.clone());
        }
        assert_eq!(second, first, "{merged}");
        assert_eq!(scenario(&merged).to_toml(), merged);
    }
}

proptest! {
    #[test]
    fn any_numbers_read_back(
        seed in 0..i64::MAX as u64, rto in proptest::option::of(1u64..1 << 50), eta in 0.01f64..4.0, buffer in 1_000_000u64..=1 << 31,
        pmax in 0.0f64..1.0, horizon in proptest::option::of(1u64..1 << 60),
    ) {
        let mut first = scenario(SMALL);
        first.seed = seed;
        first.rdma = RdmaParams { rto: rto.map(Time), ..first.rdma };
        first.switch = serde_json::from_value(serde_json::json!({ "buffer": Bytes(buffer) })).unwrap();
        first.ecn = serde_json::from_value(serde_json::json!({ "pmax": pmax })).unwrap();
        first.simulation.horizon = horizon.map(Time);
        if let Some(Control::Hpcc(hpcc)) = &mut first.scheme["HPCC"].control {
            hpcc.eta = eta;
        }
        let marking = EcnParams { pmax, ..EcnParams::default() };
        let switch = SwitchParams { buffer: Bytes(buffer), ..SwitchParams::default() };
        for scheme in first.scheme.values_mut() {
            scheme.window = scheme.window();
            scheme.ecn = Patch::whole(&marking);
            scheme.switch = Patch::whole(&switch);
        }
        prop_assert_eq!(scenario(&first.to_toml()), first);
    }

    #[test]
    fn no_text_panics(text in "(?s).{0,80}|[a-z.\\[\\]{}=\" 0-9\n]{0,80}") {
        let _ = load(&text);
        let _ = load(&format!("{SMALL}{text}"));
        let _ = Loaded::from_text("s", SMALL, Path::new("."), &[text]);
    }
}

#[test]
fn values_from_elsewhere_take_the_same_way() {
    let value = serde_json::json!({
        "fabric": { "star": { "hosts": 5 } },
        "workload": [{ "incast": { "fan_in": 4, "size": 10000 } }],
        "scheme": { "A": { "control": "hpcc" } },
        "rdma": { "rto": null },
    });
    let loaded = Loaded::from_value(value.clone(), Path::new("."), &["seed=9".into()]).unwrap();
    assert_eq!((loaded.scenario().seed, loaded.scenario().rdma.rto), (9, None));
    let mut bad = value;
    bad["scheme"]["A"]["control"] = "hpc".into();
    let found = Loaded::from_value(bad, Path::new("."), &[]).unwrap_err();
    assert_eq!(
        without_names(&found.to_string()),
        "error: scheme.A.control: unknown control `hpc`\n = allowed: <controls>\n = did you mean `hpcc`?"
    );
}

#[test]
fn setups_share_fabric_and_flows() {
    let text = format!("{SMALL}ecn.kmin = \"1kB\"\n");
    let prepared = load(&text).unwrap().prepare().unwrap();
    assert_eq!(prepared.fabric.hosts().len(), 5);
    assert_eq!(prepared.flows.flows.len(), 4);
    let [hpcc, dcqcn] = &prepared.schemes[..] else { panic!() };
    assert!(std::sync::Arc::ptr_eq(&hpcc.setup.flows, &dcqcn.setup.flows));
    assert_eq!((hpcc.setup.params.ecn.kmin, dcqcn.setup.params.ecn.kmin), (Bytes(400_000), Bytes(1000)));
    assert_eq!(dcqcn.setup.params.ecn.kmax, Bytes(1_600_000));
    assert_eq!((hpcc.setup.controls.len(), &hpcc.setup.carriers[..]), (1, &[Carrier::Rdma(0)][..]));
}

#[test]
fn controls_bring_their_marking() {
    let dctcp = "[scheme.DCTCP]\ncontrol = \"dctcp\"\n";
    let marks = |more: &str| {
        let prepared = load(&format!("{SMALL}{dctcp}{more}")).unwrap().prepare().unwrap();
        let ecn = |name: &str| {
            let scheme = prepared.schemes.iter().find(|scheme| scheme.name == name).unwrap();
            let EcnParams { kmin, kmax, pmax, .. } = scheme.setup.params.ecn;
            (kmin.0 / 1000, kmax.0 / 1000, pmax)
        };
        [ecn("DCQCN+w"), ecn("DCTCP")]
    };
    assert_eq!(marks(""), [(400, 1600, 0.2), (300, 300, 1.0)]);
    assert_eq!(marks("[ecn]\nmark_at = \"enqueue\""), [(400, 1600, 0.2), (300, 300, 1.0)]);
    assert_eq!(marks("[ecn]\nkmin = \"200kB\"\nkmax = \"900kB\"\npmax = 0.5"), [(200, 900, 0.5), (200, 900, 0.5)]);
    assert_eq!(marks("ecn = { kmin = \"30kB\", kmax = \"30kB\" }"), [(400, 1600, 0.2), (30, 30, 1.0)]);
    assert_eq!(
        marks("[ecn]\nkmin = \"100kB\"\n[scheme.DCTCP.ecn]\nkmax = \"1MB\""),
        [(100, 1600, 0.2), (100, 1000, 1.0)]
    );
    assert_eq!(marks("control_by_label.burst = \"hpcc\""), [(400, 1600, 0.2), (300, 300, 1.0)]);
    let kmin = format!("{SMALL}{dctcp}[ecn]\nkmin = \"350kB\"\n");
    assert_eq!(
        refused(&kmin),
        "s.toml:16:8: ecn.kmin: `350kB` is out of range (allowed: at most kmax, 300kB, the default of dctcp)"
    );
    // As from Python: the same defaults.
    let mut value = serde_json::to_value(scenario(SMALL)).unwrap();
    value["scheme"]["later"] = serde_json::json!({ "control": "dctcp" });
    let prepared = Loaded::from_value(value, Path::new("."), &[]).unwrap().prepare().unwrap();
    let marks: Vec<Bytes> = prepared.schemes.iter().map(|scheme| scheme.setup.params.ecn.kmax).collect();
    assert_eq!(marks, [Bytes(1_600_000), Bytes(1_600_000), Bytes(300_000)]);
    let pmax = format!("{SMALL}{dctcp}[ecn]\npmax = 2\n");
    assert_eq!(refused(&pmax), "s.toml:16:8: ecn.pmax: `2` is out of range (allowed: 0 to 1)");
    let name = format!("{SMALL}{dctcp}[ecn]\nkmen = \"1kB\"\n");
    assert!(refused(&name).starts_with("s.toml:16:1: ecn.kmen: unknown field `kmen`"), "{}", refused(&name));
}

#[test]
fn labels_may_have_controls_of_their_own() {
    let text = format!("{SMALL}control_by_label.burst = \"hpcc\"\n");
    let prepared = load(&text).unwrap().prepare().unwrap();
    let setup = &prepared.schemes[1].setup;
    assert_eq!(setup.carriers, [Carrier::Rdma(1)]);
    assert_eq!((setup.controls[1].control.name(), setup.controls[1].window), ("hpcc", WindowMode::Rate));
    let text = format!("{SMALL}window_by_label.burst = \"off\"\n");
    let prepared = load(&text).unwrap().prepare().unwrap();
    assert_eq!(prepared.schemes[1].setup.controls[1].window, WindowMode::Off);
}

#[test]
fn names_of_earlier_versions_are_located_and_lead_to_those_of_now() {
    let added = |text: &str| format!("{SMALL}{text}\n");
    for (text, message) in [
        (with("label", "tag"), "s.toml:6:1: workload[0].tag: `tag` is now `label`"),
        (
            added("control_by_tag.burst = \"hpcc\""),
            "s.toml:13:1: scheme.DCQCN+w.control_by_tag: `control_by_tag` is now `control_by_label`",
        ),
        (
            added("window_by_tag.burst = \"off\""),
            "s.toml:13:1: scheme.DCQCN+w.window_by_tag: `window_by_tag` is now `window_by_label`",
        ),
        (
            added("transport_by_tag.burst = \"tcp\""),
            "s.toml:13:1: scheme.DCQCN+w.transport_by_tag: `transport_by_tag` is now `transport_by_label`",
        ),
        (
            added("network.balance = \"spray\""),
            "s.toml:13:9: scheme.DCQCN+w.network.balance: `balance` is now `load_balancing`",
        ),
        (with("key-results", "reference"), "s.toml:9:28: scheme.HPCC.control.hpcc.profile: `reference` is now `ns3`"),
        (
            added("[scheme.p]\ntransport.phost.pass_over_for = 3.0"),
            "s.toml:14:17: scheme.p.transport.phost.pass_over_for: `pass_over_for` is now `downgrade_for`",
        ),
        (
            added("[scheme.p]\ntransport.phost.order = \"tag-fair\""),
            "s.toml:14:25: scheme.p.transport.phost.order: `tag-fair` is now `label-fair`",
        ),
        (
            added("[scheme.u]\ntransport.udp.profile = \"blast\""),
            "s.toml:14:25: scheme.u.transport.udp.profile: `blast` is now `line-rate`",
        ),
        (
            added("[scheme.s]\ntransport = \"tcp\"\nhypervisor.seawall.least = \"1Mbps\""),
            "s.toml:15:20: scheme.s.hypervisor.seawall.least: `least` is now `min_rate`",
        ),
        (
            added("[scheme.s]\ntransport = \"tcp\"\nhypervisor.elasticswitch.rate.least_growth = 0.1"),
            "s.toml:15:31: scheme.s.hypervisor.elasticswitch.rate.least_growth: `least_growth` is now `min_growth`",
        ),
        (
            added("[scheme.s]\ntransport = \"tcp\"\nhypervisor.edge_only.told_every = \"1kB\""),
            "s.toml:15:22: scheme.s.hypervisor.edge_only.told_every: `told_every` is now `feedback_every`",
        ),
        (
            with("incast = { fan_in = 4, size = \"10kB\", receiver = 0 }", "ns3.reference_starts = true"),
            "s.toml:7:5: workload[0].ns3.reference_starts: `reference_starts` is now `ns3_starts`",
        ),
    ] {
        assert_eq!(refused(&text), message);
    }
}

#[test]
fn mistakes_of_the_keyboard_are_located() {
    for (text, message) in [
        (
            with("hosts = 5", "host = 5"),
            "s.toml:4:1: fabric.star.host: unknown field `host` (allowed: hosts, rate, delay); did you mean `hosts`?",
        ),
        (
            with("[fabric.star]", "[fabric.satr]"),
            "s.toml:3:9: fabric: unknown name `satr` (allowed: star, dumbbell, leaf_spine, ",
        ),
        (
            with("size = \"10kB\"", "size = \"10kb\""),
            "s.toml:7:31: workload[0].incast.size: `10kb` is not a size: unknown unit `kb`",
        ),
        (with("size = \"10kB\"", "size = \"wbsearch\""), "did you mean `websearch`?"),
        (with("[fabric.star]\nhosts = 5", "[fabric]\nstar = [5]"), "fabric.star: a list where a table is expected"),
        (
            with("\"40Mbps\"", "\"-40Mbps\""),
            "s.toml:9:48: scheme.HPCC.control.hpcc.ai: `-40Mbps` is not a rate: it is negative",
        ),
        (with("\"40Mbps\"", "40"), "s.toml:9:48: scheme.HPCC.control.hpcc.ai: `40` has no unit"),
        (
            with("control = \"dcqcn\"", "control = \"dqcn\""),
            "s.toml:11:11: scheme.DCQCN+w.control: unknown control `dqcn` (allowed: <controls>",
        ),
        (
            with("control.hpcc", "control.hpc"),
            "s.toml:9:9: scheme.HPCC.control: unknown name `hpc` (allowed: <controls>); did you mean `hpcc`?",
        ),
        (
            with("key-results", "key-result"),
            "s.toml:9:28: scheme.HPCC.control.hpcc.profile: unknown profile `key-result` (allowed: ns3, key-results, paper); did you mean `key-results`?",
        ),
        (
            with("window = \"rate\"", "window = \"rat\""),
            "s.toml:12:10: scheme.DCQCN+w.window: unknown name `rat` (allowed: off, fixed, rate); did you mean `rate`?",
        ),
        (with("window = \"rate\"", "windwo = \"rate\""), "did you mean `window`?"),
        (
            with("window = \"rate\"", "switch.bufer = \"1MB\""),
            "s.toml:12:8: scheme.DCQCN+w.switch.bufer: unknown field `bufer`",
        ),
        (
            with("control = \"dcqcn\"\n", ""),
            "s.toml:10:1: scheme.DCQCN+w: the scheme has no `control` and no `transport` (allowed: control = one of <controls>; or transport = one of <transports>)",
        ),
        (with("title = \"four to one\"", "title = 4"), "s.toml:2:9: title: `4` where text is expected"),
        (with("title", "seed = \"x\"\ntitle"), "s.toml:2:8: seed: \"x\" where a whole number of 0 or more is expected"),
        (
            with("title", "profile = \"ns4\"\ntitle"),
            "s.toml:2:11: profile: unknown profile `ns4` (allowed: ns3); did you mean `ns3`?",
        ),
        (with("hosts = 5", "hosts = 5 5"), "s.toml:4:9: not valid TOML: "),
        (with("hosts = 5", ""), "s.toml:3:1: fabric.star: missing field `hosts`"),
    ] {
        let found = refused(&text);
        assert!(found.contains(message), "{found}\n  wanted: {message}");
    }
}

#[test]
fn values_out_of_range_are_located() {
    let set = |section: &str| format!("{SMALL}\n{section}\n");
    for (text, message) in [
        (
            set("[switch]\nlossless = [3, 9]"),
            "s.toml:15:16: switch.lossless[1]: `9` is out of range (allowed: a priority, 1 to 7",
        ),
        (set("[switch]\nlossless = [3, 3]"), "each priority once"),
        (
            set("[switch]\npfc_mode.dynamic.alpha.value = 0.0"),
            "switch.pfc_mode.dynamic.alpha: `0` is out of range (allowed: above 0",
        ),
        (set("[switch]\npfc_mode.static.xoff = \"64MiB\""), "(allowed: less than the buffer)"),
        (
            set("[switch]\nresume_offset = \"32kB\"\npfc_mode.static.xoff = \"5kB\""),
            "s.toml:15:17: switch.resume_offset: `32kB` is out of range (allowed: at most switch.pfc_mode.static.xoff, 5kB)",
        ),
        (
            set("[switch]\npfc_mode.static.xoff = \"1kB\""),
            "s.toml:15:24: switch.pfc_mode.static.xoff: `1kB` is out of range (allowed: at least switch.resume_offset, 3KiB)",
        ),
        (set("[switch]\nbuffer = 0"), "switch.buffer: `0B` is out of range"),
        (set("[ecn]\nkmin = \"2MB\""), "s.toml:15:8: ecn.kmin: `2MB` is out of range (allowed: at most kmax, 1.6MB)"),
        (set("[ecn]\npmax = 1.5"), "s.toml:15:8: ecn.pmax: `1.5` is out of range (allowed: 0 to 1)"),
        (set("[packets]\npayload = 0"), "packets.payload: `0B` is out of range"),
        (set("[packets]\nint_records = 9"), "packets.int_records: `9` is out of range (allowed: 0 to 8)"),
        (
            set("[rdma]\nack_priority = 8"),
            "rdma.ack_priority: `8` is out of range (allowed: a priority, 1 to 7 (0 carries PFC frames))",
        ),
        (
            set("[rdma]\ncnp_priority = 0"),
            "rdma.cnp_priority: `0` is out of range (allowed: a priority, 1 to 7 (0 carries PFC frames))",
        ),
        (set("[packets]\ntimestamp = \"70kB\""), "packets.timestamp: `70kB` is out of range (allowed: at most 65535B)"),
        (set("[packets]\ndata_header = \"0B\""), "packets.data_header: `0B` is out of range (allowed: 1B to 4096B)"),
        (set("[switch]\nbuffer = \"3GiB\""), "switch.buffer: `3GiB` is out of range (allowed: above 0B, at most 2GiB)"),
        (
            set("[switch]\nlossy_alpha = 20.0"),
            "switch.lossy_alpha: `20` is out of range (allowed: above 0, at most 16)",
        ),
        (set("[rdma]\nrto = \"0s\""), "rdma.rto: `0ps` is out of range (allowed: more than 0s, or \"none\")"),
        (
            set("[measure]\nsample_from = \"2us\"\nsample_until = \"1us\""),
            "measure.sample_until: `1us` is out of range (allowed: after sample_from, 2us)",
        ),
        (set("[simulation]\nhorizon = \"0s\""), "simulation.horizon: `0ps` is out of range"),
        (
            with("window = \"rate\"", "ecn.kmax = \"1kB\""),
            "scheme.DCQCN+w.ecn.kmin: `400kB` is out of range (allowed: at most kmax, 1kB)",
        ),
        (
            with("ai = \"40Mbps\"", "eta = 7.0"),
            "s.toml:9:49: scheme.HPCC.control.hpcc.eta: `7` is out of range (allowed: above 0, at most 4)",
        ),
        (
            with("control = \"dcqcn\"", "control.swift = { fs_min_cwnd = 200.0 }"),
            "s.toml:11:33: scheme.DCQCN+w.control.swift.fs_min_cwnd: `200` is out of range (allowed: below fs_max_cwnd)",
        ),
        (
            with("control = \"dcqcn\"", "control.swift = { initial_cwnd = 0.0 }"),
            "swift.initial_cwnd: `0` is out of range (allowed: above 0, at most 1e6)",
        ),
        (
            with("control = \"dcqcn\"", "control.timely_patched = { t_low = \"1ms\" }"),
            "timely_patched.t_low: `1ms` is out of range (allowed: below t_high)",
        ),
    ] {
        let found = refused(&text);
        assert!(found.contains(message), "{found}\n  wanted: {message}");
    }
}

#[test]
fn what_the_fabric_does_not_have_is_located() {
    let list = |flow: &str| with("incast = { fan_in = 4, size = \"10kB\", receiver = 0 }", &format!("list = [{flow}]"));
    for (text, message) in [
        (with("hosts = 5", "hosts = 1"), "s.toml:4:9: fabric.star.hosts: `1` is out of range (allowed: 2 or more)"),
        (
            with("receiver = 0", "receiver = 9"),
            "s.toml:7:50: workload[0].incast.receiver: `9` is not possible here (allowed: a host of this fabric, 0 to 4)",
        ),
        (with("fan_in = 4", "fan_in = 5"), "workload[0].incast.fan_in: `5` is not possible here"),
        (
            list("{ src = 0, dst = 0, size = 1 }"),
            "workload[0].list[0].dst: `0` is not possible here (allowed: another host than src)",
        ),
        (
            list("{ src = 0, dst = 1, size = 0 }"),
            "workload[0].list[0].size: `0B` is not possible here (allowed: at least 1B)",
        ),
        (
            list("{ src = 0, dst = 7, size = 1 }"),
            "s.toml:7:26: workload[0].list[0].dst: `7` is not possible here (allowed: a host of this fabric, 0 to 4)",
        ),
        (
            list("{ src = 0, dst = 1, size = 1, start = \"2ms\" }") + "\n[simulation]\nhorizon = \"1ms\"\n",
            "workload[0].list[0].start: `2ms` is not possible here (allowed: before the end of the simulation at 1ms",
        ),
        (with("label = \"burst\"", "priority = 8"), "workload[0].priority: `8` is out of range"),
        (
            with("label = \"burst\"", "priority = 0"),
            "workload[0].priority: `0` is out of range (allowed: a traffic class, 1 to 7 (0 carries PFC frames))",
        ),
        (with("incast = ", "poisson = "), "workload[0].poisson"),
        (
            with(
                "[fabric.star]\nhosts = 5",
                "[fabric.custom]\nhosts = 4\nswitches = [\"s\"]\nlinks = [{ a = \"h0\", b = \"h1\" }, { a = \"h2\", b = \"s\" }, { a = \"h3\", b = \"s\" }]",
            ),
            "fabric: the fabric is disconnected: no path from ",
        ),
        (
            with("[fabric.star]\nhosts = 5", "[fabric.dragonfly]\np = 1\na = 153\nh = 1"),
            "fabric: the next hops of 23562 nodes towards 23562 destinations (switches with hosts, and hosts with several \
             links) would take 4.44 GB, at most 4.29 GB are possible",
        ),
        (
            with("[fabric.star]\nhosts = 5", "[fabric.custom]\nhosts = 2\nlinks = [{ a = \"h0\", b = \"h3\" }]"),
            "s.toml:5:26: fabric.custom.links[0].b: there is no node `h3`; did you mean",
        ),
        (
            format!("{SMALL}control_by_label.brust = \"hpcc\"\n"),
            "s.toml:13:26: scheme.DCQCN+w.control_by_label.brust: no flow has the label `brust` (allowed: burst); did you mean `burst`?",
        ),
    ] {
        let found = refused(&text);
        assert!(found.contains(message), "{found}\n  wanted: {message}");
    }
}

#[test]
fn nothing_to_simulate_is_said() {
    let end = SMALL.find("[scheme.HPCC]").unwrap();
    let found = refused(&SMALL[..end]);
    assert!(found.contains("scheme: the scenario has no scheme: add at least one (allowed: a table such as [scheme.HPCC] with control = one of <controls>, or transport = one of <transports>)"), "{found}");
    let text = "workload = []\n".to_owned()
        + &SMALL.replacen(
            "[[workload]]\nlabel = \"burst\"\nincast = { fan_in = 4, size = \"10kB\", receiver = 0 }\n",
            "",
            1,
        );
    assert!(refused(&text).contains("the workload is empty"));
    let idle = with(
        "incast = { fan_in = 4, size = \"10kB\", receiver = 0 }",
        "poisson = { load = 0.01, sizes = \"websearch\", duration = \"1ns\" }",
    );
    assert!(refused(&idle).contains("the workload has no flow"));
}

#[test]
fn overrides_are_located_too() {
    let refused = |set: &str| {
        let loaded = Loaded::from_text("s.toml", SMALL, Path::new("."), &[set.into()]);
        let found = loaded.and_then(|loaded| loaded.prepare()).unwrap_err();
        found.iter().next().unwrap().summary()
    };
    assert_eq!(
        refused("workload[0].incast.fan_im=3"),
        "--set:1:1: workload[0].incast.fan_im: unknown field `fan_im` (allowed: fan_in, size, receiver, at, every, load, duration, hosts); did you mean `fan_in`?"
    );
    let fabric = refused("fabric.sta.hosts=4");
    assert!(fabric.starts_with("--set:1:1: fabric: unknown name `sta` (allowed: "), "{fabric}");
    assert!(fabric.ends_with("; did you mean `star`?"), "{fabric}");
    let two = "--set:1:1: fabric.fat_tree: `star` and `fat_tree` are given where one is allowed";
    assert_eq!(refused("fabric.fat_tree.k=4"), two);
    assert!(refused("ecn.pmax=2.0").starts_with("--set:1:10: ecn.pmax: `2` is out of range"));
    assert!(refused("scheme.HPCC.control.hpcc.eta=9").starts_with("--set:1:30: scheme.HPCC.control.hpcc.eta"));
    assert!(refused("scheme.DCQCN.window=rate").contains("scheme.DCQCN: the scheme has no `control`"));
}

#[test]
fn an_override_that_lacks_its_beginning_gets_the_whole_path() {
    let refused = |set: &str| {
        let found = Loaded::from_text("s.toml", SMALL, Path::new("."), &["seed=3".into(), set.into()]).unwrap_err();
        found.iter().next().unwrap().summary()
    };
    let one = refused("hpcc.eta=0.9");
    assert!(one.starts_with("--set:1:1: hpcc: unknown field `hpcc`"), "{one}");
    assert!(one.ends_with("; did you mean `scheme.HPCC.control.hpcc.eta`?"), "{one}");
    let several = refused("min_rate=1Gbps");
    assert!(several.contains("allowed: scheme."), "{several}");
    assert!(several.contains(", scheme."), "{several}");
    let none = refused("hpcc.nothing=1");
    assert!(none.starts_with("--set:1:1: hpcc: unknown field `hpcc` (allowed: "), "{none}");
}

#[test]
fn thresholds_and_headrooms_may_be_plain_values() {
    let params = |set: &str| -> Result<SwitchParams, Diagnostics> {
        let loaded = Loaded::from_text("s.toml", SMALL, Path::new("."), &[set.into()])?;
        let scenario = loaded.scenario();
        scenario.switch(&scenario.scheme["HPCC"], "").map_err(Diagnostics::from)
    };
    let alpha = |set: &str| params(set).unwrap().pfc_mode;
    assert_eq!(alpha("switch.pfc_mode.dynamic.alpha=0.0625"), PfcMode::Dynamic { alpha: Alpha::Value(0.0625) });
    assert_eq!(alpha("switch.pfc_mode.dynamic.alpha=1"), PfcMode::Dynamic { alpha: Alpha::Value(1.0) });
    assert_eq!(alpha("switch.pfc_mode.dynamic.alpha.value=2"), PfcMode::Dynamic { alpha: Alpha::Value(2.0) });
    assert_eq!(alpha("switch.pfc_mode.dynamic.alpha=by-rate"), PfcMode::Dynamic { alpha: Alpha::ByRate });
    let headroom = |set: &str| params(set).unwrap().headroom;
    assert_eq!(headroom("switch.headroom=40kB"), Headroom::Bytes(Bytes(40_000)));
    assert_eq!(headroom("switch.headroom.bytes=40kB"), Headroom::Bytes(Bytes(40_000)));
    assert_eq!(headroom("switch.headroom=three-delays"), Headroom::ThreeDelays);
    let refused = |set: &str| params(set).unwrap_err().iter().next().unwrap().summary();
    assert_eq!(
        refused("switch.pfc_mode.dynamic.alpha=by-rat"),
        "--set:1:31: switch.pfc_mode.dynamic.alpha: unknown name `by-rat` (allowed: by-rate, a number such as 0.125, \
         { value = 0.125 }); did you mean `by-rate`?"
    );
    assert!(
        refused("switch.headroom=big").contains("allowed: computed, three-delays, a size such as \"40kB\", { bytes")
    );
    assert!(refused("switch.headroom=40kX").contains("unknown unit"));
    assert!(refused("switch.pfc_mode.dynamic.alpha=true").contains("`by-rate`, a number"));
}

#[test]
fn unreadable_files_are_named() {
    let found = Loaded::from_path(Path::new("no-such.toml"), &[]).unwrap_err();
    assert!(found.to_string().starts_with("error: cannot read no-such.toml: "), "{found}");
}

#[test]
fn the_schema_describes_every_field() {
    let schema = serde_json::to_value(Scenario::schema()).unwrap();
    let mut checked = 0;
    let mut todo = vec![&schema];
    while let Some(value) = todo.pop() {
        if let Some(properties) = value.get("properties").and_then(|p| p.as_object()) {
            for (name, field) in properties {
                let alternative = value["required"].as_array().is_some_and(|all| all.len() == 1)
                    && value["additionalProperties"] == false;
                assert!(alternative || field["description"].is_string(), "{name}: {field}");
                checked += 1;
            }
        }
        match value {
            serde_json::Value::Object(map) => todo.extend(map.values()),
            serde_json::Value::Array(items) => todo.extend(items),
            _ => {}
        }
    }
    assert!(checked > 120, "{checked}");
    assert_eq!(schema["properties"]["profile"]["enum"][0], "ns3");
}

/// Two leaves, two spines.
fn two_tiers(network: &str) -> String {
    let fabric = "[fabric.leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
    let flow = "[[workload]]\nlist = [{ src = 0, dst = 2, size = \"10kB\" }]\n[scheme.A]\ncontrol = \"dcqcn\"\n";
    format!("{fabric}{flow}{network}")
}

#[test]
fn the_network_is_read_and_written() {
    let text = two_tiers(
        r#"
[scheme.B]
control = "dcqcn"
network.load_balancing = "adaptive"
[network]
load_balancing.spray.order = "round-robin"
route = [{ at = "leaf0", to = "leaf1", via = ["spine0", "spine1"] }]
reroute_after = "20us"
[[network.failure]]
link = ["leaf0", "spine1"]
at = "1ms"
until = "2ms"
[[network.failure]]
random = { links = 1, tiers = [1, 2] }
silent = 0.5
"#,
    );
    let read = scenario(&text);
    let Balance::Spray(spray) = &read.network.load_balancing else { panic!() };
    assert_eq!((spray.order, spray.acks), (SprayOrder::RoundRobin, false));
    assert_eq!((read.network.failure.len(), read.network.reroute_after), (2, Some(Time::us(20))));
    let merged = scenario(&read.to_toml());
    assert_eq!(merged.network, read.network);
    let prepared = load(&text).unwrap().prepare().unwrap();
    let [a, b] = &prepared.schemes[..] else { panic!() };
    assert_eq!(a.setup.params.network, read.network);
    assert_eq!(b.setup.params.network.load_balancing.name(), "adaptive");
    assert_eq!(b.setup.params.network.failure, read.network.failure);
    let never = scenario(&two_tiers("[network]\nreroute_after = \"none\"\nload_balancing = \"ecmp\"\n"));
    assert_eq!((never.network.reroute_after, scenario(&never.to_toml()).network), (None, never.network.clone()));
    assert_eq!(scenario(&two_tiers("")).network.reroute_after, Some(Time::ms(10)));
}

#[test]
fn what_is_wrong_with_the_network_is_located() {
    let said = |network: &str| refused(&two_tiers(network));
    for (network, message) in [
        (
            "[network]\nload_balancing = \"spry\"",
            "network.load_balancing: unknown name `spry` (allowed: ecmp, spray, flowlet, adaptive); did you mean `spray`?",
        ),
        (
            "[network]\nload_balancing.flowlet.gap = \"0s\"",
            "s.toml:10:30: network.load_balancing.flowlet.gap: `0ps` is out of range (allowed: more than 0s)",
        ),
        (
            "[scheme.B]\ncontrol = \"hpcc\"\nnetwork.load_balancing.adaptive.samples = 0",
            "s.toml:11:43: scheme.B.network.load_balancing.adaptive.samples: `0` is out of range (allowed: 1 to 65535)",
        ),
        (
            "[network]\nfailure = [{ link = [\"leaf0\", \"spin1\"] }]",
            "network.failure[0].link: there is no node `spin1`; did you mean `spine1`?",
        ),
        (
            "[scheme.B]\ncontrol = \"hpcc\"\nnetwork.failure = [{ switch = \"h0\" }]",
            "scheme.B.network.failure[0].switch: `h0` is a host, not a switch",
        ),
        (
            "[network]\nfailure = [{ link = [\"leaf0\", \"leaf1\"] }]",
            "network.failure[0].link: no link joins leaf0 and leaf1 (allowed: neighbours of leaf0: h0, h1, spine0, spine1)",
        ),
        (
            "[network]\nfailure = [{ switch = \"spine0\", at = \"2us\", until = \"1us\" }]",
            "network.failure[0].until: `1us` is out of range (allowed: after `at`, 2us)",
        ),
        (
            "[network]\nrouting = \"updown\"",
            "network.routing: unknown name `updown` (allowed: shortest, up-down); did you mean `up-down`?",
        ),
        (
            "[network]\nrouting = \"up-down\"\nroute = [{ at = \"leaf0\", to = \"h2\", via = [\"spine0\"] }, { at = \"spine0\", to = \
             \"h2\", via = [\"leaf0\"] }]",
            "network.route: packets of leaf0 to h2 can return to leaf0",
        ),
        ("[network]\nfailure = [{ swich = \"spine0\" }]", "unknown field `swich`"),
        (
            "[network]\nroute = [{ at = \"leaf0\", to = \"h2\", via = [\"leaf1\"] }]",
            "network.route[0].via[0]: `leaf1` is no neighbour (allowed: neighbours of leaf0: h0, h1, spine0, spine1)",
        ),
        (
            "[network]\nroute = [{ at = \"leaf0\", to = \"h2\", via = [\"h1\"] }]",
            "network.route[0].via[0]: `h1` is a host, which does not forward",
        ),
        (
            "[network]\nroute = [{ at = \"spine0\", to = \"h2\", via = [\"leaf0\"] }]",
            "network.route: packets of spine0 to h2 can return to spine0",
        ),
        (
            "[network]\nroute = [{ at = \"leaf0\", to = \"spine0\", via = [\"spine1\"] }]",
            "network.route[0].to: no host is on spine0",
        ),
        (
            "[network]\nroute = [{ at = \"leaf0\", to = \"h2\", via = [] }]",
            "network.route[0].via: a route goes by at least",
        ),
        (
            "[network]\nroute = [{ at = \"leaf0\", to = \"h2\", via = [\"spine0\"] }, { at = \"leaf0\", to = \"leaf1\", via =              [\"spine0\"] }]",
            "network.route[1].to: leaf0 has a route to h2 already",
        ),
        (
            "[simulation]\narithmetic = \"ns3\"\n[network]\nload_balancing = \"spray\"",
            "network.load_balancing: load balancing by `spray` is not possible in ns3 arithmetic (allowed: ecmp, or exact arithmetic)",
        ),
        (
            "[simulation]\narithmetic = \"ns3\"\n[network]\nfailure = [{ switch = \"spine0\" }]",
            "network.failure: a failure of links is not possible in ns3 arithmetic",
        ),
        (
            "[network]\npause = [{ at = \"h9\", priority = 3 }]",
            "network.pause[0].at: there is no node `h9`; did you mean",
        ),
        (
            "[network]\npause = [{ at = \"spine0\", priority = 3 }]",
            "network.pause[0].peer: spine0 is a switch: name the neighbour that it pauses (allowed: neighbours of \
             spine0: leaf0, leaf1)",
        ),
        (
            "[network]\npause = [{ at = \"h0\", peer = \"leaf1\", priority = 3 }]",
            "network.pause[0].peer: `leaf1` is no neighbour (allowed: neighbours of h0: leaf0)",
        ),
        (
            "[scheme.B]\ncontrol = \"hpcc\"\nnetwork.pause = [{ at = \"h0\", priority = 3, from = \"2us\", until = \"1us\" }]",
            "scheme.B.network.pause[0].until: `1us` is out of range (allowed: after `from`, 2us)",
        ),
        (
            "[switch]\nlossless = [3, 5]\n[network]\npause = [{ at = \"h0\", priority = 4 }]",
            "network.pause[0].priority: 4 is no lossless priority (allowed: the priorities of switch.lossless: 3, 5)",
        ),
        (
            "[switch]\npfc = false\n[network]\npause = [{ at = \"h0\", priority = 3 }]",
            "network.pause[0]: there is no PFC: pauses have no effect (allowed: none, or switches with PFC",
        ),
        (
            "[simulation]\narithmetic = \"ns3\"\n[network]\npause = [{ at = \"h0\", priority = 3 }]",
            "network.pause: a PFC storm is not possible in ns3 arithmetic",
        ),
        ("[network]\npause = [{ at = \"h0\" }]", "network.pause[0]"),
    ] {
        let found = said(network);
        assert!(found.contains(message) && found.starts_with("s.toml:"), "{found}\n{message}");
    }
}
