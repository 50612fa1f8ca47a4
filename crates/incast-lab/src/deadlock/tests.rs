use std::path::Path;

use incast_deadlock::rules::Compression;

use super::*;

/// Tagger's evaluation: 16 servers, two pods of two ToR and two leaf switches, two spines.
const CLOS: &str = r#"
[fabric.custom]
hosts = 16
switches = ["T1", "T2", "T3", "T4", "L1", "L2", "L3", "L4", "S1", "S2"]
links = [
  { a = "h0", b = "T1" }, { a = "h1", b = "T1" }, { a = "h2", b = "T1" }, { a = "h3", b = "T1" },
  { a = "h4", b = "T2" }, { a = "h5", b = "T2" }, { a = "h6", b = "T2" }, { a = "h7", b = "T2" },
  { a = "h8", b = "T3" }, { a = "h9", b = "T3" }, { a = "h10", b = "T3" }, { a = "h11", b = "T3" },
  { a = "h12", b = "T4" }, { a = "h13", b = "T4" }, { a = "h14", b = "T4" }, { a = "h15", b = "T4" },
  { a = "T1", b = "L1" }, { a = "T1", b = "L2" }, { a = "T2", b = "L1" }, { a = "T2", b = "L2" },
  { a = "T3", b = "L3" }, { a = "T3", b = "L4" }, { a = "T4", b = "L3" }, { a = "T4", b = "L4" },
  { a = "L1", b = "S1" }, { a = "L1", b = "S2" }, { a = "L2", b = "S1" }, { a = "L2", b = "S2" },
  { a = "L3", b = "S1" }, { a = "L3", b = "S2" }, { a = "L4", b = "S1" }, { a = "L4", b = "S2" },
]
[[workload]]
list = [{ src = 0, dst = 15, size = "1kB" }]
[scheme.A]
control = "dcqcn"
"#;

fn clos() -> Loaded {
    Loaded::from_text("clos.toml", CLOS, Path::new("."), &[]).unwrap_or_else(|found| panic!("{found}"))
}

fn options(json: &str) -> CheckOptions {
    let usual = r#"{"paths": "routes", "samples": null, "detours": null, "most": 3, "seed": 1}"#;
    let mut all: serde_json::Map<String, serde_json::Value> = serde_json::from_str(usual).unwrap();
    all.extend(serde_json::from_str::<serde_json::Map<_, _>>(json).unwrap());
    serde_json::from_value(all.into()).unwrap()
}

fn found(json: &str) -> Result<Checked, Diagnostics> {
    check(&clos(), &options(json), Path::new("."))
}

fn said(json: &str) -> String {
    found(json).unwrap_or_else(|found| panic!("{found}")).to_string()
}

fn refused(json: &str) -> String {
    found(json).expect_err("accepted").to_string()
}

