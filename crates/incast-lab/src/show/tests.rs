use std::path::Path;

use super::*;
use crate::scenario::Loaded;

const SMALL: &str = r#"
[fabric.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
[[workload]]
label = "one"
list = [{ src = 0, dst = 1, size = "10kB" }, { src = 0, dst = 4, size = "2500B", start = "1us" }]
[[workload]]
label = "burst"
incast = { fan_in = 3, size = "1kB", receiver = 0 }
[scheme.A]
control = "hpcc"
[scheme.B]
control = "dcqcn"
"#;

fn shown(text: &str) -> Show {
    show(&Loaded::from_text("s", text, Path::new("."), &[]).unwrap().prepare().unwrap(), 1e6)
}

/// The reason for a ring after a replacement in its scenario.
fn one_thread(edit: (&str, &str)) -> Option<String> {
    let ring = "[fabric.fat_tree]\nk = 4\n[[workload]]\n[workload.ring_all_reduce]\nsize = \"1MB\"\niterations = 2\n\
                    [scheme.A]\ncontrol = \"dcqcn\"\n";
    shown(&ring.replace(edit.0, edit.1)).schemes[0].one_thread.clone()
}

/// Host 3 does not see the end of the first flow.
const ACROSS: &str = "list = [{ src = 0, dst = 1, size = \"1kB\", name = \"a\" }, \
                     { src = 3, dst = 2, size = \"1kB\", after = [\"a\"] }]\n";

#[test]
fn a_run_on_one_thread_says_why_and_what_to_change() {
    assert_eq!(one_thread(("", "")), None);
    assert_eq!(one_thread(("[[workload]]", "[[workload]]\nend = \"1ms\"")), None);
    for (edit, said) in [
        (("[scheme.A]", "[simulation]\narithmetic = \"ns3\"\n[scheme.A]"), "`simulation.arithmetic = \"exact\"`"),
        (
            ("[workload.ring_all_reduce]\nsize = \"1MB\"\niterations = 2\n", ACROSS),
            "a compute time or delay of at least",
        ),
        (("control = \"dcqcn\"", "transport = \"ideal\""), "ideal scheduler"),
    ] {
        let found = one_thread(edit).expect("one thread simulates it");
        assert!(found.contains(said), "{found}");
    }
}

#[test]
fn packets_are_counted_by_transport() {
    let estimate = |schemes: &str| {
        let flow = "[[workload]]\nlist = [{ src = 0, dst = 1, size = \"146kB\" }]\n";
        shown(&format!("[fabric.star]\nhosts = 2\n{flow}{schemes}")).estimate.unwrap()
    };
    // 100 segments of 1,460 B over two links, under TCP with ACKs; 146 packets of 1,000 B under RDMA.
    let udp = estimate("[scheme.U]\ntransport = \"udp\"\n");
    assert_eq!((udp.packets, udp.packet_hops), (100, 200));
    let both = estimate("[scheme.T]\ntransport = \"tcp\"\n[scheme.R]\ncontrol = \"dcqcn\"\n");
    assert_eq!((both.packets, both.packet_hops), (146, 584));
    assert!((both.cpu_seconds * both.packet_hops_per_s - 984.0).abs() < 1e-6);
    assert!(both.to_string().contains("in the largest of 2 schemes"), "{both}");
}

#[test]
fn counts_packets_and_links() {
    let show = shown(SMALL);
    let one = &show.labels[0];
    assert_eq!((one.label.as_str(), one.flows, one.bytes, one.last), ("one", 2, Bytes(12_500), Time::us(1)));
    // Half of the bytes start at 0, half 1 us later.
    assert!((one.load.unwrap() - 6_250.0 * 8.0 / 1e-6 / 800e9).abs() < 1e-9);
    assert_eq!(show.labels[1].load, None);
    // 10 packets over 2 links and 3 over 4, data and ACKs; then three of the burst over 2 or 4.
    assert_eq!(show.estimate.unwrap().packets, 16);
    assert!(
        (2 * (10 * 2 + 3 * 4 + 3 * 2)..=2 * (10 * 2 + 3 * 4 + 3 * 4)).contains(&show.estimate.unwrap().packet_hops)
    );
    assert_eq!(show.estimate.unwrap().cpu_seconds, show.estimate.unwrap().packet_hops as f64 * 2.0 / 1e6);
    assert_eq!(show.schemes[1].controls, ["dcqcn, window off"]);
    assert_eq!(show.warnings, []);
    assert_eq!(show.schemes[1].network, [""; 0]);
    let network = "[network]\nrouting = \"up-down\"\nload_balancing = \"flowlet\"\nroute = [{ at = \"leaf0\", to = \"leaf1\", via = [\"spine1\"] }]\n";
    let failure = "failure = [{ switch = \"spine0\", at = \"1ms\" }]\nreroute_after = \"none\"\n";
    let pause = "pause = [{ at = \"h0\", priority = 3, until = \"1us\" }]\n";
    let show = shown(&format!("{SMALL}{network}{failure}{pause}"));
    let said = [
        "up-down routing",
        "load balancing flowlet",
        "1 given route",
        "1 failure, no rerouting",
        "1 PFC storm: h0, priority 3, 0 ps to 1 us",
    ];
    assert_eq!(show.schemes[0].network, said);
    assert!(
        show.to_string().contains("\n           up-down routing; load balancing flowlet; 1 given route; 1 failure"),
        "{show}"
    );
    let text = show.to_string();
    assert!(text.starts_with("fabric     8 hosts, 4 switches, 12 links of 100 Gb/s and 1 us"), "{text}");
}

#[test]
fn marking_says_where_it_comes_from() {
    let ecn = |more: &str| {
        let dctcp = "[scheme.C]\ncontrol = \"dctcp\"\n";
        shown(&format!("{SMALL}{dctcp}{more}")).schemes.into_iter().map(|scheme| scheme.ecn).collect::<Vec<_>>()
    };
    let default = "Kmin 400 kB, Kmax 1.6 MB at 100 Gb/s, Pmax 0.2 (default)";
    let step = "Kmin = Kmax = 300 kB at 100 Gb/s (default of dctcp)";
    assert_eq!(ecn(""), [default, default, step]);
    let [_, dcqcn, dctcp] = &ecn("ecn.kmin = \"1kB\"\n[ecn]\nkmax = \"2MB\"\nmark_at = \"enqueue\"")[..] else {
        panic!()
    };
    assert_eq!(dcqcn, "Kmin 400 kB, Kmax 2 MB at 100 Gb/s, Pmax 0.2 (kmax, mark_at: [ecn]; rest: default)");
    assert_eq!(
        dctcp,
        "Kmin 1 kB, Kmax 2 MB at 100 Gb/s, Pmax 1 (kmin: scheme; kmax, mark_at: [ecn]; rest: default of dctcp)"
    );
    assert_eq!(ecn("[ecn]\nenabled = false")[2], "off (enabled: [ecn]; rest: default of dctcp)");
}

#[test]
fn spread_starts_are_given_from_first_to_last() {
    let listed = "list = [{ src = 0, dst = 1, size = \"backlogged\" }, { src = 0, dst = 4, size = \"backlogged\", start = \"2us\" }]\n";
    let backlogged = format!("[[workload]]\nlabel = \"long\"\nstart = \"1us\"\nend = \"1ms\"\n{listed}");
    let tcp = "[scheme.TCP]\ntransport = \"tcp\"\n";
    let (flows, _) = SMALL.split_once("[scheme").unwrap();
    let text = shown(&format!("{flows}{backlogged}{tcp}")).to_string();
    assert!(text.contains("long: 2 flows, 0.000 MB, 2 backlogged, start from 1 us to 3 us\n"), "{text}");
    assert!(text.contains("burst: 3 flows, 0.003 MB, all start at 0 ps\n"), "{text}");
}

#[test]
fn flows_that_wait_have_no_load() {
    let text = SMALL
        .replace("start = \"1us\"", "start = \"1us\", after = [\"x\"]")
        .replace("\"10kB\"", "\"10kB\", name = \"x\"");
    let show = shown(&text);
    assert_eq!((show.labels[0].flows, show.labels[0].waiting, show.labels[0].load), (2, 1, None));
    assert!(show.to_string().contains("one: 2 flows, 0.013 MB, 1 with dependencies\n"), "{show}");
}

#[test]
fn flows_that_an_end_may_cancel_are_counted() {
    let rpc =
        "[[workload]]\nrequest_response = { request = 1, response = 1, requests = 3, clients = { hosts = \"0\" } }\n";
    let show = shown(&format!("{SMALL}{rpc}end = \"1ms\""));
    let found = |label: &str| show.labels.iter().find(|found| found.label == label).unwrap();
    let counts = |label: &LabelShow| (label.flows, label.waiting, label.may_be_cancelled);
    assert_eq!((counts(found("request")), counts(found("response"))), ((3, 2, 2), (3, 3, 2)));
    let said = "response: 3 flows, 0.000 MB, 3 with dependencies (2 cancelled if not started by the entry's end)\n";
    assert!(show.to_string().contains(said), "{show}");
    assert!(!shown(&format!("{SMALL}{rpc}")).to_string().contains("the entry's end"));
}

#[test]
fn doubtful_parameters_are_named() {
    let warned = |more: &str| {
        let show = shown(&format!("{SMALL}\n{more}\n"));
        let line = |warning: &Warning| Warning { line: None, ..warning.clone() }.summary(show.schemes.len());
        show.warnings.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let small = format!("{SMALL}\n[switch]\nbuffer = \"100kB\"\n");
    let refused = Loaded::from_text("s", &small, Path::new("."), &[]).unwrap().prepare().unwrap_err();
    assert!(refused.to_string().contains("100kB cannot hold the headroom (170004 B)"), "{refused}");
    let text = warned("[ecn]\nkmin = \"5MB\"\nkmax = \"6MB\"");
    assert!(text.contains("ecn.kmin: Kmin of a port of leaf0 is 5 MB, but PFC pauses a single sender at "), "{text}");
    let advice = "PFC acts before ECN; write `kmin = \"927kB\"` and `kmax = \"3.71MB\"` (scheme B)";
    assert!(text.ends_with(advice) && !text.contains("scheme A"), "{text}");
    let timely = "[ecn]\nkmin = \"5MB\"\nkmax = \"6MB\"\n[scheme.C]\ncontrol = \"timely\"";
    assert!(!warned(timely).contains("scheme C"), "TIMELY listens to no marks");
    let text = warned("[packets]\nint_records = 2");
    assert!(
            text.contains(
                "2 INT records, the longest path has 3 switches: the last records overwrite the first; write `int_records = 3` (scheme A)"
            ),
            "{text}"
        );
    assert!(warned("[rdma]\nacks_ignore_pause = true").contains("can overflow the headroom"));
    let resume = "switch.resume_offset: 20 MB exceeds the largest XOFF threshold of a port of leaf0, 4169.981 kB";
    let text = warned("[switch]\nresume_offset = \"20MB\"");
    assert!(
        text.starts_with(resume) && text.contains("is empty; write `resume_offset = \"3KiB\"` (all 2 schemes)"),
        "{text}"
    );
    assert_eq!(warned("[switch]\nresume_offset = \"3MB\""), "");
    let isolated = |more: &str| {
        let isolation = "isolation = { enabled = true, mark = \"isolated\" }";
        warned(&format!("[switch]\nlossless = [2, 3]\n{isolation}\n{more}"))
    };
    let text = isolated("[ecn]\nkmin = \"500kB\"");
    let reason = "ECN marks queues above 500 kB (ecn.kmin), but every flow in a queue above 400 kB (switch.isolation.";
    assert!(text.contains(&format!("switch.isolation.mark: has no effect: {reason}")), "{text}");
    assert!(isolated("").contains("switch.isolation.mark: has no effect"), "{}", isolated(""));
    assert!(isolated("[ecn]\nenabled = false").contains("switch.isolation.mark: has no effect: ecn.enabled is false"));
    assert!(!isolated("[ecn]\nkmin = \"399kB\"").contains("switch.isolation.mark"));
    let labels = "control_by_label.burst = \"dctcp\"";
    assert!(
        warned(labels).contains("ecn: switches have one ECN setting, Kmin 400 kB, Kmax 1.6 MB"),
        "{}",
        warned(labels)
    );
    assert_eq!(warned(&format!("{labels}\necn.kmin = \"100kB\"")), "");
    let swift = "[scheme.S.control.swift]\nbase_target";
    assert_eq!(warned(&format!("{swift} = \"1us\"")), "");
    let text = warned(&format!("{swift} = \"300ns\""));
    assert!(
        text.starts_with("control.swift.base_target: Swift's target on the longest path, 8.3 us, does not exceed"),
        "{text}"
    );
    let text = warned("[rdma]\nrecovery = \"selective-repeat\"\nrto_low = \"8us\"");
    assert!(text.contains("rdma.rto_low: 8 us does not exceed the longest base RTT, 8."), "{text}");
    let text = warned(
        "[network]\nload_balancing = \"spray\"\nfailure = [{ link = [\"leaf0\", \"spine0\"] }]\n[rdma]\nrto = \"none\"",
    );
    assert!(text.contains("network.load_balancing: `spray` reorders packets of a flow"), "{text}");
    assert!(text.contains("rdma.rto: without a timeout"), "{text}");
    assert!(text.contains("INT records of a flow's packets come from different links"), "{text}");
    let dctcp = "[network]\nload_balancing = \"spray\"\n[scheme.C]\ncontrol = \"dctcp\"";
    let text = warned(dctcp);
    assert!(
        text.contains("different links, which HPCC treats as one link; write `load_balancing = \"ecmp\"` (scheme A)"),
        "{text}"
    );
    assert!(!text.contains("`load_balancing = \"ecmp\"` (scheme C)"), "{text}");
    let load = "[[workload]]\npoisson = { load = 1.5, sizes = \"500B\", duration = \"1us\" }";
    let text = warned(load);
    assert!(
        text.contains("workload[2].poisson.load: poisson offers 164 % of the capacity of host links, with headers"),
        "{text}"
    );
}
