//! Invariants of random runs; `congestion/hpcc.rs` tests INT records.

use std::collections::HashMap;

use incast_model::fabric::{Fabric, FabricBuilder, NodeId};
use incast_model::flow::Gate;
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::Arithmetic;
use incast_sim::balance::{AdaptiveParams, Balance, FlowletParams, SprayOrder, SprayParams};
use incast_sim::congestion::{Control, ControlInfo, WindowMode};
use incast_sim::host::{ClassBy, ClassParams, CnpMode, RdmaParams, Recovery};
use incast_sim::outcome::{Outcome, Stop};
use incast_sim::switch::{Alpha, Headroom, MarkAt, PfcMode, SchedulerParams};
use proptest::prelude::*;

use crate::common::{Bench, digest, random_runs, same_event_by_event};

#[derive(Debug, Clone)]
struct Shape {
    /// Each switch's link to an earlier one.
    switches: Vec<(usize, Link)>,
    /// Switch, link, and whether a second link leads to the next switch.
    hosts: Vec<(usize, Link, bool)>,
    doubled: bool,
}

/// Gb/s and ns.
type Link = (u64, u64);

/// (source, destination, size, start in ns); hosts modulo their number.
type Pair = (usize, usize, u64, u64);

#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    shape: Shape,
    flows: Vec<Pair>,
    control: (&'static str, &'static str),
    window: Option<WindowMode>,
    pub(crate) lossless: bool,
    xoff: Option<u64>,
    /// Beyond headrooms, reserves and static thresholds.
    shared: u64,
    scheduler: u8,
    kmin: u64,
    mark_at: MarkAt,
    cnp: CnpMode,
    ack_every: u32,
    rto: Option<Time>,
    /// (reorder window, `bdp_bound`) of selective repeat.
    repeat: Option<(u32, bool)>,
    /// Every `chain`-th flow waits for its predecessor; 0: none.
    chain: usize,
    ack_priority: Option<u8>,
    priorities: u8,
    payload: u64,
    gap: u64,
    arithmetic: Arithmetic,
    seed: u64,
}

fn controls() -> Vec<(&'static str, &'static str)> {
    let profiles = |info: ControlInfo| info.profiles.iter().map(move |(profile, _)| (info.name, *profile));
    Control::catalogue().into_iter().flat_map(profiles).collect()
}

fn link() -> impl Strategy<Value = Link> {
    (prop::sample::select(vec![10u64, 25, 40, 50, 100, 200, 400, 450]), 0u64..3000)
}

fn shape() -> impl Strategy<Value = Shape> {
    let switches = prop::collection::vec((0usize..4, link()), 0..4);
    let hosts = prop::collection::vec((0usize..5, link(), prop::bool::weighted(0.2)), 2..8);
    (switches, hosts, any::<bool>()).prop_map(|(switches, hosts, doubled)| Shape { switches, hosts, doubled })
}

fn flows() -> impl Strategy<Value = Vec<Pair>> {
    let incast = (0usize..8, 1usize..8, 1u64..80_000, 0u64..100)
        .prop_map(|(dst, n, size, jitter)| (0..n).map(|k| (dst + 1 + k, dst, size, jitter * k as u64)).collect());
    let permutation =
        (1usize..8, 1u64..120_000).prop_map(|(shift, size)| (0..8).map(|k| (k, k + shift, size, 0)).collect());
    let pairs = prop::collection::vec((0usize..8, 0usize..8, 1u64..60_000, 0u64..30_000), 1..24);
    prop_oneof![incast, permutation, pairs]
}

pub(crate) fn load_balancing() -> impl Strategy<Value = Balance> {
    let kinds = (0u8..4, 1u64..3000, any::<bool>(), any::<bool>());
    kinds.prop_map(|(kind, gap, acks, other)| match kind {
        0 => Balance::Ecmp,
        1 => {
            Balance::Spray(SprayParams { order: if other { SprayOrder::Random } else { SprayOrder::RoundRobin }, acks })
        }
        2 => Balance::Flowlet(FlowletParams { gap: Time::ns(gap), entries: if other { 3 } else { 1 << 10 } }),
        _ => Balance::Adaptive(AdaptiveParams { samples: 1 + u16::from(acks), memory: other, acks }),
    })
}

