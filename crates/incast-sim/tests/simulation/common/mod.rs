mod cuts;
mod drawn;
mod fabrics;
mod report;

use std::env;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

use incast_model::fabric::{Fabric, HostId, NodeId, PortId};
use incast_model::field::FieldError;
use incast_model::flow::{Flow, FlowSet, Gate};
use incast_model::tenant::Tenancy;
use incast_model::units::{Bytes, Time};
use incast_model::workload::{WorkloadSpec, generate};
use incast_sim::congestion::{Control, WindowMode};
use incast_sim::outcome::{Counts, FoundIn, IsolationRecord, Outcome, PortRecord};
use incast_sim::switch::{EcnParams, TagRules};
use incast_sim::transport::Transport;
use incast_sim::{Carrier, ControlSetup, Cut, Params, Setup, Simulation};
use proptest::prelude::*;

pub(crate) use drawn::drawn;
pub(crate) use fabrics::{Cable, chain, dumbbell, leaf_spine, parking_lot, ring, star, testbed, two_switches};
pub(crate) use report::{check, confidence, exact, jain, within};

/// Some runs with fewer events are repeated with the fabric in partitions.
const CUT_AGAIN: u64 = 50_000;
/// End of those runs: windows without events are slow with a partition per node.
const CUT_AGAIN_UNTIL: Time = Time::ms(2);

/// Configuration of a property of random runs: so many in `make test-long`, which sets `INCAST_LONG`, else a third.
pub(crate) fn random_runs(most: u32) -> ProptestConfig {
    let cases = if env::var_os("INCAST_LONG").is_some() { most } else { most / 3 };
    ProptestConfig { cases, max_shrink_iters: 3000, failure_persistence: None, ..ProptestConfig::default() }
}

/// By default: no flows, no control; switches mark and pause.
#[derive(Clone)]
pub(crate) struct Bench {
    fabric: Arc<Fabric>,
    flows: FlowSet,
    control: ControlSetup,
    transports: Vec<Transport>,
    carriers: Vec<Carrier>,
    params: Params,
    tenancy: Option<Arc<Tenancy>>,
    tags: Option<Arc<TagRules>>,
}

impl Bench {
    pub(crate) fn new(fabric: Fabric) -> Self {
        let control = Control::named("unlimited", "default").unwrap();
        let flows = FlowSet { labels: vec!["flow".into()], ..FlowSet::default() };
        Self {
            fabric: Arc::new(fabric),
            flows,
            control: ControlSetup { control, window: WindowMode::Off },
            transports: Vec::new(),
            carriers: vec![Carrier::Rdma(0)],
            params: Params::default(),
            tenancy: None,
            tags: None,
        }
    }

    pub(crate) fn tags(mut self, rules: TagRules) -> Self {
        self.tags = Some(Arc::new(rules));
        self
    }

    pub(crate) fn tenants(mut self, tenancy: Tenancy) -> Self {
        self.tenancy = Some(Arc::new(tenancy));
        self
    }

    pub(crate) fn until(mut self, end: Time) -> Self {
        let flow = self.flows.flows.last_mut().expect("a flow");
        (flow.until, flow.size) = (Some(end), Bytes(1 << 40));
        self
    }

    pub(crate) fn control(self, name: &str, profile: &str) -> Self {
        self.controlled(Control::named(name, profile).unwrap())
    }

    pub(crate) fn controlled(mut self, control: Control) -> Self {
        let window = control.default_window();
        self.params.ecn = control.ecn().unwrap_or(self.params.ecn);
        self.control = ControlSetup { control, window };
        self
    }

    pub(crate) fn transport(mut self, transport: Transport) -> Self {
        self.params.switch = transport.switch();
        self.params.ecn = transport.ecn().unwrap_or(EcnParams { enabled: false, ..EcnParams::default() });
        self.transports = vec![transport];
        self.carriers = vec![Carrier::Transport(0)];
        self
    }

    pub(crate) fn then_transport(mut self, transport: Transport) -> Self {
        self.flows.labels.push(transport.name().into());
        self.carriers.push(Carrier::Transport(self.transports.len()));
        self.transports.push(transport);
        self
    }

    pub(crate) fn window(mut self, window: WindowMode) -> Self {
        self.control.window = window;
        self
    }

