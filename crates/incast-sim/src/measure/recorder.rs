//! Collects records; nothing in a run reads them.

use incast_model::fabric::PortId;
use incast_model::units::Time;

use super::{LengthHistogram, MeasureParams, Prints, QueueHistogram, QueueSample, RateSample, Waits};
use crate::network::Network;
use crate::outcome::{DropRecord, LinkRecord, PauseRecord};
use crate::tenant::PairSample;

/// Last pause of a queue.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    /// Begin, if not ended.
    since: Option<Time>,
    /// End of the last pause that ended.
    ended: Option<Time>,
    ingress_bytes: u64,
    culprit: u32,
}

/// Records; queues are indexed by [`Network::at`].
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) params: MeasureParams,
    ports: usize,
    pub(crate) marks: Vec<u64>,
    /// Drops on arrival, by ingress.
    pub(crate) drops_at: Vec<u64>,
    /// Losses by a link that was down, by egress.
    pub(crate) lost_at: Vec<u64>,
    /// Pauses of the peer that a link failure ended, without an XON.
    pub(crate) unresumed: Vec<u32>,
    pub(crate) xoffs_received: Vec<u64>,
    pub(crate) paused: Vec<Time>,
    open: Vec<Open>,
    pub(crate) pauses: Vec<PauseRecord>,
    pub(crate) drops: Vec<DropRecord>,
    pub(crate) links: Vec<LinkRecord>,
    pub(crate) queues: Vec<QueueSample>,
    pub(crate) rates: Vec<RateSample>,
    pub(crate) pairs: Vec<PairSample>,
    /// By flow; empty if not measured.
    pub(crate) waits: Vec<Waits>,
    /// `None` if not measured.
    pub(crate) prints: Option<Box<Prints>>,
    /// Sent bytes by port, at the last sample.
    sampled_tx: Vec<u64>,
    /// By port; may be empty.
    pub(crate) histograms: Vec<LengthHistogram>,
}

impl Recorder {
    pub(crate) fn new(params: MeasureParams, nodes: usize, ports: usize, flows: usize) -> Self {
        let prints = params.fingerprint.then(|| Box::new(Prints::new(nodes)));
        let sampled = if params.sample_every.is_some() { ports } else { 0 };
        let waits = vec![Waits::default(); if params.blocking { flows } else { 0 }];
        let binned = if params.queue_histogram { ports } else { 0 };
        Self {
            params,
            ports,
            marks: vec![0; 8 * ports],
            drops_at: vec![0; 8 * ports],
            lost_at: vec![0; 8 * ports],
            unresumed: vec![0; 8 * ports],
            xoffs_received: vec![0; 8 * ports],
            paused: vec![Time::ZERO; 8 * ports],
            open: vec![Open::default(); 8 * ports],
            pauses: Vec::new(),
            drops: Vec::new(),
            links: Vec::new(),
            queues: Vec::new(),
            rates: Vec::new(),
            pairs: Vec::new(),
            waits,
            prints,
            sampled_tx: vec![0; sampled],
            histograms: vec![LengthHistogram::default(); binned],
        }
    }

    /// `by_link`: the link of this egress was down; otherwise dropped on arrival.
    pub(crate) fn drop_packet(&mut self, at: usize, by_link: bool, record: DropRecord) {
        let counter = if by_link { &mut self.lost_at } else { &mut self.drops_at };
        counter[at] += 1;
        if (self.drops.len() as u64) < self.params.max_drops {
            self.drops.push(record);
        }
    }

    pub(crate) fn pause(&mut self, at: usize, now: Time, ingress_bytes: u64, culprit: u32) {
        self.xoffs_received[at] += 1;
        self.open[at] = Open { since: Some(now), ingress_bytes, culprit, ..self.open[at] };
    }

    /// Begin of a pause; `None` if not paused.
    pub(crate) fn paused_since(&self, at: usize) -> Option<Time> {
        self.open[at].since
    }

    pub(crate) fn resume(&mut self, at: usize, now: Time) {
        self.close(at, now, Some(now));
    }

    /// Ends a pause, at `end` or with the run.
    fn close(&mut self, at: usize, now: Time, end: Option<Time>) {
        let open = self.open[at];
        let Some(start) = self.open[at].since.take() else { return };
        self.open[at].ended = Some(now);
        self.paused[at] += now - start;
        if self.params.pauses {
            self.pauses.push(PauseRecord {
                port: PortId((at % self.ports) as u32),
                priority: (at / self.ports) as u8,
                start,
                end,
                ingress_bytes: open.ingress_bytes,
                culprit_port: PortId(open.culprit),
            });
        }
    }

    /// Closes open records; sorts pauses by start.
    pub(crate) fn finish(&mut self, now: Time) {
        for at in 0..self.open.len() {
            self.close(at, now, None);
        }
        self.pauses.sort_by_key(|pause| (pause.start, pause.port, pause.priority));
        let bin = self.params.histogram_bin.0;
        self.histograms.iter_mut().for_each(|histogram| histogram.note(now.0, 0, bin));
    }

    pub(crate) fn take_histograms(&mut self, at_host: impl Fn(usize) -> bool) -> Vec<QueueHistogram> {
        std::mem::take(&mut self.histograms)
            .into_iter()
            .enumerate()
            .filter(|(port, _)| !at_host(*port))
            .map(|(port, one)| QueueHistogram { port: PortId(port as u32), time_in_bin: one.into_bins() })
            .collect()
    }
}

impl Network {
    pub(crate) fn sample_queues(&mut self) {
        let time = Time(self.now);
        for (index, port) in self.ports.iter().enumerate().filter(|(_, port)| !port.at_host) {
            let sent = port.tx_bytes - self.recorder.sampled_tx[index];
            if port.queued > 0 || sent > 0 {
                self.recorder.sampled_tx[index] = port.tx_bytes;
                let bytes = u64::from(port.queued);
                self.recorder.queues.push(QueueSample { time, port: PortId(index as u32), bytes, tx_bytes: sent });
            }
        }
    }
}
