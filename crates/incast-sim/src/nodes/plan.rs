//! Data that a run does not change.

use incast_model::fabric::{Fabric, HostId, NodeId, NodeKind, PortId};
use incast_model::flow::MAX_TIME;

use super::cut::Cut;
use super::packet::{Packet, Stamp};
use super::run::{NS3, has_extras, has_transports};
use crate::host::Carrier;
use crate::kernel::{FlowId, IdVec, Kind, Line, LocalPort, Member, ReceivedId, SentId, flag};
use crate::plan::Network;

/// Low bits of a key: link or port of a node. The time is above.
pub(super) const LINK_BITS: u32 = 12;

/// Ports of a switch: a link must fit into a key.
pub(crate) const MAX_PORTS: usize = 1 << LINK_BITS;

pub(crate) const MAX_NICS: usize = 255;

/// Longest time in ps from the begin of a transmission to the arrival of its last bit.
pub(crate) const MAX_CROSSING: u64 = MAX_TIME.0 / 10;

const _: () = assert!(MAX_TIME.0 + MAX_CROSSING < 1 << (u64::BITS - LINK_BITS), "times with links fit into keys");

#[derive(Debug, Clone, Copy)]
pub(super) struct PortPlan {
    pub(super) delay: u64,
    /// 0 if not an integer, or if gaps follow packets.
    pub(super) ps_per_byte: u32,
    pub(super) peer: Member,
    pub(super) peer_port: LocalPort,
    /// As [`crate::plan::Port::cut`].
    pub(super) cut: u16,
    /// If true, a packet may leave the far end by a faster link.
    pub(super) speeds_up: bool,
    pub(super) far: Far,
    /// Partition of the node at the far end.
    pub(super) partition: u32,
    /// Wire, and its number among those that end at the same node.
    pub(super) line: Line,
    pub(super) place: u16,
}

const _: () = assert!(size_of::<PortPlan>() == 32);

impl PortPlan {
    #[cfg(test)]
    pub(super) const NONE: Self = Self {
        delay: 0,
        ps_per_byte: 0,
        partition: 0,
        peer: Member(0),
        peer_port: LocalPort(0),
        cut: 0,
        speeds_up: false,
        far: Far::Host,
        line: Line(0),
        place: 0,
    };
}

impl PortPlan {
    /// Writes a packet as it arrives at the far end.
    #[inline(always)]
    pub(super) fn arrive(&self, packet: &Packet, stamp: Stamp, to: &mut Packet) {
        *to = *packet;
        to.in_port = self.peer_port;
        to.hops = packet.hops + 1;
        to.flags = stamp.flags;
        if packet.kind != Kind::Pfc {
            to.in_prio = stamp.in_prio;
        }
    }
}

/// Node at the far end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Far {
    Host,
    Switch,
    /// In another partition.
    HostAway,
    SwitchAway,
}

impl Far {
    #[inline(always)]
    pub(super) const fn is_away(self) -> bool {
        matches!(self, Self::HostAway | Self::SwitchAway)
    }
}

/// Place of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) partition: u32,
    pub(super) member: Member,
}

/// Windows that a partition runs by itself: without others (our choice), and at most, for links between partitions that are longer
/// than the shortest link by orders of magnitude.
const UNCUT: u32 = 64;
const MOST_APART: u64 = 1 << 14;

/// Fabric and flows as nodes use them.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) ports: IdVec<PortId, PortPlan>,
    pub(super) first_port: IdVec<NodeId, PortId>,
    pub(super) spots: IdVec<NodeId, Spot>,
    /// First wire that ends at a node. The wires of a partition are in the order of its nodes.
    first_inward: IdVec<NodeId, Line>,
    pub(super) at_src: IdVec<FlowId, SentId>,
    pub(super) at_dst: IdVec<FlowId, ReceivedId>,
    pub(super) sent: IdVec<HostId, IdVec<SentId, FlowId>>,
    pub(super) received: IdVec<HostId, IdVec<ReceivedId, FlowId>>,
    /// By host: gates of flows that it sends; empty without gates, and if a gate waits for several hosts.
    pub(super) gates: IdVec<HostId, Vec<u32>>,
    /// If true, hosts depend on each other within a window: the order of their events matters.
    pub(super) hosts_in_order: bool,
    /// If true, all events are handled in global order (to compare with).
    pub(super) one_by_one: bool,
    /// If true, hypervisors see which VMs on their server receive.
    pub(super) neighbours: bool,
    /// In ps: at most the shortest time from append to arrival on a wire. A sweep comes in a later window than the isolation
    /// that causes it.
    pub(super) window: u64,
    /// Same for wires between partitions; `None` without any.
    pub(super) between: Option<u64>,
    /// Windows for which switches keep lists of arrivals.
    pub(super) lists: usize,
    /// If true, a host has links to switches in other partitions.
    pub(super) hosts_apart: bool,
    /// INT records of a packet: 1 for PINT alone.
    pub(super) records: usize,
}

