//! Output of a node while it handles events.

use incast_model::fabric::{NodeId, PortId};
use incast_model::units::Time;

use super::calendar::{Calendar, Woken};
use super::carried::Carried;
use super::mail::{Bag, Mail, Post};
use super::message::PfcFrame;
use super::ns3::Ns3;
use super::packet::{Packet, Stamp};
use super::plan::{Far, LINK_BITS, Plan, PortPlan};
use super::run::{ANY, NS3, PLAIN, TELEMETRY, TRANSPORTS, has_extras};
use super::wire::Wire;
use crate::host::End;
use crate::kernel::{Event, FlowId, Id, IdVec, Kind, Line, LocalPort, Member, Range, SentId, Target};
use crate::measure::{OnWire, Prints};
use crate::outcome::{Counts, DropReason, DropRecord, Ledger, QueueRef};
use crate::plan::Network;
use crate::transport::Matching;

/// Moves into the run's records between windows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Note {
    /// Cause: ingress bytes, and egress queue of the packet.
    Pause { at: usize, bytes: u64, culprit: QueueRef },
    /// A priority may send again.
    Resume { at: usize },
    /// The packet is lost.
    Drop { at: usize, record: DropRecord },
}

impl Note {
    /// Node of a drop: actions drop packets of several nodes at one time.
    pub(super) const fn dropped_at(&self) -> Option<NodeId> {
        match self {
            Self::Drop { record, .. } => Some(record.node),
            _ => None,
        }
    }

    /// Pauses or resumes a frame's priority in a port's bits of paused priorities. `None`: that changes nothing.
    pub(super) fn of_frame(frame: &PfcFrame, at: usize, paused: &mut u8) -> Option<Self> {
        let before = *paused;
        let bit = 1 << frame.prio;
        *paused = if frame.xoff { before | bit } else { before & !bit };
        let pause = Self::Pause { at, bytes: frame.bytes, culprit: frame.culprit };
        (*paused != before).then_some(if frame.xoff { pause } else { Self::Resume { at } })
    }
}

/// Time, class and number of the event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noted {
    pub(super) time: Time,
    pub(super) event: u32,
    pub(super) note: Note,
}

/// Circumstances of a drop; `event`: class and number of the event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dropped {
    pub(super) reason: DropReason,
    /// At least one of the two ports.
    pub(super) ingress: Option<PortId>,
    pub(super) egress: Option<PortId>,
    pub(super) now: u64,
    pub(super) event: u32,
}

/// Request of a transport's handler.
#[derive(Debug)]
pub(super) enum Effect {
    /// Sends a packet with its ranges by a NIC.
    Send(LocalPort, Packet, Vec<Range>),
    /// Serves a NIC.
    Kick(LocalPort),
    /// A packet left its queue while its flow's handler ran.
    Left(SentId),
}

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct RunProgress {
    /// Packets made here less packets that ended here.
    pub(super) live: i64,
    pub(super) done: usize,
    /// Payload in bytes.
    pub(super) acked: u64,
    /// Time of the last arrival or start.
    pub(super) moved: u64,
}

/// A gate of a round has no pending flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begin {
    pub(super) now: u64,
    pub(super) gate: u32,
    /// If true, other hosts' gates may have decided about the round.
    pub(super) asked: bool,
}

/// Messages to other nodes that are not packets.
#[derive(Debug)]
pub(super) struct Shared {
    /// Ends for gates across hosts.
    pub(super) ends: Vec<(u64, FlowId, End)>,
    /// Gates of rounds, if hosts open their own gates.
    pub(super) begins: Vec<Begin>,
    /// Turns at other hosts.
    pub(super) turns: Vec<(FlowId, u64)>,
    /// Last packet received by VM; empty unless hypervisors read it.
    pub(super) heard: Vec<u64>,
    /// First isolation since the last scheduled sweep.
    pub(super) isolated: u64,
}

impl Shared {
    fn new(vms: usize) -> Self {
        Self { ends: Vec::new(), begins: Vec::new(), turns: Vec::new(), heard: vec![0; vms], isolated: u64::MAX }
    }
}

/// Arrivals at switches, by window: time and the wire's place there in one number, in any order.
#[derive(Debug)]
struct Inboxes {
    lists: Vec<Vec<u64>>,
    /// Binary logarithm of their number for a node.
    bits: u32,
}

impl Inboxes {
    fn new(members: usize, lists: usize) -> Self {
        Self { lists: vec![Vec::new(); members * lists], bits: lists.trailing_zeros() }
    }

    #[inline(always)]
    fn at(&mut self, node: Member, slot: usize) -> &mut Vec<u64> {
        &mut self.lists[(node.index() << self.bits) + slot]
    }
}

