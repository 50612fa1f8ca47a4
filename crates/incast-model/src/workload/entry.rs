//! What every pattern has at hand while it makes flows: its entry's common fields, the fabric, and the checks they
//! share.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::arrivals::Window;
use super::error::WorkloadError;
use super::hosts::HostSet;
use super::members::Members;
use super::offer::Offer;
use crate::echo::is_control;
use crate::fabric::{HostId, NodeId};
use crate::flow::{Flow, FlowSet, Gate};
use crate::gates::never_start;
use crate::memory::{Memory, amount};
use crate::rng::{Stream, stream};
use crate::units::{Bytes, Time};

/// A way of making flows. To add one: a file with its parameters and this trait, a field, its default and its name in
/// `spec.rs`, and a line in `describe.rs`.
pub(super) trait Pattern {
    /// Checks the parameters against the fabric and adds the flows to `out`.
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), WorkloadError>;

    /// Mean size of the flows where they are drawn to offer a load, if that is known.
    fn mean_size(&self, _base_dir: &Path) -> Option<f64> {
        None
    }

    /// Expected traffic of a pattern with a rate or a load; `None` for others.
    fn offer(&self, _entry: &Entry<'_>) -> Result<Option<Offer>, WorkloadError> {
        Ok(None)
    }
}

/// One workload entry on its way to flows.
pub(super) struct Entry<'a> {
    /// Path of the pattern, such as `workload[1].poisson`.
    pub(super) path: String,
    /// The hosts that the pattern sees, by numbers from 0.
    pub(super) members: Members<'a>,
    /// Folder that relative paths start at.
    pub(super) base_dir: &'a Path,
    /// End of the simulation, if set.
    pub(super) horizon: Option<Time>,
    /// Start of the entry.
    pub(super) start: Time,
    /// No flow of the entry starts by the clock, and none of its rounds begins, at or after it, if set.
    pub(super) end: Option<Time>,
    /// Traffic class of its flows.
    pub(super) priority: u8,
    /// Queue pairs over which its messages are split.
    pub(super) qps: u16,
    /// Its label: the one given, or the pattern's name.
    pub(super) label: u16,
    /// Whether the label is given.
    pub(super) labelled: bool,
    /// Seed of the run.
    pub(super) seed: u64,
    /// Name of its random streams: no other entry has it.
    pub(super) stream: String,
    /// Memory that the flows of earlier entries leave.
    pub(super) memory: Memory,
}

