//! Controls that get no feedback, and limits that keep controls from reacting to it.

use incast_model::fabric::{Fabric, HostId};
use incast_model::gates::never_start;
use incast_model::units::{Rate, Time, ceil3, floor3};
use incast_sim::congestion::{Control, Input, WindowMode};
use incast_sim::{Carrier, ControlSetup, Setup};

use crate::scenario::value;
use crate::warning::{Warning, setting};

pub(super) fn found(fabric: &Fabric, setup: &Setup) -> Vec<Warning> {
    let of_controls = setup.controls.iter().enumerate().flat_map(|(index, one)| {
        [rate_floor(fabric, setup, index, one), rtt_threshold(fabric, setup, &one.control)].into_iter().flatten()
    });
    no_marks(setup).into_iter().chain(of_controls).collect()
}

fn no_marks(setup: &Setup) -> Option<Warning> {
    if setup.params.ecn.enabled {
        return None;
    }
    let controls = setup.controls.iter().filter(|one| !one.control.ignores(Input::Marks));
    let transports = setup.transports.iter().filter(|one| one.ecn().is_some());
    let hypervisors = setup.params.hypervisor.iter().filter(|one| one.ecn().is_some());
    let names = controls.map(|one| one.control.name()).chain(transports.map(|one| one.name()));
    let names: Vec<&str> = names.chain(hypervisors.map(|one| one.name())).collect();
    let (last, others) = names.split_last()?;
    let react = if others.is_empty() { "reacts" } else { "react" };
    let names = if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
    let text = format!("{names} {react} to ECN marks, and no switch marks; write `ecn.enabled = true`");
    Some(Warning::new("ecn.enabled", text))
}

/// A minimum rate that is at least the share of a link: the rate of one flow, or of each that reaches a host in a round trip.
/// Flows that wait for others do not count: they may start much later.
fn rate_floor(fabric: &Fabric, setup: &Setup, index: usize, one: &ControlSetup) -> Option<Warning> {
    let slows_by_rate = matches!(one.control, Control::Dcqcn(_) | Control::Timely(_) | Control::TimelyPatched(_));
    if !slows_by_rate || one.window != WindowMode::Off {
        return None;
    }
    let name = one.control.name();
    let floor: Rate = value(&one.control)[name]["min_rate"].as_str()?.parse().ok()?;
    let (rtt, bdp) = setup.params.longest_rtt(fabric, setup.params.packets.payload);
    let is_long = |label: u16, size: u64| setup.carriers[usize::from(label)] == Carrier::Rdma(index) && size > bdp.0;
    let waits = never_start(&setup.flows.gates, |_| true, vec![false; setup.flows.flows.len()]);
    let flows = setup.flows.flows.iter().zip(waits).filter(|(flow, waits)| !waits && is_long(flow.label, flow.size.0));
    let mut arrivals: Vec<(HostId, Time)> = flows.map(|(flow, _)| (flow.dst, flow.start)).collect();
    arrivals.sort_unstable();
    let shares = arrivals.chunk_by(|one, other| one.0 == other.0).filter_map(|all| {
        let rate = fabric.network_ports(all[0].0).into_iter().map(|port| fabric.rate(port).0).sum::<u64>();
        let count = most_within(all, rtt);
        Some((Rate(rate / count.max(1)), rate, count, all[0].0)).filter(|_| rate > 0)
    });
    let (share, rate, count, host) = shares.min()?;
    (floor >= share).then(|| {
        let host = &fabric.node(fabric.hosts()[host.index()]).name;
        let what = if count == 1 {
            format!("the rate of the link to {host}, {:#}", Rate(rate))
        } else {
            format!(
                "the share of each of {count} flows that reach {host} within a round trip, {:#}",
                Rate(floor3(share.0))
            )
        };
        // As at 100 Gb/s (NS3 `run.py`), and room to fall below the share.
        let wanted = Rate(floor3((share.0 / 2).min(rate / 100)).max(1));
        let text = format!(
            "{floor:#} is at least {what}: {name} cannot empty the queue; write {}",
            setting("min_rate", wanted)
        );
        Warning::new(format!("control.{name}.min_rate"), text)
    })
}

/// Most of the sorted starts within `time`.
fn most_within(all: &[(HostId, Time)], time: Time) -> u64 {
    let mut first = 0;
    let counts = all.iter().enumerate().map(|(last, &(_, start))| {
        while start.saturating_sub(all[first].1) >= time.max(Time(1)) {
            first += 1;
        }
        (last + 1 - first) as u64
    });
    counts.max().unwrap_or(0)
}

/// Advised `t_high` in base RTTs (our choice).
const HIGH_TIMES: u64 = 10;

