use incast_model::fabric::{FabricBuilder, LinkId, NodeId};
use incast_model::field::FieldError;
use incast_model::routing::Paths;
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::Arithmetic;
use incast_sim::balance::{AdaptiveParams, Balance, FlowletParams, SprayParams};
use incast_sim::host::Recovery;
use incast_sim::network::{FailureParams, PauseParams, RandomLinks, RouteParams};
use incast_sim::outcome::{DropReason, LinkChange, Obstacle, Outcome, PauseRecord, Stop};
use incast_sim::switch::PfcMode;
use proptest::prelude::*;

use crate::common::{Bench, Cable, digest, leaf_spine, port, random_runs, testbed};

const CABLE: Cable = Cable::new(100, 1000);
/// Full packet and ACK, in ps.
const DATA: u64 = 1048 * 80;
const ACK: u64 = 60 * 80;
const DELAY: u64 = 1_000_000;
const RTO: Time = Time::us(200);

fn link(a: &str, b: &str, at: Time, until: Option<Time>) -> FailureParams {
    FailureParams { link: Some([a.into(), b.into()]), at, until, ..FailureParams::default() }
}

/// h0 and h1 on s0, h2 and h3 on s1; spines s2 and s3.
fn fabric() -> Bench {
    Bench::new(leaf_spine(2, 2, 2, CABLE, CABLE)).with(|params| params.rdma.rto = Some(RTO))
}

/// Data over s2, ACKs over s3 (chosen by seed).
fn flow(size: u64) -> Bench {
    let seeds = (1..100).map(|seed| fabric().flow(0, 2, size, Time::ZERO).with(|params| params.seed = seed));
    let sends = |outcome: &Outcome, bench: &Bench, from: &str, to: &str| {
        let port = port(&bench.fabric(), from, to);
        outcome.ports.iter().any(|record| record.port == port)
    };
    let mut found = seeds.filter(|bench| {
        let outcome = bench.run();
        sends(&outcome, bench, "s0", "s2") && sends(&outcome, bench, "s1", "s3")
    });
    found.next().expect("one seed in four does")
}

fn failing(bench: Bench, failures: Vec<FailureParams>, reroute_after: Option<Time>) -> Bench {
    bench.with(|params| {
        params.network.failure = failures;
        params.network.reroute_after = reroute_after;
    })
}

fn changes(outcome: &Outcome) -> Vec<(u64, LinkChange)> {
    outcome.links.iter().map(|record| (record.time.0, record.change)).collect()
}

fn dropped(outcome: &Outcome, reason: DropReason) -> u64 {
    outcome.drops.iter().filter(|drop| drop.reason == reason).count() as u64
}

#[test]
fn a_flow_alone_around_links_that_are_down_from_the_start_has_its_ideal_time() {
    let mut builder = FabricBuilder::new();
    let [near, far] = ["a", "b"].map(|name| builder.host(name));
    let [one, other, detour] = ["s", "t", "u"].map(|name| builder.switch(name, 1));
    for (host, switch) in [(near, one), (far, other)] {
        builder.link(host, switch, Rate::gbps(100), Time::us(1));
    }
    builder.link(one, other, Rate::gbps(100), Time::us(1));
    for end in [one, other] {
        builder.link(end, detour, Rate::gbps(25), Time::us(10));
    }
    let bench = Bench::new(builder.finish().unwrap()).flow(0, 1, 1_000_000, Time::ZERO);
    let flows = [(Time::ZERO, 4), (Time::us(1), 3)].map(|(at, hops)| {
        let bench = failing(bench.clone(), vec![link("s", "t", at, None)], Some(Time::ZERO));
        let flow = bench.with(|params| params.rdma.recovery = Recovery::SelectiveRepeat).run().flows.remove(0);
        assert_eq!(flow.hops, hops);
        flow
    });
    // A window of the short path would not fill the detour.
    assert_eq!(flows[0].fct(), Some(flows[0].ideal_exact));
    assert!(flows[1].fct().unwrap() > flows[1].ideal_exact, "routes at the start");
}

