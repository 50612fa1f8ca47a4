//! Ideal completion times of lone flows.

use std::collections::HashMap;

use incast_model::fabric::{BaseRtts, PairRtt, PortId};
use incast_model::field::FieldError;
use incast_model::routing::Routes;
use incast_model::units::Time;

use super::{Network, WHOLE_PACKETS};
use crate::host::Carrier;
use crate::kernel::{FlowId, flag};
use crate::setup::Params;

impl Network {
    /// `start`: routes at the start. Fails if a path has too many switches for INT or the TTL.
    pub(super) fn find_ideals(&mut self, params: &Params, start: &Routes) -> Result<(), FieldError> {
        let of_ns3 = self.config.ns3.then(|| BaseRtts::of_first_paths(&self.fabric, self.config.packets.payload));
        let shared = self.shared_bytes();
        for flow in self.flow_ids() {
            // Without a path at the start: the one after the repair.
            let [out, back] = self.walk_over(start, flow).unwrap_or_else(|| self.walk(flow));
            let spec = self.flow(flow);
            let shape = self.shape(flow);
            let switches = out.len() - 1;
            if shape.flags & flag::INT != 0 && switches > usize::from(params.packets.int_records) {
                return Err(FieldError::new(
                    "packets.int_records",
                    format!(
                        "{} records do not cover the {switches} switches on the path of flow {}; at least {switches} are \
                         needed (at most {} are possible)",
                        params.packets.int_records,
                        flow.0,
                        crate::congestion::MAX_INT_RECORDS
                    ),
                ));
            }
            if switches >= usize::from(params.network.ttl) {
                let message = format!(
                    "{} ends packets of flow {} before their destination: switches on their path: {switches}",
                    params.network.ttl, flow.0
                );
                return Err(FieldError::new("network.ttl", message).allowed(format!("{} or more", switches + 1)));
            }
            let rdma = self.hosts.transports.of_flows.is_rdma(flow);
            let whole = shared.get(&(self.message_of(flow), out[0])).copied();
            let size = whole.unwrap_or(spec.size.0);
            let answered = self.hosts.transports.of_flows.acknowledges(flow);
            let back_of_data: &[PortId] = if answered { &back } else { &[] };
            let on_paths = params.network.load_balancing.reorders() || whole.is_some_and(|whole| whole > spec.size.0);
            let spreads = on_paths && spec.path.is_none() && self.is_slower_inside(&out);
            let exact = match spreads {
                false => self.exact_ideal(&out, back_of_data, size, &shape),
                true => self.spread_ideal(&out, back_of_data, size, &shape),
            };
            // YAPS, the other transports' reference, uses the exact time.
            let reference = match &of_ns3 {
                // `third.cc` searches from the destination.
                Some(pairs) => self.ns3_ideal(pairs.pair(spec.dst, spec.src), size),
                None if rdma => self.hpcc_ideal(&out, &back, size, spreads),
                None => exact,
            };
            let record = &mut self.records[flow];
            record.hops = out.len().min(255) as u8;
            (record.ideal_hpcc, record.ideal_exact) = (reference, exact);
        }
        Ok(())
    }

    /// Bytes of messages that are split over queue pairs, by message and NIC: the queue pairs share it. Empty if no message is split.
    fn shared_bytes(&self) -> HashMap<(u32, PortId), u64> {
        let mut bytes = HashMap::new();
        if !self.flows.messages.is_empty() {
            for flow in self.flow_ids() {
                *bytes.entry((self.message_of(flow), self.walk(flow)[0][0])).or_insert(0) += self.flow(flow).size.0;
            }
        }
        bytes
    }

    /// Number of the flow's message, if messages are split.
    fn message_of(&self, flow: FlowId) -> u32 {
        self.flows.messages.partition_point(|&first| first <= flow.0) as u32
    }

    /// `third.cc`: base RTT (propagation both ways, a payload per link one way) plus the flow with basic headers at the slowest
    /// link, or stage of links over which it spreads (our choice).
    fn hpcc_ideal(&self, out: &[PortId], back: &[PortId], size: u64, spreads: bool) -> Time {
        let rate = |port: PortId| self.rates[usize::from(self.ports[port].rate)];
        let propagation: u64 = out.iter().chain(back).map(|&port| self.ports[port].delay).sum();
        let payload = self.config.packets.payload.0;
        let serialised: u64 = out.iter().map(|&port| cut_time(payload, rate(port))).sum();
        let stage = |port: PortId| if spreads { self.fabric.spread_rate(port).0 } else { rate(port) };
        let slowest = out.iter().map(|&port| stage(port)).min().expect("a path has links");
        Time(propagation + serialised + cut_time(self.basic_bytes(size), slowest))
    }

    /// In whole nanoseconds.
    fn ns3_ideal(&self, pair: PairRtt, size: u64) -> Time {
        Time(pair.base_rtt.0 + cut_time(self.basic_bytes(size), pair.bottleneck.0) / 1000 * 1000)
    }

    /// Wire bytes of a flow without telemetry.
    const fn basic_bytes(&self, size: u64) -> u64 {
        size + self.config.packets.data_header.0 * size.div_ceil(self.config.packets.payload.0)
    }

