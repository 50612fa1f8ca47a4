//! Who has which VM.

use crate::fabric::HostId;
use crate::units::Rate;

/// A tenant with its VMs in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its name; no other tenant has it.
    pub name: String,
    /// The name of the `[[tenant]]` that made it.
    pub group: String,
    /// Its VMs, by the numbers that its workload calls them.
    pub vms: Vec<Vm>,
    /// What each VM may send, guaranteed; 0 for no guarantee.
    pub send: Rate,
    /// What each VM may receive, guaranteed; 0 for no guarantee.
    pub receive: Rate,
}

/// One VM of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vm {
    /// Its slot: a host of the fabric.
    pub host: HostId,
    /// Whether it is one of the tenant's mappers.
    pub mapper: bool,
}

/// All tenants of a fabric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tenancy {
    tenants: Vec<Tenant>,
    /// By host: the numbers of the tenant and, among its VMs, of the VM.
    of_host: Vec<Option<(u32, u32)>>,
}

impl Tenancy {
    /// Of tenants none of whose VMs have a slot in common.
    pub fn new(tenants: Vec<Tenant>) -> Self {
        let mut of_host = Vec::new();
        for (number, tenant) in (0u32..).zip(&tenants) {
            for (own, vm) in (0u32..).zip(&tenant.vms) {
                let slot = vm.host.index();
                of_host.resize(of_host.len().max(slot + 1), None);
                of_host[slot] = Some((number, own));
            }
        }
        Self { tenants, of_host }
    }

    /// The tenants, in the scenario's order.
    pub fn tenants(&self) -> &[Tenant] {
        &self.tenants
    }

    /// Numbers of the tenant that has a host, and of the host among its VMs; `None` for a free slot, and for what is no VM.
    pub fn of_host(&self, host: HostId) -> Option<(usize, usize)> {
        let (tenant, vm) = self.of_host.get(host.index()).copied().flatten()?;
        Some((tenant as usize, vm as usize))
    }

    /// The tenant that has a host.
    pub fn tenant_of(&self, host: HostId) -> Option<&Tenant> {
        self.of_host(host).map(|(tenant, _)| &self.tenants[tenant])
    }

    /// What a host may send and receive, guaranteed; 0 without a tenant.
    pub fn hose(&self, host: HostId) -> (Rate, Rate) {
        self.tenant_of(host).map_or((Rate::ZERO, Rate::ZERO), |tenant| (tenant.send, tenant.receive))
    }

    /// Whether any VM has a guarantee.
    pub fn guarantees(&self) -> bool {
        self.tenants.iter().any(|tenant| tenant.send.max(tenant.receive) > Rate::ZERO)
    }
}
