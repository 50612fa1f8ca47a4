use std::path::Path;

use incast_model::units::{Bytes, Time};
use incast_model::workload::{ListedFlow, WorkloadSpec, generate};
use incast_sim::host::ClassBy;
use incast_sim::switch::SchedulerParams;

use crate::common::{Bench, Cable, check, exact, port, star, within};

/// Bytes per class in 1 ms, all backlogged.
fn shares(scheduler: SchedulerParams, classes: &[(u8, u64)]) -> Vec<f64> {
    let cables = vec![Cable::new(100, 1000); classes.len() + 1];
    let mut bench = Bench::new(star(&cables)).with(|params| {
        params.switch.scheduler = scheduler;
        params.switch.lossless = (1..8).collect();
        params.horizon = Some(Time::ms(1));
    });
    for (index, &(priority, _)) in classes.iter().enumerate() {
        bench = bench.flow_of(priority, index as u32 + 1, 0, 20_000_000, Time::ZERO);
    }
    let outcome = bench.run();
    let link = port(&bench.fabric(), "s0", "h0");
    let sent = |priority| outcome.ports.iter().find(|one| one.port == link && one.priority == priority);
    classes.iter().map(|&(priority, _)| sent(priority).map_or(0.0, |one| one.tx_bytes as f64)).collect()
}

/// `x_i = w_i C / sum w`, whatever the quanta's ratio to the packet.
#[test]
fn d2_deficit_round_robin() {
    for (first, second) in [(1500, 1500), (2000, 1000), (3000, 1000), (500, 250), (9000, 3500)] {
        let mut quanta = [1000; 8];
        (quanta[3], quanta[4]) = (first, second);
        let got = shares(SchedulerParams::Drr { quanta, strict: Vec::new() }, &[(3, 1000), (4, 1000)]);
        let expected = f64::from(first) / f64::from(second);
        within("D2", &format!("DRR quanta {first}:{second}, ratio of bytes"), expected, got[0] / got[1], 0.01);
        within("D2", "DRR is work conserving: bytes in 1 ms", 12_487_000.0, got.iter().sum(), 0.001);
    }
    let quanta = [0, 1000, 2000, 3000, 4000, 5000, 6000, 7000];
    let classes: Vec<(u8, u64)> = (1..8).map(|priority| (priority, 1000)).collect();
    let got = shares(SchedulerParams::Drr { quanta, strict: Vec::new() }, &classes);
    for (index, bytes) in got.iter().enumerate() {
        let weight = (index + 1) as f64 / 28.0;
        within("D2", &format!("DRR share of class {} of 7", index + 1), weight, bytes / got.iter().sum::<f64>(), 0.01);
    }
}

#[test]
fn d2_strict_before_rounds() {
    let mut quanta = [1000; 8];
    (quanta[3], quanta[4]) = (3000, 1000);
    let strict = SchedulerParams::Drr { quanta, strict: vec![5, 6] };
    let got = shares(strict.clone(), &[(3, 1000), (6, 1000), (5, 1000)]);
    for bytes in [got[0], got[2]] {
        check("D2", "packets beside a class before the rounds", "<= 2", bytes / 1048.0, bytes <= 2.0 * 1048.0);
    }
    let got = shares(strict, &[(3, 1000), (4, 1000)]);
    within("D2", "quanta 3:1 with others before the rounds", 3.0, got[0] / got[1], 0.01);
}

#[test]
fn d3_classes_at_hosts() {
    let bytes = |by, flows: &[u64]| {
        let bench = Bench::new(star(&[Cable::new(100, 1000); 2])).with(|params| {
            params.switch.lossless = vec![3, 4];
            params.host.classes.by = by;
        });
        let bench = flows.iter().fold(bench, |bench, &size| bench.flow(0, 1, size, Time::ZERO));
        let outcome = bench.run();
        let link = port(&bench.fabric(), "h0", "s0");
        let of = |prio| {
            outcome.ports.iter().find(|one| one.port == link && one.priority == prio).map_or(0, |one| one.tx_bytes)
        };
        exact("D3", "packets out of order", 0, outcome.flows.iter().map(|flow| flow.discarded).sum::<u32>());
        (of(4), of(3))
    };
    assert_eq!(bytes(ClassBy::Given, &[300_000, 100_000]), (0, 400 * 1048));
    assert_eq!(bytes(ClassBy::Size, &[300_000, 100_000]), (100 * 1048, 300 * 1048));
    assert_eq!(bytes(ClassBy::Sent, &[300_000, 100_000]), (200 * 1048, 200 * 1048));
    let (one, other) = bytes(ClassBy::Hash, &[1000; 400]);
    assert_eq!(one + other, 400 * 1048);
    within("D3", "flows of one of two classes by chance, of half", 1.0, one as f64 / (200.0 * 1048.0), 0.2);
}

