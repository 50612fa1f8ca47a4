//! Parameters that are allowed but do not go together.

use incast_model::fabric::{BaseRtts, Fabric, NodeId};
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::congestion::{Control, Telemetry};
use incast_sim::host::Recovery;
use incast_sim::switch::{Alpha, EcnParams, Headroom, PfcMode};
use incast_sim::{ControlSetup, Params};

use crate::scenario::{Prepared, PreparedScheme};
use crate::show::{Warning, marking};

/// What is doubtful about a scheme whose longest path has `links` links.
pub(crate) fn of_scheme(prepared: &Prepared, scheme: &PreparedScheme, links: u64) -> Vec<Warning> {
    let (fabric, params) = (&*prepared.fabric, &scheme.setup.params);
    let mut found = Vec::new();
    let mut warn = |field: &str, message: String| {
        found.push(Warning { path: field.into(), message: format!("{message} (scheme {})", scheme.name) });
    };
    let needs_int = scheme.setup.controls.iter().any(|one| one.control.telemetry() == Telemetry::Int);
    let records = u64::from(params.packets.int_records);
    if needs_int && links.saturating_sub(1) > records {
        let message =
            format!("packets have room for {records} INT records, the longest path has {} switches", links - 1);
        warn("packets.int_records", message);
    }
    if params.switch.pfc && !params.switch.lossless.is_empty() {
        let int = if needs_int { params.packets.telemetry_bytes(Telemetry::Int) } else { 0 };
        let packet = params.packets.payload.0 + params.packets.data_header.0 + int;
        for switch in fabric.switches() {
            let set_aside = set_aside(fabric, switch, params, packet);
            if set_aside >= params.switch.buffer.0 {
                let name = &fabric.node(switch).name;
                let message = format!(
                    "headroom and reserves of {name} take {}, its buffer has {}: nothing is left to share",
                    Bytes(set_aside),
                    params.switch.buffer
                );
                warn("switch.buffer", message);
                break;
            }
            let reacts = scheme
                .setup
                .controls
                .iter()
                .any(|one| one.control.telemetry() == Telemetry::None && one.control.name() != "unlimited");
            if reacts
                && params.ecn.enabled
                && let Some((kmin, xoff)) = ecn_above_pfc(fabric, switch, params, set_aside)
            {
                let name = &fabric.node(switch).name;
                let message = format!(
                    "a port of {name} marks from {} on, but a single sender is paused at {}: PFC acts before ECN",
                    Bytes(kmin),
                    Bytes(xoff)
                );
                warn("ecn.kmin", message);
                break;
            }
        }
    }
    if let Some((control, wanted)) = other_marking(prepared, scheme) {
        let message = format!(
            "switches have one way of marking: {}; flows of {control} want another: {}",
            marking(&params.ecn),
            marking(&wanted)
        );
        warn("ecn", message);
    }
    if let Some((target, base)) = target_below_base(scheme, fabric, links) {
        let message = format!(
            "Swift's target on the longest path, {target}, is not above its base RTT, {base}: no flow gets up to speed"
        );
        warn("control.swift.base_target", message);
    }
    if params.network.balance.reorders() && params.rdma.recovery == Recovery::GoBackN {
        let message = format!(
            "`{}` lets packets of a flow overtake each other; go-back-N takes them for lost and sends them again",
            params.network.balance.name()
        );
        warn("network.balance", message);
    }
    if !params.network.failure.is_empty() && params.rdma.rto.is_none() {
        let message = "without a timeout a flow whose last packets a failure loses never completes";
        warn("rdma.rto", message.into());
    }
    if params.rdma.acks_ignore_pause {
        warn("rdma.acks_ignore_pause", "ACKs sent into a paused priority can overflow the headroom".into());
    }
    let rdma = &params.rdma;
    if rdma.recovery == Recovery::GoBackN && rdma.reorder_window > 0 {
        warn("rdma.reorder_window", "go-back-n has no use for it: receivers discard what comes out of order".into());
    }
    let longest = BaseRtts::new(fabric, params.packets.payload).max().0;
    if rdma.recovery == Recovery::SelectiveRepeat && rdma.rto.is_some() && rdma.rto_low <= longest {
        let message = format!(
            "{} is over before an ACK can be back, which takes up to {longest}: packets are sent again that are not lost",
            rdma.rto_low
        );
        warn("rdma.rto_low", message);
    }
    if params.packets.payload.0 < 64 {
        warn("packets.payload", format!("packets of {} are far smaller than any network's", params.packets.payload));
    }
    found
}

