use std::collections::HashSet;
use std::path::Path;

use super::admission::room;
use super::entry::Entry;
use super::placement::{self, Residual, Table};
use super::spec::{Placement, TenantSpec, VmCount, VmRange};
use super::{Tenancy, Tenant, Vm};
use crate::entry::EntryError;
use crate::fabric::{Fabric, HostId, NodeId, Vms};
use crate::rng::{Stream, pick, stream};
use crate::units::Rate;

/// Places all tenants in order. Random streams have the tenant's name: later tenants change no earlier ones. Relative files
/// start at `base_dir`.
pub fn place(
    specs: &[TenantSpec],
    fabric: &Fabric,
    vms: &Vms,
    base_dir: &Path,
    seed: u64,
) -> Result<Tenancy, EntryError> {
    let taken = vec![None; fabric.endpoints().len()];
    let free = (0..taken.len() as u32).map(HostId).collect();
    let (tenants, names) = (Vec::new(), HashSet::new());
    let mut placer = Placer { fabric, vms, base_dir, seed, taken, free, tenants, names, residual: None };
    for (index, spec) in specs.iter().enumerate() {
        let entry = Entry { spec, path: format!("tenant[{index}]") };
        entry.check()?;
        placer.check_guarantee(&entry)?;
        placer.add(&entry)?;
    }
    Ok(Tenancy::new(placer.tenants))
}

enum Placed {
    There(usize),
    /// VMs without links for their guarantees.
    Nowhere(usize),
}

struct Placer<'a> {
    fabric: &'a Fabric,
    vms: &'a Vms,
    base_dir: &'a Path,
    seed: u64,
    taken: Vec<Option<usize>>,
    /// Slots that are not taken, in order.
    free: Vec<HostId>,
    tenants: Vec<Tenant>,
    names: HashSet<String>,
    residual: Option<Residual>,
}

