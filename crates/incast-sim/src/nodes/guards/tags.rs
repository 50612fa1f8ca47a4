//! Tagger: new priorities by tag, ingress port and egress port.

use incast_model::fabric::NodeId;

use super::{Guard, Guards};
use crate::kernel::LocalPort;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::switch::Switch;
use crate::outcome::DropReason;

#[derive(Debug)]
pub(in crate::nodes) struct Tags {
    /// If true, tags change on the wire, not before the egress queue (wrong variant).
    late: bool,
}

impl Guard for Tags {
    fn new(plan: Plan<'_>, _node: NodeId) -> Option<Self> {
        plan.network.switches.tagging.as_ref().map(|tagging| Self { late: tagging.on_the_wire })
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
        out.ledger.retag(old, new, size);
        out.counts.retagged += 1;
        out.counts.made_lossy += u64::from(switch.settings.lossless & 1 << new == 0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use incast_model::flow::Flow;
    use incast_model::units::{Bytes, Time};

    use crate::nodes::bench::Frame::{Data, Xoff, Xon};
    use crate::nodes::bench::{Bench, flow};
    use crate::switch::{PfcMode, QueueBy, TagRules};

    /// Tags 1 and 2 are priorities 3 and 4; others become lossy (1). One rule: tag 1 from h0 to h2 (flow 0) becomes tag 2. Flow
    /// 1 has tag 1 on another path, flow 2 no tag. XOFF at 2500 B.
    fn tagged(queue_by: QueueBy) -> Bench {
        let flows = [flow(0, 2, 9), flow(1, 2, 1), Flow { priority: 5, ..flow(0, 2, 1) }];
        Bench::switch(&flows, |setup| {
            let fabric = &setup.fabric;
            let switch = fabric.switches().next().expect("a switch");
            let ports: Vec<_> = fabric.ports_of(switch).collect();
            let mut rules = TagRules::new(fabric, 2);
            rules.insert(fabric, 1, ports[0], ports[2], 2);
            setup.tags = Some(Arc::new(rules));
            let params = &mut setup.params.switch;
            (params.lossless, params.tagging.enabled, params.tagging.queue_by) = (vec![3, 4], true, queue_by);
            (params.pfc_mode, params.resume_offset) = (PfcMode::Static { xoff: Bytes(2500) }, Bytes(1250));
        })
    }

    #[test]
    fn a_rule_gives_a_new_tag_and_no_rule_makes_lossy() {
        let mut bench = tagged(QueueBy::NewTag);
        bench.put(0, &[(1000, Data(0, 0)), (1200, Data(2, 0))]);
        bench.put(1, &[(1100, Data(1, 0))]);
        bench.run(2000);
        let sent: Vec<_> = bench.packets(2).iter().map(|sent| (sent.frame, sent.prio, sent.in_prio)).collect();
        assert_eq!(sent, [(Data(0, 0), 4, 4), (Data(1, 0), 1, 1), (Data(2, 0), 5, 5)]);
        assert_eq!((bench.counts().retagged, bench.counts().made_lossy), (2, 1));
        assert_eq!(bench.out().ledger.retagged, [0, 1250, 0, -2500, 1250, 0, 0, 0]);
    }

    #[test]
    fn a_change_of_rules_holds_for_packets_that_arrive_later() {
        let mut bench = Bench::switch(&[flow(0, 2, 9)], |setup| {
            let (fabric, times) = (&setup.fabric, vec![Time::ns(1150); setup.fabric.nodes().len()]);
            let ports: Vec<_> = fabric.ports_of(fabric.switches().next().expect("a switch")).collect();
            let to = |tags: u8, new: u8| {
                let mut rules = TagRules::new(fabric, tags);
                rules.insert(fabric, 1, ports[0], ports[2], new);
                rules
            };
            let mut rules = to(1, 1);
            rules.change(times, to(2, 2));
            setup.tags = Some(Arc::new(rules));
            let params = &mut setup.params.switch;
            (params.lossless, params.tagging.enabled) = (vec![3, 4], true);
        });
        bench.put(0, &[(1000, Data(0, 0)), (1100, Data(0, 1)), (1200, Data(0, 2))]);
        bench.run(2000);
        let sent: Vec<_> = bench.packets(2).iter().map(|sent| (sent.frame, sent.prio)).collect();
        assert_eq!(sent, [(Data(0, 0), 3), (Data(0, 1), 3), (Data(0, 2), 4)]);
    }

    #[test]
    fn a_pause_of_the_new_tag_stops_a_packet_which_then_pauses_the_arriving_tag() {
        let mut bench = tagged(QueueBy::NewTag);
        bench.put(2, &[(0, Xoff(4, 0)), (50, Xoff(3, 0)), (5000, Xon(4))]);
        bench.put(0, &[(1000, Data(0, 0)), (1100, Data(0, 1))]);
        bench.run(9000);
        assert_eq!(bench.sent(2), [(5100, Data(0, 0)), (5200, Data(0, 1))]);
        assert_eq!(bench.sent(0), [(1110, Xoff(3, 2500)), (5010, Xon(3))]);
    }

    #[test]
    fn the_wrong_variant_changes_tags_on_the_wire() {
        let mut bench = tagged(QueueBy::ArrivingTag);
        bench.put(2, &[(0, Xoff(4, 0))]);
        bench.put(0, &[(1000, Data(0, 0))]);
        bench.run(9000);
        // The pause of the new tag does not stop it.
        let sent: Vec<_> = bench.packets(2).iter().map(|sent| (sent.end, sent.prio, sent.in_prio)).collect();
        assert_eq!(sent, [(1100, 3, 4)]);
    }
}
