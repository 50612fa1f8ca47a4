//! Hypervisors between VMs (hosts of the fabric) and the network. A *pair* is all traffic from one VM to another.
//!
//! A limiter at the sender (`shaper`) delays packets; the receiver counts them (`gaps`). Limits come from ElasticSwitch or
//! Seawall (`allocate`, `partition`), from receivers, or are fixed (`reserved`). Messages are packets.

mod allocate;
mod gaps;
mod pairs;
mod params;
mod partition;
mod receiving;
mod reserved;
mod sending;
mod shaper;
mod shares;
mod vm;

use std::collections::HashMap;

use incast_model::fabric::{Fabric, HostId, NodeKind, PortId};
use incast_model::flow::FlowSet;
use incast_model::rng;
use incast_model::tenant::Tenancy;
use incast_model::units::{Rate, Time};

use crate::kernel::{FlowId, IdVec};

pub(crate) use pairs::Pair;
pub use params::{
    Detection, EdgeOnlyParams, ElasticSwitchParams, Hypervisor, HypervisorInfo, RateParams, ReservationParams,
    SeawallParams, ShaperParams, WeightMode,
};
pub(crate) use partition::{Share, partition};
pub(crate) use receiving::Receiving;
pub(crate) use sending::Sending;
pub(crate) use vm::Vm;

#[derive(Debug)]
pub(crate) struct Hypervisors {
    pub(crate) rules: Rules,
    /// By flow: pairs of data and answers.
    pairs_of: IdVec<FlowId, [u32; 2]>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) vms: Vec<Vm>,
    servers: HashMap<u32, Vec<u32>>,
}

#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) params: Hypervisor,
    /// Bytes of a full packet with its gap.
    packet: u64,
}

impl Rules {
    pub(crate) fn uses_marks(&self) -> bool {
        self.params.rate().is_some_and(|rate| rate.detection == Detection::Ecn)
    }
}

/// Counters of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairCount {
    /// Wire bytes past the limiter.
    pub sent: u64,
    /// Wire bytes received.
    pub received: u64,
    /// Packets lost, by the receiver's count.
    pub lost: u64,
    /// Marked packets received.
    pub marked: u64,
    /// Packets dropped by the limiter.
    pub refused: u64,
}

impl PairCount {
    pub(crate) const fn new(send: &Sending, receive: &Receiving) -> Self {
        Self {
            sent: send.sent,
            received: receive.received,
            lost: receive.lost(),
            marked: receive.marked,
            refused: send.refused,
        }
    }
}

impl Hypervisors {
    pub(crate) fn new(
        params: &Hypervisor,
        tenancy: &Tenancy,
        fabric: &Fabric,
        flows: &FlowSet,
        packet: u64,
        seed: u64,
    ) -> Self {
        let vms: Vec<Vm> = (0u32..)
            .zip(fabric.hosts())
            .map(|(host, &node)| {
                let port = fabric.ports_of(node).next().expect("hosts are plugged in");
                let (send, receive) = tenancy.hose(HostId(host));
                let least = params.without_guarantee().0 as f64;
                let hose = |rate: Rate| if rate == Rate::ZERO { least } else { rate.0 as f64 };
                let phase = rng::unit(&mut rng::stream(seed, "hypervisor/phase", host.into()));
                let server = fabric.neighbour(port).0;
                Vm::new(server, [hose(send), hose(receive)], line(fabric, port) as f64, phase)
            })
            .collect();
        let (pairs, pairs_of) = pairs::of(flows, vms.len());
        let mut servers: HashMap<u32, Vec<u32>> = HashMap::new();
        for (host, vm) in (0u32..).zip(&vms) {
            servers.entry(vm.server).or_default().push(host);
        }
        let rules = Rules { params: params.clone(), packet };
        Self { rules, pairs_of, pairs, vms, servers }
    }

    pub(crate) fn pair_of(&self, flow: FlowId, forward: bool) -> u32 {
        self.pairs_of[flow][usize::from(!forward)]
    }

    pub(crate) fn pair_of_message(&self, flow: FlowId, forward: bool, dst: u32) -> u32 {
        let both = self.pairs_of[flow];
        let first = &self.pairs[both[0] as usize];
        both[usize::from(dst != if forward { first.dst } else { first.src })]
    }

    /// Sum in bit/s over a server's VMs that received recently; `heard`: last packet by VM, in ps.
    pub(crate) fn recent_hoses(&self, server: u32, params: &EdgeOnlyParams, heard: &[u64], now: u64) -> f64 {
        let is_recent = |&&host: &&u32| {
            let last = heard[host as usize];
            last > 0 && now - last < params.idle_timeout.0
        };
        self.servers[&server].iter().filter(is_recent).map(|&host| self.vms[host as usize].receive).sum()
    }
}

/// In bit/s; a VM's is at most its server's links'.
pub(crate) fn line(fabric: &Fabric, port: PortId) -> u64 {
    let (own, server) = (fabric.rate(port).0, fabric.neighbour(port));
    if !fabric.servers().contains(&server) {
        return own;
    }
    let up = fabric.ports_of(server).filter(|&up| fabric.node(fabric.neighbour(up)).kind == NodeKind::Switch);
    own.min(up.map(|up| fabric.rate(up).0).sum())
}

impl PairSample {
    pub(crate) const fn new(time: Time, pair: u32, rules: &Rules, (send, receive): (&Sending, &Receiving)) -> Self {
        Self {
            time,
            pair,
            guarantee: if rules.params.guarantees() { send.shares.guarantee as u64 } else { 0 },
            limit: send.shaper.rate(),
            sent: send.sent,
            received: receive.received,
            waiting: send.shaper.packets,
        }
    }
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

/// Pair of VMs at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSample {
    /// Time.
    pub time: Time,
    /// Index of the pair's record.
    pub pair: u32,
    /// Guarantee in bit/s; 0 if the hypervisor gives none.
    pub guarantee: u64,
    /// Limit in bit/s; `None`: unlimited.
    pub limit: Option<u64>,
    /// Wire bytes past the limiter so far.
    pub sent: u64,
    /// Wire bytes received so far.
    pub received: u64,
    /// Packets at the limiter.
    pub waiting: u32,
}