impl Layout {
    /// Returns the wires that end in each partition, by egress port.
    pub(super) fn new(network: &Network, cut: Cut) -> (Self, Vec<IdVec<Line, PortId>>) {
        let fabric = &network.fabric;
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let order = &network.order;
        let cut = if order.uncut.is_some() { Cut::Whole } else { cut };
        let spots = spots(fabric, &cut.partitions(fabric));
        let first = |node| fabric.ports_of(node).next().expect("a node of a connected graph has a port");
        let underrun = network.config.switch.underrun;
        let mut ports: IdVec<PortId, PortPlan> = network
            .ports
            .numbered()
            .map(|(port, state)| {
                let peer = fabric.neighbour(port);
                let peer_port = LocalPort((state.peer.0 - first(peer).0) as u16);
                let rate = fabric.rate(port);
                let speeds_up = !underrun && fabric.ports_of(peer).any(|next| fabric.rate(next) > rate);
                let gapless = network.config.packets.gap.0 == 0;
                let ps_per_byte = if gapless { state.ps_per_byte } else { 0 };
                let (delay, cut) = (state.delay, state.cut);
                let away = spots[peer].partition != spots[fabric.port(port).node].partition;
                let far = match (fabric.node(peer).kind, away) {
                    (NodeKind::Switch, false) => Far::Switch,
                    (NodeKind::Host, false) => Far::Host,
                    (NodeKind::Switch, true) => Far::SwitchAway,
                    (NodeKind::Host, true) => Far::HostAway,
                };
                let Spot { partition, member: peer } = spots[peer];
                PortPlan {
                    delay,
                    ps_per_byte,
                    partition,
                    peer,
                    peer_port,
                    cut,
                    speeds_up,
                    far,
                    line: Line(0),
                    place: 0,
                }
            })
            .collect();
        let away = ports.numbered().filter(|(_, port)| port.far.is_away());
        let between = away.map(|(number, port)| port.delay + network.wire_time(number, order.least)).min();
        let partitions = spots.iter().map(|spot| spot.partition + 1).max().unwrap_or(1);
        let mut inward: Vec<IdVec<Line, PortId>> = vec![IdVec::new(); partitions as usize];
        let mut first_inward = IdVec::new();
        for node in nodes.clone() {
            let wires = &mut inward[spots[node].partition as usize];
            let mut own: Vec<PortId> = fabric.ports_of(node).map(|port| network.ports[port].peer).collect();
            own.sort_unstable();
            first_inward.push(Line(wires.len() as u32));
            for (place, port) in (0u16..).zip(own) {
                (ports[port].line, ports[port].place) = (wires.push(port), place);
            }
        }
        let has_int = network.hosts.controls.iter().any(|control| control.flags & flag::INT != 0);
        let hosts = fabric.hosts().len();
        let mut sent: IdVec<HostId, IdVec<SentId, FlowId>> = vec![IdVec::new(); hosts].into();
        let mut received: IdVec<HostId, IdVec<ReceivedId, FlowId>> = vec![IdVec::new(); hosts].into();
        let at_src = network.flow_ids().map(|flow| sent[network.flow(flow).src].push(flow)).collect();
        let at_dst = network.flow_ids().map(|flow| received[network.flow(flow).dst].push(flow)).collect();
        let mut gates: IdVec<HostId, Vec<u32>> = vec![Vec::new(); if order.gates_are_local { hosts } else { 0 }].into();
        for (number, gate) in (0u32..).zip(network.flows.gates.iter().filter(|_| order.gates_are_local)) {
            if let Some(&flow) = gate.starts.first() {
                gates[network.flow(FlowId(flow)).src].push(number);
            }
        }
        let layout = Self {
            gates,
            window: order.window,
            between,
            lists: order.lists,
            hosts_in_order: order.hosts_in_order,
            one_by_one: false,
            neighbours: order.neighbours,
            hosts_apart: network.ports.numbered().any(|(port, state)| state.at_host && ports[port].far.is_away()),
            ports,
            first_port: nodes.map(first).collect(),
            spots,
            first_inward,
            at_src,
            at_dst,
            sent,
            received,
            records: if has_int {
                usize::from(network.config.packets.int_records)
            } else {
                usize::from(network.switches.pint.is_some())
            },
        };
        (layout, inward)
    }
}

