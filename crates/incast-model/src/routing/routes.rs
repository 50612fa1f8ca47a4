use std::sync::Arc;

use super::links::Links;
use super::order::NextHopOrder;
use super::paths::Paths;
use super::table::{Group, Table};
use crate::fabric::{Ends, Fabric, HostId, LinkId, NodeId, PortId};

/// Equal-cost next hops of every node towards every host.
///
/// Single-homed hosts of a switch share routes: a table of 72 switches and 1,152 hosts stays in cache. Hosts with one link need
/// no row, if numbered first.
#[derive(Debug, Clone)]
pub struct Routes {
    paths: Paths,
    classes: usize,
    class_of_host: Vec<u32>,
    /// By single-homed host: its switch, and the switch's port.
    last_hop: Vec<(NodeId, PortId)>,
    /// Port of each of the first nodes, while those are hosts with one link.
    alone: Vec<PortId>,
    /// `groups[(node - alone) * classes + class]` is a range of `hops`.
    groups: Vec<Group>,
    hops: Vec<PortId>,
}

/// Next hops set by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedHops {
    /// Node with these next hops.
    pub node: NodeId,
    /// Destination.
    pub dst: HostId,
    /// Ports; down links are skipped. Without any, the shortest paths apply.
    pub ports: Vec<PortId>,
}

impl Routes {
    /// Paths over all links, kept with the fabric.
    pub fn of(fabric: &Fabric, paths: Paths, order: NextHopOrder) -> Arc<Self> {
        let find = || Arc::new(Self::along(fabric, paths, order, &|_| true, &[]));
        fabric.derived.or_find((paths, order), find)
    }

    /// Shortest paths between hosts, which never forward.
    pub fn shortest(fabric: &Fabric, order: NextHopOrder) -> Self {
        Self::around(fabric, order, &|_| true, &[])
    }

    /// Shortest paths over `up` links; `fixed` next hops override them.
    pub fn around(fabric: &Fabric, order: NextHopOrder, up: &dyn Fn(LinkId) -> bool, fixed: &[FixedHops]) -> Self {
        Self::along(fabric, Paths::Shortest, order, up, fixed)
    }

    /// Paths of a kind over `up` links; `fixed` next hops override them.
    pub fn along(
        fabric: &Fabric,
        paths: Paths,
        order: NextHopOrder,
        up: &dyn Fn(LinkId) -> bool,
        fixed: &[FixedHops],
    ) -> Self {
        let up = |port: PortId| up(fabric.port(port).link);
        let mut pinned = vec![false; fabric.hosts().len()];
        for fixed in fixed {
            pinned[fixed.dst.index()] = true;
        }
        let Ends { targets, class_of_host, last_hop, alone } = Ends::new(fabric, &up, &|host| pinned[host.index()]);
        let links = Links::new(fabric, order, &up, alone.len());
        let Table { groups, hops } = Table::new(&links, &targets, alone.len(), paths);
        let mut routes = Self { paths, classes: targets.len(), class_of_host, last_hop, alone, groups, hops };
        for fixed in fixed {
            let mut hops: Vec<PortId> = fixed.ports.iter().copied().filter(|&port| up(port)).collect();
            if !hops.is_empty() {
                order.sort(fabric, &mut hops);
                let group = routes.group(fixed.node, fixed.dst);
                if let Some(group) = routes.groups.get_mut(group) {
                    *group = (routes.hops.len() as u32, hops.len() as u32);
                    routes.hops.extend(hops);
                }
            }
        }
        routes
    }

    /// Beyond all groups for hosts without a row.
    #[inline]
    fn group(&self, node: NodeId, dst: HostId) -> usize {
        // Nodes before the first row wrap around.
        let row = node.index().wrapping_sub(self.alone.len());
        row.wrapping_mul(self.classes).wrapping_add(self.class_of_host[dst.index()] as usize)
    }

    /// Class of hosts with equal next hops at every node but their switch.
    pub fn class(&self, dst: HostId) -> usize {
        self.class_of_host[dst.index()] as usize
    }

    /// Kind of paths, without fixed next hops.
    pub const fn paths(&self) -> Paths {
        self.paths
    }

    /// Two hosts without a path from the first to the second by first next hops, if any.
    pub fn unconnected(&self, fabric: &Fabric) -> Option<(HostId, HostId)> {
        // Only the last hop differs within a class.
        let mut one_of = vec![None; self.classes];
        for host in (0..fabric.hosts().len() as u32).map(HostId) {
            one_of[self.class(host)].get_or_insert(host);
        }
        let hosts = || one_of.iter().copied().flatten();
        let pairs = hosts().flat_map(|src| hosts().map(move |dst| (src, dst)));
        pairs.into_iter().find(|&(src, dst)| self.links_between(fabric, src, dst).is_none())
    }

