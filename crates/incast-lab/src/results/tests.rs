use std::ops::ControlFlow;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use incast_model::fabric::{LinkId, NodeId, PortId};
use incast_model::field::FieldError;
use incast_model::units::Time;
use incast_sim::measure::{Fingerprint, QueueHistogram, QueueSample, RateSample};
use incast_sim::outcome::{
    Counts, CutOff, DeadlockRecord, DropReason, DropRecord, FlowRecord, HypervisorCounts, Ledger, LinkChange,
    LinkRecord, Obstacle, PauseRecord, PortRecord, QueueRef, Stop, Storm, StuckQueue,
};
use incast_sim::{Outcome, Progress, ValidSetup};

use super::manifest::Left;
use super::simulate::Engine;
use super::write::run_with;
use super::*;
use crate::scenario::{Loaded, Prepared};

const SCENARIO: &str = r#"
[fabric.star]
hosts = 5
[[workload]]
label = "burst"
incast = { fan_in = 4, size = "10kB", receiver = 0 }
[[workload]]
list = [{ src = 1, dst = 2, size = 7, start = "3us" }]
[scheme.HPCC]
control = "hpcc"
[scheme."DCQCN+w"]
control = "dcqcn"
window = "rate"
ecn.kmin = "1kB"
"#;

fn prepared() -> Prepared {
    Loaded::from_text("s.toml", SCENARIO, Path::new("."), &[]).unwrap().prepare().unwrap()
}

/// Flow k takes k + 2 times its ideal; the last does not finish.
fn outcome(setup: &ValidSetup) -> Outcome {
    let n = setup.flows.flows.len();
    let flow = |(k, flow): (usize, &incast_model::flow::Flow)| FlowRecord {
        finish: (k + 1 < n).then(|| flow.start + Time::us(k as u64 + 2)),
        start: Some(flow.start),
        acked: flow.size.0,
        packets: 10,
        ideal_hpcc: Time::us(1),
        ideal_exact: Time::ns(500),
        hops: 2,
        ..FlowRecord::default()
    };
    let (port, priority) = (PortId(7), 3);
    let record = PortRecord {
        port,
        priority,
        tx_bytes: 5000,
        tx_packets: 5,
        marks: 1,
        drops: 1,
        lost: 2,
        peak_queue: 3000,
        peak_ingress: 2000,
        xoff_sent: 1,
        xon_sent: 1,
        paused: Time::us(1),
        ..PortRecord::default()
    };
    let pause =
        PauseRecord { port, priority, start: Time::us(1), end: None, ingress_bytes: 9, culprit_port: PortId(5) };
    let drop = DropRecord {
        time: Time::us(2),
        node: NodeId(5),
        reason: DropReason::Buffer,
        ingress: Some(port),
        egress: Some(PortId(5)),
        priority,
        flow: Some(1),
        bytes: 1048,
        lossless: true,
    };
    let stuck = StuckQueue { queue: QueueRef { port, priority: 3 }, since: Time::us(1), bytes: 2000 };
    let mut ledger = Ledger::default();
    (ledger.injected[3], ledger.delivered[3], ledger.dropped[3]) = (100, 90, 10);
    Outcome {
        stop: Stop::Horizon { unfinished: 1 },
        end: Time::ms(1),
        counts: Counts { events: 99, data_hops: 100, ack_hops: 50, drops: 1, lossless_drops: 1, ..Counts::default() },
        ledger,
        flows: setup.flows.flows.iter().enumerate().map(flow).collect(),
        ports: vec![record, PortRecord { priority: 0, ..record }],
        pauses: vec![pause],
        drops: vec![
            drop,
            DropRecord { reason: DropReason::NoRoute, egress: None, ..drop },
            DropRecord { reason: DropReason::LinkDown, ingress: None, flow: None, ..drop },
        ],
        deadlocks: vec![DeadlockRecord {
            cycle: vec![stuck, StuckQueue { since: Time::us(2), ..stuck }],
            closed: Time::us(2),
            seen: Time::us(100),
            ended: None,
            stuck_queues: 3,
            stuck_bytes: 4000,
            stuck_hosts: 1,
        }],
        storms: vec![Storm { port, priority: 3, begin: Time::us(5), end: Some(Time::us(7)) }],
        links: vec![LinkRecord { time: Time::us(4), link: LinkId(2), change: LinkChange::Withdrawn }],
        cut_off: vec![
            CutOff { flow: 4, acks: false, place: Obstacle::Down(port) },
            CutOff { flow: 2, acks: true, place: Obstacle::Held(QueueRef { port, priority }) },
        ],
        queues: vec![QueueSample { time: Time::us(1), port, bytes: 10, tx_bytes: 20 }],
        rates: vec![
            RateSample { time: Time::us(1), flow: 0, rate: 5, window: u64::MAX, acked: 1 },
            RateSample { time: Time::us(2), flow: 0, rate: 6, window: 7, acked: 2 },
        ],
        isolations: Vec::new(),
        waits: Vec::new(),
        pairs: Vec::new(),
        pair_samples: Vec::new(),
        hypervisors: HypervisorCounts::default(),
        histograms: vec![QueueHistogram { port, time_in_bin: vec![5, 0, 6] }],
        fingerprint: Some(Fingerprint { trajectory: 0xab, traffic: u64::MAX }),
    }
}

