//! Packets that carry other things than a position in a flow: PFC frames and messages of hypervisors.

use incast_model::fabric::PortId;

use super::packet::Packet;
use crate::kernel::{Kind, NONE, Word, flag};
use crate::outcome::QueueRef;

#[derive(Debug, Clone, Copy)]
pub(super) struct PfcFrame {
    pub(super) prio: u8,
    pub(super) xoff: bool,
    /// Ingress bytes that caused it.
    pub(super) bytes: u64,
    /// Egress queue of the packet that caused it.
    pub(super) culprit: QueueRef,
    /// Root of the pause, if known (`measure.blocking`).
    pub(super) root: Option<PortId>,
}

impl PfcFrame {
    pub(super) fn packet(self, size: u16) -> Packet {
        Packet {
            seq: self.bytes,
            word: Word::with_culprit(self.culprit.port, self.culprit.priority),
            dst: self.root.map_or(NONE, |root| root.0),
            size,
            kind: Kind::Pfc,
            in_prio: self.prio,
            flags: if self.xoff { flag::XOFF } else { 0 },
            ..Packet::EMPTY
        }
    }
}

impl From<&Packet> for PfcFrame {
    fn from(packet: &Packet) -> Self {
        debug_assert_eq!(packet.kind, Kind::Pfc);
        let (port, priority) = packet.word.culprit();
        Self {
            prio: packet.in_prio,
            xoff: packet.flags & flag::XOFF != 0,
            bytes: packet.seq,
            culprit: QueueRef { port, priority },
            root: (packet.dst != NONE).then_some(PortId(packet.dst)),
        }
    }
}

/// Between hypervisors, about one pair of VMs. Rates in bit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Message {
    /// `waits`: the sender could use more.
    Offer {
        offer: f64,
        waits: bool,
    },
    Share {
        offer: f64,
        share: f64,
    },
    /// Congestion events so far.
    Feedback {
        events: u64,
    },
    Rate(f64),
}

impl Message {
    /// Has the kind, the content and the flags.
    pub(super) fn packet(self) -> Packet {
        let empty = Packet { flags: flag::NOT_ECT, ..Packet::EMPTY };
        match self {
            Self::Offer { offer, waits } => {
                let flags = empty.flags | if waits { flag::ECHO } else { 0 };
                Packet { kind: Kind::Offer, seq: offer.to_bits(), flags, ..empty }
            }
            Self::Share { offer, share } => {
                Packet { kind: Kind::Share, seq: offer.to_bits(), word: Word::with_rate(share), ..empty }
            }
            Self::Feedback { events } => Packet { kind: Kind::Feedback, seq: events, ..empty },
            Self::Rate(rate) => Packet { kind: Kind::Rate, word: Word::with_rate(rate), ..empty },
        }
    }

    pub(super) const fn of(packet: &Packet) -> Option<Self> {
        Some(match packet.kind {
            Kind::Offer => Self::Offer { offer: f64::from_bits(packet.seq), waits: packet.flags & flag::ECHO != 0 },
            Kind::Share => Self::Share { offer: f64::from_bits(packet.seq), share: packet.word.rate() },
            Kind::Feedback => Self::Feedback { events: packet.seq },
            Kind::Rate => Self::Rate(packet.word.rate()),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_frames_survive_a_packet() {
        let messages = [
            Message::Offer { offer: 1e9, waits: true },
            Message::Offer { offer: f64::INFINITY, waits: false },
            Message::Share { offer: 2e9, share: 3e8 },
            Message::Feedback { events: u64::MAX },
            Message::Rate(4e8),
        ];
        for message in messages {
            assert_eq!(Message::of(&message.packet()), Some(message));
        }
        let culprit = QueueRef { port: PortId(7), priority: 4 };
        let frame = PfcFrame { prio: 3, xoff: true, bytes: 9, culprit, root: Some(PortId(8)) };
        let read = PfcFrame::from(&frame.packet(64));
        assert_eq!((read.prio, read.xoff, read.bytes, read.culprit, read.root), (3, true, 9, culprit, Some(PortId(8))));
        assert_eq!(Message::of(&frame.packet(64)), None);
    }
}