    pub(crate) fn with(mut self, set: impl FnOnce(&mut Params)) -> Self {
        set(&mut self.params);
        self
    }

    /// Priority 3.
    pub(crate) fn flow(self, src: u32, dst: u32, size: u64, start: Time) -> Self {
        self.flow_of(3, src, dst, size, start)
    }

    pub(crate) fn flow_of(mut self, priority: u8, src: u32, dst: u32, size: u64, start: Time) -> Self {
        let sport = 10_000 + (self.flows.flows.len() % 50_000) as u16;
        self.flows.flows.push(Flow {
            src: HostId(src),
            dst: HostId(dst),
            size: Bytes(size),
            start,
            priority,
            label: self.flows.labels.len() as u16 - 1,
            sport,
            dport: 100,
            path: None,
            until: None,
        });
        self
    }

    pub(crate) fn only_last_flow(mut self) -> Self {
        let last = self.flows.flows.len().saturating_sub(1);
        self.flows.flows.drain(..last);
        self
    }

    /// (source, destination, size, start)
    pub(crate) fn flows(self, flows: impl IntoIterator<Item = (u32, u32, u64, Time)>) -> Self {
        flows.into_iter().fold(self, |bench, (src, dst, size, start)| bench.flow(src, dst, size, start))
    }

    pub(crate) fn workload(mut self, spec: &WorkloadSpec) -> Self {
        let specs = std::slice::from_ref(spec);
        self.flows = generate(specs, &self.fabric, Path::new("."), 1, None).expect("a workload for this fabric");
        self
    }

    /// Path of the last flow, without its hosts.
    pub(crate) fn via(mut self, switches: &[&str]) -> Self {
        let node = |name: &str| {
            let at = self.fabric.nodes().iter().position(|node| node.name == name);
            NodeId(at.expect("a node of this name") as u32)
        };
        let flow = self.flows.flows.last_mut().expect("a flow");
        let mut path = vec![self.fabric.hosts()[flow.src.index()]];
        path.extend(switches.iter().map(|name| node(name)));
        path.push(self.fabric.hosts()[flow.dst.index()]);
        flow.path = Some(self.flows.paths.len() as u32);
        self.flows.paths.push(path);
        self
    }

    pub(crate) fn gate(mut self, waits_for: &[u32], delay: Time, starts: &[u32]) -> Self {
        self.flows.gates.push(Gate { waits_for: waits_for.to_vec(), delay, starts: starts.to_vec(), round: None });
        self
    }

    pub(crate) fn round(mut self, end: Time, gates: Range<usize>) -> Self {
        for gate in &mut self.flows.gates[gates] {
            gate.round = Some(self.flows.rounds.len() as u32);
        }
        self.flows.rounds.push(end);
        self
    }

    pub(crate) fn fabric(&self) -> Arc<Fabric> {
        self.fabric.clone()
    }

    pub(crate) fn sorted(&self) -> FlowSet {
        let mut flows = self.flows.clone();
        let mut order: Vec<u32> = (0..flows.flows.len() as u32).collect();
        order.sort_by_key(|&flow| flows.flows[flow as usize].start);
        let place = |flow: &u32| order.iter().position(|at| at == flow).map_or(*flow, |place| place as u32);
        for gate in &mut flows.gates {
            gate.waits_for.iter_mut().chain(&mut gate.starts).for_each(|flow| *flow = place(flow));
        }
        flows.flows.sort_by_key(|flow| flow.start);
        flows
    }

    pub(crate) fn setup_error(&self) -> Option<FieldError> {
        self.setup().checked().and_then(Simulation::new).err()
    }

    pub(crate) fn simulation(&self) -> Simulation {
        self.setup().checked().and_then(Simulation::new).expect("a setup that can be run")
    }

    /// Checks for a quarter of short runs that the outcome is the same if the fabric is cut.
    pub(crate) fn run(&self) -> Outcome {
        let outcome = self.simulation().run(&mut |_| ControlFlow::Continue(()));
        if outcome.counts.events < CUT_AGAIN && outcome.end < CUT_AGAIN_UNTIL {
            cuts::same(&outcome, |change| change(self.simulation()).run(&mut |_| ControlFlow::Continue(())));
        }
        outcome
    }

    pub(crate) fn run_on(&self, cut: Cut, threads: usize) -> Outcome {
        self.simulation().cut(cut, threads).run(&mut |_| ControlFlow::Continue(()))
    }

