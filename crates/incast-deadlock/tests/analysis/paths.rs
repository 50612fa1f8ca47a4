use incast_deadlock::Wiring;
use incast_deadlock::dependency::Dependencies;
use incast_deadlock::elp::{Choice, Elp, PathSet, ShortestPaths, UpDown};
use incast_deadlock::tagging::{ClosScheme, Greedy, Placement};
use incast_deadlock::verify::{FitError, fit, verify};
use incast_model::fabric::generators::{BCube, Jellyfish, LeafSpine};

use crate::common::{fabric, testbed};

fn refused(text: &str) -> String {
    let fabric = testbed();
    PathSet::parse(&Wiring::new(&fabric), text).unwrap_err().to_string()
}

#[test]
fn paths_that_are_none_are_refused_with_their_line() {
    assert_eq!(refused("\n# none\nH1 T1 L9 T2 H5"), "line 3: there is no node `L9`; did you mean `H9`?");
    assert_eq!(refused("H1 T1 T2 H5"), "line 1: no link joins T1 and T2; neighbours of T1: H1, H2, H3, H4, L1, L2");
    assert_eq!(refused("H1 T1:9 L1 T2 H5"), "line 1: T1 has no port 9; allowed: 0 to 5");
    assert_eq!(refused("H1 T1:5 L1 T2 H5"), "line 1: port 5 of T1 leads to L2, not to L1");
    assert_eq!(refused("H1 T1 H2:0"), "line 1: the path ends at H2; it leaves it by no port, 0 or other");
    assert_eq!(refused("H1 T1"), "line 1: a path of 2 nodes; at least 3 are needed: a host, a switch, a host");
    assert_eq!(refused("T1 L1 T2 H5"), "line 1: the first node, T1, is a switch; paths go from a host to a host");
    assert_eq!(refused("H1 T1 L1"), "line 1: the last node, L1, is a switch; paths go from a host to a host");
    assert_eq!(
        refused("H1 T1 H2 T1 H3"),
        "line 1: H2 is a host, which does not forward; hosts stand at the ends of a path only"
    );
    assert_eq!(refused("H1 T1 L1 T2 L2 T1 L1 T2 H5"), "line 1: the path arrives at L1 by port 0 twice: a loop");
}

#[test]
fn paths_by_lists_files_and_nodes_are_the_same() {
    let fabric = fabric(&["H1", "H2"], &["a", "b"], &[("H1", "a"), ("a", "b"), ("a", "b"), ("b", "H2")]);
    let wiring = Wiring::new(&fabric);
    let file = PathSet::parse(&wiring, "H1 a b H2 # by the first\n\n  H1 -> a:2 -> b → H2\n").unwrap();
    let list = PathSet::from_names(&wiring, [["H1", "a", "b", "H2"], ["H1", "a:2", "b", "H2"]]).unwrap();
    assert_eq!(file.iter().collect::<Vec<_>>(), list.iter().collect::<Vec<_>>());
    assert_eq!((file.place(1), list.place(1), file.len()), ("line 3", "paths[1]", 2));
    assert!(file.path(0)[1] != file.path(1)[1]);
    let nodes = ["H1", "a", "b", "H2"].map(|name| crate::common::node(&fabric, name));
    let mut by_nodes = PathSet::new();
    by_nodes.push_nodes(&wiring, &nodes).unwrap();
    assert_eq!(by_nodes.path(0), file.path(0));
    let wrong = PathSet::from_names(&wiring, [["H1", "a", "b", "H3"]]).unwrap_err();
    assert_eq!(wrong.to_string(), "paths[0]: there is no node `H3`; did you mean `H1`?");
}

#[test]
fn tags_beyond_the_priorities_are_said_with_the_paths_that_ask_for_them() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let said = |error: FitError| error.to_string();
    let paths = PathSet::parse(&wiring, "H1 T1 H2\nH1 T1 L1 S1 L3 S2 L4 T4 H13").unwrap();
    let elp = Elp::Paths(paths);
    let hops = elp.hops(&wiring).unwrap();
    let rules = Placement::per_hop(&hops).unwrap().rules();
    assert!(fit(&wiring, &rules, &elp, 1, 7).is_ok());
    assert_eq!(
        said(fit(&wiring, &rules, &elp, 1, 6).unwrap_err()),
        "7 lossless priorities are needed, 6 are available (PFC has 8, at least one of them lossy); packets reach tag 7 \
         on H1 → T1 → L1 → S1 → L3 → S2 → L4 → T4"
    );
    let clos = ClosScheme::new(2).rules(&wiring).unwrap();
    let up_down = Elp::UpDown(UpDown { bounces: 2 });
    let FitError::TooManyTags(many) = fit(&wiring, &clos, &up_down, 1, 2).unwrap_err() else { panic!() };
    assert_eq!((many.needed, many.available, many.paths.len()), (3, 2, 3));
    let jellyfish = Jellyfish::new(30, 8, 4).build().unwrap();
    let wiring = Wiring::new(&jellyfish);
    let elp = Elp::Shortest(ShortestPaths::default());
    let rules = Placement::per_hop(&elp.hops(&wiring).unwrap()).unwrap().rules();
    let FitError::TooManyTags(many) = fit(&wiring, &rules, &elp, 1, 3).unwrap_err() else { panic!() };
    assert_eq!((many.needed, many.paths.len(), many.paths[0].1.0.len()), (rules.tags(), 3, 5));
}

