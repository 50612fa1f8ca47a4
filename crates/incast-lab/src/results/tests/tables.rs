use super::*;

#[test]
fn every_table_reads_back_as_specified() {
    let folder = tempfile::tempdir().unwrap();
    let report = written(folder.path());
    let results = Results::open(&folder.path().join("run")).unwrap();
    assert_eq!(results.verify(), []);
    assert_eq!(*results.manifest(), report.manifest);
    let rows: Vec<(&str, usize)> = TABLES
        .iter()
        .filter(|table| table.condition == Condition::Always)
        .map(|table| {
            let batch = read_table(results.folder(), table.name).unwrap();
            for (read, specified) in batch.schema().fields().iter().zip(table.schema().fields()) {
                assert_eq!((read.name(), read.data_type()), (specified.name(), specified.data_type()));
                assert_eq!((read.is_nullable(), read.metadata()), (specified.is_nullable(), specified.metadata()));
            }
            assert_eq!(batch.num_columns(), table.columns().len());
            assert_eq!(report.manifest.tables[table.name].rows, batch.num_rows() as u64);
            (table.name, batch.num_rows())
        })
        .collect();
    let expected = [
        ("flows", 10),
        ("messages", 0),
        ("ports", 4),
        ("pauses", 2),
        ("deadlocks", 4),
        ("storms", 2),
        ("drops", 6),
        ("links", 2),
        ("queues", 2),
        ("rates", 4),
        ("histograms", 4),
    ];
    assert_eq!(rows, expected);
    let field = results.table("flows").unwrap().schema();
    let field = field.field_with_name("fct_ps").unwrap().clone();
    assert_eq!(field.metadata()["unit"], "ps");
    assert!(field.metadata()["description"].starts_with("flow completion time"));
}

#[test]
fn values_are_the_records() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let table = |name| read_table(&folder.path().join("run"), name).unwrap();
    let flows = table("flows");
    assert_eq!(names(&flows, "scheme")[4..6], ["HPCC", "DCQCN+w"]);
    assert_eq!(names(&flows, "label")[3..5], ["burst", "list"]);
    assert_eq!(names(&flows, "dst_name")[..2], ["h0", "h0"]);
    assert_eq!(i64s(&flows, "fct_ps")[..5], [Some(2_000_000), Some(3_000_000), Some(4_000_000), Some(5_000_000), None]);
    assert_eq!(i64s(&flows, "finish_ps")[4], None);
    let slowdown = flows.column_by_name("slowdown_exact").unwrap().as_primitive::<Float64Type>();
    assert_eq!((slowdown.value(0), slowdown.is_null(4)), (4.0, true));
    let ports = table("ports");
    assert_eq!((names(&ports, "node_name")[0].as_str(), names(&ports, "peer_name")[0].as_str()), ("s0", "h2"));
    assert_eq!(i64s(&ports, "rate_bps")[0], Some(100_000_000_000));
    assert_eq!(i64s(&table("pauses"), "end_ps")[0], None);
    assert_eq!(names(&table("pauses"), "culprit_peer_name")[0], "h0");
    let priorities = |column| table("pauses").column_by_name(column).unwrap().as_primitive::<UInt8Type>().value(0);
    assert_eq!((priorities("priority"), priorities("culprit_priority")), (3, 4));
    let deadlocks = table("deadlocks");
    assert_eq!(i64s(&deadlocks, "paused_ps")[..2], [Some(1_000_000), Some(2_000_000)]);
    assert_eq!((i64s(&deadlocks, "closed_ps")[1], i64s(&deadlocks, "ended_ps")[1]), (Some(2_000_000), None));
    assert_eq!(names(&deadlocks, "peer_name")[0], "h2");
    assert_eq!(i64s(&table("storms"), "end_ps")[0], Some(7_000_000));
    let drops = table("drops");
    assert_eq!(names(&drops, "reason")[..3], ["buffer", "no-route", "link-down"]);
    let missing =
        |column: &str| (0..3).map(|row| drops.column_by_name(column).unwrap().is_null(row)).collect::<Vec<_>>();
    assert_eq!(missing("ingress_port"), [false, false, true]);
    assert_eq!((missing("egress_port"), missing("flow")), (vec![false, true, false], vec![false, false, true]));
    let links = table("links");
    assert_eq!((names(&links, "a_name")[0].as_str(), names(&links, "b_name")[0].as_str()), ("h2", "s0"));
    assert_eq!((names(&links, "change")[0].as_str(), i64s(&links, "time_ps")[0]), ("withdrawn", Some(4_000_000)));
    assert_eq!(i64s(&table("rates"), "window_bytes")[..2], [None, Some(7)]);
    let histograms = table("histograms");
    assert_eq!(i64s(&histograms, "queue_from_bytes")[..2], [Some(0), Some(2000)]);
    assert_eq!(i64s(&histograms, "time_ps")[..2], [Some(5), Some(6)]);
}

