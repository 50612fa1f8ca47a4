//! What is in the tables of a results folder: the one list of columns, with units and descriptions.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

/// How the values of a column are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text from a small set, dictionary-encoded.
    Name,
    /// Yes or no.
    Flag,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits: times and bytes, so that differences can be taken.
    I64,
    /// A fraction or ratio.
    F64,
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Name => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::Flag => DataType::Boolean,
            Self::U8 => DataType::UInt8,
            Self::U16 => DataType::UInt16,
            Self::U32 => DataType::UInt32,
            Self::I64 => DataType::Int64,
            Self::F64 => DataType::Float64,
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// How its values are stored.
    pub kind: Kind,
    /// Whether values may be missing.
    pub nullable: bool,
    /// Unit of its values; empty for names, numbers of things and ratios.
    pub unit: &'static str,
    /// What it says.
    pub description: &'static str,
}

/// A table of a results folder, stored as `NAME.parquet`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// Its name.
    pub name: &'static str,
    /// What a row is.
    pub description: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

impl TableSpec {
    /// The table of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// Its schema; units and descriptions are in the metadata of the fields.
    pub fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(|column| {
            let mut metadata = HashMap::from([("description".to_owned(), column.description.to_owned())]);
            if !column.unit.is_empty() {
                metadata.insert("unit".into(), column.unit.into());
            }
            Field::new(column.name, column.kind.data_type(), column.nullable).with_metadata(metadata)
        });
        let metadata = HashMap::from([("description".to_owned(), self.description.to_owned())]);
        Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata))
    }

    /// Whether every run has it.
    pub fn is_of_all(&self) -> bool {
        !self.is_of_vms() && ![ISOLATIONS.name, WAITS.name].contains(&self.name)
    }

    /// Whether only runs with tenants have it.
    pub fn is_of_vms(&self) -> bool {
        [VMS.name, PAIRS.name, LIMITS.name, THROUGHPUT.name].contains(&self.name)
    }

    /// Name of its file.
    pub fn file(&self) -> String {
        format!("{}.parquet", self.name)
    }
}

const fn column(name: &'static str, kind: Kind, unit: &'static str, description: &'static str) -> Column {
    Column { name, kind, nullable: false, unit, description }
}

const fn maybe(name: &'static str, kind: Kind, unit: &'static str, description: &'static str) -> Column {
    Column { name, kind, nullable: true, unit, description }
}

use Kind::{F64, Flag, I64, Name, U8, U16, U32};

const SCHEME: Column = column("scheme", Name, "", "the scheme simulated");
const PORT: Column = column("port", U32, "", "number of the port, over the whole fabric");
const NODE_NAME: Column = column("node_name", Name, "", "name of the node that the port belongs to");
const LOCAL_PORT: Column = column("local_port", U32, "", "number of the port within its node, from 0");
const PEER_NAME: Column = column("peer_name", Name, "", "name of the node at the other end of the port's link");
const PRIORITY: Column = column("priority", U8, "", "priority, 0 to 7");

