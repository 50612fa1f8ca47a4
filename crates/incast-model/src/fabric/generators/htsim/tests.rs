use super::*;
use crate::fabric::NodeId;

/// Equivalent of `leaf_spine_tiny.topo` and `test.topo` of uet-htsim.
const TWO: &str = "nodes 32\ntiers 2\npodsize 32\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\n\
    Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 4\n\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\n\
    Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\n";
const THREE: &str = "# a comment\nNodes 8 # hosts\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\n\
    Radix_Up 2\nDownlink_Latency_ns 1000\n\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\n\
    Downlink_Latency_ns 1000\nBundle 1\n\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n\
    Bundle 2\n";

fn parse(text: &str, ignore_queues: bool) -> Result<Fabric, String> {
    let spec = HtsimFile { topology: "t.topo".into(), ignore_queues };
    spec.parse(text, "t.topo").map_err(|error| error.to_string())
}

fn neighbours(fabric: &Fabric, name: &str) -> Vec<String> {
    let node = fabric.nodes().iter().position(|node| node.name == name).unwrap() as u32;
    fabric.ports_of(NodeId(node)).map(|port| fabric.node(fabric.neighbour(port)).name.clone()).collect()
}

#[test]
fn two_tiers() {
    let fabric = parse(TWO, false).unwrap();
    assert_eq!((fabric.hosts().len(), fabric.nodes().len(), fabric.links().len()), (32, 32 + 4 + 2, 32 + 8));
    assert_eq!(neighbours(&fabric, "tor3")[8..], ["agg0", "agg1"]);
    assert!(fabric.links().iter().all(|link| (link.rate, link.delay) == (Rate::gbps(100), Time::us(1))));
}

#[test]
fn three_tiers_and_bundles() {
    let fabric = parse(THREE, false).unwrap();
    assert_eq!((fabric.hosts().len(), fabric.nodes().len(), fabric.links().len()), (8, 20, 8 + 8 + 16));
    assert_eq!(neighbours(&fabric, "agg2"), ["tor2", "tor3", "core0", "core0", "core2", "core2"]);
    assert_eq!(neighbours(&fabric, "agg3"), ["tor2", "tor3", "core1", "core1", "core3", "core3"]);
    let rates: Vec<Rate> = [0, 8, 16].map(|link| fabric.links()[link].rate).into();
    assert_eq!(rates, [200, 200, 100].map(Rate::gbps));
}

#[test]
fn latencies_of_switches_are_spread_over_links() {
    let latencies = THREE
        .replace("Radix_Down 2\nRadix_Up 2", "Radix_Down 2\nSwitch_Latency_ns 301\nRadix_Up 2")
        .replace("Radix_Down 4\n", "Radix_Down 4\nSwitch_Latency_ns 50\n");
    let fabric = parse(&latencies, false).unwrap();
    let delays: Vec<Time> = [0, 8, 16].map(|link| fabric.links()[link].delay).into();
    assert_eq!(delays, [Time(1_150_500), Time(1_150_500), Time(1_025_000)]);
    let (host, middle, top) = (delays[0], delays[1], delays[2]);
    assert_eq!((host + middle + top) * 2, Time::ns(6 * 1000 + 2 * 301 + 50));
}

#[test]
fn what_does_not_fit_is_located() {
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        parse(&text.replacen(from, to, 1), false).unwrap_err()
    };
    let two = |from, to| with(TWO, from, to);
    assert_eq!(
        two("Radix_Up", "Radix_Upp"),
        "t.topo:7: the key is `Radix_Upp`; allowed: Downlink_speed_Gbps, Radix_Down, \
        Radix_Up, Queue_Down, Queue_Up, Oversubscribed, Bundle, Switch_Latency_ns, Downlink_Latency_ns, Tier; did you \
        mean `Radix_Up`?"
    );
    assert!(two("podsize", "podsise").contains("t.topo:3: the key is `podsise`; allowed: Nodes, Tiers, Podsize, Tier"));
    assert_eq!(two("nodes 32", "nodes 30"), "t.topo:3: Podsize is `32`; allowed: 30, all Nodes: two tiers are one pod");
    assert_eq!(
        two("podsize 32", "podsize 30"),
        "t.topo:3: Podsize is `30`; allowed: a multiple of tier 0's Radix_Down, 8"
    );
    assert_eq!(two("tiers 2", "tiers 4"), "t.topo:2: Tiers is `4`; allowed: an integer from 2 to 3");
    assert_eq!(
        two("Gbps 100", "Gbps 100G"),
        "t.topo:5: Downlink_speed_Gbps is `100G`; allowed: an integer from 1 to 100000"
    );
    assert_eq!(two("Gbps 100", "Gbps 100 200"), "t.topo:5: `200` is too much: one value on each line");
    assert_eq!(
        two("Radix_Down 8\n", ""),
        "t.topo:15: the file ends before Radix_Down of tier 0; allowed: an \
        integer from 1 to 65536"
    );
    assert_eq!(
        two("Radix_Down 4", "Radix_Down 5"),
        "t.topo:14: Radix_Down is `5`; allowed: 4: 1 to each of the 4 switches or \
        pods below"
    );
    assert_eq!(
        two("Oversubscribed 4", "Oversubscribed 2"),
        "t.topo:10: Oversubscribed is `2`; allowed: 4, as 800 Gb/s lead \
        down and 200 Gb/s up"
    );
    assert!(two("Oversubscribed 4\n", "").starts_with("t.topo:7: Radix_Up is `2`; allowed: as much up as down"));
    assert_eq!(two("Tier 1", "Tier 0"), "t.topo:12: Tier is `0`; allowed: tiers that are described once");
    assert_eq!(
        two("Tier 1\n", "Tier 1\nRadix_Up 2\n"),
        "t.topo:13: Radix_Up is `2`; allowed: omitted: no link leads up from \
        the top tier"
    );
    assert_eq!(
        two("Radix_Up 2", "Radix_Up 2\nRadix_up 2"),
        "t.topo:8: Radix_Up is `2`; allowed: once; it is set on line 7 \
        already"
    );
    assert_eq!(two("Tier 1", "Tier 2"), "t.topo:12: Tier is `2`; allowed: 0 to 1, the number of Tiers");
    assert_eq!(two("Tier 0\n", "Tier 0\nBundle 2\n"), "t.topo:5: Bundle is `2`; allowed: 1: a host has one link");
    assert_eq!(with(THREE, "Nodes 8", "Nodes 10"), "t.topo:2: Nodes is `10`; allowed: a multiple of Podsize, 4");
    assert_eq!(
        with(THREE, "Radix_Up 4", "Radix_Up 3"),
        "t.topo:15: Radix_Up is `3`; allowed: a multiple of tier 2's Bundle, 2"
    );
    assert!(parse("", false).unwrap_err().starts_with("t.topo:1: the file ends before Tiers"));
}

#[test]
fn queues_are_refused_or_ignored_on_demand() {
    let queues = TWO.replace("Radix_Up 2\n", "Radix_Up 2\nQueue_Up 150000\n");
    let why = parse(&queues, false).unwrap_err();
    assert!(why.starts_with("t.topo:8: Queue_Up is `150000`; allowed: omitted: ports share `switch.buffer`"), "{why}");
    assert_eq!(parse(&queues, true), parse(TWO, false));
}
