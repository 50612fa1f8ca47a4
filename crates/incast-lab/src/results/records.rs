use std::ops::Deref;

use incast_model::fabric::{Fabric, HostId, PortId};
use incast_model::flow::FlowSet;
use incast_model::tenant::Tenancy;
use incast_model::units::Bytes;
use incast_sim::Outcome;

use super::throughput;

#[derive(Debug, Clone, Copy)]
pub(super) struct Records<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) flows: &'a FlowSet,
    pub(super) tenancy: Option<&'a Tenancy>,
    /// All schemes', so that batches share a dictionary.
    pub(super) schemes: &'a [String],
    pub(super) scheme: usize,
    pub(super) histogram_bin: Bytes,
    pub(super) outcome: &'a Outcome,
    pub(super) throughput: &'a [throughput::Row],
}

impl Records<'_> {
    pub(super) fn node_of(&self, host: HostId) -> usize {
        self.fabric.hosts()[host.index()].index()
    }

    pub(super) fn peer_of(&self, port: PortId) -> usize {
        self.fabric.neighbour(port).index()
    }
}

#[derive(Debug)]
pub(super) struct Row<'a, R> {
    pub(super) run: &'a Records<'a>,
    pub(super) number: u32,
    pub(super) record: &'a R,
}

impl<R> Clone for Row<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Row<'_, R> {}

impl<R> Deref for Row<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.record
    }
}
