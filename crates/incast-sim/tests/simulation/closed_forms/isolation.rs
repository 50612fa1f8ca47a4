use incast_model::units::{Bytes, Time};
use incast_sim::Outcome;
use incast_sim::host::{ClassBy, ClassParams};
use incast_sim::outcome::{IsolatedBy, IsolationRecord};
use incast_sim::switch::{FlowDetection, IsolationAtHosts, IsolationParams, MarkedFlows, PfcMode, SchedulerParams};

use crate::common::{Bench, Cable, check, digest, exact, fct, port, record, two_switches, within};

/// Full packet at 100 Gb/s, in ps.
const DATA: u64 = 1048 * 80;
const SIZE: u64 = 4_000_000;

/// Four hosts send to h5: two over the victim's link (h2 to h6), two from h5's switch.
fn incast() -> Bench {
    let edge = Cable::new(100, 200);
    let fabric = two_switches(&[edge; 3], Cable::new(300, 200), &[edge; 4]);
    let bench = Bench::new(fabric).with(|params| {
        params.switch.lossless = vec![2, 3];
        params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(200_000) };
        params.switch.scheduler = SchedulerParams::StrictPriority;
        params.rdma.ack_priority = Some(7);
        params.ecn.enabled = false;
        params.measure.blocking = true;
    });
    let senders = [0, 1, 3, 4];
    senders.into_iter().fold(bench, |bench, host| bench.flow(host, 5, SIZE, Time::ZERO)).flow(2, 6, SIZE, Time::ZERO)
}

const VICTIM: usize = 4;

/// Below the PFC threshold of 200 kB.
fn small() -> IsolationParams {
    IsolationParams {
        enabled: true,
        detection: FlowDetection::Marks { kmin: Bytes(20_000), kmax: Bytes(60_000), pmax: 0.2 },
        ..IsolationParams::default()
    }
}

type Change<'a> = &'a dyn Fn(&mut IsolationParams);

fn isolating(bench: Bench, isolation: IsolationParams) -> Bench {
    bench.with(|params| params.switch.isolation = isolation)
}

fn records_of(bench: &Bench, outcome: &Outcome, from: &str, to: &str) -> Vec<IsolationRecord> {
    let port = port(&bench.fabric(), from, to);
    outcome.isolations.iter().copied().filter(|record| record.port == port).collect()
}

#[test]
fn n1_a_victim_goes_free() {
    let alone = incast().only_last_flow().run();
    let plain = incast().run();
    let isolated = isolating(incast(), small()).run();
    let slowdown = |outcome: &Outcome| fct(outcome, VICTIM).0 as f64 / fct(&alone, 0).0 as f64;
    let (before, after) = (slowdown(&plain), slowdown(&isolated));
    check("N1", "victim's time without isolation, of that alone", "> 2", before, before > 2.0);
    check("N1", "victim's time with isolation, of that alone", "< 1.1", after, after < 1.1);
    within("N1", "the incast's time, of that without", 1.0, fct(&isolated, 0).0 as f64 / fct(&plain, 0).0 as f64, 0.05);
    exact("N1", "drops", 0, isolated.counts.drops);
    let core = port(&incast().fabric(), "s0", "s1");
    let xoffs =
        |outcome: &Outcome, prio| outcome.pauses.iter().filter(|one| one.port == core && one.priority == prio).count();
    let (normal, congested, before) = (xoffs(&isolated, 3), xoffs(&isolated, 2), xoffs(&plain, 3));
    check(
        "N1",
        "pauses of others between switches, of those without",
        "< 0.02",
        normal as f64 / before as f64,
        normal * 50 < before,
    );
    check("N1", "pauses of isolated flows there", "> 20 times as many", congested as f64, congested > 20 * normal);
}

#[test]
fn n2_order_is_kept() {
    let mut weighted = [1000; 8];
    weighted[3] = 8000;
    let drr = |quanta, strict| SchedulerParams::Drr { quanta, strict };
    let schedulers = [
        SchedulerParams::StrictPriority,
        SchedulerParams::RoundRobin,
        drr(weighted, vec![7]),
        // Otherwise an isolated flow would overtake itself.
        drr([1000; 8], vec![7, 2]),
    ];
    for scheduler in schedulers {
        for hosts in [IsolationAtHosts::Ignore, IsolationAtHosts::Isolate] {
            let isolation = IsolationParams { hosts, ..small() };
            let bench = isolating(incast(), isolation).with(|params| params.switch.scheduler = scheduler.clone());
            let outcome = bench.run();
            let discarded: u32 = outcome.flows.iter().map(|flow| flow.discarded).sum();
            exact("N2", &format!("packets out of order, {scheduler:?}, {hosts:?}"), 0, discarded);
            exact("N2", "drops", 0, outcome.counts.drops);
            exact("N2", "books out of balance", 0, outcome.ledger.unbalanced().count());
            let moved = outcome.isolations.iter().map(|one| one.packets).sum::<u64>();
            check("N2", "packets isolated", "> 1000", moved as f64, moved > 1000);
        }
    }
}