#[test]
fn a_flow_goes_round_a_link_that_fails() {
    let (cut, count) = (Time::us(10), 200);
    let bench = failing(flow(count * 1000), vec![link("s0", "s2", cut, None)], Some(Time::us(50)));
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Finished);
    // At s2 after k + 2 serialisations and 2 delays.
    let through = (0..count).take_while(|k| (k + 2) * DATA + 2 * DELAY < cut.0).count() as u64;
    let last_ack = (through + 3) * DATA + 4 * DELAY + 4 * (ACK + DELAY);
    let rest = (count - through) * DATA + 3 * DATA + 4 * DELAY + 4 * (ACK + DELAY);
    let flow = &outcome.flows[0];
    assert_eq!(flow.finish.unwrap().0, last_ack + RTO.0 + rest);
    assert_eq!((flow.timeouts, flow.nacks, flow.retransmitted), (1, 0, count - through));
    assert_eq!((dropped(&outcome, DropReason::LinkDown), outcome.counts.drops), (count - through, count - through));
    assert_eq!(outcome.counts.lossless_drops, 0);
    let s0 = port(&bench.fabric(), "s0", "s2");
    assert!(outcome.drops.iter().all(|drop| drop.egress == Some(s0) && drop.ingress.is_some() && drop.time >= cut));
    assert_eq!(crate::common::record(&outcome, s0, 3).lost, count - through);
    let learnt = cut.0 + 50_000_000;
    assert_eq!(changes(&outcome), [(cut.0, LinkChange::Down), (learnt, LinkChange::Withdrawn)]);
}

#[test]
fn what_is_on_the_wire_is_lost_and_only_that() {
    let cut = Time::us(10);
    let repair = Time(cut.0 + 1);
    let bench = failing(flow(200_000), vec![link("s2", "s0", cut, Some(repair))], None);
    let outcome = bench.run();
    let through = (0..200).take_while(|k| (k + 2) * DATA + 2 * DELAY < cut.0).count() as u64;
    // Begun after k + 1 serialisations and 1 delay.
    let begun = (0..200).take_while(|k| (k + 1) * DATA + DELAY < cut.0).count() as u64;
    assert_eq!(dropped(&outcome, DropReason::LinkDown), begun - through);
    assert_eq!((&outcome.stop, outcome.flows[0].timeouts), (&Stop::Finished, 0), "the gap is seen by the receiver");
    assert!(outcome.flows[0].nacks > 0);
    assert_eq!(changes(&outcome), [(cut.0, LinkChange::Down), (repair.0, LinkChange::Up)]);
}

#[test]
fn without_rerouting_a_flow_waits_for_the_repair() {
    let until = Time::us(1000);
    let bench = failing(flow(100_000), vec![link("s0", "s2", Time::us(5), Some(until))], None);
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Finished);
    let through = (0..100).take_while(|k| (k + 2) * DATA + 2 * DELAY < 5_000_000).count() as u64;
    let last_ack = (through + 3) * DATA + 4 * DELAY + 4 * (ACK + DELAY);
    let attempts = (1..).find(|n| last_ack + n * RTO.0 >= until.0).unwrap();
    let rest = (100 - through + 3) * DATA + 4 * DELAY + 4 * (ACK + DELAY);
    assert_eq!(outcome.flows[0].finish.unwrap().0, last_ack + attempts * RTO.0 + rest);
    assert_eq!(u64::from(outcome.flows[0].timeouts), attempts);
    assert_eq!(changes(&outcome), [(5_000_000, LinkChange::Down), (until.0, LinkChange::Up)]);
}

#[test]
fn a_silent_failure_is_routed_into_until_it_ends() {
    let until = Time::us(500);
    let failure = FailureParams { silent: Some(1.0), ..link("s2", "s1", Time::ZERO, Some(until)) };
    let bench = failing(flow(10_000), vec![failure.clone()], Some(Time::ZERO));
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Finished);
    assert_eq!(outcome.flows[0].timeouts, 3);
    assert_eq!(outcome.flows[0].finish.unwrap(), RTO * 3 + outcome.flows[0].ideal_exact);
    assert_eq!((dropped(&outcome, DropReason::Silent), outcome.counts.drops), (30, 30));
    let s1 = port(&bench.fabric(), "s1", "s2");
    assert!(outcome.drops.iter().all(|drop| drop.ingress == Some(s1) && drop.egress.is_none()));
    assert_eq!(crate::common::record(&outcome, s1, 3).drops, 30);
    assert_eq!(changes(&outcome), [(0, LinkChange::Silent), (until.0, LinkChange::Clean)]);
    let some = |seed| {
        let failure = FailureParams { silent: Some(0.1), until: None, ..failure.clone() };
        failing(flow(1_000_000), vec![failure], None).with(|params| {
            params.seed += seed;
            params.rdma.nack_interval = Time::us(5);
        })
    };
    let outcome = some(0).run();
    assert_eq!(outcome.stop, Stop::Finished);
    let share = dropped(&outcome, DropReason::Silent) as f64 / outcome.flows[0].packets as f64;
    assert!((0.05..0.15).contains(&share), "{share}");
    assert_eq!(digest(&outcome), digest(&some(0).run()));
}

