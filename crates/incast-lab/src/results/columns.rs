//! Columns of the result tables, with units and descriptions.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incast_sim::outcome::DropReason;

/// Type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text from a small set, dictionary-encoded.
    Name,
    /// Boolean.
    Flag,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits: times and bytes, to allow differences.
    I64,
    /// Fraction or ratio.
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

/// Column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// If true, values can be missing.
    pub nullable: bool,
    /// Unit; empty for names, numbers of things and ratios.
    pub unit: &'static str,
    /// Meaning.
    pub description: &'static str,
}

/// Table of a results folder, stored as `NAME.parquet`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// Name.
    pub name: &'static str,
    /// Meaning of a row.
    pub description: &'static str,
    /// Columns, in order.
    pub columns: &'static [Column],
}

impl TableSpec {
    /// Returns the table of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// Schema, with units and descriptions as metadata of fields.
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

    /// Returns true for a table of every run.
    pub fn is_of_all(&self) -> bool {
        !self.is_of_vms() && ![ISOLATIONS.name, WAITS.name].contains(&self.name)
    }

    /// Returns true for a table that needs tenants.
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

/// Reasons of drops: `name (meaning), …`, from [`DropReason::ALL`].
const REASONS: &str = {
    const BYTES: [u8; reasons(&mut [])] = {
        let mut bytes = [0; reasons(&mut [])];
        reasons(&mut bytes);
        bytes
    };
    match std::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => panic!("names are text"),
    }
};

/// Writes the reasons into a nonempty buffer; returns the length needed.
const fn reasons(out: &mut [u8]) -> usize {
    let (mut at, mut reason) = (0, 0);
    while reason < DropReason::ALL.len() {
        let one = DropReason::ALL[reason];
        let parts = [if reason == 0 { "" } else { ", " }, one.name(), " (", one.meaning(), ")"];
        let mut part = 0;
        while part < parts.len() {
            let text = parts[part].as_bytes();
            let mut byte = 0;
            while byte < text.len() {
                if !out.is_empty() {
                    out[at] = text[byte];
                }
                (at, byte) = (at + 1, byte + 1);
            }
            part += 1;
        }
        reason += 1;
    }
    at
}

const SCHEME: Column = column("scheme", Name, "", "scheme");
const PORT: Column = column("port", U32, "", "port number, unique in the fabric");
const NODE_NAME: Column = column("node_name", Name, "", "node of the port");
const LOCAL_PORT: Column = column("local_port", U32, "", "port number within its node, from 0");
const PEER_NAME: Column = column("peer_name", Name, "", "node at the other end of the port's link");
const PRIORITY: Column = column("priority", U8, "", "priority, 0 to 7");