/// Upstream, isolation is later by a message's time and at most the messages' interval.
#[test]
fn n3_messages_go_one_hop() {
    let isolation = IsolationParams { message_above: Bytes(0), ..small() };
    let bench = isolating(incast(), isolation)
        .with(|params| params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(3_000_000) });
    let outcome = bench.run();
    let before = records_of(&bench, &outcome, "s0", "s1");
    let at: Vec<IsolationRecord> =
        ["h5", "h6"].iter().flat_map(|host| records_of(&bench, &outcome, "s1", host)).collect();
    let told: Vec<&IsolationRecord> = before.iter().filter(|record| record.by == IsolatedBy::Message).collect();
    check("N3", "flows isolated because of a message", ">= 2", told.len() as f64, told.len() >= 2);
    let wire = 64 * 8_000 / 300 + 200_000;
    for record in told {
        let first = at.iter().find(|one| one.flow == record.flow && one.begin < record.begin && one.messages > 0);
        let first = first.expect("the next switch has isolated it before");
        let later = (record.begin - first.begin).0;
        check("N3", "message after isolation, ns", "tau + tx, and 10 us at most", later as f64 / 1e3, {
            later >= wire && later <= wire + isolation.message_every.0
        });
    }
    let (messages, to_hosts) = (outcome.counts.isolation_messages, outcome.counts.isolation_messages_to_hosts);
    check("N3", "messages to hosts", "some, and not all", to_hosts as f64, to_hosts > 0 && to_hosts < messages);
    exact("N3", "messages of ports, and those that end isolation", true, {
        let of_ports: u64 = outcome.isolations.iter().map(|one| u64::from(one.messages)).sum();
        of_ports <= messages
    });
}

/// 400 us: hold, age, and one look through the tables for each.
#[test]
fn n4_all_flows_are_let_go() {
    let late = Time::ms(6);
    let outcome = isolating(incast().flow(0, 6, 1000, late), small()).run();
    let end = (0..=VICTIM).map(|flow| fct(&outcome, flow)).max().expect("flows");
    check("N4", "flows that were isolated", ">= 4", outcome.isolations.len() as f64, outcome.isolations.len() >= 4);
    let last = outcome.isolations.iter().map(|one| one.end.expect("released")).max().expect("isolated flows");
    check(
        "N4",
        "last released, after the end, us",
        "< 400",
        (last.0 as f64 - end.0 as f64) / 1e6,
        last < end + Time::us(400),
    );
}

#[test]
fn n5_off_is_off() {
    let off = isolating(incast(), IsolationParams { enabled: false, ..small() }).run();
    assert_eq!(digest(&incast().run()), digest(&off));
    let one = |isolation| isolating(incast().only_last_flow(), isolation).run();
    assert_eq!(digest(&one(IsolationParams::default())), digest(&one(small())));
}

#[test]
fn n6_a_small_table() {
    let bench = isolating(incast(), IsolationParams { table: Some(2), ..small() });
    let outcome = bench.run();
    let own = |one: &&IsolationRecord| one.by != IsolatedBy::Class;
    let at = records_of(&bench, &outcome, "s1", "h5");
    for one in at.iter().filter(own) {
        let together = at
            .iter()
            .filter(own)
            .filter(|other| other.begin <= one.begin && other.end.is_none_or(|end| end > one.begin));
        let count = together.count();
        assert!(count <= 2, "{count} flows at {}", one.begin);
    }
    check("N6", "refused", "> 0", outcome.counts.isolations_refused as f64, outcome.counts.isolations_refused > 0);
    exact("N6", "packets out of order", 0, outcome.flows.iter().map(|flow| flow.discarded).sum::<u32>());
}

