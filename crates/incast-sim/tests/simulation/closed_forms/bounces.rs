//! Loops and bounces on Tagger's testbed. TG1 to TG4: claims of the study `tagger`.
//!
//! A bounce (down to a switch and up again) gets the next tag; after the last, a packet is lossy (Hu et al., CoNEXT 2017,
//! section 4).

use incast_model::fabric::{Fabric, NodeKind, PortId};
use incast_model::units::{Bytes, Time};
use incast_sim::Outcome;
use incast_sim::congestion::WindowMode;
use incast_sim::network::RouteParams;
use incast_sim::outcome::{Counts, DropReason, PauseRecord, Stop};
use incast_sim::switch::{PfcMode, QueueBy, TagRules, WatchdogAction, WatchdogParams};

use crate::common::{Bench, Cable, check, digest, exact, fct, star, testbed};

pub(crate) const END: Time = Time::ms(12);
pub(crate) const EVENT: Time = Time::ms(4);

fn tier(fabric: &Fabric, port: PortId) -> u8 {
    fabric.node(fabric.neighbour(port)).tier
}

fn one_bounce(fabric: &Fabric) -> TagRules {
    let mut rules = TagRules::new(fabric, 2);
    for (index, node) in fabric.nodes().iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Switch) {
        let ports: Vec<PortId> = fabric.ports_of(incast_model::fabric::NodeId(index as u32)).collect();
        for (&input, &output) in ports.iter().flat_map(|input| ports.iter().map(move |output| (input, output))) {
            let bounces = tier(fabric, input) > node.tier && tier(fabric, output) > node.tier;
            for tag in 1..=2 {
                let new = tag + u8::from(bounces);
                if new <= 2 {
                    rules.insert(fabric, tag, input, output, new);
                }
            }
        }
    }
    rules
}

pub(crate) fn bench() -> Bench {
    Bench::new(testbed(Cable::new(40, 1000))).with(|params| {
        params.switch.buffer = Bytes(1_000_000);
        params.switch.lossless = vec![3, 4];
        params.ecn.enabled = false;
        params.horizon = Some(END);
        params.measure.sample_every = Some(Time::us(100));
    })
}

pub(crate) fn tagged(bench: Bench) -> Bench {
    let rules = one_bounce(&bench.fabric());
    bench.tags(rules).with(|params| params.switch.tagging.enabled = true)
}

pub(crate) fn watched(bench: Bench, action: WatchdogAction) -> Bench {
    bench.with(|params| {
        let [detection, restoration, poll] = [Time::us(500), Time::us(200), Time::us(100)];
        params.switch.watchdog = WatchdogParams { enabled: true, detection, restoration, poll, action };
    })
}

/// Two flows over t0, l0, s0, l2 and t3; from [`EVENT`] on, l0 returns h14's packets to t0.
fn looping() -> Bench {
    let route = |at: &str, to: &str, via: &str, from: Time| RouteParams {
        at: at.into(),
        to: to.into(),
        via: vec![via.into()],
        from,
        ..RouteParams::default()
    };
    let mut routes = Vec::new();
    for host in ["h14", "h15"] {
        routes.push(route("t0", host, "l0", Time::ZERO));
        routes.push(route("l2", host, "t3", Time::ZERO));
    }
    routes.push(RouteParams { until: Some(EVENT), ..route("l0", "h14", "s0", Time::ZERO) });
    routes.push(route("l0", "h15", "s0", Time::ZERO));
    routes.push(route("l0", "h14", "t0", EVENT));
    let bench = bench().window(WindowMode::Fixed).with(|params| {
        params.rdma.window = Some(Bytes(512_000));
        params.network.route = routes;
    });
    bench.flow(0, 14, 1 << 30, Time::ZERO).flow(1, 15, 1 << 30, Time::ZERO)
}

