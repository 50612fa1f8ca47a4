use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::hosts::HostSet;
use super::members::Members;
use super::offer::Offer;
use super::window::Window;
use crate::echo::counted;
use crate::entry::EntryError;
use crate::fabric::{HostId, NodeId};
use crate::field::FieldError;
use crate::flow::{Flow, FlowSet, Gate, Iteration, MAX_FLOWS, MAX_TIME, StepFlow};
use crate::gates::never_start;
use crate::memory::{Memory, amount};
use crate::rng::{Stream, stream};
use crate::units::{Bytes, Time};

/// Flow pattern. To add one: its parameters and this trait in a file; field, default and name in `spec.rs`; a line in
/// `describe.rs`.
pub(super) trait Pattern {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError>;

    /// Mean size for a load.
    fn mean_size(&self, _base_dir: &Path) -> Option<f64> {
        None
    }

    fn offer(&self, _entry: &Entry<'_>) -> Result<Option<Offer>, EntryError> {
        Ok(None)
    }

    /// If true, flows can have other labels than the entry's.
    fn has_labels(&self) -> bool {
        false
    }
}

pub(super) struct Entry<'a> {
    /// Such as `workload[1].poisson`.
    pub(super) path: String,
    pub(super) members: Members<'a>,
    pub(super) base_dir: &'a Path,
    pub(super) horizon: Option<Time>,
    pub(super) start: Time,
    /// No clocked flow starts and no round begins from here on.
    pub(super) end: Option<Time>,
    pub(super) priority: u8,
    pub(super) qps: u16,
    pub(super) label: u16,
    pub(super) labelled: bool,
    pub(super) seed: u64,
    pub(super) stream: String,
    pub(super) memory: Memory,
}