pub(crate) fn scenario() -> impl Strategy<Value = Scenario> {
    let switch = (any::<bool>(), prop::option::of(3072u64..60_000), 5_000u64..300_000, 0u8..3, 500u64..100_000);
    let host = (any::<bool>(), any::<bool>(), 1u32..9, 1u8..4, prop::option::of(3u8..7));
    let packet = (prop::sample::select(vec![256u64, 1000, 1000, 1000, 4096]), prop::sample::select(vec![0u64, 20]));
    // Without timeouts, nothing may be lost and no window may end before an ACK is due: ns-3's truncated times overrun
    // headrooms.
    let timeouts = prop::sample::select(vec![
        (Arithmetic::Exact, Some(Time::us(400))),
        (Arithmetic::Exact, None),
        (Arithmetic::Ns3, None),
    ]);
    let window = prop::option::of(prop::sample::select(vec![WindowMode::Off, WindowMode::Fixed, WindowMode::Rate]));
    let repeat = prop::option::of((0u32..4, any::<bool>()));
    let more = (packet, timeouts, any::<u64>(), repeat, 0usize..4);
    (shape(), flows(), prop::sample::select(controls()), window, switch, host, more).prop_map(
        |(shape, flows, control, window, switch, host, more)| {
            let (packet, (arithmetic, rto), seed, repeat, chain) = more;
            Scenario {
                shape,
                flows,
                control,
                window,
                lossless: switch.0 || rto.is_none(),
                xoff: switch.1.filter(|_| arithmetic == Arithmetic::Exact),
                shared: switch.2,
                scheduler: switch.3,
                kmin: switch.4,
                mark_at: if host.0 { MarkAt::Dequeue } else { MarkAt::Enqueue },
                cnp: if host.1 { CnpMode::Echo } else { CnpMode::Packet },
                ack_every: if rto.is_none() { 1 } else { host.2 },
                rto,
                repeat: repeat.filter(|_| arithmetic == Arithmetic::Exact),
                chain,
                ack_priority: host.4.filter(|&priority| rto.is_some() || priority < 6),
                priorities: host.3,
                payload: packet.0,
                gap: packet.1,
                arithmetic,
                seed,
            }
        },
    )
}

impl Shape {
    fn fabric(&self) -> Fabric {
        let mut builder = FabricBuilder::new();
        let hosts: Vec<NodeId> = (0..self.hosts.len()).map(|k| builder.host(format!("h{k}"))).collect();
        let switches: Vec<NodeId> = (0..=self.switches.len()).map(|k| builder.switch(format!("s{k}"), 1)).collect();
        for (k, &(parent, (gbps, ns))) in self.switches.iter().enumerate() {
            let ends = (switches[k + 1], switches[parent % (k + 1)]);
            for _ in 0..1 + u32::from(self.doubled) {
                builder.link(ends.0, ends.1, Rate::gbps(gbps), Time::ns(ns));
            }
        }
        for (host, &(at, (gbps, ns), twice)) in hosts.into_iter().zip(&self.hosts) {
            for at in at..=at + usize::from(twice) {
                builder.link(host, switches[at % switches.len()], Rate::gbps(gbps), Time::ns(ns));
            }
        }
        builder.finish().unwrap()
    }
}

impl Scenario {
    /// (first, second) in writing order: the second waits.
    fn waits(&self) -> impl Iterator<Item = (u32, u32)> {
        let last = if self.chain == 0 { 0 } else { self.flows.len() as u32 };
        (1..last).filter(|flow| flow % self.chain as u32 == 0).map(|flow| (flow - 1, flow))
    }

    fn ns3(&self) -> bool {
        self.arithmetic == Arithmetic::Ns3
    }

    pub(crate) fn for_windows(mut self) -> Self {
        self.arithmetic = Arithmetic::Exact;
        self
    }

