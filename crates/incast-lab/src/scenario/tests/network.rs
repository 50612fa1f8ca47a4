use super::*;

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
        (
            "[network]\npause = [{ at = \"h0\", priority = 3, random = { pause = [\"1us\", \"2us\"], gap = [\"1us\", \"1us\"] } }]",
            "network.pause[0].until: random pauses need an end (allowed: a time after `from`)",
        ),
        (
            "[network]\npause = [{ at = \"h0\", priority = 3, until = \"1ms\", random = { pause = [\"1us\", \"2us\"], gap = [\"3us\", \"2us\"] } }]",
            "network.pause[0].random.gap[1]: `2us` is out of range (allowed: 3us or more: the shortest gap)",
        ),
        (
            "[network]\npause = [{ at = \"h0\", priority = 3, until = \"1ms\", random = { pause = [\"0s\", \"2us\"], gap = [\"3us\", \"2us\"] } }]",
            "network.pause[0].random.pause[0]: `0ps` is out of range (allowed: 1us or more)",
        ),
        (
            "[network]\npause = [{ at = \"h0\", priority = 3, until = \"100s\", random = { pause = [\"1us\", \"2us\"], gap = [\"1us\", \"1us\"] } }]",
            "network.pause[0].random: up to 50000000 pauses between `from` and `until` (allowed: at most 1000000 pauses)",
        ),
    ] {
        let found = said(network);
        assert!(found.contains(message) && found.starts_with("s.toml:"), "{found}\n{message}");
    }
}
