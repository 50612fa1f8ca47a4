//! Hypervisors: what stands between VMs and the network. A VM is a host of the fabric; all that it sends to another VM is a *pair*.
//!
//! Every packet of a pair passes a limiter at its sender ([`shaper`]), and is counted at its receiver ([`gaps`]). What limits are is
//! found by [`elastic`] (ElasticSwitch and Seawall) or [`edge`], or fixed. The two hypervisors of a pair know of each other what
//! messages tell them, which are packets on the same network.

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
use serde::Serialize;

use allocate::Allocator;
use gaps::Gaps;
pub use params::{
    Detection, EdgeOnlyParams, ElasticSwitchParams, Hypervisor, HypervisorInfo, RateParams, ReservationParams,
    SeawallParams, ShaperParams, WeightMode,
};
use shaper::Shaper;

/// All hypervisors of a run.
#[derive(Debug)]
pub(crate) struct Hypervisors {
    params: Hypervisor,
    /// By flow: the pair of its data, and that of what comes back.
    pairs_of: Vec<[u32; 2]>,
    pairs: Vec<Pair>,
    /// By host.
    vms: Vec<Vm>,
    /// By server: its VMs.
    servers: HashMap<u32, Vec<u32>>,
    pub(crate) counts: HypervisorCounts,
}

/// The work of all hypervisors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct HypervisorCounts {
    /// Messages that they sent each other.
    pub messages: u64,
    /// Wire bytes of these.
    pub message_bytes: u64,
    /// Limits that were found anew, of pairs; with edge-only ones, rates, of VMs.
    pub allocations: u64,
    /// Guarantees that were divided, of VMs.
    pub partitions: u64,
}

/// All that one VM sends to another.
#[derive(Debug, Clone)]
struct Pair {
    /// Hosts.
    src: u32,
    dst: u32,
    /// A flow between the two, for messages to travel with.
    flow: u32,
    /// Whether data goes this way, not answers alone.
    carries_data: bool,
    shaper: Shaper,
    /// Flows of senders that heed nothing, which go on when the limiter has room.
    asleep: Vec<u32>,
    send: Sending,
    receive: Receiving,
    count: PairCount,
}

/// What a pair has carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairCount {
    /// Wire bytes let through by the limiter.
    pub sent: u64,
    /// Wire bytes that came to the other end.
    pub received: u64,
    /// Packets lost on the way, as the other end knows.
    pub lost: u64,
    /// Packets that came with a mark.
    pub marked: u64,
    /// Packets dropped before the limiter: its queue was full.
    pub refused: u64,
}

/// A pair at the hypervisor that sends.
#[derive(Debug, Clone)]
struct Sending {
    active: bool,
    /// When it became so, and when its last packet came, in ps.
    since: u64,
    last: u64,
    /// Number of the next packet.
    next: u32,
    /// Bytes let through, and whether any waited, since the last division and in this period.
    divided: Window,
    period: Window,
    /// What it can use, as of the last full division, in bit/s.
    demand: f64,
    /// Its part of the sender's hose, and of the receiver's, in bit/s; infinite while unknown.
    mine: f64,
    theirs: f64,
    /// What the receiver offers, in bit/s; infinite while unknown.
    offer: f64,
    /// In bit/s.
    guarantee: f64,
    allocator: Allocator,
    /// Packets lost or marked, as the receiver has told, and as far as they have been acted upon.
    told: u64,
    heeded: u64,
}

/// What a pair did in some time.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    bytes: u64,
    waited: bool,
}

/// A pair at the hypervisor that receives.
#[derive(Debug, Clone)]
struct Receiving {
    active: bool,
    since: u64,
    last: u64,
    gaps: Gaps,
    /// Bytes since the last division.
    bytes: u64,
    demand: f64,
    /// Whether the sender says that packets wait for its limiter.
    limited: bool,
    /// What the sender offers, in bit/s; infinite while unknown.
    offer: f64,
    /// Congestion that the sender has been told of.
    told: u64,
}

/// A VM.
#[derive(Debug, Clone)]
struct Vm {
    /// Its port and NIC.
    port: u32,
    nic: u32,
    /// Its hoses in bit/s.
    send: f64,
    receive: f64,
    /// Rate of its server's link, in bit/s.
    line: f64,
    /// Its server.
    server: u32,
    /// Active pairs.
    sends: Vec<u32>,
    receives: Vec<u32>,
    /// Where its periods begin, as a share of one: hypervisors are not in step.
    phase: f64,
    /// Whether its clocks run, and when guarantees were last divided in full, or what came was last looked at.
    awake: bool,
    divided_at: u64,
    /// A division for new pairs is on the agenda.
    soon: bool,
    /// At receivers that tell rates: the rate in bit/s, and bytes in this period.
    told_rate: f64,
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
                    told_rate: f64::INFINITY,
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

    /// What every pair has carried, in order of their first flows.
    pub(crate) fn records(&self) -> Vec<PairRecord> {
        self.pairs.iter().map(|pair| PairRecord { src: pair.src, dst: pair.dst, count: pair.count }).collect()
    }

    /// Whether marks count.
    pub(crate) fn uses_marks(&self) -> bool {
        self.params.rate().is_some_and(|rate| rate.detection == Detection::Ecn)
    }
}

/// The most that a host can send by a port, in bit/s: what the link of its server carries if it is a VM.
pub(crate) fn line(fabric: &Fabric, port: PortId) -> u64 {
    let (own, server) = (fabric.rate(port).0, fabric.neighbour(port));
    if !fabric.servers().contains(&server) {
        return own;
    }
    let up = fabric.ports_of(server).filter(|&up| fabric.node(fabric.neighbour(up)).kind == NodeKind::Switch);
    own.min(up.map(|up| fabric.rate(up).0).sum())
}

/// A pair of VMs at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairRecord {
    /// Hosts.
    pub src: u32,
    /// Hosts.
    pub dst: u32,
    /// What it has carried.
    pub count: PairCount,
}

/// A pair of VMs at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSample {
    /// When.
    pub time: Time,
    /// Number of its record.
    pub pair: u32,
    /// Its guarantee in bit/s.
    pub guarantee: u64,
    /// Its limit in bit/s; `None`: none.
    pub limit: Option<u64>,
    /// Wire bytes let through by the limiter so far.
    pub sent: u64,
    /// Wire bytes that came to the other end so far.
    pub received: u64,
    /// Packets that wait for the limiter.
    pub waiting: u32,
}
