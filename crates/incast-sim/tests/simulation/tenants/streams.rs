//! Flows without a size.

use incast_model::units::{Bytes, Rate, Time};
use incast_sim::host::NicQueue;
use incast_sim::switch::QueueParams;
use incast_sim::transport::{Transport, UdpParams};

use crate::common::{Bench, Cable, check, star, within};

#[test]
fn a_stream_of_tcp_ends_when_its_time_is_over() {
    let bench = Bench::new(star(&[Cable::new(1, 1000), Cable::new(1, 1000)]))
        .transport(Transport::named("tcp", "datacenter").unwrap())
        .flow(0, 1, 1, Time::ms(1))
        .until(Time::ms(51));
    let outcome = bench
        .with(|params| {
            params.switch.queues = QueueParams::DropTail { limit: Bytes(256_000) };
            params.host.nic_queue = NicQueue::Port;
        })
        .run();
    let flow = outcome.flows[0];
    let late = (flow.finish.unwrap() - Time::ms(51)).0 as f64 * 1e-9;
    check("stream", "ends after its time, ms", "with what is queued, at most 2.1", late, (0.0..2.1).contains(&late));
    // Full packets of 1500 B, after a handshake.
    let payload = (50.0 + late) * 0.125 * 1460.0 / 1500.0;
    within("stream", "payload at 1 Gb/s, MB", payload, flow.acked as f64 * 1e-6, 0.01);
    assert!(flow.delivered.is_some());
}

#[test]
fn a_stream_of_udp_keeps_its_rate() {
    let params = UdpParams { rate: Some(Rate(100_000_000)) };
    let bench = Bench::new(star(&[Cable::new(1, 1000), Cable::new(1, 1000)]))
        .transport(Transport::Udp(params))
        .flow(0, 1, 1, Time::ZERO)
        .until(Time::ms(100))
        .flow(0, 1, 146_000, Time::ZERO);
    let outcome = bench.run();
    within(
        "udp",
        "payload in 100 ms at 100 Mb/s, MB",
        1.25 * 1460.0 / 1500.0,
        outcome.flows[0].acked as f64 * 1e-6,
        0.01,
    );
    // 100 packets of 120 us: the last leaves 99 gaps later.
    let fct = outcome.flows[1].fct().unwrap().0 as f64 * 1e-6;
    within("udp", "146 kB at 100 Mb/s have left after, us", 99.0 * 120.0, fct, 0.01);
}
