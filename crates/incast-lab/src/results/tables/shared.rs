use incast_model::fabric::{HostId, NodeId, PortId};
use incast_model::units::Time;

use super::super::columns::{ColumnOf, name, ps, u8, u32};
use super::{Records, Row};

pub(in crate::results) trait AtPort {
    fn port(&self) -> PortId;
}

pub(super) trait Between: Sized {
    fn ends(row: Row<'_, Self>) -> [HostId; 2];
}

pub(super) fn nodes<'a>(run: &'a Records<'a>) -> Vec<&'a str> {
    run.fabric.nodes().iter().map(|node| node.name.as_str()).collect()
}

fn labels<'a>(run: &'a Records<'a>) -> Vec<&'a str> {
    run.flows.labels.iter().map(String::as_str).collect()
}

fn schemes<'a>(run: &'a Records<'a>) -> Vec<&'a str> {
    run.schemes.iter().map(String::as_str).collect()
}

pub(super) const fn scheme<R>() -> ColumnOf<R> {
    name("scheme", "scheme", schemes, |row| row.run.scheme)
}

pub(super) const fn label<R>(get: fn(Row<'_, R>) -> usize) -> ColumnOf<R> {
    name("label", "label of its group of flows", labels, get)
}

pub(super) const fn port<R: AtPort>() -> ColumnOf<R> {
    u32("port", "port number, unique in the fabric", |row| row.port().0)
}

pub(super) const fn node_name<R: AtPort>() -> ColumnOf<R> {
    name("node_name", "node of the port", nodes, |row| row.node().index())
}

pub(super) const fn local_port<R: AtPort>() -> ColumnOf<R> {
    u32("local_port", "port number within its node, from 0", |row| row.run.fabric.port(row.port()).local)
}

pub(super) const fn peer_name<R: AtPort>() -> ColumnOf<R> {
    name("peer_name", "node at the other end of the port's link", nodes, |row| row.run.peer_of(row.port()))
}

impl<R: AtPort> Row<'_, R> {
    pub(super) fn node(self) -> NodeId {
        self.run.fabric.port(self.port()).node
    }
}

pub(super) const fn src<R: Between>() -> ColumnOf<R> {
    u32("src", "sending host, from 0", |row| R::ends(row)[0].0)
}

pub(super) const fn dst<R: Between>() -> ColumnOf<R> {
    u32("dst", "receiving host, from 0", |row| R::ends(row)[1].0)
}

pub(super) const fn src_name<R: Between>() -> ColumnOf<R> {
    name("src_name", "name of the sending host", nodes, |row| row.run.node_of(R::ends(row)[0]))
}

pub(super) const fn dst_name<R: Between>() -> ColumnOf<R> {
    name("dst_name", "name of the receiving host", nodes, |row| row.run.node_of(R::ends(row)[1]))
}

pub(super) const fn priority<R>(get: fn(Row<'_, R>) -> u8) -> ColumnOf<R> {
    u8("priority", "priority, 0 to 7", get)
}

pub(super) const fn flow<R>(get: fn(Row<'_, R>) -> u32) -> ColumnOf<R> {
    u32("flow", "flow number, as in `flows`", get)
}

pub(super) const fn time<R>(get: fn(Row<'_, R>) -> Time) -> ColumnOf<R> {
    ps("time_ps", "time of the event", get)
}
