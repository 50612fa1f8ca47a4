//! Both scenarios of Tagger's evaluation, with and without tags.

use incast_deadlock::dependency::{Dependencies, Failures, Rerouting};
use incast_deadlock::elp::{Elp, PathSet, UpDown};
use incast_deadlock::rules::Rules;
use incast_deadlock::tagging::{ClosScheme, Greedy, Placement, Tagging};
use incast_deadlock::verify::verify;
use incast_deadlock::{Tag, TurnSet, Wiring};
use incast_model::fabric::{Fabric, HostId};
use incast_model::routing::{FixedHops, NextHopOrder, Routes};

use crate::common::{link, port, testbed};

/// Flow A bounces at L3, flow B at L1.
const BOUNCES: &str = "
    H1 → T1 → L1 → S1 → L3 → S2 → L4 → T4 → H13   # A
    H9 -> T3 -> L3 -> S2 -> L1 -> S1 -> L2 -> T1 -> H4
";

fn bounces(wiring: &Wiring<'_>) -> Elp<'static> {
    Elp::Paths(PathSet::parse(wiring, BOUNCES).unwrap())
}

#[test]
fn two_paths_with_a_bounce_each_close_a_cycle() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let elp = bounces(&wiring);
    let report = Dependencies::of_paths(&wiring, &elp).unwrap().report(&wiring, 9, Some(&elp)).unwrap();
    assert_eq!(
        report.to_string(),
        "12 buffers, 12 dependencies, some of them cyclic: deadlocks are possible\n\n\
         4 buffers of 4 nodes wait for each other\n  \
         L1 port 3 → S1 port 0 → L3 port 2 → S2 port 2 → L1 port 3\n    \
         node  in port  from  out port  to  packets\n    \
         L1          3  S2           2  S1  line 3: H9 → T3 → L3 → S2 → L1 → S1 → L2 → T1 → H4\n    \
         S1          0  L1           2  L3  line 2: H1 → T1 → L1 → S1 → L3 → S2 → L4 → T4 → H13\n    \
         L3          2  S1           3  S2  line 2: H1 → T1 → L1 → S1 → L3 → S2 → L4 → T4 → H13\n    \
         S2          2  L3           0  L1  line 3: H9 → T3 → L3 → S2 → L1 → S1 → L2 → T1 → H4\n"
    );
    let one = PathSet::parse(&wiring, BOUNCES.lines().nth(1).unwrap()).unwrap();
    assert!(!Dependencies::of_paths(&wiring, &Elp::Paths(one)).unwrap().cyclic(&wiring));
}

#[test]
fn with_one_bounce_two_tags_keep_both_flows_lossless() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let elp = bounces(&wiring);
    let clos = ClosScheme::new(1).rules(&wiring).unwrap();
    assert_eq!(clos.tags(), 2);
    let tag_at = |rules: &Rules, path: &[&str]| {
        let mut tags = vec![Tag::FIRST];
        for turn in path.windows(3) {
            let (input, output) = (port(&fabric, turn[1], turn[0]), port(&fabric, turn[1], turn[2]));
            tags.extend(rules.new_tag(tags[tags.len() - 1], input, output));
        }
        tags.iter().map(|tag| tag.0).collect::<Vec<_>>()
    };
    let a = ["H1", "T1", "L1", "S1", "L3", "S2", "L4", "T4", "H13"];
    let b = ["H9", "T3", "L3", "S2", "L1", "S1", "L2", "T1", "H4"];
    assert_eq!(tag_at(&clos, &a), [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(tag_at(&clos, &b), [1, 1, 1, 1, 2, 2, 2, 2]);
    let hops = elp.hops(&wiring).unwrap();
    let greedy = Greedy::default().place(&hops).unwrap().rules();
    assert_eq!((greedy.tags(), Placement::per_hop(&hops).unwrap().rules().tags()), (2, 7));
    for rules in [&clos, &greedy, &Placement::per_hop(&hops).unwrap().rules()] {
        assert!(verify(&wiring, rules, &elp).unwrap().holds());
        assert!(!Dependencies::of_rules(rules).cyclic(&wiring));
    }
}

#[test]
fn the_clos_scheme_needs_a_tag_for_each_bounce_and_one_more() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    for bounces in 0..4 {
        let rules = ClosScheme::new(bounces).rules(&wiring).unwrap();
        assert_eq!(rules.tags(), bounces + 1);
        for survived in 0..5 {
            let verified = verify(&wiring, &rules, &Elp::UpDown(UpDown { bounces: survived })).unwrap();
            assert!(verified.deadlock_free());
            assert_eq!(verified.complete(), survived <= bounces, "{survived} of {bounces}");
        }
    }
    // All paths with a bounce in one priority form a cycle.
    let one_bounce = Elp::UpDown(UpDown { bounces: 1 });
    assert!(!Dependencies::of_paths(&wiring, &Elp::UpDown(UpDown { bounces: 0 })).unwrap().cyclic(&wiring));
    let report = Dependencies::of_paths(&wiring, &one_bounce).unwrap().report(&wiring, 1, Some(&one_bounce)).unwrap();
    let cycle = &report.components[0].cycles[0];
    assert!(cycle.users.iter().all(|users| users.example.is_some()), "{report}");
}

