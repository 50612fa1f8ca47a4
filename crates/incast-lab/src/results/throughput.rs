//! Throughput of VM pairs over time, with guarantees and the work-conserving optimum.

use std::collections::HashMap;
use std::sync::Arc;

use incast_model::fabric::HostId;
use incast_model::flow::Flow;
use incast_model::routing::Routes;
use incast_model::tenant::{Optimum, Pair, Tenancy, static_split};
use incast_model::units::{Bytes, Time};
use incast_sim::outcome::FlowRecord;
use incast_sim::transport::Transport;
use incast_sim::{Carrier, Params, Setup};

use crate::scenario::Prepared;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) src: HostId,
    pub(super) dst: HostId,
    pub(super) flows: u32,
    /// Payload acknowledged; `wire` adds headers and gaps.
    pub(super) payload: u64,
    pub(super) wire: u64,
    /// Hose guarantee and work-conserving optimum, in wire bytes.
    pub(super) guaranteed: u64,
    pub(super) optimum: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Offered {
    flows: u32,
    payload: u64,
    wire: f64,
    /// Wire bytes to send; infinite for backlogged flows without rate limit.
    demand: f64,
}

/// By interval, then by the pair's first flow.
pub(super) fn rows(prepared: &Prepared, scheme: usize, outcome: &incast_sim::Outcome) -> Vec<Row> {
    let Some(tenancy) = prepared.tenancy.as_deref() else { return Vec::new() };
    let setup = &prepared.schemes[scheme].setup;
    let routes = routes(setup);
    let cuts = cuts(setup, outcome.end);
    let pairs = Pairs::of(&prepared.flows.flows);
    let mut offered = vec![vec![Offered::default(); pairs.ends.len()]; cuts.len().saturating_sub(1)];
    let samples = samples(outcome, &cuts);
    for (number, (flow, record)) in prepared.flows.flows.iter().zip(&outcome.flows).enumerate() {
        let kind = Kind::of(setup, flow);
        let acked = acked(record, samples.get(&(number as u32)), &cuts);
        for (interval, now) in acked.windows(2).enumerate() {
            let (from, to) = (cuts[interval], cuts[interval + 1]);
            let goes_on = under_way(flow, record, from, to);
            // Bytes acknowledged after the flow's end were in flight.
            if goes_on || now[1] > now[0] {
                offered[interval][pairs.of_flow[number]].add(flow, &kind, [now[0], now[1]], to - from, goes_on);
            }
        }
    }
    let optimum = Optimum::new(&prepared.fabric, &routes);
    let of_interval = |(interval, all): (usize, Vec<Offered>)| {
        let span = [cuts[interval], cuts[interval + 1]];
        interval_rows(&pairs, &all, span, tenancy, &optimum)
    };
    offered.into_iter().enumerate().flat_map(of_interval).collect()
}

/// Routes of the start, as if no link failed.
fn routes(setup: &Setup) -> Arc<Routes> {
    let Params { network, seed, .. } = &setup.params;
    let given = network.routes(&setup.fabric, *seed);
    given.expect("the setup is checked")
}

fn interval_rows(
    pairs: &Pairs,
    all: &[Offered],
    [from, to]: [u64; 2],
    tenancy: &Tenancy,
    optimum: &Optimum<'_>,
) -> Vec<Row> {
    let seconds = (to - from) as f64 * 1e-12;
    let active: Vec<usize> = (0..all.len()).filter(|&pair| all[pair].flows > 0).collect();
    let demand = |&pair: &usize| {
        let (src, dst) = pairs.ends[pair];
        Pair { src, dst, demand: all[pair].demand * 8.0 / seconds }
    };
    let demands: Vec<Pair> = active.iter().map(demand).collect();
    let [most, guaranteed] = [optimum.of(&demands), static_split(tenancy, &demands)];
    let bytes = |rate: f64| (rate * seconds / 8.0).round() as u64;
    let row = |(place, pair): (usize, usize)| {
        let (src, dst) = pairs.ends[pair];
        let Offered { flows, payload, wire, .. } = all[pair];
        let (guaranteed, optimum) = (bytes(guaranteed[place]), bytes(most[place]));
        Row { from, to, src, dst, flows, payload, wire: wire.round() as u64, guaranteed, optimum }
    };
    active.into_iter().enumerate().map(row).collect()
}

fn cuts(setup: &Setup, end: Time) -> Vec<u64> {
    let measure = &setup.params.measure;
    let last = measure.sample_until.unwrap_or(end).min(end).0;
    let mut cuts = vec![0];
    if let Some(every) = measure.sample_every {
        let from = measure.sample_from.0;
        cuts.extend((0..).map(|step| from + step * every.0).take_while(|&time| time <= last).filter(|&time| time > 0));
    }
    if cuts.last().is_some_and(|&last| last < end.0) {
        cuts.push(end.0);
    }
    cuts
}

