//! End of a run: records of all nodes.

use std::collections::HashSet;

use incast_model::fabric::PortId;
use incast_model::units::Time;

use super::Nodes;
use super::guards::records_in_order;
use super::lane::Lane;
use super::packet::Packet;
use super::partition::Node;
use crate::deadlock::deadlock;
use crate::kernel::{FlowId, Kind};
use crate::measure::{QueueHistogram, Waits};
use crate::outcome::{Counts, FlowRecord, IsolationRecord, Ledger, Outcome, PortRecord, Stop, Threads};
use crate::progress::Halt;

/// Most unfinished flows in a list.
const NAMED: usize = 100;

impl Nodes {
    pub(super) fn outcome(mut self, halt: Halt) -> Outcome {
        let now = Time(self.books.now);
        let mut detector = std::mem::take(&mut self.books.detector);
        detector.look(&self, now);
        debug_assert!(
            self.partitions.switches().all(|switch| switch.balances()),
            "a counter has other bytes than its packets"
        );
        let (flows, late) = self.flow_records();
        let mut acked_by_end: Vec<_> = self.partitions.hosts().flat_map(|host| host.acked_by_end()).collect();
        acked_by_end.sort_unstable();
        let waits = self.close_waits();
        self.books.recorder.finish(now);
        let (pairs, hypervisors) = self.pair_records();
        let (stop, cut_off, ports) = (self.explain(halt, &flows, late), self.cut_off(), self.port_records());
        let (ledger, isolations) = (self.close_ledger(), self.isolation_records());
        self.note_peak();
        let recorder = self.books.recorder;
        let counts = Counts { peak_packets: self.books.peak_packets, ..self.partitions.counts() };
        let fingerprint = self.partitions.fingerprint();
        let (sequential, (count, others_cpu)) = (self.partitions.sequential(), self.partitions.end_threads());
        let histograms = self.partitions.into_switches().flat_map(|switch| {
            let ports = switch.ports.into_iter().map(|port| port.number);
            ports.zip(switch.lengths.close(now.0)).map(|(port, time_in_bin)| QueueHistogram { port, time_in_bin })
        });
        let mut histograms: Vec<QueueHistogram> = histograms.collect();
        histograms.sort_by_key(|histogram| histogram.port);
        Outcome {
            stop,
            end: now,
            counts,
            ledger,
            flows,
            acked_by_end,
            ports,
            pauses: recorder.pauses,
            drops: recorder.drops,
            links: recorder.links,
            deadlocks: detector.records,
            storms: self.books.storms,
            isolations,
            waits,
            cut_off,
            queues: recorder.queues,
            rates: recorder.rates,
            pairs,
            pair_samples: recorder.pairs,
            hypervisors,
            histograms,
            fingerprint,
            threads: Threads { count, others_cpu, sequential },
        }
    }

    /// `late`: flows that ended at their sender, with packets in flight.
    fn explain(&self, halt: Halt, flows: &[FlowRecord], late: u32) -> Stop {
        let unfinished = (self.books.gates.flows - self.partitions.progress().done) as u32 + late;
        match halt {
            Halt::Finished => Stop::Finished,
            Halt::Budget => Stop::Budget { unfinished },
            Halt::Interrupted => Stop::Interrupted { unfinished },
            Halt::Horizon | Halt::Idle => match deadlock(self) {
                Some(cycle) => Stop::Deadlock { cycle, unfinished },
                // Its last packets did not arrive.
                None if unfinished == 0 => Stop::Finished,
                None if halt == Halt::Horizon => Stop::Horizon { unfinished },
                None => Stop::Stalled { flows: unfinished_flows(flows), unfinished },
            },
        }
    }

    /// With the number of flows that ended at their sender, with packets in flight.
    fn flow_records(&self) -> (Vec<FlowRecord>, u32) {
        let mut records = self.network.records.clone();
        for flow in self.network.flow_ids() {
            records[flow].cancelled = self.books.gates.is_cancelled(flow);
        }
        self.partitions.hosts().for_each(|host| host.flows.record(&mut records));
        self.partitions.hosts().for_each(|host| host.record_received(&self.layout, &mut records));
        let (transports, mut late) = (&self.network.hosts.transports.of_flows, 0);
        let in_flight = if transports.receivers_count() { self.flows_in_flight() } else { HashSet::new() };
        for flow in self.network.flow_ids().filter(|&flow| !transports.acknowledges(flow)) {
            // A flow with an `end` has ended at that time.
            if self.network.flow(flow).until.is_none() {
                let record = &mut records[flow];
                let is_late = in_flight.contains(&flow);
                if record.finish.is_some() && record.delivered.is_none() {
                    record.partial = !is_late;
                    late += u32::from(is_late);
                }
                record.finish = record.delivered;
            }
        }
        (records.into_iter().collect(), late)
    }

