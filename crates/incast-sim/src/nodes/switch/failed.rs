//! Switches with failed links, and ports that hold priorities in a PFC storm.

use incast_model::fabric::NodeId;

use super::{Hooks, Switch};
use crate::balance::State;
use crate::kernel::{Line, LocalPort};
use crate::nodes::lane::Failed;
use crate::nodes::out::Out;
use crate::nodes::plan::Plan;
use crate::nodes::run::ANY;
use crate::outcome::DropReason;
use crate::plan::Network;
use crate::switch::Storage;

impl<G: Hooks> Switch<G> {
    pub(in crate::nodes) const fn balancer(&mut self) -> (NodeId, Option<&mut State>) {
        (self.node, self.balancer.as_mut())
    }

    /// Takes a port down. It is never idle, so it sends nothing.
    pub(in crate::nodes) fn fail(&mut self, network: &Network, port: LocalPort, now: u64) -> Failed {
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

    /// Drops all packets queued at a dead port.
    pub(in crate::nodes) fn empty(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort) {
        while self.ports[port].waiting != 0 {
            let prio = self.ports[port].waiting.trailing_zeros() as u8;
            self.drop_first(plan, out, (port, prio), DropReason::LinkDown);
        }
    }

    /// Drops the first packet of a queue.
    pub(in crate::nodes) fn drop_first(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        (port, prio): (LocalPort, u8),
        reason: DropReason,
    ) {
        let packet = self.dequeue::<ANY>(port, prio);
        self.drop_packet(plan, out, Some(port), &packet, reason);
        if prio == 0 || self.storage != Storage::Shared {
            return;
        }
        let (in_port, in_prio) = (packet.in_port, packet.in_prio & 7);
        let ingress = &mut self.ports[in_port].lanes[usize::from(in_prio)].ingress;
        self.buffer.release(ingress, packet.size.into());
        if self.buffer.wants_xon(ingress) {
            self.send_pfc::<ANY>(plan, out, in_port, in_prio, false, port);
        }
    }

    pub(in crate::nodes) fn repair(&mut self, port: LocalPort, free_at: u64, now: u64) {
        self.begin_action(now);
        self.ports[port].down = false;
        self.ports[port].busy_until = free_at;
    }

    /// Begins an action at `now`, in ps. Its drops come before those of arrivals.
    pub(in crate::nodes) const fn begin_action(&mut self, now: u64) {
        self.now = now;
        self.line = Line::NONE;
    }
}
