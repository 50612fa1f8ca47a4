//! From tenants as described to VMs in their slots.

use std::path::Path;

use super::placement;
use super::spec::{Placement, TenantSpec, VmCount, VmRange};
use super::{Tenancy, Tenant, TenantError, Vm};
use crate::fabric::{Fabric, HostId, Vms};
use crate::rng::{Stream, pick, stream};
use crate::units::Rate;

/// Places all tenants on a fabric with VMs, one after the other. Every tenant draws from random streams of its own name, so those
/// that come later change none of those before. Relative files start at `base_dir`.
pub fn place(
    specs: &[TenantSpec],
    fabric: &Fabric,
    vms: &Vms,
    base_dir: &Path,
    seed: u64,
) -> Result<Tenancy, TenantError> {
    let mut placer =
        Placer { fabric, vms, base_dir, seed, taken: vec![None; fabric.endpoints().len()], tenants: Vec::new() };
    for (index, spec) in specs.iter().enumerate() {
        let entry = Entry { spec, path: format!("tenant[{index}]") };
        entry.check()?;
        placer.check_guarantee(&entry)?;
        placer.add(&entry)?;
    }
    Ok(Tenancy::new(placer.tenants))
}

/// A `[[tenant]]` and its path.
struct Entry<'a> {
    spec: &'a TenantSpec,
    path: String,
}

impl Entry<'_> {
    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn refuse(&self, name: &str, value: impl std::fmt::Display, allowed: impl Into<String>) -> TenantError {
        TenantError::field(self.field(name), value, allowed)
    }

    /// What can be found wrong without a fabric.
    fn check(&self) -> Result<(), TenantError> {
        const LEAST: &str = "at least 2 VMs: a tenant with one has nobody to send to";
        let spec = self.spec;
        let plain = !spec.name.contains(|c: char| c.is_control() || c == ',' || c == '"');
        if spec.name.is_empty() || spec.name != spec.name.trim() || !plain {
            let allowed = "a name without commas, quotes, line breaks, or blanks at its ends";
            return Err(self.refuse("name", format!("\"{}\"", spec.name), allowed));
        }
        match spec.vms {
            VmCount::Fixed(count) if count < 2 => return Err(self.refuse("vms", count, LEAST)),
            VmCount::Uniform(VmRange { from, .. }) if from < 2 => return Err(self.refuse("vms.from", from, LEAST)),
            VmCount::Uniform(VmRange { from, to }) if to < from => {
                return Err(self.refuse("vms.to", to, format!("at least from, {from}")));
            }
            _ => {}
        }
        if let (Some(_), Some(fill)) = (spec.count, spec.fill) {
            return Err(self.refuse("fill", fill, "left out where there is a count: one of the two"));
        }
        if spec.count == Some(0) {
            return Err(self.refuse("count", 0, "at least 1"));
        }
        if let Some(fill) = spec.fill.filter(|fill| !(*fill > 0.0 && *fill <= 1.0)) {
            return Err(self.refuse("fill", fill, "a share of the free VM slots, more than 0 and at most 1"));
        }
        if let Some(share) = spec.mappers.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(self.refuse("mappers", share, "a share of its VMs, more than 0 and less than 1"));
        }
        self.check_placement()
    }

    fn check_placement(&self) -> Result<(), TenantError> {
        let spec = self.spec;
        match &spec.placement {
            Placement::Unbalanced if spec.mappers.is_none() => Err(self.refuse(
                "placement",
                "unbalanced",
                "another one for a tenant without `mappers`, of which it places some here, the rest there",
            )),
            Placement::Slots(_) if spec.count.is_some_and(|count| count > 1) || spec.fill.is_some() => {
                Err(self.refuse("placement", "slots", "another one for several tenants: slots are those of one"))
            }
            Placement::Slots(names) => match spec.vms {
                VmCount::Fixed(count) if names.len() == count as usize => Ok(()),
                _ => Err(self.refuse(
                    "placement.slots",
                    format!("{} slots", names.len()),
                    format!("one for each of its {} VMs", spec.vms),
                )),
            },
            _ => Ok(()),
        }
    }

    /// Whether each of so many VMs is a mapper.
    fn mappers(&self, vms: usize) -> Vec<bool> {
        // Shares such as 0.1 are no binary fractions: what is a whole number but for that is not rounded up.
        let count = self.spec.mappers.map_or(0, |share| (share * vms as f64 - 1e-9).ceil() as usize);
        (0..vms).map(|vm| vm < count.min(vms - 1)).collect()
    }
}

struct Placer<'a> {
    fabric: &'a Fabric,
    vms: &'a Vms,
    base_dir: &'a Path,
    seed: u64,
    /// By VM slot: the number of the tenant that has it.
    taken: Vec<Option<usize>>,
    tenants: Vec<Tenant>,
}

