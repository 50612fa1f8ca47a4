use incast_model::fabric::Link;
use incast_sim::outcome::{DropReason, DropRecord, LinkChange, LinkRecord};

use super::super::columns::{bytes, flag, maybe_u32, name, one_of, u32};
use super::shared::{nodes, priority, scheme, time};
use super::{Condition, Row, Table};

pub(super) static DROPS: Table<DropRecord> = Table {
    name: "drops",
    description: "one row per dropped packet, at most `measure.max_drops` (`ports` counts all)",
    condition: Condition::Always,
    rows: |run| (&run.outcome.drops).into(),
    columns: &[
        scheme(),
        time(|row| row.time),
        one_of("reason", DropReason::NAMES, |row| row.reason as usize),
        u32("node", "switch, or host with a link that was down", |row| row.node.0),
        name("node_name", "name of that node", nodes, |row| row.node.index()),
        maybe_u32("ingress_port", "port of arrival; missing for the node's own packets", |row| Some(row.ingress?.0)),
        maybe_u32("egress_port", "port of departure, real or intended; missing without one", |row| Some(row.egress?.0)),
        priority(|row| row.priority),
        maybe_u32("flow", "flow; missing for PFC frames", |row| row.flow),
        bytes("bytes", "wire bytes", |row| row.bytes.into()),
        flag("lossless", "true for a lossless priority; with reason `buffer` the headroom failed", |row| row.lossless),
    ],
};

impl<'a> Row<'a, LinkRecord> {
    fn ends(self) -> &'a Link {
        self.run.fabric.link(self.link)
    }
}

pub(super) static LINKS: Table<LinkRecord> = Table {
    name: "links",
    description: "one row per failure or repair of a link, and per change of routes that follows",
    condition: Condition::Always,
    rows: |run| (&run.outcome.links).into(),
    columns: &[
        scheme(),
        time(|row| row.time),
        u32("link", "link number", |row| row.link.0),
        name("a_name", "node at the first end", nodes, |row| row.run.fabric.port(row.ends().a).node.index()),
        name("b_name", "node at the other end", nodes, |row| row.run.fabric.port(row.ends().b).node.index()),
        one_of("change", LinkChange::NAMES, |row| row.change as usize),
        u32("port", "port at the first end", |row| row.ends().a.0),
        u32("peer_port", "port at the other end", |row| row.ends().b.0),
    ],
};