#[test]
fn n7_counters_find_the_largest() {
    let edge = Cable::new(100, 200);
    let fabric = two_switches(&[edge; 4], Cable::new(400, 200), &[edge; 1]);
    let bench = Bench::new(fabric).with(|params| {
        params.switch.lossless = vec![2, 3];
        params.switch.scheduler = SchedulerParams::StrictPriority;
        params.ecn.enabled = false;
    });
    let bench = (0..3).fold(bench, |bench, host| bench.flow(host, 4, SIZE, Time::ZERO));
    let bench = (0..60).fold(bench, |bench, k| bench.flow(3, 4, 2000, Time::us(10 * k)));
    let detection = FlowDetection::Counters { above: Bytes(40_000), flows: 3 };
    let bench = isolating(bench, IsolationParams { detection, ..small() });
    let outcome = bench.run();
    let found: Vec<u32> = records_of(&bench, &outcome, "s1", "h4")
        .iter()
        .filter(|record| record.by == IsolatedBy::Counters)
        .map(|record| record.flow)
        .collect();
    assert!(found.len() >= 3, "{found:?}");
    assert!(found.iter().all(|flow| *flow < 3), "{found:?} has a small flow");
    exact("N7", "packets out of order", 0, outcome.flows.iter().map(|flow| flow.discarded).sum::<u32>());
}

#[test]
fn n8_hosts_that_isolate() {
    let base = || incast().flow(0, 4, SIZE / 4, Time::us(50));
    let ignoring = isolating(base(), small()).run();
    let bench = isolating(base(), IsolationParams { hosts: IsolationAtHosts::Isolate, ..small() });
    let outcome = bench.run();
    let (without, with) = (fct(&ignoring, 5), fct(&outcome, 5));
    check("N8", "time of the host's other flow, of that without", "< 0.8", with.0 as f64 / without.0 as f64, {
        with.0 * 10 < without.0 * 8
    });
    let of_host = records_of(&bench, &outcome, "h0", "s0");
    assert_eq!((of_host[0].flow, of_host[0].by), (0, IsolatedBy::Message));
    exact(
        "N8",
        "isolated there without a message",
        0,
        of_host.iter().filter(|one| one.by != IsolatedBy::Message).count(),
    );
    let under = record(&outcome, port(&bench.fabric(), "h0", "s0"), 2);
    check("N8", "packets the host sent as isolated", "> 1000", under.tx_packets as f64, under.tx_packets > 1000);
    exact("N8", "books out of balance", 0, outcome.ledger.unbalanced().count());
}

#[test]
fn n9_marks_of_isolated_flows_alone() {
    let marks = |mark| {
        let bench = isolating(incast(), IsolationParams { mark, ..small() }).with(|params| {
            params.ecn.enabled = true;
            (params.ecn.kmin, params.ecn.kmax, params.ecn.pmax) = (Bytes(5_000), Bytes(20_000), 1.0);
        });
        let outcome = bench.run();
        let of = |prio| outcome.ports.iter().filter(|one| one.priority == prio).map(|one| one.marks).sum::<u64>();
        (of(2), of(3))
    };
    let (all, isolated) = (marks(MarkedFlows::All), marks(MarkedFlows::Isolated));
    assert!(all.0 > 0 && all.1 > 0 && isolated.0 > 0, "{all:?} {isolated:?}");
    exact("N9", "marks of flows that are not isolated", 0, isolated.1);
}

#[test]
fn n10_blocking_is_measured() {
    let plain = incast().run();
    let isolated = isolating(incast(), small()).run();
    let victim = plain.waits[VICTIM];
    check("N10", "victim blocked, us", "> 100", victim.blocked.0 as f64 / 1e6, victim.blocked > Time::us(100));
    exact("N10", "of that as a victim, ps", victim.blocked.0, victim.victim.0);
    exact(
        "N10",
        "incast blocked as a victim, ps",
        0,
        plain.waits[..VICTIM].iter().map(|waits| waits.victim.0).sum::<u64>(),
    );
    let left = isolated.waits[VICTIM].victim.0 as f64 / victim.victim.0 as f64;
    check("N10", "as a victim with isolation, of that without", "< 0.05", left, left < 0.05);
    assert!(plain.waits.iter().all(|waits| waits.victim <= waits.blocked && waits.blocked <= waits.waited));
    let unmeasured = incast().with(|params| params.measure.blocking = false).run();
    assert_eq!(digest(&plain), digest(&unmeasured));
    assert!(unmeasured.waits.is_empty());
}

