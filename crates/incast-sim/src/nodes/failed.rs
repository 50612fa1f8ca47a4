//! Switches with failed links, and ports that hold priorities in a PFC storm.

use incast_model::fabric::NodeId;

use super::out::Out;
use super::plan::Plan;
use super::port::Failed;
use super::run::ANY;
use super::switch::{Hooks, Switch};
use crate::balance::State;
use crate::kernel::NONE;
use crate::outcome::DropReason;
use crate::plan::Network;
use crate::switch::Storage;

impl<G: Hooks> Switch<G> {
    pub(super) const fn balancer(&mut self) -> (NodeId, Option<&mut State>) {
        (NodeId(self.node), self.balancer.as_mut())
    }

    /// Takes a port down. It is never idle, so it sends nothing.
    pub(super) fn fail(&mut self, network: &Network, port: usize, now: u64) -> Failed {
        self.begin_action(now);
        let state = &mut self.ports[port];
        state.down = true;
        let free_at = std::mem::replace(&mut state.busy_until, u64::MAX);
        let paused = std::mem::take(&mut state.paused);
        for prio in (0..8).filter(|prio| paused & 1 << prio != 0) {
            self.end_pause(network, port, prio);
        }
        let state = &mut self.ports[port];
        let mut pausing = 0;
        for (prio, lane) in state.lanes.iter_mut().enumerate() {
            pausing |= u8::from(std::mem::take(&mut lane.ingress.paused)) << prio;
        }
        G::link_down(self, port);
        Failed { free_at, paused, pausing }
    }

    /// Notes for guards that a pause begins.
    pub(super) fn begin_pause(&mut self, port: usize, prio: u8, root: u32) {
        let Some(pauses) = self.pauses.get_mut(port) else { return };
        let pauses = &mut pauses[usize::from(prio & 7)];
        (pauses.since, pauses.root) = (Some(self.now), (root != NONE).then_some(root));
    }

    /// Notes for guards that a pause ends.
    pub(super) fn end_pause(&mut self, network: &Network, port: usize, prio: u8) {
        if self.pauses.is_empty() {
            return;
        }
        G::resumed(self, network, port, prio);
        let pauses = &mut self.pauses[port][usize::from(prio & 7)];
        (pauses.since, pauses.ended) = (None, Some(self.now));
    }

    /// Drops all packets queued at a dead port.
    pub(super) fn empty(&mut self, plan: Plan<'_>, out: &mut Out, port: usize) {
        while self.ports[port].waiting != 0 {
            let prio = self.ports[port].waiting.trailing_zeros() as u8;
            self.drop_first(plan, out, (port, prio), DropReason::LinkDown);
        }
    }

    /// Drops the first packet of a queue.
    pub(super) fn drop_first(&mut self, plan: Plan<'_>, out: &mut Out, (port, prio): (usize, u8), reason: DropReason) {
        let packet = self.dequeue::<ANY>(port, prio);
        self.drop_packet(plan, out, Some(port), &packet, reason);
        if prio == 0 || self.storage != Storage::Shared {
            return;
        }
        let (in_port, in_prio) = (usize::from(packet.in_port), packet.in_prio & 7);
        let ingress = &mut self.ports[in_port].lanes[usize::from(in_prio)].ingress;
        self.buffer.release(ingress, packet.size.into());
        if self.buffer.wants_xon(ingress) {
            self.send_pfc::<ANY>(plan, out, in_port, in_prio, false, port);
        }
    }

    pub(super) fn repair(&mut self, port: usize, free_at: u64, now: u64) {
        self.begin_action(now);
        self.ports[port].down = false;
        self.ports[port].busy_until = free_at;
    }

    /// Begins or ends a PFC storm of a priority towards the far end of a port.
    pub(super) fn hold(&mut self, plan: Plan<'_>, out: &mut Out, (port, now): (usize, u64), prio: u8, holds: bool) {
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
    pub(super) fn pause_anew(&mut self, plan: Plan<'_>, out: &mut Out, port: usize) {
        for prio in 1..8 {
            if self.ports[port].lanes[usize::from(prio)].ingress.held {
                self.pause_held(plan, out, port, prio);
            }
        }
    }

    fn pause_held(&mut self, plan: Plan<'_>, out: &mut Out, port: usize, prio: u8) {
        if !self.ports[port].lanes[usize::from(prio)].ingress.paused && !self.ports[port].down {
            self.send_pfc::<ANY>(plan, out, port, prio, true, port);
        }
    }

    /// Begins an action at `now`, in ps. Its drops come before those of arrivals.
    pub(super) const fn begin_action(&mut self, now: u64) {
        self.now = now;
        self.line = NONE as usize;
    }
}