#[test]
fn messages_and_gates_are_in_the_tables() {
    let text = r#"
[fabric.star]
hosts = 3
[[workload]]
qps = 2
list = [{ src = 0, dst = 1, size = "5kB", name = "a" }, { src = 1, dst = 2, size = "3kB", after = ["a"], name = "b" },
        { src = 2, dst = 0, size = 1, after = ["b"], delay = "1ms" }]
[scheme.HPCC]
control = "hpcc"
[simulation]
horizon = "1ms"
"#;
    let folder = tempfile::tempdir().unwrap();
    let prepared = Loaded::from_text("s.toml", text, Path::new("."), &[]).unwrap().prepare().unwrap();
    let report = run(&prepared, &folder.path().join("run"), RunOptions::default(), &mut go).unwrap();
    let table = |name| read_table(&folder.path().join("run"), name).unwrap();
    let u32s = |batch: &RecordBatch, column: &str| -> Vec<Option<u32>> {
        batch.column_by_name(column).unwrap().as_primitive::<UInt32Type>().iter().collect()
    };
    let (flows, messages) = (table("flows"), table("messages"));
    assert_eq!(u32s(&flows, "message"), [0, 0, 1, 1, 2].map(Some));
    assert_eq!(u32s(&flows, "dependency"), [None, None, Some(0), Some(0), Some(1)]);
    assert_eq!(i64s(&flows, "size_bytes"), [2500, 2500, 1500, 1500, 1].map(Some));
    let (start, delivered, finish) =
        (i64s(&flows, "start_ps"), i64s(&flows, "delivered_ps"), i64s(&flows, "finish_ps"));
    assert!(delivered.iter().zip(&finish).take(4).all(|(delivered, finish)| delivered.unwrap() < finish.unwrap()));
    assert_eq!((start[0], start[1], start[4], delivered[4], finish[4]), (Some(0), Some(0), None, None, None));
    // Unstarted flows are neither incomplete nor missing slowdowns.
    let completed = vec!["completed"; 4];
    assert_eq!(names(&flows, "status"), [completed, vec!["not-started"]].concat());
    let stop = &report.manifest.schemes["HPCC"].stop;
    assert_eq!((stop.unfinished, stop.not_started, stop.cancelled), (0, 1, 0));
    assert_eq!(stop.text, "stopped at the horizon; 1 flow had not started");
    let results = Results::open(&folder.path().join("run")).unwrap();
    let slowdowns = slowdown_bins(&Finished::of_results(&results, Ideal::Exact).unwrap(), &SlowdownOptions::default());
    assert_eq!((slowdowns.unfinished[0], slowdowns.overall[0].flows), (0, 4));
    let last = |of: &[Option<i64>]| of.iter().copied().max().unwrap();
    assert_eq!([start[2], start[3]], [last(&delivered[..2]); 2], "both parts wait for both");
    assert_eq!(u32s(&messages, "first_flow"), [0, 2, 4].map(Some));
    assert_eq!(u32s(&messages, "flows"), [2, 2, 1].map(Some));
    assert_eq!(i64s(&messages, "size_bytes"), [5000, 3000, 1].map(Some));
    assert_eq!(i64s(&messages, "start_ps"), [start[0], start[2], None]);
    assert_eq!(i64s(&messages, "delivered_ps"), [start[2], last(&delivered[2..4]), None]);
    assert_eq!(i64s(&messages, "finish_ps"), [last(&finish[..2]), last(&finish[2..4]), None]);
    let fct = |range: std::ops::Range<usize>| Some(last(&finish[range.clone()])? - start[range.start]?);
    assert_eq!(i64s(&messages, "fct_ps"), [fct(0..2), fct(2..4), None]);
    // Alone, a message takes about its ideal time, which is that of both parts: they have a header more.
    let ideal = i64s(&flows, "ideal_exact_ps");
    let slowdown = fct(0..2).unwrap() as f64 / ideal[1].unwrap() as f64;
    assert!(ideal[0] == ideal[1] && (1.0..1.05).contains(&slowdown), "{slowdown}");
}

