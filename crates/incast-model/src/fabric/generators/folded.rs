use super::GeneratorError;
use super::check::Check;
use crate::fabric::{Fabric, FabricBuilder, NodeId};
use crate::units::{Rate, Time};

#[derive(Debug, Clone, Copy)]
pub(super) struct Links {
    pub(super) rate: Rate,
    pub(super) delay: Time,
}

/// Top switches of middle switch j of m in a pod, n each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TopOrder {
    /// j·n to (j+1)·n − 1.
    Blocks,
    /// j, j + m, j + 2·m, … (htsim).
    Strides,
}

/// Tree of two or three tiers. In a pod all bottom and middle switches are joined; middle switch j of every pod reaches the
/// same top switches. Two tiers are one pod.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folded {
    pub(super) names: [&'static str; 3],
    pub(super) pods: u32,
    /// Per pod.
    pub(super) bottoms: u32,
    pub(super) hosts_per_bottom: u32,
    /// Per pod.
    pub(super) middles: u32,
    pub(super) tops_per_middle: u32,
    pub(super) order: TopOrder,
    /// Bottom-middle, middle-top.
    pub(super) bundles: [u32; 2],
    /// Links of hosts, bottom-middle, middle-top.
    pub(super) links: [Links; 3],
}

impl Folded {
    /// Numbers hosts by bottom switch, switches by pod.
    pub(super) fn build(&self, check: Check) -> Result<Fabric, GeneratorError> {
        self.check_size(check)?;
        let mut builder = FabricBuilder::new();
        let [bottoms, middles] = [self.bottoms, self.middles].map(|per_pod| (self.pods * per_pod) as usize);
        let tops = (self.middles * self.tops_per_middle) as usize;
        let hosts = bottoms * self.hosts_per_bottom as usize;
        let hosts: Vec<_> = (0..hosts).map(|h| builder.host(format!("h{h}"))).collect();
        let mut layer = |count: usize, tier: u8| -> Vec<NodeId> {
            let name = self.names[usize::from(tier) - 1];
            (0..count).map(|s| builder.switch(format!("{name}{s}"), tier)).collect()
        };
        let (bottoms, middles, tops) = (layer(bottoms, 1), layer(middles, 2), layer(tops, 3));
        let mut join = |low: NodeId, high: NodeId, bundle: u32, links: Links| {
            for _ in 0..bundle {
                builder.link(low, high, links.rate, links.delay);
            }
        };
        for (h, &host) in hosts.iter().enumerate() {
            join(host, bottoms[h / self.hosts_per_bottom as usize], 1, self.links[0]);
        }
        let per_pod = self.middles as usize;
        for (b, &bottom) in bottoms.iter().enumerate() {
            let pod = b / self.bottoms as usize;
            for &middle in &middles[pod * per_pod..(pod + 1) * per_pod] {
                join(bottom, middle, self.bundles[0], self.links[1]);
            }
        }
        for (m, &middle) in middles.iter().enumerate() {
            for uplink in 0..self.tops_per_middle as usize {
                let top = match self.order {
                    TopOrder::Blocks => m % per_pod * self.tops_per_middle as usize + uplink,
                    TopOrder::Strides => m % per_pod + uplink * per_pod,
                };
                join(middle, tops[top], self.bundles[1], self.links[2]);
            }
        }
        Ok(builder.finish()?)
    }

    fn check_size(&self, check: Check) -> Result<(), GeneratorError> {
        let product = |factors: &[u32]| factors.iter().fold(1u64, |all, &one| all.saturating_mul(u64::from(one)));
        let sum = |terms: &[u64]| terms.iter().fold(0u64, |all, &one| all.saturating_add(one));
        let hosts = product(&[self.pods, self.bottoms, self.hosts_per_bottom]);
        let bottoms = product(&[self.pods, self.bottoms]);
        let middles = product(&[self.pods, self.middles]);
        let tops = product(&[self.middles, self.tops_per_middle]);
        let lower = product(&[self.pods, self.bottoms, self.middles, self.bundles[0]]);
        let upper = product(&[self.pods, self.middles, self.tops_per_middle, self.bundles[1]]);
        check.size(sum(&[hosts, bottoms, middles, tops]), sum(&[hosts, lower, upper]))
    }
}