/// L1's route for flow 1 points back to T1.
fn loop_routes(fabric: &Fabric) -> Routes {
    let dst = HostId(14);
    let back =
        FixedHops { node: fabric.port(port(fabric, "L1", "T1")).node, dst, ports: vec![port(fabric, "L1", "T1")] };
    let up = FixedHops { node: fabric.port(port(fabric, "T1", "L1")).node, dst, ports: vec![port(fabric, "T1", "L1")] };
    Routes::around(fabric, NextHopOrder::Port, &|_| true, &[back, up])
}

#[test]
fn a_routing_loop_is_a_cycle_of_two_buffers() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let routes = loop_routes(&fabric);
    let elp = Elp::Routes(&routes);
    let report = Dependencies::of_routes(&wiring, &routes).report(&wiring, 9, Some(&elp)).unwrap();
    assert_eq!(report.components.len(), 1);
    let cycle = &report.components[0].cycles[0];
    assert_eq!(cycle.cycle.to_string(), "T1 port 4 → L1 port 0 → T1 port 4");
    assert_eq!(cycle.users.iter().map(|users| users.destinations).collect::<Vec<_>>(), [Some(1), Some(1)]);
    assert_eq!(cycle.users[1].example.as_ref().unwrap().to_string(), "H1 → T1 → L1 → T1");
    let healthy = Routes::shortest(&fabric, NextHopOrder::Port);
    assert!(!Dependencies::of_routes(&wiring, &healthy).cyclic(&wiring));
    assert_eq!(
        elp.hops(&wiring).unwrap_err().to_string(),
        "packets to H15 loop: T1 → L1 → T1; lossless paths must end at a host"
    );
}

#[test]
fn the_clos_scheme_lets_a_looping_packet_bounce_once() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let rules = ClosScheme::new(1).rules(&wiring).unwrap();
    let (t1, l1) = (port(&fabric, "T1", "L1"), port(&fabric, "L1", "T1"));
    let first = rules.new_tag(Tag(1), port(&fabric, "T1", "H1"), t1).unwrap();
    let back = rules.new_tag(first, l1, l1).unwrap();
    let bounced = rules.new_tag(back, t1, t1).unwrap();
    assert_eq!((first, back, bounced), (Tag(1), Tag(1), Tag(2)));
    assert_eq!(rules.new_tag(rules.new_tag(bounced, l1, l1).unwrap(), t1, t1), None);
}

#[test]
fn two_failures_and_switches_next_to_them_that_send_back_up_close_the_cycle() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let routes = Routes::shortest(&fabric, NextHopOrder::Port);
    let failed = vec![link(&fabric, "L3", "T4"), link(&fabric, "L1", "T1")];
    let given = Failures::Given(vec![vec![failed[0]], vec![failed[1]], failed]);
    let local = Rerouting::Local { bounces: 1 };
    let report = Dependencies::under_failures(&wiring, &routes, &given, local, 9).unwrap();
    assert_eq!((report.cyclic_before, report.sets, report.cyclic), (false, 3, 1));
    let found = &report.named[0];
    assert_eq!(found.links, [["T4", "L3"], ["T1", "L1"]].map(|ends| ends.map(String::from)));
    let cycle = &found.cycle;
    assert_eq!(cycle.cycle.to_string(), "L1 port 2 → S2 port 0 → L3 port 3 → S1 port 2 → L1 port 2");
    let examples: Vec<String> = cycle.users.iter().map(|users| users.example.as_ref().unwrap().to_string()).collect();
    assert_eq!(examples[0], "H9 → T3 → L3 → S1 → L1 → S2 → L2 → T1 → H1");
    assert_eq!(examples[2], "H1 → T1 → L2 → S2 → L3 → S1 → L4 → T4 → H13");
    // Once all switches know, no packet bounces.
    let converged = Dependencies::under_failures(&wiring, &routes, &given, Rerouting::Converged, 9).unwrap();
    assert_eq!(converged.cyclic, 0);
    // A second detour lets packets ping-pong after one failure.
    let twice = Dependencies::under_failures(&wiring, &routes, &given, Rerouting::Local { bounces: 2 }, 9).unwrap();
    assert_eq!(twice.cyclic, 3);
}

#[test]
fn all_single_and_double_failures_of_the_testbed() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let routes = Routes::shortest(&fabric, NextHopOrder::Port);
    let local = Rerouting::Local { bounces: 1 };
    let found = |failures: Failures, bounces| {
        let rerouting = Rerouting::Local { bounces };
        let report = Dependencies::under_failures(&wiring, &routes, &failures, rerouting, 200).unwrap();
        assert_eq!(report.named.len(), report.cyclic);
        report
    };
    // Agrees with a separate search of every packet's paths.
    let counts = |failures: Failures, bounces| {
        let report = found(failures, bounces);
        (report.cyclic, report.sets)
    };
    assert_eq!([counts(Failures::Single, 1), counts(Failures::Double, 1)], [(0, 16), (20, 120)]);
    assert_eq!([counts(Failures::Single, 2), counts(Failures::Double, 2)], [(8, 16), (96, 120)]);
    // A leaf of each pod lost a link down (4 per pod), or both leaves of a pod did, to different ToRs.
    let double = found(Failures::Double, 1);
    let down = |ends: &[String; 2]| ends[0].starts_with('T');
    assert_eq!(double.named.iter().filter(|failed| failed.links.iter().all(down)).count(), 20);
    let random = Failures::Random { links: 3, samples: 50, seed: 1 };
    let report = Dependencies::under_failures(&wiring, &routes, &random, local, 3).unwrap();
    assert!(report.sets == 50 && report.cyclic > 0 && report.named.len() <= 3);
}

