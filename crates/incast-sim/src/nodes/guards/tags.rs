//! Tagger: new priorities by tag, ingress port and egress port.

use super::{Guard, Guards};
use crate::kernel::LocalPort;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::switch::Switch;
use crate::outcome::DropReason;
use incast_model::fabric::NodeId;

#[derive(Debug)]
pub(in crate::nodes) struct Tags {
    /// If true, tags change on the wire, not before the egress queue: the wrong variant.
    late: bool,
}

impl Guard for Tags {
    fn new(plan: Plan<'_>, _node: NodeId) -> Option<Self> {
        plan.network.tagging.as_ref().map(|tagging| Self { late: tagging.on_the_wire })
    }

    fn rewrites_on_the_wire(&self) -> bool {
        self.late
    }

    /// Wrong variant: the sending switch has noted the tag of the wire.
    fn arrived(switch: &mut Switch<Guards>, out: &mut Out, packet: &mut Packet) {
        let new = packet.in_prio;
        change_priority(switch, out, packet, new);
    }

    fn routed(
        switch: &mut Switch<Guards>,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        packet: &mut Packet,
    ) -> Option<DropReason> {
        if !switch.guards.tags.as_ref().is_some_and(|tags| tags.late) {
            let new = switch.new_tag(plan.network, port, packet);
            change_priority(switch, out, packet, new);
        }
        None
    }
}

fn change_priority(switch: &Switch<Guards>, out: &mut Out, packet: &mut Packet, new: u8) {
    let (old, size) = (std::mem::replace(&mut packet.prio, new), i64::from(packet.size));
    if old != new {
        out.retagged[usize::from(old & 7)] -= size;
        out.retagged[usize::from(new & 7)] += size;
        out.counts.retagged += 1;
        out.counts.made_lossy += u64::from(switch.lossless & 1 << new == 0);
    }
}
