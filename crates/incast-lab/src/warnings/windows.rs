//! Windows that are too small for the network.

use incast_model::fabric::Fabric;
use incast_model::flow::Flow;
use incast_model::units::{Bytes, ceil3};
use incast_sim::congestion::{Control, WindowMode};
use incast_sim::host::Recovery;
use incast_sim::transport::Transport;
use incast_sim::{Carrier, ControlSetup, Setup};

use crate::warning::{Warning, setting};

/// Smallest share of the bandwidth-delay product that is not reported (our choice). The product is for switches that store whole
/// packets; with cut-through it is smaller.
const ENOUGH: f64 = 0.5;

pub(super) fn found(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let of_hosts = of_rdma(fabric, setup).into_iter().chain(of_receivers(fabric, setup));
    of_hosts.chain(of_controls(fabric, setup)).chain(of_transports(fabric, setup)).collect()
}

/// Bytes of the largest flow that a control or transport carries.
fn largest(setup: &Setup, carrier: Carrier) -> u64 {
    let carries = |flow: &&Flow| setup.carriers[usize::from(flow.label)] == carrier;
    setup.flows.flows.iter().filter(carries).map(|flow| flow.size.0).max().unwrap_or(0)
}

fn of_rdma(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let window = setup.params.rdma.window?;
    let controls = setup.controls.iter().enumerate().filter(|(_, one)| one.window != WindowMode::Off);
    let largest = controls.map(|(number, _)| largest(setup, Carrier::Rdma(number))).max()?;
    if largest <= window.0 {
        return None;
    }
    let (_, bdp) = setup.params.longest_rtt(fabric, setup.params.packets.payload);
    let share = window.0 as f64 / bdp.0 as f64;
    let text = format!(
        "{window:#} are {:.2} % of the largest bandwidth-delay product, {bdp:#}: a flow alone reaches no more of its link's rate; \
         leave it out, or write {}",
        100.0 * share,
        setting("window", Bytes(ceil3(bdp.0)))
    );
    (share < ENOUGH).then(|| Warning::new("rdma.window", text))
}

/// Selective repeat: packets that a receiver keeps.
fn of_receivers(fabric: &Fabric, setup: &Setup) -> Option<Warning> {
    let (rdma, payload) = (&setup.params.rdma, setup.params.packets.payload);
    let kept = Bytes(rdma.most_kept(payload));
    let largest = (0..setup.controls.len()).map(|number| largest(setup, Carrier::Rdma(number))).max()?;
    if rdma.recovery != Recovery::SelectiveRepeat || largest <= kept.0 {
        return None;
    }
    let (_, bdp) = setup.params.longest_rtt(fabric, payload);
    let share = kept.0 as f64 / bdp.0 as f64;
    let text = format!(
        "a receiver keeps 65535 packets, {kept:#}: {:.0} % of the largest bandwidth-delay product, {bdp:#}; a flow alone reaches no \
         more of its link's rate; write a larger `packets.payload`, or {}",
        100.0 * share,
        setting("recovery", "go-back-n")
    );
    (share < ENOUGH).then(|| Warning::new("rdma.recovery", text))
}

/// Largest windows of controls.
fn of_controls(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let payload = setup.params.packets.payload;
    let of_control = |(number, one): (usize, &ControlSetup)| {
        let Control::Swift(swift) = &one.control else { return None };
        let window = swift.max_cwnd * payload.0 as f64;
        if largest(setup, Carrier::Rdma(number)) as f64 <= window {
            return None;
        }
        let (_, bdp) = setup.params.longest_rtt(fabric, payload);
        let share = window / bdp.0 as f64;
        let text = format!(
            "{} packets of a flow in flight are {:.0} % of the largest bandwidth-delay product, {bdp:#}: a flow alone reaches no \
             more of its link's rate; write `max_cwnd = {}`",
            swift.max_cwnd,
            100.0 * share,
            ceil3(bdp.0.div_ceil(payload.0.max(1)))
        );
        (share < ENOUGH).then(|| Warning::new("control.swift.max_cwnd", text))
    };
    setup.controls.iter().enumerate().filter_map(of_control).collect()
}

