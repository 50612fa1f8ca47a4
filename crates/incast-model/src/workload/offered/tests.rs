use super::super::testing::{pattern, star};
use super::*;
use crate::fabric::Vms;
use crate::fabric::generators::{HpccFatTree, LeafSpine, NvLink, RailOptimized};
use crate::routing::{NextHopOrder, Paths};
use crate::units::Rate;

fn loads(fabric: &Fabric, specs: &[WorkloadSpec]) -> Vec<OfferedLoad> {
    let routes = Routes::shortest(fabric, NextHopOrder::Port);
    offered(specs, fabric, || &routes, None, (Path::new("."), 1, None), |_| 1.0).unwrap()
}

fn poisson(fields: &str) -> WorkloadSpec {
    let json = format!(r#"{{"sizes": "2kB", "duration": "1ms", {fields}}}"#);
    WorkloadSpec { label: Some("background".into()), ..pattern("poisson", &json) }
}

fn mean(loads: &[OfferedLoad], links: Links) -> [f64; 2] {
    [Direction::Up, Direction::Down].map(|direction| {
        let found = loads.iter().find(|load| (load.links, load.direction) == (links, direction));
        found.map_or(0.0, |load| load.mean)
    })
}

fn near(found: [f64; 2], expected: f64) -> bool {
    found.iter().all(|found| (found - expected).abs() < 1e-9)
}

fn said(loads: &[OfferedLoad]) -> Vec<String> {
    overload(loads).iter().map(ToString::to_string).collect()
}

#[test]
fn uplinks_of_an_oversubscribed_fabric_are_overloaded() {
    // 4 uplinks; of 127 others, 112 are under other leaves.
    let fabric = LeafSpine::new(8, 4, 16).build().unwrap();
    let found = loads(&fabric, &[poisson(r#""load": 0.3"#)]);
    assert!(near(mean(&found, Links::Host), 0.3), "{found:?}");
    assert!(near(mean(&found, Links::Uplink(1)), 0.3 * 4.0 * 112.0 / 127.0), "{found:?}");
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|load| (load.busiest / load.mean - 1.0).abs() < 1e-9));
    assert_eq!(
        said(&found),
        [
            "workload[0].poisson.load: background offers 106 % of the capacity of tier 1's uplinks, with headers: flows pile up; for at \
             most 100 % on every link, write `load = 0.283`"
        ]
    );
    assert_eq!(said(&loads(&fabric, &[poisson(r#""load": 0.283"#)])), [""; 0]);
    let routes = Routes::along(&fabric, Paths::UpDown, NextHopOrder::Port, &|_| true, &[]);
    let up_down =
        offered(&[poisson(r#""load": 0.3"#)], &fabric, || &routes, None, (Path::new("."), 1, None), |_| 1.0).unwrap();
    assert!(near(mean(&up_down, Links::Uplink(1)), 0.3 * 4.0 * 112.0 / 127.0));
}

#[test]
fn a_load_of_some_links_comes_out_there() {
    let (leaves, tree) = (LeafSpine::new(4, 2, 8).build().unwrap(), HpccFatTree::default().build().unwrap());
    let check = |fabric: &Fabric, fields: &str, links: Links| {
        let found = loads(fabric, &[poisson(&format!(r#""load": 0.4, {fields}"#))]);
        assert!(near(mean(&found, links), 0.4), "{fields}: {found:?}");
    };
    check(&leaves, r#""load_at": "tor_uplink""#, Links::Uplink(1));
    check(&leaves, r#""load_at": {"tier": 1}, "locality": {"rack": 0.5}"#, Links::Uplink(1));
    check(&leaves, r#""locality": {"rack": 0.5}"#, Links::Host);
    check(&leaves, r#""load_at": "core", "hosts": "0-15""#, Links::Uplink(1));
    check(&tree, r#""load_at": "core", "locality": {"rack": 0.2, "pod": 0.5}"#, Links::Uplink(2));
    check(&tree, r#""load_at": "tor_uplink", "locality": {"rack": 0.2}"#, Links::Uplink(1));
    check(&tree, r#""region": 64"#, Links::Host);
    for (nvlink, tier) in [(None, 1), (Some(NvLink::default()), 2)] {
        let spec = RailOptimized { gpus_per_server: 4, nvlink, ..RailOptimized::new(4, 2) };
        check(&spec.build().unwrap(), r#""load_at": "core""#, Links::Uplink(tier));
    }
}

#[test]
fn gpus_of_a_server_use_nvlink() {
    let spec = RailOptimized { gpus_per_server: 4, ..RailOptimized::new(4, 2) };
    // Of 15 others 3 share the server; a NIC has 400 Gb/s, NVLink 3600.
    let found = loads(&spec.build().unwrap(), &[poisson(r#""load": 0.5"#)]);
    assert!(near(mean(&found, Links::Host), 0.5 * 12.0 / 15.0), "{found:?}");
    assert!(near(mean(&found, Links::Nvlink), 0.5 * 3.0 / 15.0 / 9.0));
    let without = RailOptimized { nvlink: None, ..spec.clone() }.build().unwrap();
    assert!(near(mean(&loads(&without, &[poisson(r#""load": 0.5"#)]), Links::Host), 0.5));
    let forward =
        RailOptimized { nvlink: Some(NvLink { forward: true, ..NvLink::default() }), ..spec }.build().unwrap();
    let found = loads(&forward, &[poisson(r#""load": 0.5"#)]);
    assert!(near(mean(&found, Links::Host), 0.5 * 12.0 / 15.0), "{found:?}");
}

#[test]
fn a_link_that_stands_out_is_named() {
    let fabric = star(16, Rate::gbps(100));
    let incast = |fields: &str| pattern("incast", &format!(r#"{{"fan_in": 8, "duration": "1ms", {fields}}}"#));
    let fixed = incast(r#""size": "50kB", "load": 0.1, "receiver": 3"#);
    let rest = "flows pile up; for at most 100 % on every link, write `load = 0.0625`";
    assert_eq!(
        said(&loads(&fabric, std::slice::from_ref(&fixed))),
        [format!(
            "workload[0].incast.load: incast offers 160 % of the capacity of the link from s0 to h3, with headers: {rest}"
        )]
    );
    let both = said(&loads(&fabric, &[poisson(r#""load": 0.2"#), fixed]));
    let rest = "flows pile up; for at most 100 % on every link, multiply their loads by 0.555";
    assert_eq!(
        both,
        [format!(
            "workload: background, incast offer 180 % of the capacity of the link from s0 to h3 (host links: 30 % on average), \
             with headers: {rest}"
        )]
    );
    let random = loads(&fabric, &[incast(r#""size": "50kB", "load": 0.1"#)]);
    assert!(near(mean(&random, Links::Host), 0.1));
    // 8 flows of 500 kB are 32 Mbit: at 100 Gb/s every 320 us.
    let every = |period: &str| {
        let json = format!(r#""size": "500kB", "every": "{period}", "receiver": 3"#);
        said(&loads(&fabric, &[incast(&json)]))
    };
    assert_eq!(every("320us"), [""; 0]);
    let rest = "flows pile up; for at most 100 % on every link, write `every = \"320us\"`";
    assert_eq!(
        every("256us"),
        [format!(
            "workload[0].incast.every: incast offers 125 % of the capacity of the link from s0 to h3, with headers: {rest}"
        )]
    );
    let once = pattern("incast", r#"{"fan_in": 8, "size": "1GB"}"#);
    assert_eq!(loads(&fabric, &[once, pattern("ring_all_reduce", r#"{"size": "1GB"}"#)]), []);
}

#[test]
fn entries_add_up_while_they_overlap() {
    let fabric = star(16, Rate::gbps(100));
    let mut specs = [poisson(r#""load": 0.6"#), WorkloadSpec { label: None, ..poisson(r#""load": 0.5"#) }];
    let rest = "flows pile up; for at most 100 % on every link, multiply their loads by 0.909";
    assert_eq!(
        said(&loads(&fabric, &specs)),
        [format!("workload: background, poisson offer 110 % of the capacity of host links, with headers: {rest}")]
    );
    specs[1].start = Time::ms(1);
    let found = loads(&fabric, &specs);
    assert!(near(mean(&found, Links::Host), 0.6) && said(&found).is_empty());
    assert_eq!(found[0].labels, ["background"]);
}

#[test]
fn pairs_are_those_of_the_flows() {
    let fabric = LeafSpine::new(2, 2, 4).build().unwrap();
    let across = pattern("permutation", r#"{"size": "1kB", "load": 0.3, "duration": "1ms", "stride": 4}"#);
    assert!(near(mean(&loads(&fabric, &[across]), Links::Uplink(1)), 0.6));
    let random = pattern("permutation", r#"{"size": "1kB", "load": 0.3, "duration": "1ms"}"#);
    let set = super::super::testing::flows(&fabric, &random, 1);
    let crossing: BTreeSet<u32> =
        set.flows.iter().filter(|flow| flow.src.0 / 4 != flow.dst.0 / 4).map(|flow| flow.src.0).collect();
    let expected = 0.3 * crossing.len() as f64 * 100.0 / 400.0;
    assert!(near(mean(&loads(&fabric, &[random]), Links::Uplink(1)), expected), "{crossing:?}");
    let blades =
        pattern("disaggregated", r#"{"application": "terasort", "load": 0.2, "samples": 3, "duration": "1ms"}"#);
    let found = loads(&star(13, Rate::gbps(40)), &[blades]);
    let busiest = found.iter().map(|load| load.busiest).fold(0.0, f64::max);
    assert!((busiest - 0.6).abs() < 1e-9, "{found:?}");
}

#[test]
fn vms_load_the_nic_of_their_server() {
    let fabric = LeafSpine { host_rate: Rate::gbps(10), ..LeafSpine::new(2, 2, 2) }.build().unwrap();
    let fabric = fabric.with_vms(&Vms::new(4)).unwrap();
    let found = loads(&fabric, &[poisson(r#""load": 0.5"#)]);
    // Four VMs of 10 Gb/s on a 10 Gb/s NIC; of 15 others, 12 are in other servers.
    assert!(near(mean(&found, Links::Host), 0.5) && near(mean(&found, Links::Uplink(1)), 2.0 * 12.0 / 15.0));
    assert!(said(&found)[0].contains("offers 160 % of the capacity of tier 1's uplinks"), "{found:?}");
}