fn engine(setup: ValidSetup, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<Outcome, FieldError> {
    let mut outcome = outcome(&setup);
    if observe(&Progress { events: 99, ..Progress::default() }).is_break() {
        outcome.stop = Stop::Interrupted { unfinished: 1 };
    }
    Ok(outcome)
}

fn go(_: &RunProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(super) fn written(folder: &Path) -> RunReport {
    run_with(&prepared(), &folder.join("run"), RunOptions::default(), &mut go, &engine).unwrap()
}

fn i64s(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().iter().collect()
}

fn names(batch: &RecordBatch, column: &str) -> Vec<String> {
    let column = batch.column_by_name(column).unwrap().as_any_dictionary();
    let values = column.values().as_string::<i32>();
    column.normalized_keys().into_iter().map(|key| values.value(key).to_owned()).collect()
}

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
    let text = "every flow completed; 4 flows were cancelled at the end of their workload entry";
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
fn equal_runs_give_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let digests: Vec<_> = ["a", "b"]
        .into_iter()
        .zip([1, 2])
        .map(|(name, threads)| {
            let options = RunOptions { threads: Some(threads), ..RunOptions::default() };
            let report = run_with(&prepared(), &folder.path().join(name), options, &mut go, &engine).unwrap();
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
    let cut = "data of flow 4 are cut off: the link from s0 to h2 is down (so are 1 more)";
    assert_eq!(scheme.stop.text, format!("stopped at the horizon; 1 flow is incomplete; {cut}"));
    let held = &scheme.stop.cut_off[1];
    let why = "the link from s0 to h2 is paused by h2 itself for priority 3";
    assert_eq!((scheme.stop.cut_off.len(), held.flow, &*held.what, &*held.why), (2, 2, "acks", why));
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
fn stops_name_who_is_concerned() {
    let prepared = prepared();
    let text = |stop| StopManifest::of(&stop, &prepared.fabric);
    let queue = |port| QueueRef { port: PortId(port), priority: 3 };
    let stop = text(Stop::Deadlock { cycle: vec![queue(6), queue(5)], unfinished: 2 });
    assert_eq!(stop.text, "deadlock: 2 paused queues wait for each other: s0->h1, s0->h0; 2 flows are incomplete");
    assert_eq!((stop.cycle[0].node.as_str(), stop.cycle[0].peer.as_str()), ("s0", "h1"));
    let stop = text(Stop::Stalled { flows: vec![3, 4], unfinished: 2 });
    assert_eq!(stop.text, "stalled: no packet can move; 2 flows are incomplete (first: 3, 4)");
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
        "stalled: no packet can move; 1 flow is incomplete (first: 3); 4 flows had not started; \
         1 flow was cancelled at the end of its workload entry"
    );
    assert_eq!((stop.unfinished, stop.not_started, stop.cancelled), (1, 4, 1));
    assert_eq!(text(Stop::Finished).reason, "finished");
    assert_eq!(text(Stop::Budget { unfinished: 0 }).text, "stopped after simulation.max_events; no flow is incomplete");
}

fn leaves_nothing(progress: &mut dyn FnMut(&RunProgress) -> ControlFlow<()>, engine: &Engine<'_>) -> ResultsError {
    let folder = tempfile::tempdir().unwrap();
    let error = run_with(&prepared(), &folder.path().join("run"), RunOptions::default(), progress, engine).unwrap_err();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    error
}

#[test]
fn failures_leave_nothing() {
    let error = leaves_nothing(&mut |_| ControlFlow::Break(()), &engine);
    assert!(matches!(error, ResultsError::Interrupted) && error.exit_code() == 130);

    let error = leaves_nothing(&mut go, &|setup, _| {
        let mut outcome = outcome(&setup);
        outcome.ledger.delivered[3] -= 1;
        Ok(outcome)
    });
    assert!(
        error.to_string().contains("bytes of priorities [3] are neither delivered, dropped nor in flight"),
        "{error}"
    );

    let error = leaves_nothing(&mut go, &|_, _| panic!("index out of bounds"));
    assert!(error.to_string().contains("the simulator failed: index out of bounds"), "{error}");

    let refuse = |field: &'static str| {
        move |_: ValidSetup, _: &mut dyn FnMut(&Progress) -> ControlFlow<()>| Err(FieldError::new(field, "too small"))
    };
    let error = leaves_nothing(&mut go, &refuse("switch.buffer"));
    assert_eq!(error.to_string(), "error: switch.buffer: too small");
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn setup_errors_are_about_the_scheme_where_it_sets_the_parameter() {
    let mut prepared = prepared();
    prepared.schemes.remove(0);
    let folder = tempfile::tempdir().unwrap();
    let refuse =
        |_: ValidSetup, _: &mut dyn FnMut(&Progress) -> ControlFlow<()>| Err(FieldError::new("ecn.kmin", "no"));
    let error = run_with(&prepared, &folder.path().join("run"), RunOptions::default(), &mut go, &refuse).unwrap_err();
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
    run_with(&prepared(), &folder.path().join("run"), RunOptions::default(), &mut note, &engine).unwrap();
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

#[test]
fn labels_are_columns_of_every_table() {
    let folder = tempfile::tempdir().unwrap();
    let labels = |text: &str| -> Labels { serde_json::from_str(text).unwrap() };
    let run = |labels: Labels| {
        let options = RunOptions { labels, ..RunOptions::default() };
        run_with(&prepared(), &folder.path().join("run"), options, &mut go, &engine)
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
    let error = RunOptions { labels: labels(r#"{"port": 1}"#), ..RunOptions::default() };
    let error = super::run(&prepared(), &folder.path().join("two"), error, &mut go).unwrap_err();
    assert!(error.to_string().contains("`port` cannot be added as a column: table ports has it"), "{error}");
}

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

/// Lossless priorities of a scheme with isolation.
fn isolated(switch: &str, of_scheme: &str) -> Result<Vec<u8>, String> {
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
    assert_eq!(isolated("", "").unwrap(), [2, 3]);
    assert_eq!(isolated("", ", queue = 5").unwrap(), [3, 5]);
    assert_eq!(isolated("lossless = [3, 2]", "").unwrap(), [3, 2]);
    for (switch, of_scheme, said) in [
        ("lossless = [3]", "", "2 is a lossy priority"),
        ("", ", queue = 3", "3 is the only lossless priority"),
        ("pfc = false", "", "there is no PFC here"),
    ] {
        let error = isolated(switch, of_scheme).unwrap_err();
        assert!(error.contains(said), "{error}");
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