/// Flows: completion times and counters.
pub const FLOWS: TableSpec = TableSpec {
    name: "flows",
    description: "one row per flow, in order of start",
    columns: &[
        SCHEME,
        column("flow", U32, "", "flow number, in order of start, from 0"),
        column("message", U32, "", "number of its message, split over `qps` flows"),
        column("label", Name, "", "label of its group of flows"),
        column("src", U32, "", "sending host, from 0"),
        column("dst", U32, "", "receiving host, from 0"),
        column("src_name", Name, "", "name of the sending host"),
        column("dst_name", Name, "", "name of the receiving host"),
        column("size_bytes", I64, "B", "payload"),
        PRIORITY,
        column("sport", U16, "", "UDP source port"),
        column("dport", U16, "", "UDP destination port"),
        maybe("dependency", U32, "", "number of the dependency that it waited for; missing without one"),
        maybe("start_ps", I64, "ps", "start; missing if it did not start"),
        maybe("delivered_ps", I64, "ps", "arrival of its last byte at the receiver; missing without it"),
        maybe("finish_ps", I64, "ps", "arrival of the last ACK at the sender; missing if incomplete"),
        maybe("fct_ps", I64, "ps", "flow completion time: `finish_ps` - `start_ps`"),
        column(
            "ideal_hpcc_ps",
            I64,
            "ps",
            "ideal time of the HPCC evaluation: base RTT plus payload and basic headers at the slowest link's rate; no lower bound",
        ),
        column("ideal_exact_ps", I64, "ps", "time of the flow alone on its path, in its real packets; a lower bound"),
        maybe("slowdown_hpcc", F64, "", "`fct_ps` / `ideal_hpcc_ps`, can be below 1"),
        maybe("slowdown_exact", F64, "", "`fct_ps` / `ideal_exact_ps`"),
        column("acked_bytes", I64, "B", "payload acknowledged, selectively too"),
        column("packets", I64, "", "data packets sent, with retransmissions"),
        column("retransmitted", I64, "", "data packets retransmitted"),
        column(
            "discarded",
            I64,
            "",
            "data packets that the receiver discarded: duplicates; with go-back-N, out of order",
        ),
        column("nacks", I64, "", "NACKs received by the sender"),
        column("timeouts", I64, "", "retransmission timeouts"),
        column("marks", I64, "", "ACKs with an echoed ECN mark, or CNPs received"),
        column("hops", U8, "", "links on its path"),
        column(
            "status",
            Name,
            "",
            "`completed`, `incomplete` (started; the run stopped first), `not-started` (the run stopped before its start), `cancelled` (not started, as the `end` of its workload entry had passed)",
        ),
        column("backlogged", Flag, "", "true if it always had data to send: its size is the acknowledged payload"),
    ],
};

/// Messages split over several queue pairs.
pub const MESSAGES: TableSpec = TableSpec {
    name: "messages",
    description: "one row per message, if messages are split over several queue pairs (`qps`)",
    columns: &[
        SCHEME,
        column("message", U32, "", "message number, in order of its first flow, from 0"),
        column("label", Name, "", "label of its group of flows"),
        column("src", U32, "", "sending host, from 0"),
        column("dst", U32, "", "receiving host, from 0"),
        column("first_flow", U32, "", "first flow of the message"),
        column("flows", U32, "", "number of its flows, numbered from the first on"),
        column("size_bytes", I64, "B", "payload of all its flows"),
        maybe("start_ps", I64, "ps", "start of its first flow; missing if none started"),
        maybe("delivered_ps", I64, "ps", "arrival of the last byte of all its flows; missing without it"),
        maybe("finish_ps", I64, "ps", "arrival of the last ACK of all its flows; missing if incomplete"),
        maybe("fct_ps", I64, "ps", "message completion time: `finish_ps` - `start_ps`"),
    ],
};

/// Counters of every port and priority.
pub const PORTS: TableSpec = TableSpec {
    name: "ports",
    description: "one row per port and used priority: counters over the whole run",
    columns: &[
        SCHEME,
        PORT,
        column("node", U32, "", "node number of the port"),
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        column("tier", U8, "", "tier of the node: 0 hosts, 1 their switches, and so on up"),
        column("rate_bps", I64, "bit/s", "link rate"),
        PRIORITY,
        column("tx_bytes", I64, "B", "wire bytes sent"),
        column("tx_packets", I64, "", "packets sent"),
        column("marks", I64, "", "packets marked by ECN on leaving"),
        column(
            "drops",
            I64,
            "",
            "packets dropped on arrival at this port: no buffer space, no route, or a gray failure",
        ),
        column(
            "lost",
            I64,
            "",
            "packets lost because the port's link was down: queued, on the wire, or destined for it",
        ),
        column("peak_queue_bytes", I64, "B", "longest egress queue"),
        column("peak_ingress_bytes", I64, "B", "largest buffer use of packets that arrived here, with headroom"),
        column("peak_headroom_bytes", I64, "B", "largest headroom use"),
        column("xoff_sent", I64, "", "XOFF frames sent to the peer"),
        column("xon_sent", I64, "", "XON frames sent to the peer"),
        column("xoff_received", I64, "", "XOFF frames received"),
        column("paused_ps", I64, "ps", "total time paused"),
    ],
};

