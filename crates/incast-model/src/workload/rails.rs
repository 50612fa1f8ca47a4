//! Rings with rail alignment, as alternating rings of NCCL 2.20 (`ncclTopoPostset`): hops between servers stay on a rail.

use super::entry::Entry;
use crate::entry::EntryError;
use crate::fabric::HostId;

/// One ring for each GPU of a server, as ranks in order; `hosts` by rank, sorted.
pub(super) fn rings(hosts: &[HostId], entry: &Entry<'_>) -> Result<Vec<Vec<usize>>, EntryError> {
    let refuse =
        |value: String, allowed: &str| Err(entry.refuse("ranks", value, format!("{allowed}, for order rails")));
    let gpus = entry.members.fabric.gpus();
    if gpus == 0 {
        return refuse("hosts".into(), "GPUs of a fabric rail_optimized");
    }
    let servers: Vec<&[HostId]> = hosts.chunk_by(|a, b| a.0 / gpus == b.0 / gpus).collect();
    let rails = |server: &[HostId]| server.iter().map(|host| host.0 % gpus).collect::<Vec<u32>>();
    if servers.iter().any(|server| rails(server) != rails(servers[0])) {
        return refuse(format!("{} hosts", hosts.len()), "the same GPUs of every server");
    }
    let (count, width) = (servers.len(), servers[0].len());
    let entries = entries(count);
    if count > 1 && width == 2 && entries.contains(&2) {
        return refuse(format!("{count} servers of 2 GPUs"), "an even number of servers, or 3 GPUs or more of each");
    }
    let ring = |ring: usize| {
        let rail = |server: usize| (ring + entries[server % count]) % width;
        let through = |server| around(width, rail(server), rail(server + 1)).map(move |gpu| server * width + gpu);
        (0..count).flat_map(through).collect()
    };
    Ok((0..width).map(ring).collect())
}

/// Rail on which ring 0 enters each server. Neighbours differ, the last and the first too.
fn entries(servers: usize) -> Vec<usize> {
    let odd = servers % 2 == 1;
    (0..servers).map(|server| if odd && server + 1 == servers { 2 } else { server % 2 }).collect()
}

/// All GPUs of a server, from `enter` downwards, `leave` last.
fn around(width: usize, enter: usize, leave: usize) -> impl Iterator<Item = usize> {
    let down = (0..width).map(move |step| (enter + width - step) % width);
    let last = (leave != enter).then_some(leave);
    down.filter(move |&gpu| Some(gpu) != last).chain(last)
}

#[cfg(test)]
mod tests {
    use super::super::collective::tests::sent;
    use super::super::testing::{flows, pattern, refused, star};
    use crate::fabric::generators::RailOptimized;
    use crate::flow::FlowSet;
    use crate::units::Rate;

    fn made(servers: u32, gpus_per_server: u32, rest: &str) -> FlowSet {
        let fabric = RailOptimized { gpus_per_server, ..RailOptimized::new(servers, 1) }.build().unwrap();
        let json = format!(r#"{{"size": "960kB", "ranks": {{"order": "rails"{rest}}}}}"#);
        flows(&fabric, &pattern("ring_all_reduce", &json), 1)
    }

    /// Follows the hops of the first step of a ring of `n` ranks.
    fn ring(set: &FlowSet, number: usize, n: usize) -> Vec<u32> {
        let steps = 2 * (n - 1);
        let first = number * steps * n;
        set.flows[first..first + n].iter().map(|flow| flow.src.0).collect()
    }

    #[test]
    fn rings_alternate_between_two_rails() {
        // Ring 0 joins GPUs 1 of the servers, and GPUs 0 on its way back.
        let set = made(2, 8, "");
        assert_eq!(ring(&set, 0, 16), [0, 7, 6, 5, 4, 3, 2, 1, 9, 15, 14, 13, 12, 11, 10, 8]);
        assert_eq!(ring(&set, 1, 16), [1, 0, 7, 6, 5, 4, 3, 2, 10, 8, 15, 14, 13, 12, 11, 9]);
    }

    #[test]
    fn no_hop_crosses_rails_and_nics_share_the_data() {
        for (servers, gpus) in [(1, 4), (2, 1), (3, 1), (2, 2), (4, 2), (3, 3), (4, 4), (5, 4), (6, 8)] {
            let set = made(servers, gpus, "");
            let n = u64::from(servers * gpus);
            let mut nics = vec![0; n as usize];
            for flow in &set.flows {
                let (src, dst) = (flow.src.0, flow.dst.0);
                let inside = src / gpus == dst / gpus;
                assert!(inside || src % gpus == dst % gpus, "{servers} x {gpus}: {src} to {dst}");
                nics[flow.src.index()] += if inside { 0 } else { flow.size.0 };
            }
            assert_eq!(set.bytes().0, 2 * (n - 1) * 960_000);
            assert_eq!(set.flows.len() as u64, u64::from(gpus) * 2 * (n - 1) * n);
            // 2 (n - 1) / n of a ring's data, by one ring; a segment is rounded by a byte.
            let all = 2 * (n - 1) * 960_000 / n;
            let each = if servers > 1 { all / u64::from(gpus) } else { 0 };
            assert!(nics.iter().all(|&bytes| bytes.abs_diff(each) <= 2 * n), "{servers} x {gpus}: {nics:?}");
            assert!(sent(&set, n as usize).iter().all(|&bytes| bytes.abs_diff(all) <= 2 * n * u64::from(gpus)));
        }
    }

    #[test]
    fn ranks_can_be_some_gpus_of_some_servers() {
        let set = made(4, 4, r#", "hosts": "5, 7, 13, 15""#);
        assert_eq!((ring(&set, 0, 4), ring(&set, 1, 4)), (vec![5, 7, 15, 13], vec![7, 5, 13, 15]));
    }

    #[test]
    fn bad_ranks_are_named() {
        let spec = |json: &str| pattern("ring_all_reduce", &format!(r#"{{"size": "1MB", "ranks": {json}}}"#));
        let fabric =
            |servers, gpus| RailOptimized { gpus_per_server: gpus, ..RailOptimized::new(servers, 1) }.build().unwrap();
        let why = |servers, gpus, json: &str| refused(&fabric(servers, gpus), &spec(json));
        assert_eq!(
            why(2, 4, r#"{"order": "rails", "count": 6}"#),
            "workload[0].ring_all_reduce.ranks = 6 hosts: must be the same GPUs of every server, for order rails"
        );
        assert_eq!(
            why(3, 2, r#"{"order": "rails"}"#),
            "workload[0].ring_all_reduce.ranks = 3 servers of 2 GPUs: must be an even number of servers, or 3 GPUs or \
                more of each, for order rails"
        );
        assert!(why(2, 4, r#"{"order": "rails", "list": [0, 1]}"#).contains("either list, or count, hosts and order"));
        let switch = star(4, Rate::gbps(100));
        assert_eq!(
            refused(&switch, &spec(r#"{"order": "rails"}"#)),
            "workload[0].ring_all_reduce.ranks = hosts: must be GPUs of a fabric rail_optimized, for order rails"
        );
        let tree = pattern("tree_all_reduce", r#"{"size": "1MB", "ranks": {"order": "rails"}}"#);
        assert_eq!(
            refused(&fabric(2, 4), &tree),
            "workload[0].tree_all_reduce.ranks.order = rails: must be host or random; rails is for ring_all_reduce"
        );
    }
}