impl Entry<'_> {
    /// Path of a field of the pattern.
    pub(super) fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// `name` holds `value`, which is none of what is `allowed`.
    pub(super) fn refuse(
        &self,
        name: &str,
        value: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> WorkloadError {
        WorkloadError::field(self.field(name), value, allowed)
    }

    /// The random stream of one actor for one purpose of this entry.
    pub(super) fn stream(&self, purpose: &str, actor: u64) -> Stream {
        stream(self.seed, &format!("workload/{}/{purpose}", self.stream), actor)
    }

    /// Number of hosts that the pattern sees.
    pub(super) fn host_count(&self) -> u32 {
        self.members.count()
    }

    /// The hosts of an optional set; all of them if it is not given.
    pub(super) fn hosts(&self, set: Option<&HostSet>) -> Result<Vec<HostId>, WorkloadError> {
        self.members.select(set, &self.field("hosts"))
    }

    /// The same, where fewer than two make no sense.
    pub(super) fn pairs_of(&self, set: Option<&HostSet>) -> Result<Vec<HostId>, WorkloadError> {
        let hosts = self.hosts(set)?;
        if hosts.len() < 2 {
            return Err(self.refuse("hosts", format!("{} host(s)", hosts.len()), "at least 2 hosts"));
        }
        Ok(hosts)
    }

    /// Whether a field names a host that the pattern sees.
    pub(super) fn host(&self, name: &str, host: u32) -> Result<HostId, WorkloadError> {
        if host < self.host_count() {
            return Ok(HostId(host));
        }
        Err(self.refuse(name, host, self.members.numbers()))
    }

    /// Rate of a host's links to the network, in bit/s.
    pub(super) fn capacity(&self, host: HostId) -> f64 {
        self.members.capacity(host)
    }

    /// Refuses loads that are no load at all.
    pub(super) fn load(&self, load: f64) -> Result<f64, WorkloadError> {
        if load.is_finite() && load > 0.0 {
            return Ok(load);
        }
        Err(self.refuse("load", load, "a fraction of the link rate, more than 0, such as 0.3"))
    }

    /// The time in which a pattern that lasts `duration`, but not beyond the entry's end, makes flows.
    pub(super) fn window(&self, duration: Option<Time>) -> Result<Window, WorkloadError> {
        const ALLOWED: &str = "a time of more than 0, such as \"10ms\"";
        let end = match (duration, self.end) {
            (None, None) => return Err(self.refuse("duration", "(not set)", format!("{ALLOWED}, or the entry's end"))),
            (None, Some(end)) => end,
            (Some(Time::ZERO), _) => return Err(self.refuse("duration", Time::ZERO, ALLOWED)),
            (Some(duration), end) => self.after("duration", duration)?.min(end.unwrap_or(Time::MAX)),
        };
        Ok(Window { start: self.start, end })
    }

    /// `offset` after the entry's start.
    pub(super) fn after(&self, name: &str, offset: Time) -> Result<Time, WorkloadError> {
        let sum = self.start.0.checked_add(offset.0).map(Time);
        sum.ok_or_else(|| self.refuse(name, offset, format!("at most {}", Time::MAX.saturating_sub(self.start))))
    }

    /// Refuses a field that asks for more flows and gates than can be numbered, or than the memory holds, before any of them is
    /// made.
    pub(super) fn expect(
        &self,
        name: &str,
        value: impl std::fmt::Display,
        flows: f64,
        gates: f64,
    ) -> Result<(), WorkloadError> {
        if flows > f64::from(MAX_FLOWS) {
            let allowed = format!("small enough for {MAX_FLOWS} flows; this asks for about {flows:.3e}");
            return Err(self.refuse(name, value, allowed));
        }
        let needed = flows * FLOW_BYTES as f64 + gates * GATE_BYTES as f64;
        if needed > self.memory.bytes as f64 {
            return Err(self.refuse(name, value, too_many_flows(flows, needed, self.memory)));
        }
        Ok(())
    }

    /// A flow with the entry's common fields.
    pub(super) fn flow(&self, src: HostId, dst: HostId, size: u64, start: Time) -> Flow {
        Flow {
            src,
            dst,
            size: Bytes(size),
            start,
            priority: self.priority,
            label: self.label,
            sport: UNASSIGNED,
            dport: DPORT,
            path: None,
            until: None,
        }
    }
}

/// Source port of a flow that gets its own when all flows are known. Nobody can send from port 0 (RFC 6335, sec. 6).
pub(super) const UNASSIGNED: u16 = 0;

/// Destination port where none is given, as in the HPCC authors' traffic generator.
const DPORT: u16 = 100;

/// Flows that a message becomes: none is empty.
fn parts(message: &Flow, qps: u16) -> u64 {
    u64::from(qps).min(message.size.0)
}

/// Flows are numbered with 32 bits.
const MAX_FLOWS: u32 = u32::MAX;

/// Bytes that a flow takes at least while flows are made: itself and its place in the order of starts. Measured: 70 in order, 94 not.
pub(super) const FLOW_BYTES: u64 = 70;

/// Bytes that a gate takes at least: itself and its two lists of flows. Measured: 135.
pub(super) const GATE_BYTES: u64 = 130;

/// What is allowed where flows do not fit the memory.
fn too_many_flows(flows: f64, needed: f64, memory: Memory) -> String {
    format!("few enough flows for the memory: about {flows:.3e} take at least {}; {memory}", amount(needed))
}

/// Whether a name can be a label: it must survive a CSV file without quotes.
pub(super) fn is_label(name: &str) -> bool {
    !name.is_empty() && name == name.trim() && !name.contains(|c: char| is_control(c) || c == ',' || c == '"')
}

/// What [`is_label`] allows, for messages.
pub(super) const LABEL_RULE: &str = "a name without commas, quotes, control characters, or blanks at its ends";