#[test]
fn a_run_ends_when_failures_keep_all_that_is_left_apart() {
    let bench = |failure, reroute| failing(flow(10_000).flow(0, 1, 1_000_000, Time::us(1)), vec![failure], reroute);
    let down = link("s0", "s2", Time::ZERO, None);
    let silent = FailureParams { silent: Some(1.0), ..down.clone() };
    for (failure, expected) in [(down, true), (silent, false)] {
        let bench = bench(failure, None);
        let s0 = port(&bench.fabric(), "s0", "s2");
        let outcome = bench.run();
        assert_eq!(outcome.stop, Stop::Stalled { flows: vec![0], unfinished: 1 });
        let place = if expected { Obstacle::Down(s0) } else { Obstacle::Silent(s0) };
        assert_eq!(outcome.cut_off.len(), 1);
        assert_eq!((outcome.cut_off[0].flow, outcome.cut_off[0].acks, outcome.cut_off[0].place), (0, false, place));
        assert!(outcome.end < Time::ms(100), "{}", outcome.end);
        assert_eq!(outcome.ledger.unbalanced().count(), 0);
    }
    let outcome = bench(link("s1", "s3", Time::ZERO, None), None).run();
    assert_eq!((outcome.cut_off[0].flow, outcome.cut_off[0].acks), (0, true));
    let spines = vec![
        FailureParams { switch: Some("s2".into()), at: Time::us(3), ..FailureParams::default() },
        FailureParams { switch: Some("s3".into()), at: Time::us(3), ..FailureParams::default() },
    ];
    let bench = failing(flow(100_000), spines, Some(Time::us(10)));
    let outcome = bench.run();
    let s0 = bench.fabric().port(port(&bench.fabric(), "s0", "s2")).node;
    assert_eq!(outcome.cut_off.iter().map(|one| one.place).collect::<Vec<_>>(), [Obstacle::NoRoute(s0)]);
    assert!(dropped(&outcome, DropReason::NoRoute) > 0);
}

#[test]
fn a_run_ends_when_routes_lead_no_packet_to_its_destination() {
    let route = |at: &str, via: &str, from: Time| RouteParams {
        at: at.into(),
        to: "h2".into(),
        via: vec![via.into()],
        from,
        ..RouteParams::default()
    };
    let bench = flow(100_000).with(|params| {
        params.network.route = vec![route("s0", "s2", Time::ZERO), route("s2", "s0", Time::us(1))];
    });
    let node = |name: &str| NodeId(bench.fabric().nodes().iter().position(|node| node.name == name).unwrap() as u32);
    let outcome = bench.run();
    assert_eq!(outcome.cut_off.iter().map(|one| one.place).collect::<Vec<_>>(), [Obstacle::Loop(node("s0"))]);
    assert_eq!(outcome.stop, Stop::Stalled { flows: vec![0], unfinished: 1 });
    assert!(outcome.end < Time::ms(100) && dropped(&outcome, DropReason::Ttl) > 0, "{}", outcome.end);
    // The path after the second failure has five switches.
    let failures = vec![link("s0", "s3", Time::ZERO, None), link("s1", "s4", Time::us(2), None)];
    let bench = || Bench::new(leaf_spine(3, 1, 2, CABLE, CABLE)).flow(0, 1, 20_000, Time::ZERO);
    let run = |ttl| {
        let bench = failing(bench(), failures.clone(), Some(Time::us(10)));
        let outcome = bench.with(|params| (params.network.ttl, params.rdma.rto) = (ttl, Some(RTO))).run();
        (outcome.stop, outcome.cut_off.iter().map(|one| one.place).collect::<Vec<_>>())
    };
    let node = |name: &str| NodeId(bench().fabric().nodes().iter().position(|node| node.name == name).unwrap() as u32);
    for (ttl, last) in [(4, "s3"), (5, "s1")] {
        let (stop, places) = run(ttl);
        assert_eq!(stop, Stop::Stalled { flows: vec![0], unfinished: 1 });
        assert_eq!(places, [Obstacle::Expired(node(last))]);
    }
    assert_eq!(run(6), (Stop::Finished, vec![]));
}