#[test]
fn up_and_down_need_tiers() {
    let fabric = Jellyfish::new(10, 6, 3).build().unwrap();
    let wiring = Wiring::new(&fabric);
    let wrong = Elp::UpDown(UpDown::default()).hops(&wiring).unwrap_err().to_string();
    assert!(
        wrong.starts_with("up-down paths need tiers, but s0 and s") && wrong.contains("both of tier 1; possible here:")
    );
    assert!(ClosScheme::new(1).rules(&wiring).unwrap_err().to_string().starts_with("up-down paths need tiers"));
    let clos = LeafSpine::new(2, 2, 1).build().unwrap();
    let wrong = ClosScheme { bounces: 1, classes: 255 }.rules(&Wiring::new(&clos)).unwrap_err().to_string();
    assert_eq!(wrong, "255 classes that survive 1 bounces; allowed: 1 class or more, 255 of both together");
}

/// A draft of Tagger's evaluation: cycles arise easily in Jellyfish and BCube with a few random shortest paths per pair.
#[test]
fn random_shortest_paths_close_cycles_and_tags_open_them() {
    for (fabric, few, many) in
        [(Jellyfish::new(20, 8, 4).build().unwrap(), 1, 4), (BCube::new(3, 1).build().unwrap(), 1, 4)]
    {
        let wiring = Wiring::new(&fabric);
        let cyclic = |per_pair, seed| {
            let paths = Elp::Paths(PathSet::random_shortest(&wiring, per_pair, seed));
            Dependencies::of_paths(&wiring, &paths).unwrap().cyclic(&wiring)
        };
        let samples = |per_pair| (0..20).filter(|&seed| cyclic(per_pair, seed)).count();
        assert!(samples(few) <= samples(many) && samples(many) > 0);
        let elp = Elp::Paths(PathSet::random_shortest(&wiring, many, 1));
        let hops = elp.hops(&wiring).unwrap();
        let all =
            Elp::Shortest(ShortestPaths { choice: Choice::All, ..ShortestPaths::default() }).hops(&wiring).unwrap();
        assert_eq!(hops.layers().len(), all.layers().len());
        let rules = Greedy::default().place(&hops).unwrap().rules();
        assert!(verify(&wiring, &rules, &elp).unwrap().holds() && rules.tags() <= 3);
    }
}

#[test]
fn classes_beyond_the_priorities_are_named_with_their_paths() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let text = "H1 T1 L1 S1 L3 S2 L4 T4 H13\nH1 T1 L1 T2 H5";
    let bounced = Elp::Paths(PathSet::parse(&wiring, text).unwrap());
    let said = |classes, bounces, elp: &Elp<'_>, available| {
        let rules = ClosScheme { classes, ..ClosScheme::new(bounces) }.rules(&wiring).unwrap();
        let FitError::TooManyTags(many) = fit(&wiring, &rules, elp, classes, available).unwrap_err() else { panic!() };
        let told = many.to_string();
        let (_, forced) = told.split_once("lossy); ").unwrap();
        (many.needed, forced.to_owned())
    };
    let path = "H1 → T1 → L1 → S1 → L3 → S2";
    assert_eq!(said(2, 1, &bounced, 2), (3, format!("packets of class 2 reach tag 3 on {path}")));
    // Without a tag for its bounce even class 1 needs more; class 2 is sent with it.
    let one = format!("packets of class 1 reach tag 2 on {path}; hosts send class 2 with tag 2");
    assert_eq!(said(2, 1, &bounced, 1), (3, one));
    let many =
        format!("packets of class 2 reach tag 3 on {path}; hosts send classes 3 to 7 with tags of the same numbers");
    assert_eq!(said(7, 1, &bounced, 2), (8, many));
    let (needed, forced) = said(2, 1, &Elp::UpDown(UpDown { bounces: 1 }), 2);
    assert!(needed == 3 && forced.starts_with("packets of class 2 reach tag 3 on H"), "{forced}");
    assert_eq!(forced.matches("; H").count(), 2, "{forced}");
    let straight = Elp::Paths(PathSet::parse(&wiring, "H1 T1 L1 T2 H5").unwrap());
    assert_eq!(said(1, 1, &straight, 1), (2, "the rules have tag 2, to which no expected path leads".to_owned()));
}
