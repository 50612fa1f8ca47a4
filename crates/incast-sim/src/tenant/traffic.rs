//! Packets in hypervisors: the limiter at the sender, the counters at the receiver.

use super::PairSample;
use crate::network::Network;
use crate::transport::Stack;
use incast_model::units::Time;

impl Network {
    /// Samples all active pairs.
    pub(crate) fn sample_pairs(&mut self) {
        let Some(hypervisors) = &self.hypervisors else { return };
        let active = (0u32..).zip(&hypervisors.pairs).filter(|(_, one)| one.send.active);
        let samples = active.map(|(pair, one)| PairSample {
            time: Time(self.now),
            pair,
            guarantee: one.send.guarantee as u64,
            limit: one.send.shaper.rate(),
            sent: one.send.sent,
            received: one.receive.received,
            waiting: one.send.shaper.packets,
        });
        self.recorder.pairs.extend(samples);
    }
}
