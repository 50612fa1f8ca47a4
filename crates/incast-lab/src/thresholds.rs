//! Buffer and ECN thresholds of switch ports, per scheme.

use incast_model::fabric::{Fabric, NodeId};
use incast_sim::switch::{EcnThreshold, PfcMode, SwitchParams};
use incast_sim::{BufferPlan, PortPlan, Setup};
use serde::Serialize;

use crate::scenario::Prepared;

/// Thresholds under schemes that have equal ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchemeThresholds {
    /// Names of the schemes.
    pub schemes: Vec<String>,
    /// Switch parameters with defaults.
    pub switch: SwitchParams,
    /// Priorities that PFC pauses.
    pub paused: Vec<u8>,
    /// If true, switches mark with ECN.
    pub ecn: bool,
    /// Time of the marking decision, as in `ecn.mark_at`.
    pub mark_at: incast_sim::switch::MarkAt,
    /// Switches, grouped by equal ports.
    pub switches: Vec<SwitchThresholds>,
}

/// Thresholds of switches with equal ports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SwitchThresholds {
    /// Names of the switches.
    pub names: Vec<String>,
    /// Bytes of all headrooms.
    pub headroom: u64,
    /// Bytes of all reserves.
    pub reserved: u64,
    /// Bytes shared by the ports.
    pub shared: u64,
    /// Ports in order.
    pub ports: Vec<PortThresholds>,
}

/// Thresholds of one port.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PortThresholds {
    /// Rate in bit/s.
    pub rate: u64,
    /// One-way delay of the link in ps.
    pub delay: u64,
    /// Headroom of a lossless priority in bytes.
    pub headroom: u64,
    /// Share of the free buffer; `None`: a static threshold.
    pub alpha: Option<f64>,
    /// Static XOFF threshold in bytes above the reserve.
    pub xoff: Option<u64>,
    /// Kmin in bytes.
    pub kmin: u64,
    /// Kmax in bytes.
    pub kmax: u64,
    /// Pmax, 0 to 1.
    pub pmax: f64,
}

/// Returns the thresholds of all schemes, without switches inside servers and hypervisors.
pub fn thresholds(prepared: &Prepared) -> Vec<SchemeThresholds> {
    let mut all: Vec<SchemeThresholds> = Vec::new();
    for scheme in &prepared.schemes {
        let found = of_scheme(&prepared.fabric, &scheme.setup);
        let equal = |one: &&mut SchemeThresholds| SchemeThresholds { schemes: Vec::new(), ..(**one).clone() } == found;
        match all.iter_mut().find(equal) {
            Some(one) => one.schemes.push(scheme.name.clone()),
            None => all.push(SchemeThresholds { schemes: vec![scheme.name.clone()], ..found }),
        }
    }
    all
}

fn of_scheme(fabric: &Fabric, setup: &Setup) -> SchemeThresholds {
    let params = &setup.params;
    let paused = params.switch.paused_priorities();
    let mut switches: Vec<SwitchThresholds> = Vec::new();
    for switch in fabric.switches().filter(|&switch| is_physical(fabric, switch)) {
        let found = of_switch(fabric, setup, switch);
        let name = fabric.node(switch).name.clone();
        match switches.iter_mut().find(|one| one.ports == found.ports) {
            Some(one) => one.names.push(name),
            None => switches.push(SwitchThresholds { names: vec![name], ..found }),
        }
    }
    SchemeThresholds {
        schemes: Vec::new(),
        switch: params.switch.clone(),
        paused: (0..8).filter(|priority| paused >> priority & 1 != 0).collect(),
        ecn: params.ecn.enabled,
        mark_at: params.ecn.mark_at,
        switches,
    }
}

/// False for switches inside servers: those of GPUs, and those of VMs, which have no PFC.
pub(crate) fn is_physical(fabric: &Fabric, switch: NodeId) -> bool {
    !fabric.servers().contains(&switch) && !fabric.is_inside(switch)
}

fn of_switch(fabric: &Fabric, setup: &Setup, switch: NodeId) -> SwitchThresholds {
    let params = &setup.params;
    let largest = params.packets.largest(&setup.carriers);
    let plan = BufferPlan::new(fabric, params, largest, switch).expect("a checked setup has buffers that suffice");
    let xoff = match params.switch.pfc_mode {
        PfcMode::Static { xoff } => Some(xoff.0),
        PfcMode::Dynamic { .. } => None,
    };
    let of_port = |port: &PortPlan| {
        let EcnThreshold { rate, kmin, kmax, pmax } = params.ecn.at(fabric.rate(port.port));
        PortThresholds {
            rate: rate.0,
            delay: fabric.delay(port.port).0,
            headroom: port.headroom,
            alpha: port.alpha,
            xoff,
            kmin: kmin.0,
            kmax: kmax.0,
            pmax,
        }
    };
    SwitchThresholds {
        names: Vec::new(),
        headroom: plan.headroom,
        reserved: plan.reserved,
        shared: plan.shared,
        ports: plan.ports(fabric, params, largest, switch).iter().map(of_port).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::Loaded;

    #[test]
    fn equal_schemes_and_switches_are_grouped() {
        let text = r#"
fabric.leaf_spine = { leaves = 2, spines = 1, hosts_per_leaf = 2, uplink_rate = "400Gbps" }
[[workload]]
incast = { fan_in = 2, size = "1kB" }
[scheme.A]
control = "dcqcn"
[scheme.B]
control = "timely"
[scheme.C]
control = "dcqcn"
switch.headroom = "40kB"
"#;
        let prepared = Loaded::from_text("s", text, Path::new("."), &[]).unwrap().prepare().unwrap();
        let [both, own] = &thresholds(&prepared)[..] else { panic!() };
        assert_eq!((both.schemes.join(","), own.schemes.join(",")), ("A,B".into(), "C".into()));
        let names: Vec<String> = own.switches.iter().map(|one| one.names.join(",")).collect();
        assert_eq!(names, ["leaf0,leaf1", "spine0"]);
        let leaf = &own.switches[0];
        // Three ports with a headroom of 40 kB and a reserve of 4 KiB.
        assert_eq!((leaf.headroom, leaf.reserved, leaf.shared), (120_000, 12_288, (32 << 20) - 132_288));
        let uplink = &leaf.ports[2];
        // ECN: 400 kB and 1.6 MB at 100 Gb/s; alpha by rate: 1/8, doubled twice.
        assert_eq!((uplink.rate, uplink.delay), (400_000_000_000, 1_000_000));
        assert_eq!((uplink.headroom, uplink.alpha, uplink.xoff), (40_000, Some(0.5), None));
        assert_eq!((uplink.kmin, uplink.kmax, uplink.pmax), (1_600_000, 6_400_000, 0.2));
        assert_eq!((own.paused.as_slice(), own.ecn), (&[3][..], true));
    }

    #[test]
    fn switches_inside_servers_have_none() {
        let text = "[fabric.rail_optimized]\nservers = 2\ngpus_per_server = 2\nspines = 1\nnvlink = { forward = true }\n\
                    [[workload]]\npermutation.size = \"1kB\"\n[scheme.A]\ncontrol = \"dcqcn\"\n";
        let prepared = Loaded::from_text("s", text, Path::new("."), &[]).unwrap().prepare().unwrap();
        let names: Vec<String> = thresholds(&prepared)[0].switches.iter().map(|one| one.names.join(",")).collect();
        assert_eq!(names, ["rail0,rail1", "spine0"]);
    }
}
