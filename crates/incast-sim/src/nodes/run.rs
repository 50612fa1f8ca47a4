//! Kinds of runs, which are sets of features. Node code exists once per kind (a constant of the compiler), so that a run
//! without a feature does not pay for it.

use crate::plan::{Network, WHOLE_PACKETS};
use crate::switch::Storage;

const WITH_TELEMETRY: u8 = 1;
const WITH_TRANSPORTS: u8 = 2;
const WITH_EXTRAS: u8 = 4;
const BY_RANK: u8 = 8;

/// RDMA on plain links, with a shared buffer, PFC and ECN.
pub(super) const PLAIN: u8 = 0;
/// Same with INT or PINT.
pub(super) const TELEMETRY: u8 = WITH_TELEMETRY;
/// Other transports, buffers per port and cut-through, without telemetry.
pub(super) const TRANSPORTS: u8 = WITH_TRANSPORTS;
/// Any run in exact arithmetic.
pub(super) const ANY: u8 = WITH_TELEMETRY | WITH_TRANSPORTS | WITH_EXTRAS;
/// `ns3` arithmetic; RDMA alone.
pub(super) const NS3: u8 = WITH_TELEMETRY | WITH_EXTRAS | BY_RANK;

/// INT or PINT records.
pub(super) const fn has_telemetry(run: u8) -> bool {
    run & WITH_TELEMETRY != 0
}

/// Transports other than RDMA, buffers per port, or cut-through.
pub(super) const fn has_transports(run: u8) -> bool {
    run & WITH_TRANSPORTS != 0
}

/// INT records or ranges.
pub(super) const fn carries(run: u8) -> bool {
    has_telemetry(run) || has_transports(run)
}

/// Guards, failures, fingerprints, histograms, deficit round robin, gaps, cells, servers of VMs, selective repeat, or demotion by
/// bytes sent.
pub(super) const fn has_extras(run: u8) -> bool {
    run & WITH_EXTRAS != 0
}

/// `guarded`: switches have guards.
pub(super) fn kind_of(network: &Network, guarded: bool) -> u8 {
    let config = &network.config;
    let measured = &network.measure;
    let extras = guarded
        || !config.plain_wires
        || network.faults.is_some()
        || network.switches.params.cell.is_some()
        || config.host.selective
        || config.host.demotion != u64::MAX
        || measured.fingerprint
        || measured.queue_histogram
        || network.switches.rule.is_drr()
        || network.hosts.hypervisors.is_some()
        || network.ports.iter().any(|port| port.at_server);
    let transports = config.queues.storage != Storage::Shared
        || !network.hosts.transports.of_flows.is_empty()
        || network.ports.iter().any(|port| port.cut != WHOLE_PACKETS);
    match (extras, transports, config.switch.telemetry) {
        _ if config.ns3 => NS3,
        (true, ..) | (_, true, true) => ANY,
        (_, true, false) => TRANSPORTS,
        (_, false, true) => TELEMETRY,
        (_, false, false) => PLAIN,
    }
}

#[cfg(test)]
mod tests {
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

    const TRANSPORT_FEATURES: [fn(&mut Setup); 3] = [
        |setup| setup.params.switch.forwarding = Forwarding::CutThrough,
        |setup| setup.params.switch.queues = QueueParams::DropTail { limit: Bytes(9000) },
        |setup| {
            setup.transports = vec![Transport::named("udp", "line-rate").expect("a transport")];
            setup.carriers = vec![Carrier::Transport(0)];
        },
    ];

    #[test]
    fn plain_runs_and_those_with_telemetry_have_code_of_their_own() {
        assert_eq!(kind(|_| {}), PLAIN);
        assert_eq!(kind(hpcc), TELEMETRY);
        let ns3 = |setup: &mut Setup| setup.params.arithmetic = Arithmetic::Ns3;
        assert_eq!([kind(ns3), kind(|setup| [ns3, hpcc].iter().for_each(|change| change(setup)))], [NS3; 2]);
    }

    #[test]
    fn transports_buffers_of_ports_and_cut_through_share_code() {
        for (number, feature) in TRANSPORT_FEATURES.into_iter().enumerate() {
            assert_eq!(kind(feature), TRANSPORTS, "feature {number}");
            assert_eq!(kind(|setup| [hpcc, feature].iter().for_each(|change| change(setup))), ANY, "feature {number}");
        }
    }

    #[test]
    fn any_other_feature_needs_the_general_code() {
        let features: [fn(&mut Setup); 10] = [
            |setup| setup.params.switch.cell = Some(Bytes(208)),
            |setup| setup.params.switch.watchdog.enabled = true,
            |setup| setup.params.measure.blocking = true,
            |setup| setup.params.measure.fingerprint = true,
            |setup| setup.params.measure.queue_histogram = true,
            |setup| setup.params.packets.gap = Bytes(20),
            |setup| setup.params.host.jitter = Time::ns(10),
            |setup| setup.params.switch.scheduler = SchedulerParams::Drr { quanta: [1250; 8], strict: Vec::new() },
            |setup| setup.params.rdma.recovery = Recovery::SelectiveRepeat,
            // 8000 / 30 ps per byte
            |setup| setup.fabric = star(&[100, 30]),
        ];
        for (number, feature) in features.into_iter().enumerate() {
            assert_eq!(kind(feature), ANY, "feature {number}");
        }
    }
}
