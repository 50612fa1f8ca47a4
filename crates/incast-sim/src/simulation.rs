//! The entry point: [`Simulation`].

use std::ops::ControlFlow;

use incast_model::fabric::PortId;
use incast_model::field::FieldError;
use incast_model::units::Time;

use crate::kernel::{Kind, NONE, Packet};
use crate::network::{Limits, Network};
use crate::nodes::{MAX_TIME, Nodes};
use crate::outcome::{HypervisorCounts, Ledger, Outcome, PortRecord};
use crate::stop::Halt;
use crate::switch::{RankedQueue, Storage};
use crate::transport::Transport;
use crate::valid::ValidSetup;

/// Progress of a run, every few thousand events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Packets, once per link crossed.
    pub packet_hops: u64,
    /// Completed flows.
    pub flows_done: u64,
    /// Flows without cancelled ones.
    pub flows: u64,
    /// Payload acknowledged, in bytes.
    pub bytes_acked: u64,
    /// Payload of `flows`, in bytes.
    pub bytes: u64,
    /// End of the last backlogged flow, at most the horizon; `None` without backlogged flows.
    pub end: Option<Time>,
}

/// Network ready to run.
#[derive(Debug)]
pub struct Simulation {
    network: Network,
    limits: Limits,
}

/// Simulated time without arrivals and flow starts after which a run may be stuck; raised to four RDMA retransmission timeouts
/// and to [`Transport::patience`]. Paced flows, and packets on slow or long wires, are not stuck.
const STALL: Time = Time::ms(20);

impl Simulation {
    /// Builds the network. Fails if a path exceeds a limit, such as the TTL.
    pub fn new(setup: ValidSetup) -> Result<Self, FieldError> {
        let params = &setup.params;
        let limits = Limits {
            horizon: params.horizon.unwrap_or(MAX_TIME).0,
            events: params.max_events.unwrap_or(u64::MAX),
            stall: setup
                .transports
                .iter()
                .map(Transport::patience)
                .fold(STALL.max(params.rdma.rto.unwrap_or_default() * 4), Time::max)
                .0,
        };
        Ok(Self { network: Network::new(setup)?, limits })
    }

    /// Runs to the end, or until `observe` breaks.
    pub fn run(mut self, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        let halt = Nodes::new(&self.network).run(&mut self.network, self.limits, observe);
        self.finish(halt, observe)
    }

    /// Same with the events of all nodes in their global order, by the code for all features: for tests that compare the two.
    #[doc(hidden)]
    pub fn run_event_by_event(mut self, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        let halt = Nodes::new(&self.network).one_by_one().run(&mut self.network, self.limits, observe);
        self.finish(halt, observe)
    }

    fn finish(mut self, halt: Halt, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        self.network.look_at_the_end();
        let stop = self.network.explain(halt);
        let _ = observe(&self.network.progress());
        let mut network = self.network;
        network.recorder.finish(Time(network.now));
        let ledger = network.close_ledger();
        debug_assert!(network.buffers_balance(), "buffer held for packets that are not queued");
        let cut_off = network.cut_off();
        network.counts.peak_packets = network.counts.peak_packets.max(network.pool.peak());
        let ports = network.port_records();
        let at_host: Vec<bool> = network.ports.iter().map(|port| port.at_host).collect();
        Outcome {
            stop,
            end: Time(network.now),
            counts: network.counts,
            ledger,
            ports,
            pauses: std::mem::take(&mut network.recorder.pauses),
            drops: std::mem::take(&mut network.recorder.drops),
            links: std::mem::take(&mut network.recorder.links),
            deadlocks: std::mem::take(&mut network.detector.records),
            storms: network.watchdog.take().map_or_else(Vec::new, |watchdog| watchdog.records),
            isolations: std::mem::take(&mut network.isolations),
            waits: std::mem::take(&mut network.recorder.waits),
            cut_off,
            queues: std::mem::take(&mut network.recorder.queues),
            rates: std::mem::take(&mut network.recorder.rates),
            pairs: network.hypervisors.as_ref().map_or_else(Vec::new, |all| all.records()),
            pair_samples: std::mem::take(&mut network.recorder.pairs),
            hypervisors: network.hypervisors.as_ref().map_or_else(HypervisorCounts::default, |all| all.counts),
            histograms: network.recorder.take_histograms(|port| at_host[port]),
            fingerprint: network.recorder.prints.as_ref().map(|prints| prints.digest()),
            flows: network.flow_records,
        }
    }
}

impl Network {
    /// Ledger with packets in queues and on wires.
    fn close_ledger(&self) -> Ledger {
        let mut ledger = self.ledger;
        let mut add = |packet: &Packet| {
            if packet.kind != Kind::Lost {
                ledger.in_flight[usize::from(packet.prio)] += u64::from(packet.size);
            }
        };
        let lists = self.queues.iter().map(|queue| queue.head).chain(self.ports.iter().map(|port| port.flight_head));
        for mut id in lists {
            while id != NONE {
                let packet = &self.pool[id];
                add(packet);
                id = packet.next;
            }
        }
        self.ranked.iter().flat_map(RankedQueue::packets).for_each(|id| add(&self.pool[id]));
        ledger
    }

    /// Checks that ingress queues hold exactly the bytes of their packets queued at the switch.
    fn buffers_balance(&self) -> bool {
        if self.config.storage != Storage::Shared {
            return true;
        }
        let mut held = vec![0u64; self.ingress.len()];
        for port in (0..self.ports.len() as u32).filter(|&port| self.shares_buffer(port)) {
            for priority in 1..8 {
                let mut id = self.queues[self.at(port, priority)].head;
                while id != NONE {
                    let packet = &self.pool[id];
                    held[self.at(packet.in_port, packet.in_prio)] += u64::from(packet.size);
                    id = packet.next;
                }
            }
        }
        self.ingress.iter().zip(held).all(|(ingress, held)| u64::from(ingress.bytes + ingress.headroom) == held)
    }

    fn shares_buffer(&self, port: u32) -> bool {
        let port = &self.ports[port as usize];
        !port.at_host && !port.at_server
    }

    /// Ports and priorities with traffic, drops or pauses.
    fn port_records(&self) -> Vec<PortRecord> {
        let mut records = Vec::new();
        for port in 0..self.ports.len() as u32 {
            for priority in 0..8 {
                let at = self.at(port, priority);
                let (queue, ingress, recorder) = (&self.queues[at], &self.ingress[at], &self.recorder);
                let record = PortRecord {
                    port: PortId(port),
                    priority,
                    tx_bytes: queue.tx_bytes,
                    tx_packets: queue.tx_packets,
                    marks: recorder.marks[at],
                    drops: recorder.drops_at[at],
                    lost: recorder.lost_at[at],
                    peak_queue: queue.peak.into(),
                    peak_ingress: ingress.peak.into(),
                    peak_headroom: ingress.peak_headroom.into(),
                    xoff_sent: ingress.xoffs.into(),
                    xon_sent: (ingress.xoffs - u32::from(ingress.paused) - recorder.unresumed[at]).into(),
                    xoff_received: recorder.xoffs_received[at],
                    paused: recorder.paused[at],
                };
                let lost = record.drops + record.lost;
                if record.tx_packets > 0 || lost > 0 || record.xoff_sent > 0 || record.xoff_received > 0 {
                    records.push(record);
                }
            }
        }
        records
    }
}
