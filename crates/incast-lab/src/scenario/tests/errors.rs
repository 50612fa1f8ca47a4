use super::*;

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
        (with("control = \"dcqcn\"", "contrl = \"dcqcn\""), "did you mean `control`?"),
        (with("[fabric.star]\nhosts = 5\n", ""), "s.toml:1:1: the scenario has no fabric (allowed: a table such as"),
        (
            with("[fabric.star]", "switch.lossless = 3\n[fabric.star]"),
            "switch.lossless: `3` where a list is expected (allowed: a list, such as [3])",
        ),
        (
            with("[fabric.star]", "ecn.pmax = \"33.3%\"\n[fabric.star]"),
            "ecn.pmax: \"33.3%\" where a number is expected (allowed: a fraction, such as 0.333)",
        ),
        (
            with("[fabric.star]", "ecn.pmax = \"0.2\"\n[fabric.star]"),
            "ecn.pmax: \"0.2\" where a number is expected (allowed: 0.2, without quotes)",
        ),
        (with("title = \"four to one\"", "title = 4"), "s.toml:2:9: title: `4` where text is expected"),
        (
            with("title", "seed = \"x\"\ntitle"),
            "s.toml:2:8: seed: \"x\" where a whole number of 0 to 9223372036854775807 is expected",
        ),
        (
            with("[fabric.star]\nhosts = 5", "[fabric.custom]\nhosts = 1e9\nlinks = []"),
            "s.toml:4:9: fabric.custom.hosts: `1000000000.0` where a number of hosts or a list of their names is expected",
        ),
        (
            with("hosts = 5", "hosts = 4294967296"),
            "s.toml:4:9: fabric.star.hosts: `4294967296` where a whole number of 0 to 4294967295 is expected",
        ),
        (
            with("title", "profile = \"ns4\"\ntitle"),
            "s.toml:2:11: profile: unknown profile `ns4` (allowed: ns3); did you mean `ns3`?",
        ),
        (
            with("[[workload]]", "[workload]"),
            "workload: a table where a list is expected (allowed: a list; in TOML, `[[workload]]` begins each entry)",
        ),
        (
            "fabric.star.hosts = 2\n[[scheme]]\ncontrol = \"dcqcn\"\n".to_owned(),
            "scheme: a list where a table is expected (allowed: tables with names; in TOML, `[scheme.NAME]` begins each)",
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
            set("[switch]\nbuffer = \"1B\""),
            "switch.buffer: `1B` is out of range (allowed: more than switch.resume_offset, 3KiB)",
        ),
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
            with("[fabric.star]\nhosts = 5", "[fabric.star]\nhosts = 5\nrate = \"20bps\""),
            "fabric: a packet of 1090 B takes 436.0 s over the link from `h0` to `s0` of 20 b/s; at most 400 s is possible",
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
fn unreadable_files_are_named() {
    let found = Loaded::from_path(Path::new("no-such.toml"), &[]).unwrap_err();
    assert!(found.to_string().starts_with("error: cannot read no-such.toml: "), "{found}");
}
