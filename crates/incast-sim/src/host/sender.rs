//! Sending side of queue pairs.

use incast_model::units::Time;

use crate::congestion::{Ack, Controller, State, WindowMode};
use crate::host::PacketParams;
use crate::host::gates::End;
use crate::kernel::{Event, Kind, NONE, Packet, Target, flag, rank};
use crate::network::Network;
use crate::setup::Carrier;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QpState {
    Idle,
    Paced,
    Ready,
}

/// Flow at its sender.
#[derive(Debug)]
pub(crate) struct SendQp {
    /// [`NONE`] in a free slot.
    pub(crate) flow: u32,
    pub(crate) port: u32,
    pub(crate) prio: u8,
    pub(crate) state: QpState,
    pub(crate) control: u16,
    /// Payload in bytes.
    pub(crate) size: u64,
    pub(crate) next: u64,
    /// First byte not acknowledged.
    pub(crate) una: u64,
    /// First byte never sent.
    pub(crate) high: u64,
    /// Earliest time of the next packet, in ps.
    pub(crate) next_avail: u64,
    /// If paced, the time of its entry; if ready, since when. In ps.
    pub(crate) placed_at: u64,
    /// Wire bytes of the last packet sent.
    last_size: u64,
    /// In bit/s.
    pub(crate) rate: u64,
    /// Bytes allowed in flight.
    pub(crate) window: u64,
    /// Bytes that the control alone would allow in flight.
    own_window: u64,
    /// Time of the pending timer event; [`u64::MAX`] for none.
    timer: u64,
    /// Expiry of the retransmission timeout; [`u64::MAX`] while nothing is in flight.
    pub(crate) timeout: u64,
    cc: State,
}

impl SendQp {
    pub(crate) fn is_live(&self) -> bool {
        self.flow != NONE
    }

    /// Returns true if bytes are unsent and the window has space. Bytes in flight may exceed the window by less than a packet.
    /// (In `ns3` arithmetic `next` can be behind `una`: the difference wraps and a window binds, as in ns-3.)
    #[inline]
    pub(crate) fn may_send(&self) -> bool {
        self.next < self.size && self.next.wrapping_sub(self.una) < self.window
    }

    #[inline]
    pub(crate) fn next_payload(&self, packets: &PacketParams) -> u64 {
        packets.payload.0.min(self.size - self.next)
    }
}

impl Network {
    pub(crate) fn start_flow(&mut self, flow: u32) {
        if self.gates.holds(flow) {
            self.gates.coming -= 1;
        } else {
            self.next_flow += 1;
            self.schedule_start();
        }
        if self.transports.endpoints.is_rdma(flow) {
            self.start_queue_pair(flow);
        } else {
            self.start_in_endpoint(flow);
        }
    }

    fn start_queue_pair(&mut self, flow: u32) {
        let spec = &self.flows.flows[flow as usize];
        let (size, prio, label) = (spec.size.0, spec.priority, usize::from(spec.label));
        let port = self.first_port(flow);
        let Carrier::Rdma(control) = self.carriers[label] else { unreachable!("only RDMA's flows have queue pairs") };
        let context = &self.contexts[self.ports[port as usize].owner as usize];
        let mut cc = self.controls[control].control.start(context);
        cc.on_path(self.flow_records[flow as usize].hops);
        let qp = SendQp {
            flow,
            port,
            prio,
            state: QpState::Idle,
            control: control as u16,
            size,
            next: 0,
            una: 0,
            high: 0,
            next_avail: 0,
            placed_at: 0,
            last_size: 0,
            rate: 0,
            window: 0,
            own_window: 0,
            timer: u64::MAX,
            timeout: u64::MAX,
            cc,
        };
        let sender = match self.free_senders.pop() {
            Some(free) => {
                self.senders[free as usize] = qp;
                free
            }
            None => {
                self.senders.push(qp);
                self.senders.len() as u32 - 1
            }
        };
        if let Some(selective) = &mut self.selective {
            selective.begin(sender);
        }
        self.sender_of[flow as usize] = sender;
        self.transports.nics[flow as usize] = self.ports[port as usize].owner;
        self.flow_records[flow as usize].start = Some(Time(self.now));
        self.apply_control(sender);
        if self.config.ns3 {
            self.add_reference(port, flow);
        }
        self.place(sender);
        self.kick_nic(port);
    }

    pub(crate) fn schedule_start(&mut self) {
        while self.gates.holds(self.next_flow as u32) {
            self.next_flow += 1;
        }
        if let Some(flow) = self.flows.flows.get(self.next_flow) {
            self.schedule_start_of(self.next_flow as u32, flow.start.0);
        }
    }