#[test]
fn tags_that_fall_for_one_user_make_a_cycle_across_tags() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let mut crossed = Rules::new(&wiring);
    for (tag, new, turns) in ClosScheme::new(1).rules(&wiring).unwrap().turns() {
        let turns: &TurnSet = turns;
        for (input, output) in turns.iter() {
            crossed.insert(tag, input, output, new).unwrap();
            if tag != new {
                crossed.insert(new, input, output, tag).unwrap();
            }
        }
    }
    let verified = verify(&wiring, &crossed, &Elp::UpDown(UpDown { bounces: 1 })).unwrap();
    assert!(verified.cycles.is_empty() && verified.complete() && !verified.deadlock_free());
    assert!(verified.falling > 0 && verified.falling_named.iter().all(|(turn, new)| turn.tag > Some(*new)));
    let report = Dependencies::of_rules(&crossed).report(&wiring, 1, None).unwrap();
    let tags: Vec<u8> = report.components[0].cycles[0].cycle.turns.iter().map(|turn| turn.tag.unwrap().0).collect();
    assert!(tags.contains(&1) && tags.contains(&2), "{report}");
    // n + k tags for n classes are safe.
    let shared = ClosScheme { bounces: 1, classes: 2 }.rules(&wiring).unwrap();
    let both =
        incast_deadlock::verify::verify_classes(&wiring, &shared, &Elp::UpDown(UpDown { bounces: 1 }), 2).unwrap();
    assert!(both.holds() && shared.tags() == 3);
    let three =
        incast_deadlock::verify::verify_classes(&wiring, &shared, &Elp::UpDown(UpDown { bounces: 1 }), 3).unwrap();
    assert!(three.deadlock_free() && !three.complete());
}

#[test]
fn a_report_is_data_too() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let routes = loop_routes(&fabric);
    let elp = Elp::Routes(&routes);
    let report = Dependencies::of_routes(&wiring, &routes).report(&wiring, 1, Some(&elp)).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["components"][0]["buffers"], 2);
    assert_eq!(
        json["components"][0]["cycles"][0],
        serde_json::json!({
            "turns": [
                {"switch": "T1", "in_port": 4, "from": "L1", "out_port": 4, "to": "L1"},
                {"switch": "L1", "in_port": 0, "from": "T1", "out_port": 0, "to": "T1"},
            ],
            "users": [
                {"destinations": 1, "example": ["H1", "T1", "L1", "T1", "L1"]},
                {"destinations": 1, "example": ["H1", "T1", "L1", "T1"]},
            ],
        })
    );
    let rules = ClosScheme::new(0).rules(&wiring).unwrap();
    let verified = verify(&wiring, &rules, &bounces(&wiring)).unwrap();
    let json = serde_json::to_value(&verified).unwrap();
    assert_eq!((&json["tags"], &json["lossy"], &json["walked"]["paths"]), (&1.into(), &2.into(), &2.into()));
    assert_eq!(
        json["lossy_named"][0],
        serde_json::json!({
            "turn": {"switch": "L3", "in_port": 2, "from": "S1", "out_port": 3, "to": "S2", "tag": 1},
            "path": ["H1", "T1", "L1", "S1", "L3", "S2"],
        })
    );
}

#[test]
fn no_rules_are_returned_that_do_not_hold() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let one_bounce = Elp::UpDown(UpDown { bounces: 1 });
    for (tagging, tags) in [
        (Tagging::Clos(ClosScheme::new(1)), 2),
        (Tagging::Clos(ClosScheme { bounces: 1, classes: 3 }), 4),
        (Tagging::PerHop, 9),
        (Tagging::Greedy(Greedy::default()), 3),
    ] {
        let tagged = tagging.rules(&wiring, &one_bounce).unwrap();
        assert_eq!((tagged.rules.tags(), tagged.verification.tags), (tags, tags));
    }
    let error = Tagging::Clos(ClosScheme::new(0)).rules(&wiring, &bounces(&wiring)).unwrap_err().to_string();
    assert_eq!(
        error,
        "these rules do not hold for these paths: packets become lossy at 2 turns of their paths, such as at L3: in port 2 \
         from S1, out port 3 to S2, tag 1 on H1 → T1 → L1 → S1 → L3 → S2"
    );
    let none = Tagging::PerHop.rules(&wiring, &Elp::Paths(PathSet::new())).unwrap_err().to_string();
    assert_eq!(none, "there are no paths to keep lossless");
}