/// `partitions`: by node. The first members of a partition are those with links to others.
fn spots(fabric: &Fabric, partitions: &IdVec<NodeId, u32>) -> IdVec<NodeId, Spot> {
    let mut members = vec![0; partitions.iter().max().map_or(0, |&last| last as usize + 1)];
    let mut spots: IdVec<NodeId, Spot> =
        partitions.iter().map(|&partition| Spot { partition, member: Member(0) }).collect();
    for border in [true, false] {
        for (node, &partition) in partitions.numbered() {
            let away = |port| partitions[fabric.neighbour(port)] != partition;
            if fabric.ports_of(node).any(away) == border {
                spots[node].member = Member(members[partition as usize]);
                members[partition as usize] += 1;
            }
        }
    }
    spots
}

impl Layout {
    /// Windows that a partition can run without packets that others send in them.
    pub(super) fn windows_apart(&self) -> u32 {
        self.between.map_or(UNCUT, |between| (between / self.window.max(1)).clamp(1, MOST_APART) as u32)
    }

    /// End of the last of several windows; `first`: end of the first.
    pub(super) fn ends(&self, first: u64, windows: u32) -> u64 {
        first + u64::from(windows - 1) * self.window.max(1)
    }

    /// True if the node has a link to another partition.
    pub(super) fn is_at_border(&self, fabric: &Fabric, node: NodeId) -> bool {
        fabric.ports_of(node).any(|port| self.ports[port].far.is_away())
    }

    /// `ports`: number of the node's ports.
    pub(super) fn lines(&self, node: NodeId, ports: usize) -> impl Iterator<Item = Line> + use<> {
        let first = self.first_inward[node].0;
        (first..first + ports as u32).map(Line)
    }

    /// `place`: number among the wires that end at the node.
    #[inline]
    pub(super) fn line(&self, node: NodeId, place: u32) -> Line {
        Line(self.first_inward[node].0 + place)
    }

    #[inline]
    pub(super) fn local(&self, node: NodeId, port: PortId) -> LocalPort {
        LocalPort((port.0 - self.first_port[node].0) as u16)
    }
}

pub(super) enum Route<'a> {
    Port(PortId),
    /// Load balancing chooses one of these.
    Several(&'a [PortId]),
    None,
}

/// Only the constant parts of the network: parameters, routes, flows.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) layout: &'a Layout,
    pub(super) network: &'a Network,
}