/// Flow 0 bounces at l2, flow 1 from [`EVENT`] on at l0: a cyclic dependency over l0, s0, l2, s1.
///
/// It need not deadlock (Hu et al., HotNets 2016): with XOFF at 5 kB every run tried did, at 10 kB three of four, at 30 kB
/// none.
pub(crate) fn bouncing() -> Bench {
    let bench = bench().with(|params| params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(5_000) });
    let bench = bench.flow(0, 12, 1 << 30, Time::ZERO).via(&["t0", "l0", "s0", "l2", "s1", "l3", "t3"]);
    bench.flow(8, 0, 1 << 30, EVENT).via(&["t2", "l2", "s1", "l0", "s0", "l1", "t0"])
}

/// Acknowledged payload in Gb/s.
pub(crate) fn rate(outcome: &Outcome, flow: u32, from: Time, to: Time) -> f64 {
    let acked = |time: Time| {
        let before = outcome.rates.iter().filter(|sample| sample.flow == flow && sample.time <= time);
        before.map(|sample| sample.acked).max().unwrap_or(0)
    };
    (acked(to) - acked(from)) as f64 * 8.0 / (to - from).seconds() / 1e9
}

fn before(outcome: &Outcome, flow: u32) -> f64 {
    rate(outcome, flow, Time::ms(1), EVENT)
}

fn after(outcome: &Outcome, flow: u32) -> f64 {
    rate(outcome, flow, EVENT + Time::ms(4), END)
}

fn port_name(bench: &Bench, port: PortId) -> String {
    let fabric = bench.fabric();
    let (node, peer) = (fabric.port(port).node, fabric.neighbour(port));
    format!("{}-{}", fabric.node(node).name, fabric.node(peer).name)
}

pub(crate) fn names(bench: &Bench, outcome: &Outcome, deadlock: usize) -> String {
    let cycle = outcome.deadlocks[deadlock].cycle.iter();
    cycle.map(|one| port_name(bench, one.queue.port)).collect::<Vec<_>>().join(" ")
}

/// TG1.
#[test]
fn t1_a_loop_deadlocks() {
    let bench = looping();
    let outcome = bench.run();
    check("T1", "rate of flow 1 before, Gb/s", "> 15", before(&outcome, 1), before(&outcome, 1) > 15.0);
    exact("T1", "rate of flow 1 after, Gb/s", 0.0, after(&outcome, 1));
    exact("T1", "deadlocks", 1, outcome.deadlocks.len());
    exact("T1", "cycle", "t0-l0 l0-t0".to_owned(), names(&bench, &outcome, 0));
    let deadlock = &outcome.deadlocks[0];
    check(
        "T1",
        "closed, us after the event",
        "< 1000",
        (deadlock.closed - EVENT).seconds() * 1e6,
        deadlock.closed < EVENT + Time::ms(1),
    );
    assert!(deadlock.closed <= deadlock.seen && deadlock.seen <= deadlock.closed + Time::us(200), "{deadlock:?}");
    assert_eq!((deadlock.ended, deadlock.stuck_hosts), (None, 2));
    assert!(matches!(&outcome.stop, Stop::Deadlock { cycle, .. } if cycle.len() == 2));
    assert_eq!(outcome.counts.drops, 0);
}

/// TG2: lossy after the second bounce.
#[test]
fn t2_tags_let_the_others_through() {
    let outcome = tagged(looping()).run();
    let gained = after(&outcome, 1) / before(&outcome, 1);
    check("T2", "rate of flow 1 after over before", "> 0.9", gained, gained > 0.9);
    exact("T2", "deadlocks", 0, outcome.deadlocks.len());
    exact("T2", "lossless drops", 0, outcome.counts.lossless_drops);
    assert!(outcome.counts.made_lossy > 0 && outcome.counts.drops > 0, "{:?}", outcome.counts);
    assert_eq!(outcome.ledger.unbalanced().count(), 0);
}

/// TG3.
#[test]
fn t3_bounces_deadlock() {
    let bench = bouncing();
    let outcome = bench.run();
    check("T3", "rate of flow 0 before, Gb/s", "> 35", before(&outcome, 0), before(&outcome, 0) > 35.0);
    exact("T3", "rate of flow 0 after, Gb/s", 0.0, after(&outcome, 0));
    exact("T3", "rate of flow 1 after, Gb/s", 0.0, after(&outcome, 1));
    exact("T3", "cycle", "l0-s0 s0-l2 l2-s1 s1-l0".to_owned(), names(&bench, &outcome, 0));
}

