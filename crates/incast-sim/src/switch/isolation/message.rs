//! Congestion isolation messages (CIP in the slides, CIM in the standard; EtherType 0x89A2): from a port to the node at the far
//! end of its link, and no further.

use super::{Isolation, IsolationAtHosts};
use crate::kernel::{Kind, NONE, Packet, flag};
use crate::network::Network;
use crate::outcome::IsolatedBy;

impl Network {
    /// Asks the peer of `input` to isolate the flow too, if the isolated queue is long and the last message old.
    pub(super) fn tell_upstream(&mut self, slot: u32, input: u32, size: u32) {
        let now = self.now;
        let Some(isolation) = &mut self.isolation else { return };
        let (port, flow) = (isolation.table[slot].port, isolation.table[slot].flow);
        let at = usize::from(isolation.params.queue) * self.ports.len() + port as usize;
        if self.queues[at].bytes + size <= isolation.thresholds[port as usize].message {
            return;
        }
        let every = isolation.params.message_every.0;
        let notified = &mut isolation.table[slot].notified;
        match notified.iter_mut().find(|(to, _)| *to == input) {
            Some((_, last)) if now - *last < every => return,
            Some((_, last)) => *last = now,
            None => notified.push((input, now)),
        }
        isolation.table.record_mut(slot).messages += 1;
        self.send_isolation(input, flow, true);
    }

    /// Asks the peer of a port to isolate a flow (true), or withdraws the request.
    pub(super) fn send_isolation(&mut self, port: u32, flow: u32, isolate: bool) {
        let Some(Isolation { params, .. }) = self.isolation.as_deref() else { return };
        if self.ports[port as usize].down {
            return;
        }
        let size = params.message.0;
        self.counts.isolation_messages += 1;
        self.ledger.injected[0] += size;
        let id = self.pool.alloc(Packet {
            kind: Kind::Isolation,
            flow,
            size: size as u16,
            flags: if isolate { flag::XOFF } else { 0 },
            ..Packet::EMPTY
        });
        self.enqueue(port, id);
        self.kick(port);
    }

    /// Handles a message received at `port`, for packets that leave there. Its bytes are in the ledger. A server of VMs ignores it.
    #[inline(never)]
    pub(crate) fn receive_isolation(&mut self, port: u32, id: u32) {
        let (flow, isolate) = (self.pool[id].flow, self.pool[id].flags & flag::XOFF != 0);
        self.pool.release(id);
        let at_host = self.ports[port as usize].at_host;
        self.counts.isolation_messages_to_hosts += u64::from(at_host);
        let now = self.now;
        let Some(isolation) = &mut self.isolation else { return };
        if at_host && isolation.params.hosts == IsolationAtHosts::Ignore || self.ports[port as usize].at_server {
            return;
        }
        let queue = isolation.params.queue;
        let known = isolation.table.find(port, flow);
        if !isolate {
            if let Some(slot) = known {
                isolation.table[slot].asked = None;
            }
            return;
        }
        if at_host && self.sender_of[flow as usize] == NONE {
            return; // completed, or not RDMA
        }
        let Some(slot) = known.or_else(|| self.isolate(port, flow, IsolatedBy::Message, None)) else { return };
        if let Some(isolation) = &mut self.isolation {
            isolation.table[slot].asked = Some(now);
        }
        if at_host {
            self.send_under(flow, queue);
        }
    }
}