    pub(crate) fn bench(&self) -> Bench {
        let fabric = self.shape.fabric();
        let hosts = fabric.hosts().len();
        let most_ports = fabric.switches().map(|switch| fabric.ports_of(switch).len() as u64).max().unwrap();
        let promised = self.xoff.map_or(0, |xoff| 3 * most_ports * xoff);
        let taken = set_aside(&fabric, self.lossless) + promised;
        let mut bench = Bench::new(fabric).control(self.control.0, self.control.1).with(|params| {
            params.seed = self.seed;
            params.max_events = Some(5_000_000);
            params.switch.lossless = if self.lossless { vec![3, 4, 5] } else { vec![] };
            params.switch.buffer = if self.ns3() { Bytes(32 << 20) } else { Bytes(taken + self.shared) };
            params.switch.pfc_mode = match self.xoff {
                Some(xoff) => PfcMode::Static { xoff: Bytes(xoff) },
                None => PfcMode::Dynamic { alpha: Alpha::ByRate },
            };
            params.switch.scheduler = match self.scheduler {
                0 => SchedulerParams::RoundRobin,
                1 => SchedulerParams::StrictPriority,
                _ => SchedulerParams::Drr { quanta: [0, 1000, 1000, 3000, 1500, 700, 1000, 1000], strict: Vec::new() },
            };
            params.ecn.kmin = Bytes(self.kmin);
            params.ecn.kmax = Bytes(4 * self.kmin);
            params.ecn.mark_at = self.mark_at;
            params.rdma.cnp = self.cnp;
            params.rdma.ack_every = self.ack_every;
            params.rdma.ack_priority = self.ack_priority;
            params.packets.payload = Bytes(self.payload);
            params.packets.gap = Bytes(self.gap);
            params.arithmetic = self.arithmetic;
            params.rdma.rto = self.rto;
            if let Some((reorder_window, bdp_bound)) = self.repeat {
                let (recovery, reorder_window) = (Recovery::SelectiveRepeat, Some(reorder_window));
                params.rdma = RdmaParams { recovery, reorder_window, bdp_bound, ..params.rdma.clone() };
            }
        });
        if let Some(window) = self.window {
            bench = bench.window(window);
        }
        for (index, &(src, dst, size, start)) in self.flows.iter().enumerate() {
            let (src, dst) = (src % hosts, dst % hosts);
            let dst = if src == dst { (dst + 1) % hosts } else { dst };
            let priority = 3 + index as u8 % self.priorities;
            bench = bench.flow_of(priority, src as u32, dst as u32, size, Time::ns(start));
        }
        for (earlier, later) in self.waits() {
            bench = bench.gate(&[earlier], DELAY, &[later]);
        }
        bench
    }
}

/// From a flow's end to its successor's start.
const DELAY: Time = Time::ns(300);

fn set_aside(fabric: &Fabric, lossless: bool) -> u64 {
    let headroom = |port| 3 * (fabric.rate(port).0 * 2 * fabric.delay(port).0 / 8_000_000_000_000 + 13_000);
    let of_switch =
        |switch| fabric.ports_of(switch).map(|port| 4096 + if lossless { headroom(port) } else { 0 }).sum::<u64>();
    fabric.switches().map(of_switch).max().unwrap()
}

fn pauses_alternate(bench: &Bench, outcome: &Outcome) -> Result<(), TestCaseError> {
    let mut open_until: HashMap<_, Option<Time>> = HashMap::new();
    for pause in &outcome.pauses {
        let key = (pause.port, pause.priority);
        match open_until.get(&key) {
            Some(None) => prop_assert!(false, "a pause begins while another lasts: {pause:?}"),
            Some(Some(end)) => prop_assert!(*end < pause.start, "pauses overlap: {pause:?}"),
            None => {}
        }
        prop_assert!(pause.end.is_none_or(|end| end > pause.start));
        open_until.insert(key, pause.end);
    }
    let fabric = bench.fabric();
    for sent in outcome.ports.iter().filter(|record| record.xoff_sent > 0) {
        prop_assert!(sent.xoff_sent - sent.xon_sent <= 1, "{sent:?}");
        let peer = fabric.port(sent.port).peer;
        let received = outcome.ports.iter().find(|record| record.port == peer && record.priority == sent.priority);
        let received = received.map_or(0, |record| record.xoff_received);
        prop_assert!(sent.xoff_sent - received <= 1, "{sent:?}, {received} received");
        let intervals = outcome.pauses.iter().filter(|p| p.port == peer && p.priority == sent.priority).count() as u64;
        prop_assert_eq!(intervals, received);
    }
    Ok(())
}