/// Intervals of pause, with their cause.
pub const PAUSES: TableSpec = TableSpec {
    name: "pauses",
    description: "one row per interval in which an egress queue was paused by its peer",
    columns: &[
        SCHEME,
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        PRIORITY,
        column("start_ps", I64, "ps", "time when XOFF took effect"),
        maybe("end_ps", I64, "ps", "time when XON took effect; missing if the run ended first"),
        column("ingress_bytes", I64, "B", "bytes of this port and priority in the peer when it sent XOFF"),
        column(
            "culprit_port",
            U32,
            "",
            "culprit: the peer's egress port of the packet that crossed XOFF, or the sender of a `network.pause`",
        ),
        column("culprit_peer_name", Name, "", "node that the culprit port leads to"),
    ],
};

/// Packets dropped.
pub const DROPS: TableSpec = TableSpec {
    name: "drops",
    description: "one row per dropped packet, at most `measure.max_drops` (`ports` counts all)",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "time of the event"),
        column("reason", Name, "", REASONS),
        column("node", U32, "", "switch, or host with a link that was down"),
        column("node_name", Name, "", "name of that node"),
        maybe("ingress_port", U32, "", "port of arrival; missing for the node's own packets"),
        maybe("egress_port", U32, "", "port of departure, real or intended; missing without one"),
        PRIORITY,
        maybe("flow", U32, "", "flow; missing for PFC frames"),
        column("bytes", I64, "B", "wire bytes"),
        column("lossless", Flag, "", "true for a lossless priority; with reason `buffer` the headroom failed"),
    ],
};

/// Failures and repairs of links.
pub const LINKS: TableSpec = TableSpec {
    name: "links",
    description: "one row per failure or repair of a link, and per change of routes that follows",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "time of the event"),
        column("link", U32, "", "link number"),
        column("a_name", Name, "", "node at the first end"),
        column("b_name", Name, "", "node at the other end"),
        column(
            "change",
            Name,
            "",
            "down, up, silent (gray failure), clean (gray failure ended), withdrawn (routes avoid it), restored (routes use it)",
        ),
        column("port", U32, "", "port at the first end"),
        column("peer_port", U32, "", "port at the other end"),
    ],
};

/// Queue lengths over time.
pub const QUEUES: TableSpec = TableSpec {
    name: "queues",
    description: "one row per sample of a switch port with a queue (with `measure.sample_every`)",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "time of the event"),
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        column("queue_bytes", I64, "B", "bytes queued, all priorities"),
        column("tx_bytes", I64, "B", "wire bytes sent since the previous sample of the port"),
    ],
};

/// Flow rates over time.
pub const RATES: TableSpec = TableSpec {
    name: "rates",
    description: "one row per sample of an active flow (with `measure.sample_every`)",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "time of the event"),
        column("flow", U32, "", "flow number, as in `flows`"),
        column("rate_bps", I64, "bit/s", "sending rate allowed by the control"),
        maybe("window_bytes", I64, "B", "window allowed by the control; missing without one"),
        column("acked_bytes", I64, "B", "payload acknowledged so far, selectively too"),
    ],
};

/// Deadlocks of PFC.
pub const DEADLOCKS: TableSpec = TableSpec {
    name: "deadlocks",
    description: "one row per queue of a deadlock's cycle; each waits for the next, the last for the first",
    columns: &[
        SCHEME,
        column("deadlock", U32, "", "deadlock number within the scheme's run, from 0"),
        column("position", U32, "", "position of the queue in the cycle, from 0"),
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        PRIORITY,
        column("paused_ps", I64, "ps", "start of the pause of the queue"),
        column("queue_bytes", I64, "B", "bytes in the queue at detection"),
        column("closed_ps", I64, "ps", "time when the cycle closed: pause of its last queue"),
        column("detected_ps", I64, "ps", "detection, at a multiple of `measure.deadlock_every`"),
        maybe("ended_ps", I64, "ps", "first check without the deadlock; missing if it lasted to the end"),
        column("stuck_queues", U32, "", "largest number of stuck switch queues: the cycle and queues that wait for it"),
        column("stuck_bytes", I64, "B", "largest number of bytes in stuck queues"),
        column("stuck_hosts", U32, "", "largest number of host ports paused by stuck queues"),
    ],
};