/// Flow completion times and what happened to each flow.
pub const FLOWS: TableSpec = TableSpec {
    name: "flows",
    description: "one row per flow and scheme, in order of start",
    columns: &[
        SCHEME,
        column("flow", U32, "", "number of the flow, in order of start, from 0"),
        column("message", U32, "", "number of the message that it is, or is a part of (`qps`)"),
        column("label", Name, "", "name of its group of flows"),
        column("src", U32, "", "number of the sending host, from 0"),
        column("dst", U32, "", "number of the receiving host, from 0"),
        column("src_name", Name, "", "name of the sending host"),
        column("dst_name", Name, "", "name of the receiving host"),
        column("size_bytes", I64, "B", "payload of the flow"),
        PRIORITY,
        column("sport", U16, "", "UDP source port"),
        column("dport", U16, "", "UDP destination port"),
        maybe(
            "dependency",
            U32,
            "",
            "number of the dependency that it waited for; missing if it started by the clock alone",
        ),
        maybe("start_ps", I64, "ps", "when it started; missing if it did not come to that"),
        maybe("delivered_ps", I64, "ps", "when its last byte reached its receiver; missing if it did not"),
        maybe("finish_ps", I64, "ps", "when its sender had the ACK of its last byte; missing if it did not complete"),
        maybe("fct_ps", I64, "ps", "flow completion time: finish_ps - start_ps"),
        column(
            "ideal_hpcc_ps",
            I64,
            "ps",
            "ideal of the HPCC evaluation: base RTT plus payload and basic headers at the slowest link; not a lower bound",
        ),
        column("ideal_exact_ps", I64, "ps", "time of the flow alone on its path in its real packets; no run is faster"),
        maybe("slowdown_hpcc", F64, "", "fct_ps / ideal_hpcc_ps, not clamped at 1"),
        maybe("slowdown_exact", F64, "", "fct_ps / ideal_exact_ps"),
        column("acked_bytes", I64, "B", "payload acknowledged, that beyond gaps too where acknowledgements tell of it"),
        column("packets", I64, "", "data packets sent, retransmissions included"),
        column("retransmitted", I64, "", "data packets sent again"),
        column(
            "discarded",
            I64,
            "",
            "data packets that its receiver did not keep: duplicates; with go-back-N, out of order",
        ),
        column("nacks", I64, "", "NACKs received by the sender"),
        column("timeouts", I64, "", "retransmission timeouts"),
        column("marks", I64, "", "ACKs that echoed an ECN mark, or CNPs received"),
        column("hops", U8, "", "links on its path"),
        column("cancelled", Flag, "", "whether it was not to start, because the `end` of its workload entry had come"),
        column(
            "backlogged",
            Flag,
            "",
            "whether it had no size, but something to send until an end: its size is what was acknowledged",
        ),
    ],
};

/// Messages that are split over several queue pairs.
pub const MESSAGES: TableSpec = TableSpec {
    name: "messages",
    description: "one row per message and scheme, if messages are split over several queue pairs (`qps`)",
    columns: &[
        SCHEME,
        column("message", U32, "", "number of the message, in order of its first flow, from 0"),
        column("label", Name, "", "name of its group of flows"),
        column("src", U32, "", "number of the sending host, from 0"),
        column("dst", U32, "", "number of the receiving host, from 0"),
        column("first_flow", U32, "", "number of its first flow"),
        column("flows", U32, "", "flows that it is split into, numbered from the first on"),
        column("size_bytes", I64, "B", "payload of all of them"),
        maybe("start_ps", I64, "ps", "when the first of them started; missing if none did"),
        maybe("delivered_ps", I64, "ps", "when the last byte of all reached the receiver; missing if one did not"),
        maybe("finish_ps", I64, "ps", "when the sender had the last ACK of all; missing if one did not complete"),
        maybe("fct_ps", I64, "ps", "message completion time: finish_ps - start_ps"),
    ],
};

/// Counters of every port and priority.
pub const PORTS: TableSpec = TableSpec {
    name: "ports",
    description: "one row per port and used priority, and scheme: counters over the whole run",
    columns: &[
        SCHEME,
        PORT,
        column("node", U32, "", "number of the node that the port belongs to"),
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        column("tier", U8, "", "layer of the node: 0 hosts, 1 their switches, and so on up"),
        column("rate_bps", I64, "bit/s", "rate of the port's link"),
        PRIORITY,
        column("tx_bytes", I64, "B", "wire bytes sent"),
        column("tx_packets", I64, "", "packets sent"),
        column("marks", I64, "", "packets marked by ECN on leaving"),
        column("drops", I64, "", "packets dropped on arrival at this port: no room, no route, or lost silently"),
        column(
            "lost",
            I64,
            "",
            "packets lost because the link of this port was down: queued, on the wire, or come for it",
        ),
        column("peak_queue_bytes", I64, "B", "longest egress queue"),
        column("peak_ingress_bytes", I64, "B", "most buffer held by packets that arrived here, headroom included"),
        column("peak_headroom_bytes", I64, "B", "most headroom used"),
        column("xoff_sent", I64, "", "XOFF frames sent to the peer"),
        column("xon_sent", I64, "", "XON frames sent to the peer"),
        column("xoff_received", I64, "", "XOFF frames received"),
        column("paused_ps", I64, "ps", "total time that sending was paused"),
    ],
};