/// The messages made so far. Those of an entry with several queue pairs become several flows at the end.
#[derive(Default)]
pub(super) struct Collector {
    /// Its flows are messages.
    set: FlowSet,
    labels: HashMap<String, u16>,
    /// From which message on there are how many queue pairs.
    qps: Vec<(u32, u16)>,
    /// Flows that the messages become.
    flows: u64,
    /// Bytes that flows and gates take at least.
    bytes: u64,
    /// Memory for all of them.
    memory: Option<Memory>,
    /// Path of the entry whose messages come now.
    path: String,
}

impl Collector {
    /// Of flows that fit a memory.
    pub(super) fn within(memory: Memory) -> Self {
        Self { memory: Some(memory), ..Self::default() }
    }

    /// The memory that is left.
    pub(super) fn left(&self) -> Memory {
        let memory = self.memory.unwrap_or(Memory::UNLIMITED);
        Memory { bytes: memory.bytes.saturating_sub(self.bytes), ..memory }
    }

    /// Begins the messages of an entry, which are split over its queue pairs.
    pub(super) fn begin(&mut self, entry: &Entry<'_>) {
        self.qps.push((self.set.flows.len() as u32, entry.qps));
        self.path.clone_from(&entry.path);
    }

    /// Adds a message; its number is good for gates until [`Collector::finish`].
    pub(super) fn push(&mut self, flow: Flow) -> Result<u32, WorkloadError> {
        let qps = self.qps.last().map_or(1, |last| last.1);
        let parts = parts(&flow, qps);
        self.flows += parts;
        self.bytes += parts * FLOW_BYTES;
        if self.flows > u64::from(MAX_FLOWS) {
            let allowed = format!("at most {MAX_FLOWS} flows in all entries");
            return Err(WorkloadError::field(&self.path, "more flows", allowed));
        }
        if let Some(memory) = self.memory.filter(|memory| self.bytes > memory.bytes) {
            let allowed = too_many_flows(self.flows as f64, self.bytes as f64, memory);
            return Err(WorkloadError::field(&self.path, "more flows", allowed));
        }
        self.set.flows.push(flow);
        Ok(self.set.flows.len() as u32 - 1)
    }

    /// Adds a gate over messages added before.
    pub(super) fn gate(&mut self, gate: Gate) {
        self.bytes += GATE_BYTES + 4 * (gate.waits_for.len() + gate.starts.len()) as u64;
        self.set.gates.push(gate);
    }