impl Placer<'_> {
    fn free(&self) -> Vec<HostId> {
        (0..).map(HostId).zip(&self.taken).filter(|(_, taken)| taken.is_none()).map(|(host, _)| host).collect()
    }

    /// A stream of one tenant.
    fn stream(&self, tenant: &str, purpose: &str) -> Stream {
        stream(self.seed, &format!("tenant/{tenant}/{purpose}"), 0)
    }

    /// The virtual link and the fastest NIC carry it, less the headroom.
    fn check_guarantee(&self, entry: &Entry<'_>) -> Result<(), TenantError> {
        let nic =
            |&server: &crate::fabric::NodeId| self.fabric.nic_ports(server).map(|port| self.fabric.rate(port).0).sum();
        let nic: u64 = self.fabric.servers().iter().map(nic).max().unwrap_or(0);
        let most = entry.spec.guarantee.most();
        for (what, rate) in [("the VM's virtual link", self.vms.rate), ("the fastest NIC", Rate(nic))] {
            let room = (1.0 - self.vms.headroom) * rate.0 as f64;
            if most.0 as f64 > room * ROUNDING {
                let Rate(room) = Rate(room as u64);
                let allowed =
                    format!("at most {}: {what} has {rate}, {} of it headroom", Rate(room), self.vms.headroom);
                return Err(entry.refuse("guarantee", entry.spec.guarantee, allowed));
            }
        }
        Ok(())
    }

    /// Places the tenants of an entry.
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), TenantError> {
        let spec = entry.spec;
        match (spec.count, spec.fill) {
            (None, None) => self.one(entry, spec.name.clone(), self.taken.len()).map(|_| ()),
            (Some(count), _) => (1..=count)
                .try_for_each(|nth| self.one(entry, format!("{}{nth}", spec.name), self.taken.len()).map(|_| ())),
            (None, Some(fill)) => {
                let mut left = (self.free().len() as f64 * fill + 1e-9) as usize;
                let least = match spec.vms {
                    VmCount::Fixed(count) | VmCount::Uniform(VmRange { from: count, .. }) => count as usize,
                };
                if left < least {
                    let allowed = format!(
                        "room for one tenant at least: this is {left} of {} free VM slots, it has {} VMs",
                        self.free().len(),
                        spec.vms
                    );
                    return Err(entry.refuse("fill", fill, allowed));
                }
                for nth in 1.. {
                    if left < least {
                        break;
                    }
                    left -= self.one(entry, format!("{}{nth}", spec.name), left)?;
                }
                Ok(())
            }
        }
    }

    /// Places a tenant with at most so many VMs. How many it has.
    fn one(&mut self, entry: &Entry<'_>, name: String, most: usize) -> Result<usize, TenantError> {
        if self.tenants.iter().any(|tenant| tenant.name == name) {
            return Err(entry.refuse("name", name, "a name of its own: another tenant has this one"));
        }
        let mut free = self.free();
        let vms = self.draw_vms(entry, &name, most);
        if vms > free.len() {
            let total = self.taken.len();
            let allowed =
                format!("at most {}, the VM slots that {name} finds free; there are {total} in all", free.len());
            return Err(entry.refuse("vms", vms, allowed));
        }
        let mappers = entry.mappers(vms);
        let slots = match &entry.spec.placement {
            Placement::Random => {
                placement::random(std::mem::take(&mut free), vms, &mut self.stream(&name, "placement"))
            }
            Placement::Unbalanced => placement::unbalanced(&free, &mappers),
            Placement::Slots(names) => {
                let who = |host: HostId| self.taken[host.index()].map(|tenant| self.tenants[tenant].name.clone());
                placement::listed(names, self.fabric, who, &entry.field("placement.slots"))?
            }
        };
        slots.iter().for_each(|slot| self.taken[slot.index()] = Some(self.tenants.len()));
        let vms: Vec<Vm> = slots.into_iter().zip(mappers).map(|(host, mapper)| Vm { host, mapper }).collect();
        let (group, guarantee) = (entry.spec.name.clone(), entry.spec.guarantee);
        let count = vms.len();
        self.tenants.push(Tenant { name, group, vms, send: guarantee.send, receive: guarantee.receive });
        Ok(count)
    }

    /// How many VMs a tenant has; where its entry draws it, one of at most `most`, if it has room for any.
    fn draw_vms(&self, entry: &Entry<'_>, name: &str, most: usize) -> usize {
        let (from, to) = match entry.spec.vms {
            VmCount::Fixed(count) => return count as usize,
            VmCount::Uniform(VmRange { from, to }) => (from as usize, to as usize),
        };
        let mut rng = self.stream(name, "vms");
        let first = from + pick(&mut rng, to - from + 1);
        if first <= most || most < from { first } else { from + pick(&mut rng, most.min(to) - from + 1) }
    }
}

/// Sums of guarantees and shares of capacity may differ from the whole numbers that are meant by so much.
pub(super) const ROUNDING: f64 = 1.0 + 1e-9;
