//! Every condition: a scenario without effect and one with.

use std::collections::HashMap;
use std::path::Path;

use incast_sim::switch::SwitchParams;

use super::effects::{RULES, When};
use super::*;
use crate::catalogue;

const HPCC: &str = "[scheme.A]\ncontrol = \"hpcc\"\n";
const TCP: &str = "[scheme.A]\ntransport = \"tcp\"\n";
const DCQCN: &str = "[scheme.A]\ncontrol = \"dcqcn\"\n";
const CNPS: &str = "[rdma]\ncnp = \"packet\"\n";
const LOSSY: &str = "[switch]\npfc = false\n";
const SPINES: &str = "[fabric.leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
const DIRECT: &str = "[fabric.custom]\nhosts = 2\nlinks = [{ a = \"h0\", b = \"h1\" }]\n";
const STAR: &str = "[fabric.star]\nhosts = 4\n";
const FLOW: &str = "[[workload]]\nlist = [{ src = 0, dst = 1, size = \"10kB\" }]\n";
const VMS: &str = "[vms]\nslots = 2\n";
const TENANT: &str = "[[tenant]]\nname = \"x\"\nvms = 4\nmappers = 0.5\n";
const SHUFFLE: &str = "[[workload]]\n";
const FIXED: &str = "[[tenant]]\nname = \"x\"\nvms = 2\nplacement.slots = [\"h0.0\", \"h1.0\"]\n";
const FILE: &str = "[[workload]]\nns3.flows = \"flows.txt\"\npriority = 2\n";

