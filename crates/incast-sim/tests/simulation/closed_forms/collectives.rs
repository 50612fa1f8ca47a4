//! Collectives on a non-blocking switch.

use incast_model::units::{Bytes, Rate, Time};
use incast_model::workload::{
    AllToAll, MoeAllToAll, Ranks, RequestResponse, RingAllReduce, RingPart, SizeSpec, Skew, ThinkTime, TreeAlgorithm,
    TreeAllReduce, WorkloadSpec,
};
use incast_sim::outcome::{Outcome, Stop};

use crate::common::{Bench, Cable, check, exact, star, within};

const GBPS: u64 = 40;
const DELAY: Time = Time::us(1);
const LATENCY: Time = Time::us(2);

/// One ACK per message.
fn hosts(count: usize, payload: u64) -> Bench {
    let bench = Bench::new(star(&vec![Cable::new(GBPS, DELAY.0 / 1000); count]));
    bench.with(|params| {
        params.rdma.ack_every = 1 << 20;
        params.packets.payload = Bytes(payload);
        params.switch.buffer = Bytes(1 << 30);
    })
}

fn serialised(bytes: u64, payload: u64) -> Time {
    Rate::gbps(GBPS).time_for(bytes + bytes.div_ceil(payload) * 48)
}

/// Last byte over two links, store-and-forward.
fn delivered(bytes: u64, payload: u64) -> Time {
    serialised(bytes, payload) + serialised(payload.min(bytes), payload) + LATENCY
}

fn ack() -> Time {
    Rate::gbps(GBPS).time_for(60)
}

/// From the last byte to its ACK at the sender.
fn answered() -> Time {
    ack() * 2 + LATENCY
}

fn end(outcome: &Outcome) -> Time {
    assert_eq!(outcome.stop, Stop::Finished);
    outcome.flows.iter().map(|flow| flow.delivered.unwrap()).max().unwrap()
}

fn ring(size: u64, part: RingPart, chunks: u32, iterations: u32, compute: Time) -> WorkloadSpec {
    let ring = RingAllReduce { size: Bytes(size), part, chunks, ranks: None, iterations, compute };
    WorkloadSpec { ring_all_reduce: Some(ring), ..WorkloadSpec::default() }
}

fn tree(size: u64, algorithm: TreeAlgorithm) -> WorkloadSpec {
    let (iterations, compute) = (1, Time::ZERO);
    let tree = TreeAllReduce { size: Bytes(size), algorithm, chunks: 1, ranks: None, iterations, compute };
    WorkloadSpec { tree_all_reduce: Some(tree), ..WorkloadSpec::default() }
}

/// `2 (n - 1) (8 S / (n C) + latency)`: 8 ranks, 8 MB, 40 Gb/s.
#[test]
fn v10_ring_all_reduce() {
    let outcome = hosts(8, 8000).workload(&ring(8_000_000, RingPart::Both, 1, 1, Time::ZERO)).run();
    let formula = 2.8e-3 + 14.0 * 2e-6;
    // Omitted: headers (0.6 %), a packet's store-and-forward per step (0.8 %).
    within("V10", "ring all-reduce, payload only", formula, end(&outcome).0 as f64 / 1e12, 0.02);
    let step = delivered(1_000_000, 8000);
    exact("V10", "ring all-reduce, 14 steps, 13 behind an ACK", step * 14 + ack() * 13, end(&outcome));
    let half = hosts(8, 8000).workload(&ring(8_000_000, RingPart::AllGather, 1, 1, Time::ZERO)).run();
    exact("V10", "all-gather, 7 steps", step * 7 + ack() * 6, end(&half));
}

/// Queue pairs alternate by packet: chunks that start together wait together.
#[test]
fn v11_chunks_hide_latency() {
    let (size, payload) = (800_000, 1000);
    let time = |chunks| end(&hosts(8, payload).workload(&ring(size, RingPart::Both, chunks, 1, Time::ZERO)).run());
    let wire = serialised(2 * 7 * 100_000, payload).0 as f64;
    exact("V11", "one chunk", delivered(100_000, payload) * 14 + ack() * 13, time(1));
    let (one, five) = (time(1).0 as f64, time(5).0 as f64);
    check("V11", "five chunks, of what one chunk waits", "0 to 0.9", (five - wire) / (one - wire), {
        five >= wire + 2.0e6 && five - wire <= 0.9 * (one - wire)
    });
}

#[test]
fn v12_iterations() {
    let (size, compute) = (80_000, Time::us(50));
    let time = |iterations| end(&hosts(4, 1000).workload(&ring(size, RingPart::Both, 1, iterations, compute)).run());
    exact("V12", "3 iterations and 2 times computing", time(1) * 3 + (answered() + compute) * 2, time(3));
}