#[test]
fn d2_round_robin_and_strict_priority() {
    let got = shares(SchedulerParams::RoundRobin, &[(3, 1000), (4, 1000), (6, 1000)]);
    for bytes in &got {
        within("D2", "round robin: share of one of 3 classes", 1.0 / 3.0, bytes / got.iter().sum::<f64>(), 0.001);
    }
    let got = shares(SchedulerParams::StrictPriority, &[(3, 1000), (4, 1000)]);
    check("D2", "strict priority: packets of the lower class", "<= 2", got[0] / 1048.0, got[0] <= 2.0 * 1048.0);
}

/// Packets of classes 3 and 4; the host also acknowledges a class-3 flow at line rate.
fn shares_of_host(scheduler: SchedulerParams) -> [f64; 2] {
    let cable = Cable::new(100, 1000);
    let bench = Bench::new(star(&[cable, Cable::new(400, 1000), cable])).with(|params| {
        params.switch.scheduler = scheduler;
        params.switch.lossless = vec![3, 4];
        params.horizon = Some(Time::ms(1));
    });
    let bench = [3, 4].into_iter().fold(bench, |bench, class| {
        bench.flow_of(class, 0, 1, 20_000_000, Time::ZERO).flow_of(class, 0, 1, 20_000_000, Time::ZERO)
    });
    let outcome = bench.flow_of(3, 2, 0, 20_000_000, Time::ZERO).run();
    [0, 1].map(|class| (outcome.flows[2 * class].packets + outcome.flows[2 * class + 1].packets) as f64)
}

#[test]
fn d2_classes_of_a_host() {
    let mut quanta = [1000; 8];
    quanta[3] = 2000;
    for (what, scheduler, expected) in [
        ("round robin", SchedulerParams::RoundRobin, 1.0),
        ("DRR 2:1", SchedulerParams::Drr { quanta, strict: Vec::new() }, 2.0),
    ] {
        let [first, second] = shares_of_host(scheduler);
        within("D2", &format!("host under {what}, ratio of packets"), expected, first / second, 0.01);
    }
    let [first, second] = shares_of_host(SchedulerParams::StrictPriority);
    check("D2", "host under strict priority, packets of the lower class", "<= 1", first, first <= 1.0 && second > 1e4);
}

#[test]
fn d2_a_list_of_several_priorities() {
    let cable = Cable::new(100, 1000);
    let listed = |priority| ListedFlow {
        src: 0,
        dst: 1,
        size: Bytes(1_000_000).into(),
        start: Time::ZERO,
        priority,
        path: None,
        name: None,
        after: vec![],
        delay: None,
    };
    let list = Some(vec![listed(None), listed(Some(4)), listed(Some(6))]);
    let spec = WorkloadSpec { priority: 3, list, ..WorkloadSpec::default() };
    let bench = Bench::new(star(&[cable; 2]));
    let set = generate(&[spec], &bench.fabric(), Path::new("."), 1, None).unwrap();
    let bench = set
        .flows
        .iter()
        .fold(bench, |bench, flow| bench.flow_of(flow.priority, flow.src.0, flow.dst.0, flow.size.0, flow.start));
    let strict = bench.with(|params| {
        params.switch.scheduler = SchedulerParams::StrictPriority;
        params.switch.lossless = (1..8).collect();
    });
    let outcome = strict.run();
    let ends: Vec<Time> = outcome.flows.iter().map(|flow| flow.finish.unwrap()).collect();
    // Own and higher priorities' bytes, and one packet of each lower class.
    let alone = outcome.flows[2].ideal_exact;
    let wire = Time(1000 * 1048 * 80);
    for (place, end) in [ends[2], ends[1], ends[0]].into_iter().enumerate() {
        let late = (end - alone - wire * place as u64).0 as f64 / 83_840.0;
        check(
            "D2",
            &format!("flow {} of a list, packets late", place + 1),
            "0 to 2",
            late,
            (0.0..=2.0).contains(&late),
        );
    }
}