    /// How many flows and gates there are.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.set.flows.len(), self.set.gates.len())
    }

    /// A new round of an entry that ends, if it does.
    pub(super) fn round(&mut self, entry: &Entry<'_>) -> Option<u32> {
        self.set.rounds.push(entry.end?);
        Some(self.set.rounds.len() as u32 - 1)
    }

    /// Adds the gates of flows that were added from number `first` on, and are counted from there. Each begins a round.
    pub(super) fn gates_from(&mut self, first: u32, gates: Vec<Gate>, entry: &Entry<'_>) {
        for mut gate in gates {
            gate.waits_for.iter_mut().chain(&mut gate.starts).for_each(|flow| *flow += first);
            gate.round = self.round(entry);
            self.gate(gate);
        }
    }

    /// Leaves out those flows from number `first.0` on, and what waits for them behind gates from number `first.1` on, whose
    /// own start is at `end` or later. No gate before those may know any of these flows.
    pub(super) fn cut(&mut self, first: (usize, usize), end: Time) {
        let late = (0..).zip(&self.set.flows).map(|(number, flow)| number >= first.0 && flow.start >= end).collect();
        let gates = self.set.gates.split_off(first.1);
        let out = never_start(&gates, |_| false, late);
        let mut kept = 0;
        let mut place = Vec::with_capacity(out.len());
        for &out in &out {
            place.push(kept);
            kept += u32::from(!out);
        }
        for mut gate in gates {
            gate.starts.retain(|&flow| !out[flow as usize]);
            if !gate.starts.is_empty() {
                gate.waits_for.iter_mut().chain(&mut gate.starts).for_each(|flow| *flow = place[*flow as usize]);
                self.set.gates.push(gate);
            }
        }
        let mut out = out.into_iter();
        self.set.flows.retain(|_| out.next() == Some(false));
    }

    /// Puts flows from number `first` on, whose ends have the numbers that the pattern sees, on the fabric's hosts.
    pub(super) fn place(&mut self, first: usize, members: Members<'_>) {
        for flow in &mut self.set.flows[first..] {
            (flow.src, flow.dst) = (members.host(flow.src), members.host(flow.dst));
        }
    }

    /// The number of a label, new or not; `None` when there are too many.
    pub(super) fn label(&mut self, name: &str) -> Option<u16> {
        if let Some(&label) = self.labels.get(name) {
            return Some(label);
        }
        let label = u16::try_from(self.set.labels.len()).ok()?;
        self.set.labels.push(name.to_owned());
        self.labels.insert(name.to_owned(), label);
        Some(label)
    }

    /// The name of a label.
    pub(super) fn label_name(&self, label: u16) -> &str {
        &self.set.labels[usize::from(label)]
    }

    /// Gives a flow added before another label.
    pub(super) fn relabel(&mut self, flow: u32, label: u16) {
        self.set.flows[flow as usize].label = label;
    }

    /// The number of an explicit path.
    pub(super) fn path(&mut self, path: Vec<NodeId>) -> u32 {
        self.set.paths.push(path);
        self.set.paths.len() as u32 - 1
    }

    /// All of them in order of start, with the labels that they use.
    pub(super) fn finish(mut self) -> FlowSet {
        let mut used = vec![false; self.set.labels.len()];
        self.set.flows.iter().for_each(|flow| used[usize::from(flow.label)] = true);
        // Where files bring labels of their own, nothing may be left for the entry's.
        let mut kept = 0u32;
        let mut number = Vec::with_capacity(used.len());
        for &used in &used {
            number.push(kept as u16);
            kept += u32::from(used);
        }
        self.set.flows.iter_mut().for_each(|flow| flow.label = number[usize::from(flow.label)]);
        let mut used = used.into_iter();
        self.set.labels.retain(|_| used.next() == Some(true));
        let qps = self.sort();
        if qps.iter().any(|&qps| qps > 1) {
            self.split_messages(&qps);
        }
        self.set
    }

    /// Puts messages in order of start, and tells the gates. Returns the queue pairs of each.
    fn sort(&mut self) -> Vec<u16> {
        let mut order: Vec<u32> = (0..self.set.flows.len() as u32).collect();
        order.sort_by_key(|&flow| self.set.flows[flow as usize].start);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &flow)| place[flow as usize] = at as u32);
        for gate in &mut self.set.gates {
            gate.waits_for.iter_mut().chain(&mut gate.starts).for_each(|flow| *flow = place[*flow as usize]);
        }
        self.set.flows.sort_by_key(|flow| flow.start);
        let qps_of = |message: u32| match self.qps.partition_point(|&(first, _)| first <= message) {
            0 => 1,
            after => self.qps[after - 1].1,
        };
        order.into_iter().map(qps_of).collect()
    }

    /// Makes a flow of each message's every part, and tells the gates.
    fn split_messages(&mut self, qps: &[u16]) {
        let mut flows = Vec::with_capacity(self.flows as usize);
        for (message, &qps) in std::mem::take(&mut self.set.flows).into_iter().zip(qps) {
            self.set.messages.push(flows.len() as u32);
            let (parts, size) = (parts(&message, qps), message.size.0);
            let part = |part| Bytes(size / parts + u64::from(part < size % parts));
            let size = |at| if message.until.is_some() { message.size } else { part(at) };
            flows.extend((0..parts).map(|at| Flow { size: size(at), ..message.clone() }));
        }
        self.set.flows = flows;
        let ranges: Vec<Range<u32>> = self.set.messages().collect();
        let flows_of = |messages: &mut Vec<u32>| {
            *messages = messages.iter().flat_map(|&message| ranges[message as usize].clone()).collect();
        };
        for gate in &mut self.set.gates {
            flows_of(&mut gate.waits_for);
            flows_of(&mut gate.starts);
        }
    }
}