/// Rule, parameter, scenario without effect, scenario with effect.
type Case = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// Missing fabric and workload: one switch, one flow.
const CASES: &[Case] = &[
    (
        "network.load_balancing",
        "network.load_balancing",
        &[HPCC, "[network]\nload_balancing = \"spray\"\n"],
        &[HPCC, SPINES, "[network]\nload_balancing = \"spray\"\n"],
    ),
    (
        "network.reroute_after",
        "network.reroute_after",
        &[HPCC, SPINES, "[network]\nreroute_after = \"1ms\"\n"],
        &[
            HPCC,
            SPINES,
            "[network]\nreroute_after = \"1ms\"\nfailure = [{ link = [\"leaf0\", \"spine0\"], at = \"1us\" }]\n",
        ],
    ),
    ("seed", "seed", &["seed = 7\n", HPCC], &["seed = 7\n", DCQCN]),
    ("seed", "seed", &["seed = 7\n", HPCC], &["seed = 7\n", HPCC, SPINES]),
    (
        "seed",
        "seed",
        &["seed = 7\nprofile = \"ns3\"\n", DCQCN, SPINES],
        &["seed = 7\n", HPCC, "[[workload]]\npermutation.size = \"1kB\"\n"],
    ),
    ("workload.priority", "workload[0].priority", &[HPCC, FILE], &[HPCC, FLOW, "priority = 2\n"]),
    (
        "network.hash",
        "network.hash",
        &[HPCC, "[network]\nhash = \"murmur3\"\n"],
        &[HPCC, SPINES, "[network]\nhash = \"murmur3\"\n"],
    ),
    (
        "network.next_hop_order",
        "network.next_hop_order",
        &[HPCC, "[network]\nnext_hop_order = \"neighbour-descending\"\n"],
        &[HPCC, SPINES, "[network]\nnext_hop_order = \"neighbour-descending\"\n"],
    ),
    (
        "switch.buffer",
        "switch.buffer",
        &[HPCC, DIRECT, "[switch]\nbuffer = \"1MB\"\n"],
        &[HPCC, "[switch]\nbuffer = \"1MB\"\n"],
    ),
    (
        "switch.reserve",
        "switch.reserve",
        &[HPCC, DIRECT, "[switch]\nreserve = \"0B\"\n"],
        &[HPCC, "[switch]\nreserve = \"0B\"\n"],
    ),
    (
        "vms.headroom",
        "vms.headroom",
        &[HPCC, VMS, "headroom = 0.2\n", TENANT],
        &[HPCC, VMS, "headroom = 0.2\n", TENANT, "guarantee = \"1Gbps\"\n"],
    ),
    (
        "vms.admission",
        "vms.admission",
        &[HPCC, VMS, "admission = \"report\"\n", TENANT],
        &[HPCC, VMS, "admission = \"report\"\n", TENANT, "guarantee = \"1Gbps\"\n"],
    ),
    ("tenant.mappers", "tenant[0].mappers", &[HPCC, VMS, TENANT], &[HPCC, VMS, TENANT, "placement = \"unbalanced\"\n"]),
    (
        "tenant.mappers",
        "tenant[0].mappers",
        &[HPCC, VMS, TENANT, SHUFFLE, "tenant = \"x\"\nshuffle = { size = 1, mappers = {}, reducers = {} }\n"],
        &[HPCC, VMS, TENANT, SHUFFLE, "tenant = \"x\"\nshuffle = { size = 1 }\n"],
    ),
    ("seed", "seed", &["seed = 7\n", HPCC, VMS, FIXED], &["seed = 7\n", HPCC, VMS, TENANT]),
    ("switch.lossless", "switch.lossless", &[HPCC, LOSSY, "lossless = [2]\n"], &[HPCC, "[switch]\nlossless = [2]\n"]),
    ("switch.pfc", "switch.pfc", &[HPCC, LOSSY, "lossless = []\n"], &[HPCC, LOSSY]),
    (
        "switch.pfc_mode",
        "switch.pfc_mode",
        &[HPCC, LOSSY, "pfc_mode.static.xoff = \"10kB\"\n"],
        &[HPCC, "[switch]\npfc_mode.static.xoff = \"10kB\"\n"],
    ),
    (
        "switch.resume_offset",
        "switch.resume_offset",
        &[HPCC, LOSSY, "resume_offset = \"1kB\"\n"],
        &[HPCC, "[switch]\nresume_offset = \"1kB\"\n"],
    ),
    (
        "switch.tagging",
        "switch.tagging",
        &[HPCC, LOSSY, "tagging.bounces = 2\n"],
        &[HPCC, "[switch]\ntagging.bounces = 2\n"],
    ),
    (
        "switch.watchdog",
        "switch.watchdog",
        &[HPCC, LOSSY, "watchdog.action = \"forward\"\n"],
        &[HPCC, "[switch]\nwatchdog.enabled = true\n"],
    ),
    (
        "switch.isolation",
        "switch.isolation",
        &[HPCC, LOSSY, "isolation.queue = 1\n"],
        &[HPCC, "[switch]\nlossless = [2, 3]\nisolation.enabled = true\n"],
    ),
    (
        "host.classes",
        "host.classes",
        &[HPCC, "[host]\nclasses.mice = 5\n"],
        &[HPCC, "[host]\nclasses = { by = \"size\", mice = 5 }\n"],
    ),
    (
        "workload.priority",
        "workload[0].priority",
        &["[host]\nclasses.by = \"size\"\n", HPCC, FLOW, "priority = 2\n"],
        &[HPCC, FLOW, "priority = 2\n"],
    ),
    (
        "measure.blocking",
        "measure.blocking",
        &[HPCC, DIRECT, "[measure]\nblocking = true\n"],
        &[HPCC, "[measure]\nblocking = true\n"],
    ),
    (
        "switch.headroom",
        "switch.headroom",
        &[HPCC, LOSSY, "headroom.bytes = \"1kB\"\n"],
        &[HPCC, LOSSY, "headroom = \"three-delays\"\n"],
    ),
    (
        "switch.lossy_alpha",
        "switch.lossy_alpha",
        &[HPCC, "[switch]\nlossy_alpha = 0.5\n"],
        &[HPCC, LOSSY, "lossy_alpha = 0.5\n"],
    ),
    (
        "switch.scheduler",
        "switch.scheduler",
        &[HPCC, "[switch]\nscheduler = \"strict-priority\"\n"],
        &[DCQCN, CNPS, "[switch]\nscheduler = \"strict-priority\"\n"],
    ),
    ("ecn.enabled", "ecn.enabled", &[HPCC, "[ecn]\nenabled = false\n"], &[DCQCN, "[ecn]\nenabled = false\n"]),
    ("ecn.kmin", "ecn.kmin", &[HPCC, "[ecn]\nkmin = \"9kB\"\n"], &[DCQCN, "[ecn]\nkmin = \"9kB\"\n"]),
    (
        "ecn.kmin",
        "ecn.kmin",
        &[DCQCN, "[ecn]\nenabled = false\nkmin = \"9kB\"\n"],
        &[HPCC, CNPS, "[ecn]\nkmin = \"9kB\"\n"],
    ),
    ("ecn.kmax", "ecn.kmax", &[DCQCN, DIRECT, "[ecn]\nkmax = \"900kB\"\n"], &[DCQCN, "[ecn]\nkmax = \"900kB\"\n"]),
    ("ecn.pmax", "ecn.pmax", &[DCQCN, "[ecn]\npmax = 1.0\nkmax = \"400kB\"\n"], &[DCQCN, "[ecn]\npmax = 1.0\n"]),
    (
        "ecn.per_rate",
        "ecn.per_rate",
        &[
            DCQCN,
            "[ecn]\nper_rate = \"50Gbps\"\n",
            "by_rate = [{ rate = \"100Gbps\", kmin = \"1kB\", kmax = \"2kB\", pmax = 1.0 }]\n",
        ],
        &[
            DCQCN,
            "[ecn]\nper_rate = \"50Gbps\"\n",
            "by_rate = [{ rate = \"25Gbps\", kmin = \"1kB\", kmax = \"2kB\", pmax = 1.0 }]\n",
        ],
    ),
    (
        "ecn.by_rate",
        "ecn.by_rate",
        &[DCQCN, "[ecn]\nby_rate = [{ rate = \"25Gbps\", kmin = \"1kB\", kmax = \"2kB\", pmax = 1.0 }]\n"],
        &[DCQCN, "[ecn]\nby_rate = [{ rate = \"100Gbps\", kmin = \"1kB\", kmax = \"2kB\", pmax = 1.0 }]\n"],
    ),
    (
        "ecn.mark_at",
        "ecn.mark_at",
        &[HPCC, "[ecn]\nmark_at = \"enqueue\"\n"],
        &[DCQCN, "[ecn]\nmark_at = \"enqueue\"\n"],
    ),
    ("packets.ack", "packets.ack", &[DCQCN, "[packets]\nack = \"50B\"\n"], &[HPCC, "[packets]\nack = \"50B\"\n"]),
    (
        "packets.min_ack",
        "packets.min_ack",
        &[HPCC, "[packets]\nmin_ack = \"64B\"\n"],
        &[DCQCN, "[packets]\nmin_ack = \"64B\"\n"],
    ),
    (
        "packets.cnp",
        "packets.cnp",
        &[DCQCN, "[packets]\ncnp = \"78B\"\n"],
        &[DCQCN, CNPS, "[packets]\ncnp = \"78B\"\n"],
    ),
    ("packets.pfc", "packets.pfc", &[HPCC, LOSSY, "[packets]\npfc = \"43B\"\n"], &[HPCC, "[packets]\npfc = \"43B\"\n"]),
    (
        "packets.timestamp",
        "packets.timestamp",
        &[HPCC, "[packets]\ntimestamp = \"4B\"\n"],
        &["[scheme.A]\ncontrol = \"timely\"\n", "[packets]\ntimestamp = \"4B\"\n"],
    ),
    (
        "packets.pint",
        "packets.pint",
        &[HPCC, "[packets]\npint = \"1B\"\n"],
        &["[scheme.A]\ncontrol = \"hpcc_pint\"\n", "[packets]\npint = \"1B\"\n"],
    ),
    (
        "packets.int_base",
        "packets.int_base",
        &[DCQCN, "[packets]\nint_base = \"4B\"\n"],
        &[HPCC, "[packets]\nint_base = \"4B\"\n"],
    ),
    (
        "packets.int_record",
        "packets.int_record",
        &[DCQCN, "[packets]\nint_record = \"4B\"\n"],
        &[HPCC, "[packets]\nint_record = \"4B\"\n"],
    ),
    (
        "packets.int_records",
        "packets.int_records",
        &[DCQCN, "[packets]\nint_records = 6\n"],
        &[HPCC, "[packets]\nint_records = 6\n"],
    ),
    (
        "rdma.acks_ignore_pause",
        "rdma.acks_ignore_pause",
        &[HPCC, "[rdma]\nacks_ignore_pause = true\nack_priority = 5\n"],
        &[HPCC, "[rdma]\nacks_ignore_pause = true\n"],
    ),
    (
        "rdma.nack_interval",
        "rdma.nack_interval",
        &[HPCC, "[rdma]\nrecovery = \"selective-repeat\"\nnack_interval = \"9us\"\n"],
        &[HPCC, "[rdma]\nnack_interval = \"9us\"\n"],
    ),
    (
        "rdma.rto_low",
        "rdma.rto_low",
        &[HPCC, "[rdma]\nrecovery = \"selective-repeat\"\nrto = \"none\"\nrto_low = \"90us\"\n"],
        &[HPCC, "[rdma]\nrecovery = \"selective-repeat\"\nrto_low = \"90us\"\n"],
    ),
    (
        "rdma.rto_low_packets",
        "rdma.rto_low_packets",
        &[HPCC, "[rdma]\nrto_low_packets = 5\n"],
        &[HPCC, "[rdma]\nrecovery = \"selective-repeat\"\nrto_low_packets = 5\n"],
    ),
    (
        "rdma.bdp_bound",
        "rdma.bdp_bound",
        &[HPCC, "[rdma]\nbdp_bound = false\n"],
        &[HPCC, "[rdma]\nrecovery = \"selective-repeat\"\nbdp_bound = false\n"],
    ),
    (
        "rdma.reorder_window",
        "rdma.reorder_window",
        &[HPCC, "[rdma]\nreorder_window = 3\n"],
        &[HPCC, "[rdma]\nrecovery = \"selective-repeat\"\nreorder_window = 3\n"],
    ),
    ("rdma.cnp", "rdma.cnp", &[DCQCN, CNPS, "[ecn]\nenabled = false\n"], &[DCQCN, CNPS]),
    (
        "rdma.cnp_interval",
        "rdma.cnp_interval",
        &[DCQCN, "[rdma]\ncnp_interval = \"4us\"\n"],
        &[DCQCN, CNPS, "cnp_interval = \"4us\"\n"],
    ),
    (
        "rdma.cnp_priority",
        "rdma.cnp_priority",
        &[DCQCN, "[rdma]\ncnp_priority = 6\n"],
        &[DCQCN, CNPS, "cnp_priority = 6\n"],
    ),
    (
        "rdma.base_rtt",
        "rdma.base_rtt",
        &[DCQCN, "[rdma]\nbase_rtt = \"9us\"\n"],
        &[HPCC, "[rdma]\nbase_rtt = \"9us\"\n"],
    ),
    (
        "rdma.window",
        "rdma.window",
        &[DCQCN, "[rdma]\nwindow = \"90kB\"\n"],
        &[DCQCN, "window = \"fixed\"\n[rdma]\nwindow = \"90kB\"\n"],
    ),
    (
        "measure.sample_from",
        "measure.sample_from",
        &[HPCC, "[measure]\nsample_from = \"1us\"\n"],
        &[HPCC, "[measure]\nsample_every = \"1us\"\nsample_from = \"1us\"\n"],
    ),
    (
        "measure.sample_until",
        "measure.sample_until",
        &[HPCC, "[measure]\nsample_until = \"1us\"\n"],
        &[HPCC, "[measure]\nsample_every = \"1us\"\nsample_until = \"1us\"\n"],
    ),
    (
        "measure.queue_histogram",
        "measure.queue_histogram",
        &[HPCC, DIRECT, "[measure]\nqueue_histogram = true\n"],
        &[HPCC, "[measure]\nqueue_histogram = true\n"],
    ),
    (
        "measure.histogram_bin",
        "measure.histogram_bin",
        &[HPCC, "[measure]\nhistogram_bin = \"2kB\"\n"],
        &[HPCC, "[measure]\nqueue_histogram = true\nhistogram_bin = \"2kB\"\n"],
    ),
    (
        "measure.deadlock_every",
        "measure.deadlock_every",
        &[HPCC, LOSSY, "[measure]\ndeadlock_every = \"1ms\"\n"],
        &[HPCC, "[measure]\ndeadlock_every = \"1ms\"\n"],
    ),
    (
        "measure.pauses",
        "measure.pauses",
        &[HPCC, LOSSY, "[measure]\npauses = false\n"],
        &[HPCC, "[measure]\npauses = false\n"],
    ),
    (
        "scheme.window",
        "scheme.A.window",
        &[DCQCN, "window = \"rate\"\nwindow_by_label.list = \"fixed\"\n"],
        &[DCQCN, "window = \"rate\"\n"],
    ),
    (
        "control.dcqcn.*",
        "scheme.A.control.dcqcn.g",
        &["[scheme.A]\ncontrol.dcqcn.g = 0.5\n[ecn]\nenabled = false\n"],
        &["[scheme.A]\ncontrol.dcqcn.g = 0.5\n"],
    ),
    (
        "control.dcqcn.byte_counter",
        "scheme.A.control.dcqcn.byte_counter",
        &["[scheme.A]\ncontrol.dcqcn.byte_counter = \"1MB\"\n"],
        &["[scheme.A]\ncontrol.dcqcn = { profile = \"paper\", byte_counter = \"1MB\" }\n"],
    ),
    (
        "control.dcqcn.clamp_target",
        "scheme.A.control.dcqcn.clamp_target",
        &["[scheme.A]\ncontrol.dcqcn = { variant = \"paper\", clamp_target = true }\n"],
        &["[scheme.A]\ncontrol.dcqcn.clamp_target = true\n"],
    ),
    (
        "control.dctcp.*",
        "scheme.A.control.dctcp.g",
        &["[scheme.A]\ncontrol.dctcp.g = 0.5\n[ecn]\nenabled = false\n"],
        &["[scheme.A]\ncontrol.dctcp.g = 0.5\n"],
    ),
    (
        "switch.forwarding",
        "switch.forwarding",
        &[HPCC, DIRECT, "[switch]\nforwarding = \"cut-through\"\n"],
        &[HPCC, "[switch]\nforwarding = \"cut-through\"\n"],
    ),
    (
        "switch.queues",
        "switch.queues",
        &[HPCC, DIRECT, "[switch]\nqueues.drop-tail.limit = \"36kB\"\n"],
        &[HPCC, "[switch]\nqueues.drop-tail.limit = \"36kB\"\n"],
    ),
    (
        "switch.cut_through_header",
        "switch.cut_through_header",
        &[HPCC, "[switch]\ncut_through_header = \"64B\"\n"],
        &[HPCC, "[switch]\nforwarding = \"cut-through\"\ncut_through_header = \"64B\"\n"],
    ),
    (
        "switch.buffer",
        "switch.buffer",
        &[HPCC, "[switch]\nqueues.drop-tail.limit = \"36kB\"\nbuffer = \"1MB\"\n"],
        &[TCP, "[switch]\nbuffer = \"1MB\"\n"],
    ),
    (
        "switch.scheduler",
        "switch.scheduler",
        &["[scheme.A]\ntransport = \"pfabric\"\n", "[switch]\nscheduler = \"strict-priority\"\n"],
        &[DCQCN, CNPS, "[switch]\nscheduler = \"strict-priority\"\n"],
    ),
    (
        "packets.payload",
        "packets.payload",
        &[TCP, "[packets]\npayload = \"500B\"\n"],
        &[HPCC, "[packets]\npayload = \"500B\"\n"],
    ),
    (
        "packets.data_header",
        "packets.data_header",
        &[TCP, "[packets]\ndata_header = \"60B\"\n"],
        &[HPCC, "[packets]\ndata_header = \"60B\"\n"],
    ),
    ("packets.mss", "packets.mss", &[HPCC, "[packets]\nmss = \"500B\"\n"], &[TCP, "[packets]\nmss = \"500B\"\n"]),
    (
        "packets.segment_header",
        "packets.segment_header",
        &[HPCC, "[packets]\nsegment_header = \"60B\"\n"],
        &[TCP, "[packets]\nsegment_header = \"60B\"\n"],
    ),
    (
        "packets.control",
        "packets.control",
        &[HPCC, "[packets]\ncontrol = \"84B\"\n"],
        &[TCP, "[packets]\ncontrol = \"84B\"\n"],
    ),
    (
        "host.nic_queue",
        "host.nic_queue",
        &[HPCC, "[host]\nnic_queue = \"port\"\n"],
        &[TCP, "[host]\nnic_queue = \"port\"\n"],
    ),
    ("rdma.ack_every", "rdma.ack_every", &[TCP, "[rdma]\nack_every = 2\n"], &[HPCC, "[rdma]\nack_every = 2\n"]),
    (
        "rdma.ack_priority",
        "rdma.ack_priority",
        &[TCP, "[rdma]\nack_priority = 1\n"],
        &[HPCC, "[rdma]\nack_priority = 1\n"],
    ),
    (
        "rdma.recovery",
        "rdma.recovery",
        &[TCP, "[rdma]\nrecovery = \"selective-repeat\"\n"],
        &[HPCC, "[rdma]\nrecovery = \"selective-repeat\"\n"],
    ),
    ("rdma.rto", "rdma.rto", &[TCP, "[rdma]\nrto = \"1ms\"\n"], &[HPCC, "[rdma]\nrto = \"1ms\"\n"]),
    (
        "transport.tcp.rto_min",
        "scheme.A.transport.tcp.rto_min",
        &["[scheme.A]\ntransport.tcp = { rto = \"1ms\", rto_min = \"5ms\" }\n"],
        &["[scheme.A]\ntransport.tcp.rto_min = \"5ms\"\n"],
    ),
    (
        "transport.tcp.rto_init",
        "scheme.A.transport.tcp.rto_init",
        &["[scheme.A]\ntransport.tcp = { rto = \"1ms\", rto_init = \"5ms\" }\n"],
        &["[scheme.A]\ntransport.tcp.rto_init = \"5ms\"\n"],
    ),
    (
        "transport.tcp.sack_blocks",
        "scheme.A.transport.tcp.sack_blocks",
        &["[scheme.A]\ntransport.tcp = { sack = false, sack_blocks = 2 }\n"],
        &["[scheme.A]\ntransport.tcp.sack_blocks = 2\n"],
    ),
    (
        "transport.tcp.ack_every",
        "scheme.A.transport.tcp.ack_every",
        &["[scheme.A]\ntransport.tcp = { delayed_ack = \"none\", ack_every = 3 }\n"],
        &["[scheme.A]\ntransport.tcp.ack_every = 3\n"],
    ),
    (
        "transport.tcp.ecn",
        "scheme.A.transport.tcp.ecn",
        &["[scheme.A]\ntransport.tcp.ecn = true\n[ecn]\nenabled = false\n"],
        &["[scheme.A]\ntransport.tcp.ecn = true\n"],
    ),
    (
        "hypervisor.rate.forget",
        "scheme.A.hypervisor.elasticswitch.rate.forget",
        &[FIXED, VMS, TCP, "hypervisor.elasticswitch.rate = { hold_increase = false, forget = 0.45 }\n"],
        &[FIXED, VMS, TCP, "hypervisor.elasticswitch.rate = { forget = 0.45 }\n"],
    ),
    (
        "hypervisor.rate.hold_above",
        "scheme.A.hypervisor.elasticswitch.rate.hold_above",
        &[FIXED, VMS, TCP, "hypervisor.elasticswitch.rate = { hold_increase = false, hold_above = 0.45 }\n"],
        &[FIXED, VMS, TCP, "hypervisor.elasticswitch.rate = { hold_above = 0.45 }\n"],
    ),
    (
        "hypervisor.rate.caution",
        "scheme.A.hypervisor.elasticswitch.rate.caution",
        &[FIXED, VMS, TCP, "hypervisor.elasticswitch.rate = { rate_caution = false, caution = 0.45 }\n"],
        &[FIXED, VMS, TCP, "hypervisor.elasticswitch.rate = { caution = 0.45 }\n"],
    ),
    (
        "hypervisor.rate.min_growth",
        "scheme.A.hypervisor.elasticswitch.rate.min_growth",
        &[FIXED, VMS, TCP, "hypervisor.elasticswitch.rate = { rate_caution = false, min_growth = 0.45 }\n"],
        &[FIXED, VMS, TCP, "hypervisor.elasticswitch.rate = { min_growth = 0.45 }\n"],
    ),
];

