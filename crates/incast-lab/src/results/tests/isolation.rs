use super::*;

#[test]
fn isolations_and_waits_are_in_the_tables() {
    let text = r#"
[fabric.star]
hosts = 4
[switch]
lossless = [2, 3, 4]
pfc_mode.static.xoff = "100kB"
isolation = { detection.marks = { kmin = "20kB", kmax = "60kB", pmax = 0.2 } }
[host]
classes.by = "size"
[[workload]]
list = [{ src = 0, dst = 3, size = "1MB" }, { src = 1, dst = 3, size = "1MB" }, { src = 2, dst = 3, size = "10kB" }]
[scheme.plain]
control = "unlimited"
[scheme.isolated]
control = "unlimited"
switch.isolation.enabled = true
[measure]
blocking = true
"#;
    let folder = tempfile::tempdir().unwrap();
    let prepared = Loaded::from_text("s.toml", text, Path::new("."), &[]).unwrap().prepare().unwrap();
    let report = run(&prepared, &folder.path().join("run"), RunOptions::default(), &mut go).unwrap();
    let table = |name| read_table(&folder.path().join("run"), name).unwrap();
    let (flows, isolations, waits) = (table("flows"), table("isolations"), table("waits"));
    let priorities: Vec<u8> =
        flows.column_by_name("priority").unwrap().as_primitive::<arrow_array::types::UInt8Type>().values().to_vec();
    assert_eq!(priorities, [3, 3, 4, 3, 3, 4]);
    assert!(isolations.num_rows() >= 2, "{}", isolations.num_rows());
    assert_eq!(names(&isolations, "scheme")[0], "isolated");
    assert_eq!(
        (names(&isolations, "reason")[0].as_str(), names(&isolations, "peer_name")[0].as_str()),
        ("marks", "h3")
    );
    assert!(i64s(&isolations, "bytes").iter().all(|bytes| bytes.unwrap() > 0));
    // Queue that others share and nobody paused.
    let found = |name: &str| i64s(&isolations, name)[0];
    assert!(found("flow_bytes") < found("queue_bytes") && found("queue_bytes") > Some(20_000));
    assert_eq!(found("pause_ago_ps"), None);
    assert!(isolations.column_by_name("root_on_path").unwrap().is_null(0));
    assert!(isolations.column_by_name("queue_flows").unwrap().is_valid(0));
    assert_eq!(waits.num_rows(), 6);
    assert!(i64s(&waits, "host_blocked_ps").iter().any(|blocked| *blocked > Some(0)));
    assert!(i64s(&waits, "host_victim_ps").iter().all(|waited| *waited == Some(0)));
    assert!(i64s(&waits, "waited_ps").iter().all(|waited| waited.unwrap() > 0));
    assert!(i64s(&waits, "victim_ps").iter().all(|waited| *waited == Some(0)));
    assert_eq!(report.manifest.tables["waits"].rows, 6);
    for name in ["isolations", "waits"] {
        let folder = tempfile::tempdir().unwrap();
        written(folder.path());
        assert!(read_table(&folder.path().join("run"), name).is_err());
    }
}

#[test]
fn bad_isolation_is_located() {
    let text = |isolation: &str| {
        format!(
            "[fabric.star]\nhosts = 3\n[switch]\nlossless = [2, 3]\nisolation = {{ enabled = true, {isolation} }}\n\
             [[workload]]\nlist = [{{ src = 0, dst = 1, size = 1 }}]\n[scheme.A]\ncontrol = \"hpcc\"\n"
        )
    };
    for (given, path, said) in [
        ("queue = 9", "switch.isolation.queue", "`9` is out of range"),
        ("queue = 4", "switch.isolation.queue", "4 is a lossy priority"),
        ("table = 0", "switch.isolation.table", "`0` is out of range"),
        (
            "release_below = \"200kB\"",
            "switch.isolation.release_below",
            "must be at most 100kB, where isolation starts, got 200kB",
        ),
        (
            "detection.marks = { kmin = \"3kB\", kmax = \"2kB\", pmax = 1 }, release_below = 0",
            "switch.isolation.detection.marks.kmin",
            "kmin 3kB is above kmax 2kB",
        ),
    ] {
        let loaded = Loaded::from_text("s.toml", &text(given), Path::new("."), &[]);
        let error = loaded.and_then(|loaded| loaded.prepare()).unwrap_err().to_string();
        assert!(error.contains(path) && error.contains(said) && error.contains("s.toml:5"), "{error}");
    }
}

fn lossless_with_isolation(switch: &str, of_scheme: &str) -> Result<Vec<u8>, String> {
    let text = format!(
        "[fabric.star]\nhosts = 3\n[switch]\n{switch}\n[[workload]]\nlist = [{{ src = 0, dst = 1, size = 1 }}]\n\
         [scheme.A]\ncontrol = \"hpcc\"\nswitch.isolation = {{ enabled = true{of_scheme} }}\n"
    );
    let prepared = Loaded::from_text("s.toml", &text, Path::new("."), &[]).and_then(|loaded| loaded.prepare());
    let prepared = prepared.map_err(|error| error.to_string())?;
    let again = Loaded::from_text("s.toml", &prepared.scenario.to_toml(), Path::new("."), &[]).unwrap();
    let params = |prepared: &Prepared| prepared.schemes[0].setup.params.clone();
    assert_eq!(params(&again.prepare().unwrap()), params(&prepared));
    Ok(params(&prepared).switch.lossless)
}

#[test]
fn isolation_makes_its_queue_lossless_by_default() {
    assert_eq!(lossless_with_isolation("", "").unwrap(), [2, 3]);
    assert_eq!(lossless_with_isolation("", ", queue = 5").unwrap(), [3, 5]);
    assert_eq!(lossless_with_isolation("lossless = [3, 2]", "").unwrap(), [3, 2]);
    for (switch, of_scheme, said) in [
        ("lossless = [3]", "", "2 is a lossy priority"),
        ("", ", queue = 3", "3 is the only lossless priority"),
        ("pfc = false", "", "there is no PFC here"),
    ] {
        let error = lossless_with_isolation(switch, of_scheme).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}
