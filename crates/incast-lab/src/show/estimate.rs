use std::fmt;

use incast_model::flow::Flow;
use incast_model::memory::{Memory, amount};
use incast_model::routing::Routes;
use incast_model::tenant::{Pair, optimum};
use serde::Serialize;

use super::counted;
use crate::memory::Demand;
use crate::scenario::Prepared;

/// Rough size of a run, without pauses, retransmissions and controls' actions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Data packets of one scheme.
    pub packets: u64,
    /// Packets of one scheme, data and ACKs, per link crossed.
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
        let (mut packets, mut hops) = (0u64, 0u64);
        let (payload, ack_every) = (prepared.scenario.packets.payload.0, u64::from(prepared.scenario.rdma.ack_every));
        for (flow, bytes) in prepared.flows.flows.iter().zip(payloads(prepared, routes)) {
            let data = bytes.div_ceil(payload);
            packets += data;
            hops = hops.saturating_add(links(flow) * (data + data.div_ceil(ack_every)));
        }
        let schemes = prepared.schemes.len();
        // About 60 bytes (flows), 40 (ports).
        let rows = 60 * prepared.flows.flows.len() as u64 + 40 * prepared.fabric.ports().len() as u64;
        Self {
            packets,
            packet_hops: hops,
            schemes,
            packet_hops_per_s: rate,
            cpu_seconds: hops as f64 * schemes as f64 / rate,
            results_bytes: rows * schemes as u64 + 20_000,
            memory_bytes: Demand::new(prepared).bytes(1),
        }
    }
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

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\nestimate   {:.3} M packets, {:.3} M packet-hops in each of {}: about {:.1} CPU seconds at {:.1} M/s, {:.1} MB of \
             results, {} of memory with one scheme at a time",
            self.packets as f64 / 1e6,
            self.packet_hops as f64 / 1e6,
            counted(self.schemes as u64, "scheme", "schemes"),
            self.cpu_seconds,
            self.packet_hops_per_s / 1e6,
            self.results_bytes as f64 / 1e6,
            amount(self.memory_bytes as f64)
        )?;
        let memory = Memory::available();
        if self.memory_bytes > memory.bytes { write!(f, " ({memory})") } else { Ok(()) }
    }
}
