use super::*;

#[test]
fn equal_runs_give_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let digests: Vec<_> = ["a", "b"]
        .into_iter()
        .zip([1, 2])
        .map(|(name, threads)| {
            let options = RunOptions { threads: Some(threads), ..RunOptions::default() };
            let report = run_with(&prepared(), &folder.path().join(name), options, &mut go, engine).unwrap();
            (report.manifest.tables, report.manifest.scenario_sha256)
        })
        .collect();
    assert_eq!(digests[0], digests[1]);
    let read = |run: &str, file: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
    for table in TABLES.iter().filter(|table| table.condition == Condition::Always) {
        assert_eq!(read("a", &table.file()), read("b", &table.file()), "{}", table.name);
    }
}

#[test]
fn the_manifest_says_what_happened() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = written(folder.path()).manifest;
    assert_eq!((manifest.flows, manifest.flow_bytes, manifest.seed), (5, 40_007, 1));
    assert_eq!((manifest.fabric.hosts, manifest.fabric.switches, manifest.fabric.links), (5, 1, 5));
    let scheme = &manifest.schemes["DCQCN+w"];
    assert_eq!((scheme.completed, scheme.lossless_drops, &scheme.controls[..]), (4, 1, &["dcqcn".to_owned()][..]));
    assert_eq!((scheme.stop.reason.as_str(), scheme.stop.unfinished), ("horizon", 1));
    let cut = "data of flow 4 are cut off: the link from s0 to h2 is down; so are data or ACKs of 1 more flow";
    assert_eq!(scheme.stop.text, format!("stopped at the horizon; 1 flow is incomplete; {cut}"));
    let held = &scheme.stop.cut_off[1];
    let why = "the link from s0 to h2 is paused by h2 itself for priority 3";
    assert_eq!((scheme.stop.cut_off.len(), held.flow, &*held.what, &*held.why), (2, 2, "ACKs", why));
    assert_eq!(scheme.counts["data_hops"], 100);
    assert_eq!(scheme.ledger["injected"][3], 100);
    let fingerprint = scheme.fingerprint.as_ref().unwrap();
    assert_eq!((&*fingerprint.trajectory, &*fingerprint.traffic), ("00000000000000ab", "ffffffffffffffff"));
    let results = Results::open(&folder.path().join("run")).unwrap();
    let again = results.scenario().unwrap();
    assert_eq!(again.scenario().to_toml(), prepared().scenario.to_toml());
    assert_eq!(again.prepare().unwrap().flows, prepared().flows);
}

#[test]
fn a_manifest_names_no_file_outside() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let file = folder.path().join("run/manifest.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"flows\": {\n      \"rows\"", "\"../flows\": {\n      \"rows\"", 1)).unwrap();
    let error = Results::open_unchecked(&folder.path().join("run")).unwrap_err().to_string();
    assert!(error.contains("it has an unknown table, `../flows`"), "{error}");
}

#[test]
fn stops_name_who_is_concerned() {
    let prepared = prepared();
    let text = |stop| StopManifest::of(&stop, &prepared.fabric);
    let queue = |port| QueueRef { port: PortId(port), priority: 3 };
    let stop = text(Stop::Deadlock { cycle: vec![queue(6), queue(5)], unfinished: 2 });
    assert_eq!(stop.text, "deadlock: 2 paused queues wait for each other: s0 to h1, s0 to h0; 2 flows are incomplete");
    assert_eq!((stop.cycle[0].node.as_str(), stop.cycle[0].peer.as_str()), ("s0", "h1"));
    let stop = text(Stop::Stalled { flows: vec![3, 4], unfinished: 2 });
    assert_eq!(stop.text, "stalled: no flow can go on; 2 flows are incomplete (first: 3, 4)");
    let with = |stop, left| StopManifest::with(&stop, left, &prepared.fabric);
    let stop = with(Stop::Horizon { unfinished: 5 }, Left { backlogged: 3, ..Left::default() });
    assert_eq!(stop.text, "stopped at the horizon; 2 flows are incomplete; 3 flows were backlogged until then");
    assert_eq!(stop.unfinished, 2);
    assert_eq!(
        with(Stop::Horizon { unfinished: 1 }, Left { backlogged: 1, ..Left::default() }).text,
        "stopped at the horizon; 1 flow was backlogged until then"
    );
    let waiting = Left { not_started: 4, cancelled: 1, ..Left::default() };
    let stop = with(Stop::Stalled { flows: vec![3], unfinished: 5 }, waiting);
    assert_eq!(
        stop.text,
        "stalled: no flow can go on; 1 flow is incomplete (first: 3); 4 flows had not started; \
         1 flow was cancelled at the end of its workload entry"
    );
    assert_eq!((stop.unfinished, stop.not_started, stop.cancelled), (1, 4, 1));
    assert_eq!(text(Stop::Finished).reason, "finished");
    assert_eq!(text(Stop::Budget { unfinished: 0 }).text, "stopped after simulation.max_events; no flow is incomplete");
}

