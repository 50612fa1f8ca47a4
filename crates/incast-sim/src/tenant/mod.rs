//! Hypervisors between VMs and the network. A VM is a host of the fabric; a *pair* is all traffic from one VM to another.
//!
//! A limiter at the sender ([`shaper`]) delays packets; the receiver counts them ([`gaps`]). Limits come from [`elastic`]
//! (ElasticSwitch and Seawall) or [`edge`], or are fixed ([`reserved`]). A pair's hypervisors exchange messages, which are
//! packets on the same network.

mod allocate;
mod edge;
mod elastic;
mod gaps;
mod pairs;
mod params;
mod partition;
mod reserved;
mod shaper;
mod traffic;

use std::collections::HashMap;

use incast_model::fabric::{Fabric, HostId, NodeKind, PortId};
use incast_model::flow::FlowSet;
use incast_model::rng;
use incast_model::tenant::Tenancy;
use incast_model::units::{Rate, Time};

use crate::outcome::HypervisorCounts;
use allocate::Allocator;
use gaps::Gaps;
pub use params::{
    Detection, EdgeOnlyParams, ElasticSwitchParams, Hypervisor, HypervisorInfo, RateParams, ReservationParams,
    SeawallParams, ShaperParams, WeightMode,
};
use shaper::Shaper;

#[derive(Debug)]
pub(crate) struct Hypervisors {
    params: Hypervisor,
    /// Pairs of a flow's data and answers.
    pairs_of: Vec<[u32; 2]>,
    pairs: Vec<Pair>,
    /// By host.
    vms: Vec<Vm>,
    /// VMs by server.
    servers: HashMap<u32, Vec<u32>>,
    pub(crate) counts: HypervisorCounts,
}

#[derive(Debug, Clone)]
struct Pair {
    /// Hosts.
    src: u32,
    dst: u32,
    /// A flow between the two, for messages.
    flow: u32,
    /// If false, the pair carries only answers.
    carries_data: bool,
    shaper: Shaper,
    /// Flows of uncontrolled senders, waiting for space at the limiter.
    asleep: Vec<u32>,
    send: Sending,
    receive: Receiving,
    count: PairCount,
}

/// Counters of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairCount {
    /// Wire bytes past the limiter.
    pub sent: u64,
    /// Wire bytes received.
    pub received: u64,
    /// Lost packets, by the receiver's count.
    pub lost: u64,
    /// Marked packets received.
    pub marked: u64,
    /// Packets dropped by the limiter's full queue.
    pub refused: u64,
}

