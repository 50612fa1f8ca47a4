//! Tenants on a small fabric: 4 servers of 4 slots, two in each rack.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::fabric::generators::LeafSpine;
use crate::fabric::{Fabric, HostId, Vms};
use crate::units::Rate;

pub(super) fn fabric() -> Fabric {
    let mut tree = LeafSpine::new(2, 1, 2);
    (tree.host_rate, tree.uplink_rate) = (Rate::gbps(1), Rate::gbps(1));
    tree.build().unwrap().with_vms(&Vms::new(4)).unwrap()
}

pub(super) fn spec(json: &str) -> TenantSpec {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

pub(super) fn placed(json: &[&str], seed: u64) -> Result<Tenancy, TenantError> {
    let specs: Vec<TenantSpec> = json.iter().map(|json| spec(json)).collect();
    place(&specs, &fabric(), &Vms::new(4), Path::new("."), seed)
}

fn hosts(tenant: &Tenant) -> Vec<u32> {
    tenant.vms.iter().map(|vm| vm.host.0).collect()
}

fn why(json: &[&str]) -> String {
    placed(json, 1).unwrap_err().to_string()
}

#[test]
fn every_tenant_has_slots_of_its_own() {
    let many = r#"{"name": "a", "vms": {"from": 2, "to": 4}, "count": 3, "guarantee": "10Mbps", "mappers": 0.5}"#;
    for seed in 0..50 {
        let all = placed(&[many, r#"{"name": "b", "vms": 3}"#], seed).unwrap();
        let names: Vec<(&str, &str)> =
            all.tenants().iter().map(|one| (one.name.as_str(), one.group.as_str())).collect();
        assert_eq!(names, [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b", "b")]);
        let slots: Vec<u32> = all.tenants().iter().flat_map(hosts).collect();
        assert_eq!(slots.iter().collect::<BTreeSet<_>>().len(), slots.len());
        for (number, tenant) in all.tenants().iter().enumerate() {
            for (own, vm) in tenant.vms.iter().enumerate() {
                assert_eq!(all.of_host(vm.host), Some((number, own)));
            }
        }
        assert_eq!((0..16).filter(|&host| all.tenant_of(HostId(host)).is_none()).count(), 16 - slots.len());
        assert_eq!(all.hose(all.tenants()[0].vms[0].host), (Rate::mbps(10), Rate::mbps(10)));
        assert_eq!(all.hose(all.tenants()[3].vms[0].host), (Rate::ZERO, Rate::ZERO));
        assert_eq!(all.of_host(HostId(99)), None);
        assert!(all.guarantees());
    }
}

#[test]
fn later_tenants_change_none_before() {
    let first = r#"{"name": "a", "vms": {"from": 2, "to": 4}, "count": 2}"#;
    let alone = placed(&[first], 7).unwrap();
    let more = placed(&[first, r#"{"name": "b", "vms": 5}"#], 7).unwrap();
    assert_eq!(alone.tenants(), &more.tenants()[..2]);
    let three = placed(&[&first.replace("\"count\": 2", "\"count\": 3")], 7).unwrap();
    assert_eq!(alone.tenants(), &three.tenants()[..2]);
    assert_ne!(alone.tenants(), placed(&[first], 8).unwrap().tenants());
}

#[test]
fn sizes_are_uniform_in_their_range() {
    let mut counts = [0u32; 6];
    for seed in 0..5000 {
        let all = placed(&[r#"{"name": "a", "vms": {"from": 2, "to": 5}}"#], seed).unwrap();
        counts[all.tenants()[0].vms.len()] += 1;
    }
    // 1250 each, with a standard deviation of 31.
    assert!(counts[..2] == [0, 0] && counts[2..].iter().all(|count| count.abs_diff(1250) < 150), "{counts:?}");
}

#[test]
fn tenants_fill_a_share_of_what_is_free() {
    for seed in 0..200 {
        let all = placed(&[r#"{"name": "a", "vms": {"from": 2, "to": 6}, "fill": 1.0}"#], seed).unwrap();
        let taken: usize = all.tenants().iter().map(|tenant| tenant.vms.len()).sum();
        assert!((15..=16).contains(&taken), "one slot is no tenant's at most: {taken}");
        assert_eq!(all.tenants()[0].name, "a1");
    }
    let light = r#"{"name": "b", "vms": {"from": 2, "to": 6}, "fill": 0.5}"#;
    let all = placed(&[r#"{"name": "a", "vms": 8}"#, light], 3).unwrap();
    let taken: usize = all.tenants()[1..].iter().map(|tenant| tenant.vms.len()).sum();
    assert!((3..=4).contains(&taken), "half of the 8 that are left: {taken}");
    assert_eq!(
        why(&[&light.replace("0.5", "0.1").replace("\"from\": 2", "\"from\": 4")]),
        "tenant[0].fill = 0.1: must be room for one tenant at least: this is 1 of 16 free VM slots, it has 4 to 6 VMs"
    );
}

#[test]
fn mappers_are_a_share_rounded_up() {
    let mappers = |share: f64, vms: u32| {
        let all = placed(&[&format!(r#"{{"name": "a", "vms": {vms}, "mappers": {share}}}"#)], 1).unwrap();
        let vms = &all.tenants()[0].vms;
        let count = vms.iter().filter(|vm| vm.mapper).count();
        assert!(vms[..count].iter().all(|vm| vm.mapper), "the first ones");
        count
    };
    assert_eq!(
        [mappers(0.5, 2), mappers(0.5, 5), mappers(0.1, 10), mappers(0.3, 10), mappers(0.99, 3)],
        [1, 3, 1, 3, 2]
    );
}

#[test]
fn unbalanced_from_both_corners() {
    let one = r#"{"name": "a", "vms": 5, "mappers": 0.5, "placement": "unbalanced", "count": 2}"#;
    let all = placed(&[one], 1).unwrap();
    assert_eq!(hosts(&all.tenants()[0]), [0, 1, 2, 15, 14]);
    assert_eq!(hosts(&all.tenants()[1]), [3, 4, 5, 13, 12]);
    assert_eq!(
        why(&[r#"{"name": "a", "vms": 5, "placement": "unbalanced"}"#]),
        "tenant[0].placement = unbalanced: must be another one for a tenant without `mappers`, of which it places some here, the \
         rest there"
    );
}

#[test]
fn slots_by_name() {
    let all = placed(&[r#"{"name": "a", "vms": 2, "placement": {"slots": ["h3.1", "h0.0"]}}"#], 1).unwrap();
    assert_eq!(hosts(&all.tenants()[0]), [13, 0]);
    let slots = |slots: &str| {
        let first = r#"{"name": "z", "vms": 2, "placement": {"slots": ["h1.0", "h1.1"]}}"#;
        let vms = slots.split(',').count();
        why(&[first, &format!(r#"{{"name": "a", "vms": {vms}, "placement": {{"slots": {slots}}}}}"#)])
    };
    let known = "the name of a VM slot: a server's, and a number from 0, such as h0.0";
    let said = slots(r#"["h0.0", "h0.7"]"#);
    assert!(
        said.starts_with(&format!("tenant[1].placement.slots[1] = h0.7: must be {known}; did you mean `h0.")),
        "{said}"
    );
    assert_eq!(slots(r#"["h0.0", "h1.1"]"#), "tenant[1].placement.slots[1] = h1.1: must be a free slot: z has it");
    assert!(slots(r#"["h0.0", "h0.0"]"#).ends_with("slots[1] = h0.0: must be a slot that is not in the list yet"));
    assert_eq!(
        why(&[r#"{"name": "a", "vms": 3, "placement": {"slots": ["h0.0"]}}"#]),
        "tenant[0].placement.slots = 1 slots: must be one for each of its 3 VMs"
    );
    let two = r#"{"name": "a", "vms": 2, "count": 2, "placement": {"slots": ["h0.0", "h0.1"]}}"#;
    assert!(why(&[two]).starts_with("tenant[0].placement = slots: must be another one for several tenants"));
}

#[test]
fn bad_tenants_are_named() {
    let least = "must be at least 2 VMs: a tenant with one has nobody to send to";
    assert_eq!(why(&[r#"{"name": "a", "vms": 1}"#]), format!("tenant[0].vms = 1: {least}"));
    assert_eq!(why(&[r#"{"name": "a", "vms": {"from": 1, "to": 3}}"#]), format!("tenant[0].vms.from = 1: {least}"));
    assert_eq!(
        why(&[r#"{"name": "a", "vms": {"from": 4, "to": 3}}"#]),
        "tenant[0].vms.to = 3: must be at least from, 4"
    );
    assert_eq!(
        why(&[r#"{"name": "a", "vms": 9, "count": 2}"#]),
        "tenant[0].vms = 9: must be at most 7, the VM slots that a2 finds free; there are 16 in all"
    );
    assert_eq!(
        why(&[r#"{"name": "a", "vms": 2}"#, r#"{"name": "a", "vms": 2}"#]),
        "tenant[1].name = a: must be a name of its own: another tenant has this one"
    );
    assert!(
        why(&[r#"{"name": "a", "vms": 2, "count": 1}"#, r#"{"name": "a1", "vms": 2}"#])
            .starts_with("tenant[1].name = a1")
    );
    assert!(
        why(&[r#"{"name": "a,b", "vms": 2}"#]).starts_with("tenant[0].name = \"a,b\": must be a name without commas")
    );
    assert!(why(&[r#"{"name": "a", "vms": 2, "count": 0}"#]).ends_with("count = 0: must be at least 1"));
    assert!(why(&[r#"{"name": "a", "vms": 2, "count": 2, "fill": 0.5}"#]).contains("fill = 0.5: must be left out"));
    for fill in ["0", "1.1", "-1"] {
        let json = format!(r#"{{"name": "a", "vms": 2, "fill": {fill}}}"#);
        assert!(why(&[&json]).contains(&format!("tenant[0].fill = {fill}: must be a share of the free VM slots")));
    }
    for share in ["0", "1", "-1"] {
        let json = format!(r#"{{"name": "a", "vms": 2, "mappers": {share}}}"#);
        assert!(why(&[&json]).contains(&format!("tenant[0].mappers = {share}: must be a share of its VMs")));
    }
}

#[test]
fn guarantees_fit_the_vms_own_links() {
    let guarantee = |rate: &str| placed(&[&format!(r#"{{"name": "a", "vms": 2, "guarantee": {rate}}}"#)], 1);
    assert!(guarantee("\"900Mbps\"").is_ok());
    assert_eq!(
        guarantee("\"901Mbps\"").unwrap_err().to_string(),
        "tenant[0].guarantee = 901Mbps: must be at most 900Mbps: the fastest NIC has 1Gbps, 0.1 of it headroom"
    );
    let one_way = guarantee(r#"{"send": "1Mbps", "receive": "9.5Gbps"}"#).unwrap_err().to_string();
    assert!(
        one_way.contains("1Mbps sent, 9.5Gbps received: must be at most 9Gbps: the VM's virtual link"),
        "{one_way}"
    );
}
