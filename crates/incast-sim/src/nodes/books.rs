//! Books of a run: records, and state of the whole network. Notes of nodes move into them between windows.

use incast_model::units::Time;

use super::Nodes;
use super::out::{Note, Noted};
use super::recorder::Recorder;
use crate::deadlock::Detector;
use crate::host::Countdown;
use crate::network::Faults;
use crate::outcome::{DropReason, Storm};
use crate::plan::Network;
use crate::progress::Progress;

#[derive(Debug)]
pub(super) struct Books {
    pub(super) now: u64,
    pub(super) recorder: Recorder,
    pub(super) detector: Detector,
    /// `None` without failures and storms.
    pub(super) faults: Option<Box<Faults>>,
    pub(super) storms: Vec<Storm>,
    pub(super) gates: Countdown,
    /// Most packets at the end of a window, or after an event.
    pub(super) peak_packets: u64,
}

impl Books {
    pub(super) fn new(network: &Network) -> Self {
        let pauses = network.config.queues.lossless != 0 || network.faults.is_some();
        Self {
            now: 0,
            recorder: Recorder::new(network.measure.clone(), network.ports.len()),
            detector: Detector::new(if pauses { network.measure.deadlock_every } else { Time::ZERO }),
            faults: network.faults.clone(),
            storms: Vec::new(),
            gates: Countdown::new(&network.hosts.gates, &network.flows),
            peak_packets: 0,
        }
    }

    pub(super) fn steps_taken(&self) -> u32 {
        self.faults.as_ref().map_or(0, |faults| faults.taken())
    }
}

impl Nodes {
    pub(super) fn record(&mut self) {
        if !self.partitions.ask() || self.partitions.iter().all(|partition| partition.out.notes.is_empty()) {
            return;
        }
        let mut notes: Vec<Noted> = self.partitions.outs().flat_map(|out| out.notes.drain(..)).collect();
        notes.sort_by_key(|noted| (noted.time, noted.event, noted.note.dropped_at()));
        let recorder = &mut self.books.recorder;
        for Noted { time, note, .. } in notes {
            match note {
                Note::Pause { at, bytes, culprit } => recorder.pause(at, time, bytes, culprit),
                Note::Resume { at } => recorder.resume(at, time),
                Note::Drop { at, record } => recorder.drop_packet(at, record.reason == DropReason::LinkDown, record),
            }
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let (counts, progress) = (self.partitions.counts(), self.partitions.progress());
        Progress {
            now: Time(self.books.now),
            events: counts.events,
            packet_hops: counts.packet_hops(),
            flows_done: progress.done as u64,
            flows: self.books.gates.flows as u64,
            bytes_acked: progress.acked,
            bytes: self.books.gates.bytes,
            end: self.network.end,
        }
    }
}