#[test]
fn links_down_from_the_start_are_on_no_route() {
    let whole = flow(100_000).run();
    let bench = failing(flow(100_000), vec![link("s2", "s1", Time::ZERO, None)], Some(Time::ms(10)));
    let outcome = bench.run();
    assert_eq!((outcome.counts.drops, outcome.flows[0].finish), (0, whole.flows[0].finish));
    assert_eq!(changes(&outcome), [(0, LinkChange::Down), (0, LinkChange::Withdrawn)]);
    let unused = port(&bench.fabric(), "s0", "s2");
    assert!(outcome.ports.iter().all(|record| record.port != unused));
}

#[test]
fn a_host_waits_for_its_own_link() {
    let until = Time::us(700);
    let bench = failing(flow(100_000), vec![link("h0", "s0", Time::us(2), Some(until))], Some(Time::us(1)));
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Finished);
    assert_eq!(outcome.flows[0].finish.unwrap(), until + outcome.flows[0].ideal_exact);
    assert_eq!(outcome.flows[0].timeouts, 1);
    let begun = 2_000_000_u64.div_ceil(DATA);
    assert_eq!(outcome.flows[0].packets, 100 + begun);
}

#[test]
fn pauses_end_with_their_link() {
    // s1 pauses s0, s0 pauses the hosts.
    let mut builder = FabricBuilder::new();
    let hosts = ["h0", "h1", "h2", "h3"].map(|name| builder.host(name));
    let ends = [builder.switch("s0", 1), builder.switch("s1", 1)];
    for (host, end) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
        let rate = if host == 2 { 10 } else { 100 };
        builder.link(hosts[host], ends[end], Rate::gbps(rate), Time::us(1));
    }
    builder.link(ends[0], ends[1], Rate::gbps(100), Time::us(1));
    let bench = Bench::new(builder.finish().unwrap()).with(|params| {
        params.rdma.rto = Some(Time::us(300));
        params.switch.buffer = Bytes(800_000);
    });
    let bench = bench.flow(0, 2, 2_000_000, Time::ZERO).flow(1, 2, 2_000_000, Time::ZERO);
    let before = bench.run();
    let core = port(&bench.fabric(), "s0", "s1");
    let paused = before.pauses.iter().find(|pause| pause.port == core).expect("s1 pauses s0");
    let middle = Time(paused.start.0 + 1);
    // s1 cannot send its resume.
    let bench = failing(bench, vec![link("s0", "s1", middle, Some(Time::us(900)))], None);
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Finished);
    let cut = outcome.pauses.iter().find(|pause| pause.port == core && pause.start == paused.start).unwrap();
    assert_eq!(cut.end, Some(middle));
    let s1 = port(&bench.fabric(), "s1", "s0");
    let record = crate::common::record(&outcome, s1, 3);
    assert_eq!(record.xoff_sent, record.xon_sent + 1, "one pause ended with the link");
    assert!(outcome.pauses.iter().all(|pause| pause.end.is_some_and(|end| end > pause.start)));
    assert_eq!((outcome.ledger.unbalanced().count(), outcome.counts.lossless_drops), (0, 0));
    let host =
        before.pauses.iter().find(|pause| pause.port == port(&bench.fabric(), "h0", "s0")).expect("h0 is paused");
    let at = Time(host.start.0 + 1);
    let bench = failing(bench, vec![link("h0", "s0", at, Some(Time(at.0 + 1)))], None);
    assert_eq!(bench.run().stop, Stop::Finished);
}

fn refused(bench: &Bench) -> FieldError {
    bench.setup_error().expect("a setup that is refused")
}

