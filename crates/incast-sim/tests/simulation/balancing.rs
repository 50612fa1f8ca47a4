use incast_model::fabric::{FabricBuilder, HostId};
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::balance::{AdaptiveParams, Balance, FlowletParams, SprayOrder, SprayParams};
use incast_sim::congestion::WindowMode;
use incast_sim::host::Recovery;
use incast_sim::network::RouteParams;
use incast_sim::outcome::{Outcome, Stop};

use crate::common::{Bench, Cable, digest, leaf_spine, port};

const CABLE: Cable = Cable::new(100, 500);

/// h0 to h3 on s0, h4 to h7 on s1; spines from s2 on.
fn bench(spines: usize) -> Bench {
    Bench::new(leaf_spine(2, 4, spines, CABLE, CABLE))
}

fn spray(order: SprayOrder) -> Balance {
    Balance::Spray(SprayParams { order, acks: false })
}

fn shares(bench: &Bench, outcome: &Outcome, spines: usize) -> Vec<u64> {
    let fabric = bench.fabric();
    let sent = |spine: usize| {
        let port = port(&fabric, "s0", &format!("s{}", 2 + spine));
        let record = outcome.ports.iter().find(|record| record.port == port && record.priority == 3);
        record.map_or(0, |record| record.tx_packets)
    };
    (0..spines).map(sent).collect()
}

fn load(bench: Bench, flows: u32) -> Bench {
    bench.flows((0..flows).map(|k| (k % 4, 4 + k * 3 % 4, 50_000, Time::ns(u64::from(k) * 1700))))
}

#[test]
fn turns_share_paths_equally_within_one_packet() {
    for spines in [2, 3, 5] {
        let bench =
            load(bench(spines), 12).with(|params| params.network.load_balancing = spray(SprayOrder::RoundRobin));
        let outcome = bench.run();
        assert_eq!(outcome.stop, Stop::Finished);
        let shares = shares(&bench, &outcome, spines);
        assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1, "{shares:?}");
        let sent: u64 = outcome.flows.iter().map(|flow| flow.packets).sum();
        assert_eq!(shares.iter().sum::<u64>(), sent);
    }
}

#[test]
fn random_packets_share_paths_evenly() {
    let bench = load(bench(4), 80).with(|params| params.network.load_balancing = spray(SprayOrder::Random));
    let shares = shares(&bench, &bench.run(), 4);
    let mean = shares.iter().sum::<u64>() as f64 / 4.0;
    let chi_square: f64 = shares.iter().map(|&share| (share as f64 - mean).powi(2) / mean).sum();
    assert!(chi_square < 16.3, "{shares:?}"); // 99.9 %, 3 degrees of freedom
}

#[test]
fn ecmp_keeps_flows_together_and_in_order() {
    for sport in 0..6 {
        let mut bench = bench(4);
        for _ in 0..sport {
            bench = bench.flow(4, 0, 1, Time::ZERO); // takes a source port
        }
        let bench = bench.flow(0, 4, 100_000, Time::ZERO);
        let outcome = bench.run();
        let shares = shares(&bench, &outcome, 4);
        assert_eq!(shares.iter().filter(|&&share| share >= 100).count(), 1, "{shares:?}");
        assert!(outcome.flows.iter().all(|flow| flow.nacks == 0 && flow.retransmitted == 0));
    }
}

fn one_at_a_time(gap: Time) -> (Bench, Outcome) {
    let bench = bench(2).flow(0, 4, 64_000, Time::ZERO).window(WindowMode::Fixed).with(|params| {
        params.rdma.window = Some(Bytes(1));
        params.network.load_balancing = Balance::Flowlet(FlowletParams { gap, ..FlowletParams::default() });
    });
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Finished);
    (bench, outcome)
}

#[test]
fn flowlets_begin_when_the_gap_is_passed() {
    let round_trip = Time(4 * 1048 * 80 + 4 * 60 * 80 + 8 * 500_000);
    let (bench, outcome) = one_at_a_time(round_trip);
    assert_eq!(outcome.flows[0].finish.unwrap().0, 64 * round_trip.0);
    let together = shares(&bench, &outcome, 2);
    assert!(together.contains(&64) && together.contains(&0), "{together:?}");
    // One path for all: probability 2^-63.
    let (bench, outcome) = one_at_a_time(round_trip - Time(1));
    let apart = shares(&bench, &outcome, 2);
    assert!(apart.iter().all(|&share| share > 10) && apart.iter().sum::<u64>() == 64, "{apart:?}");
    assert_eq!(outcome.flows[0].nacks, 0);
}

