//! Transports other than RDMA; `clos144` compares with YAPS.

mod fastpass;
mod gated;
mod idle;
mod losses;
mod mixed;
mod pfabric;
mod phost;
mod refused;
mod tcp;
mod udp;
mod windows;

use incast_model::fabric::{Fabric, FabricBuilder};
use incast_model::units::{Rate, Time};
use incast_sim::balance::{Balance, SprayOrder, SprayParams};
use incast_sim::transport::{FastpassParams, Transport, TransportParams};

use crate::common::Bench;

fn racks(count: usize) -> Fabric {
    let (edge, core, delay) = (Rate::gbps(40), Rate::gbps(80), Time::ns(200));
    let mut builder = FabricBuilder::new();
    let hosts: Vec<_> = (0..4 * count).map(|host| builder.host(format!("h{host}"))).collect();
    let arbiter = builder.host("arbiter");
    let leaves: Vec<_> = (0..count).map(|leaf| builder.switch(format!("leaf{leaf}"), 1)).collect();
    let spines: Vec<_> = (0..2).map(|spine| builder.switch(format!("spine{spine}"), 2)).collect();
    for (host, &node) in hosts.iter().enumerate() {
        builder.link(node, leaves[host / 4], edge, delay);
    }
    builder.link(arbiter, leaves[0], edge, delay);
    for &leaf in &leaves {
        for &spine in &spines {
            builder.link(leaf, spine, core, delay);
        }
    }
    builder.finish().unwrap()
}

fn named(name: &str, profile: &str) -> Transport {
    match name {
        "fastpass" => {
            let params = FastpassParams::profile(profile).unwrap();
            Transport::Fastpass(FastpassParams { arbiter: "arbiter".into(), ..params })
        }
        _ => Transport::named(name, profile).unwrap(),
    }
}

fn all() -> Vec<Transport> {
    let profiles =
        [("tcp", "datacenter"), ("pfabric", "paper"), ("phost", "disaggregation"), ("fastpass", "optimistic")];
    profiles.into_iter().chain([("ideal", "yaps")]).map(|(name, profile)| named(name, profile)).collect()
}

/// With ACKs sprayed too, data could have one of two paths.
fn sprayed(bench: Bench) -> Bench {
    let spray = SprayParams { order: SprayOrder::RoundRobin, acks: false };
    bench.with(|params| params.network.load_balancing = Balance::Spray(spray))
}
