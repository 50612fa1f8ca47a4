use proptest::prelude::*;

use super::super::*;
use super::{Ways, check_single, degrees, flow, named};
use crate::fabric::Summary;
use crate::units::Bytes;

fn bisection(fabric: &crate::fabric::Fabric) -> Option<Rate> {
    Summary::new(fabric, Bytes(1000)).bisection
}

proptest! {
    #[test]
    fn stars_and_dumbbells(left in 1u32..20, right in 1u32..20) {
        let star = Star::new(left + right).build().unwrap();
        check_single(&star);
        prop_assert_eq!(degrees(&star, "s"), [(left + right) as usize]);
        let dumbbell = Dumbbell::new(left, right).build().unwrap();
        check_single(&dumbbell);
        prop_assert_eq!(dumbbell.hosts().len(), (left + right) as usize);
        let ports = dumbbell.switches().map(|switch| dumbbell.ports_of(switch).len() as u32).collect::<Vec<_>>();
        prop_assert_eq!(ports, [left + 1, right + 1]);
        prop_assert_eq!(Ways::new(&dumbbell).diameter(), 3);
    }

    #[test]
    fn leaf_spines(leaves in 2u32..6, spines in 1u32..6, hosts in 1u32..6, parallel in 1u32..4) {
        let mut spec = LeafSpine::new(leaves, spines, hosts);
        spec.uplinks_per_pair = parallel;
        let fabric = spec.build().unwrap();
        check_single(&fabric);
        prop_assert_eq!(fabric.hosts().len() as u32, leaves * hosts);
        prop_assert_eq!(degrees(&fabric, "leaf"), [(hosts + spines * parallel) as usize]);
        prop_assert_eq!(degrees(&fabric, "spine"), [(leaves * parallel) as usize]);
        let ways = Ways::new(&fabric);
        prop_assert_eq!(ways.paths(0, leaves * hosts - 1) as u32, spines * parallel * parallel);
        prop_assert_eq!(ways.diameter(), 4);
    }

    #[test]
    fn fat_trees(half in 1u32..5, more in 0u32..4) {
        let mut spec = FatTree::new(2 * half);
        spec.hosts_per_edge = (more > 0).then_some(half + more);
        let fabric = spec.build().unwrap();
        check_single(&fabric);
        let hosts = 2 * half * half * (half + more);
        prop_assert_eq!(fabric.hosts().len() as u32, hosts);
        prop_assert_eq!(fabric.links().len() as u32, hosts + 4 * half * half * half);
        prop_assert_eq!(fabric.switches().count() as u32, 5 * half * half);
        prop_assert_eq!(degrees(&fabric, "edge"), [(2 * half + more) as usize]);
        for name in ["agg", "core"] {
            prop_assert_eq!(degrees(&fabric, name), [2 * half as usize]);
        }
        let ways = Ways::new(&fabric);
        prop_assert_eq!(ways.paths(0, hosts - 1) as u32, half * half);
        if half > 1 {
            prop_assert_eq!(ways.paths(0, 1), 1);
            prop_assert_eq!(ways.paths(0, half + more) as u32, half);
        }
        prop_assert_eq!(ways.diameter(), 6);
    }

    #[test]
    fn clos_without_oversubscription(half in 2u32..7, tiers in 2u32..4, missing in 0u32..2) {
        let radix = 2 * half;
        prop_assume!(tiers == 2 || half < 4);
        let mut spec = Clos::new(tiers, radix);
        spec.pods = (missing > 0).then_some(radix - missing);
        let fabric = spec.build().unwrap();
        check_single(&fabric);
        let pods = (radix - missing) as usize;
        let (half, three) = (half as usize, tiers == 3);
        let leaves = if three { pods * half } else { pods };
        prop_assert_eq!(fabric.hosts().len(), leaves * half);
        prop_assert_eq!(named(&fabric, "leaf").len(), leaves);
        prop_assert_eq!(named(&fabric, "spine").len(), if three { pods * half } else { half });
        prop_assert_eq!(named(&fabric, "core").len(), if three { half * half } else { 0 });
        prop_assert_eq!(degrees(&fabric, "leaf"), [2 * half]);
        prop_assert_eq!(degrees(&fabric, "spine"), [if three { 2 * half } else { pods }]);
        let ways = Ways::new(&fabric);
        if pods > 1 {
            let last = fabric.hosts().len() as u32 - 1;
            prop_assert_eq!(ways.paths(0, last), if three { half * half } else { half });
            prop_assert_eq!(ways.diameter(), if three { 6 } else { 4 });
        }
    }
}