proptest! {
    #![proptest_config(random_runs(1500))]

    #[test]
    fn runs_are_sound(scenario in scenario()) {
        let bench = scenario.bench();
        let outcome = bench.run();
        prop_assert_eq!(&outcome.stop, &Stop::Finished);
        prop_assert_eq!(outcome.ledger.unbalanced().count(), 0, "{:?}", outcome.ledger);
        for (flow, spec) in outcome.flows.iter().zip(bench.sorted().flows) {
            let fct = flow.fct().unwrap();
            prop_assert!(fct >= flow.ideal_exact, "{} beats its ideal {}: {:?}", fct, flow.ideal_exact, spec);
            prop_assert_eq!(flow.acked, spec.size.0);
            prop_assert_eq!(flow.packets - flow.retransmitted, spec.size.0.div_ceil(scenario.payload));
        }
        if scenario.lossless {
            prop_assert!(outcome.drops.iter().all(|drop| !drop.lossless), "{:?}", outcome.drops.first());
            let again: u64 = outcome.flows.iter().map(|flow| u64::from(flow.nacks)).sum();
            prop_assert_eq!(again, 0, "nothing lost, nothing out of order");
        }
        prop_assert!(scenario.lossless || outcome.counts.pauses == 0);
        let flows = bench.sorted();
        for gate in &flows.gates {
            let [first, then] = [gate.waits_for[0], gate.starts[0]].map(|flow| flow as usize);
            let end = if flows.flows[first].src == flows.flows[then].src {
                outcome.flows[first].finish
            } else {
                outcome.flows[first].delivered
            };
            let start = flows.flows[then].start.max(end.unwrap() + DELAY);
            prop_assert_eq!(outcome.flows[then].start, Some(start), "{:?}", gate);
        }
        pauses_alternate(&bench, &outcome)?;
    }

    #[test]
    fn rounds_begin_as_a_whole_or_not_at_all(scenario in scenario(), end in 0u64..60_000) {
        let (end, waits) = (Time::ns(end), scenario.waits().count());
        let bench = (0..waits).step_by(2).fold(scenario.bench(), |bench, gate| bench.round(end, gate..waits.min(gate + 2)));
        let outcome = bench.run();
        prop_assert_eq!(&outcome.stop, &Stop::Finished);
        let flows = bench.sorted();
        let completed = outcome.flows.iter().filter(|flow| flow.finish.is_some()).count();
        prop_assert_eq!(completed + outcome.cancelled(), flows.flows.len());
        for gates in flows.gates.chunks(2) {
            let opens = |gate: &Gate| {
                let [first, then] = [gate.waits_for[0], gate.starts[0]].map(|flow| flow as usize);
                let same = flows.flows[first].src == flows.flows[then].src;
                let record = &outcome.flows[first];
                Some(if same { record.finish? } else { record.delivered? } + DELAY)
            };
            let begun = gates.iter().filter_map(opens).min().is_some_and(|open| open < end);
            for gate in gates {
                let then = gate.starts[0] as usize;
                let start = opens(gate).filter(|_| begun).map(|open| open.max(flows.flows[then].start));
                prop_assert_eq!(outcome.flows[then].start, start, "{:?}", gate);
                prop_assert_eq!(outcome.flows[then].cancelled, start.is_none());
            }
        }
        same_event_by_event(bench, 150)?;
    }

    #[test]
    fn windows_give_the_same_run(
        scenario in scenario().prop_map(Scenario::for_windows),
        cut in 0u64..400,
        (every, from, until) in (0u64..5000, 0u64..100, 0u64..400),
        balance in load_balancing(),
    ) {
        let mut bench = scenario.bench().with(|params| params.network.load_balancing = balance);
        if every.is_multiple_of(3) {
            let classes = ClassParams { by: ClassBy::Sent, mice: 4, elephants: 3, threshold: Bytes(every) };
            bench = bench.with(|params| params.host.classes = classes);
        }
        if every > 500 {
            bench = bench.with(|params| {
                params.measure.queue_histogram = every.is_multiple_of(2);
                params.measure.sample_every = Some(Time::ns(every));
                params.measure.sample_from = Time::us(from);
                params.measure.sample_until = (until > 200).then(|| Time::us(until));
            });
        }
        same_event_by_event(bench, cut)?;
    }

    #[test]
    fn runs_repeat(scenario in scenario(), every in 100u64..5000) {
        let bench = scenario.bench();
        let outcome = bench.run();
        let first = digest(&outcome);
        prop_assert_eq!(&first, &digest(&bench.run()));
        let mut watched = bench.clone().with(|params| {
            params.measure.sample_every = Some(Time::ns(every));
            params.measure.queue_histogram = true;
            params.measure.histogram_bin = Bytes(1);
        }).run();
        prop_assert!(watched.histograms.iter().all(|h| h.time_in_bin.iter().sum::<u64>() == outcome.end.0));
        watched.counts.events = outcome.counts.events;
        prop_assert_eq!(&first, &digest(&watched));
        let cut = Time(outcome.end.0 / 2);
        let half = bench.with(|params| params.horizon = Some(cut)).run();
        prop_assert_eq!(half.ledger.unbalanced().count(), 0, "{:?}", half.ledger);
        for (early, late) in half.flows.iter().zip(&outcome.flows) {
            prop_assert_eq!(early.finish, late.finish.filter(|&finish| finish <= cut));
        }
    }
}