    pub(crate) fn schedule_start_of(&mut self, flow: u32, time: u64) {
        let rank = if self.config.ns3 { rank::LAST } else { 0 };
        self.events.push(Event::new(time, rank, Target::Start(flow)));
    }

    pub(crate) fn send_data(&mut self, port: u32, sender: u32) {
        let qp = &mut self.senders[sender as usize];
        let packets = &self.config.packets;
        let control = &self.controls[usize::from(qp.control)];
        let payload = qp.next_payload(packets);
        let size = packets.data_size(payload, control.flags);
        let spec = &self.flows.flows[qp.flow as usize];
        let packet = Packet {
            seq: qp.next,
            stamp: self.now,
            flow: qp.flow,
            src: spec.src.0,
            dst: spec.dst.0,
            size: size as u16,
            payload: payload as u16,
            kind: Kind::Data,
            prio: qp.prio,
            flags: control.flags | if spec.path.is_some() { flag::PATH } else { 0 },
            ..Packet::EMPTY
        };
        let record = &mut self.flow_records[qp.flow as usize];
        record.packets += 1;
        let (seq, again) = (qp.next, qp.next < qp.high);
        record.retransmitted += u64::from(again);
        qp.next += payload;
        qp.high = qp.high.max(qp.next);
        qp.last_size = size;
        let rate = qp.rate;
        if self.selective.is_some() {
            self.sent_selectively(sender, seq, again);
        } else if qp.timeout == u64::MAX {
            qp.timeout = self.now.saturating_add(self.config.rto);
        }
        self.ledger.injected[usize::from(packet.prio)] += size;
        let id = self.pool.alloc(packet);
        self.transmit(port, id);
        // At line rate the gap is the serialisation just computed.
        let line = self.rates[usize::from(self.ports[port as usize].rate)];
        let free = self.ports[port as usize].busy_until;
        let next = if rate == line { free } else { self.now + self.pacing_gap(size, rate) };
        let qp = &mut self.senders[sender as usize];
        qp.next_avail = next;
        qp.cc.on_sent(size, Time(self.now));
        let demoted = qp.next >= self.config.demotion;
        self.apply_control(sender);
        if demoted {
            self.demote(sender);
        }
    }

    /// Handles an ACK or NACK, at any port.
    pub(crate) fn receive_ack(&mut self, id: u32) {
        let packet = self.pool[id];
        let sender = self.sender_of[packet.flow as usize];
        if sender == NONE {
            return; // of a flow that has completed
        }
        if let Some(rand) = self.pint.as_mut().and_then(|pint| pint.reference.as_mut()) {
            rand.next(); // the reference draws whether to use the ACK, even if it always does
        }
        let nack = packet.kind == Kind::Nack;
        let marked = packet.flags & flag::ECHO != 0;
        let qp = &mut self.senders[sender as usize];
        let port = qp.port;
        let record = &mut self.flow_records[packet.flow as usize];
        record.nacks += u32::from(nack);
        record.marks += u64::from(marked);
        let first = qp.una == 0;
        let advanced = packet.seq > qp.una;
        if advanced {
            self.bytes_acked += packet.seq - qp.una;
            record.acked = packet.seq;
            qp.una = packet.seq;
            if !self.config.ns3 {
                // ns-3 resends bytes that were acknowledged after it went back.
                qp.next = qp.next.max(qp.una);
            }
            qp.timeout = self.now.saturating_add(self.config.rto);
        }
        let done = qp.una >= qp.size;
        let next = if self.selective.is_some() {
            self.heard_selectively(sender, id, advanced)
        } else {
            if nack && !done {
                qp.next = qp.una;
            }
            if qp.next == qp.una {
                qp.timeout = u64::MAX;
            }
            qp.next
        };
        if !done || self.config.ns3 {
            self.react(sender, id, next, first);
        }
        if done {
            self.complete(sender);
        } else {
            self.place(sender);
        }
        self.kick_nic(port);
    }

