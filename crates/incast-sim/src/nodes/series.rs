//! Time series: samples of all nodes.

use incast_model::fabric::HostId;
use incast_model::units::Time;

use super::Nodes;
use super::host::{Host, arrived_bytes};
use super::plan::Plan;
use crate::kernel::FlowId;
use crate::measure::{MeasureParams, RateSample};

#[derive(Debug)]
pub(super) struct Series {
    /// After all else of that time.
    pub(super) next: u64,
    every: u64,
    until: u64,
}

impl Series {
    pub(super) fn new(params: &MeasureParams) -> Self {
        let until = params.sample_until.map_or(u64::MAX, |until| until.0);
        let every = params.sample_every.map_or(u64::MAX, |every| every.0);
        let mut series = Self { next: params.sample_from.0, every, until };
        if params.sample_every.is_none() || series.next > until {
            series.next = u64::MAX;
        }
        series
    }

    fn advance(&mut self) {
        let next = self.next.saturating_add(self.every);
        self.next = if next > self.until { u64::MAX } else { next };
    }
}

impl Nodes {
    /// Nodes must have handled everything before.
    pub(super) fn sample(&mut self) {
        let time = Time(self.books.now);
        for port in self.partitions.switches().flat_map(|switch| &switch.ports) {
            self.books.recorder.sample_queue(time, port.number, port.queued, port.sent());
        }
        let mut active: Vec<RateSample> = self.partitions.hosts().flat_map(|host| host.samples(time)).collect();
        if self.network.hosts.transports.of_flows.receivers_count() {
            self.sample_arrived(&mut active);
        }
        active.sort_by_key(|sample| sample.flow);
        self.books.recorder.rates.extend(active);
        self.sample_pairs(time);
        self.series.advance();
    }

    /// Adds bytes counted by receivers, and flows with idle senders and data in flight.
    fn sample_arrived(&mut self, active: &mut Vec<RateSample>) {
        let plan = Plan { layout: &self.layout, network: &self.network };
        for sample in active.iter_mut() {
            sample.acked += arrived_bytes(&self.partitions, plan, FlowId(sample.flow));
        }
        let time = Time(self.books.now);
        for host in (0..self.network.fabric.hosts().len() as u32).map(HostId) {
            let late = Host::late(&mut self.partitions, host, plan, self.books.now).into_iter();
            active.extend(late.map(|(flow, acked)| RateSample {
                time,
                flow: flow.0,
                rate: 0,
                window: u64::MAX,
                acked,
            }));
        }
    }
}
