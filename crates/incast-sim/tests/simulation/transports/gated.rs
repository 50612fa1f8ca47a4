//! Windows against the global event order: flows that wait for others.

use incast_model::units::Time;
use proptest::prelude::*;

use super::{named, racks};
use crate::common::{Bench, random_runs, same_event_by_event};

/// Source, distance to the destination, size, start or duration in ns.
type Drawn = (u32, u32, u64, u64);

#[derive(Debug, Clone)]
struct Dependency {
    /// Modulo the number of flows before it.
    waits_for: Vec<u32>,
    starts: usize,
    delay: u64,
    /// End of its round in ns.
    round: Option<u64>,
}

#[derive(Debug, Clone)]
struct Case {
    transport: (&'static str, &'static str),
    flows: Vec<Drawn>,
    rdma: usize,
    /// Every so many TCP or UDP flows; 0: none.
    backlogged: usize,
    dependencies: Vec<Dependency>,
    every: Option<u64>,
}

fn case() -> impl Strategy<Value = Case> {
    let transports = vec![("tcp", "datacenter"), ("udp", "line-rate"), ("udp", "line-rate"), ("pfabric", "paper")];
    let dependency = (prop::collection::vec(any::<u32>(), 1..4), 1usize..4, 0u64..3000, 0u64..200_000).prop_map(
        |(waits_for, starts, delay, round)| Dependency {
            waits_for,
            starts,
            delay: if delay < 1000 { 0 } else { delay },
            round: round.checked_sub(100_000),
        },
    );
    let flows = prop::collection::vec((0u32..8, 1u32..8, 1u64..60_000, 0u64..40_000), 2..20);
    let rest = (prop::collection::vec(dependency, 1..6), prop::option::of(500u64..5000));
    (prop::sample::select(transports), flows, 0usize..8, 0usize..4, rest).prop_map(
        |(transport, flows, rdma, backlogged, (dependencies, every))| Case {
            transport,
            flows,
            rdma,
            backlogged,
            dependencies,
            every,
        },
    )
}

impl Case {
    fn bench(&self) -> Bench {
        let (name, profile) = self.transport;
        let mut bench = Bench::new(racks(2)).control("dcqcn", "paper");
        let ends = |&(src, hop, size, start): &Drawn| (src, (src + hop) % 8, size, Time::ns(start));
        let rdma = self.rdma.min(self.flows.len() - 1);
        bench = bench.flows(self.flows[..rdma].iter().map(ends)).then_transport(named(name, profile));
        for (index, flow) in self.flows.iter().enumerate().skip(rdma) {
            let (src, dst, size, start) = ends(flow);
            let backlogged = self.backlogged > 0 && index % self.backlogged == 0 && name != "pfabric";
            bench = bench.flow(src, dst, size, if backlogged { Time::ZERO } else { start });
            if backlogged {
                bench = bench.until(start);
            }
        }
        bench.with(|params| {
            params.horizon = Some(Time::ms(20));
            params.max_events = Some(5_000_000);
            params.rdma.rto = Some(Time::us(300));
            params.measure.sample_every = self.every.map(Time::ns);
        })
    }

    fn gated(&self) -> Bench {
        let mut bench = self.bench();
        let (mut next, mut gates) = (self.flows.len() / 3, 0);
        for one in self.dependencies.iter().filter(|_| self.flows.len() > 2) {
            let mut waits_for: Vec<u32> = one.waits_for.iter().map(|flow| flow % next as u32).collect();
            waits_for.sort_unstable();
            waits_for.dedup();
            let starts: Vec<u32> = (next..(next + one.starts).min(self.flows.len())).map(|flow| flow as u32).collect();
            if starts.is_empty() {
                break;
            }
            next += starts.len();
            bench = bench.gate(&waits_for, Time::ns(one.delay), &starts);
            if let Some(end) = one.round {
                bench = bench.round(Time::ns(end), gates..gates + 1);
            }
            gates += 1;
        }
        bench
    }
}

proptest! {
    #![proptest_config(random_runs(600))]

    #[test]
    fn windows_give_the_same_run_with_dependencies(case in case(), cut in 0u64..400) {
        same_event_by_event(case.gated(), cut)?;
    }
}
