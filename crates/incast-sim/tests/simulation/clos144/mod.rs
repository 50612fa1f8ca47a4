//! Fabric of pFabric, pHost and the disaggregation study, against YAPS, simulator of pHost's authors (NetSys/simulator, commit
//! 8e9cf04).

mod all_to_all;
mod exact;

use std::ops::ControlFlow;
use std::sync::Arc;

use incast_model::fabric::{Fabric, FabricBuilder, HostId};
use incast_model::flow::{Flow, FlowSet};
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::balance::{Balance, SprayOrder, SprayParams};
use incast_sim::host::{HostParams, NicQueue};
use incast_sim::outcome::{Outcome, Stop};
use incast_sim::switch::{EcnParams, Forwarding, QueueParams, SwitchParams};
use incast_sim::transport::{FastpassParams, Transport, TransportParams};
use incast_sim::{Carrier, Params, Setup, Simulation};

/// Host 144 is the arbiter.
pub(crate) fn fabric(gbps: u64) -> Fabric {
    let (access, delay) = (Rate::gbps(gbps), Time::ns(200));
    let mut builder = FabricBuilder::new();
    let hosts: Vec<_> = (0..144).map(|host| builder.host(format!("h{host}"))).collect();
    let arbiter = builder.host("arbiter");
    let leaves: Vec<_> = (0..9).map(|leaf| builder.switch(format!("leaf{leaf}"), 1)).collect();
    let spines: Vec<_> = (0..4).map(|spine| builder.switch(format!("spine{spine}"), 2)).collect();
    for (host, &node) in hosts.iter().enumerate() {
        builder.link(node, leaves[host / 16], access, delay);
    }
    builder.link(arbiter, leaves[0], access, delay);
    for &leaf in &leaves {
        for &spine in &spines {
            builder.link(leaf, spine, Rate::gbps(4 * gbps), delay);
        }
    }
    builder.finish().unwrap()
}

/// Source, destination, full packets, start in ns (plus 1 ps per earlier flow).
pub(crate) type Case = (u32, u32, u64, u64);

pub(crate) fn flows(cases: &[Case]) -> FlowSet {
    let picoseconds =
        |(index, &(src, dst, packets, start)): (u64, &Case)| (src, dst, 1460 * packets, Time::ns(start).0 + index);
    flow_set(&(0..).zip(cases).map(picoseconds).collect::<Vec<_>>())
}

/// Starts in ps.
pub(crate) fn flow_set(list: &[(u32, u32, u64, u64)]) -> FlowSet {
    let flow = |&(src, dst, size, start): &(u32, u32, u64, u64)| Flow {
        src: HostId(src),
        dst: HostId(dst),
        size: Bytes(size),
        start: Time(start),
        priority: 3,
        label: 0,
        sport: 10_000,
        dport: 100,
        path: None,
        until: None,
    };
    let mut flows: Vec<Flow> = list.iter().map(flow).collect();
    flows.sort_by_key(|flow| flow.start);
    FlowSet { flows, labels: vec!["all".into()], ..FlowSet::default() }
}

/// YAPS's other parameters.
pub(crate) fn params(transport: &Transport) -> Params {
    let spray = SprayParams { order: SprayOrder::RoundRobin, acks: true };
    let limit = Bytes(36_864);
    let queues = match transport {
        Transport::Tcp(_) => QueueParams::DropTail { limit },
        _ => QueueParams::Pfabric { limit },
    };
    let mut params = Params {
        switch: SwitchParams { queues, forwarding: Forwarding::CutThroughUnderrun, ..transport.switch() },
        ecn: EcnParams { enabled: false, ..EcnParams::default() },
        host: HostParams { nic_queue: NicQueue::Port, ..HostParams::default() },
        ..Params::default()
    };
    params.network.load_balancing = Balance::Spray(spray);
    params
}

pub(crate) fn named(name: &str, profile: &str) -> Transport {
    match name {
        "fastpass" => Transport::Fastpass(FastpassParams {
            arbiter: "arbiter".into(),
            ..FastpassParams::profile(profile).unwrap()
        }),
        _ => Transport::named(name, profile).unwrap(),
    }
}

pub(crate) fn run(gbps: u64, flows: FlowSet, transport: Transport, params: Params) -> Outcome {
    let setup = Setup {
        fabric: Arc::new(fabric(gbps)),
        flows: Arc::new(flows),
        controls: Vec::new(),
        transports: vec![transport],
        carriers: vec![Carrier::Transport(0)],
        tenancy: None,
        tags: None,
        params,
    };
    let outcome = Simulation::new(setup.checked().unwrap()).unwrap().run(&mut |_| ControlFlow::Continue(()));
    assert_eq!(outcome.stop, Stop::Finished);
    assert_eq!(outcome.ledger.unbalanced().count(), 0);
    outcome
}
