use std::borrow::Cow;

use incast_model::fabric::PortId;
use incast_model::units::Time;
use incast_sim::measure::QueueSample;
use incast_sim::outcome::PortRecord;

use super::super::columns::{bps, bytes, count, ps, u8, u32};
use super::shared::{AtPort, local_port, node_name, peer_name, port, priority, scheme, time};
use super::{Condition, Records, Table};

impl AtPort for PortRecord {
    fn port(&self) -> PortId {
        self.port
    }
}

pub(super) static PORTS: Table<PortRecord> = Table {
    name: "ports",
    description: "one row per port and used priority: counters over the whole run",
    condition: Condition::Always,
    rows: |run| (&run.outcome.ports).into(),
    columns: &[
        scheme(),
        port(),
        u32("node", "node number of the port", |row| row.node().0),
        node_name(),
        local_port(),
        peer_name(),
        u32("peer_port", "number of the port at the other end of the link", |row| {
            row.run.fabric.port(row.record.port).peer.0
        }),
        u8("tier", "tier of the node: 0 hosts, 1 their switches, and so on up", |row| {
            row.run.fabric.node(row.node()).tier
        }),
        bps("rate_bps", "link rate", |row| row.run.fabric.rate(row.port).0),
        priority(|row| row.priority),
        bytes("tx_bytes", "wire bytes sent", |row| row.tx_bytes),
        count("tx_packets", "packets sent", |row| row.tx_packets),
        count("marks", "packets marked by ECN on leaving", |row| row.marks),
        count(
            "drops",
            "packets dropped that arrived at this port: no buffer space, no route, time to live exceeded, PFC watchdog, or a gray failure",
            |row| row.drops,
        ),
        count(
            "lost",
            "packets lost because the port's link was down: queued, on the wire, or destined for it",
            |row| row.lost,
        ),
        bytes("peak_queue_bytes", "longest egress queue", |row| row.peak_queue),
        bytes("peak_ingress_bytes", "largest buffer use of packets that arrived here, with headroom", |row| {
            row.peak_ingress
        }),
        bytes("peak_headroom_bytes", "largest headroom use", |row| row.peak_headroom),
        count("xoff_sent", "XOFF frames sent to the peer", |row| row.xoff_sent),
        count("xon_sent", "XON frames sent to the peer", |row| row.xon_sent),
        count("xoff_received", "XOFF frames received", |row| row.xoff_received),
        ps("paused_ps", "total time paused", |row| row.paused),
    ],
};

impl AtPort for QueueSample {
    fn port(&self) -> PortId {
        self.port
    }
}

pub(super) static QUEUES: Table<QueueSample> = Table {
    name: "queues",
    description: "one row per sample of a switch port that has a queue or sent since its last sample (with `measure.sample_every`)",
    condition: Condition::Always,
    rows: |run| (&run.outcome.queues).into(),
    columns: &[
        scheme(),
        time(|row| row.time),
        port(),
        node_name(),
        local_port(),
        peer_name(),
        bytes("queue_bytes", "bytes queued, all priorities", |row| row.bytes),
        bytes("tx_bytes", "wire bytes sent since the previous sample; 0 in the first (`measure.sample_from`)", |row| {
            row.tx_bytes
        }),
    ],
};

#[derive(Debug, Clone, Copy)]
pub(super) struct Bin {
    port: PortId,
    number: u64,
    time: u64,
}

fn bins<'a>(run: &'a Records<'a>) -> Cow<'a, [Bin]> {
    let of_ports = run
        .outcome
        .histograms
        .iter()
        .flat_map(|one| (0..).zip(&one.time_in_bin).map(|(number, &time)| Bin { port: one.port, number, time }));
    of_ports.filter(|bin| bin.time > 0).collect()
}

impl AtPort for Bin {
    fn port(&self) -> PortId {
        self.port
    }
}

pub(super) static HISTOGRAMS: Table<Bin> = Table {
    name: "histograms",
    description: "one row per switch port and occurring range of queue lengths (with `measure.queue_histogram`)",
    condition: Condition::Always,
    rows: bins,
    columns: &[
        scheme(),
        port(),
        node_name(),
        local_port(),
        peer_name(),
        bytes("queue_from_bytes", "lower end of the range, inclusive", |row| {
            row.record.number * row.run.histogram_bin.0
        }),
        bytes("queue_to_bytes", "upper end of the range, exclusive", |row| {
            (row.record.number + 1) * row.run.histogram_bin.0
        }),
        ps("time_ps", "time with a queue in this range", |row| Time(row.time)),
    ],
};
