use std::fmt;

use incast_model::echo::{counted, grouped};
use incast_model::flow::Flow;
use incast_model::memory::{Memory, amount};
use incast_model::routing::Routes;
use incast_model::tenant::{Pair, optimum};
use incast_sim::transport::Transport;
use incast_sim::{Carrier, Setup};
use serde::Serialize;

use crate::memory::Demand;
use crate::scenario::Prepared;

/// Rough size of a run, without pauses, retransmissions and controls' actions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Data packets of the scheme with most.
    pub packets: u64,
    /// Packets of the scheme with most, data and ACKs, per link crossed.
    pub packet_hops: u64,
    /// Number of schemes.
    pub schemes: usize,
    /// Packet-hops per second of a core, for `cpu_seconds`.
    pub packet_hops_per_s: f64,
    /// CPU seconds of all schemes together.
    pub cpu_seconds: f64,
    /// Bytes of the results folder, without time series.
    pub results_bytes: u64,
    /// Bytes of memory with one scheme at a time.
    pub memory_bytes: u64,
}

impl Estimate {
    pub(super) fn new(prepared: &Prepared, routes: &Routes, links: impl Fn(&Flow) -> u64, rate: f64) -> Self {
        let flows: Vec<(u16, u64, u64)> = prepared
            .flows
            .flows
            .iter()
            .zip(payloads(prepared, routes))
            .map(|(flow, bytes)| (flow.label, bytes, links(flow)))
            .collect();
        let of_schemes: Vec<(u64, u64)> =
            prepared.schemes.iter().map(|scheme| packets(&scheme.setup, &flows)).collect();
        let larger = |most: (u64, u64), &one: &(u64, u64)| if one.1 > most.1 { one } else { most };
        let (packets, hops) = of_schemes.iter().fold((0, 0), larger);
        let all: f64 = of_schemes.iter().map(|one| one.1 as f64).sum();
        let schemes = prepared.schemes.len();
        // About 60 bytes (flows), 40 (ports).
        let rows = 60 * prepared.flows.flows.len() as u64 + 40 * prepared.fabric.ports().len() as u64;
        Self {
            packets,
            packet_hops: hops,
            schemes,
            packet_hops_per_s: rate,
            cpu_seconds: all / rate,
            results_bytes: rows * schemes as u64 + 20_000,
            memory_bytes: Demand::new(prepared).bytes(1),
        }
    }
}

/// Data packets, and packet-hops with ACKs, of flows by label, bytes and links.
fn packets(setup: &Setup, flows: &[(u16, u64, u64)]) -> (u64, u64) {
    let params = &setup.params;
    // Payload of a packet, and packets of an ACK.
    let shape = |carrier: &Carrier| match carrier {
        Carrier::Rdma(_) => (params.packets.payload.0, u64::from(params.rdma.ack_every)),
        Carrier::Transport(index) => match setup.transports[*index] {
            Transport::Udp(_) => (params.packets.mss.0, u64::MAX),
            _ => (params.packets.mss.0, 1),
        },
    };
    let shapes: Vec<(u64, u64)> = setup.carriers.iter().map(shape).collect();
    flows.iter().fold((0, 0), |(packets, hops): (u64, u64), &(label, bytes, links)| {
        let (payload, ack_every) = shapes[usize::from(label)];
        let data = bytes.div_ceil(payload);
        let acks = if ack_every == u64::MAX { 0 } else { data.div_ceil(ack_every) };
        (packets + data, hops.saturating_add(links * (data + acks)))
    })
}

/// If backlogged, a share of the links.
fn payloads(prepared: &Prepared, routes: &Routes) -> Vec<u64> {
    let flows = &prepared.flows.flows;
    let backlogged: Vec<usize> = (0..flows.len()).filter(|&at| flows[at].until.is_some()).collect();
    let pairs: Vec<Pair> = backlogged.iter().map(|&at| Pair::backlogged(flows[at].src, flows[at].dst)).collect();
    let mut payloads: Vec<u64> = flows.iter().map(|flow| flow.size.0).collect();
    for (at, rate) in backlogged.into_iter().zip(optimum(&prepared.fabric, routes, &pairs)) {
        let span = flows[at].until.unwrap_or(flows[at].start).saturating_sub(flows[at].start);
        payloads[at] = (rate * span.seconds() / 8.0) as u64;
    }
    payloads
}

fn number(number: u64) -> String {
    match number {
        0..1_000_000 => grouped(number),
        _ => format!("{} M", significant(number as f64 / 1e6)),
    }
}

/// Three digits, or whole.
fn significant(number: f64) -> String {
    match number {
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => grouped(number.round() as u64),
    }
}

fn cpu_time(seconds: f64) -> String {
    match seconds {
        ..0.1 => "less than 0.1 s".into(),
        ..100.0 => format!("about {seconds:.1} s"),
        ..6_000.0 => format!("about {} min", significant(seconds / 60.0)),
        _ => format!("about {} h", significant(seconds / 3_600.0)),
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hops = self.cpu_seconds * self.packet_hops_per_s / self.schemes as f64;
        let equal = hops > self.packet_hops as f64 * 0.999_999;
        write!(
            f,
            "\nestimate   {} packets, {} packet-hops in {} of {}: {} of CPU time at {} M packet-hops per second, {} of \
             results, {} of memory with one scheme at a time",
            number(self.packets),
            number(self.packet_hops),
            if equal { "each" } else { "the largest" },
            counted(self.schemes as u64, "scheme"),
            cpu_time(self.cpu_seconds),
            self.packet_hops_per_s / 1e6,
            amount(self.results_bytes as f64),
            amount(self.memory_bytes as f64)
        )?;
        let memory = Memory::available();
        if self.memory_bytes > memory.bytes { write!(f, " ({memory})") } else { Ok(()) }
    }
}
