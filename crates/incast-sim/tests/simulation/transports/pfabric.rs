use incast_model::units::{Bytes, Time};

use super::named;
use crate::common::{Bench, Cable, check, fct, star, within};

fn cables(count: usize) -> Vec<Cable> {
    vec![Cable::new(40, 200); count]
}

#[test]
fn p1_two_equal_flows_go_one_after_the_other() {
    let size = 4_000_000;
    let outcome = Bench::new(star(&cables(3)))
        .transport(named("pfabric", "yaps"))
        .flow(0, 2, size, Time::ZERO)
        .flow(1, 2, size + 1460, Time::ZERO)
        .run();
    let alone = outcome.flows[0].ideal_exact.0 as f64;
    within("P1", "the first, in times of a lone flow", 1.0, fct(&outcome, 0).0 as f64 / alone, 0.05);
    within("P1", "the second", 2.0, fct(&outcome, 1).0 as f64 / alone, 0.05);
}

#[test]
fn p2_a_short_flow_passes_a_long_one() {
    let outcome = Bench::new(star(&cables(3)))
        .transport(named("pfabric", "yaps"))
        .flow(0, 2, 4_000_000, Time::ZERO)
        .flow(1, 2, 3 * 1460, Time::us(300))
        .run();
    let late = (fct(&outcome, 1) - outcome.flows[1].ideal_exact).0 as f64 / 300_000.0;
    check("P2", "packet times that it waits", "0 to 1", late, (0.0..=1.05).contains(&late));
}

/// The port holds 24 of 200 packets.
#[test]
fn p3_an_incast_of_short_flows() {
    let flows = (0..20).map(|src| (src, 20, 10 * 1460, Time::ZERO));
    let outcome = Bench::new(star(&cables(21))).transport(named("pfabric", "yaps")).flows(flows).run();
    let last = outcome.flows.iter().map(|flow| flow.fct().unwrap().0).max().unwrap() as f64 * 1e-6;
    let sent = 200.0 * 0.3;
    check(
        "P3",
        "all done after, us",
        "60 to 60 and five timeouts",
        last,
        (sent..sent + 5.0 * 45.0 + 10.0).contains(&last),
    );
    assert!(outcome.counts.drops > 0);
}

/// 60 packets of 1.2 us at 10 Gb/s wait longer than the timeout of 45 us.
#[test]
fn packets_that_wait_in_their_host_are_not_sent_again() {
    let flows = (1..4).map(|dst| (0, dst, 20 * 1460, Time::ZERO));
    let outcome = Bench::new(star(&[Cable::new(10, 1000); 4])).transport(named("pfabric", "paper")).flows(flows).run();
    assert!(outcome.flows.iter().all(|flow| (flow.timeouts, flow.retransmitted) == (0, 0)), "{:?}", outcome.flows);
    let last = (0..3).map(|flow| fct(&outcome, flow).0).max().unwrap();
    // The last data packet leaves after 72 us, and arrives and is acknowledged after two links each.
    assert!((72_000_000..79_000_000).contains(&last), "{last}");
}

#[test]
fn p4_alone_at_line_rate() {
    let outcome =
        Bench::new(star(&cables(2))).transport(named("pfabric", "yaps")).flow(0, 1, 10_000_000, Time::ZERO).run();
    within(
        "P4",
        "slowdown of 10 MB alone",
        1.0,
        fct(&outcome, 0).0 as f64 / outcome.flows[0].ideal_exact.0 as f64,
        1e-3,
    );
    assert_eq!((outcome.counts.drops, outcome.flows[0].timeouts), (0, 0));
}

#[test]
fn p5_a_starved_flow_resumes() {
    for profile in ["paper", "yaps"] {
        let short = (0..150u64).flat_map(|round| {
            [(1, 3, 8 * 1460, Time::ns(2400 * round)), (2, 3, 8 * 1460, Time::ns(2400 * round + 1200))]
        });
        let outcome = Bench::new(star(&cables(4)))
            .transport(named("pfabric", profile))
            .flow(0, 3, 3_000_000, Time::ZERO)
            .flows(short)
            .run();
        let ends = outcome.flows[1..].iter().filter_map(|flow| flow.finish).max().unwrap();
        let rest = (outcome.flows[0].finish.unwrap() - ends).0 as f64 * 1e-6;
        let whole = 3_000_000.0 / 1460.0 * 0.3;
        check(
            "P5",
            &format!("{profile}: done after the others, us"),
            "a lone flow's time and a timeout",
            rest,
            rest < whole + 50.0,
        );
        assert!(outcome.flows[0].timeouts > 0, "it was starved");
    }
}

/// Ports of 6200 B hold four packets.
#[test]
fn p6_a_small_port() {
    let queues = incast_sim::switch::QueueParams::Pfabric { limit: Bytes(6200) };
    let outcome = Bench::new(star(&cables(3)))
        .transport(named("pfabric", "yaps-10g-small"))
        .with(|params| params.switch.queues = queues)
        .flow(0, 2, 600_000, Time::ZERO)
        .flow(1, 2, 30_000, Time::us(20))
        .run();
    assert!(outcome.drops.iter().all(|drop| drop.flow == Some(0)), "only the long flow loses");
    let slowdown = fct(&outcome, 1).0 as f64 / outcome.flows[1].ideal_exact.0 as f64;
    check("P6", "slowdown of the short flow", "below 1.2", slowdown, slowdown < 1.2);
}
