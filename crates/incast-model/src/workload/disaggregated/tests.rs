use std::collections::{HashMap, HashSet};

use crate::fabric::generators::LeafSpine;
use crate::fabric::{Fabric, HostId};
use crate::flow::FlowSet;
use crate::units::Rate;
use crate::workload::testing::{flows, folder, generate_in, pattern, refused, refused_in};

fn fabric() -> Fabric {
    let mut spec = LeafSpine::new(9, 4, 16);
    (spec.host_rate, spec.uplink_rate) = (Rate::gbps(40), Rate::gbps(160));
    spec.build().unwrap()
}

fn drawn(json: &str, seed: u64) -> FlowSet {
    flows(&fabric(), &pattern("disaggregated", json), seed)
}

fn of_label<'a>(set: &'a FlowSet, label: &str) -> impl Iterator<Item = &'a crate::flow::Flow> {
    let label = set.labels.iter().position(|name| name == label);
    set.flows.iter().filter(move |flow| Some(usize::from(flow.label)) == label)
}

#[test]
fn shares_and_load_are_those_asked_for() {
    for (application, shares) in
        [("wordcount", [0.6, 0.25, 0.15]), ("graphlab", [0.94, 0.01, 0.05]), ("herd", [0.98, 0.0, 0.02])]
    {
        let set = drawn(&format!(r#"{{"application": "{application}", "duration": "60ms"}}"#), 1);
        let total = set.flows.len() as f64;
        for (label, share) in ["memory", "disk", "network"].into_iter().zip(shares) {
            let found = of_label(&set, label).count() as f64 / total;
            // Bursts: sigma 2 is a coefficient of variation of 7.
            assert!((found - share).abs() < 0.03, "{application} {label}: {found} for {share}");
        }
        assert!(of_label(&set, "memory").all(|flow| flow.size.0 == 4096));
        // Three samples of 0.2; every system has its own busiest host, so use the CPUs' mean.
        let mut sent: HashMap<u32, u64> = HashMap::new();
        set.flows.iter().for_each(|flow| *sent.entry(flow.src.0).or_default() += flow.size.0);
        let mut loads: Vec<f64> = sent.values().map(|&bytes| bytes as f64 * 8.0 / (40e9 * 0.06)).collect();
        loads.sort_by(|a, b| b.total_cmp(a));
        let busiest = loads.iter().take(55).sum::<f64>() / 55.0;
        assert!((0.45..0.75).contains(&busiest), "{application}: {busiest}");
    }
}

#[test]
fn every_pair_has_its_samples() {
    let count = |samples: u32| {
        let json = format!(r#"{{"application": "memcached", "duration": "5ms", "samples": {samples}}}"#);
        drawn(&json, 3).flows.len() as f64
    };
    assert!((count(3) / count(1) - 3.0).abs() < 0.06, "{} of {}", count(3), count(1));
    let set = drawn(r#"{"application": "terasort", "duration": "20ms"}"#, 1);
    let mut to: HashMap<u32, HashSet<u32>> = HashMap::new();
    for flow in &set.flows {
        to.entry(flow.src.0).or_default().insert(flow.dst.0);
    }
    // 11 systems of 13 hosts; a bursty pair may stay silent.
    assert_eq!(to.len(), 143);
    let destinations = |least, most| to.values().filter(|to| (least..=most).contains(&to.len())).count();
    assert_eq!((destinations(3, 5), destinations(10, 12)), (88, 55));
}

#[test]
fn a_rack_keeps_to_itself() {
    let set = drawn(r#"{"application": "bdb", "scale": "rack", "duration": "2ms"}"#, 1);
    assert!(set.flows.iter().all(|flow| flow.src.0 / 16 == flow.dst.0 / 16));
    assert!(set.flows.iter().all(|flow| flow.src.0 % 16 < 13 && flow.dst.0 % 16 < 13));
    let across = drawn(r#"{"application": "bdb", "duration": "2ms"}"#, 1);
    let crossing = across.flows.iter().filter(|flow| flow.src.0 / 16 != flow.dst.0 / 16).count();
    assert!(crossing as f64 / across.flows.len() as f64 > 0.8);
}

#[test]
fn without_disks_there_are_no_blocks() {
    let set = drawn(r#"{"application": "wordcount", "disks": 0, "duration": "5ms"}"#, 1);
    assert_eq!(set.labels, ["memory", "network"]);
    assert!(of_label(&set, "memory").count() > 100);
}

const TRACE: &str = "\
time_us,src,dst,size_bytes,kind
0,cpu0,memory0,4096,memory
2,memory0,cpu0,4096,memory
10,cpu0,memory0,4096,memory
14,memory0,cpu0,8192,memory
20,cpu0,memory0,4096,memory
";

#[test]
fn measured_pairs_are_drawn_from() {
    let folder = folder();
    std::fs::write(folder.path().join("t.csv"), TRACE).unwrap();
    let spec = pattern("disaggregated", r#"{"trace": "t.csv", "duration": "10ms", "samples": 1}"#);
    let set = generate_in(folder.path(), &fabric(), &spec, 1).unwrap();
    // cpu0 to memory0: gaps 0, 10 and 10 us, so 3 in 20 us; back: 2 and 12 us, so 2 in 14 us. In 11 systems.
    let pairs: HashSet<(HostId, HostId)> = set.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
    assert_eq!(pairs.len(), 22);
    let expected = 11.0 * 10_000.0 * (3.0 / 20.0 + 2.0 / 14.0);
    assert!((set.flows.len() as f64 / expected - 1.0).abs() < 0.35, "{} for {expected}", set.flows.len());
    assert!(set.flows.iter().all(|flow| [4096, 8192].contains(&flow.size.0)));
    let addresses = TRACE.replace("size_bytes", "address").replace(",4096,", ",0x7f00,").replace(",8192,", ",0x8000,");
    std::fs::write(folder.path().join("t.csv"), addresses).unwrap();
    let pages = generate_in(folder.path(), &fabric(), &spec, 1).unwrap();
    assert!(pages.flows.iter().all(|flow| flow.size.0 == 4096));
}

#[test]
fn bad_traces_are_refused() {
    let why = |text: &str| {
        let folder = folder();
        std::fs::write(folder.path().join("t.csv"), text).unwrap();
        let spec = pattern("disaggregated", r#"{"trace": "t.csv", "duration": "1ms"}"#);
        let message = refused_in(folder.path(), &fabric(), &spec);
        message[message.find("t.csv").unwrap()..].to_owned()
    };
    assert_eq!(
        why(&TRACE.replace("14,memory0", "9,memory0")),
        "t.csv:5:1: `9`: must be no earlier than the line before: gaps between flows are not negative"
    );
    assert_eq!(
        why(&TRACE.replace("2,memory0,cpu0", "2,memory7,cpu0")),
        "t.csv:3:3: `memory7`: must be the name of a blade: cpu0 to cpu4, memory0 to memory4, disk0 to disk2"
    );
    assert_eq!(
        why(&TRACE.replace("kind", "kinds")),
        "t.csv:1:28: `kinds`: must be a column of such a trace (time_ps, time_ns, time_us, time_s, src, dst, size_bytes, address, \
         kind); did you mean `kind`?"
    );
    assert_eq!(
        why("time_s,src,dst,address\n1,cpu0,memory0,NaN\n"),
        "t.csv:2:16: `NaN`: must be the address of a page: decimal or hexadecimal digits"
    );
    assert_eq!(
        why("time_s,src,dst,kind\n"),
        "t.csv:1:1: `time_s,src,dst,kind`: must be a header with a column size_bytes or address"
    );
    assert_eq!(why("time_s,src,dst,size_bytes\n"), "t.csv:1:1: `time_s,src,dst,size_bytes`: must be followed by flows");
    assert_eq!(
        why("time_s,src,dst,size_bytes\n1,cpu0,memory0,5\n"),
        "t.csv:1:1: `cpu0 to memory0`: must be a pair with flows at several times: gaps are drawn from those between them"
    );
    assert_eq!(
        why("time_s,src,dst,size_bytes\n1,disk0,memory0,5\n"),
        "t.csv:2:1: `1,disk0,memory0,5`: must be two blades that exchange something: CPUs with each other, with memory or with disks"
    );
    assert_eq!(why(&TRACE.replace("8192", "0")), "t.csv:5:17: `0`: must be a whole number of bytes, at least 1");
}

#[test]
fn bad_fields_are_named() {
    let why = |json: &str| refused(&fabric(), &pattern("disaggregated", json));
    assert_eq!(
        why(r#"{"duration": "1ms"}"#),
        "workload[0].disaggregated.trace: `trace` is required (allowed: a file, or application a name: one of the two)"
    );
    assert_eq!(
        why(r#"{"application": "herd", "trace": "x.csv", "duration": "1ms"}"#),
        "workload[0].disaggregated.trace = also given: must be a file, or application a name: one of the two"
    );
    assert_eq!(
        why(r#"{"trace": "x.csv", "load": 0.3, "duration": "1ms"}"#),
        "workload[0].disaggregated.load = 0.3: must be omitted: a trace has its own"
    );
    assert_eq!(
        why(r#"{"application": "herd", "cpus": 12, "scale": "rack", "duration": "1ms"}"#),
        "workload[0].disaggregated.scale = rack: must be datacenter: no rack has 20 hosts for all blades"
    );
    assert_eq!(
        why(r#"{"application": "herd", "hosts": "0-11", "duration": "1ms"}"#),
        "workload[0].disaggregated.hosts = 12 hosts: must be at least 13 hosts, one for each blade"
    );
    assert_eq!(
        why(r#"{"application": "herd", "samples": 0, "duration": "1ms"}"#),
        "workload[0].disaggregated.samples = 0: must be 1 to 1000"
    );
    assert_eq!(
        why(r#"{"application": "herd", "cpus": 0, "duration": "1ms"}"#),
        "workload[0].disaggregated.cpus = 0: must be 1 to 64"
    );
}
