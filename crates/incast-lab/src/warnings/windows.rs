//! Windows that are too small for the network.

use incast_model::fabric::Fabric;
use incast_model::flow::Flow;
use incast_model::units::Bytes;
use incast_sim::transport::Transport;
use incast_sim::{Carrier, Setup};

use crate::warning::Warning;

/// Smallest share of the bandwidth-delay product that is not reported (our choice). The product is for switches that store whole
/// packets; with cut-through it is smaller.
const ENOUGH: f64 = 0.5;

/// Transports with a default for slower or shorter links.
pub(super) fn found(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let packets = &setup.params.packets;
    let full = Bytes(packets.mss.0 + packets.segment_header.0);
    let largest = |number: usize| {
        let carries = |flow: &&Flow| setup.carriers[usize::from(flow.label)] == Carrier::Transport(number);
        setup.flows.flows.iter().filter(carries).map(|flow| flow.size.0).max().unwrap_or(0)
    };
    let of_transport = |(number, transport): (usize, &Transport)| {
        let (field, window) = transport.in_flight()?;
        if largest(number) <= u64::from(window) * packets.mss.0 {
            return None;
        }
        // Does not search the paths of RDMA runs.
        let (_, bdp) = fabric.longest_rtt(full);
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
    }
}