/// Storms under the PFC watchdog.
pub const STORMS: TableSpec = TableSpec {
    name: "storms",
    description: "one row per storm of a queue under the PFC watchdog (`switch.watchdog`)",
    columns: &[
        SCHEME,
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        PRIORITY,
        column("start_ps", I64, "ps", "detection of the storm"),
        maybe("end_ps", I64, "ps", "end of the storm; missing if the run ended first"),
    ],
};

/// Flows that switches isolated.
pub const ISOLATIONS: TableSpec = TableSpec {
    name: "isolations",
    description: "one row per isolation of a flow at a port; only in runs with `switch.isolation`",
    columns: &[
        SCHEME,
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        column("flow", U32, "", "flow number, as in `flows`"),
        column(
            "reason",
            Name,
            "",
            "`marks` or `counters` (detected at this port), `message` (from the next switch), `class` (arrived isolated)",
        ),
        column("start_ps", I64, "ps", "start of the isolation"),
        maybe("end_ps", I64, "ps", "release; missing if the run ended first"),
        column(
            "packets",
            I64,
            "",
            "packets of the flow that got the isolated priority at this port, or arrived with it; 0 at hosts",
        ),
        column("bytes", I64, "B", "wire bytes of these packets"),
        column("messages", U32, "", "messages that the port sent about the flow"),
        maybe(
            "flow_bytes",
            I64,
            "B",
            "wire bytes of the flow in the congested queue just before the packet that triggered isolation; missing, as all columns below, for reasons `message` and `class`",
        ),
        maybe("queue_bytes", I64, "B", "wire bytes of all flows in that queue at that time"),
        maybe("queue_flows", U32, "", "flows with data in that queue at that time"),
        maybe(
            "pause_ago_ps",
            I64,
            "ps",
            "time since the next node's last pause of the queue; 0 if paused, missing if never",
        ),
        maybe(
            "root_port",
            U32,
            "",
            "root cause of that pause, as in `port`; missing without `measure.blocking`, and for a `network.pause`",
        ),
        maybe("root_on_path", Flag, "", "true if that port is on the flow's remaining path; missing with `root_port`"),
    ],
};

/// Queueing delays.
pub const WAITS: TableSpec = TableSpec {
    name: "waits",
    description: "one row per flow; only in runs with `measure.blocking`",
    columns: &[
        SCHEME,
        column("flow", U32, "", "flow number, as in `flows`"),
        column("label", Name, "", "label of its group of flows"),
        column("waited_ps", I64, "ps", "time of all data packets in egress queues of switches"),
        column("blocked_ps", I64, "ps", "part of `waited_ps` in queues paused by PFC"),
        column(
            "victim_ps",
            I64,
            "ps",
            "part of `blocked_ps` as a victim: the root cause (the congested port at the end of the chain of pauses) was not on the packet's remaining path",
        ),
        column(
            "host_blocked_ps",
            I64,
            "ps",
            "time in which only PFC kept the flow's next data in its host; per flow, not per packet",
        ),
        column(
            "host_victim_ps",
            I64,
            "ps",
            "part of `host_blocked_ps` as a victim: the root cause was not on the flow's path",
        ),
    ],
};

/// Time-weighted queue lengths.
pub const HISTOGRAMS: TableSpec = TableSpec {
    name: "histograms",
    description: "one row per switch port and occurring range of queue lengths (with `measure.queue_histogram`)",
    columns: &[
        SCHEME,
        PORT,
        NODE_NAME,
        LOCAL_PORT,
        PEER_NAME,
        column("queue_from_bytes", I64, "B", "lower end of the range, inclusive"),
        column("queue_to_bytes", I64, "B", "upper end of the range, exclusive"),
        column("time_ps", I64, "ps", "time with a queue in this range"),
    ],
};