/// Transports with a default for slower or shorter links.
fn of_transports(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let packets = &setup.params.packets;
    let full = Bytes(packets.mss.0 + packets.segment_header.0);
    let of_transport = |(number, transport): (usize, &Transport)| {
        let (field, window) = transport.in_flight()?;
        if largest(setup, Carrier::Transport(number)) <= u64::from(window) * packets.mss.0 {
            return None;
        }
        // Does not search the paths of RDMA runs.
        let (_, bdp) = setup.params.longest_rtt(fabric, full);
        let share = f64::from(window) * full.0 as f64 / bdp.0 as f64;
        let wanted = bdp.0.div_ceil(full.0);
        let name = transport.name();
        let text = format!(
            "{window} packets of a flow in flight are {:.0} % of the largest bandwidth-delay product, {bdp:#}: a flow alone \
             reaches no more of its link's rate; write `{field} = {wanted}`",
            100.0 * share
        );
        (share < ENOUGH).then(|| Warning::new(format!("transport.{name}.{field}"), text))
    };
    setup.transports.iter().enumerate().filter_map(of_transport).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;

    #[test]
    fn windows_below_half_of_the_bandwidth_delay_product_are_reported() {
        let of_size = |size: &str, rate: &str, transport: &str| {
            let text = format!(
                "[fabric.star]\nhosts = 3\nrate = \"{rate}\"\n[[workload]]\nlist = [{{ src = 0, dst = 1, size = \"{size}\" }}]\n\
                 [scheme.A]\ntransport = {transport}\n"
            );
            found(&text).into_iter().find(|one| one.contains("in flight"))
        };
        let of = |rate: &str, transport: &str| of_size("1MB", rate, transport);
        // Two links of 1 us there and back, and 1,500 B twice at 100 Gb/s: 4.24 us and more, 53 kB.
        let said = of("100Gbps", "\"phost\"").unwrap();
        assert!(
            said.starts_with("transport.phost.window: 8 packets of a flow in flight are 23 % of the largest"),
            "{said}"
        );
        assert!(said.ends_with("write `window = 36`"), "{said}");
        assert_eq!(of("10Gbps", "\"phost\""), None);
        assert_eq!(of_size("8kB", "100Gbps", "\"phost\""), None, "a flow of one window");
        assert_eq!(of("100Gbps", "\"pfabric\""), None);
        assert!(of("400Gbps", "\"pfabric\"").unwrap().starts_with("transport.pfabric.max_cwnd: 24 packets"));
        assert_eq!(of("400Gbps", "{ pfabric = { max_cwnd = \"none\" } }"), None);
        assert_eq!(of("400Gbps", "\"tcp\""), None);
        let tcp = "{ tcp = { init_cwnd = 2, max_cwnd = 4 } }";
        assert!(of("100Gbps", tcp).unwrap().starts_with("transport.tcp.max_cwnd: 4 packets"));
    }

    #[test]
    fn windows_below_half_of_a_long_links_product_are_reported() {
        let of = |rest: &str, size: &str| {
            let text = format!(
                "[fabric.star]\nhosts = 3\ndelay = \"5ms\"\n[switch]\npfc = false\n[[workload]]\nlist = [{{ src = 0, dst = 1, size = \"{size}\" }}]\n{rest}"
            );
            found(&text).into_iter().find(|one| one.contains("of the largest bandwidth-delay product"))
        };
        let selective = "[rdma]\nrecovery = \"selective-repeat\"\n[scheme.A]\ncontrol = \"dcqcn\"\n";
        // 20 ms at 100 Gb/s.
        let said = of(selective, "100MB").unwrap();
        assert!(said.starts_with("rdma.recovery: a receiver keeps 65535 packets, 65.535 MB: 26 % of"), "{said}");
        assert_eq!(of(selective, "60MB"), None, "all of it fits");
        let swift = |cwnd: &str| {
            let base = "hop_scale = \"0s\", base_target = \"21ms\"";
            format!("[scheme.A.control.swift]\n{}\nmax_cwnd = {cwnd}\n", base.replace(", ", "\n"))
        };
        let said = of(&swift("1e4"), "100MB").unwrap();
        assert!(said.starts_with("control.swift.max_cwnd: 10000 packets of a flow in flight are 4 % of"), "{said}");
        assert!(said.ends_with("write `max_cwnd = 251000`"), "{said}");
        assert_eq!(of(&swift("251000"), "100MB"), None);
    }

    #[test]
    fn windows_of_rdma_below_half_of_the_bandwidth_delay_product_are_reported() {
        let of = |window: &str, scheme: &str| {
            let text = format!(
                "[fabric.star]\nhosts = 3\n[[workload]]\nlist = [{{ src = 0, dst = 1, size = \"1MB\" }}]\n[rdma]\n\
                 window = \"{window}\"\n[scheme.A]\ncontrol = \"hpcc\"\n{scheme}\n"
            );
            found(&text).into_iter().find(|one| one.starts_with("rdma.window"))
        };
        // Two links of 1 us there and back, 1 kB twice at 100 Gb/s: 4.16 us, 52 kB.
        let said = of("100B", "").unwrap();
        assert!(
            said.starts_with("rdma.window: 100 B are 0.19 % of the largest bandwidth-delay product, 52 kB:"),
            "{said}"
        );
        assert!(said.ends_with("write `window = \"52kB\"`"), "{said}");
        assert_eq!([of("26kB", ""), of("100B", "window = \"off\"")], [None, None]);
    }
}