#[test]
fn cancelled_flows_are_in_the_results() {
    let text = r#"
[fabric.star]
hosts = 2
[[workload]]
end = "15us"
request_response = { request = "1kB", response = "1kB", requests = 4, think = { fixed = "5us" }, clients = { hosts = "0" } }
[scheme.HPCC]
control = "hpcc"
"#;
    let folder = tempfile::tempdir().unwrap();
    let prepared = Loaded::from_text("s.toml", text, Path::new("."), &[]).unwrap().prepare().unwrap();
    let manifest = run(&prepared, &folder.path().join("run"), RunOptions::default(), &mut go).unwrap().manifest;
    let flows = read_table(&folder.path().join("run"), "flows").unwrap();
    let starts = i64s(&flows, "start_ps");
    assert_eq!(starts.iter().filter(|start| start.is_some()).count(), 4);
    let status = |start: &Option<i64>| if start.is_some() { "completed" } else { "cancelled" };
    assert_eq!(names(&flows, "status"), starts.iter().map(status).collect::<Vec<_>>());
    let scheme = &manifest.schemes["HPCC"];
    let text = "every flow ended; 4 flows were cancelled at the end of their workload entry";
    assert_eq!((scheme.stop.text.as_str(), scheme.stop.reason.as_str()), (text, "finished"));
    assert_eq!((scheme.stop.cancelled, scheme.stop.unfinished, scheme.completed), (4, 0, 4));
    let results = Results::open(&folder.path().join("run")).unwrap();
    let table = slowdown_bins(&Finished::of_results(&results, Ideal::Exact).unwrap(), &SlowdownOptions::default());
    assert_eq!((table.unfinished[0], table.overall[0].flows), (0, 4));
    let runs = simulate(&prepared, None, &mut |_| ControlFlow::Continue(())).unwrap();
    let of_runs = Finished::of_runs(&prepared.flows, &runs, Ideal::Exact);
    assert_eq!(slowdown_bins(&of_runs, &SlowdownOptions::default()), table);
}

#[test]
fn rdma_and_other_transports_have_one_ideal_time() {
    let rdma = "[scheme.RDMA]\ncontrol = \"dcqcn\"\n";
    let differ = |schemes: &str| {
        let text = format!(
            "[fabric.star]\nhosts = 3\n[[workload]]\nincast = {{ fan_in = 2, size = \"200B\", receiver = 2 }}\n{schemes}"
        );
        let prepared = Loaded::from_text("s.toml", &text, Path::new("."), &[]).unwrap().prepare().unwrap();
        let runs = simulate(&prepared, None, &mut |_| ControlFlow::Continue(())).unwrap();
        runs.iter().flat_map(|run| &run.outcome.flows).any(|flow| flow.ideal_hpcc != flow.ideal_exact)
    };
    assert!(differ(rdma));
    assert!(!differ(&format!("{rdma}[scheme.pFabric]\ntransport = \"pfabric\"\n")));
    assert!(!differ(&format!("{rdma}[measure]\nideal = \"exact\"\n")));
}

#[test]
fn labels_are_columns_of_every_table() {
    let folder = tempfile::tempdir().unwrap();
    let labels = |text: &str| -> Labels { serde_json::from_str(text).unwrap() };
    let run = |labels: Labels| {
        let options = RunOptions { labels, ..RunOptions::default() };
        run_with(&prepared(), &folder.path().join("run"), options, &mut go, engine)
    };
    let report = run(labels(r#"{"sizes": "websearch", "load": 0.3, "n": 3, "on": true}"#)).unwrap();
    assert_eq!(report.manifest.labels.0.len(), 4);
    for table in TABLES.iter().filter(|table| table.condition == Condition::Always) {
        let rows = read_table(&folder.path().join("run"), table.name).unwrap();
        assert_eq!(rows.num_columns(), table.columns().len() + 4, "{}", table.name);
        // An empty column has no dictionary.
        let sizes = if rows.num_rows() > 0 { names(&rows, "sizes") } else { Vec::new() };
        assert!(sizes.iter().all(|name| name == "websearch"));
        assert!(rows.column_by_name("load").unwrap().as_primitive::<Float64Type>().values().iter().all(|x| *x == 0.3));
        assert!(i64s(&rows, "n").iter().all(|n| *n == Some(3)));
        assert_eq!(rows.column_by_name("on").unwrap().as_boolean().true_count(), rows.num_rows());
    }
    assert_eq!(Results::open(&folder.path().join("run")).unwrap().manifest().labels, report.manifest.labels);
    for (given, why) in [
        (r#"{"port": 1}"#, "`port` cannot be added as a column: table ports has it"),
        (r#"{"Scheme": 1}"#, "`Scheme` cannot be added as a column: table "),
        (r#"{"load": 1, "LOAD": 2}"#, "`LOAD` cannot be added as a column: `load` is one"),
        (r#"{"": 1}"#, "`` cannot be added as a column: it is blank"),
    ] {
        let error = RunOptions { labels: labels(given), ..RunOptions::default() };
        let error = super::run(&prepared(), &folder.path().join("two"), error, &mut go).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn columns_of_names_list_all() {
    let described = |table: &str, name: &str| {
        let columns = TableSpec::named(table).unwrap().columns();
        columns.into_iter().find(|column| column.name == name).unwrap().description
    };
    assert!(described("drops", "reason").starts_with("buffer (no buffer space), link-down (link down), "));
    assert!(described("links", "change").ends_with("restored (routes use it)"));
}
