use proptest::prelude::*;

use super::super::*;
use super::{Ways, check, check_single, degrees, flow, named};
use crate::fabric::{BaseRtts, HostId, Summary};
use crate::units::Bytes;

fn rails(servers: u32, spines: u32) -> RailOptimized {
    RailOptimized { gpus_per_server: 4, ..RailOptimized::new(servers, spines) }
}

fn nics_only(servers: u32, spines: u32) -> RailOptimized {
    RailOptimized { nvlink: None, ..rails(servers, spines) }
}

proptest! {
    #[test]
    fn rail_optimized(pods in 1u32..4, per_pod in 1u32..5, gpus in 1u32..5, spines in 1u32..4, parallel in 1u32..3) {
        prop_assume!(pods * per_pod * gpus > 1);
        let spec = RailOptimized {
            gpus_per_server: gpus,
            servers_per_pod: Some(per_pod),
            uplinks_per_pair: parallel,
            nvlink: None,
            ..RailOptimized::new(pods * per_pod, spines)
        };
        let fabric = spec.build().unwrap();
        check_single(&fabric);
        let (hosts, switches) = (pods * per_pod * gpus, pods * gpus);
        prop_assert_eq!(fabric.hosts().len() as u32, hosts);
        prop_assert_eq!(fabric.links().len() as u32, hosts + switches * spines * parallel);
        prop_assert_eq!(named(&fabric, "rail").len() as u32, switches);
        prop_assert_eq!(degrees(&fabric, "rail"), [(per_pod + spines * parallel) as usize]);
        prop_assert_eq!(degrees(&fabric, "spine"), [(switches * parallel) as usize]);
        let ways = Ways::new(&fabric);
        for host in 1..hosts {
            let same = host % gpus == 0 && host / gpus < per_pod;
            prop_assert_eq!(ways.links(0, host), if same { 2 } else { 4 });
            prop_assert_eq!(ways.paths(0, host) as u32, if same { 1 } else { spines * parallel * parallel });
        }
    }
}

#[test]
fn gpus_take_nvlink_within_a_server_and_rails_without() {
    let mut spec = rails(6, 2);
    spec.servers_per_pod = Some(3);
    let fabric = spec.build().unwrap();
    check(&fabric);
    let ways = Ways::new(&fabric);
    assert_eq!(ways.first(4, 7), ["h4", "nvlink1", "h7"]);
    assert_eq!(ways.first(4, 8), ["h4", "rail0", "h8"]);
    assert_eq!(ways.first(4, 9), ["h4", "rail0", "spine0", "rail1", "h9"]);
    assert_eq!(ways.first(4, 12), ["h4", "rail0", "spine0", "rail4", "h12"]);
    assert_eq!((ways.paths(4, 7), ways.paths(4, 8), ways.paths(4, 9), ways.paths(4, 12)), (1, 1, 2, 2));
    let rtts = BaseRtts::new(&fabric, Bytes(1000));
    assert_eq!(rtts.pair(HostId(4), HostId(7)).bottleneck, Rate::gbps(3600));
    assert_eq!(rtts.pair(HostId(4), HostId(8)).bottleneck, Rate::gbps(400));
    assert!(fabric.hosts().iter().all(|&host| fabric.rate(fabric.ports_of(host).next().unwrap()) == Rate::gbps(400)));
    let summary = Summary::new(&fabric, Bytes(1000));
    assert_eq!((summary.bisection, summary.tiers[1].oversubscription), (None, Some(1.5)));
}

