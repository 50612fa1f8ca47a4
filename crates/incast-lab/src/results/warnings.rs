use std::path::Path;

use incast_model::echo::counted;
use incast_model::units::{Time, ceil3};
use incast_sim::balance::{Balance, FlowletParams};
use incast_sim::host::{MAX_REORDER, RdmaParams, Recovery};
use incast_sim::outcome::FlowRecord;
use incast_sim::transport::Transport;
use incast_sim::{Outcome, Setup};

use super::simulate::SchemeRun;
use crate::scenario::{Prepared, PreparedScheme};
use crate::warning::{Warning, joined, setting};

type Rule = fn(&PreparedScheme, &Outcome) -> Option<Warning>;

/// To add a rule, write a function here and name it.
const RULES: &[Rule] = &[resent_without_loss];

/// The scenario's first; equal warnings are one.
pub(super) fn of_run(prepared: &Prepared, runs: &[SchemeRun]) -> Vec<Warning> {
    by_rules(RULES, prepared, runs).into_iter().map(without_folder).collect()
}

/// Published results do not show where the scenario was.
fn without_folder(warning: Warning) -> Warning {
    let name = |line: String| Some(Path::new(&line).file_name()?.to_str()?.to_owned());
    Warning { line: warning.line.and_then(name), ..warning }
}

fn by_rules(rules: &[Rule], prepared: &Prepared, runs: &[SchemeRun]) -> Vec<Warning> {
    let of_scheme = |scheme: &PreparedScheme| runs.iter().find(|run| run.name == scheme.name);
    let ran = prepared.schemes.iter().filter_map(|scheme| Some((scheme, &of_scheme(scheme)?.outcome)));
    let shown = ran.flat_map(|(scheme, outcome)| {
        rules.iter().filter_map(move |rule| Some((scheme.name.as_str(), rule(scheme, outcome)?)))
    });
    let shown = joined(shown).into_iter().map(|one| Warning { line: prepared.given.place(&one.field), ..one });
    prepared.warnings().iter().cloned().chain(shown).collect()
}

/// pHost's receivers re-request late packets: up to 1 % is normal (our choice).
const PHOST_NORMAL: u64 = 100;

/// Reordering or delay taken for loss costs bandwidth.
fn resent_without_loss(scheme: &PreparedScheme, outcome: &Outcome) -> Option<Warning> {
    let sum = |of: fn(&FlowRecord) -> u64| outcome.flows.iter().map(of).sum::<u64>();
    let (resent, timeouts) = (sum(|flow| flow.retransmitted), sum(|flow| flow.timeouts.into()));
    let lost = outcome.counts.drops + outcome.pairs.iter().map(|pair| pair.count.refused).sum::<u64>();
    let sent = sum(|flow| flow.packets);
    let setup = &scheme.setup;
    let asks_again = setup.transports.iter().any(|transport| matches!(transport, Transport::Phost(_)));
    // Packets in a deadlock wait for ever.
    if !outcome.deadlocks.is_empty() || lost > 0 || resent == 0 || asks_again && resent * PHOST_NORMAL < sent {
        return None;
    }
    let (rdma, balance) = (&setup.params.rdma, &setup.params.network.load_balancing);
    let reordered = !setup.controls.is_empty() && balance.reorders() && sum(|flow| flow.nacks.into()) > 0;
    let (field, why) = if reordered && rdma.recovery == Recovery::GoBackN {
        let why = format!("go-back-N takes packets reordered by `{}` for lost", balance.name());
        ("rdma.recovery", format!("{why}; write {}", setting("recovery", "selective-repeat")))
    } else if reordered && resent > timeouts {
        let payload = setup.params.packets.payload;
        let bdp = setup.params.longest_rtt(&setup.fabric, payload).1;
        let window = rdma.reorder_packets(balance, bdp, payload);
        let usual = RdmaParams { reorder_window: None, ..rdma.clone() }.reorder_packets(balance, bdp, payload);
        let wider = if usual > window { usual } else { (2 * window).clamp(1, MAX_REORDER) };
        let why = "packets were overtaken by more than the reordering window";
        ("rdma.reorder_window", format!("{why}, {window} packets; write `reorder_window = {wider}`"))
    } else if let Balance::Flowlet(FlowletParams { gap, .. }) = balance
        && sum(|flow| flow.nacks.into()) > 0
    {
        // Four times as long: our choice, as the difference of the paths is not known.
        let longer = setting("flowlet.gap", Time(gap.0.saturating_mul(4)));
        ("network.load_balancing", format!("paths of flowlets differ by more than their gap, {gap:#}; write {longer}"))
    } else if timeouts == 0 && !asks_again {
        out_of_order(setup, sum(|flow| flow.nacks.into()))
    } else {
        late(setup, timeouts)
    };
    Some(Warning::new(field, format!("{resent} of {sent} packets were retransmissions, but none was lost: {why}")))
}