    /// In ps, from a full packet's start until it may start on the last link.
    pub(crate) fn time_to_last_link(&self, flow: FlowId) -> u64 {
        let out = self.way(flow);
        let full = self.config.packets.mss.0 + self.config.packets.segment_header.0;
        (0..out.len().saturating_sub(1)).map(|at| self.passed_on(&out, at, full)).sum()
    }

    fn shape(&self, flow: FlowId) -> Shape {
        let packets = &self.config.packets;
        match self.hosts.carriers[usize::from(self.flow(flow).label)] {
            Carrier::Rdma(control) => {
                let flags = self.hosts.controls[control].flags;
                let telemetry = packets.telemetry(flags);
                let ack = (packets.ack.0 + telemetry).max(packets.min_ack.0);
                Shape { payload: packets.payload.0, header: packets.data_header.0 + telemetry, ack, flags, pace: 0 }
            }
            Carrier::Transport(_) => {
                let (payload, header) = (packets.mss.0, packets.segment_header.0);
                let most = self.hosts.transports.of_flows.most(flow);
                let pace = (header + payload + packets.gap.0) as f64 * 8e12 / most;
                Shape { payload, header, ack: packets.control.0, flags: 0, pace: pace as u64 }
            }
        }
    }

    /// Back-to-back packets until the last ACK, without a way back until the last byte. A lower bound: the ACK of a short last packet does not wait for the one before.
    fn exact_ideal(&self, out: &[PortId], back: &[PortId], size: u64, shape: &Shape) -> Time {
        let count = size.div_ceil(shape.payload);
        let full = shape.header + shape.payload;
        let last = shape.header + (size - (count - 1) * shape.payload);
        let (mut first, mut begin, mut slowest, mut come) = (0, 0, 0, 0);
        for (at, &port) in out.iter().enumerate() {
            let each = self.busy_time(port, full).max(if at == 0 { shape.pace } else { 0 });
            slowest = each.max(slowest);
            let free = if count > 1 { first + each + (count - 2) * slowest } else { 0 };
            let start = free.max(begin);
            come = start + self.wire_time(port, last) + self.ports[port].delay;
            first += self.passed_on(out, at, full);
            begin = start + self.passed_on(out, at, last);
        }
        let returned: u64 = (0..back.len()).map(|at| self.passed_on(back, at, shape.ack)).sum();
        Time(come + returned)
    }

    /// A link between switches is slower than those of both hosts.
    fn is_slower_inside(&self, out: &[PortId]) -> bool {
        let rate = |port: &PortId| self.fabric.rate(*port);
        let ends = out.first().into_iter().chain(out.last()).map(rate).min();
        out.iter().map(rate).min() < ends
    }

    /// As [`Self::exact_ideal`], for packets that are spread over equal paths and overtake each other. Also a lower bound: links of
    /// a stage all begin with the first packet.
    fn spread_ideal(&self, out: &[PortId], back: &[PortId], size: u64, shape: &Shape) -> Time {
        let count = size.div_ceil(shape.payload);
        let (full, fulls) = (shape.header + shape.payload, count - 1);
        let last = shape.header + (size - fulls * shape.payload);
        let passes = |from: usize, bytes| (from..out.len()).map(|at| self.passed_on(out, at, bytes)).sum::<u64>();
        let mut come = fulls * self.busy_time(out[0], full).max(shape.pace) + passes(0, last);
        for (at, &port) in out.iter().enumerate().filter(|_| fulls > 0) {
            let links = (self.fabric.spread_rate(port).0 / self.fabric.rate(port).0).max(1);
            let first = passes(0, full) - passes(at, full);
            come = come.max(first + (fulls.div_ceil(links) - 1) * self.busy_time(port, full) + passes(at, full));
        }
        let returned: u64 = (0..back.len()).map(|at| self.passed_on(back, at, shape.ack)).sum();
        Time(come + returned)
    }

    /// From a packet's start on a link until its start on the next, or on the last its last bit's arrival.
    pub(crate) fn passed_on(&self, path: &[PortId], at: usize, bytes: u64) -> u64 {
        let (state, rate) = (&self.ports[path[at]], |port: PortId| self.fabric.rate(port));
        let faster = path.get(at + 1).is_some_and(|&next| rate(next) > rate(path[at]));
        let cut = u64::from(state.cut);
        let whole = bytes <= cut || state.cut == WHOLE_PACKETS || (faster && !self.config.switch.underrun);
        self.wire_time(path[at], if whole { bytes } else { cut }) + state.delay
    }
}

/// In ps, rounded down. `rate` in bit/s.
const fn cut_time(bytes: u64, rate: u64) -> u64 {
    (bytes as u128 * 8_000_000_000_000 / rate as u128) as u64
}

/// With telemetry; `payload` of a full packet.
struct Shape {
    payload: u64,
    header: u64,
    ack: u64,
    /// [`flag`] bits of data.
    flags: u8,
    /// Least time from one full packet to the next, in ps, at the transport's own rate.
    pace: u64,
}
