use super::{Fabric, HostId, LinkId, NodeId, NodeKind, PortId};

impl Fabric {
    /// Returns true for two GPUs of one server.
    pub fn same_server(&self, a: HostId, b: HostId) -> bool {
        let server = |host: HostId| host.0.checked_div(self.gpus()).filter(|_| host.index() < self.endpoints().len());
        server(a).is_some() && server(a) == server(b)
    }

    /// Returns true if GPUs of a server are joined by NVLink.
    pub fn has_nvlink(&self) -> bool {
        !self.inside().is_empty()
    }

    /// Returns true for a link within a server or a GPU.
    pub fn is_nvlink(&self, link: LinkId) -> bool {
        let link = self.link(link);
        let own = |port: PortId| {
            let node = self.port(port).node;
            self.node(node).kind == NodeKind::Host || self.is_inside(node)
        };
        self.has_nvlink() && own(link.a) && own(link.b)
    }

    /// A host's ports out of its server, such as a GPU's NIC; all ports of other hosts.
    pub fn network_ports(&self, host: HostId) -> Vec<PortId> {
        let leads_out = |port: &PortId| !self.is_nvlink(self.port(*port).link);
        let node = self.hosts()[host.index()];
        let direct: Vec<PortId> = self.ports_of(node).filter(leads_out).collect();
        if !direct.is_empty() {
            return direct;
        }
        // A forwarding GPU is a switch next to its host.
        self.ports_of(node).flat_map(|port| self.ports_of(self.neighbour(port))).filter(leads_out).collect()
    }

    pub(super) fn is_nvlink_switch(&self, node: NodeId) -> bool {
        self.is_inside(node) && self.ports_of(node).all(|port| self.is_nvlink(self.port(port).link))
    }

    /// True for a switch inside a server: an NVLink switch, or a GPU that forwards.
    pub fn is_inside(&self, node: NodeId) -> bool {
        self.inside().binary_search(&node).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Service;
    use crate::fabric::generators::{LeafSpine, NvLink, RailOptimized};
    use crate::units::{Rate, Time};

    fn rails(nvlink: Option<NvLink>) -> Fabric {
        RailOptimized { gpus_per_server: 4, nvlink, ..RailOptimized::new(2, 2) }.build().unwrap()
    }

    #[test]
    fn the_nic_leads_out_of_a_server() {
        let forward = NvLink { forward: true, ..NvLink::default() };
        for nvlink in [None, Some(NvLink::default()), Some(forward)] {
            let fabric = rails(nvlink.clone());
            assert_eq!(fabric.has_nvlink(), nvlink.is_some());
            for host in (0..8).map(HostId) {
                let ports = fabric.network_ports(host);
                let rail = fabric.node(fabric.neighbour(ports[0])).name.as_str();
                assert_eq!((ports.len(), rail), (1, format!("rail{}", host.0 % 4).as_str()), "{nvlink:?}");
                assert_eq!(fabric.rate(ports[0]), Rate::gbps(400));
            }
            let inside = (0..fabric.links().len() as u32).map(LinkId).filter(|&link| fabric.is_nvlink(link)).count();
            let joining = fabric.switches().filter(|&switch| fabric.is_nvlink_switch(switch));
            let names: Vec<&str> = joining.map(|switch| fabric.node(switch).name.as_str()).collect();
            assert_eq!(names, if nvlink.is_some() { vec!["nvlink0", "nvlink1"] } else { vec![] });
            assert_eq!(inside, nvlink.map_or(0, |nvlink| if nvlink.forward { 16 } else { 8 }));
        }
    }

    #[test]
    fn gpus_of_a_server_are_neighbours() {
        let fabric = rails(None);
        let same = |a, b| fabric.same_server(HostId(a), HostId(b));
        assert!(same(0, 3) && same(4, 7) && !same(3, 4) && !fabric.has_nvlink());
        let (rate, delay) = (Some(Rate::gbps(1)), Some(Time::us(1)));
        let service = Service { name: "arbiter".into(), at: "spine0".into(), rate, delay };
        let with = rails(Some(NvLink::default())).with_services(&[service]).unwrap();
        assert!(with.has_nvlink() && with.same_server(HostId(4), HostId(7)) && !with.same_server(HostId(7), HostId(8)));
        let leaves = LeafSpine::new(2, 2, 4).build().unwrap();
        assert!(!leaves.same_server(HostId(0), HostId(1)) && !leaves.has_nvlink());
        assert_eq!(leaves.network_ports(HostId(0)).len(), 1);
    }
}