#[test]
fn what_cannot_be_is_refused() {
    let error = |failure: FailureParams| refused(&failing(flow(1000), vec![failure], Some(Time::ZERO))).to_string();
    let none = FailureParams::default();
    assert_eq!(
        error(link("s0", "s4", Time::ZERO, None)),
        "network.failure[0].link: there is no node `s4`; did you mean `s0`?"
    );
    assert_eq!(
        error(link("s0", "s1", Time::ZERO, None)),
        "network.failure[0].link: no link joins s0 and s1 (allowed: neighbours of s0: h0, h1, s2, s3)"
    );
    assert!(error(none.clone()).contains("(allowed: exactly one of link, switch, random)"));
    let two = FailureParams { switch: Some("s2".into()), ..link("s0", "s2", Time::ZERO, None) };
    assert!(error(two).starts_with("network.failure[0]: a failure has exactly one of link, switch and random"));
    let host = FailureParams { switch: Some("h1".into()), ..none.clone() };
    assert!(error(host).ends_with("`h1` is a host, not a switch"));
    let parallel = FailureParams { parallel: Some(1), ..link("s0", "s2", Time::ZERO, None) };
    assert!(error(parallel).contains("failure[0].parallel = 1: must be 0 to 0"));
    let early = link("s0", "s2", Time::us(2), Some(Time::us(2)));
    assert!(error(early).contains("failure[0].until = 2us: must be after `at`, 2us"));
    let many = FailureParams { random: Some(RandomLinks { links: 5, tiers: None }), ..none.clone() };
    assert!(error(many).contains("random.links = 5: must be 1 to 4: the links between switches"));
    for silent in [0.0, 1.5] {
        let silent = FailureParams { silent: Some(silent), ..link("s0", "s2", Time::ZERO, None) };
        assert!(error(silent).contains("silent"), "out of range");
    }
    let apart = error(link("h2", "s1", Time::ZERO, None));
    assert!(apart.contains("flow 0 never has a path from h0 to h2"), "{apart}");
    let later = failing(flow(1000), vec![link("h2", "s1", Time::ZERO, Some(Time::us(9)))], Some(Time::ZERO));
    assert_eq!(later.run().stop, Stop::Finished);
    let reference = failing(flow(1000), vec![link("s0", "s2", Time::ZERO, None)], None);
    let reference = reference.with(|params| (params.arithmetic, params.rdma.rto) = (Arithmetic::Ns3, None));
    assert_eq!(refused(&reference).field, "network.failure");
    let sprayed = flow(1000).with(|params| {
        params.arithmetic = Arithmetic::Ns3;
        params.network.load_balancing = Balance::Spray(SprayParams::default());
    });
    assert!(refused(&sprayed).message.starts_with("load balancing by `spray` is not possible in ns3 arithmetic"));
}

#[test]
fn int_needs_room_for_the_way_round() {
    // Ring of five: s0 to s1 directly, or around.
    let ring = || Bench::new(crate::common::ring(5, CABLE)).control("hpcc", "ns3").flow(0, 1, 50_000, Time::ZERO);
    let failures = || vec![link("s0", "s1", Time::us(4), None)];
    let error = refused(&failing(ring(), failures(), Some(Time::us(7))).with(|params| params.packets.int_records = 4));
    assert_eq!(error.field, "packets.int_records");
    assert!(error.message.contains("the 5 switches on the path of flow 0 round the failures from 11us on"), "{error}");
    let outcome = failing(ring(), failures(), Some(Time::us(7))).with(|params| params.packets.int_records = 5).run();
    assert_eq!((outcome.stop, outcome.flows[0].hops), (Stop::Finished, 3));
}

fn failures() -> impl Strategy<Value = Vec<FailureParams>> {
    let what = prop_oneof![
        (0usize..3, 3usize..6).prop_map(|(leaf, spine)| link(
            &format!("s{leaf}"),
            &format!("s{spine}"),
            Time::ZERO,
            None
        )),
        (0usize..6).prop_map(|host| link(&format!("h{host}"), &format!("s{}", host / 2), Time::ZERO, None)),
        (0usize..6).prop_map(|node| FailureParams { switch: Some(format!("s{node}")), ..FailureParams::default() }),
        (1u32..6).prop_map(|links| {
            FailureParams { random: Some(RandomLinks { links, tiers: None }), ..FailureParams::default() }
        }),
    ];
    let silent = prop_oneof![Just(None), Just(None), Just(Some(1.0)), Just(Some(0.3))];
    let one = (what, 0u64..60_000, 1u64..200_000, silent).prop_map(|(what, at, lasts, silent)| FailureParams {
        at: Time::ns(at),
        until: Some(Time::ns(at + lasts)),
        silent,
        ..what
    });
    prop::collection::vec(one, 1..5)
}

