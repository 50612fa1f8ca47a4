//! PFC at a switch: its own pauses and those of its peers.

use incast_model::fabric::PortId;
use incast_model::units::Time;

use super::{Hooks, Switch};
use crate::kernel::LocalPort;
use crate::kernel::{Kind, NONE, flag};
use crate::nodes::out::{Note, Noted, Out};
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::run::{ANY, NS3, has_extras};
use crate::plan::Network;

impl<G: Hooks> Switch<G> {
    /// `culprit` is the egress port of the packet that caused the frame.
    #[cold]
    pub(super) fn send_pfc<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        prio: u8,
        xoff: bool,
        culprit: LocalPort,
    ) {
        let culprit = u64::from(self.ports[culprit].number.0);
        let measures = has_extras(RUN) && self.guarded && xoff;
        let root = if measures { G::root(self, plan.network, port, prio) } else { None };
        let ingress = &mut self.ports[port].lanes[usize::from(prio)].ingress;
        ingress.paused = xoff;
        ingress.xoffs += u32::from(xoff);
        out.counts.pauses += u64::from(xoff);
        out.injected[0] += u64::from(self.pfc_size);
        out.live += 1;
        if RUN == NS3 {
            out.ns3().draws.skip();
        }
        let frame = Packet {
            seq: u64::from(ingress.bytes + ingress.headroom),
            stamp: culprit,
            dst: root.map_or(NONE, |root| root.0),
            size: self.pfc_size,
            kind: Kind::Pfc,
            in_prio: prio,
            flags: if xoff { flag::XOFF } else { 0 },
            ..Packet::EMPTY
        };
        self.enqueue::<RUN>(port, &frame, frame.flags);
        self.serve_or_wait::<RUN>(plan, out, port);
    }

    #[cold]
    pub(super) fn receive_pfc<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        frame: &Packet,
    ) {
        out.delivered[0] += u64::from(frame.size);
        out.live -= 1;
        if has_extras(RUN) && self.guarded && G::voids(self, port, frame.in_prio, frame.flags & flag::XOFF != 0) {
            return;
        }
        let bit = 1 << frame.in_prio;
        let state = &mut self.ports[port];
        let at = plan.network.at(state.number, frame.in_prio);
        let time = Time(self.now);
        let note = |note| Noted { time, event: 0, note };
        if frame.flags & flag::XOFF != 0 {
            if state.paused & bit == 0 {
                state.paused |= bit;
                self.begin_pause(port, frame.in_prio, (frame.dst != NONE).then_some(PortId(frame.dst)));
                out.notes.push(note(Note::Pause { at, bytes: frame.seq, culprit: PortId(frame.stamp as u32) }));
            }
            return;
        }
        if state.paused & bit != 0 {
            state.paused &= !bit;
            self.end_pause(plan.network, port, frame.in_prio);
            out.notes.push(note(Note::Resume { at }));
        }
        self.serve_or_wait::<RUN>(plan, out, port);
    }

    /// Notes for guards that a pause begins.
    pub(super) fn begin_pause(&mut self, port: LocalPort, prio: u8, root: Option<PortId>) {
        let Some(pauses) = self.pauses.get_mut(port) else { return };
        let pauses = &mut pauses[usize::from(prio & 7)];
        (pauses.since, pauses.root) = (Some(self.now), root);
    }

    /// Notes for guards that a pause ends.
    pub(in crate::nodes) fn end_pause(&mut self, network: &Network, port: LocalPort, prio: u8) {
        if self.pauses.is_empty() {
            return;
        }
        G::resumed(self, network, port, prio);
        let pauses = &mut self.pauses[port][usize::from(prio & 7)];
        (pauses.since, pauses.ended) = (None, Some(self.now));
    }

    /// Begins or ends a PFC storm of a priority towards the far end of a port.
    pub(in crate::nodes) fn hold(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        (port, now): (LocalPort, u64),
        prio: u8,
        holds: bool,
    ) {
        self.begin_action(now);
        let ingress = &mut self.ports[port].lanes[usize::from(prio)].ingress;
        ingress.held = holds;
        if holds {
            return self.pause_held(plan, out, port, prio);
        }
        // A switch above its own threshold sends XON later, once enough has left.
        if self.buffer.wants_xon(ingress) {
            self.send_pfc::<ANY>(plan, out, port, prio, false, port);
        }
    }

    /// Sends the pauses of held priorities again, after a repair.
    pub(in crate::nodes) fn pause_anew(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort) {
        for prio in 1..8 {
            if self.ports[port].lanes[usize::from(prio)].ingress.held {
                self.pause_held(plan, out, port, prio);
            }
        }
    }

    fn pause_held(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort, prio: u8) {
        if !self.ports[port].lanes[usize::from(prio)].ingress.paused && !self.ports[port].down {
            self.send_pfc::<ANY>(plan, out, port, prio, true, port);
        }
    }
}