/// TG4.
#[test]
fn t4_tags_keep_bounces_going() {
    let outcome = tagged(bouncing()).run();
    let rates = [after(&outcome, 0), after(&outcome, 1)];
    for rate in rates {
        check("T4", "rate of each flow after, Gb/s", "18 to 20", rate, (18.0..20.0).contains(&rate));
    }
    exact("T4", "deadlocks", 0, outcome.deadlocks.len());
    exact("T4", "drops", 0, outcome.counts.drops);
    exact("T4", "packets made lossy", 0, outcome.counts.made_lossy);
    assert!(outcome.counts.retagged > 0);
}

#[test]
fn windows_give_the_same_run_with_tags() {
    for (buffer, queue_by) in
        [(1_000_000, QueueBy::NewTag), (400_000, QueueBy::NewTag), (1_000_000, QueueBy::ArrivingTag)]
    {
        let bench = tagged(bouncing()).with(|params| {
            params.switch.buffer = Bytes(buffer);
            params.switch.tagging.queue_by = queue_by;
            params.measure.fingerprint = true;
        });
        let (outcome, one_by_one) = (bench.run(), bench.run_event_by_event());
        assert_eq!(digest(&outcome), digest(&one_by_one), "{buffer} B, {queue_by:?}");
        assert!(outcome.counts.retagged > 1000, "{:?}", outcome.counts);
    }
}

/// Lossless packets are dropped: in the arriving tag's queue they pass a pause of the new tag.
#[test]
fn t5_the_queue_is_that_of_the_new_tag() {
    // A flow that bounces at l2 meets two others at t3: l3 and then s1 pause it as priority 4.
    let base = || {
        let bench = bench().flow(0, 12, 1 << 30, Time::ZERO).via(&["t0", "l0", "s0", "l2", "s1", "l3", "t3"]);
        let direct = |bench: Bench, src| bench.flow(src, 12, 1 << 30, Time::ZERO).via(&["t2", "l3", "t3"]);
        tagged(direct(direct(bench, 8), 9))
    };
    let right = base().run();
    exact("T5", "lossless drops, queue of the new tag", 0, right.counts.lossless_drops);
    assert!(right.counts.retagged > 0 && right.counts.pauses > 0);
    let wrong = base().with(|params| params.switch.tagging.queue_by = QueueBy::ArrivingTag).run();
    let lost = wrong.counts.lossless_drops;
    check("T5", "lossless drops, queue of the arriving tag", "> 0", lost as f64, lost > 0);
    assert_eq!(wrong.ledger.unbalanced().count(), 0);
}

