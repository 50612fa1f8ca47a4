//! The HPCC authors' ns-3 (github.com/alibaba-edu, High-Precision-Congestion-Control, commit 9f4be2a). A build of that commit,
//! with only counters added, printed every figure.

#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod facts;
pub(crate) mod large;
pub(crate) mod small;
pub(crate) mod statistics;
pub(crate) mod study;

use std::ops::ControlFlow;
use std::sync::Arc;

use incast_model::fabric::{Fabric, HostId, NodeId};
use incast_model::flow::{Flow, FlowSet};
use incast_model::routing::{EcmpHash, NextHopOrder};
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::congestion::{Control, WindowMode};
use incast_sim::host::{PacketParams, RdmaParams};
use incast_sim::outcome::{FlowRecord, Stop};
use incast_sim::switch::{EcnParams, Headroom, SwitchParams};
use incast_sim::{Arithmetic, Carrier, ControlSetup, Outcome, Params, Setup, Simulation};

pub(crate) fn ns3_params() -> Params {
    Params {
        arithmetic: Arithmetic::Ns3,
        switch: SwitchParams { headroom: Headroom::ThreeDelays, ..SwitchParams::default() },
        packets: PacketParams { pfc: Bytes(43), ..PacketParams::default() },
        rdma: RdmaParams { rto: None, ..RdmaParams::default() },
        ..exact_params()
    }
}

/// Every flow takes ns-3's path.
pub(crate) fn exact_params() -> Params {
    let mut params = Params::default();
    params.network.hash = EcmpHash::Murmur3;
    params.network.next_hop_order = NextHopOrder::NeighbourDescending;
    params
}

/// As set up by ns-3's runner (`run.py`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// No window; paused hosts send ACKs.
    Dcqcn,
    /// No window; ACKs obey pauses.
    DcqcnAcksObey,
    /// Window of one bandwidth-delay product that shrinks with the rate ("+w").
    DcqcnWindow,
    /// eta 0.95, additive increase 50 Mb/s.
    Hpcc95,
    /// eta 0.99, additive increase 50 Mb/s.
    Hpcc99,
    /// eta 0.95, base 1.05, additive increase 50 Mb/s.
    Pint95,
    /// eta 0.99.
    Pint99,
    /// No window; paused hosts send ACKs.
    Timely,
    /// Has the window of [`Self::DcqcnWindow`].
    TimelyWindow,
    /// Step marking at 300 kB per 100 Gb/s.
    Dctcp,
}

impl Scheme {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Dcqcn => "dcqcn",
            Self::DcqcnAcksObey => "dcqcn-ack",
            Self::DcqcnWindow => "dcqcn+w",
            Self::Hpcc95 => "hpcc 0.95",
            Self::Hpcc99 => "hpcc 0.99",
            Self::Pint95 => "pint 0.95",
            Self::Pint99 => "pint 0.99",
            Self::Timely => "timely",
            Self::TimelyWindow => "timely+w",
            Self::Dctcp => "dctcp",
        }
    }

    fn control(self) -> ControlSetup {
        let (name, profile, window) = match self {
            Self::Dcqcn | Self::DcqcnAcksObey => ("dcqcn", "vendor", WindowMode::Off),
            Self::DcqcnWindow => ("dcqcn", "vendor", WindowMode::Rate),
            Self::Hpcc95 => ("hpcc", "ns3", WindowMode::Rate),
            Self::Hpcc99 => ("hpcc", "key-results", WindowMode::Rate),
            Self::Pint95 => ("hpcc_pint", "ns3", WindowMode::Rate),
            Self::Pint99 => ("hpcc_pint", "key-results", WindowMode::Rate),
            Self::Timely => ("timely", "ns3", WindowMode::Off),
            Self::TimelyWindow => ("timely", "ns3", WindowMode::Rate),
            Self::Dctcp => ("dctcp", "ns3", WindowMode::Rate),
        };
        ControlSetup { control: Control::named(name, profile).expect("a known profile"), window }
    }
}

pub(crate) fn run(fabric: &Arc<Fabric>, flows: &[Flow], scheme: Scheme, params: Params) -> Outcome {
    let outcome = run_to_end(fabric, flows, scheme, params);
    assert_eq!(outcome.stop, Stop::Finished);
    outcome
}

pub(crate) fn run_to_end(fabric: &Arc<Fabric>, flows: &[Flow], scheme: Scheme, mut params: Params) -> Outcome {
    params.rdma.acks_ignore_pause = matches!(scheme, Scheme::Dcqcn | Scheme::Timely | Scheme::TimelyWindow);
    if scheme == Scheme::Dctcp {
        params.ecn = EcnParams { kmin: Bytes(300_000), kmax: Bytes(300_000), pmax: 1.0, ..params.ecn };
    }
    let labels = vec!["background".into(), "incast".into()];
    let setup = Setup {
        fabric: fabric.clone(),
        flows: Arc::new(FlowSet { flows: flows.to_vec(), labels, ..FlowSet::default() }),
        controls: vec![scheme.control()],
        transports: Vec::new(),
        carriers: vec![Carrier::Rdma(0); 2],
        tenancy: None,
        tags: None,
        params,
    };
    let outcome =
        setup.checked().and_then(Simulation::new).expect("a valid setup").run(&mut |_| ControlFlow::Continue(()));
    assert_eq!(outcome.ledger.unbalanced().count(), 0);
    outcome
}

/// Destination port 200 marks an incast.
pub(crate) fn flow(src: u32, dst: u32, size: u64, start_ns: u64, sport: u16, dport: u16) -> Flow {
    Flow {
        src: HostId(src),
        dst: HostId(dst),
        size: Bytes(size),
        start: Time::ns(start_ns),
        priority: 3,
        label: u16::from(dport == 200),
        sport,
        dport,
        path: None,
        until: None,
    }
}

pub(crate) fn fct_ps(flow: &FlowRecord) -> u64 {
    flow.fct().expect("a finished flow").0
}

pub(crate) fn whole_ns(time: Time) -> u64 {
    assert_eq!(time.0 % 1000, 0, "{} ps is no whole number of nanoseconds", time.0);
    time.0 / 1000
}

/// In ns; 0: not completed.
pub(crate) fn whole_fcts(outcome: &Outcome) -> Vec<u64> {
    outcome.flows.iter().map(|flow| flow.fct().map_or(0, whole_ns)).collect()
}

/// (flow, our time, their time)
pub(crate) fn different(outcome: &Outcome, theirs: &[u64]) -> Vec<(usize, u64, u64)> {
    let ours = whole_fcts(outcome);
    assert_eq!(ours.len(), theirs.len());
    (0..ours.len()).filter(|&flow| ours[flow] != theirs[flow]).map(|flow| (flow, ours[flow], theirs[flow])).collect()
}

pub(crate) fn links(fabric: &Fabric) -> Vec<(u32, u32, Rate, Time)> {
    let node = |port| fabric.port(port).node.0;
    fabric.links().iter().map(|link| (node(link.a), node(link.b), link.rate, link.delay)).collect()
}

pub(crate) fn assert_hosts_first(fabric: &Fabric, hosts: u32) {
    assert_eq!(fabric.hosts(), (0..hosts).map(NodeId).collect::<Vec<_>>());
}
