use crate::fabric::HostId;
use crate::units::Rate;

/// Placed tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Unique name.
    pub name: String,
    /// Name of the `[[tenant]]`.
    pub group: String,
    /// VMs by number.
    pub vms: Vec<Vm>,
    /// Send guarantee per VM; 0 for none.
    pub send: Rate,
    /// Receive guarantee per VM; 0 for none.
    pub receive: Rate,
}

/// VM of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vm {
    /// Slot.
    pub host: HostId,
    /// If true, the VM is a mapper.
    pub mapper: bool,
}

/// Tenants of a fabric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tenancy {
    tenants: Vec<Tenant>,
    /// By host: tenant, and number among its VMs.
    of_host: Vec<Option<(u32, u32)>>,
}

impl Tenancy {
    /// Assigns VMs to hosts, at most one each.
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

    /// Tenants, in the scenario's order.
    pub fn tenants(&self) -> &[Tenant] {
        &self.tenants
    }

    /// Tenant and VM number of a host.
    pub fn of_host(&self, host: HostId) -> Option<(usize, usize)> {
        let (tenant, vm) = self.of_host.get(host.index()).copied().flatten()?;
        Some((tenant as usize, vm as usize))
    }

    /// Tenant of a host.
    pub fn tenant_of(&self, host: HostId) -> Option<&Tenant> {
        self.of_host(host).map(|(tenant, _)| &self.tenants[tenant])
    }

    /// Send and receive guarantees; 0 without a tenant.
    pub fn hose(&self, host: HostId) -> (Rate, Rate) {
        self.tenant_of(host).map_or((Rate::ZERO, Rate::ZERO), |tenant| (tenant.send, tenant.receive))
    }

    /// Returns true if any VM has a guarantee.
    pub fn guarantees(&self) -> bool {
        self.tenants.iter().any(|tenant| tenant.send.max(tenant.receive) > Rate::ZERO)
    }
}