    /// Gives an ACK or NACK to the control and applies the answer. `next` is the byte that the flow has reached. In ns-3 the
    /// last ACK counts too, and can move the NIC's wake-up; the `first` ACK changes no rate there, not even to the same one.
    fn react(&mut self, sender: u32, id: u32, next: u64, first: bool) {
        let packet = &self.pool[id];
        let qp = &mut self.senders[sender as usize];
        let context = &self.contexts[self.ports[qp.port as usize].owner as usize];
        qp.cc.on_ack(&Ack {
            now: Time(self.now),
            seq: packet.seq,
            next,
            marked: packet.flags & flag::ECHO != 0,
            nack: packet.kind == Kind::Nack,
            rtt: Time(self.now - packet.stamp),
            int: self.pool.records(id),
            pint: packet.pint,
            flow: context,
            rates: &self.rates,
        });
        self.apply_control(sender);
        if self.config.ns3 && !first {
            self.hasten_reference(sender);
        }
    }

    pub(crate) fn receive_cnp(&mut self, id: u32) {
        let flow = self.pool[id].flow;
        let sender = self.sender_of[flow as usize];
        if sender != NONE {
            self.flow_records[flow as usize].marks += 1;
            self.senders[sender as usize].cc.on_cnp(Time(self.now));
            self.apply_control(sender);
            self.place(sender);
            self.kick_nic(self.senders[sender as usize].port);
        }
    }

    /// Handles a timer of the control, the retransmission timeout, or an outdated timer.
    pub(crate) fn flow_timer(&mut self, flow: u32) {
        if !self.transports.endpoints.is_rdma(flow) {
            return self.endpoint_timer(flow);
        }
        let sender = self.sender_of[flow as usize];
        if sender == NONE || self.senders[sender as usize].timer != self.now {
            return;
        }
        let now = Time(self.now);
        let qp = &mut self.senders[sender as usize];
        qp.timer = u64::MAX;
        if qp.cc.next_timer() <= now {
            qp.cc.on_timer(now);
        }
        let timed_out = qp.timeout <= self.now;
        if timed_out {
            // Go back to the first byte that is not acknowledged.
            qp.next = qp.una;
            qp.timeout = u64::MAX;
            qp.cc.on_timeout(now);
            self.flow_records[flow as usize].timeouts += 1;
            self.recover_selectively(sender);
        }
        self.apply_control(sender);
        let port = self.senders[sender as usize].port;
        // ns-3 has no timeouts, and does not look at its NIC when a control's timer changes a rate.
        if timed_out || !self.config.ns3 {
            self.place(sender);
            self.kick_nic(port);
        }
    }

    #[inline]
    fn apply_control(&mut self, sender: u32) {
        let qp = &self.senders[sender as usize];
        let control = &self.controls[usize::from(qp.control)];
        let (rate, own_window, timer) = qp.cc.answers();
        if rate != qp.rate || own_window != qp.own_window {
            let port = &self.ports[qp.port as usize];
            let context = &self.contexts[port.owner as usize];
            let window = match control.window {
                WindowMode::Off => self.config.in_flight,
                WindowMode::Fixed => context.bdp,
                WindowMode::Rate => (u128::from(context.bdp) * u128::from(rate) / u128::from(context.line.0)) as u64,
            };
            let shift = if control.moves_next_send && rate != qp.rate && qp.last_size > 0 {
                self.pacing_gap(qp.last_size, rate) as i64 - self.pacing_gap(qp.last_size, qp.rate) as i64
            } else {
                0
            };
            let answered = match self.config.rdma.ack_every {
                1 => 1,
                packets => u64::from(packets) * context.mtu,
            };
            let qp = &mut self.senders[sender as usize];
            qp.rate = rate;
            qp.own_window = own_window;
            qp.window = window.min(own_window).max(answered);
            qp.next_avail = qp.next_avail.saturating_add_signed(shift);
        }
        let qp = &mut self.senders[sender as usize];
        let wanted = timer.0.min(qp.timeout);
        if wanted < qp.timer {
            qp.timer = wanted;
            self.events.push(Event::new(wanted.max(self.now), rank::FIRST, Target::Timer(qp.flow)));
        }
    }

    fn complete(&mut self, sender: u32) {
        if self.blocking.is_some() && self.senders[sender as usize].state == QpState::Ready {
            self.end_pair_wait(sender);
        }
        let qp = &mut self.senders[sender as usize];
        let flow = std::mem::replace(&mut qp.flow, NONE);
        self.sender_of[flow as usize] = NONE;
        if qp.state != QpState::Ready {
            self.free_senders.push(sender);
        } // else it is among the ready ones, as after a timeout that was too early: free when its turn comes
        self.flow_records[flow as usize].finish = Some(Time(self.now));
        self.flows_done += 1;
        self.pass_gates(flow, End::Acked);
        if self.config.ns3 {
            self.forget_receiver(flow);
        }
    }
}
