//! Waiting at one link: M/D/1, M/G/1, priorities, Little's law, Lindley's recursion.
//!
//! Each packet is a flow from one of 64 hosts with links 800 times faster: any delay beyond the ideal is a wait at the link.

use incast_model::rng::{Stream, stream, unit};
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::Outcome;
use incast_sim::host::PacketParams;
use incast_sim::switch::SchedulerParams;

use crate::common::{Bench, Cable, check, confidence, exact, port, star, within};

const SENDERS: u32 = 64;
const LINK: Rate = Rate::gbps(10);

/// Arrival in ps, payload (39 B of headers on top), priority.
type Arrival = (u64, u64, u8);

/// Load `rho`; 1461 B of payload are 1500 B on the wire.
fn poisson(rng: &mut Stream, count: usize, rho: f64, payloads: &[u64]) -> Vec<Arrival> {
    let mean_bytes = payloads.iter().map(|payload| payload + 39).sum::<u64>() as f64 / payloads.len() as f64;
    let gap = mean_bytes * 8e12 / LINK.0 as f64 / rho;
    let mut now = 0.0;
    (0..count)
        .map(|_| {
            now -= (1.0 - unit(rng)).ln() * gap;
            (now as u64, payloads[(unit(rng) * payloads.len() as f64) as usize], 3)
        })
        .collect()
}

fn run(arrivals: &[Arrival], scheduler: SchedulerParams) -> Outcome {
    let mut cables = vec![Cable(Rate::gbps(8000), Time::ns(100)); SENDERS as usize];
    cables.push(Cable(LINK, Time::ns(100)));
    let mut bench = Bench::new(star(&cables)).with(|params| {
        params.packets = PacketParams {
            payload: Bytes(1461),
            data_header: Bytes(39),
            ack: Bytes(20),
            min_ack: Bytes(20),
            ..PacketParams::default()
        };
        params.switch.scheduler = scheduler;
        params.ecn.enabled = false;
        params.measure.queue_histogram = true;
        params.measure.histogram_bin = Bytes(1500);
    });
    for (index, &(time, payload, priority)) in arrivals.iter().enumerate() {
        bench = bench.flow_of(priority, index as u32 % SENDERS, SENDERS, payload, Time(time));
    }
    bench.run()
}

fn waits(outcome: &Outcome) -> Vec<u64> {
    outcome.flows.iter().map(|f| f.fct().unwrap().0 - f.ideal_exact.0).collect()
}

fn mean(values: &[u64]) -> f64 {
    values.iter().sum::<u64>() as f64 / values.len() as f64
}

/// `W[n+1] = max(0, W[n] + S[n] - A[n])` (Lindley 1952); ties in order of ports.
fn lindley(arrivals: &[Arrival]) -> Vec<u64> {
    let at_switch = |index: usize| arrivals[index].0 + Rate::gbps(8000).time_for(arrivals[index].1 + 39).0 + 100_000;
    let mut order: Vec<usize> = (0..arrivals.len()).collect();
    order.sort_by_key(|&index| (at_switch(index), index % SENDERS as usize));
    let mut waits = vec![0; arrivals.len()];
    let mut free = 0;
    for index in order {
        let start = at_switch(index).max(free);
        free = start + LINK.time_for(arrivals[index].1 + 39).0;
        waits[index] = start - at_switch(index);
    }
    waits
}