/// VMs of tenants.
pub const VMS: TableSpec = TableSpec {
    name: "vms",
    description: "one row per VM of a tenant; only in runs with tenants",
    columns: &[
        SCHEME,
        column("host", U32, "", "host number of the VM, as in `flows`"),
        column("name", Name, "", "host name of the VM"),
        column("server", Name, "", "server"),
        column("tenant", Name, "", "tenant"),
        column("tenant_group", Name, "", "`[[tenant]]` entry of the tenant"),
        column("vm", U32, "", "number within the tenant, from 0"),
        column("mapper", Flag, "", "true for a mapper of the tenant"),
        column("send_bps", I64, "bit/s", "guaranteed sending rate; 0 for none"),
        column("receive_bps", I64, "bit/s", "guaranteed receiving rate; 0 for none"),
    ],
};

const PAIR: Column = column("pair", U32, "", "pair number, in order of its first flow");

/// Pairs of VMs behind hypervisors.
pub const PAIRS: TableSpec = TableSpec {
    name: "pairs",
    description: "one row per sending and receiving VM, in schemes with a hypervisor; only in runs with tenants",
    columns: &[
        SCHEME,
        PAIR,
        column("src", U32, "", "sending host, from 0"),
        column("dst", U32, "", "receiving host, from 0"),
        column("src_name", Name, "", "name of the sending host"),
        column("dst_name", Name, "", "name of the receiving host"),
        column("sent_bytes", I64, "B", "wire bytes passed by its limiter, with acknowledgements"),
        column("received_bytes", I64, "B", "wire bytes received"),
        column("lost_packets", I64, "", "packets lost, as detected by the receiver"),
        column("marked_packets", I64, "", "packets received with an ECN mark"),
        column("refused_packets", I64, "", "packets dropped at its limiter's full queue"),
    ],
};

/// Guarantees and limits of pairs over time.
pub const LIMITS: TableSpec = TableSpec {
    name: "limits",
    description: "one row per sample (`measure.sample_every`) of an active pair, in schemes with a hypervisor; only in runs with tenants",
    columns: &[
        SCHEME,
        column("time_ps", I64, "ps", "time of the event"),
        PAIR,
        column("guarantee_bps", I64, "bit/s", "guarantee"),
        maybe("limit_bps", I64, "bit/s", "limit; missing without one"),
        column("sent_bytes", I64, "B", "wire bytes passed by its limiter so far"),
        column("received_bytes", I64, "B", "wire bytes received so far"),
        column("waiting_packets", U32, "", "packets queued at its limiter"),
    ],
};

/// Throughput of VM pairs over time.
pub const THROUGHPUT: TableSpec = TableSpec {
    name: "throughput",
    description: "one row per pair of VMs with a flow in progress and interval between samples (`measure.sample_every`; without it the whole run); only in runs with tenants",
    columns: &[
        SCHEME,
        column("start_ps", I64, "ps", "start of the interval"),
        column("end_ps", I64, "ps", "end of the interval"),
        column("src", U32, "", "sending host, from 0"),
        column("dst", U32, "", "receiving host, from 0"),
        column("src_name", Name, "", "name of the sending host"),
        column("dst_name", Name, "", "name of the receiving host"),
        column("flows", U32, "", "flows in progress"),
        column("payload_bytes", I64, "B", "payload acknowledged in the interval; for UDP, received"),
        column("wire_bytes", I64, "B", "the same with headers and gaps of full packets"),
        column(
            "guaranteed_bytes",
            I64,
            "B",
            "wire bytes that its VMs' hoses guarantee at least: its max-min share among all pairs, given their demands",
        ),
        column(
            "optimum_bytes",
            I64,
            "B",
            "work-conserving optimum in wire bytes: its max-min share of the links among all pairs, given their demands",
        ),
    ],
};

/// All tables of a results folder.
pub const TABLES: [TableSpec; 17] = [
    FLOWS, MESSAGES, PORTS, PAUSES, DEADLOCKS, STORMS, ISOLATIONS, WAITS, DROPS, LINKS, QUEUES, RATES, HISTOGRAMS, VMS,
    PAIRS, LIMITS, THROUGHPUT,
];