impl Placer<'_> {
    /// Takes free slots for the next tenant.
    fn take(&mut self, slots: &[HostId]) {
        let place = |slot: &HostId| self.free.binary_search(slot).expect("the slot is free");
        let mut gaps: Vec<usize> = slots.iter().map(place).collect();
        gaps.sort_unstable();
        let ends: Vec<usize> = gaps.iter().copied().skip(1).chain([self.free.len()]).collect();
        let Some(&(mut kept)) = gaps.first() else { return };
        for (gap, end) in gaps.into_iter().zip(ends) {
            self.free.copy_within(gap + 1..end, kept);
            kept += end - gap - 1;
        }
        self.free.truncate(kept);
        slots.iter().for_each(|slot| self.taken[slot.index()] = Some(self.tenants.len()));
    }

    fn stream(&self, tenant: &str, purpose: &str) -> Stream {
        stream(self.seed, &format!("tenant/{tenant}/{purpose}"), 0)
    }

    fn nic(&self, server: NodeId) -> Rate {
        self.fabric.nic_ports(server).map(|port| self.fabric.rate(port)).sum()
    }

    fn check_guarantee(&self, entry: &Entry<'_>) -> Result<(), EntryError> {
        let fastest = self.fabric.servers().iter().map(|&server| self.nic(server)).max().unwrap_or_default();
        self.carries(entry, "the VM's virtual link", self.vms.rate)?;
        self.carries(entry, "the fastest NIC", fastest)
    }

    fn carries(&self, entry: &Entry<'_>, what: &str, rate: Rate) -> Result<(), EntryError> {
        let (guarantee, room) = (entry.spec.guarantee, room(rate, self.vms.headroom));
        if guarantee.most() <= room {
            return Ok(());
        }
        let allowed = format!("at most {room}: {what} has {rate}, {} of it headroom", self.vms.headroom);
        Err(entry.refuse("guarantee", guarantee, allowed))
    }

    fn add(&mut self, entry: &Entry<'_>) -> Result<(), EntryError> {
        let (name, all) = (&entry.spec.name, self.taken.len());
        match (entry.spec.count, entry.spec.fill) {
            (None, None) => self.must(entry, name.clone(), all).map(|_| ()),
            (Some(count), _) => {
                (1..=count).try_for_each(|nth| self.must(entry, format!("{name}{nth}"), all).map(|_| ()))
            }
            (None, Some(fill)) => self.fill(entry, fill),
        }
    }

    /// Up to a share of the free slots; if packed, until one does not fit.
    fn fill(&mut self, entry: &Entry<'_>, fill: f64) -> Result<(), EntryError> {
        let (free, least) = (self.free.len(), entry.least());
        let mut left = (free as f64 * fill + 1e-9) as usize;
        if left < least {
            let vms = entry.spec.vms;
            let allowed = format!(
                "space for at least one tenant: this is {left} of {free} free VM slots, a tenant has {vms} VMs"
            );
            return Err(entry.refuse("fill", fill, allowed));
        }
        left -= self.must(entry, format!("{}1", entry.spec.name), left)?;
        let mut nth = 2;
        while left >= least {
            match self.one(entry, format!("{}{nth}", entry.spec.name), left)? {
                Placed::There(vms) => left -= vms,
                Placed::Nowhere(_) => break,
            }
            nth += 1;
        }
        Ok(())
    }

    /// At most `most` VMs; returns their number.
    fn must(&mut self, entry: &Entry<'_>, name: String, most: usize) -> Result<usize, EntryError> {
        let said = name.clone();
        match self.one(entry, name, most)? {
            Placed::There(vms) => Ok(vms),
            Placed::Nowhere(vms) => {
                let guarantee = entry.spec.guarantee;
                let allowed = format!(
                    "another placement, or smaller guarantees: {said} with {vms} VMs finds no subtree with enough free \
                     slots and links that carry {guarantee:#} each"
                );
                Err(entry.refuse("placement", "packed", allowed))
            }
        }
    }

    fn one(&mut self, entry: &Entry<'_>, name: String, most: usize) -> Result<Placed, EntryError> {
        if self.names.contains(&name) {
            return Err(entry.refuse("name", name, "a name of its own: another tenant has this one"));
        }
        let vms = self.draw_vms(entry, &name, most);
        if vms > self.free.len() {
            let (free, all) = (self.free.len(), self.taken.len());
            let allowed = format!("at most {free}, the VM slots that {name} finds free; there are {all} in all");
            return Err(entry.refuse("vms", vms, allowed));
        }
        let (slots, mappers) = match self.slots(entry, &name, vms)? {
            Some(slots) => {
                let mappers = entry.mappers(slots.len());
                (slots, mappers)
            }
            None => return Ok(Placed::Nowhere(vms)),
        };
        self.take(&slots);
        for (vm, &slot) in slots.iter().enumerate() {
            if let Some(server) = self.fabric.server_of(slot) {
                let what = format!("the NIC of {}, where VM {vm} of {name} is,", self.fabric.node(server).name);
                self.carries(entry, &what, self.nic(server))?;
            }
        }
        let vms: Vec<Vm> = slots.into_iter().zip(mappers).map(|(host, mapper)| Vm { host, mapper }).collect();
        let (group, guarantee, count) = (entry.spec.name.clone(), entry.spec.guarantee, vms.len());
        let tenant = Tenant { name, group, vms, send: guarantee.send, receive: guarantee.receive };
        if let Some(residual) = &mut self.residual {
            residual.take(&tenant);
        }
        self.names.insert(tenant.name.clone());
        self.tenants.push(tenant);
        Ok(Placed::There(count))
    }

    /// `None` if no links carry the guarantees.
    fn slots(&mut self, entry: &Entry<'_>, name: &str, vms: usize) -> Result<Option<Vec<HostId>>, EntryError> {
        let who = |host: HostId| self.taken[host.index()].map(|tenant| self.tenants[tenant].name.clone());
        match &entry.spec.placement {
            Placement::Random => Ok(Some(placement::random(&self.free, vms, &mut self.stream(name, "placement")))),
            Placement::Unbalanced => Ok(Some(placement::unbalanced(&self.free, &entry.mappers(vms)))),
            Placement::Packed => self.packed(entry, vms),
            Placement::Slots(names) => {
                placement::listed(names, self.fabric, who, &entry.field("placement.slots")).map(Some)
            }
            Placement::File(file) => {
                let (file, field) = (self.base_dir.join(file), entry.field("placement.file"));
                let table = Table::read(&file, &field)?;
                let rows = table.count(name, &file, &field)?;
                if !entry.allows(rows) {
                    let allowed = format!("{rows}, as many as rows of {name} in {}", file.display());
                    return Err(entry.refuse("vms", entry.spec.vms, allowed));
                }
                table.slots(name, self.fabric, &file, who).map(Some)
            }
        }
    }

    fn packed(&mut self, entry: &Entry<'_>, vms: usize) -> Result<Option<Vec<HostId>>, EntryError> {
        let residual = match self.residual.take() {
            Some(known) => known,
            None => Residual::new(self.fabric, self.vms.headroom, &self.tenants)
                .map_err(|why| entry.refuse("placement", "packed", format!("another one on this fabric: {why}")))?,
        };
        let free = |host: HostId| self.taken[host.index()].is_none();
        let found = residual.packed(vms, entry.spec.guarantee, &free);
        self.residual = Some(residual);
        Ok(found)
    }

    /// If drawn, at most `most` where the range allows.
    fn draw_vms(&self, entry: &Entry<'_>, name: &str, most: usize) -> usize {
        let (from, to) = match entry.spec.vms {
            VmCount::Fixed(count) => return count as usize,
            // The rows of the file count.
            VmCount::Uniform(VmRange { from, .. }) if matches!(entry.spec.placement, Placement::File(_)) => {
                return from as usize;
            }
            VmCount::Uniform(VmRange { from, to }) => (from as usize, to as usize),
        };
        let mut rng = self.stream(name, "vms");
        let first = from + pick(&mut rng, to - from + 1);
        if first <= most || most < from { first } else { from + pick(&mut rng, most.min(to) - from + 1) }
    }
}
