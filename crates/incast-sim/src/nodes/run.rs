//! Kinds of runs: the code of nodes exists once for each, by a constant of the compiler, so that a run without a feature has no
//! trace of it.

use crate::plan::{Network, WHOLE_PACKETS};
use crate::switch::Storage;

/// Any run.
pub(super) const ANY: u8 = 0;
/// RDMA whose packets meet routes, queues, the shared buffer, PFC, ECN and telemetry on plain links.
pub(super) const TELEMETRY: u8 = 1;
/// Same without telemetry.
pub(super) const PLAIN: u8 = 2;
/// `ns3` arithmetic, in the order of one queue of all events.
pub(super) const NS3: u8 = 3;

/// Returns true for kinds of runs in which nothing but the usual is measured or guarded.
pub(super) const fn is_bare(run: u8) -> bool {
    matches!(run, TELEMETRY | PLAIN)
}

/// Kind of a run. [`ANY`] if switches have guards (`guarded`), and with failures, fingerprints, histograms, deficit round robin,
/// cut-through, gaps, buffers per port, servers of VMs, selective repeat, demotion by bytes sent, or transports other than RDMA.
pub(super) fn kind_of(network: &Network, guarded: bool) -> u8 {
    let config = &network.config;
    let measured = &network.measure;
    let plain = !guarded
        && config.plain_wires
        && config.storage == Storage::Shared
        && network.faults.is_none()
        && !network.config.selective
        && config.demotion == u64::MAX
        && !measured.fingerprint
        && !measured.queue_histogram
        && !network.rule.is_drr()
        && network.transports.endpoints.is_empty()
        && network.ports.iter().all(|port| port.cut == WHOLE_PACKETS && !port.at_server);
    match (plain, config.telemetry) {
        _ if config.ns3 => NS3,
        (false, _) => ANY,
        (true, true) => TELEMETRY,
        (true, false) => PLAIN,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use incast_model::units::{Bytes, Time};

    use super::*;
    use crate::host::{Carrier, Recovery};
    use crate::nodes::bench::{Bench, control, flow, star};
    use crate::setup::{Arithmetic, Setup};
    use crate::switch::{Forwarding, QueueParams, SchedulerParams};
    use crate::transport::Transport;

    fn kind(change: impl FnOnce(&mut Setup)) -> u8 {
        Bench::switch(&[flow(0, 1, 1)], change).nodes.run
    }

    fn hpcc(setup: &mut Setup) {
        setup.controls = vec![control("hpcc", "ns3")];
    }

    #[test]
    fn plain_runs_and_those_with_telemetry_have_code_of_their_own() {
        assert_eq!(kind(|_| {}), PLAIN);
        assert_eq!(kind(hpcc), TELEMETRY);
        let ns3 = |setup: &mut Setup| setup.params.arithmetic = Arithmetic::Ns3;
        assert_eq!([kind(ns3), kind(|setup| [ns3, hpcc].iter().for_each(|change| change(setup)))], [NS3; 2]);
    }

    #[test]
    fn any_other_feature_needs_the_general_code() {
        let features: [fn(&mut Setup); 12] = [
            |setup| setup.params.switch.watchdog.enabled = true,
            |setup| setup.params.measure.blocking = true,
            |setup| setup.params.measure.fingerprint = true,
            |setup| setup.params.measure.queue_histogram = true,
            |setup| setup.params.packets.gap = Bytes(20),
            |setup| setup.params.host.jitter = Time::ns(10),
            |setup| setup.params.switch.forwarding = Forwarding::CutThrough,
            |setup| setup.params.switch.scheduler = SchedulerParams::Drr { quanta: [1250; 8], strict: Vec::new() },
            |setup| setup.params.switch.queues = QueueParams::DropTail { limit: Bytes(9000) },
            |setup| setup.params.rdma.recovery = Recovery::SelectiveRepeat,
            // 8000 / 30 ps per byte
            |setup| setup.fabric = star(&[100, 30]),
            |setup| {
                Arc::make_mut(&mut setup.flows).flows[0].label = 0;
                setup.transports = vec![Transport::named("udp", "line-rate").expect("a transport")];
                setup.carriers = vec![Carrier::Transport(0)];
            },
        ];
        for (number, feature) in features.into_iter().enumerate() {
            assert_eq!(kind(feature), ANY, "feature {number}");
        }
    }
}