/// Acts at its first poll after the detection or restoration time. With Drop, the cycle closes again within a poll. With
/// Forward, two flows arrive for one port at l0 and l2: queues into them are never released.
#[test]
fn t6_a_watchdog_ends_deadlocks() {
    let to_spines = ["l0-s0", "l2-s1"];
    let to_leaves = ["s0-l2", "s1-l0", "t0-l0", "t2-l2"];
    for action in [WatchdogAction::Drop, WatchdogAction::Forward] {
        let bench = watched(bouncing(), action);
        let outcome = bench.run();
        let [detection, restoration, poll, look] = [500, 200, 100, 100].map(Time::us);
        let look_after = |time: Time| Time(time.0.div_ceil(poll.0) * poll.0);
        for storm in &outcome.storms {
            let of =
                |pause: &&PauseRecord| (pause.port, pause.priority, pause.end) == (storm.port, 3, Some(storm.begin));
            let pause = outcome.pauses.iter().find(of).expect("a pause that the storm ends");
            assert_eq!(storm.begin, look_after(pause.start + detection), "{action:?} {storm:?}");
            assert!(storm.end.is_none_or(|end| end == storm.begin + restoration + poll), "{action:?} {storm:?}");
        }
        let first = outcome.storms[0].begin;
        let period = detection + restoration + poll + poll;
        let drop = action == WatchdogAction::Drop;
        let times = if drop { 1 + (END - first).0 / period.0 } else { 1 };
        exact("T6", "times that the deadlock forms", times, outcome.deadlocks.len() as u64);
        exact("T6", "storms", 6 * times, outcome.storms.len() as u64);
        for (at, (deadlock, storms)) in outcome.deadlocks.iter().zip(outcome.storms.chunks(6)).enumerate() {
            let begin = first + Time(at as u64 * period.0);
            assert!(storms.iter().all(|storm| storm.begin == begin), "{action:?} {storms:?}");
            let named = |end: bool| {
                let of = storms.iter().filter(|storm| storm.end.is_some() == end);
                let mut names: Vec<String> = of.map(|storm| port_name(&bench, storm.port)).collect();
                names.sort_unstable();
                names
            };
            let all = [&to_spines[..], &to_leaves].concat();
            let (never, ends) = match drop {
                false => (&to_leaves[..], &to_spines[..]),
                true if begin + restoration + poll > END => (&all[..], &[][..]),
                true => (&[][..], &all[..]),
            };
            assert_eq!((named(false), named(true)), (own(never), own(ends)), "{action:?} at {begin}");
            assert_eq!(look_after(deadlock.closed + detection), begin, "{action:?} {deadlock:?}");
            assert_eq!(deadlock.ended, Some(begin + look), "{action:?} {deadlock:?}");
            assert_eq!(names(&bench, &outcome, at).split(' ').count(), 4);
        }
        let moved = after(&outcome, 0) + after(&outcome, 1);
        let few = moved > 0.0 && moved < 0.4;
        check("T6", "rate of both flows after, Gb/s", "> 0, < 1 % of the link", moved, few);
        let Counts { drops, lossless_drops, watchdog_drops, watchdog_lossless_drops, watchdog_bytes, .. } =
            outcome.counts;
        assert!(drops > 0);
        let lost = (lossless_drops, watchdog_drops, watchdog_lossless_drops, watchdog_bytes);
        let expected = if drop { (0, drops, drops, outcome.ledger.dropped[3]) } else { (drops, 0, 0, 0) };
        assert_eq!(lost, expected);
        assert_eq!(outcome.ledger.unbalanced().count(), 0);
    }
}

fn own(names: &[&str]) -> Vec<String> {
    let mut own: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    own.sort_unstable();
    own
}

#[test]
fn t10_rules_that_do_not_apply_cost_nothing() {
    let hosts = 16;
    let fabric = || star(&[Cable::new(40, 1000); 16]);
    let ports: Vec<PortId> = fabric().ports_of(fabric().switches().next().expect("a switch")).collect();
    // Two flows to h1, and ACKs.
    let used = [(0, 1), (2, 1), (1, 0), (1, 2)];
    let others: Vec<(u8, usize, usize)> = (1..=2)
        .flat_map(|tag| (0..hosts).flat_map(move |input| (0..hosts).map(move |output| (tag, input, output))))
        .filter(|&(tag, input, output)| tag == 2 || !used.contains(&(input, output)))
        .collect();
    let run = |more: usize, contended: bool| {
        let mut rules = TagRules::new(&fabric(), 2);
        let taken = others[..more].iter().copied().map(|(tag, input, output)| (tag, input, output, 2));
        for (tag, input, output, new) in used.iter().map(|&(input, output)| (1, input, output, 1)).chain(taken) {
            rules.insert(&fabric(), tag, ports[input], ports[output], new);
        }
        let bench = Bench::new(fabric()).flow(0, 1, 2_000_000, Time::ZERO);
        let bench = if contended { bench.flow(2, 1, 2_000_000, Time::us(100)) } else { bench };
        let bench = bench.tags(rules).with(|params| {
            params.switch.lossless = vec![3, 4];
            params.switch.tagging.enabled = true;
            params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(30_000) };
            params.measure.fingerprint = true;
        });
        bench.run()
    };
    let bare = run(0, true);
    assert!(bare.fingerprint.is_some() && bare.counts.pauses > 0, "{:?}", bare.counts);
    exact("T10", "packets that became lossy", 0, bare.counts.made_lossy);
    for more in [10, 20, 40, 80, 160, others.len()] {
        let outcome = run(more, true);
        assert_eq!((outcome.fingerprint, outcome.counts), (bare.fingerprint, bare.counts), "{more} rules");
        let alone = run(more, false);
        exact("T10", "time of a flow alone, ps", alone.flows[0].ideal_exact.0, fct(&alone, 0).0);
        let times = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.finish).collect::<Vec<_>>();
        assert_eq!(times(&outcome), times(&bare), "{more} rules");
    }
}