#[test]
fn flowlets_stay_in_order_if_the_gap_is_longer_than_paths_differ() {
    let balance = Balance::Flowlet(FlowletParams { gap: Time::us(300), ..FlowletParams::default() });
    let bench = load(bench(3), 60).control("dcqcn", "vendor").with(|params| params.network.load_balancing = balance);
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Finished);
    assert!(outcome.flows.iter().all(|flow| flow.nacks == 0));
}

#[test]
fn sprayed_over_unequal_paths_packets_come_out_of_order() {
    let mut builder = FabricBuilder::new();
    let hosts = [builder.host("h0"), builder.host("h1")];
    let ends = [builder.switch("s0", 1), builder.switch("s1", 1)];
    for (host, end) in hosts.into_iter().zip(ends) {
        builder.link(host, end, Rate::gbps(100), Time::ns(500));
    }
    for delay in [500, 1500] {
        let spine = builder.switch(format!("s{}", 1 + delay / 500), 2);
        ends.iter().for_each(|&end| {
            builder.link(end, spine, Rate::gbps(100), Time::ns(delay));
        });
    }
    let bench = Bench::new(builder.finish().unwrap()).flow(0, 1, 200_000, Time::ZERO);
    let sprayed = bench.clone().with(|params| params.network.load_balancing = spray(SprayOrder::RoundRobin)).run();
    assert_eq!(sprayed.stop, Stop::Finished);
    assert!(sprayed.flows[0].nacks > 0 && sprayed.flows[0].retransmitted > 0);
    let balance = Balance::Flowlet(FlowletParams::default());
    let whole = bench.with(|params| params.network.load_balancing = balance).run();
    assert_eq!((whole.flows[0].nacks, whole.flows[0].retransmitted), (0, 0));
}

#[test]
fn the_shortest_queue_is_shared_better_than_by_hash() {
    let run = |balance| {
        let bench = bench(4).flows((0..4).map(|k| (k, 4 + k, 400_000, Time::ZERO)));
        bench.with(|params| params.network.load_balancing = balance).run()
    };
    let most = |outcome: &Outcome| outcome.ports.iter().map(|record| record.peak_queue).max().unwrap();
    let adaptive = run(Balance::Adaptive(AdaptiveParams { samples: 4, ..AdaptiveParams::default() }));
    assert_eq!(adaptive.stop, Stop::Finished);
    assert!(most(&adaptive) < 3 * 1048, "{}", most(&adaptive));
    assert!(most(&run(Balance::Ecmp)) > 100_000);
}

#[test]
fn given_routes_are_obeyed() {
    let route = |to: &str, via: &[&str]| RouteParams {
        at: "s0".into(),
        to: to.into(),
        via: via.iter().map(|&name| name.into()).collect(),
        ..RouteParams::default()
    };
    let run = |routes: Vec<RouteParams>, balance: Balance| {
        let bench = load(bench(4), 40).with(|params| {
            params.network.route = routes;
            params.network.load_balancing = balance;
        });
        let outcome = bench.run();
        assert_eq!(outcome.stop, Stop::Finished);
        shares(&bench, &outcome, 4)
    };
    assert_eq!(run(vec![route("s1", &["s4"])], Balance::Ecmp), [0, 0, 40 * 50, 0]);
    let two = run(vec![route("s1", &["s5", "s2"])], Balance::Ecmp);
    assert!(two[0] > 0 && two[3] > 0 && two[1] == 0 && two[2] == 0, "{two:?}");
    let turns = run(vec![route("s1", &["s5", "s2"])], spray(SprayOrder::RoundRobin));
    assert!(turns[0].abs_diff(turns[3]) <= 4, "one for each of four hosts: {turns:?}");
    let usual = run(Vec::new(), Balance::Ecmp);
    let one = run(vec![route("h5", &["s3"])], Balance::Ecmp);
    assert!(one[1] > usual[1], "{one:?}, {usual:?}");
}

#[test]
fn a_route_may_be_longer_than_the_shortest() {
    let route = |at: &str, via: &str| RouteParams {
        at: at.into(),
        to: "h4".into(),
        via: vec![via.into()],
        ..RouteParams::default()
    };
    let bench = Bench::new(leaf_spine(3, 2, 2, CABLE, CABLE)).flow(0, 4, 10_000, Time::ZERO).with(|params| {
        params.network.route = vec![route("s0", "s3"), route("s3", "s1"), route("s1", "s4")];
    });
    let outcome = bench.run();
    assert_eq!(outcome.stop, Stop::Finished);
    // h0 s0 s3 s1 s4 s2 h4.
    assert_eq!(outcome.flows[0].hops, 6);
    assert_eq!(outcome.flows[0].finish.unwrap(), outcome.flows[0].ideal_exact);
}