#[derive(Debug)]
pub(super) struct Out {
    /// Wires that end in the partition, and the ports that send into them.
    pub(super) wires: IdVec<Line, Wire>,
    pub(super) inward: IdVec<Line, PortId>,
    inboxes: Inboxes,
    /// To other partitions; empty if there is one.
    pub(super) post: Post,
    pub(super) calendar: Calendar,
    pub(super) notes: Vec<Noted>,
    pub(super) counts: Counts,
    /// Packets that arrived, except for PFC frames: others, data.
    hops: [u64; 2],
    /// Without bytes in flight.
    pub(super) ledger: Ledger,
    pub(super) progress: RunProgress,
    pub(super) shared: Shared,
    /// If true, arrivals are printed, or a link may lose packets silently.
    pub(super) watched: bool,
    /// `None` if not measured.
    pub(super) prints: Option<Box<Prints>>,
    /// `None` without the ideal scheduler.
    pub(super) matching: Option<Box<Matching>>,
    /// Of the handler that runs now, applied after it.
    pub(super) effects: Vec<Effect>,
    /// Of the packet that a node handles now.
    pub(super) carried: Carried,
    /// `None` in exact arithmetic.
    pub(super) ns3: Option<Box<Ns3>>,
}

impl Out {
    /// `inward`: by partition, here and for the number of partitions; `members`: nodes of this one.
    pub(super) fn new(plan: Plan<'_>, inward: IdVec<Line, PortId>, members: usize, partitions: usize) -> Self {
        let Plan { layout, network } = plan;
        let nodes = network.fabric.nodes().len();
        Self {
            wires: inward.iter().map(|_| Wire::new(network.faults.is_some())).collect(),
            inboxes: Inboxes::new(members, layout.lists),
            post: Post::new(partitions),
            calendar: Calendar::new(members, layout.window.max(1), layout.lists),
            notes: Vec::new(),
            counts: Counts::default(),
            hops: [0; 2],
            ledger: Ledger::default(),
            progress: RunProgress::default(),
            shared: Shared::new(if layout.neighbours { network.fabric.hosts().len() } else { 0 }),
            watched: network.measure.fingerprint,
            prints: network.measure.fingerprint.then(|| Box::new(Prints::new(nodes))),
            matching: network.hosts.transports.of_flows.is_ideal().then(Box::default),
            effects: Vec::new(),
            carried: Carried::new(layout.records),
            ns3: Ns3::new(network, &inward),
            inward,
        }
    }

    #[inline(always)]
    pub(super) fn inject(&mut self, prio: u8, bytes: u64) {
        self.ledger.injected[usize::from(prio & 7)] += bytes;
        self.progress.live += 1;
    }

    #[inline(always)]
    pub(super) fn deliver(&mut self, prio: u8, bytes: u64) {
        self.ledger.delivered[usize::from(prio & 7)] += bytes;
        self.progress.live -= 1;
    }

    /// Panics in exact arithmetic.
    #[inline]
    pub(super) fn ns3(&mut self) -> &mut Ns3 {
        self.ns3.as_mut().expect("the run is in ns3 arithmetic")
    }

    /// `seen`: time at which the last bit leaves, or the header if the far end cuts through.
    #[inline(always)]
    pub(super) fn send<const RUN: u8>(
        &mut self,
        (plan, woken): (&PortPlan, &mut Woken),
        seen: u64,
        packet: &Packet,
        stamp: Stamp,
    ) {
        let time = seen + plan.delay;
        let line = plan.line;
        if RUN == NS3 {
            self.ns3().send(line, time);
        } else {
            // A port to another partition wakes nobody here.
            if time >= woken.until() {
                if plan.far.is_away() {
                    return self.send_away::<RUN>((time, plan), packet, stamp);
                }
                let window;
                (window, *woken) = self.calendar.of_packet(time);
                // A list that is not empty has woken its switch.
                if plan.far == Far::Host || self.inboxes.at(plan.peer, woken.slot()).is_empty() {
                    self.calendar.set(plan.peer, window);
                }
            }
            if plan.far == Far::Switch {
                self.inboxes.at(plan.peer, woken.slot()).push(time << LINK_BITS | u64::from(plan.place));
            }
        }
        self.wires[line].push::<RUN>(time, plan, packet, stamp, &mut self.carried);
    }

    #[inline(never)]
    fn send_away<const RUN: u8>(&mut self, (time, plan): (u64, &PortPlan), packet: &Packet, stamp: Stamp) {
        let mail = Mail::new::<RUN>(time, plan, packet, stamp, &mut self.carried);
        self.post.put::<RUN>(plan.partition, mail, &mut self.carried);
    }

    /// True if the thread between windows has something to do: records, ends of flows, isolated flows.
    pub(super) fn asks(&self) -> bool {
        let Shared { ends, begins, isolated, .. } = &self.shared;
        !(self.notes.is_empty() && ends.is_empty() && begins.is_empty() && *isolated == u64::MAX)
    }

    /// Puts packets of another partition on their wires.
    pub(super) fn open(&mut self, run: u8, mut bag: Bag) {
        match run {
            PLAIN => self.receive::<PLAIN>(&mut bag),
            TELEMETRY => self.receive::<TELEMETRY>(&mut bag),
            TRANSPORTS => self.receive::<TRANSPORTS>(&mut bag),
            _ => self.receive::<ANY>(&mut bag),
        }
        self.post.keep(bag);
    }

