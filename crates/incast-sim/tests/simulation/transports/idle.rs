//! A lone page of 4 KB in the disaggregation study's 40/160 Gb/s fabric: three packets (1460, 1460, 1176 B of payload, 40 B of
//! headers each), 0.2 us per link.

use incast_model::units::Time;
use incast_sim::transport::{FastpassParams, PfabricParams, PhostParams, TcpParams, Transport};

use super::named;
use crate::common::{Bench, Cable, exact, fct, leaf_spine, within};

const PAGE: u64 = 4096;

/// In ns: within a rack, across the core.
fn page(transport: &Transport) -> [f64; 2] {
    [1, 143].map(|dst| {
        let fabric = leaf_spine(9, 16, 4, Cable::new(40, 200), Cable::new(160, 200));
        let outcome = Bench::new(fabric).transport(transport.clone()).flow(0, dst, PAGE, Time::ZERO).run();
        fct(&outcome, 0).0 as f64 / 1000.0
    })
}

#[test]
fn a_page_by_each_transport() {
    let Transport::Tcp(tcp) = named("tcp", "disaggregation") else { unreachable!() };
    let tcp = |init_cwnd| Transport::Tcp(TcpParams { init_cwnd, ..tcp.clone() });
    let pfabric = |init_cwnd| Transport::Pfabric(PfabricParams { init_cwnd, ..PfabricParams::default() });
    for (what, transport, expected) in [
        // Three packets back to back and an ACK.
        ("pFabric, three at once", pfabric(3), [1959.2, 2913.0]),
        ("pFabric, two at once", pfabric(2), [2718.4, 4598.4]),
        // 8 ns for the announcement.
        ("pHost", Transport::Phost(PhostParams::default()), [1967.2, 2921.0]),
        ("TCP, three at once", tcp(3), [2791.2, 4553.0]),
        ("TCP, one at first", tcp(1), [3907.2, 6622.8]),
    ] {
        for (measured, (place, expected)) in
            page(&transport).into_iter().zip(["rack", "across"].into_iter().zip(expected))
        {
            within("I1", &format!("a page by {what}, {place}, ns"), expected, measured, 2e-4);
        }
    }
}

#[test]
fn the_ideal_time_of_a_page() {
    let fabric = leaf_spine(9, 16, 4, Cable::new(40, 200), Cable::new(160, 200));
    let bench = Bench::new(fabric).transport(named("pfabric", "yaps"));
    let outcome = bench.flow(0, 143, PAGE, Time::ZERO).flow(32, 33, PAGE, Time::us(9)).run();
    for flow in &outcome.flows {
        exact("I2", "ideal time of a page, ps", flow.ideal_exact.0, flow.fct().unwrap().0);
    }
}

#[test]
fn a_page_by_fastpass_waits_for_an_epoch() {
    let epoch = 2550.0;
    for (src, control) in [(1, 416.0), (20, 820.0)] {
        let fct_at = |start: u64| {
            let asap = FastpassParams { arbiter: "arbiter".into(), ..FastpassParams::default() };
            let Transport::Fastpass(params) = named("fastpass", "yaps") else { unreachable!() };
            let transport = Transport::Fastpass(FastpassParams { align: params.align, ..asap });
            let fabric = leaf_spine(9, 16, 4, Cable::new(40, 200), Cable::new(160, 200));
            let service =
                incast_model::fabric::Service { name: "arbiter".into(), at: "s0".into(), rate: None, delay: None };
            let fabric = fabric.with_services(&[service]).unwrap();
            let start = Time::ns(start);
            fct(&Bench::new(fabric).transport(transport).flow(src, 143, PAGE, start).run(), 0).0 as f64 / 1000.0
        };
        let waits: Vec<f64> = (0..255).map(|step| fct_at(10_200 + 10 * step)).collect();
        // Two slots, an eighth of an epoch each, precede it.
        let last = 2.0 * epoch / 8.0 + (1176.0 + 40.0) / 5.0 * 2.0 + (1176.0 + 40.0) / 20.0 * 2.0 + 800.0 + 820.0;
        let expected = control + epoch / 2.0 + control + last;
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        within("I3", &format!("mean time of a page from host {src}, ns"), expected, mean, 0.02);
        let spread = waits.iter().fold(0.0f64, |most, one| most.max(*one))
            - waits.iter().fold(f64::MAX, |least, one| least.min(*one));
        within("I3", "between the longest and the shortest wait, ns", epoch, spread, 0.01);
    }
}

#[test]
fn a_lost_tail_costs_one_timeout() {
    let pfabric = Transport::Pfabric(PfabricParams { init_cwnd: 12, ..PfabricParams::default() });
    let run = |lose: bool| {
        let fabric = leaf_spine(9, 16, 4, Cable::new(40, 200), Cable::new(160, 200));
        let mut bench = Bench::new(fabric).transport(pfabric.clone()).flow(0, 1, 3 * 1460, Time::ZERO);
        if lose {
            // The second ACK leaves at 1.508 us; the third packet arrives at 1.6 us.
            let link = ["s0".to_owned(), "h1".to_owned()];
            let failure = incast_sim::network::FailureParams {
                link: Some(link),
                at: Time::ns(1550),
                until: Some(Time::ns(1601)),
                silent: Some(1.0),
                ..Default::default()
            };
            bench = bench.with(|params| params.network.failure = vec![failure.clone()]);
        }
        bench.run()
    };
    exact("I4", "without a loss, ns", 2016, fct(&run(false), 0).0 / 1000);
    let outcome = run(true);
    // Second ACK at 1.716 us, timer, third packet and its ACK.
    within("I4", "with the last packet lost, ns", 1716.0 + 45_000.0 + 1416.0, fct(&outcome, 0).0 as f64 / 1000.0, 1e-6);
    assert_eq!((outcome.counts.silent_drops, outcome.flows[0].timeouts), (1, 1));
}
