//! Test bench: one node of a small fabric, with its inward and outward wires.
//!
//! At 100 Gb/s a data packet (1000 B of payload, 1250 B on the wire) takes 100 ns, and every other packet (125 B) 10 ns.
//! Switches reserve no buffer. Hosts h0, h1, … (four by default) are at ports 0, 1, … of the switch s0.

use std::sync::Arc;

use incast_model::fabric::{Fabric, FabricBuilder, HostId, NodeId, NodeKind, PortId};
use incast_model::flow::{Flow, FlowSet};
use incast_model::units::{Bytes, Rate, Time};

use super::guards::Guards;
use super::host::Host;
use super::out::{Note, Out};
use super::packet::{Extent, Packet, Stamp};
use super::partition::Partition;
use super::plan::{LINK_BITS, Plan};
use super::run::ANY;
use super::switch::Switch;
use super::{Cut, Nodes};
use crate::congestion::{Control, IntRecord, WindowMode};
use crate::host::{Carrier, PacketParams};
use crate::kernel::{FlowId, IdVec, Kind, NONE, Word, flag};
use crate::outcome::{Counts, DropReason, FlowRecord};
use crate::plan::Network;
use crate::setup::{ControlSetup, Params, Setup};

/// Flow, and number of a data packet, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    Data(u32, u64),
    /// Number of the packet expected next.
    Ack(u32, u64),
    Nack(u32, u64),
    Cnp(u32),
    /// Priority, ingress bytes.
    Xoff(u8, u64),
    Xon(u8),
    Isolate(u32),
    Release(u32),
    /// pFabric; bytes left of the flow.
    Segment(u32, u64),
    Lost(u32, u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sent {
    /// End of the transmission, in ns.
    pub(super) end: u64,
    pub(super) frame: Frame,
    pub(super) prio: u8,
    /// At the far end.
    pub(super) in_prio: u8,
    pub(super) marked: bool,
    pub(super) echo: bool,
    pub(super) word: Word,
    pub(super) records: Vec<IntRecord>,
}

pub(super) struct Bench {
    /// Run without any node but the one under test.
    pub(super) nodes: Nodes,
    node: NodeId,
}

/// Flow of priority 3 that starts at 0.
pub(super) fn flow(src: u32, dst: u32, packets: u64) -> Flow {
    let (src, dst, size) = (HostId(src), HostId(dst), Bytes(PAYLOAD * packets));
    Flow { src, dst, size, start: Time::ZERO, priority: 3, label: 0, sport: 1, dport: 2, path: None, until: None }
}

/// By rates of the hosts' links in Gb/s; delays of 1 us.
pub(super) fn star(gbps: &[u64]) -> Arc<Fabric> {
    let mut builder = FabricBuilder::new();
    let hosts: Vec<NodeId> = (0..gbps.len()).map(|host| builder.host(format!("h{host}"))).collect();
    let switch = builder.switch("s0", 1);
    for (host, &rate) in hosts.into_iter().zip(gbps) {
        builder.link(host, switch, Rate::gbps(rate), DELAY);
    }
    Arc::new(builder.finish().expect("a fabric"))
}

/// Congestion control without a window.
pub(super) fn control(name: &str, profile: &str) -> ControlSetup {
    ControlSetup { control: Control::named(name, profile).expect("a control"), window: WindowMode::Off }
}

const DELAY: Time = Time::us(1);
const PAYLOAD: u64 = 1000;

fn setup(flows: &[Flow]) -> Setup {
    let (other, none) = (Bytes(125), Bytes::ZERO);
    let mut params = Params::default();
    params.switch.reserve = none;
    let packets = PacketParams { payload: Bytes(PAYLOAD), data_header: Bytes(250), ..PacketParams::default() };
    let packets = PacketParams { ack: other, min_ack: other, cnp: other, pfc: other, control: other, ..packets };
    params.packets = PacketParams { mss: Bytes(PAYLOAD), segment_header: Bytes(250), ..packets };
    (params.packets.int_base, params.packets.int_record) = (none, none);
    Setup {
        fabric: star(&[100; 4]),
        flows: Arc::new(FlowSet { flows: flows.to_vec(), labels: vec!["flow".into()], ..FlowSet::default() }),
        controls: vec![control("unlimited", "default")],
        transports: Vec::new(),
        carriers: vec![Carrier::Rdma(0)],
        tenancy: None,
        tags: None,
        params,
    }
}

impl Bench {
    fn new(flows: &[Flow], change: impl FnOnce(&mut Setup)) -> Self {
        Self { nodes: Self::whole(flows, change), node: NodeId(0) }
    }

    pub(super) fn whole(flows: &[Flow], change: impl FnOnce(&mut Setup)) -> Nodes {
        let mut setup = setup(flows);
        change(&mut setup);
        Nodes::new(setup.checked().and_then(|setup| Network::new(setup.into_inner())).expect("a network"), Cut::Whole)
    }

    pub(super) fn switch(flows: &[Flow], change: impl FnOnce(&mut Setup)) -> Self {
        let mut bench = Self::new(flows, change);
        bench.nodes.partitions.keep(None);
        let nodes = bench.nodes.network.fabric.nodes();
        bench.node = NodeId(nodes.iter().position(|node| node.kind == NodeKind::Switch).expect("a switch") as u32);
        bench
    }

    pub(super) fn host(host: u32, flows: &[Flow], change: impl FnOnce(&mut Setup)) -> Self {
        let mut bench = Self::new(flows, change);
        bench.node = bench.nodes.network.fabric.hosts()[host as usize];
        let member = bench.nodes.layout.spots[bench.node].member;
        bench.nodes.partitions.keep(Some((HostId(host), member)));
        bench
    }

    pub(super) fn at_switch<R>(&mut self, act: impl FnOnce(&mut Switch<Guards>, Plan<'_>, &mut Out) -> R) -> R {
        let Nodes { layout, network, partitions, .. } = &mut self.nodes;
        let Partition { switches, out, .. } = partitions.whole();
        act(&mut switches[0], Plan { layout, network }, out)
    }

    pub(super) fn at_host<R>(&mut self, act: impl FnOnce(&mut Host, Plan<'_>, &mut Out) -> R) -> R {
        let Nodes { layout, network, partitions, .. } = &mut self.nodes;
        let Partition { hosts, out, .. } = partitions.whole();
        act(&mut hosts[0], Plan { layout, network }, out)
    }

    /// `end` in ns.
    pub(super) fn run(&mut self, end: u64) {
        let Nodes { layout, network, partitions, run, .. } = &mut self.nodes;
        partitions.run_node(Plan { layout, network }, *run, self.node, 1000 * end);
    }

    /// Number in the fabric.
    pub(super) fn port(&self, port: usize) -> PortId {
        PortId(self.nodes.layout.first_port[self.node].0 + port as u32)
    }

    /// With times of last bits in ns.
    pub(super) fn put(&mut self, port: usize, arrivals: &[(u64, Frame)]) {
        arrivals.iter().for_each(|&(time, frame)| self.arrive(port, time, self.packet(frame), &[]));
    }

    pub(super) fn put_marked(&mut self, port: usize, time: u64, frame: Frame) {
        let packet = self.packet(frame);
        self.arrive(port, time, Packet { flags: packet.flags | flag::CE, ..packet }, &[]);
    }

    /// Under another priority than its flow's.
    pub(super) fn put_under(&mut self, port: usize, time: u64, frame: Frame, prio: u8) {
        self.arrive(port, time, Packet { prio, ..self.packet(frame) }, &[]);
    }

    /// With a known root (`measure.blocking`).
    pub(super) fn put_xoff(&mut self, port: usize, time: u64, prio: u8, root: PortId) {
        self.arrive(port, time, Packet { dst: root.0, ..self.packet(Frame::Xoff(prio, 0)) }, &[]);
    }

    pub(super) fn put_with_records(&mut self, port: usize, time: u64, frame: Frame, records: &[IntRecord]) {
        self.arrive(port, time, Packet { records: records.len() as u8, ..self.packet(frame) }, records);
    }

    fn arrive(&mut self, port: usize, time: u64, packet: Packet, records: &[IntRecord]) {
        let peer = self.nodes.network.fabric.port(self.port(port)).peer;
        let (plan, out, time) = (self.nodes.layout.ports[peer], &mut self.nodes.partitions.whole().out, 1000 * time);
        out.inject(packet.prio, packet.size.into());
        let stamp = Stamp { flags: packet.flags, in_prio: packet.prio, record: None };
        out.carried.put_records(records);
        out.wires[plan.line].push::<ANY>(time, &plan, &packet, stamp, &mut out.carried);
        out.put_in_inbox(plan.peer, time << LINK_BITS | u64::from(plan.place));
    }

    fn packet(&self, frame: Frame) -> Packet {
        let Nodes { layout, network, .. } = &self.nodes;
        let packets = &network.config.packets;
        let towards = |flow: u32, back: bool| {
            let flow = FlowId(flow);
            let spec = network.flow(flow);
            let (dst, at_dst) =
                if back { (spec.src, layout.at_src[flow].into()) } else { (spec.dst, layout.at_dst[flow].into()) };
            let flags = network.hosts.controls[0].flags;
            Packet { flow, dst: dst.0, at_dst, size: packets.ack.0 as u16, prio: spec.priority, flags, ..Packet::EMPTY }
        };
        let own = |kind, in_prio, xoff| {
            let flags = if xoff { flag::XOFF } else { 0 };
            Packet { kind, dst: NONE, size: packets.pfc.0 as u16, in_prio, flags, ..Packet::EMPTY }
        };
        let size = |flow: u32| network.flow(FlowId(flow)).size.0;
        let seq = |flow, number: u64| size(flow).min(PAYLOAD * number);
        let data = |kind, flow, number| {
            let payload = PAYLOAD.min(size(flow) - seq(flow, number));
            let wire = packets.data_header.0 + payload;
            let packet = towards(flow, false);
            Packet { kind, seq: seq(flow, number), size: wire as u16, extent: Extent::payload(payload), ..packet }
        };
        match frame {
            Frame::Data(flow, number) => data(Kind::Data, flow, number),
            Frame::Lost(flow, number) => data(Kind::Lost, flow, number),
            Frame::Segment(flow, left) => {
                let packet = data(Kind::Segment, flow, 0);
                Packet { word: Word::with_left(left), flags: flag::RANKED, ..packet }
            }
            Frame::Ack(flow, number) => Packet { kind: Kind::Ack, seq: seq(flow, number), ..towards(flow, true) },
            Frame::Nack(flow, number) => Packet { kind: Kind::Nack, seq: seq(flow, number), ..towards(flow, true) },
            Frame::Cnp(flow) => Packet { kind: Kind::Cnp, ..towards(flow, true) },
            Frame::Xoff(prio, bytes) => Packet { seq: bytes, ..own(Kind::Pfc, prio, true) },
            Frame::Xon(prio) => own(Kind::Pfc, prio, false),
            Frame::Isolate(flow) => Packet { flow: FlowId(flow), ..own(Kind::Isolation, 0, true) },
            Frame::Release(flow) => Packet { flow: FlowId(flow), ..own(Kind::Isolation, 0, false) },
        }
    }

    pub(super) fn packets(&mut self, port: usize) -> Vec<Sent> {
        let line = self.nodes.layout.ports[self.port(port)].line;
        let Out { wires, carried, .. } = &mut self.nodes.partitions.whole().out;
        let wire = &mut wires[line];
        let mut sent = Vec::new();
        while wire.first() != u64::MAX {
            let time = wire.first() - DELAY.0;
            let packet = wire.pop::<ANY>(carried);
            assert_eq!(time % 1000, 0, "{packet:?} ends at {time} ps");
            let Packet { prio, in_prio, flags, word, .. } = packet;
            let records = carried.records(packet.records).to_vec();
            let (marked, echo) = (flags & flag::CE != 0, flags & flag::ECHO != 0);
            let (end, frame) = (time / 1000, frame_of(&packet));
            sent.push(Sent { end, frame, prio, in_prio, marked, echo, word, records });
        }
        sent
    }

    /// With the ends of their transmissions in ns.
    pub(super) fn sent(&mut self, port: usize) -> Vec<(u64, Frame)> {
        self.packets(port).into_iter().map(|sent| (sent.end, sent.frame)).collect()
    }

    /// Begun and ended pauses of the node's queues, in ns.
    pub(super) fn pauses(&self) -> Vec<(u64, Frame)> {
        let prio = |at: usize| (at / self.nodes.network.ports.len()) as u8;
        let notes = self.out().notes.iter();
        let pauses = notes.filter_map(|noted| match noted.note {
            Note::Pause { at, bytes, .. } => Some((noted.time.0 / 1000, Frame::Xoff(prio(at), bytes))),
            Note::Resume { at } => Some((noted.time.0 / 1000, Frame::Xon(prio(at)))),
            Note::Drop { .. } => None,
        });
        pauses.collect()
    }

    /// Time in ns, reason, flow, egress port of the node.
    pub(super) fn drops(&self) -> Vec<(u64, DropReason, Option<u32>, Option<u32>)> {
        let first = self.port(0).0;
        let notes = self.out().notes.iter();
        let records = notes.filter_map(|noted| match noted.note {
            Note::Drop { record, .. } => Some(record),
            _ => None,
        });
        let egress = |port: PortId| port.0 - first;
        records.map(|one| (one.time.0 / 1000, one.reason, one.flow, one.egress.map(egress))).collect()
    }

    pub(super) fn out(&self) -> &Out {
        &self.nodes.partitions.iter().next().expect("a partition").out
    }

    pub(super) fn host_under_test(&self) -> &Host {
        &self.nodes.partitions.iter().next().expect("a partition").hosts[0]
    }

    pub(super) fn counts(&self) -> Counts {
        self.out().counts()
    }

    /// Has only the fields that the host knows.
    pub(super) fn record(&self, flow: u32) -> FlowRecord {
        let (host, Nodes { layout, network, .. }) = (self.host_under_test(), &self.nodes);
        let mut records: IdVec<_, _> = vec![FlowRecord::default(); network.flows.flows.len()].into();
        host.flows.record(&mut records);
        host.record_received(layout, &mut records);
        records[FlowId(flow)]
    }
}

fn frame_of(packet: &Packet) -> Frame {
    let (flow, number, xoff) = (packet.flow.0, packet.seq.div_ceil(PAYLOAD), packet.flags & flag::XOFF != 0);
    match packet.kind {
        Kind::Data => Frame::Data(flow, number),
        Kind::Segment => Frame::Segment(flow, packet.word.left()),
        Kind::Ack => Frame::Ack(flow, number),
        Kind::Nack => Frame::Nack(flow, number),
        Kind::Cnp => Frame::Cnp(flow),
        Kind::Pfc if xoff => Frame::Xoff(packet.in_prio, packet.seq),
        Kind::Pfc => Frame::Xon(packet.in_prio),
        Kind::Isolation if xoff => Frame::Isolate(flow),
        Kind::Isolation => Frame::Release(flow),
        other => panic!("{other:?} is not on this bench"),
    }
}