impl<'a> Plan<'a> {
    #[inline(always)]
    pub(super) fn route(&self, node: NodeId, packet: &Packet) -> Route<'a> {
        if packet.flags & flag::PATH != 0 {
            return self.given(node, packet);
        }
        let routing = &self.network.routing;
        match routing.hops(node, packet.dst) {
            [only] => Route::Port(*only),
            [] => Route::None,
            hops if routing.is_ecmp() => Route::Port(routing.ecmp(hops, node, packet.flow, !packet.kind.is_forward())),
            hops => Route::Several(hops),
        }
    }

    /// Path of the flow, or the packet's own.
    #[inline(never)]
    fn given(&self, node: NodeId, packet: &Packet) -> Route<'a> {
        let Some(number) = packet.own_path() else {
            let back = !packet.kind.is_forward();
            return Route::Port(self.network.path_port(packet.flow, back, usize::from(packet.hops)));
        };
        match self.network.chosen_port(node, packet.dst, number) {
            None => Route::None,
            Some(port) => Route::Port(port),
        }
    }

    /// Times at which the last bit has left, and the port is free.
    #[inline(always)]
    pub(super) fn ends<const RUN: u8>(&self, port: PortId, plan: &PortPlan, now: u64, size: u64) -> (u64, u64) {
        if !has_extras(RUN) || RUN != NS3 && plan.ps_per_byte != 0 {
            let sent = now + size * u64::from(plan.ps_per_byte);
            return (sent, sent);
        }
        self.uneven_ends(port, now, size)
    }

    #[inline(never)]
    fn uneven_ends(&self, port: PortId, now: u64, size: u64) -> (u64, u64) {
        let sent = now + self.network.wire_time(port, size);
        let gap = self.network.config.packets.gap.0 != 0;
        (sent, if gap { now + self.network.busy_time(port, size) } else { sent })
    }

    /// Time at which the far end begins to handle a packet, less the propagation delay. The packet is sent from `begin` to
    /// `sent`.
    ///
    /// A cut-through switch waits for the header, and for the rest if the packet leaves by a faster link. PFC frames and
    /// isolation messages end at the far end, which must read them.
    #[inline(always)]
    pub(super) fn seen<const RUN: u8>(
        &self,
        number: PortId,
        port: &PortPlan,
        packet: &Packet,
        (begin, sent): (u64, u64),
    ) -> u64 {
        if !has_transports(RUN) {
            return sent;
        }
        if has_extras(RUN) || matches!(packet.kind, Kind::Pfc | Kind::Isolation) {
            return self.cut_through(number, packet, begin, sent);
        }
        if port.speeds_up && packet.size > port.cut && self.speeds_up(number, packet) {
            return sent;
        }
        // Without a branch: which packets are shorter than a header is hard to predict.
        begin + u64::from(packet.size.min(port.cut)) * u64::from(port.ps_per_byte)
    }

    #[inline(never)]
    fn speeds_up(&self, port: PortId, packet: &Packet) -> bool {
        if packet.flags & flag::PATH != 0 {
            return self.network.speeds_up(port, packet.into());
        }
        self.network.speeds_up_on_route(port, packet.dst)
    }

    #[inline(never)]
    fn cut_through(&self, port: PortId, packet: &Packet, begin: u64, sent: u64) -> u64 {
        let one = &self.layout.ports[port];
        let ends = matches!(packet.kind, Kind::Pfc | Kind::Isolation);
        let waits = packet.size <= one.cut || ends || one.speeds_up && self.network.speeds_up(port, packet.into());
        if waits { sent } else { begin + self.network.wire_time(port, one.cut.into()) }
    }

    pub(super) fn node_of(&self, port: PortId) -> NodeId {
        self.network.fabric.port(port).node
    }

    pub(super) fn control(&self, flow: FlowId) -> usize {
        match self.network.hosts.carriers[usize::from(self.network.flow(flow).label)] {
            Carrier::Rdma(control) => control,
            Carrier::Transport(_) => unreachable!("only RDMA's flows are simulated here"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use incast_model::fabric::generators::RailOptimized;
    use incast_model::units::Bytes;

    use super::*;
    use crate::nodes::bench::Frame::{Ack, Data};
    use crate::nodes::bench::{Bench, flow, star};
    use crate::switch::Forwarding;

    /// Times in ns, less the link's delay, at which a cut-through switch can handle two packets, sent from 0 on.
    fn handled(gbps: &[u64], forwarding: Forwarding) -> Vec<u64> {
        let mut bench = Bench::host(0, &[flow(0, 1, 2)], |setup| {
            setup.fabric = star(gbps);
            (setup.params.switch.forwarding, setup.params.switch.cut_through_header) = (forwarding, Bytes(125));
        });
        bench.run(9000);
        bench.sent(0).into_iter().map(|(time, _)| time).collect()
    }

    #[test]
    fn a_cut_through_switch_waits_for_the_header_or_before_a_faster_link_for_all() {
        // 1250 B and 125 B take 100 ns and 10 ns at 100 Gb/s, 400 ns and 40 ns at 25 Gb/s.
        assert_eq!(handled(&[100, 100], Forwarding::StoreAndForward), [100, 200]);
        assert_eq!(handled(&[100, 100], Forwarding::CutThrough), [10, 110]);
        assert_eq!(handled(&[25, 100], Forwarding::CutThrough), [400, 800]);
        assert_eq!(handled(&[25, 100], Forwarding::CutThroughUnderrun), [40, 440]);
    }

    #[test]
    fn partitions_run_as_many_windows_by_themselves_as_the_links_between_them_allow() {
        let nodes = Bench::whole(&[flow(0, 1, 1)], |setup| {
            setup.fabric = Arc::new(RailOptimized::new(4, 2).build().unwrap());
        });
        let apart = |cut| Layout::new(&nodes.network, cut).0.windows_apart();
        // NVLink takes 250 ns, other links take 1 us.
        assert_eq!([Cut::Into(2), Cut::Nodes, Cut::Whole].map(apart), [4, 1, UNCUT]);
    }

    #[test]
    fn a_host_waits_for_all() {
        let mut bench = Bench::switch(&[flow(0, 1, 1), flow(1, 0, 1)], |setup| {
            setup.params.switch.forwarding = Forwarding::CutThrough;
        });
        bench.put(0, &[(1000, Data(0, 0)), (1200, Ack(1, 1))]);
        bench.run(5000);
        assert_eq!(bench.sent(1), [(1100, Data(0, 0)), (1210, Ack(1, 1))]);
    }
}