    /// Next-hop groups of `node`, one per class; none for hosts without a row.
    pub fn groups_of(&self, node: NodeId) -> std::ops::Range<usize> {
        match node.index().checked_sub(self.alone.len()) {
            Some(row) => row * self.classes..(row + 1) * self.classes,
            None => 0..0,
        }
    }

    /// Number of links by first next hops; `None` without a path or in a loop.
    pub fn links_between(&self, fabric: &Fabric, src: HostId, dst: HostId) -> Option<usize> {
        let (mut node, end) = (fabric.hosts()[src.index()], fabric.hosts()[dst.index()]);
        let mut links = 0;
        while node != end {
            node = fabric.neighbour(*self.next_hops(node, dst).first()?);
            links += 1;
            if links > fabric.nodes().len() {
                return None;
            }
        }
        Some(links)
    }

    /// Ports of `node` on paths to `dst`, in the hash's order; empty without a path.
    #[inline]
    pub fn next_hops(&self, node: NodeId, dst: HostId) -> &[PortId] {
        let last = &self.last_hop[dst.index()];
        if last.0 == node {
            return std::slice::from_ref(&last.1);
        }
        match self.groups.get(self.group(node, dst)) {
            Some(&(first, count)) => &self.hops[first as usize..(first + count) as usize],
            None => std::slice::from_ref(&self.alone[node.index()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::FabricBuilder;
    use crate::units::{Rate, Time};

    fn next_hops(order: [&str; 7]) -> Vec<(String, String, Vec<String>)> {
        let mut builder = FabricBuilder::new();
        let nodes = order.map(|name| if name.starts_with('h') { builder.host(name) } else { builder.switch(name, 1) });
        let node = |name: &str| nodes[order.iter().position(|&other| other == name).unwrap()];
        for (a, b) in [("h0", "s0"), ("h1", "s0"), ("h2", "s1"), ("h3", "s0"), ("h3", "s1"), ("s0", "s2"), ("s1", "s2")]
        {
            builder.link(node(a), node(b), Rate::gbps(100), Time::us(1));
        }
        let fabric = builder.finish().unwrap();
        let routes = Routes::shortest(&fabric, NextHopOrder::Port);
        let name = |node: NodeId| fabric.node(node).name.clone();
        let mut all = Vec::new();
        for at in (0..7).map(NodeId) {
            for (dst, &host) in fabric.hosts().iter().enumerate().filter(|&(_, &host)| host != at) {
                let hops = routes.next_hops(at, HostId(dst as u32)).iter();
                all.push((name(at), name(host), hops.map(|&port| name(fabric.neighbour(port))).collect()));
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn next_hops_that_do_not_fit_are_refused() {
        let chain = |count: usize| {
            let mut builder = FabricBuilder::new();
            let hosts: Vec<NodeId> = (0..count).map(|host| builder.host(format!("h{host}"))).collect();
            let switches: Vec<NodeId> = (0..count).map(|switch| builder.switch(format!("s{switch}"), 1)).collect();
            let joined =
                switches.windows(2).map(|pair| (pair[0], pair[1])).chain(hosts.into_iter().zip(switches.clone()));
            let joined: Vec<_> = joined.collect();
            joined.into_iter().for_each(|(a, b)| {
                builder.link(a, b, Rate::gbps(100), Time::us(1));
            });
            builder.finish()
        };
        assert_eq!(chain(23_170).unwrap().size_of_routes(), (23_170, 23_170, 8 * 23_170 * 23_170));
        assert_eq!(
            chain(23_171).unwrap_err().to_string(),
            "the next hops of 23171 nodes towards 23171 destinations (switches with hosts, and hosts with several links) \
             would take 4.30 GB, at most 4.29 GB are possible: fewer of these are needed"
        );
    }

    #[test]
    fn next_hops_do_not_depend_on_which_nodes_come_first() {
        let usual = next_hops(["h0", "h1", "h2", "h3", "s0", "s1", "s2"]);
        assert!(usual.contains(&("h0".into(), "h1".into(), vec!["s0".into()])));
        assert!(usual.contains(&("s0".into(), "h2".into(), vec!["s2".into()])));
        assert!(usual.contains(&("h3".into(), "h2".into(), vec!["s1".into()])));
        assert_eq!(next_hops(["s0", "h0", "h1", "s1", "h2", "h3", "s2"]), usual);
        assert_eq!(next_hops(["h3", "h0", "h1", "h2", "s0", "s1", "s2"]), usual);
        assert_eq!(next_hops(["h0", "s2", "h1", "h2", "s0", "h3", "s1"]), usual);
    }
}