/// Four uplinks of 40 Gb/s carry the 100 Gb/s of one host.
fn slow_uplinks(balance: &Balance) -> Bench {
    let bench = Bench::new(leaf_spine(2, 1, 4, CABLE, Cable::new(40, 500)));
    bench.flow(0, 1, 4_000_000, Time::ZERO).with(|params| {
        params.network.load_balancing = balance.clone();
        params.rdma.recovery = Recovery::SelectiveRepeat;
    })
}

#[test]
fn a_flow_alone_that_spreads_over_slower_links_has_nearly_its_ideal_time() {
    for balance in
        [spray(SprayOrder::RoundRobin), spray(SprayOrder::Random), Balance::Adaptive(AdaptiveParams::default())]
    {
        for (control, profile) in [("dcqcn", "vendor"), ("swift", "paper")] {
            let outcome = slow_uplinks(&balance).control(control, profile).run();
            let flow = &outcome.flows[0];
            let slowdown = flow.fct().unwrap().0 as f64 / flow.ideal_exact.0 as f64;
            assert_eq!((flow.retransmitted, flow.timeouts), (0, 0));
            assert!((1.0..1.1).contains(&slowdown), "{balance:?}, {control}: {slowdown}");
        }
    }
    // On one path: 4,000 packets at 40 Gb/s.
    let alone = slow_uplinks(&Balance::Ecmp).run();
    assert_eq!(alone.flows[0].fct(), Some(alone.flows[0].ideal_exact));
}

#[test]
fn runs_repeat_by_seed() {
    let rules = [
        spray(SprayOrder::Random),
        spray(SprayOrder::RoundRobin),
        Balance::Flowlet(FlowletParams { gap: Time::us(1), entries: 7 }),
        Balance::Adaptive(AdaptiveParams::default()),
    ];
    for balance in rules {
        let run = |seed| {
            let balance = balance.clone();
            let bench =
                load(bench(4), 40).with(|params| (params.network.load_balancing, params.seed) = (balance, seed));
            digest(&bench.run())
        };
        assert_eq!(run(1), run(1), "{balance:?}");
        assert_ne!(run(1), run(2), "{balance:?}");
    }
}

#[test]
fn hosts_choose_their_port_by_the_same_rule() {
    let mut builder = FabricBuilder::new();
    let hosts = [builder.host("h0"), builder.host("h1")];
    let switch = builder.switch("s0", 1);
    for host in [hosts[0], hosts[0], hosts[1]] {
        builder.link(host, switch, Rate::gbps(100), Time::us(1));
    }
    let bench = Bench::new(builder.finish().unwrap()).flows((0..20).map(|k| (0, 1, 5000, Time::us(100 * k))));
    let bench = bench.with(|params| params.network.load_balancing = spray(SprayOrder::RoundRobin));
    let outcome = bench.run();
    let fabric = bench.fabric();
    let sent: Vec<u64> = fabric
        .ports_of(fabric.hosts()[HostId(0).index()])
        .map(|port| crate::common::record(&outcome, port, 3).tx_packets)
        .collect();
    assert_eq!(sent, [50, 50]);
}

/// Default: reordering is no loss; with a reorder window of 0 (IRN) it is.
#[test]
fn selective_repeat_sends_nothing_again_where_nothing_is_lost() {
    let adaptive = Balance::Adaptive(AdaptiveParams::default());
    for balance in [spray(SprayOrder::Random), spray(SprayOrder::RoundRobin), adaptive, Balance::Ecmp] {
        let again = |window| {
            let outcome = load(bench(4), 120)
                .control("dcqcn", "vendor")
                .with(|params| {
                    params.network.load_balancing = balance.clone();
                    params.rdma.recovery = Recovery::SelectiveRepeat;
                    params.rdma.reorder_window = window;
                })
                .run();
            assert_eq!((outcome.stop, outcome.counts.drops), (Stop::Finished, 0));
            outcome.flows.iter().map(|flow| flow.retransmitted).sum::<u64>()
        };
        assert_eq!(again(None), 0, "{balance:?}");
        match balance {
            Balance::Ecmp => assert_eq!(again(Some(0)), 0),
            Balance::Spray(SprayParams { order: SprayOrder::Random, .. }) => assert!(again(Some(0)) > 0),
            _ => {}
        }
    }
}