#[test]
fn the_hpcc_tree_has_four_and_sixteen_paths() {
    let fabric = HpccFatTree::default().build().unwrap();
    check_single(&fabric);
    let ways = Ways::new(&fabric);
    assert_eq!([1, 16, 64, 319].map(|to| ways.paths(0, to)), [1, 4, 16, 16]);
    assert_eq!(["tor", "agg", "core"].map(|name| degrees(&fabric, name)), [[20], [8], [5]]);
}

#[test]
fn trees_have_full_bisection() {
    for k in [2, 4, 6, 8] {
        let fabric = FatTree::new(k).build().unwrap();
        let full = Rate::gbps(100 * fabric.hosts().len() as u64 / 2);
        assert_eq!((flow::halves(&fabric), bisection(&fabric)), (full, Some(full)), "k = {k}");
        let cores: usize = named(&fabric, "core").into_iter().map(|core| fabric.ports_of(core).len()).sum();
        assert_eq!(full, Rate::gbps(100 * cores as u64 / 2));
    }
    for (tiers, radix) in [(2, 4), (2, 8), (3, 4), (3, 6)] {
        let fabric = Clos::new(tiers, radix).build().unwrap();
        let full = Rate::gbps(100 * fabric.hosts().len() as u64 / 2);
        assert_eq!((flow::halves(&fabric), bisection(&fabric)), (full, Some(full)), "{tiers} {radix}");
    }
}

#[test]
fn oversubscription_is_what_was_asked_for() {
    let clos = |tiers, radix, leaf, spine| {
        let mut spec = Clos::new(tiers, radix);
        (spec.leaf_oversubscription, spec.spine_oversubscription) = (leaf, spine);
        spec
    };
    for (spec, over) in [(clos(2, 8, 3.0, 1.0), 3), (clos(3, 4, 3.0, 1.0), 3), (clos(3, 4, 3.0, 3.0), 9)] {
        let fabric = spec.build().unwrap();
        check_single(&fabric);
        let half = Rate::gbps(100 * fabric.hosts().len() as u64 / 2 / over);
        assert_eq!((flow::halves(&fabric), bisection(&fabric)), (half, Some(half)), "{spec:?}");
        let tiers = Summary::new(&fabric, Bytes(1000)).tiers;
        assert_eq!(tiers[0].oversubscription, Some(spec.leaf_oversubscription));
        assert!(spec.tiers == 2 || tiers[1].oversubscription == Some(spec.spine_oversubscription));
    }
    let mut tree = FatTree::new(4);
    tree.hosts_per_edge = Some(6);
    let fabric = tree.build().unwrap();
    assert_eq!((flow::halves(&fabric), fabric.hosts().len()), (Rate::gbps(800), 48));
}

#[test]
fn tiers_have_their_own_rates_and_delays() {
    let mut spec = FatTree::new(4);
    (spec.fabric_rate, spec.core_rate) = (Rate::gbps(200), Some(Rate::gbps(400)));
    (spec.host_delay, spec.core_delay) = (Some(Time::ns(10)), Some(Time::us(5)));
    let expected = [(Rate::gbps(100), Time::ns(10)), (Rate::gbps(200), Time::us(1)), (Rate::gbps(400), Time::us(5))];
    let fabric = spec.build().unwrap();
    assert_eq!([0, 16, 32].map(|link| (fabric.links()[link].rate, fabric.links()[link].delay)), expected);
    let mut spec = Clos::new(3, 12);
    (spec.fabric_rate, spec.core_rate) = (Rate::gbps(200), Some(Rate::gbps(400)));
    (spec.host_delay, spec.core_delay) = (Some(Time::ns(10)), Some(Time::us(5)));
    let fabric = spec.build().unwrap();
    assert_eq!((fabric.hosts().len(), fabric.switches().count()), (12 * 8 * 8, 12 * 12 + 16));
    assert_eq!([0, 768, 1152].map(|link| (fabric.links()[link].rate, fabric.links()[link].delay)), expected);
}