fn leaves_nothing(progress: &mut dyn FnMut(&RunProgress) -> ControlFlow<()>, engine: impl Engine) -> ResultsError {
    let folder = tempfile::tempdir().unwrap();
    let error = run_with(&prepared(), &folder.path().join("run"), RunOptions::default(), progress, engine).unwrap_err();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    error
}

#[test]
fn failures_leave_nothing() {
    let error = leaves_nothing(&mut |_| ControlFlow::Break(()), engine);
    assert!(matches!(error, ResultsError::Interrupted) && error.exit_code() == 130);

    let error = leaves_nothing(&mut go, |setup, _| {
        let mut outcome = outcome(&setup);
        outcome.ledger.delivered[3] -= 1;
        Ok(outcome)
    });
    assert!(
        error.to_string().contains("bytes of priorities [3] are neither delivered, dropped nor in flight"),
        "{error}"
    );

    let error = leaves_nothing(&mut go, |_, _| panic!("index out of bounds"));
    assert!(error.to_string().contains("the simulator failed: index out of bounds"), "{error}");

    let refuse = |field: &'static str| {
        move |_: ValidSetup, _: &mut dyn FnMut(&Progress) -> ControlFlow<()>| Err(FieldError::new(field, "too small"))
    };
    let error = leaves_nothing(&mut go, refuse("switch.buffer"));
    assert_eq!(error.to_string(), "error: switch.buffer: too small");
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn a_stop_does_not_wait_for_threads_that_do_not_notice() {
    let (ends, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let error = leaves_nothing(&mut |_| ControlFlow::Break(()), move |setup, _| {
        // A long set-up, which observes nothing.
        let _ = wait.lock().unwrap().recv();
        Ok(outcome(&setup))
    });
    assert!(matches!(error, ResultsError::Interrupted));
    drop(ends);
}

#[test]
fn setup_errors_are_about_the_scheme_where_it_sets_the_parameter() {
    let mut prepared = prepared();
    prepared.schemes.remove(0);
    let folder = tempfile::tempdir().unwrap();
    let refuse =
        |_: ValidSetup, _: &mut dyn FnMut(&Progress) -> ControlFlow<()>| Err(FieldError::new("ecn.kmin", "no"));
    let error = run_with(&prepared, &folder.path().join("run"), RunOptions::default(), &mut go, refuse).unwrap_err();
    assert_eq!(error.to_string(), "error: scheme.DCQCN+w.ecn.kmin: no");
}

#[test]
fn progress_is_seen() {
    let mut seen = Vec::new();
    let mut note = |progress: &RunProgress| {
        seen = progress.schemes.iter().map(|s| (s.name.clone(), s.state, s.progress.events)).collect();
        ControlFlow::Continue(())
    };
    let folder = tempfile::tempdir().unwrap();
    run_with(&prepared(), &folder.path().join("run"), RunOptions::default(), &mut note, engine).unwrap();
    assert_eq!(seen, [("HPCC".into(), SchemeState::Done, 99), ("DCQCN+w".into(), SchemeState::Done, 99)]);
}

#[test]
fn slowdowns_are_those_of_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let report = written(folder.path());
    let results = Results::open(&folder.path().join("run")).unwrap();
    for ideal in [Ideal::Hpcc, Ideal::Exact] {
        let stored = Finished::of_results(&results, ideal).unwrap();
        let memory = Finished::of_runs(&prepared().flows, &report.runs, ideal);
        let options = SlowdownOptions { ideal, bins: 2, ..SlowdownOptions::default() };
        assert_eq!(slowdown_bins(&stored, &options), slowdown_bins(&memory, &options));
    }
    let table = slowdown_bins(&Finished::of_results(&results, Ideal::Hpcc).unwrap(), &SlowdownOptions::default());
    assert_eq!(table.unfinished, [1, 1]);
    let all = &table.overall[1];
    assert_eq!((all.scheme.as_str(), all.flows, all.p50, all.p99, all.mean), ("DCQCN+w", 4, 4.0, 5.0, 3.5));
    assert_eq!(table.by_label["burst"].len(), 2);
    assert!(table.by_label["list"].is_empty());
    let options = SlowdownOptions { labels: vec!["list".into()], ..SlowdownOptions::default() };
    let table = slowdown_bins(&Finished::of_results(&results, Ideal::Hpcc).unwrap(), &options);
    assert_eq!((table.overall.len(), table.unfinished), (0, vec![1, 1]));
}

#[test]
fn slowdown_tables_read_well() {
    let folder = tempfile::tempdir().unwrap();
    let report = written(folder.path());
    let flows = Finished::of_runs(&prepared().flows, &report.runs, Ideal::Hpcc);
    let options = SlowdownOptions { bins: 2, drop_largest: true, ..SlowdownOptions::default() };
    insta::assert_snapshot!(slowdown_bins(&flows, &options).to_string(), @r"
    slowdown             flows                   HPCC                DCQCN+w
                                    p50    p95    p99      p50    p95    p99
    label burst              3     3.00   4.00   4.00     3.00   4.00   4.00
    all                      3     3.00   4.00   4.00     3.00   4.00   4.00
    HPCC: unfinished and not counted: 1
    DCQCN+w: unfinished and not counted: 1
    ");
}
