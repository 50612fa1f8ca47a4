use incast_model::units::{Bytes, Time};
use incast_sim::Outcome;
use incast_sim::outcome::Stop;
use incast_sim::switch::{Headroom, PfcMode, QueueParams, SchedulerParams, SwitchParams};

use super::{all, named, racks, sprayed};
use crate::common::{Bench, Cable, check, digest, star, within};

fn everything(control: &str, queues: QueueParams, scheduler: SchedulerParams) -> Bench {
    let pairs = |from: u32| (0..8u32).map(move |host| (host, (host + 1 + from) % 8));
    let mut bench = Bench::new(racks(2)).control(control, "ns3");
    for (src, dst) in pairs(0) {
        bench = bench.flow(src, dst, 60_000 + u64::from(src) * 777, Time::ZERO);
    }
    for (kind, transport) in (1..).zip(all()) {
        bench = bench.then_transport(transport);
        for (src, dst) in pairs(kind) {
            bench = bench.flow(src, dst, 30_000 + u64::from(src * 999 + kind), Time::us(u64::from(src)));
        }
    }
    sprayed(bench).with(|params| {
        params.switch = SwitchParams { queues, scheduler, ..SwitchParams::default() };
        params.rdma.recovery = incast_sim::host::Recovery::SelectiveRepeat;
        params.rdma.reorder_window = Some(64);
    })
}

fn all_are_done(control: &str, queues: QueueParams, scheduler: SchedulerParams) {
    let bench = everything(control, queues, scheduler.clone());
    let outcome = bench.run();
    let done = outcome.flows.iter().filter(|flow| flow.finish.is_some()).count();
    check("M1", &format!("{control}, {queues:?}, {scheduler:?}: flows done"), 48, done as f64, done == 48);
    assert_eq!((outcome.stop.clone(), outcome.ledger.unbalanced().count()), (Stop::Finished, 0));
    assert_eq!(digest(&outcome), digest(&bench.run()), "runs repeat");
}

#[test]
fn m1_all_of_them_share_one_run() {
    let limit = Bytes(100_000);
    for queues in [QueueParams::Shared, QueueParams::DropTail { limit }, QueueParams::Pfabric { limit }] {
        for scheduler in [
            SchedulerParams::RoundRobin,
            SchedulerParams::StrictPriority,
            SchedulerParams::Drr { quanta: [1500; 8], strict: Vec::new() },
        ] {
            all_are_done("dctcp", queues, scheduler);
        }
        // INT and PINT records next to SACK blocks, also of packets that others displace.
        for control in ["hpcc", "hpcc_pint"] {
            all_are_done(control, queues, SchedulerParams::RoundRobin);
        }
    }
}

#[test]
fn m2_a_port_is_shared_by_rdma_and_tcp() {
    let size = 3_000_000;
    let bench = Bench::new(star(&[Cable::new(40, 200); 3])).control("unlimited", "default");
    let bench =
        bench.flow(0, 1, size, Time::ZERO).then_transport(named("tcp", "datacenter")).flow(0, 2, size, Time::ZERO);
    let outcome = bench.run();
    let times: Vec<f64> = outcome.flows.iter().map(|flow| flow.fct().unwrap().0 as f64 * 1e-6).collect();
    // Packets of 1048 B (RDMA) and 1500 B (TCP) alternate until TCP has sent its 2055.
    let line = |bytes: f64| bytes * 8.0 / 40_000.0;
    let packets = size.div_ceil(1460) as f64;
    within("M2", "TCP's flow, us", line(packets * (1048.0 + 1500.0)), times[1], 0.01);
    within("M2", "RDMA's flow, us", line(3000.0 * 1048.0 + packets * 1500.0), times[0], 0.01);
}

/// As in G1: 40 Gb/s, 0.2 us, XOFF at 20 kB.
fn tcp_over_pfc(headroom: Headroom) -> Outcome {
    let mut bench = Bench::new(star(&[Cable::new(40, 200); 3])).transport(named("tcp", "newreno")).with(|params| {
        params.switch = SwitchParams {
            headroom,
            pfc_mode: PfcMode::Static { xoff: Bytes(20_000) },
            lossless: vec![3],
            ..SwitchParams::default()
        };
        params.horizon = Some(Time::ms(4));
    });
    for index in 0..40 {
        let (size, start) = (100_000 + 137 * index, Time::ns(77 * index));
        bench = bench.flow(0, 2, size, start).flow(1, 2, size, start);
        bench = bench.flow(2, 0, size / 2, start).flow(2, 1, size / 2, start);
    }
    bench.run()
}

/// 2 · 1000 B on the wire, three segments of 1500 B, a frame of 64 B: 6564 B. Too small for RDMA's 1048 B.
#[test]
fn m3_headroom_goes_by_the_packets_in_use() {
    let computed = tcp_over_pfc(Headroom::Computed);
    let used = computed.ports.iter().map(|record| record.peak_headroom).max().unwrap() as f64;
    let drops = computed.counts.drops as f64;
    check("M3", "drops with the computed headroom", "0", drops, drops == 0.0);
    check("M3", "most headroom used, B", "<= 6564, > 5334", used, used <= 6564.0 && used > 5334.0);
    let less = tcp_over_pfc(Headroom::Bytes(Bytes(2000 + 3 * (1048 + 42) + 64))).counts.drops as f64;
    check("M3", "drops with RDMA's", "> 0", less, less > 0.0);
}