/// TIMELY's `t_high` at or below the base RTT: flows slow down although no queue builds up.
fn rtt_threshold(fabric: &Fabric, setup: &Setup, control: &Control) -> Option<Warning> {
    let high = match control {
        Control::Timely(params) => params.t_high,
        Control::TimelyPatched(params) => params.t_high,
        _ => return None,
    };
    let (longest, _) = setup.params.longest_rtt(fabric, setup.params.packets.payload);
    (high <= longest).then(|| {
        let text = format!(
            "{high:#} does not exceed the longest base RTT, {:#}: flows slow down without a queue; write {}",
            Time(ceil3(longest.0)),
            setting("t_high", Time(ceil3(longest.0.saturating_mul(HIGH_TIMES))))
        );
        Warning::new(format!("control.{}.t_high", control.name()), text)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;

    fn of(field: &str, fabric: &str, rest: &str) -> Option<String> {
        let flows = "[[workload]]\nincast = { fan_in = 32, size = \"4MB\", receiver = 0 }\n";
        let text = format!("[fabric.star]\nhosts = 33\n{fabric}\n{flows}{rest}\n");
        found(&text).into_iter().find(|one| one.starts_with(field))
    }

    #[test]
    fn controls_that_read_marks_without_marks() {
        let off = |rest: &str| of("ecn.enabled", "", &format!("[ecn]\nenabled = false\n{rest}"));
        assert_eq!(
            off("[scheme.A]\ncontrol = \"dcqcn\"").as_deref(),
            Some("ecn.enabled: dcqcn reacts to ECN marks, and no switch marks; write `ecn.enabled = true`")
        );
        assert!(off("[scheme.A]\ntransport.tcp.control = \"dctcp\"").unwrap().contains("tcp reacts"));
        assert!(off("[scheme.A]\ncontrol = \"hpcc\"").unwrap().contains("has no effect"));
        assert_eq!(of("ecn.enabled", "", "[scheme.A]\ncontrol = \"dcqcn\""), None);
    }

    #[test]
    fn flows_that_wait_for_each_other_do_not_share_a_link() {
        let said = |pattern: &str| {
            let all =
                found(&format!("[fabric.star]\nhosts = 8\n[[workload]]\n{pattern}\n[scheme.A]\ncontrol = \"dcqcn\"\n"));
            all.iter().any(|one| one.starts_with("control.dcqcn.min_rate"))
        };
        assert!(!said("ring_all_reduce = { size = \"8MB\", iterations = 10 }"));
        assert!(!said("all_to_all = { size = \"1MB\", window = 1, iterations = 20 }"));
        assert!(said("incast = { fan_in = 7, size = \"1MB\", receiver = 0, every = \"1ns\", duration = \"20ns\" }"));
    }

    #[test]
    fn minimum_rates_above_the_share_of_a_link() {
        let rate = |gbps: u32, control: &str| {
            of("control.", &format!("rate = \"{gbps}Gbps\""), &format!("[scheme.A]\ncontrol{control}"))
        };
        // 10 Gb/s for 32 flows.
        let said = "control.dcqcn.min_rate: 1 Gb/s is at least the share of each of 32 flows that reach h0 within a round trip, \
                    312 Mb/s: dcqcn cannot empty the queue; write `min_rate = \"100Mbps\"`";
        assert_eq!(rate(10, " = \"dcqcn\"").as_deref(), Some(said));
        for control in ["timely", "timely_patched"] {
            assert!(rate(10, &format!(" = \"{control}\"")).is_some(), "{control}");
        }
        for fine in [" = \"hpcc\"", " = \"dcqcn\"\nwindow = \"rate\"", ".dcqcn.min_rate = \"100Mbps\""] {
            assert_eq!(rate(10, fine), None, "{fine}");
        }
        assert_eq!(rate(100, " = \"dcqcn\""), None);
    }

    #[test]
    fn a_threshold_below_the_base_rtt() {
        let timely = |delay: &str, control: &str| {
            let rest = format!("[switch]\nbuffer = \"1GB\"\n[scheme.A]\ncontrol.{control}");
            of("control.", &format!("delay = \"{delay}\""), &rest)
        };
        // Four times the delay, and two payloads of 80 ns: 600.16 us.
        assert_eq!(
            timely("150us", "timely = {}").as_deref(),
            Some(
                "control.timely.t_high: 500 us does not exceed the longest base RTT, 601 us: flows slow down without a queue; \
                 write `t_high = \"6.01ms\"`"
            )
        );
        assert!(timely("150us", "timely_patched = {}").is_some());
        assert_eq!(timely("100us", "timely = {}"), None);
    }
}