#[test]
fn gpus_that_forward_reach_every_rail_over_nvlink() {
    let mut spec = rails(3, 0);
    spec.nvlink = Some(NvLink { forward: true, ..NvLink::default() });
    let fabric = spec.build().unwrap();
    check_single(&fabric);
    let ways = Ways::new(&fabric);
    assert_eq!(ways.first(4, 7), ["h4", "gpu4", "nvlink1", "gpu7", "h7"]);
    assert_eq!(ways.first(4, 8), ["h4", "gpu4", "rail0", "gpu8", "h8"]);
    // NVLink before or after the rail.
    assert_eq!((ways.links(4, 9), ways.paths(4, 9)), (6, 2));
    assert_eq!(ways.diameter(), 6);
    // Two NVLink paths and one per spine.
    let ways = RailOptimized { spines: 2, ..spec }.build().unwrap();
    assert_eq!(Ways::new(&ways).paths(4, 9), 4);
}

#[test]
fn rails_carry_what_the_nics_can() {
    let fabric = RailOptimized { servers_per_pod: Some(2), ..nics_only(4, 2) }.build().unwrap();
    assert_eq!(flow::halves(&fabric), Rate::gbps(8 * 400));
    assert_eq!(Summary::new(&fabric, Bytes(1000)).bisection, Some(Rate::gbps(8 * 400)));
}

#[test]
fn nvlink_is_the_default_and_none_is_said() {
    let read = |json: &str| serde_json::from_str::<RailOptimized>(&format!(r#"{{"servers": 2, "spines": 1{json}}}"#));
    assert_eq!(read("").unwrap(), RailOptimized::new(2, 1));
    let fabric = read("").unwrap().build().unwrap();
    assert_eq!(Ways::new(&fabric).first(0, 1), ["h0", "nvlink0", "h1"]);
    let without = read(r#", "nvlink": "none""#).unwrap();
    assert_eq!(Ways::new(&without.build().unwrap()).first(0, 1), ["h0", "rail0", "spine0", "rail1", "h1"]);
    // The default differs.
    assert!(serde_json::to_value(&without).unwrap()["nvlink"].is_null());
    let forward = read(r#", "nvlink": {"forward": true}"#).unwrap().nvlink.unwrap();
    assert_eq!(forward, NvLink { forward: true, ..NvLink::default() });
    let why = |value: &str| read(&format!(r#", "nvlink": {value}"#)).unwrap_err().to_string();
    assert!(
        why(r#""off""#).starts_with("unknown variant `off`, expected one of `none`, `a table"),
        "{}",
        why(r#""off""#)
    );
    for (value, found) in [("false", "boolean `false`"), ("[]", "sequence")] {
        let expected = format!("{found}, expected a table such as {{ rate = \"3600Gbps\" }}, or \"none\"");
        assert!(why(value).contains(&expected), "{}", why(value));
    }
    assert!(why(r#"{"speed": "1Gbps"}"#).contains("unknown field `speed`, expected one of `rate`"));
    let single = RailOptimized { gpus_per_server: 1, ..RailOptimized::new(3, 0) };
    let without = RailOptimized { nvlink: None, ..single.clone() };
    assert_eq!(single.build().unwrap(), without.build().unwrap());
}

#[test]
fn rails_that_nothing_joins_are_refused() {
    let why = |spec: &RailOptimized| spec.build().unwrap_err().to_string();
    let mut spec = nics_only(4, 0);
    let alone = "rail_optimized.spines = 0: must be 1 or more; 0 needs one pod of servers and nvlink.forward, which \
        then joins the rails";
    assert_eq!(why(&spec), alone);
    spec.nvlink = Some(NvLink::default());
    assert_eq!(why(&spec), alone);
    spec.nvlink = Some(NvLink { forward: true, ..NvLink::default() });
    spec.servers_per_pod = Some(2);
    assert_eq!(why(&spec), alone);
    spec.servers_per_pod = Some(3);
    assert_eq!(why(&spec), "rail_optimized.servers_per_pod = 3: must be a divisor of 4 servers");
    spec.nvlink = Some(NvLink { rate: Rate::ZERO, ..NvLink::default() });
    (spec.servers_per_pod, spec.spines) = (None, 1);
    assert_eq!(why(&spec), "rail_optimized.nvlink.rate = 0bps: must be more than 0bps");
}
