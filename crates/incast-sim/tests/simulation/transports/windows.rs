//! Windows against the global event order: every transport, alone and with RDMA.

use incast_model::units::{Bytes, Time};
use incast_sim::balance::{Balance, SprayOrder, SprayParams};
use incast_sim::host::NicQueue;
use incast_sim::switch::{EcnParams, Forwarding, MarkAt, PfcMode, QueueParams, SchedulerParams, SwitchParams};
use proptest::prelude::*;

use super::{named, racks};
use crate::common::{Bench, random_runs, same_event_by_event};

const TRANSPORTS: [(&str, &str); 14] = [
    ("tcp", "datacenter"),
    ("tcp", "newreno"),
    ("tcp", "dctcp"),
    ("tcp", "linux"),
    ("pfabric", "paper"),
    ("pfabric", "yaps"),
    ("phost", "paper"),
    ("phost", "yaps"),
    ("fastpass", "optimistic"),
    ("fastpass", "limited"),
    ("fastpass", "yaps"),
    ("ideal", "paced"),
    ("ideal", "yaps"),
    ("udp", "line-rate"),
];

#[derive(Debug, Clone)]
struct Case {
    transport: (&'static str, &'static str),
    queues: QueueParams,
    forwarding: Forwarding,
    scheduler: u8,
    nic_queue: NicQueue,
    spray: Option<bool>,
    mark_at: MarkAt,
    kmin: u64,
    /// Source, destination, size, start in ns; every so many are RDMA's.
    flows: Vec<(u32, u32, u64, u64)>,
    rdma: usize,
    /// Every so many flows one waits for its predecessor, if that ends at its sender; 0: none.
    chain: usize,
    /// Every so many flows; 0: none.
    pinned: usize,
    every: u64,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let limit = (6_000u64..60_000).prop_map(Bytes);
    let queues = prop_oneof![
        Just(QueueParams::Shared),
        limit.clone().prop_map(|limit| QueueParams::DropTail { limit }),
        limit.prop_map(|limit| QueueParams::Pfabric { limit }),
    ];
    let forwarding =
        prop::sample::select(vec![Forwarding::StoreAndForward, Forwarding::CutThrough, Forwarding::CutThroughUnderrun]);
    let nic = prop::sample::select(vec![NicQueue::Port, NicQueue::Unlimited]);
    let switch = (queues, forwarding, 0u8..3, nic, prop::option::of(any::<bool>()), any::<bool>(), 500u64..50_000);
    let flow = (0u32..8, 1u32..8, 1u64..150_000, 0u64..40_000);
    let more = (prop::collection::vec(flow, 1..30), 0usize..4, 0usize..4, 0usize..4, 0u64..5000, any::<u64>());
    (prop::sample::select(TRANSPORTS.to_vec()), switch, more).prop_map(|(transport, switch, more)| Case {
        transport,
        queues: switch.0,
        forwarding: switch.1,
        scheduler: switch.2,
        nic_queue: switch.3,
        spray: switch.4,
        mark_at: if switch.5 { MarkAt::Dequeue } else { MarkAt::Enqueue },
        kmin: switch.6,
        flows: more.0,
        rdma: more.1,
        chain: more.2,
        pinned: more.3,
        every: more.4,
        seed: more.5,
    })
}

impl Case {
    fn is_rdma(&self, index: usize) -> bool {
        self.rdma > 1 && index.is_multiple_of(self.rdma)
    }

    fn bench(&self) -> Bench {
        let (name, profile) = self.transport;
        let mut bench = Bench::new(racks(2)).control("dcqcn", "paper");
        let of_rdma = (0..).zip(&self.flows).filter(|(index, _)| self.is_rdma(*index));
        bench = of_rdma.fold(bench, |bench, flow| self.add(bench, flow)).then_transport(named(name, profile));
        let others = (0..).zip(&self.flows).filter(|(index, _)| !self.is_rdma(*index));
        bench = others.fold(bench, |bench, flow| self.add(bench, flow));
        bench.with(|params| {
            params.seed = self.seed;
            params.max_events = Some(5_000_000);
            params.horizon = Some(Time::ms(20));
            params.switch = SwitchParams {
                queues: self.queues,
                forwarding: self.forwarding,
                scheduler: match self.scheduler {
                    0 => SchedulerParams::RoundRobin,
                    1 => SchedulerParams::StrictPriority,
                    _ => SchedulerParams::Drr { quanta: [1500; 8], strict: Vec::new() },
                },
                ..SwitchParams::default()
            };
            params.host.nic_queue = self.nic_queue;
            params.ecn = EcnParams {
                kmin: Bytes(self.kmin),
                kmax: Bytes(3 * self.kmin),
                mark_at: self.mark_at,
                ..params.ecn.clone()
            };
            params.rdma.rto = Some(Time::us(300));
            let jitters = self.seed.is_multiple_of(3) && self.forwarding == Forwarding::StoreAndForward;
            params.host.jitter = if jitters { Time::ns(700) } else { Time::ZERO };
            if let Some(acks) = self.spray {
                params.network.load_balancing = Balance::Spray(SprayParams { order: SprayOrder::RoundRobin, acks });
            }
            if self.every > 500 {
                params.measure.sample_every = Some(Time::ns(self.every));
                params.measure.queue_histogram = self.every.is_multiple_of(2);
            }
        })
    }

    fn add(&self, bench: Bench, (index, &(src, hop, size, start)): (usize, &(u32, u32, u64, u64))) -> Bench {
        let dst = (src + hop) % 8;
        let bench = bench.flow(src, dst, size, Time::ns(start));
        if self.pinned == 0 || !index.is_multiple_of(self.pinned) {
            return bench;
        }
        let [from, to] = [src, dst].map(|host| ["leaf0", "leaf1"][host as usize / 4]);
        if from == to { bench.via(&[from]) } else { bench.via(&[from, ["spine0", "spine1"][index % 2], to]) }
    }

    fn chained(&self, mut bench: Bench) -> Bench {
        let of_rdma = (0..).zip(&self.flows).filter(|(index, _)| self.is_rdma(*index));
        let others = (0..).zip(&self.flows).filter(|(index, _)| !self.is_rdma(*index));
        let sources: Vec<u32> = of_rdma.chain(others).map(|(_, flow)| flow.0).collect();
        let step = if self.chain == 0 { sources.len() } else { self.chain };
        for later in (1..sources.len()).step_by(step) {
            if sources[later] == sources[later - 1] {
                bench = bench.gate(&[later as u32 - 1], Time::ns(200), &[later as u32]);
            }
        }
        bench
    }
}

proptest! {
    #![proptest_config(random_runs(600))]

    #[test]
    fn windows_give_the_same_run_with_transports(case in case(), cut in 0u64..400) {
        let bench = case.chained(case.bench());
        same_event_by_event(bench, cut)?;
    }

    #[test]
    fn windows_give_the_same_queueing_delays_with_transports(case in case(), xoff in 3072u64..40_000, cut in 0u64..400) {
        let case = Case { queues: QueueParams::Shared, spray: None, ..case };
        let bench = case.chained(case.bench()).with(|params| {
            params.switch.lossless = vec![2, 3];
            params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(xoff) };
            params.measure.blocking = true;
        });
        same_event_by_event(bench, cut)?;
    }
}
