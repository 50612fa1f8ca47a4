//! PFC pauses, deadlocks and storms; isolated flows.

use std::borrow::Cow;

use incast_model::fabric::PortId;
use incast_sim::outcome::{DeadlockRecord, IsolatedBy, IsolationRecord, PauseRecord, Storm, StuckQueue};

use super::super::columns::{bytes, count, maybe_bytes, maybe_flag, maybe_ps, maybe_u32, name, one_of, ps, u8, u32};
use super::shared::{AtPort, flow, local_port, node_name, nodes, peer_name, port, priority, scheme};
use super::{Condition, Records, Row, Table};

impl AtPort for PauseRecord {
    fn port(&self) -> PortId {
        self.port
    }
}

pub(super) static PAUSES: Table<PauseRecord> = Table {
    name: "pauses",
    description: "one row per interval in which an egress queue was paused by its peer",
    condition: Condition::Always,
    rows: |run| (&run.outcome.pauses).into(),
    columns: &[
        scheme(),
        port(),
        node_name(),
        local_port(),
        peer_name(),
        priority(|row| row.priority),
        ps("start_ps", "time when XOFF took effect", |row| row.start),
        maybe_ps(
            "end_ps",
            "time when XON took effect, the PFC watchdog ended the pause or the link failed; missing if the run ended first",
            |row| row.end,
        ),
        bytes("ingress_bytes", "bytes of this port and priority in the peer when it sent XOFF", |row| {
            row.ingress_bytes
        }),
        u32(
            "culprit_port",
            "culprit: the peer's egress port with most bytes of this link and priority when they crossed XOFF, estimated, or the sender of a `network.pause`",
            |row| row.culprit.port.0,
        ),
        u8("culprit_priority", "priority of the culprit's queue: tags and isolation change it in a switch", |row| {
            row.culprit.priority
        }),
        name("culprit_peer_name", "node that the culprit port leads to", nodes, |row| {
            row.run.peer_of(row.culprit.port)
        }),
    ],
};

#[derive(Debug, Clone, Copy)]
pub(super) struct InCycle {
    deadlock: u32,
    position: u32,
    queue: StuckQueue,
}

fn cycles<'a>(run: &'a Records<'a>) -> Cow<'a, [InCycle]> {
    let queues = |(deadlock, record): (u32, &'a DeadlockRecord)| {
        (0..).zip(&record.cycle).map(move |(position, &queue)| InCycle { deadlock, position, queue })
    };
    (0..).zip(&run.outcome.deadlocks).flat_map(queues).collect()
}

impl<'a> Row<'a, InCycle> {
    fn of(self) -> &'a DeadlockRecord {
        &self.run.outcome.deadlocks[self.deadlock as usize]
    }
}

impl AtPort for InCycle {
    fn port(&self) -> PortId {
        self.queue.queue.port
    }
}

pub(super) static DEADLOCKS: Table<InCycle> = Table {
    name: "deadlocks",
    description: "one row per queue of a deadlock's cycle; each waits for the next, the last for the first",
    condition: Condition::Always,
    rows: cycles,
    columns: &[
        scheme(),
        u32("deadlock", "deadlock number within the scheme's run, from 0", |row| row.deadlock),
        u32("position", "position of the queue in the cycle, from 0", |row| row.position),
        port(),
        node_name(),
        local_port(),
        peer_name(),
        priority(|row| row.queue.queue.priority),
        ps("paused_ps", "start of the pause of the queue", |row| row.queue.since),
        bytes("queue_bytes", "bytes in the queue at detection", |row| row.queue.bytes),
        ps("closed_ps", "time when the cycle closed: pause of its last queue", |row| row.of().closed),
        ps("detected_ps", "detection, at a multiple of `measure.deadlock_every` or at the end of the run", |row| {
            row.of().seen
        }),
        maybe_ps("ended_ps", "first check without the deadlock; missing if it lasted to the end", |row| row.of().ended),
        u32("stuck_queues", "largest number of stuck switch queues: the cycle and queues that wait for it", |row| {
            row.of().stuck_queues
        }),
        bytes("stuck_bytes", "largest number of bytes in stuck queues", |row| row.of().stuck_bytes),
        u32("stuck_hosts", "largest number of host ports paused by stuck queues", |row| row.of().stuck_hosts),
    ],
};

impl AtPort for Storm {
    fn port(&self) -> PortId {
        self.port
    }
}

pub(super) static STORMS: Table<Storm> = Table {
    name: "storms",
    description: "one row per storm of a queue under the PFC watchdog (`switch.watchdog`)",
    condition: Condition::Always,
    rows: |run| (&run.outcome.storms).into(),
    columns: &[
        scheme(),
        port(),
        node_name(),
        local_port(),
        peer_name(),
        priority(|row| row.priority),
        ps("start_ps", "detection of the storm", |row| row.begin),
        maybe_ps("end_ps", "end of the storm; missing if the run ended first", |row| row.end),
    ],
};

impl AtPort for IsolationRecord {
    fn port(&self) -> PortId {
        self.port
    }
}

pub(super) static ISOLATIONS: Table<IsolationRecord> = Table {
    name: "isolations",
    description: "one row per isolation of a flow at a port; only in runs with `switch.isolation`",
    condition: Condition::Isolation,
    rows: |run| (&run.outcome.isolations).into(),
    columns: &[
        scheme(),
        port(),
        node_name(),
        local_port(),
        peer_name(),
        flow(|row| row.flow),
        one_of("reason", IsolatedBy::NAMES, |row| row.by as usize),
        ps("start_ps", "start of the isolation", |row| row.begin),
        maybe_ps("end_ps", "release; missing if the run ended first", |row| row.end),
        count(
            "packets",
            "packets of the flow that got the isolated priority at this port, or arrived with it; 0 at hosts",
            |row| row.packets,
        ),
        bytes("bytes", "wire bytes of these packets", |row| row.bytes),
        u32("messages", "messages that the port sent about the flow", |row| row.messages),
        maybe_bytes(
            "flow_bytes",
            "wire bytes of the flow in the congested queue just before the packet that triggered isolation; missing, as all columns below, for reasons `message` and `class`",
            |row| Some(row.found?.flow_bytes),
        ),
        maybe_bytes("queue_bytes", "wire bytes of all flows in that queue at that time", |row| {
            Some(row.found?.queue_bytes)
        }),
        maybe_u32("queue_flows", "flows with data in that queue at that time", |row| Some(row.found?.queue_flows)),
        maybe_ps(
            "pause_ago_ps",
            "time since the next node's last pause of the queue; 0 if paused, missing if never",
            |row| row.found?.pause_ago,
        ),
        maybe_u32(
            "root_port",
            "root cause of that pause, as in `port`; missing without `measure.blocking`, and for a `network.pause`",
            |row| Some(row.found?.root?.0.0),
        ),
        maybe_flag(
            "root_on_path",
            "true if that port is on the flow's remaining path; missing with `root_port`",
            |row| Some(row.found?.root?.1),
        ),
    ],
};
