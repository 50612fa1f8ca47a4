//! Priority flow control (IEEE 802.1Qbb): pause and resume frames, which cross the link like other packets.

use incast_model::units::Time;

use crate::kernel::{Kind, NONE, Packet, flag};
use crate::network::Network;

impl Network {
    /// Sends a frame to the peer of `port`; `culprit`: egress port of the packet that caused it, or `port` if none did.
    pub(crate) fn send_pfc(&mut self, port: u32, prio: u8, xoff: bool, culprit: u32) {
        let root = if xoff { self.root_to_send(port, prio) } else { NONE };
        let at = self.at(port, prio);
        let ingress = &mut self.ingress[at];
        ingress.paused = xoff;
        ingress.xoffs += u32::from(xoff);
        let held = ingress.bytes + ingress.headroom;
        self.counts.pauses += u64::from(xoff);
        if let Some(draws) = &mut self.draws {
            draws.skip();
        }
        let size = self.config.packets.pfc.0;
        self.ledger.injected[0] += size;
        let id = self.pool.alloc(Packet {
            kind: Kind::Pfc,
            seq: u64::from(held),
            stamp: u64::from(culprit),
            dst: root,
            size: size as u16,
            in_prio: prio,
            flags: if xoff { flag::XOFF } else { 0 },
            ..Packet::EMPTY
        });
        self.enqueue(port, id);
        self.kick(port);
    }

    /// Handles a frame received at `port`, for the packets that leave there.
    pub(crate) fn receive_pfc(&mut self, port: u32, id: u32) {
        let frame = self.pool[id];
        self.ledger.delivered[0] += u64::from(frame.size);
        self.pool.release(id);
        if self.watchdog.is_some() && self.void_in_storm(port, frame.in_prio, frame.flags & flag::XOFF != 0) {
            return;
        }
        let bit = 1 << frame.in_prio;
        let state = &mut self.ports[port as usize];
        let at_host = state.at_host;
        if frame.flags & flag::XOFF != 0 {
            if state.paused & bit == 0 {
                state.paused |= bit;
                let at = self.at(port, frame.in_prio);
                self.note_root(at, frame.dst);
                self.recorder.pause(at, Time(self.now), frame.seq, frame.stamp as u32);
            }
            return;
        }
        if state.paused & bit != 0 {
            state.paused &= !bit;
            let at = self.at(port, frame.in_prio);
            self.end_pause(port, frame.in_prio);
            self.recorder.resume(at, Time(self.now));
        }
        if at_host {
            self.kick_nic(port);
        } else {
            self.kick(port);
        }
    }
}
