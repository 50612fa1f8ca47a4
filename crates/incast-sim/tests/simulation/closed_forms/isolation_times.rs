//! Release and eviction, to the picosecond.

use incast_model::fabric::Fabric;
use incast_model::units::{Bytes, Time};
use incast_sim::Outcome;
use incast_sim::congestion::Control;
use incast_sim::host::{ClassBy, ClassParams};
use incast_sim::outcome::{IsolatedBy, IsolationRecord};
use incast_sim::switch::{FlowDetection, IsolationAtHosts, IsolationParams, PfcMode, SchedulerParams};
use proptest::prelude::*;

use crate::common::{
    Bench, Cable, check, digest, exact, fct, leaf_spine, port, same_event_by_event, star, two_switches,
};

/// Full packet at 100 Gb/s, and link, in ps.
const DATA: u64 = 1048 * 80;
const TAU: u64 = 200_000;

/// Links of 200 Gb/s, the last of 100 Gb/s.
fn narrow(senders: usize, isolation: IsolationParams) -> Bench {
    let mut cables = vec![Cable::new(200, 200); senders];
    cables.push(Cable::new(100, 200));
    isolated_at(star(&cables), isolation)
}

/// Above 20 kB queued, without pauses.
fn isolated_at(fabric: Fabric, isolation: IsolationParams) -> Bench {
    Bench::new(fabric).with(|params| {
        params.switch.lossless = vec![2, 3];
        params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(500_000) };
        params.ecn.enabled = false;
        params.switch.isolation = IsolationParams {
            enabled: true,
            detection: FlowDetection::Marks { kmin: Bytes(20_000), kmax: Bytes(20_000), pmax: 1.0 },
            ..isolation
        };
    })
}

fn records(bench: &Bench, outcome: &Outcome, to: &str) -> Vec<IsolationRecord> {
    let port = port(&bench.fabric(), "s0", to);
    outcome.isolations.iter().copied().filter(|record| record.port == port).collect()
}

/// Released at the first look (one per `hold` since the first isolation) at which the isolated queue has held none of the
/// flow's packets for `hold`.
#[test]
fn n13_hold_to_the_picosecond() {
    for hold in [Time::us(1), Time::ns(7_300), Time::us(50), Time::us(400)] {
        let bench = narrow(1, IsolationParams { hold, ..IsolationParams::default() }).flow(0, 1, 400_000, Time::ZERO);
        let bench = bench.flow(0, 1, 1000, Time::ms(2));
        let outcome = bench.run();
        let [record] = records(&bench, &outcome, "h1")[..] else { panic!("one flow, isolated once") };
        let left = outcome.flows[0].delivered.expect("delivered").0 - DATA - TAU;
        let looks = (left + hold.0 - record.begin.0).div_ceil(hold.0);
        exact(
            "N13",
            &format!("released, hold {hold}, ps"),
            record.begin.0 + looks * hold.0,
            record.end.expect("an end").0,
        );
    }
}

/// Arrivals exceed departures by `kmin` at the packet that triggers isolation.
#[test]
fn n14_found_to_the_picosecond() {
    let bench = narrow(1, IsolationParams::default()).flow(0, 1, 400_000, Time::ZERO);
    let outcome = bench.run();
    let [record] = records(&bench, &outcome, "h1")[..] else { panic!("one flow, isolated once") };
    // Packet k arrives at k + 1 packet times of the fast link; the slow link has begun every other one. The port serves after
    // arrivals.
    let (fast, found) = (DATA / 2, record.found.expect("found here"));
    let arrived = (record.begin.0 - TAU) / fast;
    exact("N14", "at the arrival of a packet, ps", 0, (record.begin.0 - TAU) % fast);
    let least = 20_000 / 1048 + 1;
    exact("N14", "queue when found, packets", least, found.queue_bytes / 1048);
    exact("N14", "all of it the flow's", found.queue_bytes, found.flow_bytes);
    exact("N14", "flows there", 1, found.queue_flows);
    assert_eq!((found.pause_ago, found.root), (None, None));
    check("N14", "packets that had come", "twice those queued, give or take 2", arrived as f64, {
        arrived.abs_diff(2 * least) <= 2
    });
}

