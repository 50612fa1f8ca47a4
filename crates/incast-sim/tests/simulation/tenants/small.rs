use incast_model::units::{Rate, Time};
use incast_sim::switch::SwitchParams;
use incast_sim::tenant::{EdgeOnlyParams, Hypervisor, ReservationParams, SeawallParams};

use super::many::{Case, PAYLOAD, elastic, tcp, tenant, tree, udp};
use crate::common::{Bench, Cable, check, star, within};
use incast_model::tenant::Tenancy;
use incast_sim::tenant::RateParams;
use incast_sim::transport::{Transport, UdpParams};

fn reservation() -> Option<Hypervisor> {
    Some(Hypervisor::Reservation(ReservationParams::default()))
}

#[test]
fn a_reservation_is_what_it_is() {
    let (_, found) = Case::new(5, tcp(), reservation()).run(4);
    within("ES21", "X, reserved, Mb/s", 450.0 * PAYLOAD, found.x, 0.03);
    for each in found.each {
        within("ES21", "one of five that send to Y, Mb/s", 90.0 * PAYLOAD, each, 0.03);
    }
    let (_, alone) = Case::new(0, tcp(), reservation()).run(3);
    within("ES21", "X alone, reserved, Mb/s", 450.0 * PAYLOAD, alone.x, 0.03);
}

/// One flow to VM 1, and eight flows to VM 2.
#[test]
fn a_reservation_leaves_to_others_what_a_pair_cannot_send() {
    let bench = Bench::new(star(&[Cable::new(1, 1000); 3]));
    let bench = bench.transport(Transport::Udp(UdpParams { rate: Some(Rate::mbps(50)) }));
    let bench = bench.tenants(Tenancy::new(vec![tenant("x", 0..3, Rate::mbps(450))]));
    let flows = (0..9).map(|number| (0, if number == 0 { 1 } else { 2 }, 10_000_000, Time::ZERO));
    let outcome = bench
        .flows(flows)
        .with(|params| (params.hypervisor, params.horizon) = (reservation(), Some(Time::ms(1000))))
        .run();
    let sent =
        |dst| outcome.pairs.iter().filter(move |pair| (pair.src, pair.dst) == (0, dst)).map(|pair| pair.count.sent);
    let [slow, fast] = [1, 2].map(|dst| sent(dst).sum::<u64>() as f64 * 8e-6);
    within("reservation", "a flow of 50 Mb/s", 50.0, slow, 0.02);
    within("reservation", "what is left of the hose of 450 Mb/s", 400.0, fast, 0.02);
}

#[test]
fn guarantees_at_the_edge_do_not_help_in_the_core() {
    let edge_only = Some(Hypervisor::EdgeOnly(EdgeOnlyParams::default()));
    let (_, core) = Case::new(20, udp(), edge_only).run(3);
    check("ES17", "X in the core, guarded at the edge, Mb/s", "below 300", core.x, core.x < 300.0);
}

#[test]
fn guarantees_at_the_edge_hold_at_the_edge() {
    for senders in [1, 20] {
        let edge_only = Some(Hypervisor::EdgeOnly(EdgeOnlyParams::default()));
        let (_, found) = Case { edge: true, ..Case::new(senders, udp(), edge_only) }.run(4);
        let least = 0.9 * 450.0 * PAYLOAD;
        check(
            "edge",
            &format!("X against {senders} blasts, Mb/s"),
            format!("{least:.0} or more"),
            found.x,
            found.x >= least,
        );
        check(
            "edge",
            &format!("Y of {senders} blasts, Mb/s"),
            format!("{least:.0} or more"),
            found.y(),
            found.y() >= least,
        );
    }
}

#[test]
fn seawall_shares_by_senders() {
    let seawall = Some(Hypervisor::Seawall(SeawallParams::default()));
    let (_, found) = Case::new(5, udp(), seawall).run(10);
    let share = 1000.0 * PAYLOAD / 6.0;
    check("Seawall", "X against five, Mb/s", "up to twice 1/6", found.x, found.x < 2.0 * share);
}

#[test]
fn what_is_left_over_is_shared_by_guarantees() {
    let tenants = vec![tenant("big", [0, 16], Rate(300_000_000)), tenant("small", [4, 20], Rate(100_000_000))];
    let bench = Bench::new(tree(2)).transport(tcp()).tenants(Tenancy::new(tenants));
    let bench = bench.flow(16, 0, 1, Time::ZERO).until(Time::ms(12_000));
    let bench = bench.flow(20, 4, 1, Time::ZERO).until(Time::ms(12_000)).with(|params| {
        params.switch = SwitchParams {
            queues: incast_sim::switch::QueueParams::DropTail { limit: incast_model::units::Bytes(256_000) },
            lossless: Vec::new(),
            ..SwitchParams::default()
        };
        params.server_queue = incast_model::units::Bytes(1_500_000);
        params.packets.gap = incast_model::units::Bytes(38);
        params.hypervisor = Some(elastic(RateParams::default()));
    });
    let outcome = bench.run();
    let [big, small] = [0, 1].map(|flow| outcome.flows[flow].acked as f64 * 8.0 / 12.0 * 1e-6 / PAYLOAD);
    check("V4", "300 Mb/s and more", "above 300", big, big > 300.0);
    check("V4", "100 Mb/s and more", "above 100", small, small > 100.0);
    check("V4", "the one over the other", "2 to 4", big / small, (2.0..4.0).contains(&(big / small)));
}

#[test]
fn what_is_refused_is_counted() {
    let fabric = star(&[Cable::new(1, 1000), Cable::new(1, 1000)]);
    let tenants = vec![tenant("x", [0, 1], Rate(100_000_000))];
    let bench = Bench::new(fabric).transport(udp()).tenants(Tenancy::new(tenants));
    let bench = bench.flow(0, 1, 1, Time::ZERO).until(Time::ms(1000));
    let outcome = bench
        .with(|params| {
            params.hypervisor = reservation();
            params.horizon = Some(Time::ms(1000));
        })
        .run();
    let pair = outcome.pairs[0].count;
    within("limiter", "sent through a limit of 100 Mb/s in a second, MB", 12.5, pair.sent as f64 * 1e-6, 0.01);
    // A thousand packets wait at the end.
    let all = (pair.sent / 1500 + pair.refused) as f64;
    within("limiter", "packets of 1 Gb/s in a second, but for those that wait", 1e9 / 12_000.0 - 1000.0, all, 0.01);
}
