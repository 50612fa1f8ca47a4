//! Admission: whether the links can carry all guarantees at the same time.
//!
//! Of a tenant with VMs on both sides of a cut, no more can cross it one way than those on the one side may send, and those on
//! the other may receive (Ballani et al. (Oktopus), SIGCOMM 2011, section 4). On a tree each cut is a link, so that this is all
//! there is to say. Where several links lead up from a rack, guarantees are compared with their sum: that they are carried takes
//! routing that spreads them.

use super::cuts::{Cuts, NoTree};
use super::{Tenancy, Tenant};
use crate::fabric::Fabric;
use crate::units::Rate;

/// What all tenants have guaranteed on each cut of a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Admission {
    /// Share of the capacity of each cut that is left out of guarantees.
    pub headroom: f64,
    /// The cuts, lower tiers first: VMs, servers, racks, pods.
    pub cuts: Vec<CutLoad>,
}

/// What is guaranteed on the links between some VMs and all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutLoad {
    /// What is inside: a VM, a server, a switch and what is below it, or the first and the last of several.
    pub name: String,
    /// Tier of the highest switches inside; 0 for a VM.
    pub tier: u8,
    /// What the links carry each way.
    pub capacity: Rate,
    /// Guaranteed from the inside.
    pub up: Reserved,
    /// Guaranteed to the inside.
    pub down: Reserved,
}

/// What is guaranteed one way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reserved {
    /// In all.
    pub total: Rate,
    /// By tenants, by their numbers, that have some of it.
    pub of_tenants: Vec<(usize, Rate)>,
}

/// Guarantees that the links of a cut do not carry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{direction} {name} guarantees of {reserved:#} exceed the {room:#} that the links carry without headroom, by {:#}: {}", Rate(.reserved.0.saturating_sub(.room.0)), because(.tenants, *.others)
)]
pub struct Rejected {
    /// What is inside the cut.
    pub name: String,
    /// `from` or `to`.
    pub direction: &'static str,
    /// What is guaranteed.
    pub reserved: Rate,
    /// What could be.
    pub room: Rate,
    /// The tenants that have most of it, by name, with what they have.
    pub tenants: Vec<(String, Rate)>,
    /// How many more have some.
    pub others: usize,
}

/// Tenants that a message names.
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
    /// Of tenants on a fabric.
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

    /// What may be guaranteed on links of a capacity.
    pub fn room(&self, capacity: Rate) -> Rate {
        room(capacity, self.headroom)
    }

    /// The cuts and directions (up: from the inside) with something guaranteed, those first of whose room most is taken, with
    /// that share.
    pub fn tightest(&self) -> Vec<(&CutLoad, bool, f64)> {
        let both = self.cuts.iter().flat_map(|cut| [(cut, true), (cut, false)]);
        let shares = both.map(|(cut, up)| {
            let room = (1.0 - self.headroom) * cut.capacity.0 as f64;
            (cut, up, cut.reserved(up).total.0 as f64 / room)
        });
        let mut found: Vec<_> = shares.filter(|(_, _, share)| *share > 0.0).collect();
        // Of equals the highest tier first: it concerns most. A stable sort keeps the rest in order.
        found.sort_by(|a, b| b.2.total_cmp(&a.2).then(b.0.tier.cmp(&a.0.tier)));
        found
    }

    /// Whether the links of every cut carry what is guaranteed; if not, the one that is most in excess.
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
    /// What is guaranteed from the inside (`up`), or to it.
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

/// What may be guaranteed on links of a capacity, to the nearest bit/s: shares such as 0.1 are no binary fractions.
pub(super) fn room(capacity: Rate, headroom: f64) -> Rate {
    Rate(((1.0 - headroom) * capacity.0 as f64).round() as u64)
}

/// The cuts that VMs of a tenant are in, each with how many of them.
pub(super) fn crossings(cuts: &Cuts, tenant: &Tenant) -> Vec<(usize, usize)> {
    let mut of: Vec<usize> = tenant.vms.iter().flat_map(|vm| cuts.of_host[vm.host.index()].iter().copied()).collect();
    of.sort_unstable();
    of.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect()
}

/// What a tenant needs on a cut that has so many of its VMs inside: from the inside, and to it.
fn needs(tenant: &Tenant, inside: usize) -> (Rate, Rate) {
    needed((tenant.send, tenant.receive), inside, tenant.vms.len())
}

/// What VMs that each may send and receive so much need on a cut with some of all inside: from the inside, and to it.
pub(super) fn needed((send, receive): (Rate, Rate), inside: usize, all: usize) -> (Rate, Rate) {
    let times = |rate: Rate, vms: usize| rate.0.saturating_mul(vms as u64);
    let outside = all - inside;
    let up = times(send, inside).min(times(receive, outside));
    let down = times(send, outside).min(times(receive, inside));
    (Rate(up), Rate(down))
}