#[test]
fn n15_the_oldest_without_a_packet_leaves() {
    let isolation = IsolationParams { table: Some(2), hold: Time::ms(5), ..IsolationParams::default() };
    let burst = |bench: Bench, host: u32| bench.flow(host, 4, 200_000, Time::us(100 * u64::from(host)));
    let bench = (0..4).fold(narrow(4, isolation), burst);
    let outcome = bench.run();
    let found = records(&bench, &outcome, "h4");
    assert_eq!(found.iter().map(|one| one.flow).collect::<Vec<_>>(), [0, 1, 2, 3]);
    exact("N15", "the first leaves when the third comes, ps", found[2].begin.0, found[0].end.expect("an end").0);
    exact("N15", "the second when the fourth comes, ps", found[3].begin.0, found[1].end.expect("an end").0);
    exact("N15", "refused", 0, outcome.counts.isolations_refused);

    let bench = narrow(4, isolation).flow(0, 4, 10_000_000, Time::ZERO);
    let bench = (1..3).fold(bench, |bench, host| bench.flow(host, 4, 200_000, Time::us(300 * u64::from(host))));
    let outcome = bench.run();
    let found = records(&bench, &outcome, "h4");
    let of = |flow: u32| found.iter().find(|one| one.flow == flow).expect("isolated");
    exact("N15", "the second leaves when the third comes, ps", of(2).begin.0, of(1).end.expect("an end").0);
    assert!(of(0).end.is_none_or(|end| end > fct(&outcome, 0)), "the first stays as long as it sends");
}

/// A burst of fifteen packets too many, then line rate: 14 or 15 packets stay queued.
fn standing_queue(bench: Bench, [burst, steady]: [u32; 2], to: u32, start: Time, end: Time) -> Bench {
    let bytes = (end.0 - start.0) / DATA * 1000;
    bench.flow(steady, to, bytes, start).flow(burst, to, 15_000, start)
}

/// Released at the first look at which other flows' queue (14 or 15 packets of 1048 B), which begins as its own ends, is below
/// `release_below`.
#[test]
fn n16_release_below_to_the_picosecond() {
    for (release, stands) in [(20_000, false), (15_721, false), (14_672, true), (10_000, true), (1049, true), (1, true)]
    {
        let hold = Time::us(1);
        let isolation = IsolationParams { release_below: Bytes(release), hold, ..IsolationParams::default() };
        let mut cables = vec![Cable::new(200, 200); 2];
        cables.extend([Cable::new(100, 200); 2]);
        let bench = isolated_at(star(&cables), isolation).flow(0, 3, 450_000, Time::ZERO);
        let bench = standing_queue(bench, [1, 2], 3, Time::ns(37_900), Time::us(200)).flow(0, 3, 1000, Time::ms(2));
        let outcome = bench.run();
        let found = records(&bench, &outcome, "h3");
        let [record] = found[..] else { panic!("one flow, isolated once: {found:?}") };
        let last = outcome.flows[1..3].iter().map(|flow| flow.delivered.expect("delivered")).max().expect("two").0;
        // The queue has one packet after the last but one, and so on.
        let left = last - TAU - DATA - (release - 1) / 1048 * DATA;
        let quiet = outcome.flows[0].delivered.expect("delivered").0 - DATA - TAU + hold.0;
        let may = if stands { left } else { quiet };
        let looks = (may - record.begin.0).div_ceil(hold.0);
        let what = format!("released, release below {release} B, ps");
        exact("N16", &what, record.begin.0 + looks * hold.0, record.end.expect("an end").0);
    }
}

/// Released at the first look later than `age` after the last message: the first here, as the next switch keeps the flow.
#[test]
fn n17_age_to_the_picosecond() {
    for age in [Time::us(100), Time::us(150), Time::us(300), Time::us(1000)] {
        let hold = Time::us(7);
        let isolation = IsolationParams {
            message_every: Time::us(100),
            message_above: Bytes(1000),
            release_below: Bytes(10_000),
            hold,
            age,
            ..IsolationParams::default()
        };
        let senders = [Cable::new(200, 200), Cable::new(200, 200), Cable::new(100, 200)];
        let fabric = two_switches(&senders, Cable::new(400, 200), &[Cable::new(100, 200)]);
        let bench = isolated_at(fabric, isolation).flow(0, 3, 450_000, Time::ZERO);
        let bench = standing_queue(bench, [1, 2], 3, Time::us(40), Time::us(1200)).flow(0, 3, 1000, Time::ms(2));
        let outcome = bench.run();
        let fabric = bench.fabric();
        let at = |from: &str, to: &str| {
            let port = port(&fabric, from, to);
            let found: Vec<IsolationRecord> =
                outcome.isolations.iter().copied().filter(|one| one.port == port).collect();
            let [record] = found[..] else { panic!("one flow, isolated once from {from} to {to}: {found:?}") };
            record
        };
        let (before, next) = (at("s0", "s1"), at("s1", "h3"));
        assert_eq!((before.by, next.messages), (IsolatedBy::Message, 2));
        assert!(next.end > before.end, "the next switch keeps it for longer");
        let looks = (before.begin + age - next.begin).0 / hold.0 + 1;
        let what = format!("released, age {age}, ps");
        exact("N17", &what, next.begin.0 + looks * hold.0, before.end.expect("an end").0);
    }
}