    /// With data in queues, limiters or on wires.
    fn flows_in_flight(&self) -> HashSet<FlowId> {
        let held_back = self.partitions.hosts().flat_map(|host| host.limited_packets());
        let data = self.packets().chain(held_back).filter(|packet| packet.kind == Kind::Segment);
        data.map(|packet| packet.flow).collect()
    }

    /// In queues and on wires.
    fn packets(&self) -> impl Iterator<Item = &Packet> {
        let wires = self.partitions.iter().flat_map(|partition| &partition.out.wires);
        let on_wires = wires.flat_map(|wire| wire.packets()).map(|(_, packet)| packet);
        let queued = self.partitions.switches().flat_map(|switch| switch.packets());
        let at_hosts = self.partitions.hosts().flat_map(|host| host.packets());
        on_wires.filter(|packet| packet.kind != Kind::Lost).chain(queued).chain(at_hosts)
    }

    /// With open waits and pauses; empty if not measured.
    fn close_waits(&mut self) -> Vec<Waits> {
        if !self.network.measure.blocking {
            return Vec::new();
        }
        let mut all = vec![Waits::default(); self.network.flows.flows.len()];
        let now = self.books.now;
        self.partitions.for_each_switch(|switch, _| switch.close_waits(&self.network, now, &mut all));
        self.partitions.for_each_host(|host, _| host.close_waits(&self.network, now, &mut all));
        all
    }

    fn isolation_records(&self) -> Vec<IsolationRecord> {
        let switches = self.partitions.switches().filter_map(|switch| switch.isolation_table());
        records_in_order(switches.chain(self.partitions.hosts().filter_map(|host| host.isolation_table())))
    }

    /// With packets in queues and on wires.
    fn close_ledger(&self) -> Ledger {
        let mut ledger = Ledger::default();
        self.partitions.iter().for_each(|partition| ledger.add(&partition.out.ledger));
        for Packet { prio, size, .. } in self.packets() {
            ledger.in_flight[usize::from(*prio)] += u64::from(*size);
        }
        ledger
    }

    /// With traffic, drops, pauses, or bytes that waited: priorities can differ between a packet's arrival and its departure, or its
    /// queue may never be served.
    fn port_records(&self) -> Vec<PortRecord> {
        let all =
            self.network.ports.ids().flat_map(|port| (0..8).map(move |priority| self.port_record(port, priority)));
        all.filter(|record| {
            let PortRecord { tx_packets, drops, lost, peak_queue, peak_ingress, xoff_sent, xoff_received, .. } =
                *record;
            [tx_packets, drops, lost, peak_queue, peak_ingress, xoff_sent, xoff_received].iter().any(|&count| count > 0)
        })
        .collect()
    }

    fn port_record(&self, port: PortId, priority: u8) -> PortRecord {
        let (Lane { queue, ingress }, marks) = match self.node_of(port) {
            (Node::Switch(switch), local) => switch.ports[local].lane_and_marks(priority),
            (Node::Host(host), local) => (host.lane(local, priority), 0),
        };
        let (at, recorder) = (self.network.at(port, priority), &self.books.recorder);
        PortRecord {
            port,
            priority,
            tx_bytes: queue.tx_bytes,
            tx_packets: queue.tx_packets,
            marks,
            drops: recorder.drops_at[at],
            lost: recorder.lost_at[at],
            peak_queue: queue.peak.into(),
            peak_ingress: ingress.peak.into(),
            peak_headroom: ingress.peak_headroom.into(),
            xoff_sent: ingress.xoffs.into(),
            xon_sent: (ingress.xoffs - u32::from(ingress.paused) - recorder.unresumed[at]).into(),
            xoff_received: recorder.xoffs_received[at],
            paused: recorder.paused[at],
        }
    }
}

/// Only started ones: others wait and are not the cause.
fn unfinished_flows(flows: &[FlowRecord]) -> Vec<u32> {
    let unfinished = |record: &FlowRecord| record.start.is_some() && record.finish.is_none();
    let numbered = (0u32..).zip(flows);
    numbered.filter(|(_, record)| unfinished(record)).map(|(flow, _)| flow).take(NAMED).collect()
}