/// Intervals of pause, with their cause.
pub const PAUSES: TableSpec = TableSpec {
    name: "pauses",
    description: "one row per interval during which an egress queue was paused by its peer",
    columns: &[
        SCHEME,
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        PRIORITY,
        column("start_ps", I64, "ps", "when the XOFF frame took effect"),
        maybe("end_ps", I64, "ps", "when the XON frame took effect; missing if the run ended first"),
        column("ingress_bytes", I64, "B", "bytes held at the peer for this port and priority when it sent the XOFF"),
        column(
            "culprit_port",
            U32,
            "",
            "the peer's egress port that held most of those bytes, or that sent a pause of network.pause",
        ),
        column("culprit_peer_name", Name, "", "name of the node that this egress port leads to"),
    ],
};

/// Packets dropped.
pub const DROPS: TableSpec = TableSpec {
    name: "drops",
    description: "one row per dropped packet (the first `measure.max_drops`; `ports` counts all)",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "when"),
        column(
            "reason",
            Name,
            "",
            "why: buffer (no room), link-down, silent (a failure that nobody noticed), no-route",
        ),
        column("node", U32, "", "number of the switch, or of the host whose own link was down"),
        column("node_name", Name, "", "its name"),
        maybe("ingress_port", U32, "", "the port it arrived at; missing for what the node itself sent"),
        maybe("egress_port", U32, "", "the port it left by or would have left by; missing where none was known"),
        PRIORITY,
        maybe("flow", U32, "", "its flow; missing for PFC frames"),
        column("bytes", I64, "B", "its wire bytes"),
        column("lossless", Flag, "", "whether its priority was lossless: with reason buffer the headroom failed"),
    ],
};

/// What happened to links.
pub const LINKS: TableSpec = TableSpec {
    name: "links",
    description: "one row for each time that a link failed, was repaired, or routes changed because of it",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "when"),
        column("link", U32, "", "number of the link"),
        column("a_name", Name, "", "name of the node at one end"),
        column("b_name", Name, "", "name of the node at the other end"),
        column(
            "change",
            Name,
            "",
            "down, up, silent (loses packets), clean (loses none any more), withdrawn (routes avoid it), restored (routes use it)",
        ),
        column("port", U32, "", "number of the port at the first end"),
        column("peer_port", U32, "", "number of the port at the other end"),
    ],
};

/// Queue lengths over time.
pub const QUEUES: TableSpec = TableSpec {
    name: "queues",
    description: "one row per sample of a switch port whose queue was not empty (with `measure.sample_every`)",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "when"),
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        column("queue_bytes", I64, "B", "bytes queued, all priorities"),
        column("tx_bytes", I64, "B", "wire bytes sent since the last sample of this port"),
    ],
};

/// Flow rates over time.
pub const RATES: TableSpec = TableSpec {
    name: "rates",
    description: "one row per sample of an active flow (with `measure.sample_every`)",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "when"),
        column("flow", U32, "", "the flow"),
        column("rate_bps", I64, "bit/s", "sending rate allowed by its control"),
        maybe("window_bytes", I64, "B", "window allowed by its control; missing if it has none"),
        column(
            "acked_bytes",
            I64,
            "B",
            "payload acknowledged so far, that beyond gaps too where acknowledgements tell of it",
        ),
    ],
};

/// Deadlocks of PFC.
pub const DEADLOCKS: TableSpec = TableSpec {
    name: "deadlocks",
    description: "one row per queue of a deadlock's cycle, in order: each waits for the next, the last for the first",
    columns: &[
        SCHEME,
        column("deadlock", U32, "", "number of the deadlock within the scheme's run, from 0"),
        column("position", U32, "", "place of the queue in the cycle, from 0"),
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        PRIORITY,
        column("paused_ps", I64, "ps", "since when the queue was paused"),
        column("queue_bytes", I64, "B", "bytes in it when the deadlock was first seen"),
        column("closed_ps", I64, "ps", "when the cycle closed: the last of its queues was paused"),
        column("detected_ps", I64, "ps", "when the deadlock was first seen (`measure.deadlock_every`)"),
        maybe("ended_ps", I64, "ps", "when it was first seen to be no more; missing if it was there at the end"),
        column(
            "stuck_queues",
            U32,
            "",
            "most queues of switches that were stuck at one time, the cycle's and those that wait for it",
        ),
        column("stuck_bytes", I64, "B", "most bytes in these"),
        column("stuck_hosts", U32, "", "most ports of hosts that these kept paused"),
    ],
};