fn holds() -> impl Strategy<Value = Vec<PauseParams>> {
    let host = (0usize..6).prop_map(|host| (format!("h{host}"), None));
    let ends = (0usize..3, 3usize..6, any::<bool>());
    let switch = ends.prop_map(|(leaf, spine, down)| {
        let (at, peer) = if down { (spine, leaf) } else { (leaf, spine) };
        (format!("s{at}"), Some(format!("s{peer}")))
    });
    let one = (prop_oneof![host, switch], 0u64..60_000, 1u64..200_000).prop_map(|((at, peer), from, lasts)| {
        let (from, until) = (Time::ns(from), Some(Time::ns(from + lasts)));
        PauseParams { at, peer, priority: 3, from, until, random: None }
    });
    prop::collection::vec(one, 0..5)
}

fn balance() -> impl Strategy<Value = Balance> {
    prop_oneof![
        Just(Balance::Ecmp),
        any::<bool>().prop_map(|acks| Balance::Spray(SprayParams { acks, ..SprayParams::default() })),
        Just(Balance::Flowlet(FlowletParams { gap: Time::us(3), entries: 64 })),
        Just(Balance::Adaptive(AdaptiveParams::default())),
    ]
}

proptest! {
    #![proptest_config(random_runs(400))]

    #[test]
    fn everything_recovers(
        failures in failures(),
        holds in holds(),
        balance in balance(),
        reroute in prop::option::of(0u64..50_000),
        pairs in prop::collection::vec((0u32..6, 1u32..6, 1u64..60_000, 0u64..40_000), 1..16),
        control in prop::sample::select(vec![("unlimited", "default"), ("dcqcn", "vendor"), ("hpcc", "ns3")]),
        lossless in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let flows = pairs.iter().map(|&(src, shift, size, start)| (src, (src + shift) % 6, size, Time::ns(start)));
        let bench = Bench::new(leaf_spine(3, 2, 3, CABLE, CABLE)).control(control.0, control.1).flows(flows);
        let held = lossless && !holds.is_empty();
        let bench = failing(bench, failures, reroute.map(Time::ns)).with(|params| {
            params.seed = seed;
            params.max_events = Some(20_000_000);
            params.rdma.rto = Some(Time::us(100));
            params.rdma.nack_interval = Time::us(20);
            params.switch.lossless = if lossless { vec![3] } else { vec![] };
            params.network.pause = if lossless { holds } else { Vec::new() };
            params.switch.buffer = Bytes(400_000);
            params.packets.int_records = 7;
            params.network.load_balancing = balance;
        });
        let outcome = bench.run();
        prop_assert_eq!(&outcome.stop, &Stop::Finished);
        prop_assert_eq!(outcome.ledger.unbalanced().count(), 0, "{:?}", outcome.ledger);
        // Paused packets may occupy a repaired link's headroom.
        prop_assert!(outcome.counts.lossless_drops == 0 || held);
        prop_assert_eq!(outcome.cut_off.len(), 0);
        let counted: u64 = outcome.ports.iter().map(|record| record.drops + record.lost).sum();
        prop_assert_eq!(counted, outcome.counts.drops);
        let of = |reason| dropped(&outcome, reason);
        let counts = [outcome.counts.link_down_drops, outcome.counts.silent_drops, outcome.counts.no_route_drops];
        prop_assert_eq!([of(DropReason::LinkDown), of(DropReason::Silent), of(DropReason::NoRoute)], counts);
        for (flow, spec) in outcome.flows.iter().zip(bench.sorted().flows) {
            prop_assert_eq!(flow.acked, spec.size.0);
        }
        for record in &outcome.ports {
            prop_assert!(record.xoff_sent >= record.xon_sent);
        }
        for pause in &outcome.pauses {
            prop_assert!(pause.end.is_none_or(|end| end >= pause.start));
        }
        prop_assert_eq!(digest(&outcome), digest(&bench.run()));
        let half = bench.with(|params| params.horizon = Some(Time(outcome.end.0 / 2 + 1))).run();
        prop_assert_eq!(half.ledger.unbalanced().count(), 0, "{:?}", half.ledger);
    }
}