#[test]
fn t7_looking_changes_nothing() {
    let run = |every: Time| {
        let outcome = bouncing().with(|params| {
            params.measure.deadlock_every = every;
            params.measure.fingerprint = true;
        });
        outcome.run()
    };
    let [never, often] = [run(Time::ZERO), run(Time::us(1))];
    assert_eq!(never.fingerprint, often.fingerprint);
    assert_eq!(never.counts, often.counts);
    assert_eq!((never.deadlocks[0].closed, never.deadlocks.len()), (often.deadlocks[0].closed, 1));
    assert_eq!((never.deadlocks[0].seen, never.end), (never.end, often.end));
    let seen = often.deadlocks[0].seen - often.deadlocks[0].closed;
    check("T7", "seen, us after it closed", "at most 20", seen.seconds() * 1e6, seen <= Time::us(20));
}

#[test]
fn t8_packets_do_not_go_round_for_ever() {
    let outcome = looping().flow(0, 14, 20_000, EVENT).with(|params| {
        (params.network.ttl, params.rdma.rto) = (10, None);
    });
    let outcome = outcome.only_last_flow().run();
    let fabric = testbed(Cable::new(40, 1000));
    exact("T8", "packets that ended by their ttl", 20, outcome.counts.ttl_drops);
    // A packet visits t0, l0, t0, …: the tenth is l0.
    assert!(outcome.drops.iter().all(|drop| fabric.node(drop.node).name == "l0" && drop.reason == DropReason::Ttl));
    let too_few = looping().with(|params| params.network.ttl = 5);
    assert!(too_few.refused().contains("switches on their path: 5 (allowed: 6 or more)"), "{}", too_few.refused());
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: fn(Bench) -> Bench| change(tagged(bouncing())).refused();
    let few = refused(|bench| bench.with(|params| params.switch.lossless = vec![3]));
    assert_eq!(few, "switch.lossless: [3] has 1 of the 2 priorities that the tags need, one for each");
    let off = refused(|bench| bench.with(|params| params.switch.pfc = false));
    assert!(off.starts_with("switch.tagging.enabled: "), "{off}");
    let lossy = refused(|bench| bench.with(|params| params.switch.tagging.lossy_priority = 4));
    assert!(lossy.contains("none of the lossless priorities [3, 4]"), "{lossy}");
    let beyond =
        refused(|bench| bench.flow_of(5, 0, 5, 1000, Time::ZERO).with(|params| params.switch.lossless = vec![3, 4, 5]));
    assert!(beyond.starts_with("workload.priority: 5 is the priority of no tag"), "{beyond}");
    let none = bouncing().with(|params| params.switch.tagging.enabled = true).refused();
    assert!(none.contains("without rules"), "{none}");
    let zero =
        bouncing().with(|params| (params.switch.watchdog.enabled, params.switch.watchdog.poll) = (true, Time::ZERO));
    assert!(zero.refused().starts_with("switch.watchdog.poll = "), "{}", zero.refused());
}

#[test]
fn t9_congestion_is_no_deadlock() {
    let mut bench = bench();
    for src in 1..12 {
        bench = bench.flow(src, 12, 1 << 30, Time::ZERO);
    }
    let outcome = bench.with(|params| params.measure.deadlock_every = Time::us(1)).run();
    assert!(outcome.counts.pauses > 100, "{}", outcome.counts.pauses);
    exact("T9", "deadlocks", 0, outcome.deadlocks.len());
}
