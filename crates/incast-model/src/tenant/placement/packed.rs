//! Greedy allocation of Oktopus (Ballani et al., SIGCOMM 2011, section 4).

use crate::fabric::{Fabric, HostId};
use crate::tenant::admission::{crossings, needed, room};
use crate::tenant::cuts::{Cuts, NoTree};
use crate::tenant::{Guarantee, Tenant};
use crate::units::Rate;

#[derive(Debug)]
pub(in crate::tenant) struct Residual {
    cuts: Cuts,
    /// By cut: from the inside, and to it.
    left: Vec<[u64; 2]>,
}

impl Residual {
    pub(in crate::tenant) fn new(fabric: &Fabric, headroom: f64, tenants: &[Tenant]) -> Result<Self, NoTree> {
        let cuts = Cuts::new(fabric)?;
        let left = cuts.cuts.iter().map(|cut| [room(cut.capacity, headroom).0; 2]).collect();
        let mut residual = Self { cuts, left };
        tenants.iter().for_each(|tenant| residual.take(tenant));
        Ok(residual)
    }

    pub(in crate::tenant) fn take(&mut self, tenant: &Tenant) {
        for (cut, inside) in crossings(&self.cuts, tenant) {
            let (up, down) = needed((tenant.send, tenant.receive), inside, tenant.vms.len());
            let left = &mut self.left[cut];
            *left = [left[0].saturating_sub(up.0), left[1].saturating_sub(down.0)];
        }
    }

    /// Slots in the first lowest subtree with enough slots and capacity, filled without backtracking.
    pub(in crate::tenant) fn packed(
        &self,
        vms: usize,
        guarantee: Guarantee,
        free: &dyn Fn(HostId) -> bool,
    ) -> Option<Vec<HostId>> {
        let hose = (guarantee.send, guarantee.receive);
        let search = Search { residual: self, hosts: self.hosts(), hose, vms, free };
        let subtrees = (0..self.cuts.cuts.len()).filter(|&cut| !self.cuts.cuts[cut].within.is_empty());
        let found = subtrees.map(|cut| search.fill(cut, vms)).find(|found| found.len() == vms);
        found.or_else(|| Some(search.among(&self.cuts.top, vms)).filter(|found| found.len() == vms))
    }

    fn hosts(&self) -> Vec<Option<HostId>> {
        let mut hosts = vec![None; self.cuts.cuts.len()];
        for (host, of) in (0..).map(HostId).zip(&self.cuts.of_host) {
            if let Some(&own) = of.first() {
                hosts[own] = Some(host);
            }
        }
        hosts
    }
}

struct Search<'a> {
    residual: &'a Residual,
    hosts: Vec<Option<HostId>>,
    hose: (Rate, Rate),
    vms: usize,
    free: &'a dyn Fn(HostId) -> bool,
}

impl Search<'_> {
    /// At most `most`, as the subtree's links allow.
    fn fill(&self, cut: usize, most: usize) -> Vec<HostId> {
        let mut want = most;
        loop {
            let found = match self.hosts[cut].filter(|_| self.residual.cuts.cuts[cut].within.is_empty()) {
                Some(host) => Some(host).filter(|&host| want > 0 && (self.free)(host)).into_iter().collect(),
                None => self.among(&self.residual.cuts.cuts[cut].within, want),
            };
            if self.fits(cut, found.len()) {
                return found;
            }
            // 0 always fits.
            want = (0..found.len()).rev().find(|&fewer| self.fits(cut, fewer)).unwrap_or(0);
        }
    }

    fn among(&self, subtrees: &[usize], most: usize) -> Vec<HostId> {
        let mut found = Vec::new();
        for &subtree in subtrees {
            if found.len() == most {
                break;
            }
            found.extend(self.fill(subtree, most - found.len()));
        }
        found
    }

    fn fits(&self, cut: usize, inside: usize) -> bool {
        let (up, down) = needed(self.hose, inside, self.vms);
        let [left_up, left_down] = self.residual.left[cut];
        up.0 <= left_up && down.0 <= left_down
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Vms;
    use crate::fabric::generators::LeafSpine;

    fn residual(tenants: &[Tenant]) -> Residual {
        let mut tree = LeafSpine::new(2, 1, 2);
        (tree.host_rate, tree.uplink_rate) = (Rate::gbps(1), Rate::gbps(1));
        let fabric = tree.build().unwrap().with_vms(&Vms::new(4)).unwrap();
        Residual::new(&fabric, 0.0, tenants).unwrap()
    }

    fn packed(vms: usize, mbps: u64, taken: &[u32]) -> Option<Vec<u32>> {
        let free = |host: HostId| !taken.contains(&host.0);
        let found = residual(&[]).packed(vms, Guarantee::both(Rate::mbps(mbps)), &free);
        found.map(|found| found.into_iter().map(|host| host.0).collect())
    }

    #[test]
    fn the_lowest_subtree_with_room() {
        assert_eq!(packed(4, 900, &[]), Some(vec![0, 1, 2, 3]), "no link between servers is used");
        assert_eq!(packed(4, 100, &[1]), Some(vec![4, 5, 6, 7]), "the second server");
        assert_eq!(packed(3, 100, &[1]), Some(vec![0, 2, 3]));
        assert_eq!(packed(6, 100, &[]), Some(vec![0, 1, 2, 3, 4, 5]), "a rack");
        assert_eq!(packed(9, 100, &[]), Some((0..9).collect()), "both racks");
        assert_eq!(packed(17, 0, &[]), None);
    }

    #[test]
    fn cuts_limit_what_a_subtree_gets() {
        // 6 VMs split 4 and 2 need 2 times the guarantee between servers, 3 and 3 would need 3.
        assert_eq!(packed(6, 500, &[]), Some(vec![0, 1, 2, 3, 4, 5]));
        // The first server can hold one VM, the second the rest.
        assert_eq!(packed(5, 600, &[]), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!(packed(5, 600, &[3]), Some(vec![0, 4, 5, 6, 7]));
        assert_eq!(packed(6, 600, &[]), None);
        assert_eq!(packed(5, 1100, &[]), None);
    }

    #[test]
    fn what_others_have_is_not_there() {
        let vm = |host| crate::tenant::Vm { host: HostId(host), mapper: false };
        let (name, group) = ("x".to_owned(), "x".to_owned());
        let rate = Rate::mbps(700);
        let other = Tenant { name, group, vms: vec![vm(0), vm(4)], send: rate, receive: rate };
        let free = |host: HostId| ![0, 4].contains(&host.0);
        let found = residual(&[other]).packed(4, Guarantee::both(Rate::mbps(400)), &free);
        let found: Vec<u32> = found.unwrap().into_iter().map(|host| host.0).collect();
        assert_eq!(found, [8, 9, 10, 11], "three and one would need 400 of the 300 that are left");
    }
}
