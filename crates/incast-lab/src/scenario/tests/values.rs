use super::*;

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
    assert!(refused("switch.headroom=big").contains("a size such as \"40kB\", { bytes"));
    assert!(refused("switch.headroom=40kX").contains("unknown unit"));
    assert!(refused("switch.pfc_mode.dynamic.alpha=true").contains("`by-rate`, a number"));
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
