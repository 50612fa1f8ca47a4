use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::fabric::generators::{FatTree, LeafSpine};
use crate::fabric::{Fabric, PortId, Vms};
use crate::routing::{NextHopOrder, Routes};
use crate::units::Rate;

fn fabric(fat: bool) -> Fabric {
    let plain = if fat {
        FatTree::new(4).build()
    } else {
        let mut tree = LeafSpine::new(3, 1, 4);
        (tree.host_rate, tree.uplink_rate) = (Rate::gbps(1), Rate::gbps(2));
        tree.build()
    };
    plain.unwrap().with_vms(&vms()).unwrap()
}

fn vms() -> Vms {
    Vms { rate: Rate::gbps(100), ..Vms::new(4) }
}

prop_compose! {
    fn tenants()(
        placement in prop_oneof![Just("random"), Just("packed"), Just("unbalanced")],
        (from, more, mbps, fill) in (2u32..4, 0u32..8, 1u64..300, 0.3..1.0f64),
    ) -> TenantSpec {
        serde_json::from_str(&format!(
            r#"{{"name": "t", "vms": {{"from": {from}, "to": {}}}, "guarantee": "{mbps}Mbps", "fill": {fill},
                 "mappers": 0.5, "placement": "{placement}"}}"#, from + more
        )).unwrap()
    }
}

fn all_pairs(tenancy: &Tenancy) -> Vec<Pair> {
    let of = |tenant: &Tenant| {
        let hosts: Vec<_> = tenant.vms.iter().map(|vm| vm.host).collect();
        let pairs = hosts.iter().flat_map(|&src| hosts.iter().map(move |&dst| Pair::backlogged(src, dst)));
        pairs.filter(|pair| pair.src != pair.dst).collect::<Vec<_>>()
    };
    tenancy.tenants().iter().flat_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packed_tenants_are_admitted(spec in tenants(), seed: u64, fat: bool) {
        let fabric = fabric(fat);
        let packed = TenantSpec { placement: Placement::Packed, ..spec };
        let tenancy = place(&[packed], &fabric, &vms(), Path::new("."), seed);
        let tenancy = tenancy.unwrap_or_default();
        prop_assert_eq!(Admission::new(&fabric, &tenancy, 0.1).unwrap().check(&tenancy), Ok(()));
    }

    #[test]
    fn what_hoses_give_is_what_cuts_carry(spec in tenants(), seed: u64) {
        let fabric = fabric(false);
        let Ok(tenancy) = place(&[spec], &fabric, &vms(), Path::new("."), seed) else { return Ok(()) };
        let admission = Admission::new(&fabric, &tenancy, 0.1).unwrap();
        let (pairs, routes) = (all_pairs(&tenancy), Routes::shortest(&fabric, NextHopOrder::Port));
        let reserved = static_split(&tenancy, &pairs);
        let admitted = admission.check(&tenancy).is_ok();
        let mut carried = vec![0.0; fabric.ports().len()];
        for (pair, rate) in pairs.iter().zip(&reserved) {
            for (port, share) in optimum::over_links(&fabric, &routes, pair) {
                carried[port] += share * rate;
            }
        }
        for (port, carried) in (0..).map(PortId).zip(carried) {
            let ends = [fabric.port(port).node, fabric.neighbour(port)].map(|node| fabric.node(node));
            let up = ends[0].tier < ends[1].tier;
            let inside = if up { &ends[0].name } else { &ends[1].name };
            let cut = admission.cuts.iter().find(|cut| cut.name == *inside).unwrap();
            let (total, room) = (cut.reserved(up).total.0 as f64, admission.room(cut.capacity).0 as f64);
            let (from, to) = (&ends[0].name, &ends[1].name);
            prop_assert!(carried <= total * (1.0 + 1e-9) + 1.0, "{from} to {to}: {carried} of {total}");
            prop_assert!(!admitted || carried <= room * (1.0 + 1e-9) + 1.0, "{from} to {to}: {carried} of {room}");
        }
    }

    #[test]
    fn the_optimum_leaves_no_pair_without_a_full_link(spec in tenants(), seed: u64, fat: bool) {
        let fabric = fabric(fat);
        let Ok(tenancy) = place(&[spec], &fabric, &vms(), Path::new("."), seed) else { return Ok(()) };
        let (pairs, routes) = (all_pairs(&tenancy), Routes::shortest(&fabric, NextHopOrder::Port));
        let rates = optimum(&fabric, &routes, &pairs);
        let over: Vec<_> = pairs.iter().map(|pair| optimum::over_links(&fabric, &routes, pair)).collect();
        let mut left: Vec<f64> = (0..fabric.ports().len() as u32).map(|port| fabric.rate(PortId(port)).0 as f64).collect();
        for (links, rate) in over.iter().zip(&rates) {
            links.iter().for_each(|&(port, share)| left[port] -= share * rate);
        }
        prop_assert!(left.iter().all(|left| *left > -100.0));
        for links in over {
            prop_assert!(links.iter().any(|&(port, _)| left[port] < 100.0), "a pair could have more");
        }
    }
}
