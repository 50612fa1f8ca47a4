//! Least time in which a workload can be done, to compare with the simulation's end.

use super::warning::WorkloadWarning;
use crate::echo::grouped;
use crate::fabric::{Fabric, HostId};
use crate::flow::{Flow, FlowSet};
use crate::gates::never_start;
use crate::units::{Bytes, Rate, Time, floor3};

/// Share of flows or bytes that may be unfinished without a warning (our choice): random arrivals end with such flows.
const TOLERATED: f64 = 0.01;
/// Flows that need so many times the simulation stand for endless ones (our choice): no warning.
const ENDLESS: u64 = 10;
/// Advised horizon over the least time (our choice): queues and headers take time too.
const MORE: u64 = 2;

/// End of a transfer that nothing delays.
struct Transfer {
    what: String,
    end: Time,
}

/// Warns if flows cannot end before the simulation: starts at `horizon` or later, and bytes that the hosts' links cannot carry
/// before.
pub(super) fn too_early(fabric: &Fabric, flows: &FlowSet, horizon: Option<Time>) -> Vec<WorkloadWarning> {
    let Some(horizon) = horizon else { return Vec::new() };
    let rates = rates(fabric);
    let waits = never_start(&flows.gates, |_| true, vec![false; flows.flows.len()]);
    let alone: Vec<(&Flow, Time)> = flows
        .flows
        .iter()
        .zip(waits)
        .filter_map(|(flow, waits)| {
            let sized = flow.until.is_none() && !waits;
            sized.then(|| (flow, ideal_end(&rates, flow)))
        })
        .collect();
    let busiest = busiest(fabric, flows, &rates);
    let last = alone.iter().map(|(_, end)| *end).max();
    let wanted = last.into_iter().chain(busiest.as_ref().map(|one| one.end)).max().unwrap_or(horizon);
    let Some(first) = flows.flows.iter().map(|flow| flow.start).min() else { return Vec::new() };
    // Three digits of the time after the first start.
    let after = |time: Time| time.0.saturating_sub(first.0);
    let to_digits = |span: u64| {
        let unit = 10_u64.pow(span.max(1).ilog10().saturating_sub(2));
        Time(first.0.saturating_add(span).div_ceil(unit).saturating_mul(unit))
    };
    let rounded = |time: Time| to_digits(after(time));
    let advice = |least: Time| {
        let more = to_digits(after(least).saturating_mul(MORE).max(1));
        format!("leave out `simulation.horizon`, or write for instance `simulation.horizon = \"{more}\"`")
    };
    let mut found = late_starts(flows, horizon, |label| advice(wanted.max(label)));
    let started = || alone.iter().filter(|(flow, _)| flow.start < horizon);
    let cut: Vec<&(&Flow, Time)> = started().filter(|(_, end)| *end > horizon).collect();
    let bytes = |all: &mut dyn Iterator<Item = &(&Flow, Time)>| all.map(|(flow, _)| flow.size).sum::<Bytes>().0 as f64;
    let many = cut.len() as f64 > TOLERATED * started().count() as f64
        || bytes(&mut cut.iter().copied()) > TOLERATED * bytes(&mut started());
    if wanted.0 >= horizon.0.saturating_mul(ENDLESS) {
        return found;
    }
    let over = busiest.filter(|one| one.end.0 as f64 > horizon.0 as f64 * (1.0 + TOLERATED));
    let message = match (over, cut.iter().max_by_key(|(_, end)| *end)) {
        (Some(Transfer { what, end }), _) => {
            format!("{what} until {:#} at the earliest, but the simulation ends at {horizon:#}", rounded(end))
        }
        (None, Some((_, end))) if many => format!(
            "{} of {} flows cannot complete by {horizon:#} even alone in the network: the last needs until {:#}",
            cut.len(),
            started().count(),
            rounded(*end)
        ),
        _ => return found,
    };
    found.push(WorkloadWarning {
        field: "simulation.horizon".into(),
        message: format!("{message}; {}", advice(wanted)),
    });
    found
}

