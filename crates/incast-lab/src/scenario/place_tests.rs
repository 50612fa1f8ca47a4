//! Places of errors in overridden tables; names of tables.

use std::path::Path;

use incast_sim::switch::FlowDetection;

use super::{Loaded, without_effect};

const HEAD: &str = r#"
fabric.star = { hosts = 4 }
[[workload]]
list = [{ src = 0, dst = 3, size = "1MB" }, { src = 1, dst = 3, size = "10kB" }]
[scheme.plain]
control = "unlimited"
[scheme.first]
control = "unlimited"
switch.isolation = { enabled = true, queue = 2 }
switch.scheduler.drr = { quanta = [1, 1, 1, 1, 1, 1, 1, 1], strict = [7] }
host.classes.by = "size"
[scheme.second]
control = "dcqcn"
switch.isolation = { enabled = true, queue = 2 }
switch.scheduler = "strict-priority"
host.classes.by = "hash"
"#;

fn said(lines: &str) -> String {
    let loaded = Loaded::from_text("s.toml", &format!("{HEAD}{lines}"), Path::new("."), &[]);
    loaded.and_then(|loaded| loaded.prepare().map(drop)).expect_err("something wrong").to_string()
}

/// The error appears once for all schemes.
fn shown_at(lines: &str, path: &str, wrong: &str) {
    let found = said(lines);
    assert!(found.contains(&format!(" ({path})\n")), "{found}");
    assert_eq!(found.matches("error: ").count(), 1, "{found}");
    let line = 1 + format!("{HEAD}{lines}").lines().position(|line| line.contains(wrong)).expect("a line");
    assert!(found.contains(&format!("s.toml:{line}:")), "{found}\nis not of line {line}");
}

#[test]
fn what_is_given_for_all_is_said_of_that() {
    let switch = "[switch]\nlossless = [2, 3, 4]\n";
    shown_at(&format!("{switch}isolation.table = 0\n"), "switch.isolation.table", "table = 0");
    let marks = "isolation.detection.marks = { kmin = \"2MB\", kmax = \"1MB\" }\n";
    shown_at(&format!("{switch}{marks}"), "switch.isolation.detection.marks.kmin", "2MB");
    shown_at(&format!("{switch}[host]\nclasses.mice = 9\n"), "host.classes.mice", "mice = 9");
    shown_at(&format!("{switch}[host]\nclasses.elephants = 5\n"), "host.classes.elephants", "elephants = 5");
    shown_at("[switch]\nlossless = [2, 3, 4, 8]\n", "switch.lossless[3]", "lossless");
    shown_at(&format!("{switch}[rdma]\ncnp_priority = 9\n"), "rdma.cnp_priority", "cnp_priority");
    shown_at(
        &format!("{switch}[network]\nload_balancing.flowlet.gap = \"0s\"\n"),
        "network.load_balancing.flowlet.gap",
        "gap",
    );
}

#[test]
fn what_a_scheme_gives_is_said_of_the_scheme() {
    let of_scheme =
        "[switch]\nlossless = [2, 3, 4]\nisolation.age = \"1ms\"\n[scheme.third]\ncontrol = \"unlimited\"\n";
    let table = format!("{of_scheme}switch.isolation = {{ enabled = true, table = 0 }}\n");
    shown_at(&table, "scheme.third.switch.isolation.table", "table = 0");
    let mice = format!("{of_scheme}host.classes = {{ by = \"size\", mice = 9 }}\n");
    shown_at(&mice, "scheme.third.host.classes.mice", "mice = 9");
    let lossless = format!("{of_scheme}switch.lossless = [3, 3]\n");
    shown_at(&lossless, "scheme.third.switch.lossless[1]", "[3, 3]");
}

#[test]
fn lists_have_their_length() {
    let quanta = |count: usize| {
        let list = vec!["1"; count].join(", ");
        said(&format!("[switch]\nlossless = [2, 3, 4]\nscheduler.drr.quanta = [{list}]\n"))
    };
    for count in [7, 9, 11] {
        let found = quanta(count);
        assert!(found.contains(&format!("a list of {count} where one of 8 is expected")), "{found}");
        assert!(found.contains("switch.scheduler.drr.quanta") && found.contains("s.toml:"), "{found}");
    }
}

#[test]
fn names_stand_for_tables() {
    let detection = |text: &str| {
        let lines = format!("[switch]\nlossless = [2, 3, 4]\nisolation.detection = {text}\n");
        let loaded = Loaded::from_text("s.toml", &format!("{HEAD}{lines}"), Path::new("."), &[]).unwrap();
        loaded.prepare().unwrap().schemes[1].setup.params.switch.isolation.detection
    };
    assert_eq!(detection("\"counters\""), FlowDetection::COUNTERS);
    assert_eq!(detection("{ counters = {} }"), FlowDetection::COUNTERS);
    assert_eq!(detection("\"marks\""), FlowDetection::default());
    assert_eq!(detection("{ marks = { pmax = 0.2 } }"), FlowDetection::default());
    let FlowDetection::Counters { above, flows } = detection("{ counters = { flows = 2 } }") else { panic!() };
    assert_eq!((above.0, flows), (400_000, 2));
    let found = said("[switch]\nlossless = [2, 3, 4]\nisolation.detection = \"counter\"\n");
    assert!(found.contains("did you mean `counters`?"), "{found}");
    let found = said("[switch]\nscheduler = \"drr\"\n");
    assert!(found.contains("`drr` needs `quanta`: { drr = { quanta = ... } }"), "{found}");
}

#[test]
fn tables_that_schemes_add_to_have_effect() {
    let warnings = |schemes: &str| {
        let text =
            format!("{HEAD}[switch]\nlossless = [2, 3, 4]\nisolation = {{ queue = 2, hold = \"40us\" }}\n{schemes}")
                .replace("[scheme.plain]\ncontrol = \"unlimited\"\n", "");
        let prepared = Loaded::from_text("s.toml", &text, Path::new("."), &[]).unwrap().prepare().unwrap();
        without_effect(&prepared).iter().map(|one| one.field.clone()).collect::<Vec<_>>()
    };
    assert!(!warnings("").contains(&"switch.isolation".to_owned()));
    let own = "[scheme.first.switch.isolation]\nhold = \"1us\"\n";
    assert!(
        !warnings(&own.replace("first", "third").replace("[scheme", "[scheme.third]\ncontrol = \"dcqcn\"\n[scheme"))
            .contains(&"switch.isolation".to_owned())
    );
}