/// `2 log2(n) (8 S / C + latency)` over a binomial tree; in the broadcast, a rank waits for an ACK before each child but the
/// first.
#[test]
fn v13_trees_and_exchanges() {
    let (size, payload) = (1_000_000, 1000);
    let run = |algorithm| end(&hosts(8, payload).workload(&tree(size, algorithm)).run());
    let message = delivered(size, payload);
    let tree_time = message * 6 + answered() * 2 + ack() * 3;
    exact("V13", "binomial tree, 6 messages", tree_time, run(TreeAlgorithm::BinomialTree));
    exact("V13", "recursive doubling", message * 3 + ack() * 2, run(TreeAlgorithm::RecursiveDoubling));
    let halves = [2, 4, 8].map(|part| delivered(size / part, payload)).into_iter().sum::<Time>();
    exact("V13", "halving and doubling", halves * 2 + ack() * 5, run(TreeAlgorithm::HalvingDoubling));
    // Both children send, and receive, at once.
    let tier = serialised(2 * size, payload) + serialised(payload, payload) + LATENCY;
    let outcome = hosts(7, payload).workload(&tree(size, TreeAlgorithm::BinaryTree)).run();
    exact("V13", "binary tree of 7, 4 tiers", tier * 4 + ack() * 3, end(&outcome));
}

/// `(n - 1) 8 s / C`.
#[test]
fn v14_all_to_all() {
    let (n, size, payload) = (8, 100_000, 1000);
    let spec = |window| {
        let (iterations, compute) = (1, Time::ZERO);
        let all = AllToAll { size: Bytes(size).into(), window, ranks: None, iterations, compute };
        WorkloadSpec { all_to_all: Some(all), ..WorkloadSpec::default() }
    };
    let at_once = end(&hosts(n, payload).workload(&spec(None)).run()).0 as f64;
    let wire = serialised(7 * size, payload) + serialised(payload, payload) + LATENCY;
    within("V14", "all at once", wire.0 as f64, at_once, 0.001);
    let serial = end(&hosts(n, payload).workload(&spec(Some(1))).run());
    exact("V14", "one at a time", delivered(size, payload) * 7 + answered() * 6, serial);
}

#[test]
fn v15_layers_of_experts() {
    let (n, size, payload) = (8, 800_000u64, 1000);
    let (expert, compute) = (Time::us(30), Time::us(70));
    let (layers, iterations) = (2, 1);
    let moe = MoeAllToAll { size: Bytes(size), layers, skew: Skew::Uniform, expert, compute, ranks: None, iterations };
    let spec = WorkloadSpec { moe_all_to_all: Some(moe), ..WorkloadSpec::default() };
    let outcome = hosts(n, payload).workload(&spec).run();
    let phase = serialised(7 * size / 8, payload) + serialised(payload, payload) + LATENCY;
    let all = phase * 4 + answered() * 3 + expert * 2 + compute;
    within("V15", "two layers", all.0 as f64, end(&outcome).0 as f64, 0.001);
}

#[test]
fn v16_closed_loop() {
    let (request, response) = (SizeSpec::Fixed(Bytes(1000)), SizeSpec::Fixed(Bytes(5000)));
    let (service, think) = (Time::us(7), Time::us(11));
    let loops = RequestResponse {
        request,
        response,
        requests: 50,
        outstanding: 1,
        fan_out: 1,
        service,
        think: ThinkTime::Fixed(think),
        clients: Some(Ranks { list: Some(vec![0]), ..Ranks::default() }),
        servers: None,
    };
    let spec = WorkloadSpec { request_response: Some(loops), ..WorkloadSpec::default() };
    let outcome = hosts(4, 1000).workload(&spec).run();
    let turn = think + delivered(1000, 1000) + service + delivered(5000, 1000);
    exact("V16", "50 turns of a closed loop", turn * 50, end(&outcome));
}

#[test]
fn v17_ends_between_iterations() {
    let (size, iterations, compute, ranks) = (Bytes(80_000), 4, Time::us(20), None);
    let chunked = TreeAllReduce { size, algorithm: TreeAlgorithm::BinaryTree, chunks: 3, ranks, iterations, compute };
    let all = AllToAll { size: size.into(), window: Some(2), ranks: None, iterations, compute };
    let (skew, expert) = (Skew::Zipf(1.2), Time::us(3));
    let moe = MoeAllToAll { size, layers: 2, skew, expert, compute, ranks: None, iterations };
    let none = WorkloadSpec::default;
    let specs = [
        ring(size.0, RingPart::Both, 2, iterations, compute),
        WorkloadSpec { tree_all_reduce: Some(chunked), ..none() },
        WorkloadSpec { all_to_all: Some(all), ..none() },
        WorkloadSpec { moe_all_to_all: Some(moe), ..none() },
    ];
    for spec in specs {
        let run = |end| hosts(7, 1000).workload(&WorkloadSpec { end, ..spec.clone() }).run();
        let open = run(None);
        let flows = open.flows.len();
        let each = flows / iterations as usize;
        let begins =
            |iteration: usize| open.flows[iteration * each..][..each].iter().filter_map(|flow| flow.start).min();
        for begun in 1..iterations as usize {
            let next = begins(begun).unwrap();
            for (end, begun) in [(next, begun), (next + Time(1), begun + 1)] {
                let outcome = run(Some(end));
                assert_eq!(outcome.stop, Stop::Finished);
                assert_eq!(outcome.cancelled(), flows - begun * each, "{end}: {spec:?}");
                let (kept, rest) = outcome.flows.split_at(begun * each);
                assert_eq!(kept, &open.flows[..begun * each], "{end}: {spec:?}");
                assert!(rest.iter().all(|flow| flow.cancelled && flow.start.is_none()));
            }
        }
    }
}