/// `path: reason`.
fn said(parts: &[&str]) -> Vec<String> {
    let mut text = parts.concat();
    if !text.contains("[fabric.") {
        text += STAR;
    }
    if !text.contains("[[workload]]") {
        text += FLOW;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flows.txt"), "1\n0 1 2 100 1000 2.0\n").unwrap();
    warnings(&text, folder.path())
}

fn warnings(text: &str, folder: &Path) -> Vec<String> {
    let loaded = Loaded::from_text("s.toml", text, folder, &[]).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let prepared = loaded.prepare().unwrap_or_else(|found| panic!("{found}\n{text}"));
    without_effect(&prepared).iter().map(ToString::to_string).collect()
}

fn is_of_guard(rule: &str) -> bool {
    SwitchParams::default().guards().any(|(guard, _)| rule.strip_prefix("switch.") == Some(guard))
}

#[test]
fn every_condition_is_told_and_only_where_it_holds() {
    for (rule, path, without, with) in CASES {
        let named = |said: &[String]| said.iter().any(|one| one.split([' ', ':']).next() == Some(path));
        assert!(RULES.iter().any(|(name, _)| name == rule) || is_of_guard(rule), "{rule}");
        assert!(named(&said(without)), "{rule}: {:?} of\n{}", said(without), without.concat());
        assert!(!named(&said(with)), "{rule}: {:?} of\n{}", said(with), with.concat());
    }
    let tested = |rule: &str| CASES.iter().any(|(name, ..)| *name == rule);
    let untested: Vec<&str> = RULES
        .iter()
        .filter(|(rule, when)| matches!(when, When::If(_)) && !tested(rule))
        .map(|(rule, _)| *rule)
        .collect();
    assert_eq!(untested, [""; 0], "conditions without a case");
}

#[test]
fn no_parameter_is_forgotten() {
    let all = catalogue::catalogue();
    let parameters = all.sections.iter().flat_map(|section| {
        section
            .parameters
            .iter()
            .filter(|one| one.name != "profile")
            .map(|one| format!("{}.{}", section.name, one.name))
    });
    for parameter in parameters.filter(|parameter| !is_of_guard(parameter)) {
        assert_eq!(RULES.iter().filter(|(rule, _)| *rule == parameter).count(), 1, "{parameter} in effects.rs");
    }
    let controls: HashMap<_, _> = all.controls.iter().map(|one| (&*one.name, &one.parameters[..])).collect();
    let transports: HashMap<_, _> = all.transports.iter().map(|one| (&*one.name, &one.parameters[..])).collect();
    let rate = serde_json::to_value(incast_sim::tenant::RateParams::default()).unwrap();
    for (rule, _) in RULES {
        if let Some(name) = rule.strip_prefix("hypervisor.rate.") {
            assert!(rate.get(name).is_some(), "{rule} is no parameter");
            continue;
        }
        let (place, name) = rule.rsplit_once('.').unwrap_or(("", rule));
        let owner = [("control.", &controls), ("transport.", &transports)]
            .into_iter()
            .find_map(|(prefix, all)| place.strip_prefix(prefix).map(|name| (all, name)));
        let known = match owner {
            Some((all, owner)) => name == "*" || all[owner].iter().any(|one| one.name == name),
            None => match all.sections.iter().find(|section| section.name == place) {
                Some(section) => section.parameters.iter().any(|one| one.name == name),
                None => ["seed", "workload.priority", "scheme.window"].contains(rule),
            },
        };
        assert!(known, "{rule} is no parameter");
    }
}

#[test]
fn neighbours_are_told_together_with_their_place() {
    assert_eq!(
        said(&["[ecn]\nkmin = \"1kB\"\nkmax = \"2kB\"\npmax = 1.0\n", HPCC]),
        ["ecn (s.toml:2): kmin, kmax, pmax have no effect: no control here reads ECN marks; they are only counted"]
    );
    let text = said(&["[rdma]\ncnp_interval = \"4us\"\n", DCQCN]);
    assert_eq!(text, ["rdma.cnp_interval (s.toml:2): has no effect: rdma.cnp is \"echo\": marks return in ACKs"]);
}

#[test]
fn a_default_that_is_written_out_is_no_mistake() {
    assert_eq!(said(&["seed = 1\n[ecn]\nkmin = \"400kB\"\n[rdma]\ncnp_interval = \"50us\"\n", HPCC]), [""; 0]);
    let folder = tempfile::tempdir().unwrap();
    for parts in [&[HPCC, STAR, FLOW], &[DCQCN, STAR, FLOW]] {
        let text = parts.concat();
        let whole = Loaded::from_text("s", &text, folder.path(), &[]).unwrap().scenario().to_toml();
        assert_eq!(warnings(&whole, folder.path()), [""; 0], "{whole}");
    }
    // A profile's parameters give no warnings.
    assert_eq!(said(&["profile = \"ns3\"\n", HPCC, LOSSY]), [""; 0]);
}

#[test]
fn it_must_be_without_effect_under_every_scheme() {
    let both = "[scheme.B]\ncontrol = \"hpcc\"\n";
    let own = "[scheme.A]\ncontrol = \"dcqcn\"\necn.kmin = \"2kB\"\n";
    let kmin = "[ecn]\nkmin = \"1kB\"\n";
    assert_eq!(said(&[kmin, DCQCN, both]), [""; 0]);
    assert!(said(&[kmin, own, both])[0].starts_with("ecn.kmin (s.toml:2): has no effect: no control here reads"));
    assert_eq!(said(&[kmin, own]), ["ecn.kmin (s.toml:2): has no effect: every scheme overrides it"]);
    let text = said(&["[scheme.A]\ncontrol = \"hpcc\"\necn.kmin = \"2kB\"\n"]);
    assert!(text[0].starts_with("scheme.A.ecn.kmin (s.toml:3): has no effect: "), "{text:?}");
}

#[test]
fn a_control_that_no_flow_has_is_told() {
    let text = said(&["[scheme.A]\ncontrol.hpcc.eta = 0.9\ncontrol_by_label.list.dcqcn.byte_counter = \"1MB\"\n"]);
    assert_eq!(
        text,
        [
            "scheme.A.control.hpcc.eta (s.toml:2): has no effect: no flow of this scheme has this control",
            "scheme.A.control_by_label.list.dcqcn.byte_counter (s.toml:3): has no effect: the vendor variant has no byte counter",
        ]
    );
}

#[test]
fn overrides_count_as_written() {
    let text = [HPCC, STAR, FLOW].concat();
    let sets = ["ecn.kmin=1kB".to_owned()];
    let prepared = Loaded::from_text("s", &text, Path::new("."), &sets).unwrap().prepare().unwrap();
    let said = without_effect(&prepared);
    assert!(said[0].to_string().starts_with("ecn.kmin (--set): has no effect"), "{said:?}");
}