/// By flow: payload acknowledged at sampled cuts.
fn samples(outcome: &incast_sim::Outcome, cuts: &[u64]) -> HashMap<u32, Vec<(usize, u64)>> {
    let mut samples: HashMap<u32, Vec<(usize, u64)>> = HashMap::new();
    for sample in &outcome.rates {
        if let Ok(cut) = cuts.binary_search(&sample.time.0) {
            samples.entry(sample.flow).or_default().push((cut, sample.acked));
        }
    }
    samples
}

/// Payload acknowledged at each cut: the latest sample; the total at the last cut, and after the flow's end without later
/// samples (an ended flow is sampled only while packets are in flight).
fn acked(record: &FlowRecord, sampled: Option<&Vec<(usize, u64)>>, cuts: &[u64]) -> Vec<u64> {
    let mut at = vec![0; cuts.len()];
    let mut known = sampled.map_or(&[][..], Vec::as_slice).iter().peekable();
    let mut now = 0;
    let last_sample = sampled.and_then(|all| all.last()).map_or(0, |(cut, _)| *cut);
    let over = |cut: usize| record.finish.is_some_and(|end| end.0 <= cuts[cut]) && cut > last_sample;
    for (cut, place) in at.iter_mut().enumerate() {
        while let Some(&&(_, bytes)) = known.peek().filter(|(sample, _)| *sample <= cut) {
            now = bytes;
            known.next();
        }
        let last = cut + 1 == cuts.len();
        *place = if last || over(cut) { record.acked } else { now };
    }
    at
}

fn under_way(flow: &Flow, record: &FlowRecord, from: u64, to: u64) -> bool {
    let started = record.start.is_some_and(|start| start.0 < to);
    // `until` ends a flow even with packets in flight.
    let end = record.finish.into_iter().chain(flow.until).map(|time| time.0).min();
    started && end.is_none_or(|end| end > from)
}

struct Kind {
    /// Wire bytes per payload byte: of the flow's packets, of full ones if it has no size.
    wire: f64,
    /// In bit/s on the wire.
    most: f64,
}

impl Kind {
    fn of(setup: &Setup, flow: &Flow) -> Self {
        let packets = &setup.params.packets;
        let (payload, header, most) = match setup.carriers[usize::from(flow.label)] {
            Carrier::Rdma(index) => {
                let telemetry = packets.telemetry_bytes(setup.controls[index].control.telemetry());
                (packets.payload, packets.data_header + Bytes(telemetry), None)
            }
            Carrier::Transport(index) => {
                let rate = match &setup.transports[index] {
                    Transport::Udp(params) => params.rate,
                    _ => None,
                };
                (packets.mss, packets.segment_header, rate)
            }
        };
        let (bytes, count) = if flow.until.is_some() || flow.size.0 == 0 {
            (payload.0, 1)
        } else {
            (flow.size.0, flow.size.0.div_ceil(payload.0))
        };
        let wire = 1.0 + (count * (header.0 + packets.gap.0)) as f64 / bytes as f64;
        Self { wire, most: most.map_or(f64::INFINITY, |rate| rate.0 as f64) }
    }
}

impl Offered {
    /// `[before, after]`: payload acknowledged; `goes_on`: the flow has data to send.
    fn add(&mut self, flow: &Flow, kind: &Kind, [before, after]: [u64; 2], span: u64, goes_on: bool) {
        let sent = after.saturating_sub(before);
        let left = match flow.until {
            _ if !goes_on => sent as f64 * kind.wire,
            Some(_) => f64::INFINITY,
            None => flow.size.0.saturating_sub(before) as f64 * kind.wire,
        };
        self.flows += 1;
        self.payload += sent;
        self.wire += sent as f64 * kind.wire;
        self.demand += left.min(kind.most * span as f64 * 1e-12 / 8.0);
    }
}

struct Pairs {
    ends: Vec<(HostId, HostId)>,
    of_flow: Vec<usize>,
}