/// A pair's state at the sender.
#[derive(Debug, Clone)]
struct Sending {
    active: bool,
    /// Begin of activity, in ps.
    since: u64,
    /// Last packet, in ps.
    last: u64,
    /// Next sequence number.
    next: u32,
    /// Traffic since the last full division.
    divided: Window,
    /// Traffic in the period of rate allocation.
    period: Window,
    /// Demand at the last full division, in bit/s.
    demand: f64,
    /// Share of the sender's hose, in bit/s; infinite while unknown.
    mine: f64,
    /// Share of the receiver's hose, in bit/s; infinite while unknown.
    theirs: f64,
    /// Receiver's offer in bit/s; infinite while unknown.
    offer: f64,
    /// In bit/s.
    guarantee: f64,
    allocator: Allocator,
    /// Lost and marked packets that the receiver reported.
    reports: u64,
    /// Part of `reports` that rate allocation has used.
    handled: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Window {
    bytes: u64,
    waited: bool,
}

/// A pair's state at the receiver.
#[derive(Debug, Clone)]
struct Receiving {
    active: bool,
    since: u64,
    last: u64,
    gaps: Gaps,
    /// Bytes since the last division.
    bytes: u64,
    demand: f64,
    /// If true, packets wait at the sender's limiter.
    limited: bool,
    /// Sender's offer in bit/s; infinite while unknown.
    offer: f64,
    /// Congestion reported to the sender.
    reports: u64,
}

#[derive(Debug, Clone)]
struct Vm {
    port: u32,
    nic: u32,
    /// Hoses in bit/s.
    send: f64,
    receive: f64,
    /// Server link in bit/s.
    line: f64,
    server: u32,
    /// Active pairs.
    sends: Vec<u32>,
    receives: Vec<u32>,
    /// Phase of the periods, in [0, 1): hypervisors are not synchronised.
    phase: f64,
    /// If true, the timers run.
    awake: bool,
    /// Last full division, or measurement with `edge_only`.
    divided_at: u64,
    /// If true, a division for new pairs is scheduled.
    soon: bool,
    /// With `edge_only`: rate for senders, in bit/s.
    reported_rate: f64,
    /// Bytes received in the period.
    metered: u64,
    last_heard: u64,
}

impl Hypervisors {
    pub(crate) fn new(
        params: &Hypervisor,
        tenancy: &Tenancy,
        fabric: &Fabric,
        flows: &FlowSet,
        nic_of: &dyn Fn(u32) -> u32,
        packet: u64,
        seed: u64,
    ) -> Self {
        let vms: Vec<Vm> = (0u32..)
            .zip(fabric.hosts())
            .map(|(host, &node)| {
                let port = fabric.ports_of(node).next().expect("hosts are plugged in");
                let (server, line) = (fabric.neighbour(port), line(fabric, port));
                let (send, receive) = tenancy.hose(HostId(host));
                let least = params.without_guarantee().0 as f64;
                let hose = |rate: Rate| if rate == Rate::ZERO { least } else { rate.0 as f64 };
                Vm {
                    port: port.0,
                    nic: nic_of(port.0),
                    send: hose(send),
                    receive: hose(receive),
                    line: line as f64,
                    server: server.0,
                    sends: Vec::new(),
                    receives: Vec::new(),
                    phase: rng::unit(&mut rng::stream(seed, "hypervisor/phase", host.into())),
                    awake: false,
                    divided_at: 0,
                    soon: false,
                    reported_rate: f64::INFINITY,
                    metered: 0,
                    last_heard: 0,
                }
            })
            .collect();
        let (pairs, pairs_of) = pairs::of(flows);
        let mut servers: HashMap<u32, Vec<u32>> = HashMap::new();
        for (host, vm) in (0u32..).zip(&vms) {
            servers.entry(vm.server).or_default().push(host);
        }
        let mut all =
            Self { params: params.clone(), pairs_of, pairs, vms, servers, counts: HypervisorCounts::default() };
        all.reserve(packet);
        all
    }

    pub(crate) fn records(&self) -> Vec<PairRecord> {
        self.pairs.iter().map(|pair| PairRecord { src: pair.src, dst: pair.dst, count: pair.count }).collect()
    }

    pub(crate) fn uses_marks(&self) -> bool {
        self.params.rate().is_some_and(|rate| rate.detection == Detection::Ecn)
    }
}

/// Maximum rate of a host at a port in bit/s; for a VM, at most its server's links.
pub(crate) fn line(fabric: &Fabric, port: PortId) -> u64 {
    let (own, server) = (fabric.rate(port).0, fabric.neighbour(port));
    if !fabric.servers().contains(&server) {
        return own;
    }
    let up = fabric.ports_of(server).filter(|&up| fabric.node(fabric.neighbour(up)).kind == NodeKind::Switch);
    own.min(up.map(|up| fabric.rate(up).0).sum())
}

/// Counters of a pair of VMs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairRecord {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Counters.
    pub count: PairCount,
}

/// State of a pair of VMs at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSample {
    /// Time.
    pub time: Time,
    /// Index of the pair's record.
    pub pair: u32,
    /// Guarantee in bit/s.
    pub guarantee: u64,
    /// Limit in bit/s; `None` without one.
    pub limit: Option<u64>,
    /// Wire bytes past the limiter so far.
    pub sent: u64,
    /// Wire bytes received so far.
    pub received: u64,
    /// Packets at the limiter.
    pub waiting: u32,
}
