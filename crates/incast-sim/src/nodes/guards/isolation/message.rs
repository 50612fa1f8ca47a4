//! Congestion isolation messages (CIP in the slides, CIM in the standard; EtherType 0x89A2), for the node at the far end of a
//! link only.

use crate::kernel::{FlowId, Kind, LocalPort, flag};
use crate::nodes::guards::Guards;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::run::ANY;
use crate::nodes::switch::Switch;
use crate::outcome::IsolatedBy;

impl Switch<Guards> {
    /// Asks the upstream node to isolate, if the isolated queue is long and the last message old.
    pub(super) fn tell_upstream(&mut self, plan: Plan<'_>, out: &mut Out, slot: u32, packet: &Packet) {
        let now = self.now();
        let input = packet.in_port;
        let Some(isolation) = self.guards.isolation.as_mut() else { return };
        let port = isolation.table[slot].port;
        let queued = self.ports[port].lanes[usize::from(isolation.params.queue & 7)].queue.bytes;
        if queued + u32::from(packet.size) <= isolation.thresholds[port].message {
            return;
        }
        let every = isolation.params.message_every.0;
        let notified = &mut isolation.table[slot].notified;
        match notified.iter_mut().find(|(to, _)| *to == input) {
            Some((_, last)) if now - *last < every => return,
            Some((_, last)) => *last = now,
            None => notified.push((input, now)),
        }
        let sent = self.send_isolation(plan, out, input, packet.flow, true);
        self.isolation().table.record_mut(slot).messages += u32::from(sent);
    }

    /// A dead link gets no message.
    pub(super) fn send_isolation(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        flow: FlowId,
        isolate: bool,
    ) -> bool {
        if self.ports[port].down {
            return false;
        }
        let size = self.isolation().params.message.0;
        out.counts.isolation_messages += 1;
        out.inject(0, size);
        let flags = if isolate { flag::XOFF } else { 0 };
        let message = Packet { kind: Kind::Isolation, flow, size: size as u16, flags, ..Packet::EMPTY };
        self.enqueue::<ANY>(out, port, &message, flags);
        self.serve_or_wait::<ANY>(plan, out, port);
        true
    }

    /// The message is about packets that leave by its ingress port. A server of VMs ignores it.
    pub(in crate::nodes) fn receive_isolation(&mut self, plan: Plan<'_>, out: &mut Out, message: &Packet) {
        out.deliver(0, u64::from(message.size));
        if self.isolation().serves_vms {
            return;
        }
        let (port, flow, now) = (message.in_port, message.flow, self.now());
        let known = self.isolation().table.find(port, flow);
        if message.flags & flag::XOFF == 0 {
            if let Some(slot) = known {
                self.isolation().table[slot].asked = None;
            }
            return;
        }
        let slot = known.or_else(|| self.isolate(plan, out, (port, flow), IsolatedBy::Message, None));
        if let Some(slot) = slot {
            self.isolation().table[slot].asked = Some(now);
        }
    }
}