fn late_starts(flows: &FlowSet, horizon: Time, advice: impl Fn(Time) -> String) -> Vec<WorkloadWarning> {
    let of_label = |(label, name): (usize, &String)| {
        let all = || flows.flows.iter().filter(|flow| usize::from(flow.label) == label);
        let late = all().filter(|flow| flow.start >= horizon).count();
        let last = all().map(|flow| flow.start).max().filter(|_| late > 0)?;
        let count = all().count();
        let (late, count) = (grouped(late as u64), grouped(count as u64));
        let message =
            format!("{late} of {count} flows start after the end of the simulation at {horizon:#}; {}", advice(last));
        Some(WorkloadWarning { field: format!("label `{name}`"), message })
    };
    flows.labels.iter().enumerate().filter_map(of_label).collect()
}

/// Sum and maximum of the rates of each host's links.
fn rates(fabric: &Fabric) -> Vec<(Rate, Rate)> {
    let of_host = |host: &crate::fabric::NodeId| {
        let all = || fabric.ports_of(*host).map(|port| fabric.rate(port));
        (Rate(all().map(|rate| rate.0).sum()), all().max().expect("hosts have links"))
    };
    fabric.hosts().iter().map(of_host).collect()
}

/// Time that a run takes at least: until its last flow ends, if nothing delays it.
pub fn least_time(fabric: &Fabric, flows: &FlowSet) -> Time {
    let rates = rates(fabric);
    let end = |flow: &Flow| flow.until.unwrap_or_else(|| ideal_end(&rates, flow));
    flows.flows.iter().map(end).max().unwrap_or_default()
}

/// Without headers and delays: a lower bound.
fn ideal_end(rates: &[(Rate, Rate)], flow: &Flow) -> Time {
    let [src, dst] = [flow.src, flow.dst].map(|host| rates[host.index()].1);
    Time(flow.start.0.saturating_add(src.min(dst).time_for(flow.size.0).0))
}