/// What the PFC watchdog did.
pub const STORMS: TableSpec = TableSpec {
    name: "storms",
    description: "one row per time during which the PFC watchdog did not let a queue be paused (`switch.watchdog`)",
    columns: &[
        SCHEME,
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        PRIORITY,
        column("start_ps", I64, "ps", "when it found that the queue had been paused for too long"),
        maybe("end_ps", I64, "ps", "when it let it be paused again; missing if the run ended first"),
    ],
};

/// Flows that switches isolated.
pub const ISOLATIONS: TableSpec = TableSpec {
    name: "isolations",
    description: "one row per time during which a flow was isolated at a port (`switch.isolation`); only in runs with a scheme that \
                  isolates",
    columns: &[
        SCHEME,
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        column("flow", U32, "", "number of the flow, as in `flows`"),
        column(
            "reason",
            Name,
            "",
            "why: `marks` or `counters` (found at this port), `message` (the next switch said so), `class` (it came isolated)",
        ),
        column("start_ps", I64, "ps", "when it was isolated"),
        maybe("end_ps", I64, "ps", "when it was let go; missing if the run ended first"),
        column(
            "packets",
            I64,
            "",
            "its packets that the port gave the priority of isolated flows, or that came with it; 0 at hosts",
        ),
        column("bytes", I64, "B", "wire bytes of these"),
        column("messages", U32, "", "messages that the port sent about it"),
        maybe(
            "flow_bytes",
            I64,
            "B",
            "wire bytes of the flow in the queue that it was found in, without the packet that it was found by; this and what follows \
             is missing where `reason` is `message` or `class`",
        ),
        maybe("queue_bytes", I64, "B", "wire bytes of all flows in that queue then"),
        maybe("queue_flows", U32, "", "flows with data in that queue then"),
        maybe(
            "pause_ago_ps",
            I64,
            "ps",
            "how long before that the next node had last paused the queue; 0 if it was paused, missing if it never was",
        ),
        maybe(
            "root_port",
            U32,
            "",
            "root of that pause, a number as in `port`; missing without `measure.blocking`, and if the next node paused of its own accord",
        ),
        maybe("root_on_path", Flag, "", "whether the rest of the flow's way goes by that port; missing where it is"),
    ],
};

/// How long data waited.
pub const WAITS: TableSpec = TableSpec {
    name: "waits",
    description: "one row per flow and scheme; only in runs with `measure.blocking`",
    columns: &[
        SCHEME,
        column("flow", U32, "", "number of the flow, as in `flows`"),
        column("label", Name, "", "label of the flow"),
        column("waited_ps", I64, "ps", "time in egress queues of switches, all data packets together"),
        column("blocked_ps", I64, "ps", "of that, while the next node paused the queue (PFC)"),
        column(
            "victim_ps",
            I64,
            "ps",
            "of that, while the root of the pause (the congested port at the end of a chain of pauses) was not on the rest of the \
             packet's way: head-of-line blocking",
        ),
        column(
            "host_blocked_ps",
            I64,
            "ps",
            "time in which the flow's next data could have left its host and nothing but the pause of its priority kept it; of the \
             flow, not of packets",
        ),
        column("host_victim_ps", I64, "ps", "of that, while the root of the pause was not on the flow's way"),
    ],
};

/// Time-weighted queue lengths.
pub const HISTOGRAMS: TableSpec = TableSpec {
    name: "histograms",
    description: "one row per switch port and range of queue lengths that occurred (with `measure.queue_histogram`)",
    columns: &[
        SCHEME,
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        column("queue_from_bytes", I64, "B", "lower end of the range, included"),
        column("queue_to_bytes", I64, "B", "upper end of the range, not included"),
        column("time_ps", I64, "ps", "time spent with a queue in this range"),
    ],
};

