use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, FabricBuilder, HostId, NodeId, NodeKind, PortId};
use crate::field::FieldError;
use crate::range::{self, above, delay, least};
use crate::units::{Bytes, Rate, Time};

/// Virtual machines on every host of the fabric, which becomes a server: a switch of the host's name with VMs below it.
///
/// The hosts of the fabric are then the VMs: those of server `h0` are `h0.0`, `h0.1`, …, numbered server by server. The
/// host's links become the server's NIC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vms {
    /// VM slots of each server, 1 to 64. Each is a host, with or without a tenant.
    #[schemars(transform = least(1).most(64))]
    pub slots: u32,
    /// Rate of the virtual link between a VM and the switch in its server, more than 0. Default 10Gbps (our choice:
    /// more than the NICs of clouds with guarantees).
    #[serde(default = "rate_10g")]
    #[schemars(transform = above("0bps"))]
    pub rate: Rate,
    /// One-way delay of that link, up to 1 s. Default 0ns (our choice).
    #[serde(default)]
    #[schemars(transform = delay())]
    pub delay: Time,
    /// Queue of the server's switch for its NIC, at least 1 B; drops when full. Default 1.5MB (1000 packets of 1500 B,
    /// Linux's `txqueuelen`).
    #[serde(default = "thousand_packets")]
    #[schemars(transform = least("1B"))]
    pub queue: Bytes,
    /// Share of every link's capacity kept free of guarantees, 0 or more and less than 1. Default 0.1 (ElasticSwitch,
    /// SIGCOMM 2013).
    #[serde(default = "tenth")]
    #[schemars(transform = least(0).below(1))]
    pub headroom: f64,
    /// Handling of tenants with guarantees that some link cannot carry. Default enforce (our choice).
    #[serde(default)]
    pub admission: AdmissionMode,
}

/// Handling of guarantees that some link cannot carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdmissionMode {
    /// Refuse the scenario.
    #[default]
    Enforce,
    /// Report them in `incast show`.
    Report,
}

const fn rate_10g() -> Rate {
    Rate::gbps(10)
}

const fn thousand_packets() -> Bytes {
    Bytes(1_500_000)
}

const fn tenth() -> f64 {
    0.1
}

/// As many as nodes.
const MAX_VMS: u64 = 1 << 20;

impl Vms {
    /// Spec with `slots` per server, defaults otherwise.
    pub const fn new(slots: u32) -> Self {
        let (rate, delay, queue, headroom) = (rate_10g(), Time::ZERO, thousand_packets(), tenth());
        Self { slots, rate, delay, queue, headroom, admission: AdmissionMode::Enforce }
    }
}

impl Fabric {
    /// Returns the fabric with VMs on every host, which becomes a switch of tier 1; other tiers rise by one. Call this before
    /// adding services. A server's ports lead to its VMs, then to its links; other switches keep their order.
    pub fn with_vms(&self, vms: &Vms) -> Result<Self, FieldError> {
        range::check(vms).map_err(|error| error.within("vms"))?;
        self.check_servers()?;
        let count = self.hosts().len() as u64 * u64::from(vms.slots);
        if count > MAX_VMS {
            let allowed = format!("few enough for {MAX_VMS} VMs in all; this makes {count}");
            return Err(FieldError::range("vms.slots", vms.slots, allowed));
        }
        let mut builder = FabricBuilder::new();
        let name = |host: NodeId, slot: u32| format!("{}.{slot}", self.node(host).name);
        let mut names: HashSet<String> = self.nodes().iter().map(|node| node.name.clone()).collect();
        for (host, slot) in self.hosts().iter().flat_map(|&host| (0..vms.slots).map(move |slot| (host, slot))) {
            if !names.insert(name(host, slot)) {
                let message = format!(
                    "the first VM slots would be named `{}`, as another node is; names of hosts and switches are unique",
                    name(host, slot)
                );
                return Err(FieldError::new("vms", message));
            }
            builder.host(name(host, slot));
        }
        let new: Vec<NodeId> =
            self.nodes().iter().map(|node| builder.switch(&node.name, node.tier.saturating_add(1))).collect();
        let servers: Vec<NodeId> = self.hosts().iter().map(|host| new[host.index()]).collect();
        let slots = servers.iter().flat_map(|&server| (0..vms.slots).map(move |_| server));
        for (vm, server) in (0..).map(NodeId).zip(slots) {
            builder.link(vm, server, vms.rate, vms.delay);
        }
        for link in self.links() {
            let [a, b] = [link.a, link.b].map(|port| new[self.port(port).node.index()]);
            builder.link(a, b, link.rate, link.delay);
        }
        let fabric = builder.finish().map_err(|error| FieldError::new("vms", error.to_string()))?;
        Ok(fabric.serving_vms(servers, vms.slots))
    }