    pub(crate) fn run_event_by_event(&self) -> Outcome {
        self.simulation().run_event_by_event(&mut |_| ControlFlow::Continue(()))
    }

    pub(crate) fn refused(&self) -> String {
        self.setup().checked().and_then(Simulation::new).expect_err("a setup that cannot be run").to_string()
    }

    fn setup(&self) -> Setup {
        Setup {
            fabric: self.fabric.clone(),
            flows: Arc::new(self.sorted()),
            controls: vec![self.control.clone()],
            transports: self.transports.clone(),
            carriers: self.carriers.iter().copied().cycle().take(self.flows.labels.len()).collect(),
            params: self.params.clone(),
            tenancy: self.tenancy.clone(),
            tags: self.tags.clone(),
        }
    }
}

pub(crate) fn port(fabric: &Fabric, from: &str, to: &str) -> PortId {
    let node = |name: &str| fabric.nodes().iter().position(|node| node.name == name).expect("a node of this name");
    let (from, to) = (NodeId(node(from) as u32), NodeId(node(to) as u32));
    fabric.ports_of(from).find(|&port| fabric.neighbour(port) == to).expect("a link")
}

pub(crate) fn record(outcome: &Outcome, port: PortId, priority: u8) -> PortRecord {
    let found = outcome.ports.iter().find(|record| record.port == port && record.priority == priority);
    *found.expect("a port that saw traffic")
}

pub(crate) fn fct(outcome: &Outcome, flow: usize) -> Time {
    outcome.flows[flow].fct().expect("a completed flow")
}

/// Windows over nodes give the run of the global event order: to the end, and to a horizon at `cut` / 300.
pub(crate) fn same_event_by_event(bench: Bench, cut: u64) -> Result<(), TestCaseError> {
    let bench = bench.with(|params| params.measure.fingerprint = true);
    let (outcome, other) = (bench.run(), bench.run_event_by_event());
    same(&outcome, &other)?;
    prop_assert_eq!(&outcome.deadlocks, &other.deadlocks);
    prop_assert_eq!(&outcome.queues, &other.queues);
    prop_assert_eq!(&outcome.rates, &other.rates);
    prop_assert_eq!(&outcome.histograms, &other.histograms);
    let early = bench.with(|params| params.horizon = Some(Time(outcome.end.0 * cut / 300)));
    same(&early.run(), &early.run_event_by_event())
}

fn same(outcome: &Outcome, other: &Outcome) -> Result<(), TestCaseError> {
    prop_assert_eq!((&outcome.stop, outcome.end), (&other.stop, other.end));
    prop_assert_eq!(&outcome.waits, &other.waits);
    prop_assert_eq!(&outcome.isolations, &other.isolations);
    prop_assert_eq!((&outcome.pairs, outcome.hypervisors), (&other.pairs, other.hypervisors));
    prop_assert_eq!(&outcome.pair_samples, &other.pair_samples);
    let of = |outcome: &Outcome| digest(outcome).split("}, ").map(str::to_owned).collect::<Vec<_>>();
    let (ours, theirs) = (of(outcome), of(other));
    if let Some((ours, theirs)) = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs) {
        prop_assert_eq!(ours, theirs);
    }
    prop_assert_eq!(ours.len(), theirs.len());
    Ok(())
}

/// Without time series and histograms.
pub(crate) fn digest(outcome: &Outcome) -> String {
    let Outcome { stop, end, counts, ledger, flows, ports, pauses, drops, links, storms, isolations, cut_off, .. } =
        outcome;
    // They depend on the event loop.
    let counts = Counts { events: 0, peak_packets: 0, ..*counts };
    // Pauses have roots only where queueing delays are measured.
    let found = |record: &IsolationRecord| record.found.map(|found| FoundIn { root: None, ..found });
    let isolations: Vec<_> = isolations.iter().map(|one| IsolationRecord { found: found(one), ..*one }).collect();
    let traffic = outcome.fingerprint.map(|fingerprint| fingerprint.traffic);
    format!(
        "{stop:?} {end:?} {counts:?} {ledger:?} {flows:?} {ports:?} {pauses:?} {drops:?} {links:?} {storms:?} {isolations:?} \
         {cut_off:?} {traffic:?}"
    )
}