fn isolations() -> impl Strategy<Value = IsolationParams> {
    let marks = |kmin, kmax, pmax| FlowDetection::Marks { kmin: Bytes(kmin), kmax: Bytes(kmax), pmax };
    let detections = vec![
        marks(20_000, 60_000, 0.5),
        marks(21_000, 21_000, 1.0),
        FlowDetection::Counters { above: Bytes(30_000), flows: 3 },
    ];
    let times = |all: &[u64]| prop::sample::select(all.iter().map(|&us| Time::us(us)).collect::<Vec<_>>());
    let hosts = vec![IsolationAtHosts::Ignore, IsolationAtHosts::Isolate];
    (
        prop::sample::select(detections),
        prop::sample::select(vec![None, Some(1), Some(3)]),
        times(&[1, 5, 50]),
        times(&[10, 20, 200]),
        times(&[0, 1, 10]),
        prop::sample::select(vec![Bytes(0), Bytes(3_000)]),
        prop::sample::select(vec![Bytes(1), Bytes(20_000)]),
        prop::sample::select(hosts),
    )
        .prop_map(|(detection, table, hold, age, message_every, message_above, release_below, hosts)| {
            IsolationParams {
                enabled: true,
                detection,
                table,
                hold,
                age,
                message_every,
                message_above,
                release_below,
                hosts,
                ..IsolationParams::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Not `ClassBy::Sent`: its flows overtake themselves without isolation too.
    #[test]
    fn n16_no_parameters_reorder_or_drop(
        isolation in isolations(),
        scheduler in 0usize..4,
        by in prop::sample::select(vec![ClassBy::Given, ClassBy::Size, ClassBy::Hash]),
        control in prop::sample::select(vec!["unlimited", "dcqcn", "hpcc"]),
        xoff in prop::sample::select(vec![40_000u64, 100_000, 300_000]),
        seed in 1u64..1000,
    ) {
        let drr = |strict| SchedulerParams::Drr { quanta: [1000, 1000, 2000, 8000, 1000, 1000, 1000, 1000], strict };
        let scheduler = [SchedulerParams::StrictPriority, SchedulerParams::RoundRobin, drr(vec![7, 4]), drr(vec![7, 2])]
            [scheduler].clone();
        let profile = Control::catalogue().into_iter().find(|info| info.name == control).expect("a control").profiles[0].0;
        let fabric = leaf_spine(3, 4, 2, Cable::new(100, 200), Cable::new(200, 200));
        let bench = Bench::new(fabric).control(control, profile).with(|params| {
            params.seed = seed;
            params.switch.lossless = vec![2, 3, 4];
            params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(xoff) };
            params.switch.scheduler = scheduler;
            params.switch.isolation = isolation;
            params.host.classes = ClassParams { by, ..ClassParams::default() };
            params.rdma.ack_priority = Some(7);
            params.rdma.cnp_priority = 7;
            params.measure.blocking = true;
        });
        let bench = [4, 5, 6, 8, 9].into_iter().fold(bench, |bench, host| bench.flow(host, 0, 300_000, Time::ZERO));
        let others = [(7, 1), (10, 2), (1, 11), (4, 2)];
        let bench = others.into_iter().fold(bench, |bench, (src, dst)| bench.flow(src, dst, 90_000, Time::us(20)));
        let outcome = bench.run();
        prop_assert_eq!(outcome.flows.iter().map(|flow| flow.discarded).sum::<u32>(), 0);
        prop_assert_eq!(outcome.counts.drops, 0);
        prop_assert_eq!(outcome.ledger.unbalanced().count(), 0);
        prop_assert!(outcome.flows.iter().all(|flow| flow.finish.is_some()));
        for waits in &outcome.waits {
            prop_assert!(waits.victim <= waits.blocked && waits.blocked <= waits.waited);
            prop_assert!(waits.host_victim <= waits.host_blocked);
        }
        let unmeasured = bench.clone().with(|params| params.measure.blocking = false).run();
        prop_assert_eq!(digest(&outcome), digest(&unmeasured));
        same_event_by_event(bench, 150)?;
    }
}