/// VMs of tenants, where hosts are VMs.
pub const VMS: TableSpec = TableSpec {
    name: "vms",
    description: "one row per VM of a tenant and scheme, by tenant; only in runs with tenants",
    columns: &[
        SCHEME,
        column("host", U32, "", "number of the host that it is, as in flows"),
        column("name", Name, "", "name of that host"),
        column("server", Name, "", "name of its server"),
        column("tenant", Name, "", "its tenant"),
        column("tenant_group", Name, "", "the `[[tenant]]` that made the tenant"),
        column("vm", U32, "", "its number within the tenant, from 0"),
        column("mapper", Flag, "", "whether it is one of the tenant's mappers"),
        column("send_bps", I64, "bit/s", "what it may send, guaranteed; 0 for nothing"),
        column("receive_bps", I64, "bit/s", "what it may receive, guaranteed; 0 for nothing"),
    ],
};

const PAIR: Column = column("pair", U32, "", "number of the pair, in order of its first flow");

/// Pairs of VMs behind hypervisors.
pub const PAIRS: TableSpec = TableSpec {
    name: "pairs",
    description: "one row per pair of VMs, sending and receiving, and scheme; none under schemes without a hypervisor; only in runs with tenants",
    columns: &[
        SCHEME,
        PAIR,
        column("src", U32, "", "number of the sending VM's host"),
        column("dst", U32, "", "number of the receiving VM's host"),
        column("src_name", Name, "", "name of the sending VM's host"),
        column("dst_name", Name, "", "name of the receiving VM's host"),
        column("sent_bytes", I64, "B", "wire bytes let through by its limiter, answers included"),
        column("received_bytes", I64, "B", "wire bytes that came to the other end"),
        column("lost_packets", I64, "", "packets lost on the way, as the other end knows"),
        column("marked_packets", I64, "", "packets that came with an ECN mark"),
        column("refused_packets", I64, "", "packets dropped before its limiter, whose queue was full"),
    ],
};

/// Guarantees and limits of pairs over time.
pub const LIMITS: TableSpec = TableSpec {
    name: "limits",
    description: "one row per sample of an active pair of VMs (`measure.sample_every`), none under schemes without a hypervisor; only in runs with tenants",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "when"),
        PAIR,
        column("guarantee_bps", I64, "bit/s", "its guarantee"),
        maybe("limit_bps", I64, "bit/s", "its limit; missing if it has none"),
        column("sent_bytes", I64, "B", "wire bytes let through by its limiter so far"),
        column("received_bytes", I64, "B", "wire bytes that came to the other end so far"),
        column("waiting_packets", U32, "", "packets that wait for its limiter"),
    ],
};

/// What pairs of VMs carried over time.
pub const THROUGHPUT: TableSpec = TableSpec {
    name: "throughput",
    description: "one row per pair of VMs with a flow under way and interval between samples (`measure.sample_every`; without it the \
                  whole run is one), whatever the scheme; only in runs with tenants",
    columns: &[
        SCHEME,
        column("start_ps", I64, "ps", "when the interval began"),
        column("end_ps", I64, "ps", "when it ended"),
        column("src", U32, "", "number of the sending VM's host"),
        column("dst", U32, "", "number of the receiving VM's host"),
        column("src_name", Name, "", "name of the sending VM's host"),
        column("dst_name", Name, "", "name of the receiving VM's host"),
        column("flows", U32, "", "its flows that were under way"),
        column("payload_bytes", I64, "B", "payload acknowledged in the interval; of UDP, received"),
        column("wire_bytes", I64, "B", "the same with headers and the gaps between packets, as of full ones"),
        column(
            "guaranteed_bytes",
            I64,
            "B",
            "the least that its VMs' hoses guarantee it, in wire bytes: its max-min part of them among all pairs with what they had to send",
        ),
        column(
            "optimum_bytes",
            I64,
            "B",
            "the work-conserving optimum, in wire bytes: its max-min part of the links among all pairs with what they had to send",
        ),
    ],
};

/// All tables of a results folder.
pub const TABLES: [TableSpec; 17] = [
    FLOWS, MESSAGES, PORTS, PAUSES, DEADLOCKS, STORMS, ISOLATIONS, WAITS, DROPS, LINKS, QUEUES, RATES, HISTOGRAMS, VMS,
    PAIRS, LIMITS, THROUGHPUT,
];