#[test]
fn n11_a_wait_by_hand() {
    use incast_sim::network::PauseParams;
    let cable = Cable::new(100, 500);
    let pause = |from, until| PauseParams {
        at: "s1".into(),
        peer: Some("s0".into()),
        priority: 3,
        from,
        until: Some(until),
        random: None,
    };
    let (until, start) = (Time::us(50), Time::us(10));
    let bench = Bench::new(two_switches(&[cable], cable, &[cable])).flow(0, 1, 1000, start).with(|params| {
        params.measure.blocking = true;
        params.network.pause.push(pause(Time::us(1), until));
    });
    let outcome = bench.run();
    let resumed = until.0 + 64 * 80 + 500_000;
    let came = start.0 + DATA + 500_000;
    exact("N11", "waited, ps", resumed - came, outcome.waits[0].waited.0);
    exact("N11", "blocked, ps", resumed - came, outcome.waits[0].blocked.0);
    exact("N11", "as a victim, ps", 0, outcome.waits[0].victim.0);
}

#[test]
fn n12_refused() {
    let refused = |set: Change<'_>| {
        let mut isolation = small();
        set(&mut isolation);
        isolating(incast(), isolation).refused()
    };
    let cases: [(Change<'_>, &str); 13] = [
        (&|one| one.queue = 0, "switch.isolation.queue = 0: must be a priority"),
        (&|one| one.queue = 8, "switch.isolation.queue = 8: must be a priority"),
        (&|one| one.queue = 5, "5 is a lossy priority"),
        (&|one| one.queue = 3, "3 is the priority of flows"),
        (&|one| one.table = Some(0), "switch.isolation.table = 0: must be"),
        (&|one| one.message = Bytes(0), "switch.isolation.message = 0B: must be"),
        (&|one| one.hold = Time::ZERO, "switch.isolation.hold = 0ps: must be"),
        (&|one| one.age = Time::us(9), "switch.isolation.age: must be at least message_every, 10us, got 9us"),
        (&|one| one.release_below = Bytes(21_000), "switch.isolation.release_below: must be at most 20kB"),
        (&|one| one.message_above = Bytes(90_000), "switch.isolation.message_above: 90kB at 100 Gb/s is not below"),
        (
            &|one| one.detection = FlowDetection::Marks { kmin: Bytes(9_000), kmax: Bytes(8_000), pmax: 0.1 },
            "switch.isolation.detection.marks.kmin: kmin 9kB is above kmax 8kB",
        ),
        (
            &|one| one.detection = FlowDetection::Marks { kmin: Bytes(8_000), kmax: Bytes(9_000), pmax: 1.1 },
            "switch.isolation.detection.marks.pmax = 1.1: must be",
        ),
        (
            &|one| one.detection = FlowDetection::Counters { above: Bytes(8_000), flows: 0 },
            "switch.isolation.detection.counters.flows = 0: must be",
        ),
    ];
    for (set, expected) in cases {
        let message = refused(set);
        assert!(message.contains(expected), "{message}\n  lacks: {expected}");
    }
    let with = |set: fn(&mut incast_sim::Params)| isolating(incast(), small()).with(set).refused();
    assert!(with(|params| params.switch.pfc = false).contains("there is no PFC here"));
    assert!(with(|params| params.switch.lossless = vec![2]).contains("the only lossless priority"));
    assert!(with(|params| params.switch.lossless = vec![2, 4]).contains("all flows have lossy priorities"));
    let classes = |(mice, elephants): (u8, u8)| {
        let set = |params: &mut incast_sim::Params| {
            params.host.classes = ClassParams { by: ClassBy::Size, mice, elephants, ..ClassParams::default() };
        };
        isolating(incast(), small()).with(set).refused()
    };
    assert!(
        classes((4, 3)).contains("host.classes.mice: 4 is a lossy priority, from which no flow is isolated; one of")
    );
    assert!(classes((3, 5)).contains("host.classes.elephants: 5 is a lossy priority"));
    assert!(classes((2, 3)).contains("host.classes.mice: 2 is the priority of isolated flows"));
    assert!(classes((3, 3)).contains("host.classes.mice: 3 is also the priority of elephants"));
    assert!(with(|params| params.rdma.ack_priority = Some(2)).contains("2 is rdma.ack_priority"));
    assert!(with(|params| params.switch.tagging.enabled = true).contains("switch.tagging"));
}
