//! Collects records; nothing in a run reads them.

use incast_model::fabric::{LinkId, PortId};
use incast_model::units::Time;

use crate::kernel::IdVec;
use crate::measure::{MeasureParams, QueueSample, RateSample};
use crate::outcome::{DropRecord, LinkChange, LinkRecord, PauseRecord, QueueRef};
use crate::tenant::PairSample;

#[derive(Debug, Clone, Copy, Default)]
struct Open {
    /// Begin, if not ended.
    since: Option<Time>,
    /// End of the last ended pause.
    ended: Option<Time>,
    ingress_bytes: u64,
    culprit: QueueRef,
}

/// Queues are indexed by priority, then port.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) params: MeasureParams,
    ports: usize,
    /// On arrival, by ingress.
    pub(crate) drops_at: Vec<u64>,
    /// By dead links, by egress.
    pub(crate) lost_at: Vec<u64>,
    /// Pauses of the peer ended by link failure, without XON.
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
    /// Bytes sent by the last sample; `None` before the first.
    sampled_tx: IdVec<PortId, Option<u64>>,
}

impl Recorder {
    pub(crate) fn new(params: MeasureParams, ports: usize) -> Self {
        let sampled = if params.sample_every.is_some() { ports } else { 0 };
        Self {
            params,
            ports,
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
            sampled_tx: vec![None; sampled].into(),
        }
    }

    /// `by_link`: the egress link was down; otherwise dropped on arrival.
    pub(crate) fn drop_packet(&mut self, at: usize, by_link: bool, record: DropRecord) {
        let counter = if by_link { &mut self.lost_at } else { &mut self.drops_at };
        counter[at] += 1;
        if (self.drops.len() as u64) < self.params.max_drops {
            self.drops.push(record);
        }
    }

    pub(crate) fn pause(&mut self, at: usize, now: Time, ingress_bytes: u64, culprit: QueueRef) {
        self.xoffs_received[at] += 1;
        self.open[at] = Open { since: Some(now), ingress_bytes, culprit, ..self.open[at] };
    }

    pub(crate) fn paused_since(&self, at: usize) -> Option<Time> {
        self.open[at].since
    }

    pub(crate) fn resume(&mut self, at: usize, now: Time) {
        self.close(at, now, Some(now));
    }

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
                culprit: open.culprit,
            });
        }
    }

    /// Closes open records; sorts pauses by start.
    pub(crate) fn finish(&mut self, now: Time) {
        for at in 0..self.open.len() {
            self.close(at, now, None);
        }
        self.pauses.sort_by_key(|pause| (pause.start, pause.port, pause.priority));
    }

    pub(crate) fn link(&mut self, now: Time, link: LinkId, change: LinkChange) {
        self.links.push(LinkRecord { time: now, link, change });
    }

    /// `tx_bytes`: sent in all.
    pub(crate) fn sample_queue(&mut self, time: Time, port: PortId, queued: u32, tx_bytes: u64) {
        let before = self.sampled_tx[port].replace(tx_bytes).unwrap_or(tx_bytes);
        if queued > 0 || tx_bytes > before {
            let (port, bytes, tx_bytes) = (port, u64::from(queued), tx_bytes - before);
            self.queues.push(QueueSample { time, port, bytes, tx_bytes });
        }
    }
}