proptest! {
    #![proptest_config(random_runs(300))]

    #[test]
    fn holds_lose_nothing(
        holds in holds(),
        pairs in prop::collection::vec((0u32..6, 1u32..6, 1u64..200_000, 0u64..40_000), 1..16),
        xoff in prop::option::of(5_000u64..50_000),
        seed in any::<u64>(),
    ) {
        let flows = pairs.iter().map(|&(src, shift, size, start)| (src, (src + shift) % 6, size, Time::ns(start)));
        let bench = Bench::new(leaf_spine(3, 2, 3, CABLE, CABLE)).flows(flows).with(|params| {
            params.seed = seed;
            params.switch.buffer = Bytes(1_000_000);
            params.network.pause = holds;
            params.measure.deadlock_every = Time::us(1);
            if let Some(xoff) = xoff {
                params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(xoff) };
            }
        });
        let outcome = bench.run();
        prop_assert_eq!(&outcome.stop, &Stop::Finished);
        prop_assert_eq!((outcome.counts.drops, outcome.deadlocks.len(), outcome.cut_off.len()), (0, 0, 0));
        prop_assert_eq!(outcome.ledger.unbalanced().count(), 0, "{:?}", outcome.ledger);
        for (index, pause) in outcome.pauses.iter().enumerate() {
            let same = |other: &PauseRecord| (other.port, other.priority) == (pause.port, pause.priority);
            let next = outcome.pauses[index + 1..].iter().find(|other| same(other));
            prop_assert!(next.is_none_or(|next| pause.end.is_some_and(|end| end <= next.start)));
        }
        prop_assert_eq!(digest(&outcome), digest(&bench.run()));
    }
}

proptest! {
    #![proptest_config(random_runs(100))]

    #[test]
    fn everything_recovers_on_up_down_routes(
        failures in prop::collection::vec((1u32..10, 0u64..60_000, 1u64..200_000), 1..4),
        pairs in prop::collection::vec((0u32..16, 1u32..16, 1u64..60_000, 0u64..40_000), 1..16),
        reroute in 0u64..50_000,
        seed in any::<u64>(),
    ) {
        let flows = pairs.iter().map(|&(src, shift, size, start)| (src, (src + shift) % 16, size, Time::ns(start)));
        let failures = failures.iter().map(|&(links, at, lasts)| FailureParams {
            random: Some(RandomLinks { links, tiers: None }),
            at: Time::ns(at),
            until: Some(Time::ns(at + lasts)),
            ..FailureParams::default()
        });
        let bench = Bench::new(testbed(CABLE)).flows(flows);
        let bench = failing(bench, failures.collect(), Some(Time::ns(reroute))).with(|params| {
            (params.seed, params.network.routing) = (seed, Paths::UpDown);
            params.rdma.rto = Some(Time::us(100));
        });
        let outcome = bench.run();
        prop_assert_eq!(&outcome.stop, &Stop::Finished);
        prop_assert_eq!(outcome.ledger.unbalanced().count(), 0, "{:?}", outcome.ledger);
    }
}

#[test]
fn up_down_routes_do_not_turn_up_again() {
    let run = |paths, at, until| {
        let failures = [("l3", "s0"), ("l3", "s1"), ("l2", "t3")].map(|(a, b)| link(a, b, at, until));
        let bench = Bench::new(testbed(CABLE)).flow(0, 12, 200_000, Time::ZERO).flow(9, 13, 200_000, Time::ZERO);
        failing(bench, failures.to_vec(), Some(Time::us(1))).with(|params| {
            (params.network.routing, params.rdma.rto) = (paths, Some(RTO));
        })
    };
    let down_to_t2 = |bench: &Bench| {
        let (outcome, port) = (bench.run(), port(&bench.fabric(), "l2", "t2"));
        let turned = outcome.ports.iter().any(|record| record.port == port && record.priority == 3);
        (outcome, turned)
    };
    let (shortest, turned) = down_to_t2(&run(Paths::Shortest, Time::us(5), None));
    assert_eq!((shortest.stop, turned), (Stop::Finished, true));
    let bench = run(Paths::UpDown, Time::us(5), None);
    let (cut, turned) = down_to_t2(&bench);
    assert!(!turned && cut.flows[1].finish.is_some() && cut.counts.no_route_drops > 0, "{:?}", cut.counts);
    assert_eq!(cut.stop, Stop::Stalled { flows: vec![0], unfinished: 1 });
    let t0 = bench.fabric().nodes().iter().position(|node| node.name == "t0").unwrap() as u32;
    let places: Vec<(u32, bool, Obstacle)> = cut.cut_off.iter().map(|one| (one.flow, one.acks, one.place)).collect();
    assert_eq!(places, [(0, false, Obstacle::NoRoute(NodeId(t0)))]);
    let repaired = run(Paths::UpDown, Time::us(5), Some(Time::us(800))).run();
    assert_eq!((repaired.stop, repaired.cut_off.len()), (Stop::Finished, 0));
    let error = refused(&run(Paths::UpDown, Time::ZERO, None));
    assert_eq!(error.field, "network.failure");
    assert!(error.message.contains("flow 0 never has a path from h0 to h12 by up-down routing"), "{error}");
    assert_eq!(run(Paths::Shortest, Time::ZERO, None).run().stop, Stop::Finished);
}

