//! Windows against the global event order: VMs with and without hypervisors.

use incast_model::fabric::generators::LeafSpine;
use incast_model::fabric::{Fabric, Vms};
use incast_model::tenant::Tenancy;
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::host::NicQueue;
use incast_sim::switch::{EcnParams, Forwarding, IsolationParams, MarkAt, QueueParams, SwitchParams};
use incast_sim::tenant::{
    Detection, EdgeOnlyParams, ElasticSwitchParams, Hypervisor, RateParams, ReservationParams, SeawallParams,
    ShaperParams, WeightMode,
};
use incast_sim::transport::{Transport, UdpParams};
use proptest::prelude::*;

use super::many::tenant;
use crate::common::{Bench, random_runs, same_event_by_event};
use crate::guarded::{Trouble, trouble};

/// Source, destination, size, start in ns; `Some`: an end in ns after the start.
type Traffic = (u32, u32, u64, u64, Option<u64>);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Other {
    /// In Mb/s; 0: the link's rate.
    Udp(u64),
    Tcp,
    /// Without hypervisors; else TCP.
    Rdma,
}

#[derive(Debug, Clone)]
struct Case {
    slots: u32,
    spines: u32,
    /// Gb/s and ns of the virtual links.
    vm_link: (u64, u64),
    server_queue: u64,
    hypervisor: Option<Hypervisor>,
    /// Hoses in Mb/s, of two tenants.
    hoses: [u64; 2],
    tcp: &'static str,
    other: Other,
    flows: [Vec<Traffic>; 2],
    queues: QueueParams,
    forwarding: Forwarding,
    nic_queue: NicQueue,
    gap: bool,
    jitter: u64,
    mark_at: MarkAt,
    kmin: u64,
    isolation: bool,
    every: u64,
    histogram: bool,
    /// Without cut-through.
    trouble: Option<Trouble>,
    seed: u64,
}

fn shaper() -> impl Strategy<Value = ShaperParams> {
    (1u32..30, 100u64..100_000, 0u64..20_000).prop_map(|(packets, delay, burst)| ShaperParams {
        packets,
        delay: Time::ns(delay),
        burst: Time::ns(burst),
    })
}

fn rate() -> impl Strategy<Value = RateParams> {
    (2_000u64..100_000, 50u64..1000, any::<bool>(), any::<bool>(), any::<bool>(), 1u32..4).prop_map(
        |(period, step, ecn, hold_increase, rate_caution, reordering)| RateParams {
            period: Time::ns(period),
            step: Rate(step * 1_000_000),
            time_scale: 1e-3,
            detection: if ecn { Detection::Ecn } else { Detection::Losses },
            hold_increase,
            rate_caution,
            reordering,
            ..RateParams::default()
        },
    )
}

fn hypervisor() -> impl Strategy<Value = Hypervisor> {
    let elastic = (rate(), shaper(), 5_000u64..200_000, 0u64..20_000, 20_000u64..500_000, any::<bool>()).prop_map(
        |(rate, shaper, partition, new_pair, idle, literal)| {
            Hypervisor::ElasticSwitch(ElasticSwitchParams {
                partition_period: Time::ns(partition),
                new_pair_delay: Time::ns(new_pair),
                idle_timeout: Time::ns(idle),
                weight: if literal { WeightMode::Literal } else { WeightMode::Proportional },
                without_guarantee: Rate(100_000_000),
                rate,
                shaper,
                ..ElasticSwitchParams::default()
            })
        },
    );
    let seawall = (rate(), shaper(), 20_000u64..500_000).prop_map(|(rate, shaper, idle)| {
        let (min_rate, idle_timeout) = (Rate(100_000_000), Time::ns(idle));
        Hypervisor::Seawall(SeawallParams { min_rate, idle_timeout, rate, shaper, ..SeawallParams::default() })
    });
    let edge = (shaper(), 2_000u64..100_000, 20_000u64..500_000).prop_map(|(shaper, period, idle)| {
        Hypervisor::EdgeOnly(EdgeOnlyParams {
            period: Time::ns(period),
            idle_timeout: Time::ns(idle),
            without_guarantee: Rate(100_000_000),
            shaper,
            ..EdgeOnlyParams::default()
        })
    });
    let reserved = shaper().prop_map(|shaper| Hypervisor::Reservation(ReservationParams { shaper }));
    prop_oneof![3 => elastic, 1 => seawall, 1 => edge, 1 => reserved]
}