/// Host link that needs longest for its bytes, without flows that an entry's end can cancel.
fn busiest(fabric: &Fabric, flows: &FlowSet, rates: &[(Rate, Rate)]) -> Option<Transfer> {
    let may_not = never_start(&flows.gates, |gate| gate.round.is_some(), vec![false; flows.flows.len()]);
    let mut sums = vec![[(Time::MAX, 0u64); 2]; rates.len()];
    for (flow, _) in flows.flows.iter().zip(may_not).filter(|(flow, may_not)| flow.until.is_none() && !may_not) {
        for (direction, host) in [flow.src, flow.dst].into_iter().enumerate() {
            let (first, bytes) = &mut sums[host.index()][direction];
            *first = flow.start.min(*first);
            *bytes = bytes.saturating_add(flow.size.0);
        }
    }
    let ends = sums.iter().enumerate().flat_map(|(host, both)| {
        let end = move |(direction, &(first, bytes)): (usize, &(Time, u64))| {
            (bytes > 0).then(|| (first + rates[host].0.time_for(bytes), host, direction, bytes))
        };
        both.iter().enumerate().filter_map(end)
    });
    let (end, host, direction, bytes) = ends.max()?;
    let name = &fabric.node(fabric.hosts()[HostId(host as u32).index()]).name;
    let verb = ["sends", "receives"][direction];
    Some(Transfer { what: format!("{name} {verb} {:#} at {:#}:", Bytes(floor3(bytes)), rates[host].0), end })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all, pattern, star};
    use super::*;

    #[test]
    fn a_run_takes_the_time_of_its_last_flow() {
        let json = r#"[{"src": 0, "dst": 1, "size": "1MB", "start": "50us"}, {"src": 2, "dst": 3, "size": "1kB"}]"#;
        let fabric = star(4, Rate::gbps(100));
        // 1 MB at 100 Gb/s takes 80 us.
        assert_eq!(least_time(&fabric, &all(&[pattern("list", json)], &fabric, 1).unwrap()), Time::us(130));
    }

    fn found(name: &str, json: &str, horizon: Time) -> Vec<String> {
        let fabric = star(4, Rate::gbps(100));
        let flows = all(&[pattern(name, json)], &fabric, 1).unwrap();
        too_early(&fabric, &flows, Some(horizon)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_incast_needs_the_time_of_its_receiver() {
        let json = r#"{"fan_in": 3, "size": "1MB", "receiver": 0}"#;
        // 3 MB at 100 Gb/s take 240 us.
        let said = "simulation.horizon: h0 receives 3 MB at 100 Gb/s: until 240 us at the earliest, but the simulation ends at 100 us; \
                    leave out `simulation.horizon`, or write for instance `simulation.horizon = \"480us\"`";
        assert_eq!(found("incast", json, Time::us(100)), [said]);
        assert_eq!(found("incast", json, Time::us(240)), [""; 0]);
        assert_eq!(found("incast", json, Time::us(24)), [""; 0], "endless flows are cut off on purpose");
    }

    #[test]
    fn flows_that_the_end_cuts_off() {
        let json = r#"[{"src": 0, "dst": 1, "size": "1MB", "start": "50us"}, {"src": 2, "dst": 3, "size": "1kB"}]"#;
        // 1 MB takes 80 us: until 130 us.
        let [text] = &found("list", json, Time::us(120))[..] else { panic!() };
        assert!(text.contains("until 130 us at the earliest") && text.contains("horizon = \"260us\""), "{text}");
        let json = r#"[{"src": 0, "dst": 1, "size": "1kB"}, {"src": 0, "dst": 1, "size": "500kB", "start": "90us"}]"#;
        // The link has time for 1.5 MB; the flow's 40 us end at 130 us.
        let said = "simulation.horizon: 1 of 2 flows cannot complete by 120 us even alone in the network: the last needs until 130 us; \
                    leave out `simulation.horizon`, or write for instance `simulation.horizon = \"260us\"`";
        assert_eq!(found("list", json, Time::us(120)), [said]);
        assert_eq!(found("list", json, Time::us(130)), [""; 0]);
        // A late first start does not round the time after it.
        let late = r#"[{"src": 0, "dst": 2, "size": "10MB", "start": "2s"}]"#;
        let [text] = &found("list", late, Time::us(2_000_500))[..] else { panic!() };
        assert!(text.contains("until 2000.8 ms;") && text.contains("horizon = \"2001.6ms\""), "{text}");
        // 80 us after a start that is not round.
        let odd = r#"[{"src": 0, "dst": 2, "size": "1MB", "start": "973.185us"}]"#;
        let [text] = &found("list", odd, Time::us(1000))[..] else { panic!() };
        assert!(text.contains("until 1053.2 us at") && text.contains("horizon = \"1.134ms\""), "{text}");
        let late = found("list", json, Time::us(90));
        let said = "label `list`: 1 of 2 flows start after the end of the simulation at 90 us; \
                    leave out `simulation.horizon`, or write for instance `simulation.horizon = \"260us\"`";
        assert_eq!(late[..], [said]);
    }

    #[test]
    fn iterations_that_an_end_cancels_need_no_time() {
        let ring = r#"{"size": "100MB", "iterations": 3}"#;
        assert_eq!(found("ring_all_reduce", ring, Time::ms(30)).len(), 1);
        let fabric = star(4, Rate::gbps(100));
        let json = r#"{"request": 1, "response": "10MB", "requests": 1000}"#;
        let spec = super::super::WorkloadSpec { end: Some(Time::us(100)), ..pattern("request_response", json) };
        let flows = all(&[spec], &fabric, 1).unwrap();
        let found = too_early(&fabric, &flows, Some(Time::ms(20)));
        assert_eq!(found, []);
    }
}
