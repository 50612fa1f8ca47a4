//! Time series: samples of all nodes.

use incast_model::units::Time;

use super::Nodes;
use crate::measure::{MeasureParams, RateSample};
use crate::network::Network;

#[derive(Debug)]
pub(super) struct Series {
    /// Time of the next sample in ps, after all else of that time; [`u64::MAX`]: none.
    pub(super) next: u64,
    /// In ps.
    pub(super) last: u64,
    every: u64,
    until: u64,
}

impl Series {
    pub(super) fn new(params: &MeasureParams) -> Self {
        let until = params.sample_until.map_or(u64::MAX, |until| until.0);
        let every = params.sample_every.map_or(u64::MAX, |every| every.0);
        let mut series = Self { next: params.sample_from.0, last: 0, every, until };
        if params.sample_every.is_none() || series.next > until {
            series.next = u64::MAX;
        }
        series
    }

    fn advance(&mut self) {
        self.last = self.next;
        let next = self.next.saturating_add(self.every);
        self.next = if next > self.until { u64::MAX } else { next };
    }
}

impl Nodes {
    /// Takes the samples due before `time`, the time of the next event. Returns true if one is due after the horizon, which
    /// ends the run.
    pub(super) fn sample_before(&mut self, network: &mut Network, time: u64, horizon: u64) -> bool {
        while self.series.next < time {
            if self.series.next > horizon {
                return true;
            }
            if self.series.next >= network.detector.next {
                self.look_for_deadlocks(network, self.series.next);
            }
            self.sample(network);
        }
        false
    }

    /// Takes the due sample, after all nodes have handled everything before it.
    pub(super) fn sample(&mut self, network: &mut Network) {
        network.now = self.series.next;
        self.out.counts.events += 1;
        for port in self.switches.iter().flat_map(|switch| &switch.ports) {
            let state = &mut network.ports[port.number as usize];
            (state.queued, state.tx_bytes) = (port.queued, port.tx_bytes);
        }
        network.sample_queues();
        let time = Time(network.now);
        let mut active: Vec<RateSample> = self.hosts.iter().flat_map(|host| host.samples(time)).collect();
        active.sort_by_key(|sample| sample.flow);
        network.recorder.rates.extend(active);
        self.series.advance();
    }
}