fn case() -> impl Strategy<Value = Case> {
    let limit = (6_000u64..60_000).prop_map(Bytes);
    let queues = prop_oneof![
        2 => Just(QueueParams::Shared),
        2 => limit.clone().prop_map(|limit| QueueParams::DropTail { limit }),
        1 => limit.prop_map(|limit| QueueParams::Pfabric { limit }),
    ];
    let forwarding = prop::sample::select(vec![
        Forwarding::StoreAndForward,
        Forwarding::StoreAndForward,
        Forwarding::CutThrough,
        Forwarding::CutThroughUnderrun,
    ]);
    let nic = prop::sample::select(vec![NicQueue::Port, NicQueue::Unlimited]);
    let link = (prop::sample::select(vec![10u64, 25, 40]), prop::sample::select(vec![0u64, 0, 150]));
    let fabric = (1u32..4, 1u32..3, link, 3_000u64..60_000);
    let tenants = (prop::option::weighted(0.8, hypervisor()), [0u64..5000, 0u64..5000]);
    let profile = prop::sample::select(vec!["datacenter", "linux", "newreno", "dctcp"]);
    let flow = (0u32..64, 0u32..64, 1u64..100_000, 0u64..60_000, prop::option::weighted(0.3, 1_000u64..300_000));
    let flows = [prop::collection::vec(flow.clone(), 0..10), prop::collection::vec(flow, 0..6)];
    let other = prop_oneof![
        1 => Just(Other::Udp(0)),
        2 => (500u64..8000).prop_map(Other::Udp),
        2 => Just(Other::Tcp),
        1 => Just(Other::Rdma),
    ];
    let traffic = (profile, other, flows);
    let switch = (queues, forwarding, nic, any::<bool>(), prop_oneof![Just(0u64), 1u64..2000], any::<bool>());
    let every = prop_oneof![Just(0u64), 500u64..20_000];
    let more = (500u64..40_000, any::<bool>(), every, any::<bool>());
    (fabric, tenants, traffic, switch, more, prop::option::weighted(0.3, trouble()), any::<u64>()).prop_map(
        |(fabric, tenants, traffic, switch, more, trouble, seed)| Case {
            slots: fabric.0,
            spines: fabric.1,
            vm_link: fabric.2,
            server_queue: fabric.3,
            hypervisor: tenants.0,
            hoses: tenants.1,
            tcp: traffic.0,
            other: traffic.1,
            flows: traffic.2,
            queues: switch.0,
            forwarding: switch.1,
            nic_queue: switch.2,
            gap: switch.3,
            jitter: switch.4,
            mark_at: if switch.5 { MarkAt::Dequeue } else { MarkAt::Enqueue },
            kmin: more.0,
            isolation: more.1,
            every: more.2,
            histogram: more.3,
            trouble,
            seed,
        },
    )
}

impl Case {
    fn fabric(&self) -> Fabric {
        let (host_rate, uplink_rate, delay) = (Rate::gbps(10), Rate::gbps(20), Time::ns(200));
        let tree = LeafSpine { host_rate, uplink_rate, delay, ..LeafSpine::new(2, self.spines, 2) };
        let (rate, delay) = (Rate::gbps(self.vm_link.0), Time::ns(self.vm_link.1));
        let vms = Vms { rate, delay, ..Vms::new(self.slots) };
        tree.build().expect("a valid fabric").with_vms(&vms).expect("space for VMs")
    }

    fn bench(&self) -> Bench {
        let hosts = 4 * self.slots;
        let [a, b] = self.hoses.map(|hose| Rate(hose * 1_000_000));
        let tenants = vec![tenant("a", 0..hosts / 2, a), tenant("b", hosts / 2..hosts, b)];
        let mut bench = Bench::new(self.fabric()).control("dcqcn", "paper").tenants(Tenancy::new(tenants));
        let tcp = Transport::named("tcp", self.tcp).expect("a profile");
        bench = match self.other {
            Other::Rdma if self.hypervisor.is_none() => self.add(bench, 1, false),
            Other::Rdma | Other::Tcp => {
                self.add(bench.transport(Transport::named("tcp", "datacenter").expect("a profile")), 1, true)
            }
            Other::Udp(rate) => {
                let rate = (rate > 0).then(|| Rate(rate * 1_000_000));
                self.add(bench.transport(Transport::Udp(UdpParams { rate })), 1, true)
            }
        };
        bench = bench.then_transport(tcp);
        self.set(self.add(bench, 0, true))
    }

    fn add(&self, mut bench: Bench, of: usize, may_stop: bool) -> Bench {
        let hosts = 4 * self.slots;
        for &(src, hop, size, start, until) in &self.flows[of] {
            let (src, start) = (src % hosts, Time::ns(start));
            bench = bench.flow(src, (src + 1 + hop % (hosts - 1)) % hosts, size, start);
            if let Some(duration) = until.filter(|_| may_stop) {
                bench = bench.until(start + Time::ns(duration));
            }
        }
        bench
    }

    fn set(&self, bench: Bench) -> Bench {
        let fabric = bench.fabric();
        bench.with(|params| {
            params.seed = self.seed;
            params.max_events = Some(3_000_000);
            params.horizon = Some(Time::ms(5));
            params.switch =
                SwitchParams { queues: self.queues, forwarding: self.forwarding, ..SwitchParams::default() };
            params.server_queue = Bytes(self.server_queue);
            params.hypervisor.clone_from(&self.hypervisor);
            params.host.nic_queue = self.nic_queue;
            params.packets.gap = Bytes(if self.gap { 38 } else { 0 });
            params.rdma.rto = Some(Time::us(300));
            let whole = self.forwarding == Forwarding::StoreAndForward;
            if whole {
                params.host.jitter = Time::ns(self.jitter);
            }
            let marks =
                EcnParams { enabled: true, kmin: Bytes(self.kmin), kmax: Bytes(3 * self.kmin), ..EcnParams::default() };
            params.ecn = EcnParams { mark_at: self.mark_at, ..marks };
            if self.isolation && self.queues == QueueParams::Shared && self.hypervisor.is_none() {
                params.switch.lossless = vec![2, 3];
                params.switch.isolation = IsolationParams { enabled: true, queue: 2, ..IsolationParams::default() };
            }
            if self.every > 0 {
                params.measure.sample_every = Some(Time::ns(self.every));
            }
            params.measure.queue_histogram = self.histogram;
            // A packet lost behind its header, before a faster link, appears at different times.
            if let Some(trouble) = self.trouble.as_ref().filter(|_| whole) {
                params.network = trouble.network(&fabric, self.queues == QueueParams::Shared);
            }
        })
    }
}

proptest! {
    #![proptest_config(random_runs(600))]

    #[test]
    fn windows_give_the_same_run_with_vms(case in case(), cut in 0u64..400) {
        let bench = case.bench();
        prop_assume!(bench.setup_error().is_none());
        same_event_by_event(bench, cut)?;
    }
}