    fn receive<const RUN: u8>(&mut self, bag: &mut Bag) {
        let Self { wires, inboxes, calendar, carried, .. } = self;
        bag.open::<RUN>(carried, |mail, carried| {
            let slot = calendar.wake_soon(mail.peer, mail.time);
            if let Some(place) = mail.place {
                inboxes.at(mail.peer, slot).push(mail.time << LINK_BITS | u64::from(place));
            }
            wires[mail.line].receive::<RUN>(mail, carried);
        });
    }

    /// In the current window.
    #[cfg(test)]
    pub(super) fn put_in_inbox(&mut self, node: Member, key: u64) {
        let window = self.calendar.current();
        self.inboxes.at(node, window).push(key);
    }

    /// `arrivals` must be empty.
    #[inline]
    pub(super) fn take_inbox(&mut self, node: Member, arrivals: &mut Vec<u64>) {
        std::mem::swap(self.inboxes.at(node, self.calendar.current()), arrivals);
    }

    #[inline(always)]
    pub(super) fn take<const RUN: u8>(&mut self, plan: Plan<'_>, node: NodeId, line: Line, now: u64) -> Packet {
        if has_extras(RUN) && self.watched {
            self.watch(plan, (node, line), now);
        }
        let wire = &mut self.wires[line];
        let packet = wire.pop::<RUN>(&mut self.carried);
        if RUN == NS3 {
            let next = wire.first();
            self.ns3().take(line, next);
        }
        self.progress.moved = self.progress.moved.max(now);
        self.counts.events += 1;
        packet
    }

    /// Fingerprints the arriving packet. Silent losses count, and turn into [`Kind::Lost`].
    #[cold]
    #[inline(never)]
    fn watch(&mut self, plan: Plan<'_>, (node, line): (NodeId, Line), now: u64) {
        let wire = self.inward[line];
        let event = Event::new(now, 0, Target::Arrival(wire));
        let packet = *self.wires[line].front();
        let Packet { kind, flow, seq, size, prio, in_prio, flags, .. } = packet;
        if let Some(prints) = &mut self.prints {
            prints.event(node.0, event);
            prints.arrival(now, wire.0, OnWire { kind, flow, seq, size, prio, in_prio, flags });
        }
        if matches!(kind, Kind::Pfc | Kind::Lost) || !self.wires[line].loses() {
            return;
        }
        self.count_hop(kind);
        let (reason, ingress) = (DropReason::Silent, Some(plan.network.ports[wire].peer));
        let event = event.target_code();
        self.drop(plan.network, &packet, Dropped { reason, ingress, egress: None, now, event });
        self.wires[line].lose_front(&mut self.carried);
    }

    /// Without a branch: whether data or an ACK arrives next is hard to predict.
    #[inline(always)]
    pub(super) fn count_hop(&mut self, kind: Kind) {
        self.hops[usize::from(kind.is_data())] += 1;
    }

    pub(super) const fn counts(&self) -> Counts {
        let [ack_hops, data_hops] = self.hops;
        Counts { data_hops, ack_hops, ..self.counts }
    }

    /// Counts an event other than an arrival.
    #[inline(always)]
    pub(super) fn count<const RUN: u8>(&mut self, node: NodeId, now: u64, target: impl FnOnce() -> Target) {
        self.counts.events += 1;
        if has_extras(RUN) && self.prints.is_some() {
            self.print_event(node, Event::new(now, 0, target()));
        }
    }

    #[cold]
    #[inline(never)]
    fn print_event(&mut self, node: NodeId, event: Event) {
        if let Some(prints) = &mut self.prints {
            prints.event(node.0, event);
        }
    }

    /// The packet still counts as live.
    #[cold]
    pub(super) fn drop(&mut self, network: &Network, packet: &Packet, dropped: Dropped) {
        let Dropped { reason, ingress, egress, now, event } = dropped;
        let prio = packet.prio & 7;
        // Counted at the port of the dead link, or else at the ingress port; at a host, where it was to leave.
        let by_link = reason == DropReason::LinkDown;
        let at = if by_link { egress.or(ingress) } else { ingress.or(egress) }.expect("a packet is dropped at a port");
        let node = network.fabric.port(at).node;
        // Servers of VMs have queues with a limit, without PFC.
        let lossless = network.config.queues.lossless & 1 << prio != 0 && !network.ports[at].at_server;
        let record = DropRecord {
            time: Time(now),
            node,
            reason,
            ingress,
            egress,
            priority: prio,
            flow: (!matches!(packet.kind, Kind::Pfc | Kind::Isolation)).then_some(packet.flow.0),
            bytes: packet.size.into(),
            lossless,
        };
        self.counts.count_drop(&record);
        self.ledger.dropped[usize::from(prio)] += u64::from(packet.size);
        let note = Note::Drop { at: network.at(at, prio), record };
        self.notes.push(Noted { time: Time(now), event, note });
    }
}