/// `Wq = rho P / (2 (1 - rho))`, `P(wait = 0) = 1 - rho`; Little's law `N = lambda W` is exact, as the run begins and ends
/// empty.
#[test]
fn c1_b3_fixed_sizes() {
    let packet = LINK.time_for(1500).0 as f64;
    let (mut differ, mut unlike_little) = (0, 0);
    for (rho, factor) in [(0.5, 0.5), (0.8, 2.0), (0.9, 4.5)] {
        let (mut means, mut idle) = (Vec::new(), Vec::new());
        for seed in 0..5 {
            let arrivals = poisson(&mut stream(seed, "test/arrivals", 0), 60_000, rho, &[1461]);
            let outcome = run(&arrivals, SchedulerParams::RoundRobin);
            let waits = waits(&outcome);
            differ += waits.iter().zip(lindley(&arrivals)).filter(|(wait, due)| *wait != due).count();
            means.push(mean(&waits) / packet);
            idle.push(waits.iter().filter(|&&wait| wait == 0).count() as f64 / waits.len() as f64);
            let fabric = star(&vec![Cable::new(1, 1); SENDERS as usize + 1]);
            let link = port(&fabric, "s0", &format!("h{SENDERS}"));
            let bins = &outcome.histograms.iter().find(|histogram| histogram.port == link).unwrap().time_in_bin;
            let integral: u64 = bins.iter().enumerate().map(|(queued, time)| queued as u64 * time).sum();
            unlike_little += u32::from(integral != waits.iter().sum::<u64>());
            assert_eq!(bins.iter().sum::<u64>(), outcome.end.0, "all the time is in some bin");
        }
        confidence("C1", &format!("M/D/1 mean wait at {rho}, in packet times"), factor, &means, 0.02);
        confidence("C1", &format!("M/D/1 share of packets that wait not at {rho}"), 1.0 - rho, &idle, 0.02);
    }
    exact("C1", "waits that differ from Lindley's recursion, of 900 000", 0, differ);
    exact("B3", "runs in which N differs from lambda W, of 15", 0, unlike_little);
}

/// Pollaczek-Khinchine: `Wq = lambda E[S^2] / (2 (1 - rho))`. Half 40 B, half 1500 B at 0.8: 3.798 mean service times.
#[test]
fn c2_two_sizes() {
    let means: Vec<f64> = (0..5)
        .map(|seed| {
            let arrivals = poisson(&mut stream(seed, "test/arrivals", 0), 100_000, 0.8, &[1, 1461]);
            let waits = waits(&run(&arrivals, SchedulerParams::RoundRobin));
            assert!(waits == lindley(&arrivals), "every wait is Lindley's");
            mean(&waits) / LINK.time_for(770).0 as f64
        })
        .collect();
    confidence("C2", "M/G/1 mean wait at 0.8, in mean service times", 3.798, &means, 0.02);
}

/// Load 0.4 each, no pre-emption: `R = sum lambda E[S^2] / 2`, `W1 = R / (1 - rho1)`, `W2 = R / ((1 - rho1) (1 - rho1 -
/// rho2))`: 0.8 and 4.0 us; mean: one FIFO queue's, 2.4 us.
#[test]
fn c4_v4_strict_priority() {
    let (mut high, mut low, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..10 {
        let mut arrivals = poisson(&mut stream(seed, "test/arrivals", 0), 60_000, 0.8, &[1461]);
        let mut classes = stream(seed, "test/classes", 0);
        arrivals.iter_mut().for_each(|arrival| arrival.2 = if unit(&mut classes) < 0.5 { 4 } else { 3 });
        let waits = waits(&run(&arrivals, SchedulerParams::StrictPriority));
        let of = |class: u8| -> Vec<u64> {
            waits.iter().zip(&arrivals).filter(|(_, arrival)| arrival.2 == class).map(|(wait, _)| *wait).collect()
        };
        high.push(mean(&of(4)) * 1e-6);
        low.push(mean(&of(3)) * 1e-6);
        all.push(mean(&waits) * 1e-6);
        let fifo = mean(&lindley(&arrivals)) * 1e-6;
        assert!((all[all.len() - 1] / fifo - 1.0).abs() < 1e-3, "work is conserved: {} for {fifo}", all[all.len() - 1]);
    }
    confidence("C4 V4", "mean wait of the first class, us", 0.8, &high, 0.03);
    confidence("C4 V4", "mean wait of the second class, us", 4.0, &low, 0.03);
    confidence("V3", "mean wait of both, us", 2.4, &all, 0.02);
}

#[test]
fn c1_paced_arrivals_do_not_wait() {
    let packet = LINK.time_for(1500).0;
    let arrivals: Vec<Arrival> = (0..5000).map(|k| (k * packet, 1461, 3)).collect();
    let outcome = run(&arrivals, SchedulerParams::RoundRobin);
    within("C1", "D/D/1 at load 1: flows per packet time", 1.0, 5000.0 * packet as f64 / outcome.end.0 as f64, 0.001);
    check("C1", "D/D/1 at load 1: sum of waits, ps", 0, waits(&outcome).iter().sum::<u64>() as f64, {
        waits(&outcome).iter().all(|&wait| wait == 0)
    });
}
