use super::hosts::HostSet;
use crate::entry::EntryError;
use crate::fabric::{Fabric, Groups, HostId, NodeId};
use crate::tenant::Tenant;

/// Hosts of an entry, numbered from 0: a tenant's flows do not depend on its placement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) fabric: &'a Fabric,
    /// `None`: all hosts but services.
    tenant: Option<&'a Tenant>,
}

impl<'a> Members<'a> {
    pub(super) const fn new(fabric: &'a Fabric, tenant: Option<&'a Tenant>) -> Self {
        Self { fabric, tenant }
    }

    pub(super) fn count(self) -> u32 {
        self.tenant.map_or(self.fabric.endpoints().len(), |tenant| tenant.vms.len()) as u32
    }

    pub(super) fn host(self, number: HostId) -> HostId {
        self.tenant.map_or(number, |tenant| tenant.vms[number.index()].host)
    }

    pub(super) fn node(self, number: HostId) -> NodeId {
        self.fabric.hosts()[self.host(number).index()]
    }

    pub(super) fn name(self, number: HostId) -> &'a str {
        &self.fabric.node(self.node(number)).name
    }

    /// Bit/s of a host's network links: of a GPU, its NIC without NVLink.
    pub(super) fn capacity(self, number: HostId) -> f64 {
        self.fabric.network_ports(self.host(number)).into_iter().map(|port| self.fabric.rate(port).0 as f64).sum()
    }

    pub(super) fn all_links(self, number: HostId) -> f64 {
        self.fabric.ports_of(self.node(number)).map(|port| self.fabric.rate(port).0 as f64).sum()
    }

    /// Tier of rack switches: with VMs, above servers; of GPUs, rails.
    pub(super) fn rack_tier(self) -> u8 {
        if self.fabric.has_nvlink() {
            let nic = self.fabric.network_ports(HostId(0))[0];
            return self.fabric.node(self.fabric.neighbour(nic)).tier;
        }
        1 + u8::from(self.fabric.slots() > 0)
    }

    pub(super) fn racks(self) -> Groups {
        Groups::new(self.fabric, self.rack_tier())
    }

    pub(super) fn select(self, set: Option<&HostSet>, field: &str) -> Result<Vec<HostId>, EntryError> {
        let count = self.count();
        let all = match self.tenant {
            None => "hosts of this fabric".to_owned(),
            Some(tenant) => format!("VMs of tenant {}", tenant.name),
        };
        set.map_or_else(|| Ok((0..count).map(HostId).collect()), |set| set.hosts(field, count, &all))
    }

    pub(super) fn numbers(self) -> String {
        let last = self.count() - 1;
        match self.tenant {
            None => format!("a host of this fabric, 0 to {last}"),
            Some(tenant) => format!("a VM of tenant {}, 0 to {last}", tenant.name),
        }
    }

    /// `None` without mappers.
    pub(super) fn mappers(self, are: bool) -> Option<Vec<HostId>> {
        let vms = &self.tenant.filter(|tenant| tenant.vms.iter().any(|vm| vm.mapper))?.vms;
        Some((0..).map(HostId).zip(vms).filter(|(_, vm)| vm.mapper == are).map(|(number, _)| number).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::generate::generate_with;
    use super::super::testing::pattern;
    use crate::entry::EntryError;
    use crate::fabric::generators::LeafSpine;
    use crate::fabric::{Fabric, HostId, Vms};
    use crate::flow::FlowSet;
    use crate::tenant::{Tenancy, Tenant, Vm};
    use crate::units::Rate;
    use crate::workload::WorkloadSpec;

    fn fabric() -> Fabric {
        LeafSpine::new(2, 2, 2).build().unwrap().with_vms(&Vms::new(4)).unwrap()
    }

    fn tenant(name: &str, group: &str, slots: &[u32], mappers: usize) -> Tenant {
        let vms = slots.iter().enumerate().map(|(own, &host)| Vm { host: HostId(host), mapper: own < mappers });
        let (name, group) = (name.into(), group.into());
        Tenant { name, group, vms: vms.collect(), send: Rate::ZERO, receive: Rate::ZERO }
    }

    fn made(tenants: &[Tenant], entry: WorkloadSpec, of: &str) -> Result<FlowSet, EntryError> {
        let spec = WorkloadSpec { tenant: Some(of.into()), ..entry };
        generate_with(&[spec], &fabric(), Some(&Tenancy::new(tenants.to_vec())), Path::new("."), 1, None)
    }

    fn pairs(set: &FlowSet) -> Vec<(u32, u32)> {
        set.flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect()
    }

    #[test]
    fn a_pattern_is_made_for_each_tenant_of_its_name() {
        let tenants = [tenant("x1", "x", &[3, 9], 0), tenant("y", "y", &[1, 2], 0), tenant("x2", "x", &[8, 0, 5], 0)];
        let set = made(&tenants, pattern("all_to_all", r#"{"size": 9}"#), "x").unwrap();
        assert_eq!(pairs(&set), [(3, 9), (9, 3), (8, 0), (8, 5), (0, 5), (0, 8), (5, 8), (5, 0)]);
        assert_eq!(set.labels, ["all_to_all"]);
        let listed = r#"[{"src": 2, "dst": 0, "size": 9, "path": ["h1.1", "h1", "leaf0", "h2", "h2.0"]}]"#;
        let listed = listed.replace("leaf0\", \"h2\"", "leaf0\", \"spine1\", \"leaf1\", \"h2\"");
        let set = made(&tenants, pattern("list", &listed), "x2").unwrap();
        assert_eq!((pairs(&set), set.paths[0].len()), (vec![(5, 8)], 7));
        let incast = made(&tenants, pattern("incast", r#"{"fan_in": 1, "size": 9, "receiver": 1}"#), "x1").unwrap();
        assert_eq!(pairs(&incast), [(3, 9)]);
    }

    #[test]
    fn a_shuffle_is_from_mappers_to_the_others() {
        let tenants = [tenant("x", "x", &[3, 9, 7], 2)];
        let shuffle = |json| pairs(&made(&tenants, pattern("shuffle", json), "x").unwrap());
        assert_eq!(shuffle(r#"{"size": 1}"#), [(3, 7), (9, 7)]);
        assert_eq!(shuffle(r#"{"size": 1, "reducers": {"list": [0]}}"#), [(9, 3)]);
        let none = [tenant("x", "x", &[3, 9], 0)];
        assert_eq!(made(&none, pattern("shuffle", r#"{"size": 1}"#), "x").unwrap().flows.len(), 2);
    }

    #[test]
    fn neither_placement_nor_other_tenants_change_what_a_tenant_sends() {
        let poisson = || pattern("poisson", r#"{"load": 0.2, "sizes": "fb_hadoop", "duration": "20ms"}"#);
        let facts = |tenants: &[Tenant]| {
            let tenancy = Tenancy::new(tenants.to_vec());
            let set = made(tenants, poisson(), "x").unwrap();
            let own = |host| tenancy.of_host(host).unwrap();
            let all = set.flows.iter().map(|flow| (own(flow.src), own(flow.dst).1, flow.size, flow.start));
            let of_x1 = all.filter(|facts| tenants[facts.0.0].name == "x1");
            of_x1.map(|(src, dst, size, start)| (src.1, dst, size, start)).collect::<Vec<_>>()
        };
        let alone = facts(&[tenant("x1", "x", &[3, 9, 7], 0)]);
        assert!(alone.len() > 10);
        assert_eq!(facts(&[tenant("x0", "x", &[1, 2], 0), tenant("x1", "x", &[15, 0, 4], 0)]), alone);
        let other = facts(&[tenant("x2", "x", &[3, 9, 7], 0)]);
        assert_ne!(other, alone);
    }

    #[test]
    fn numbers_are_those_of_the_tenant() {
        let tenants = [tenant("x1", "x", &[3, 9], 0)];
        let why = |name, json| made(&tenants, pattern(name, json), "x").unwrap_err().to_string();
        assert_eq!(
            why("list", r#"[{"src": 0, "dst": 3, "size": 1}]"#),
            "workload[0].list[0].dst = 3: must be a VM of tenant x1, 0 to 1"
        );
        assert_eq!(
            why("permutation", r#"{"size": 1, "hosts": "0-2"}"#),
            "workload[0].permutation.hosts = \"0-2\": must be VMs of tenant x1, 0 to 1"
        );
        assert_eq!(
            why("incast", r#"{"fan_in": 2, "size": 1}"#),
            "workload[0].incast.fan_in = 2: must be 1 to 1, the hosts other than the receiver (in tenant x1)"
        );
        let unknown = |name| made(&tenants, pattern("permutation", r#"{"size": 1}"#), name).unwrap_err().to_string();
        assert_eq!(unknown("x12"), "workload[0].tenant = x12: must be the name of a [[tenant]]; did you mean `x1`?");
        let none = made(&[], pattern("permutation", r#"{"size": 1}"#), "x").unwrap_err().to_string();
        assert_eq!(none, "workload[0].tenant = x: must be omitted: there is no [[tenant]]");
    }

    #[test]
    fn racks_are_those_of_servers() {
        let spec = pattern("poisson", r#"{"load": 0.2, "sizes": 1000, "duration": "1ms", "locality": {"rack": 1}}"#);
        let set = generate_with(&[spec], &fabric(), None, Path::new("."), 1, None).unwrap();
        let (mut server, mut rack) = (0, 0);
        for (src, dst) in pairs(&set) {
            assert_eq!(src / 8, dst / 8);
            if src / 4 == dst / 4 { server += 1 } else { rack += 1 }
        }
        // Three of the rack's seven others share the server.
        let share = f64::from(server) / f64::from(server + rack);
        assert!((share - 3.0 / 7.0).abs() < 0.05, "{share}");
    }
}