/// Without timeouts, hosts resend what they miss behind later packets.
fn out_of_order(setup: &Setup, nacks: u64) -> (&'static str, String) {
    match setup.transports.first() {
        Some(Transport::Tcp(tcp)) => {
            // Four times as many: our choice, as the distance of reordered packets is not known.
            let more =
                tcp.dupacks.map_or_else(String::new, |dupacks| format!("; write `tcp.dupacks = {}`", 4 * dupacks));
            ("transport", format!("hosts took reordered packets for lost{more}"))
        }
        Some(_) => ("transport", "hosts took late packets for lost".into()),
        None => {
            let when = "packets arrived out of order, for example after a change of their route or priority";
            ("rdma.recovery", format!("{when} ({})", counted(nacks, "NACK")))
        }
    }
}

fn late(setup: &Setup, timeouts: u64) -> (&'static str, String) {
    let rdma = &setup.params.rdma;
    // Twice the time, or the longest base RTT, as the longest delay is not known.
    let least = setup.params.longest_rtt(&setup.fabric, setup.params.packets.payload).0;
    let longer = |name: &str, time: Option<Time>| {
        let twice = |time: Time| Time(ceil3(time.max(least).0.saturating_mul(2)));
        time.map_or_else(String::new, |time| format!("; write {}", setting(name, twice(time))))
    };
    let (field, advice) = match (setup.transports.first(), rdma.recovery) {
        // Receivers ask again; `retry` repeats announcements.
        (Some(Transport::Phost(phost)), _) => {
            ("transport", format!("; write `phost.reissue_after = {}`", 2.0 * phost.reissue_after))
        }
        (Some(one), _) => match one.timeout() {
            Some((field, time)) => ("transport", longer(&format!("{}.{field}", one.name()), Some(time))),
            None => ("transport", String::new()),
        },
        (None, Recovery::SelectiveRepeat) => ("rdma.rto_low", longer("rto_low", Some(rdma.rto_low))),
        (None, Recovery::GoBackN) => ("rdma.rto", longer("rto", rdma.rto)),
    };
    // pHost gives a new token for a late packet, without a sender timeout.
    let counted = if timeouts > 0 { format!(" ({})", counted(timeouts, "timeout")) } else { String::new() };
    (field, format!("packets or ACKs were delayed longer than hosts wait{counted}{advice}"))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use super::*;
    use crate::results::{Results, RunOptions, run};
    use crate::scenario::Loaded;

    const SPRAYED: &str = r#"
[fabric.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 2
[network]
load_balancing = "spray"
[[workload]]
list = [{ src = 0, dst = 2, size = "2kB" }]
[scheme.A]
control = "hpcc"
[scheme.B]
control = "dcqcn"
"#;

    #[test]
    fn warnings_are_in_the_manifest_before_and_after_the_run() {
        let prepared = Loaded::from_text("s.toml", SPRAYED, Path::new("."), &[]).unwrap().prepare().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let report = run(&prepared, &out, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        let written = Results::open(&out).unwrap().manifest().warnings.clone();
        assert_eq!(written, report.manifest.warnings);
        assert_eq!(written, prepared.warnings());
        let of_int = written.iter().find(|one| one.text.contains("INT records")).unwrap();
        assert_eq!((&of_int.schemes[..], of_int.field.as_str()), (&["A".to_owned()][..], "network.load_balancing"));
        assert_eq!(of_int.line.as_deref(), Some("s.toml:7"));

        let packets: Rule = |_, outcome| {
            let packets = outcome.flows[0].packets;
            Some(Warning::new("network.load_balancing", format!("{packets} packets were sent")))
        };
        let all = by_rules(&[packets], &prepared, &report.runs);
        assert_eq!(all[..written.len()], written);
        let [found] = &all[written.len()..] else { panic!("{all:?}") };
        assert_eq!(found.summary(2), "network.load_balancing (s.toml:7): 2 packets were sent (all 2 schemes)");
    }

    /// Warnings about retransmissions without a loss after the run.
    fn said(text: &str) -> String {
        let prepared = Loaded::from_text("s.toml", text, Path::new("."), &[]).unwrap().prepare().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let report = run(&prepared, &out, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        let resent = report.manifest.warnings.iter().filter(|one| one.text.contains("but none was lost"));
        resent.map(|one| one.summary(2)).collect::<Vec<_>>().join("\n")
    }

    /// Two spines reorder packets; none is lost.
    #[test]
    fn packets_resent_without_a_loss_are_reported() {
        let found = |more: &str| {
            let flows = "list = [{ src = 0, dst = 2, size = \"300kB\" }, { src = 1, dst = 2, size = \"300kB\" }]";
            let text = SPRAYED.replace("list = [{ src = 0, dst = 2, size = \"2kB\" }]", flows) + more;
            said(&text)
        };
        let text = found("");
        assert!(text.starts_with("rdma.recovery: ") && text.contains("reordered by `spray` for lost"), "{text}");
        let selective = "[rdma]\nrecovery = \"selective-repeat\"\n";
        assert_eq!(found(selective), "");
        let text = found(&format!("{selective}reorder_window = 0\n"));
        assert!(text.starts_with("rdma.reorder_window (s.toml:16): "), "{text}");
        assert!(text.contains(" packets were retransmissions, but none was lost: packets were overtaken"), "{text}");
        assert!(text.contains("the reordering window, 0 packets; write `reorder_window = "), "{text}");
    }

    #[test]
    fn a_gap_of_flowlets_that_is_too_short_is_named() {
        let found = |gap: &str| {
            let flows = "list = [{ src = 0, dst = 2, size = \"300kB\" }, { src = 1, dst = 2, size = \"300kB\" }]";
            let text = SPRAYED.replace("list = [{ src = 0, dst = 2, size = \"2kB\" }]", flows);
            let text = text.replace("load_balancing = \"spray\"", &format!("load_balancing.flowlet.gap = \"{gap}\""));
            said(&text)
        };
        let text = found("50ns");
        assert!(
            text.contains("paths of flowlets differ by more than their gap, 50 ns; write `flowlet.gap = \"200ns\"`"),
            "{text}"
        );
        assert!(!found("100us").contains("flowlets"));
    }

    #[test]
    fn one_resent_packet_is_reported_unless_the_transport_asks_again() {
        let resent = |scheme: &str, count: u64| {
            let text = SPRAYED.replace("control = \"hpcc\"", scheme);
            let prepared = Loaded::from_text("s.toml", &text, Path::new("."), &[]).unwrap().prepare().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("run");
            let mut report = run(&prepared, &out, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
            let outcome = &mut report.runs[0].outcome;
            (outcome.flows[0].packets, outcome.flows[0].retransmitted) = (1000, count);
            resent_without_loss(&prepared.schemes[0], outcome).map(|warning| warning.text)
        };
        let text = resent("control = \"hpcc\"", 1).unwrap();
        assert!(text.starts_with("1 of 1000 packets were retransmissions, but none was lost"), "{text}");
        assert!(text.contains("packets arrived out of order") && text.ends_with("(0 NACKs)"), "{text}");
        assert!(resent("transport = \"tcp\"", 1).unwrap().ends_with("; write `tcp.dupacks = 12`"));
        assert_eq!(resent("control = \"hpcc\"", 0), None);
        assert_eq!(resent("transport = \"phost\"", 9), None);
        assert!(resent("transport = \"phost\"", 10).unwrap().ends_with("; write `phost.reissue_after = 18`"));
    }
}