impl Entry<'_> {
    pub(super) fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    pub(super) fn refuse(&self, name: &str, value: impl std::fmt::Display, allowed: impl Into<String>) -> EntryError {
        EntryError::field(self.field(name), value, allowed)
    }

    pub(super) fn missing(&self, name: &str, allowed: impl Into<String>) -> EntryError {
        FieldError::new(self.field(name), format!("`{name}` is required")).allowed(allowed).into()
    }

    pub(super) fn stream(&self, purpose: &str, actor: u64) -> Stream {
        stream(self.seed, &format!("workload/{}/{purpose}", self.stream), actor)
    }

    pub(super) fn host_count(&self) -> u32 {
        self.members.count()
    }

    pub(super) fn hosts(&self, set: Option<&HostSet>) -> Result<Vec<HostId>, EntryError> {
        self.members.select(set, &self.field("hosts"))
    }

    pub(super) fn pairs_of(&self, set: Option<&HostSet>) -> Result<Vec<HostId>, EntryError> {
        let hosts = self.hosts(set)?;
        if hosts.len() < 2 {
            return Err(self.refuse("hosts", counted(hosts.len() as u64, "host"), "at least 2 hosts"));
        }
        Ok(hosts)
    }

    pub(super) fn host(&self, name: &str, host: u32) -> Result<HostId, EntryError> {
        if host < self.host_count() {
            return Ok(HostId(host));
        }
        Err(self.refuse(name, host, self.members.numbers()))
    }

    /// In bit/s.
    pub(super) fn capacity(&self, host: HostId) -> f64 {
        self.members.capacity(host)
    }

    pub(super) fn load(&self, load: f64) -> Result<f64, EntryError> {
        if load.is_finite() && load > 0.0 {
            return Ok(load);
        }
        Err(self.refuse("load", load, "a fraction of the link rate, more than 0, such as 0.3"))
    }

    pub(super) fn window(&self, duration: Option<Time>) -> Result<Window, EntryError> {
        const ALLOWED: &str = "a time of more than 0, such as \"10ms\"";
        let end = match (duration, self.end) {
            (None, None) => return Err(self.missing("duration", format!("{ALLOWED}, or the entry's `end`"))),
            (None, Some(end)) => end,
            (Some(Time::ZERO), _) => return Err(self.refuse("duration", Time::ZERO, ALLOWED)),
            (Some(duration), end) => self.after("duration", duration)?.min(end.unwrap_or(Time::MAX)),
        };
        Ok(Window { start: self.start, end })
    }

    pub(super) fn after(&self, name: &str, offset: Time) -> Result<Time, EntryError> {
        let sum = self.start.0.checked_add(offset.0).map(Time);
        sum.ok_or_else(|| self.refuse(name, offset, format!("at most {}", Time::MAX.saturating_sub(self.start))))
    }

    /// Before allocation, refuses more flows and gates than can be numbered or fit the memory.
    pub(super) fn expect(
        &self,
        name: &str,
        value: impl std::fmt::Display,
        flows: f64,
        gates: f64,
    ) -> Result<(), EntryError> {
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

/// Until all flows are known. Port 0 is reserved (RFC 6335, sec. 6).
pub(super) const UNASSIGNED: u16 = 0;

/// As in the HPCC authors' traffic generator.
const DPORT: u16 = 100;

/// At least a byte each.
fn parts(message: &Flow, qps: u16) -> u64 {
    u64::from(qps).min(message.size.0)
}

/// Per flow and its place in the start order. Measured: 70 in order, 94 not.
pub(super) const FLOW_BYTES: u64 = 70;

/// Per gate and its two lists. Measured: 135.
pub(super) const GATE_BYTES: u64 = 130;

/// Per iteration of a collective, without its list of flows.
const ITERATION_BYTES: u64 = size_of::<Iteration>() as u64;

fn too_many_flows(flows: f64, needed: f64, memory: Memory) -> String {
    format!("few enough flows for the memory: about {flows:.3e} take at least {}; {memory}", amount(needed))
}

/// Messages; `finish` splits them over queue pairs.
#[derive(Default)]
pub(super) struct Collector {
    set: FlowSet,
    /// Flows of the next iteration.
    steps: Vec<StepFlow>,
    labels: HashMap<String, u16>,
    /// First message and number of queue pairs, per change.
    qps: Vec<(u32, u16)>,
    flows: u64,
    bytes: u64,
    memory: Option<Memory>,
    path: String,
}

impl Collector {
    pub(super) fn within(memory: Memory) -> Self {
        Self { memory: Some(memory), ..Self::default() }
    }

    pub(super) fn left(&self) -> Memory {
        let memory = self.memory.unwrap_or(Memory::UNLIMITED);
        Memory { bytes: memory.bytes.saturating_sub(self.bytes), ..memory }
    }

    pub(super) fn begin(&mut self, entry: &Entry<'_>) {
        self.qps.push((self.set.flows.len() as u32, entry.qps));
        self.path.clone_from(&entry.path);
    }

    /// Gates use the number until [`Collector::finish`].
    pub(super) fn push(&mut self, flow: Flow) -> Result<u32, EntryError> {
        let qps = self.qps.last().map_or(1, |last| last.1);
        let parts = parts(&flow, qps);
        self.flows += parts;
        self.bytes += parts * FLOW_BYTES;
        if self.flows > u64::from(MAX_FLOWS) {
            let allowed = format!("at most {MAX_FLOWS} flows in all entries");
            return Err(EntryError::field(&self.path, "more flows", allowed));
        }
        if let Some(memory) = self.memory.filter(|memory| self.bytes > memory.bytes) {
            let allowed = too_many_flows(self.flows as f64, self.bytes as f64, memory);
            return Err(EntryError::field(&self.path, "more flows", allowed));
        }
        self.set.flows.push(flow);
        Ok(self.set.flows.len() as u32 - 1)
    }

    pub(super) fn gate(&mut self, gate: Gate) {
        self.bytes += GATE_BYTES + 4 * (gate.waits_for.len() + gate.starts.len()) as u64;
        self.set.gates.push(gate);
    }

    /// Flows from a number on start while a simulation can last.
    pub(super) fn check_starts(&self, field: &str, first: usize) -> Result<(), EntryError> {
        let late = self.set.flows[first..].iter().find(|flow| flow.start >= MAX_TIME);
        late.map_or(Ok(()), |flow| {
            let allowed = format!("a start before {MAX_TIME:#}: a simulation lasts no longer");
            Err(EntryError::field(field, format!("a flow of {:#} that starts at {:#}", flow.size, flow.start), allowed))
        })
    }

    pub(super) fn counts(&self) -> (usize, usize) {
        (self.set.flows.len(), self.set.gates.len())
    }

    pub(super) fn round(&mut self, entry: &Entry<'_>) -> Option<u32> {
        self.set.rounds.push(entry.end?);
        Some(self.set.rounds.len() as u32 - 1)
    }

    /// Number of the next collective.
    pub(super) fn collective(&self) -> u32 {
        self.set.iterations.last().map_or(0, |last| last.collective + 1)
    }

    /// Adds a flow to the next iteration.
    pub(super) fn step(&mut self, flow: StepFlow) {
        self.steps.push(flow);
    }

    /// Adds an iteration of the flows of its steps.
    pub(super) fn iteration(&mut self, iteration: Iteration) {
        self.bytes += ITERATION_BYTES + (size_of::<StepFlow>() * self.steps.len()) as u64;
        self.set.iterations.push(Iteration { flows: std::mem::take(&mut self.steps), ..iteration });
    }

    /// Adds gates over flows from `first` on, one round each.
    pub(super) fn gates_from(&mut self, first: u32, gates: Vec<Gate>, entry: &Entry<'_>) {
        for mut gate in gates {
            gate.waits_for.iter_mut().chain(&mut gate.starts).for_each(|flow| *flow += first);
            gate.round = self.round(entry);
            self.gate(gate);
        }
    }

    /// Drops flows from `first.0` on that start at `end` or later, and flows that wait for them behind gates from `first.1` on.
    /// Earlier gates must not name them.
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
        for iteration in &mut self.set.iterations {
            iteration.flows.retain(|one| !out[one.flow as usize]);
            iteration.flows.iter_mut().for_each(|one| one.flow = place[one.flow as usize]);
        }
        self.set.iterations.retain(|iteration| !iteration.flows.is_empty());
        let mut out = out.into_iter();
        self.set.flows.retain(|_| out.next() == Some(false));
    }

    pub(super) fn place(&mut self, first: usize, members: Members<'_>) {
        for flow in &mut self.set.flows[first..] {
            (flow.src, flow.dst) = (members.host(flow.src), members.host(flow.dst));
        }
    }

    pub(super) fn label(&mut self, name: &str) -> Option<u16> {
        if let Some(&label) = self.labels.get(name) {
            return Some(label);
        }
        let label = u16::try_from(self.set.labels.len()).ok()?;
        self.set.labels.push(name.to_owned());
        self.labels.insert(name.to_owned(), label);
        Some(label)
    }

    pub(super) fn label_name(&self, label: u16) -> &str {
        &self.set.labels[usize::from(label)]
    }

    pub(super) fn relabel(&mut self, flow: u32, label: u16) {
        self.set.flows[flow as usize].label = label;
    }

    pub(super) fn path(&mut self, path: Vec<NodeId>) -> u32 {
        self.set.paths.push(path);
        self.set.paths.len() as u32 - 1
    }

    /// By start, with the labels in use.
    pub(super) fn finish(mut self) -> FlowSet {
        let mut used = vec![false; self.set.labels.len()];
        self.set.flows.iter().for_each(|flow| used[usize::from(flow.label)] = true);
        // If files bring their own labels, the entry's may be unused.
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

    /// Sorts messages by start and renumbers gates; returns each one's queue pairs.
    fn sort(&mut self) -> Vec<u16> {
        let mut order: Vec<u32> = (0..self.set.flows.len() as u32).collect();
        order.sort_by_key(|&flow| self.set.flows[flow as usize].start);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &flow)| place[flow as usize] = at as u32);
        for gate in &mut self.set.gates {
            gate.waits_for.iter_mut().chain(&mut gate.starts).for_each(|flow| *flow = place[*flow as usize]);
        }
        for iteration in &mut self.set.iterations {
            iteration.flows.iter_mut().for_each(|one| one.flow = place[one.flow as usize]);
            iteration.flows.sort_unstable_by_key(|one| one.flow);
        }
        self.set.flows.sort_by_key(|flow| flow.start);
        let qps_of = |message: u32| match self.qps.partition_point(|&(first, _)| first <= message) {
            0 => 1,
            after => self.qps[after - 1].1,
        };
        order.into_iter().map(qps_of).collect()
    }

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
        for iteration in &mut self.set.iterations {
            let parts = |one: &StepFlow| {
                let one = *one;
                ranges[one.flow as usize].clone().map(move |flow| StepFlow { flow, ..one })
            };
            iteration.flows = iteration.flows.iter().flat_map(parts).collect();
        }
    }
}