impl Pairs {
    fn of(flows: &[Flow]) -> Self {
        let (mut ends, mut of_flow, mut known) = (Vec::new(), Vec::with_capacity(flows.len()), HashMap::new());
        for flow in flows {
            let pair = *known.entry((flow.src, flow.dst)).or_insert_with(|| {
                ends.push((flow.src, flow.dst));
                ends.len() - 1
            });
            of_flow.push(pair);
        }
        Self { ends, of_flow }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use incast_sim::Simulation;

    use super::*;
    use crate::scenario::Loaded;

    /// Two VMs send to one on another server; the third pair is on the first server.
    const SCENARIO: &str = r#"
[fabric.star]
hosts = 2
rate = "1Gbps"
[vms]
slots = 4
rate = "2Gbps"
[[tenant]]
name = "y"
vms = 3
guarantee = "400Mbps"
placement.slots = ["h1.0", "h0.0", "h0.1"]
[[tenant]]
name = "x"
vms = 2
placement.slots = ["h0.2", "h0.3"]
[[workload]]
label = "y"
tenant = "y"
list = [{ src = 1, dst = 0, size = "backlogged" }, { src = 2, dst = 0, size = "250kB", start = "50ms" }]
[[workload]]
label = "x"
tenant = "x"
list = [{ src = 0, dst = 1, size = "backlogged" }]
[packets]
gap = "38B"
[switch]
queues.drop-tail.limit = "256kB"
[measure]
sample_every = "20ms"
[simulation]
horizon = "90ms"
[scheme.UDP]
transport = "udp"
[scheme.Reservation]
transport = "tcp"
transport_by_label.x.udp.rate = "100Mbps"
hypervisor = "reservation"
"#;

    fn rows_of(scheme: usize) -> Vec<Row> {
        rows_in(SCENARIO, scheme)
    }

    fn rows_in(scenario: &str, scheme: usize) -> Vec<Row> {
        let prepared = Loaded::from_text("s.toml", scenario, Path::new("."), &[]).unwrap().prepare().unwrap();
        let setup = prepared.schemes[scheme].setup.clone();
        let outcome = Simulation::new(setup).unwrap().run(&mut |_| ControlFlow::Continue(()));
        let rows = rows(&prepared, scheme, &outcome);
        for flow in &outcome.flows {
            assert!(flow.acked > 0);
        }
        let carried: u64 = rows.iter().map(|row| row.payload).sum();
        assert_eq!(carried, outcome.flows.iter().map(|flow| flow.acked).sum::<u64>(), "every byte is in one interval");
        rows
    }

    fn mbps(row: &Row, bytes: u64) -> f64 {
        bytes as f64 * 8e6 / (row.to - row.from) as f64
    }

    #[test]
    fn intervals_are_those_between_samples() {
        let rows = rows_of(0);
        let intervals: Vec<(u64, u64)> = rows.iter().map(|row| (row.from, row.to)).collect();
        let ms = 1_000_000_000;
        for (from, to) in [(0, 20), (20, 40), (40, 60), (60, 80), (80, 90)] {
            assert!(intervals.contains(&(from * ms, to * ms)), "{intervals:?}");
        }
        let short: Vec<&Row> = rows.iter().filter(|row| row.src == HostId(1)).collect();
        assert_eq!(short.len(), 1);
        assert_eq!((short[0].from, short[0].flows), (40 * ms, 1));
    }

    #[test]
    fn what_is_possible_and_what_is_guaranteed() {
        for row in rows_of(0) {
            let [most, sure] = [row.optimum, row.guaranteed].map(|bytes| mbps(&row, bytes));
            // 172 packets with 40 B of headers and 38 B of gap each.
            let short = (250_000.0 + 172.0 * 78.0) * 8.0 / 20e-3 * 1e-6;
            let among_two = row.from == 40_000_000_000;
            let expected = match (row.src.0, among_two) {
                (0, false) => (1000.0, 400.0),
                // The short flow takes part of the receiver's 400 Mb/s hose.
                (0, true) => (1000.0 - short, 400.0 - short),
                (1, _) => (short, short),
                // Within a server only the virtual link limits.
                _ => (2000.0, 0.0),
            };
            assert!((most - expected.0).abs() < 0.1 && (sure - expected.1).abs() < 0.1, "{row:?}: {most}, {sure}");
        }
    }

    #[test]
    fn small_packets_have_their_own_headers() {
        let small = SCENARIO.replace("size = \"250kB\", start = \"50ms\"", "size = \"100B\", start = \"50ms\"");
        let rows = rows_in(&small, 0);
        let found: Vec<(u64, u64)> =
            rows.iter().filter(|row| row.src == HostId(1)).map(|row| (row.payload, row.wire)).collect();
        assert_eq!(found, [(100, 178)]);
    }

    #[test]
    fn the_optimum_is_that_of_the_schemes_routes() {
        let scenario = r#"
[fabric.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 1
host_rate = "4Gbps"
uplink_rate = "1Gbps"
[vms]
slots = 1
rate = "4Gbps"
[[tenant]]
name = "x"
vms = 2
[[workload]]
tenant = "x"
list = [{ src = 0, dst = 1, size = "backlogged" }]
[simulation]
horizon = "1ms"
[scheme.both]
transport = "udp"
[scheme.one]
transport = "udp"
network.route = [{ at = "leaf0", to = "h1", via = ["spine1"] }]
"#;
        for (scheme, optimum) in [(0, 2000.0), (1, 1000.0)] {
            let rows = rows_in(scenario, scheme);
            assert_eq!(rows.iter().map(|row| mbps(row, row.optimum)).collect::<Vec<_>>(), [optimum]);
        }
    }

    #[test]
    fn who_sends_less_wants_less() {
        let rows = rows_of(1);
        let x: Vec<&Row> = rows.iter().filter(|row| row.src == HostId(2)).collect();
        assert!(x.iter().all(|row| (mbps(row, row.optimum) - 100.0).abs() < 0.1), "{x:?}");
        let full: Vec<f64> = x.iter().map(|row| mbps(row, row.wire)).collect();
        assert!(full.iter().all(|rate| (rate - 100.0).abs() < 3.0), "{full:?}");
        let y = rows.iter().find(|row| row.src == HostId(0) && row.from == 60_000_000_000).unwrap();
        // Two pairs share the receiver's guarantee.
        assert!((mbps(y, y.wire) - 200.0).abs() < 10.0, "{y:?}: {}", mbps(y, y.wire));
    }
}