/// A control of some flows that wants other marking than the scheme's own, where neither scheme nor scenario says anything.
fn other_marking(prepared: &Prepared, scheme: &PreparedScheme) -> Option<(&'static str, EcnParams)> {
    let said = prepared.scenario.scheme.get(&scheme.name)?;
    if !said.ecn.is_empty() || !prepared.scenario.ecn.is_empty() {
        return None;
    }
    let wants = |setup: &ControlSetup| Some((setup.control.name(), setup.control.ecn()?));
    scheme.setup.controls.iter().filter_map(wants).find(|(_, wanted)| *wanted != scheme.setup.params.ecn)
}

/// Swift's target without flow scaling on a path of `links` links, and the largest base RTT, where that is no less.
fn target_below_base(scheme: &PreparedScheme, fabric: &Fabric, links: u64) -> Option<(Time, Time)> {
    let targets = scheme.setup.controls.iter().filter_map(|one| match &one.control {
        Control::Swift(swift) => Some(swift.base_target + swift.hop_scale * links),
        _ => None,
    });
    let target = targets.min()?;
    let (base, _) = BaseRtts::new(fabric, scheme.setup.params.packets.payload).max();
    (target <= base).then_some((target, base))
}

fn host_rate(fabric: &Fabric) -> Rate {
    fabric.ports_of(fabric.hosts()[0]).next().map_or(Rate(1), |port| fabric.rate(port))
}

/// Buffer of a switch that is set aside: headroom and reserve of every port and lossless priority.
fn set_aside(fabric: &Fabric, switch: NodeId, params: &Params, packet: u64) -> u64 {
    let priorities = params.switch.lossless.len() as u64;
    let of_port = |port| {
        let (rate, delay) = (fabric.rate(port), fabric.delay(port));
        // Bytes on the wire at one time: delay in ps times bit/s.
        let wire = (u128::from(delay.0) * u128::from(rate.0) / 8_000_000_000_000) as u64;
        let headroom = match params.switch.headroom {
            Headroom::Computed => 2 * wire + 3 * packet + params.packets.pfc.0,
            Headroom::ThreeDelays => 3 * wire,
            Headroom::Bytes(bytes) => bytes.0,
        };
        headroom + params.switch.reserve.0
    };
    fabric.ports_of(switch).map(|port| of_port(port) * priorities).sum()
}

/// The lowest marking threshold of a switch and the XOFF threshold of one busy ingress, where ECN comes second.
fn ecn_above_pfc(fabric: &Fabric, switch: NodeId, params: &Params, set_aside: u64) -> Option<(u64, u64)> {
    let free = params.switch.buffer.0.saturating_sub(set_aside) as f64;
    let base = host_rate(fabric).0 as f64;
    fabric
        .ports_of(switch)
        .map(|port| {
            let rate = fabric.rate(port);
            let xoff = match &params.switch.pfc_mode {
                PfcMode::Static { xoff } => xoff.0,
                PfcMode::Dynamic { alpha } => {
                    let alpha = match alpha {
                        Alpha::Value(alpha) => *alpha,
                        Alpha::ByRate => (2f64.powf((rate.0 as f64 / base).log2().floor()) / 8.0).clamp(0.0, 1.0),
                    };
                    // A lone ingress takes alpha times what it leaves free.
                    (alpha / (1.0 + alpha) * free) as u64
                }
            };
            (kmin(&params.ecn, rate), xoff)
        })
        .find(|(kmin, xoff)| kmin > xoff)
}

/// The marking threshold of ports of a rate.
fn kmin(ecn: &EcnParams, rate: Rate) -> u64 {
    match ecn.by_rate.iter().find(|one| one.rate == rate) {
        Some(one) => one.kmin.0,
        None => (u128::from(ecn.kmin.0) * u128::from(rate.0) / u128::from(ecn.per_rate.0.max(1))) as u64,
    }
}