#[test]
fn up_down_routes_are_for_tiers() {
    let run = |paths| {
        let flows = (0..16).map(|host| (host, (host + 5) % 16, 100_000, Time::ns(host.into())));
        Bench::new(testbed(CABLE)).flows(flows).with(|params| params.network.routing = paths)
    };
    assert_eq!(digest(&run(Paths::UpDown).run()), digest(&run(Paths::Shortest).run()));
    let row = fabric().flow(0, 2, 1000, Time::ZERO).with(|params| params.network.routing = Paths::UpDown);
    let error = refused(&row);
    assert_eq!(error.field, "network.routing");
    let message = "there is no up-down path from h0 to h2; no up-down path uses links between equal tiers, such as that of s0 and s2";
    assert!(error.message.starts_with(message) && error.to_string().contains("(allowed: shortest, or"), "{error}");
    let mut builder = FabricBuilder::new();
    let hosts = [builder.host("h0"), builder.host("h1")];
    let [s0, s1, m, x] = [("s0", 1), ("s1", 1), ("m", 2), ("x", 2)].map(|(name, tier)| builder.switch(name, tier));
    for (a, b) in [(hosts[0], s0), (hosts[1], s1), (s0, m), (s1, m), (s0, x)] {
        builder.link(a, b, Rate::gbps(100), Time::us(1));
    }
    let over_x = RouteParams { at: "s0".into(), to: "h1".into(), via: vec!["x".into()], ..RouteParams::default() };
    let astray = Bench::new(builder.finish().unwrap()).flow(0, 1, 1000, Time::ZERO).with(|params| {
        (params.network.routing, params.network.route) = (Paths::UpDown, vec![over_x]);
    });
    let error = refused(&astray);
    let message = "packets of s0 to h1 can reach x, which has no up-down path there";
    assert!(error.field == "network.route" && error.message.starts_with(message), "{error}");
}

#[test]
fn random_links_are_drawn_once_each_by_seed() {
    let drawn = |seed, tiers| {
        let random = FailureParams { random: Some(RandomLinks { links: 3, tiers }), ..FailureParams::default() };
        let bench = Bench::new(leaf_spine(3, 2, 3, CABLE, CABLE)).flow(0, 1, 1000, Time::ZERO);
        let bench = failing(bench, vec![random], None).with(|params| params.seed = seed);
        let down = bench.run().links.into_iter().filter(|record| record.change == LinkChange::Down);
        let mut links: Vec<LinkId> = down.map(|record| record.link).collect();
        links.dedup();
        assert_eq!(links.len(), 3);
        links
    };
    assert_eq!(drawn(1, None), drawn(1, None));
    assert!((2..12).any(|seed| drawn(seed, None) != drawn(1, None)));
    // Hosts' links come first.
    assert!((1..12).all(|seed| drawn(seed, None).iter().all(|link| link.0 >= 6)));
}

#[test]
fn of_parallel_links_one_or_all_fail() {
    let run = |parallel| {
        let mut builder = FabricBuilder::new();
        let hosts = [builder.host("h0"), builder.host("h1")];
        let ends = [builder.switch("s0", 1), builder.switch("s1", 1)];
        (0..2).for_each(|k| {
            builder.link(hosts[k], ends[k], Rate::gbps(100), Time::us(1));
        });
        (0..3).for_each(|_| {
            builder.link(ends[0], ends[1], Rate::gbps(100), Time::us(1));
        });
        let bench = Bench::new(builder.finish().unwrap()).flow(0, 1, 10_000, Time::ZERO);
        let failure = FailureParams { parallel, ..link("s1", "s0", Time::us(1), Some(Time::ms(50))) };
        let outcome = failing(bench, vec![failure], Some(Time::ZERO)).run();
        let down = outcome.links.iter().filter(|record| record.change == LinkChange::Down);
        down.map(|record| record.link.0).collect::<Vec<_>>()
    };
    assert_eq!((run(None), run(Some(0)), run(Some(2))), (vec![2, 3, 4], vec![2], vec![4]));
}
