mod isolation;
mod runs;
mod tables;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use incast_model::fabric::{LinkId, NodeId, PortId};
use incast_model::field::FieldError;
use incast_model::units::Time;
use incast_sim::measure::{Fingerprint, QueueHistogram, QueueSample, RateSample};
use incast_sim::outcome::{
    Counts, CutOff, DeadlockRecord, DropReason, DropRecord, FlowRecord, HypervisorCounts, Ledger, LinkChange,
    LinkRecord, Obstacle, PauseRecord, PortRecord, QueueRef, Stop, Storm, StuckQueue, Threads,
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
    let pause = PauseRecord {
        port,
        priority,
        start: Time::us(1),
        end: None,
        ingress_bytes: 9,
        culprit: QueueRef { port: PortId(5), priority: 4 },
    };
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
        acked_by_end: Vec::new(),
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
        threads: Threads { count: 1, others_cpu: Duration::ZERO, sequential: 0 },
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
    run_with(&prepared(), &folder.join("run"), RunOptions::default(), &mut go, engine).unwrap()
}

fn i64s(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().iter().collect()
}

fn names(batch: &RecordBatch, column: &str) -> Vec<String> {
    let column = batch.column_by_name(column).unwrap().as_any_dictionary();
    let values = column.values().as_string::<i32>();
    column.normalized_keys().into_iter().map(|key| values.value(key).to_owned()).collect()
}
