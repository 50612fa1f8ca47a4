use incast_model::units::Time;
use incast_sim::transport::{PhostOrder, PhostParams, Transport};

use super::named;
use crate::common::{Bench, Cable, check, fct, port, star, within};

fn cables(count: usize) -> Vec<Cable> {
    vec![Cable::new(40, 200); count]
}

#[test]
fn h1_an_incast_of_long_flows_hardly_queues() {
    let flows = (0..8).map(|src| (src, 8, 400 * 1460, Time::ZERO));
    let bench = Bench::new(star(&cables(9))).transport(named("phost", "disaggregation")).flows(flows);
    let outcome = bench.run();
    let receiver = port(&bench.fabric(), "s0", "h8");
    let peak = outcome.ports.iter().filter(|one| one.port == receiver).map(|one| one.peak_queue).max().unwrap();
    check("H1", "longest queue at the receiver, packets", "below 8", peak as f64 / 1500.0, peak < 8 * 1500);
    assert_eq!(outcome.counts.drops, 0);
    let last = outcome.flows.iter().map(|flow| flow.fct().unwrap().0).max().unwrap() as f64 * 1e-6;
    within("H1", "all done after, us", 8.0 * 400.0 * 0.3, last, 0.03);
    assert!(outcome.flows.windows(2).all(|pair| pair[0].finish < pair[1].finish));
}

#[test]
fn h2_a_long_flow_alone_is_at_line_rate() {
    let outcome = Bench::new(star(&cables(2)))
        .transport(named("phost", "disaggregation"))
        .flow(0, 1, 10_000_000, Time::ZERO)
        .run();
    let slowdown = fct(&outcome, 0).0 as f64 / outcome.flows[0].ideal_exact.0 as f64;
    check("H2", "slowdown of 10 MB alone", "1 to 1.01", slowdown, (1.0..1.01).contains(&slowdown));
}

/// Four senders' flows of eight packets fit.
#[test]
fn h3_free_tokens_can_collide() {
    for (senders, drops) in [(4u32, false), (8, true)] {
        let flows = (0..senders).map(|src| (src, senders, 8 * 1460, Time::ZERO));
        let outcome = Bench::new(star(&cables(senders as usize + 1)))
            .transport(named("phost", "disaggregation"))
            .flows(flows)
            .run();
        assert_eq!(outcome.counts.drops > 0, drops, "{senders} senders");
        let last = outcome.flows.iter().map(|flow| flow.fct().unwrap().0).max().unwrap() as f64 * 1e-6;
        let bound = f64::from(senders) * 8.0 * 0.3 + 2.0 * 8.0 * 0.3 + 2.0 * 9.0 * 0.3 + 3.0;
        check("H3", &format!("{senders} senders, all done after, us"), format!("below {bound:.1}"), last, last < bound);
    }
}

#[test]
fn h4_a_busy_source_is_passed_over() {
    let outcome = Bench::new(star(&cables(5)))
        .transport(named("phost", "disaggregation"))
        .flow(0, 3, 200 * 1460, Time::ZERO)
        .flow(0, 4, 210 * 1460, Time::ZERO)
        .flow(1, 4, 220 * 1460, Time::ZERO)
        .run();
    let end = |flow: usize| fct(&outcome, flow).0 as f64 * 1e-6;
    within("H4", "the first source's first flow, us", 60.0, end(0), 0.1);
    check("H4", "the second source is not held up, us", "below 110", end(2), end(2) < 110.0);
    check("H4", "all, us", "below 160", end(1), end(1) < 160.0);
}

#[test]
fn h5_orders() {
    let run = |order| {
        let transport = Transport::Phost(PhostParams { order, ..PhostParams::default() });
        let bench = Bench::new(star(&cables(3))).transport(transport);
        let outcome = bench.flow(0, 2, 300 * 1460, Time::ZERO).flow(1, 2, 100 * 1460, Time::us(10)).run();
        [0, 1].map(|flow| fct(&outcome, flow).0 as f64 * 1e-6)
    };
    let [long, short] = run(PhostOrder::Srpt);
    within("H5", "shortest first: the short flow, us", 100.0 * 0.3 + 2.0, short, 0.1);
    within("H5", "the long one", 120.0 + 2.0, long, 0.05);
    let [long, short] = run(PhostOrder::Fifo);
    within("H5", "first come, first served: the long flow, us", 90.0 + 2.0, long, 0.05);
    within("H5", "the short one", 120.0 - 10.0 + 2.0, short, 0.1);
}

/// Eight packets of 1.2 us each at 10 Gb/s; one ACK ends the flow.
#[test]
fn samples_count_bytes_that_arrived() {
    let bench = Bench::new(star(&[Cable::new(10, 200); 2])).transport(named("phost", "disaggregation"));
    let bench = bench.flow(0, 1, 8 * 1460, Time::ZERO);
    let outcome = bench.with(|params| params.measure.sample_every = Some(Time(1_200_000))).run();
    let counted: Vec<u64> = outcome.rates.iter().map(|sample| sample.acked / 1460).collect();
    // The first arrives between the third and the fourth sample.
    assert_eq!(counted, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((outcome.flows[0].acked, outcome.flows[0].finish.is_some()), (8 * 1460, true));
}
