//! Admission control: a tenant's traffic across a cut is at most the send guarantees on one side and the receive guarantees on
//! the other (Oktopus: Ballani et al., SIGCOMM 2011, section 4).
//!
//! On a tree each cut is a link. Several uplinks of a rack count as their sum: routing must spread guarantees.

use super::cuts::{Cuts, NoTree};
use super::{Tenancy, Tenant};
use crate::fabric::Fabric;
use crate::units::Rate;

/// Guarantees on each cut of a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Admission {
    /// Share of the capacity without guarantees.
    pub headroom: f64,
    /// Lower tiers first: VMs, servers, racks, pods.
    pub cuts: Vec<CutLoad>,
}

/// Guarantees between some VMs and all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutLoad {
    /// Inside: a VM, a server, a switch with all below it, or the first and last of several.
    pub name: String,
    /// Highest tier inside; 0 for a VM.
    pub tier: u8,
    /// Rate in each direction.
    pub capacity: Rate,
    /// Guarantees from the inside.
    pub up: Reserved,
    /// Guarantees to the inside.
    pub down: Reserved,
}

/// Guarantees in one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reserved {
    /// Sum.
    pub total: Rate,
    /// Tenants and their parts.
    pub of_tenants: Vec<(usize, Rate)>,
}

/// Cut with guarantees above its capacity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{direction} {name} guarantees of {reserved:#} exceed the {room:#} that the links carry without headroom, by {:#}: {}", Rate(.reserved.0.saturating_sub(.room.0)), because(.tenants, *.others)
)]
pub struct Rejected {
    /// Name of the inside.
    pub name: String,
    /// `from` or `to`.
    pub direction: &'static str,
    /// Guaranteed rate.
    pub reserved: Rate,
    /// Largest guaranteed rate.
    pub room: Rate,
    /// Tenants with the largest parts.
    pub tenants: Vec<(String, Rate)>,
    /// Number of other tenants.
    pub others: usize,
}

const NAMED: usize = 3;

fn because(tenants: &[(String, Rate)], others: usize) -> String {
    let mut parts: Vec<String> = tenants.iter().map(|(name, rate)| format!("{name} has {rate:#}")).collect();
    match others {
        0 => {}
        1 => parts.push("one more has the rest".into()),
        more => parts.push(format!("{more} others have the rest")),
    }
    parts.join(", ")
}

impl Admission {
    /// Sums the guarantees on each cut.
    pub fn new(fabric: &Fabric, tenancy: &Tenancy, headroom: f64) -> Result<Self, NoTree> {
        let cuts = Cuts::new(fabric)?;
        let fresh = cuts.cuts.iter().map(|cut| CutLoad {
            name: cut.name.clone(),
            tier: cut.tier,
            capacity: cut.capacity,
            up: Reserved::default(),
            down: Reserved::default(),
        });
        let mut loads: Vec<CutLoad> = fresh.collect();
        for (number, tenant) in tenancy.tenants().iter().enumerate() {
            for (cut, inside) in crossings(&cuts, tenant) {
                let (up, down) = needs(tenant, inside);
                loads[cut].up.add(number, up);
                loads[cut].down.add(number, down);
            }
        }
        Ok(Self { headroom, cuts: loads })
    }

    /// Largest guaranteed rate of a capacity.
    pub fn room(&self, capacity: Rate) -> Rate {
        room(capacity, self.headroom)
    }

    /// Cuts and directions (true: from the inside) with guarantees and their share of the limit, largest first.
    pub fn tightest(&self) -> Vec<(&CutLoad, bool, f64)> {
        let both = self.cuts.iter().flat_map(|cut| [(cut, true), (cut, false)]);
        let shares = both.map(|(cut, up)| {
            let room = (1.0 - self.headroom) * cut.capacity.0 as f64;
            (cut, up, cut.reserved(up).total.0 as f64 / room)
        });
        let mut found: Vec<_> = shares.filter(|(_, _, share)| *share > 0.0).collect();
        // The highest tier affects most.
        found.sort_by(|a, b| b.2.total_cmp(&a.2).then(b.0.tier.cmp(&a.0.tier)));
        found
    }

    /// Checks every cut; the error names the one with the largest share.
    pub fn check(&self, tenancy: &Tenancy) -> Result<(), Rejected> {
        let exceeds = |&(cut, up, _): &(&CutLoad, bool, f64)| cut.reserved(up).total > self.room(cut.capacity);
        match self.tightest().into_iter().find(exceeds) {
            Some((cut, up, _)) => Err(self.rejected(cut, up, tenancy)),
            None => Ok(()),
        }
    }

    fn rejected(&self, cut: &CutLoad, up: bool, tenancy: &Tenancy) -> Rejected {
        let reserved = cut.reserved(up);
        let mut tenants = reserved.of_tenants.clone();
        tenants.sort_by_key(|&(tenant, rate)| (std::cmp::Reverse(rate), tenant));
        let others = tenants.len().saturating_sub(NAMED);
        let named = tenants.iter().take(NAMED);
        let named = named.map(|&(tenant, rate)| (tenancy.tenants()[tenant].name.clone(), rate)).collect();
        let direction = if up { "from" } else { "to" };
        let (name, room) = (cut.name.clone(), self.room(cut.capacity));
        Rejected { name, direction, reserved: reserved.total, room, tenants: named, others }
    }
}

impl CutLoad {
    /// Guarantees from the inside (`up`), or to it.
    pub const fn reserved(&self, up: bool) -> &Reserved {
        if up { &self.up } else { &self.down }
    }
}

impl Reserved {
    fn add(&mut self, tenant: usize, rate: Rate) {
        if rate > Rate::ZERO {
            self.total = Rate(self.total.0.saturating_add(rate.0));
            self.of_tenants.push((tenant, rate));
        }
    }
}

/// Rounds: shares such as 0.1 are no binary fractions.
pub(super) fn room(capacity: Rate, headroom: f64) -> Rate {
    Rate(((1.0 - headroom) * capacity.0 as f64).round() as u64)
}

/// Cuts around a tenant's VMs, with the VMs inside.
pub(super) fn crossings(cuts: &Cuts, tenant: &Tenant) -> Vec<(usize, usize)> {
    let mut of: Vec<usize> = tenant.vms.iter().flat_map(|vm| cuts.of_host[vm.host.index()].iter().copied()).collect();
    of.sort_unstable();
    of.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect()
}

fn needs(tenant: &Tenant, inside: usize) -> (Rate, Rate) {
    needed((tenant.send, tenant.receive), inside, tenant.vms.len())
}

pub(super) fn needed((send, receive): (Rate, Rate), inside: usize, all: usize) -> (Rate, Rate) {
    let times = |rate: Rate, vms: usize| rate.0.saturating_mul(vms as u64);
    let outside = all - inside;
    let up = times(send, inside).min(times(receive, outside));
    let down = times(send, outside).min(times(receive, inside));
    (Rate(up), Rate(down))
}