#[test]
fn a_clos_without_failures_has_no_cycle() {
    let checked = found("{}").unwrap();
    assert!(checked.deadlock_free);
    assert!(checked.to_string().ends_with("none of them cyclic: no deadlock is possible\n"), "{checked}");
    assert!(found(r#"{"failures": 1}"#).unwrap().deadlock_free, "converged");
    assert!(found(r#"{"failures": 1, "detours": 1}"#).unwrap().deadlock_free, "one detour");
}

#[test]
fn up_down_routes_close_no_cycle_whatever_fails() {
    let text = format!("{CLOS}[network]\nrouting = \"up-down\"\n");
    let loaded = Loaded::from_text("clos.toml", &text, Path::new("."), &[]).unwrap();
    let many = r#"{"failures": 6, "samples": 500}"#;
    assert!(!found(many).unwrap().deadlock_free, "shortest paths");
    let up_down = |json| check(&loaded, &options(json), Path::new(".")).unwrap();
    assert!(up_down(many).deadlock_free && up_down("{}").deadlock_free);
}

#[test]
fn two_failed_links_close_the_cycle_of_the_text() {
    let text = said(r#"{"fail": ["L3-T4", "T1-L1"], "detours": 1}"#);
    let head = "priority 3: 1 of 1 set of failed links has cyclic dependencies: deadlocks are possible\n\nwith T4-L3 and T1-L1 down\n";
    assert!(text.starts_with(head), "{text}");
    let cycle = text.lines().nth(3).unwrap();
    assert!(["L1", "S1", "L3", "S2"].iter().all(|name| cycle.contains(name)), "{cycle}");
    let all = said(r#"{"failures": 2, "detours": 1, "most": 1}"#);
    let head = "of 120 sets of failed links have cyclic dependencies: deadlocks are possible";
    assert!(all.lines().next().unwrap().ends_with(head), "{all}");
    assert!(all.ends_with(" more sets: --cycles sets how many are listed\n"), "{all}");
}

#[test]
fn bounces_need_a_tag_each() {
    let bounced = found(r#"{"paths": {"up_down": {"bounces": 1}}}"#).unwrap();
    assert!(!bounced.deadlock_free);
    let tags = |method, bounces| {
        let options = TagOptions {
            paths: Some(PathsOption::UpDown { bounces }),
            method,
            classes: 1,
            random_order: false,
            compression: Compression::Rectangles,
            priorities: 7,
            seed: 1,
            export: Vec::new(),
            port_names: None,
            dscp: Vec::new(),
        };
        let (show, files) = tag(&clos(), &options, Path::new(".")).unwrap_or_else(|found| panic!("{found}"));
        assert!(show.verification.holds() && files.is_empty());
        assert!(show.to_string().contains("verified: "), "{show}");
        show.tags
    };
    assert_eq!([0, 1, 2].map(|bounces| tags(Method::Clos, bounces)), [1, 2, 3]);
    assert_eq!(tags(Method::Greedy, 1), 3);
}

#[test]
fn exports_are_files() {
    let options = |export: Vec<ExportForm>, priorities, method| TagOptions {
        paths: Some(PathsOption::UpDown { bounces: 1 }),
        method,
        classes: 1,
        random_order: false,
        compression: Compression::InputSets,
        priorities,
        seed: 1,
        export,
        port_names: None,
        dscp: Vec::new(),
    };
    let all = vec![ExportForm::Json, ExportForm::Csv, ExportForm::Sonic, ExportForm::P4, ExportForm::Nftables];
    let (show, files) = tag(&clos(), &options(all, 7, Method::Clos), Path::new(".")).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(files.len(), 2 + 10 + 11 + 10, "{names:?}");
    for name in ["rules.json", "rules.csv", "T1.sonic.json", "S2.p4runtime.json", "tags.p4", "L3.nft"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!show.notices.is_empty());
    let text = |name: &str, files: &[RuleFile]| files.iter().find(|file| file.name == name).unwrap().text.clone();
    assert!(text("T1.nft", &files).contains("dscp 8 iifname") && text("T1.sonic.json", &files).contains("Ethernet0,"));
    let named = |port_names: &str, dscp: &[u8]| {
        let nft = options(vec![ExportForm::Nftables], 7, Method::Clos);
        let named = TagOptions { port_names: Some(port_names.into()), dscp: dscp.to_vec(), ..nft };
        tag(&clos(), &named, Path::new(".")).map(|(_, files)| text("T1.nft", &files)).map_err(|error| error.to_string())
    };
    let own = named("eth10/2", &[10, 18]).unwrap();
    assert!(own.contains("\"eth10\"") && own.contains("\"eth20\"") && own.contains("dscp 18"), "{own}");
    for (port_names, dscp, said) in [
        ("eth", &[10, 18], "`eth` is not the name of a first port"),
        (
            "a-name-too-long-for-linux0",
            &[10, 18],
            "--port-names: nftables: port 0 would be named `a-name-too-long-for-linux0`",
        ),
        ("eth0", &[10, 64], "code point 64; allowed: 0 to 63"),
        ("eth0", &[10, 10], "--dscp: code point 10; allowed: each code point once"),
        ("eth0", &[10, 0], "--dscp: code point 0; allowed: 1 to 63, each once: lossy packets have 0"),
    ] {
        assert!(named(port_names, dscp).unwrap_err().contains(said), "{said}");
    }
    assert!(named("eth0", &[10]).unwrap_err().contains("1 code points for 2 tags"));
    let few = tag(&clos(), &options(Vec::new(), 1, Method::Clos), Path::new(".")).unwrap_err().to_string();
    assert!(few.contains("--priorities") && few.contains('2'), "{few}");
    let shared = TagOptions { classes: 2, ..options(vec![ExportForm::Json], 2, Method::Clos) };
    let few = tag(&clos(), &shared, Path::new(".")).unwrap_err().to_string();
    assert!(few.contains("packets of class 2 reach tag 3 on h"), "{few}");
    let classes = TagOptions { classes: 2, ..options(Vec::new(), 7, Method::Greedy) };
    assert!(tag(&clos(), &classes, Path::new(".")).unwrap_err().to_string().contains("--method clos"));
}

#[test]
fn what_is_wrong_is_said() {
    assert!(refused(r#"{"fail": ["L1"]}"#).contains("its two ends joined by a dash"));
    assert!(refused(r#"{"fail": ["L1-S3"]}"#).contains("no node `S3`"));
    assert!(refused(r#"{"fail": ["L1-L2"]}"#).contains("no link joins L1 and L2"));
    assert!(refused(r#"{"fail": ["L1-L2"]}"#).contains("allowed: L1 and a switch next to it: S1, S2, T1, T2"));
    assert!(refused(r#"{"fail": ["T1-L9"]}"#).contains("did you mean `L1`?"));
    assert!(refused(r#"{"fail": ["T1-L1", "L1-T1"]}"#).contains("`L1-T1`: this link is named before"));
    assert!(
        refused(r#"{"fail": ["T1:9-L1"]}"#)
            .contains("port 9 of T1 does not lead to L1\n = allowed: ports of T1 to L1: 4")
    );
    assert!(refused(r#"{"fail": ["T1-h0"], "detours": 1}"#).contains("only links between switches can fail here"));
    assert!(refused(r#"{"paths": "shortest", "failures": 1}"#).contains("omit --paths"));
    let up_down =
        Loaded::from_text("u.toml", &format!("{CLOS}[network]\nrouting = \"up-down\"\n"), Path::new("."), &[]);
    let checked = |json| check(up_down.as_ref().unwrap(), &options(json), Path::new("."));
    assert!(checked(r#"{"failures": 2}"#).unwrap().deadlock_free);
    let error = checked(r#"{"failures": 1, "detours": 1}"#).unwrap_err().to_string();
    assert!(error.contains("error: `up-down` forbids the valleys that --detours adds"), "{error}");
    assert!(error.contains("(network.routing)\n") && error.contains("| routing = \"up-down\""), "{error}");
    assert!(refused(r#"{"failures": 99}"#).contains("allowed: 1 to 16"));
    let star =
        "[fabric.star]\nhosts = 4\n[[workload]]\nincast = { fan_in = 2, size = 1 }\n[scheme.A]\ncontrol = \"hpcc\"\n";
    let star = Loaded::from_text("star.toml", star, Path::new("."), &[]).unwrap();
    let none = check(&star, &options(r#"{"failures": 8}"#), Path::new(".")).unwrap_err().to_string();
    assert!(none.contains("the fabric has no links between switches"), "{none}");
    let none = refused(r#"{"paths": {"file": "up-dwn"}}"#);
    assert!(none.contains("`up-dwn`: No such file") && none.contains("did you mean `up-down`?"), "{none}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("paths.txt");
    let of_file = |text: &str| {
        std::fs::write(&file, text).unwrap();
        check(&clos(), &options(r#"{"paths": {"file": "paths.txt"}}"#), folder.path())
    };
    assert!(of_file("h0 T1 L9 T2 h4\n").unwrap_err().to_string().contains("line 1"));
    assert!(of_file("# nothing\n").unwrap_err().to_string().contains("has no path"));
    let text = of_file("h0 T1 L1 S1 L3 S2 L4 T4 h12\nh8 T3 L3 S2 L1 S1 L2 T1 h3\n").unwrap().to_string();
    assert!(text.contains("L1 port 3 → S1 port 0 → L3 port 2 → S2 port 2 → L1 port 3"), "{text}");
    assert!(text.contains("line 1: h0 → T1 → L1 → S1 → L3 → S2 → L4 → T4 → h12"), "{text}");
}

#[test]
fn files_of_rules_are_verified_alone_and_together() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, bounces: u8| {
        let options = format!(
            r#"{{"paths": {{"up_down": {{"bounces": {bounces}}}}}, "method": "clos", "classes": 1, "random_order": false,
                "compression": "rectangles", "priorities": 7, "seed": 1, "export": ["json"]}}"#
        );
        let (_, files) = tag(&clos(), &serde_json::from_str(&options).unwrap(), Path::new(".")).unwrap();
        std::fs::write(folder.path().join(name), &files[0].text).unwrap();
    };
    made("old.json", 0);
    made("new.json", 1);
    let found = |json: &str| verify(&clos(), &serde_json::from_str(json).unwrap(), folder.path());
    let both = found(r#"{"files": ["old.json", "new.json"], "classes": 1, "seed": 1}"#).unwrap();
    assert!(both.holds() && both.tags == 2 && both.lossy.is_none() && both.files[0].conditions);
    assert!(both.to_string().contains("none of them cyclic: no deadlock is possible\n"), "{both}");
    let paths = r#"{"files": ["old.json"], "paths": {"up_down": {"bounces": 1}}, "classes": 1, "seed": 1}"#;
    let lossy = found(paths).unwrap();
    assert!(lossy.deadlock_free && !lossy.holds() && lossy.to_string().contains("packets become lossy at"), "{lossy}");
    let refused = |json: &str| found(json).expect_err("accepted").to_string();
    assert!(refused(r#"{"files": ["odl.json"], "classes": 1, "seed": 1}"#).contains("odl.json: No such file"));
    assert!(refused(r#"{"files": ["old.json"], "classes": 8, "seed": 1}"#).contains("--classes: 8; allowed: 1 to 7"));
    assert!(refused(r#"{"files": [], "classes": 1, "seed": 1}"#).contains("at least one is needed"));
    let each = r#"{"files": ["old.json"], "paths": {"random": {"per_pair": 0}}, "classes": 1, "seed": 1}"#;
    assert!(refused(each).contains("--per-pair: 0; allowed: 1 to 1000"));
}

fn of(rest: &str) -> Loaded {
    let (fabric, _) = CLOS.split_once("[[workload]]").unwrap();
    Loaded::from_text("clos.toml", &format!("{fabric}{rest}"), Path::new("."), &[])
        .unwrap_or_else(|found| panic!("{found}"))
}

fn checked(loaded: &Loaded) -> Checked {
    check(loaded, &options("{}"), Path::new(".")).unwrap_or_else(|found| panic!("{found}"))
}

const ONE_FLOW: &str =
    "[[workload]]\nlist = [{ src = 0, dst = 15, size = \"1kB\" }]\n[scheme.A]\ncontrol = \"dcqcn\"\n";

#[test]
fn routes_of_all_times_count() {
    let route = |times: &str| {
        let rest = format!(
            "{ONE_FLOW}[network]\nroute = [{{ at = \"T1\", to = \"h14\", via = [\"L1\"] }}, \
             {{ at = \"L1\", to = \"h14\", via = [\"T1\"]{times} }}]\n"
        );
        checked(&of(&rest)).to_string()
    };
    let later = route(", from = \"5ms\"");
    assert!(later.contains("T1 port 4 → L1 port 0 → T1 port 4"), "{later}");
    assert!(later.contains("from 5ms, to one destination: "), "{later}");
    // Runs refuse routing loops at the start.
    let at_once = route("");
    assert!(at_once.contains("T1 port 4 → L1 port 0 → T1 port 4") && !at_once.contains("from 0"), "{at_once}");
}

#[test]
fn failures_of_the_scenario_count() {
    // Without one link, T1 reaches L1 by a bounce at L2 or a spine; bounces around two failures close a cycle.
    let failed = "failure = [{ link = [\"T1\", \"L1\"], at = \"1ms\" }, { link = [\"T2\", \"L2\"], at = \"1ms\" }]";
    let found = |reroute: &str| checked(&of(&format!("{ONE_FLOW}[network]\n{failed}\n{reroute}")));
    let text = found("").to_string();
    assert!(text.starts_with("priority 3: "), "{text}");
    assert!(found("reroute_after = \"none\"\n").deadlock_free);
    let turns = |found: &Checked| match &found.graphs[0].found {
        Found::Whole(report) => report.dependencies,
        Found::Failed(_) => panic!("nothing was asked to fail"),
    };
    assert!(turns(&found("")) > turns(&found("reroute_after = \"none\"\n")));
}

fn bouncing(more: [&str; 2]) -> String {
    format!(
        r#"[[workload]]
list = [
  {{ src = 0, dst = 12, size = "1MB", path = ["h0", "T1", "L1", "S1", "L3", "S2", "L4", "T4", "h12"]{} }},
  {{ src = 8, dst = 1, size = "1MB", path = ["h8", "T3", "L3", "S2", "L1", "S1", "L2", "T1", "h1"]{} }},
]
"#,
        more[0], more[1]
    )
}

#[test]
fn paths_of_flows_count_in_their_priorities() {
    let plain = "[scheme.A]\ncontrol = \"dcqcn\"\n";
    let text = checked(&of(&format!("{}{plain}", bouncing(["", ""])))).to_string();
    assert!(text.contains("L1 port 3 → S1 port 0 → L3 port 2 → S2 port 2 → L1 port 3"), "{text}");
    assert!(text.contains("flow 0: h0 → T1 → L1 → S1 → L3 → S2 → L4 → T4 → h12"), "{text}");
    // Priorities meet only through ACKs and CNPs.
    let apart = format!("[switch]\nlossless = [3, 4]\n[rdma]\nack_priority = 7\n{plain}");
    let found = checked(&of(&format!("{}{apart}", bouncing(["", ", priority = 4"]))));
    assert!(found.deadlock_free && found.graphs.len() == 2, "{found}");
    assert_eq!(found.graphs.iter().map(|graph| graph.priorities.clone()).collect::<Vec<_>>(), [[3], [4]]);
}

#[test]
fn every_scheme_has_its_priorities_and_tags() {
    let schemes = r#"
[switch]
lossless = [3, 4]
[scheme.PFC]
control = "dcqcn"
[scheme.Tagger]
control = "dcqcn"
switch.tagging = { enabled = true, paths = "up-down", bounces = 1 }
[scheme.Lossy]
control = "dcqcn"
switch.pfc = false
[scheme.Other]
control = "dcqcn"
switch.lossless = [5]
[scheme."PFC again"]
control = "hpcc"
"#;
    let found = checked(&of(&format!("{}{schemes}", bouncing(["", ""]))));
    assert!(!found.deadlock_free);
    let graphs: Vec<_> = found.graphs.iter().map(|graph| (graph.schemes.join("+"), graph.deadlock_free())).collect();
    assert_eq!(graphs, [("PFC+PFC again".into(), false), ("Tagger".into(), true)]);
    let text = found.to_string();
    assert!(text.starts_with("PFC and PFC again, priority 3: "), "{text}");
    assert!(text.contains("\nTagger, priorities 3 and 4 by tags: "), "{text}");
    assert!(text.contains("Lossy: PFC is off (switch.pfc), and full buffers drop packets: no deadlock"), "{text}");
    assert!(
        text.contains("Other: priority 3 lossy, its packets never block others: no deadlock is possible"),
        "{text}"
    );
    // One bounce: packets become lossy at the second.
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(
        (&json["graphs"][1]["priorities"], &json["graphs"][1]["tagged"]),
        (&serde_json::json!([3, 4]), &true.into())
    );
}

#[test]
fn links_are_down_for_other_paths_too() {
    let text = said(r#"{"paths": "shortest", "fail": ["T1-L1"]}"#);
    assert!(text.starts_with("priority 3, T1-L1 down: ") && text.contains("none of them cyclic"), "{text}");
    assert!(refused(r#"{"paths": "shortest", "fail": ["T1-L1"], "detours": 1}"#).contains("omit --paths"));
    let all = said(r#"{"failures": 2, "detours": 1}"#);
    let some = said(r#"{"failures": 2, "detours": 1, "samples": 30}"#);
    assert!(all.contains(" of 120 sets ") && some.contains(" of 30 sets "), "{all}{some}");
}