/// An ACK that opens a window must wake the port with data; the ideal's ACK leaves by the port of its data.
#[test]
fn acks_by_another_port() {
    let mut builder = FabricBuilder::new();
    let hosts = [builder.host("h0"), builder.host("h1")];
    let switch = builder.switch("s0", 1);
    for (host, us) in hosts.into_iter().flat_map(|host| [(host, 1), (host, 2)]) {
        builder.link(host, switch, Rate::gbps(100), Time::us(us));
    }
    let bench = Bench::new(builder.finish().unwrap()).with(|params| {
        params.rdma.rto = None;
        params.rdma.window = Some(Bytes(8000));
    });
    let bench = bench.flows((0..16).map(|k| (0, 1, 300_000, Time::us(1000 * k))));
    let alone = bench.run();
    assert!(alone.flows.iter().all(|flow| flow.fct().unwrap() == flow.ideal_exact));
    assert_eq!(bench.window(WindowMode::Fixed).run().stop, Stop::Finished);
}

/// After a premature timeout, before its turn; until then its slot must not be reused.
#[test]
fn a_queue_pair_completes_while_it_waits() {
    let star = crate::common::star(&[crate::common::Cable::new(100, 5000); 4]);
    let mut bench = Bench::new(star).with(|params| params.rdma.rto = Some(Time::us(20)));
    bench = bench.flow(0, 1, 1000, Time::ZERO);
    for _ in 0..200 {
        bench = bench.flow(0, 1, 50_000, Time::ns(200));
    }
    // Timeout at 20 us, ACK at 20.3 us.
    let late = (0..40).map(|k| (2, 3, 30_000, Time::ns(20_100 + 50 * k)));
    let outcome = bench.flows(late).run();
    assert_eq!(outcome.stop, Stop::Finished);
    assert_eq!(outcome.flows[0].timeouts, 1);
    assert_eq!(outcome.ledger.unbalanced().count(), 0);
}

#[test]
fn windows_give_the_same_run_with_gates() {
    for (delay, own) in [(0, false), (700, false), (0, true), (300, true)] {
        let star = crate::common::star(&[crate::common::Cable::new(100, 1000); 6]);
        let mut bench = Bench::new(star).control("dcqcn", "paper");
        for flow in 0..6 * 20u32 {
            let start = if flow % 7 == 0 { Time::us(u64::from(flow / 3)) } else { Time::ZERO };
            bench = bench.flow(flow % 6, (flow + 1) % 6, 40_000 + 1000 * u64::from(flow % 5), start);
        }
        for flow in 6..6 * 20u32 {
            let before = flow - 6;
            let received = before / 6 * 6 + (before + 5) % 6;
            let waits_for = if own { vec![before, received] } else { vec![received] };
            bench = bench.gate(&waits_for, Time::ns(delay), &[flow]);
        }
        let outcome = bench.run();
        assert_eq!(outcome.stop, Stop::Finished);
        let one_by_one = bench.run_event_by_event();
        assert_eq!(digest(&outcome), digest(&one_by_one), "{delay} ns, {own}");
    }
}

#[test]
fn windows_give_the_same_run_when_many_packets_are_resent() {
    let star = crate::common::star(&[crate::common::Cable::new(100, 1000); 8]);
    let bench = Bench::new(star).control("unlimited", "default").with(|params| {
        params.switch.headroom = Headroom::Bytes(Bytes(0));
        params.switch.buffer = Bytes(300_000);
    });
    let bench = bench.flows((1..7).map(|src| (src, 0, 2_000_000, Time::ZERO)));
    let outcome = bench.run();
    assert!(outcome.counts.drops > 10_000, "{:?}", outcome.counts);
    let one_by_one = bench.run_event_by_event();
    assert_eq!(digest(&outcome), digest(&one_by_one));
    assert!(outcome.counts.events < 2 * one_by_one.counts.events);
}