    fn check_servers(&self) -> Result<(), FieldError> {
        for &host in self.hosts() {
            let mut ends = self.ports_of(host).map(|port| self.neighbour(port));
            let first = ends.next();
            if let (Some(first), Some(other)) = (first, ends.find(|&end| Some(end) != first)) {
                if self.has_nvlink() {
                    let message = "VMs are on hosts with one link, but NVLink gives GPUs a second one: set \
                                   fabric.rail_optimized.nvlink = \"none\"";
                    return Err(FieldError::new("vms", message));
                }
                let [host, first, other] = [host, first, other].map(|node| &self.node(node).name);
                let message = format!(
                    "{host} has links to {first} and {other}: as a server with VMs it is a switch, and would forward between the \
                     two; a server's links all lead to one switch"
                );
                return Err(FieldError::new("vms", message));
            }
        }
        Ok(())
    }

    /// Server of a VM; `None` for other hosts.
    pub fn server_of(&self, host: HostId) -> Option<NodeId> {
        self.servers().get(host.0.checked_div(self.slots())? as usize).copied()
    }

    /// Returns true for a server's switch.
    pub fn is_server(&self, node: NodeId) -> bool {
        self.servers().binary_search(&node).is_ok()
    }

    /// Ports of a server's NIC.
    pub fn nic_ports(&self, server: NodeId) -> impl Iterator<Item = PortId> + '_ {
        self.ports_of(server).filter(|&port| self.node(self.neighbour(port)).kind == NodeKind::Switch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::generators::{Dumbbell, LeafSpine, RailOptimized};
    use crate::fabric::{Groups, Service, tiers_with_uplinks};
    use crate::routing::{NextHopOrder, Routes};

    fn four_slots() -> (Fabric, Fabric) {
        let plain = LeafSpine::new(3, 2, 2).build().unwrap();
        let fabric = plain.with_vms(&Vms::new(4)).unwrap();
        (plain, fabric)
    }

    #[test]
    fn hosts_become_servers() {
        let (plain, fabric) = four_slots();
        assert_eq!((fabric.hosts().len(), fabric.nodes().len(), fabric.links().len()), (24, 24 + 11, 24 + 12));
        assert_eq!(fabric.hosts(), (0..24).map(NodeId).collect::<Vec<_>>());
        assert_eq!(fabric.slots(), 4);
        let names: Vec<&str> = fabric.servers().iter().map(|&server| fabric.node(server).name.as_str()).collect();
        assert_eq!(names, ["h0", "h1", "h2", "h3", "h4", "h5"]);
        assert_eq!(fabric.node(fabric.hosts()[6]).name, "h1.2");
        assert_eq!(fabric.server_of(HostId(6)), Some(fabric.servers()[1]));
        let tiers = |fabric: &Fabric| fabric.nodes().iter().map(|node| node.tier).collect::<Vec<_>>();
        assert_eq!(tiers(&fabric)[24..], tiers(&plain).iter().map(|tier| tier + 1).collect::<Vec<_>>());
        assert_eq!(tiers_with_uplinks(&fabric), [0, 1, 2]);
        let racks = Groups::new(&fabric, 2);
        assert_eq!(racks.of(fabric.hosts()[0]), racks.of(fabric.hosts()[7]));
        assert_ne!(racks.of(fabric.hosts()[0]), racks.of(fabric.hosts()[8]));
        assert!((0..24).all(|node| !fabric.is_server(NodeId(node))) && fabric.is_server(NodeId(29)));
        assert!(!fabric.is_server(NodeId(30)), "leaf0");
        assert_eq!((plain.servers(), plain.slots(), plain.server_of(HostId(0))), (&[][..], 0, None));
    }

    #[test]
    fn links_to_the_network_stay_as_they_were() {
        let (plain, fabric) = four_slots();
        let facts = |fabric: &Fabric, link: &crate::fabric::Link| {
            let end = |port| fabric.node(fabric.port(port).node).name.clone();
            (end(link.a), end(link.b), fabric.port(link.b).local, link.rate, link.delay)
        };
        let all = |of: &Fabric, skip| of.links()[skip..].iter().map(|link| facts(of, link)).collect::<Vec<_>>();
        assert_eq!(all(&fabric, 24), all(&plain, 0));
        let server = fabric.servers()[5];
        let ports: Vec<PortId> = fabric.ports_of(server).collect();
        assert_eq!(fabric.nic_ports(server).collect::<Vec<_>>(), [ports[4]]);
        assert_eq!((fabric.rate(ports[0]), fabric.delay(ports[0])), (Rate::gbps(10), Time::ZERO));
        let routes = Routes::shortest(&fabric, NextHopOrder::Port);
        let links = |a, b| routes.links_between(&fabric, HostId(a), HostId(b));
        assert_eq!([links(0, 3), links(0, 4), links(0, 8)], [Some(2), Some(4), Some(6)]);
    }

    #[test]
    fn services_come_after() {
        let (_, fabric) = four_slots();
        let service = Service { name: "arbiter".into(), at: "h5".into(), rate: None, delay: None };
        let with = fabric.with_services(&[service]).unwrap();
        assert_eq!((with.servers(), with.slots(), with.endpoints().len()), (fabric.servers(), 4, 24));
        assert_eq!(with.server_of(HostId(24)), None);
        assert_eq!(with.nic_ports(with.servers()[5]).count(), 1, "a service is no part of the network");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let plain = LeafSpine::new(3, 2, 2).build().unwrap();
        let why = |vms: Vms| plain.with_vms(&vms).unwrap_err().to_string();
        assert_eq!(why(Vms::new(0)), "vms.slots = 0: must be 1 to 64");
        assert!(why(Vms::new(65)).starts_with("vms.slots = 65: must be 1 to 64"));
        assert_eq!(why(Vms { rate: Rate::ZERO, ..Vms::new(1) }), "vms.rate = 0bps: must be more than 0bps");
        assert_eq!(why(Vms { delay: Time::ms(1001), ..Vms::new(1) }), "vms.delay = 1.001s: must be at most 1s");
        assert_eq!(why(Vms { queue: Bytes::ZERO, ..Vms::new(1) }), "vms.queue = 0B: must be 1B or more");
        for headroom in [-0.1, 1.0, f64::NAN] {
            assert!(why(Vms { headroom, ..Vms::new(1) }).starts_with("vms.headroom"), "{headroom}");
        }
        assert!(Dumbbell::new(2, 2).build().unwrap().with_vms(&Vms { headroom: 0.0, ..Vms::new(64) }).is_ok());
    }

    #[test]
    fn servers_do_not_forward_for_others() {
        let mut builder = FabricBuilder::new();
        let (a, b) = (builder.host("a"), builder.host("a.0"));
        let [s, t] = ["s", "t"].map(|name| builder.switch(name, 1));
        let join = |builder: &mut FabricBuilder, a, b| builder.link(a, b, Rate::gbps(1), Time::us(1));
        for (a, b) in [(a, s), (a, s), (b, s), (s, t)] {
            join(&mut builder, a, b);
        }
        let fabric = builder.clone().finish().unwrap();
        let refused = |fabric: Fabric| fabric.with_vms(&Vms::new(1)).unwrap_err().to_string();
        assert!(refused(fabric).starts_with("vms: the first VM slots would be named `a.0`, as another node is"));
        join(&mut builder, b, t);
        assert!(refused(builder.finish().unwrap()).starts_with("vms: a.0 has links to s and t: as a server with VMs"));
        let rails = RailOptimized::new(2, 2);
        assert!(refused(rails.build().unwrap()).contains("NVLink gives GPUs a second one"));
        assert!(RailOptimized { nvlink: None, ..rails }.build().unwrap().with_vms(&Vms::new(1)).is_ok());
    }
}
