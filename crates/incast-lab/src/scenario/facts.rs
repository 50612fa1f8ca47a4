//! Facts about a scheme that decide whether a parameter has an effect.

use std::cell::OnceCell;

use incast_model::routing::{EcmpHash, Routes};
use incast_model::tenant::{Placement, TenantSpec, VmCount};
use incast_model::units::{Rate, Time};
use incast_sim::balance::Balance;
use incast_sim::congestion::{Control, Input, Telemetry, WindowMode};
use incast_sim::host::{ClassBy, CnpMode, NicQueue, Recovery};
use incast_sim::switch::{Forwarding, Headroom, PortProfile, QueueParams};
use incast_sim::tenant::{Hypervisor, RateParams};
use incast_sim::transport::{TcpParams, Transport};
use incast_sim::{Arithmetic, Carrier, ControlSetup, Params, Setup};

use super::Prepared;

pub(super) type Verdict = Result<(), &'static str>;

#[derive(Debug)]
pub(super) struct Facts<'a> {
    prepared: &'a Prepared,
    setup: &'a Setup,
    /// By label.
    has_flows: Vec<bool>,
    own_window: bool,
    /// Control with the parameter; likewise below.
    pub(super) control: Option<&'a Control>,
    pub(super) transport: Option<&'a Transport>,
    pub(super) entry: Option<usize>,
    pub(super) tenant: Option<usize>,
    several_paths: OnceCell<bool>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(prepared: &'a Prepared, index: usize) -> Self {
        let flows = &prepared.flows;
        let mut has_flows = vec![false; flows.labels.len()];
        flows.flows.iter().for_each(|flow| has_flows[usize::from(flow.label)] = true);
        let scheme = &prepared.scenario.scheme[index];
        let own = |label: &String| {
            let others = scheme.control_by_label.contains_key(label) || scheme.transport_by_label.contains_key(label);
            !others && !scheme.window_by_label.contains_key(label)
        };
        let own_window = flows.labels.iter().zip(&has_flows).any(|(label, has)| *has && own(label));
        let setup = &prepared.schemes[index].setup;
        Self {
            prepared,
            setup,
            has_flows,
            own_window,
            control: None,
            transport: None,
            entry: None,
            tenant: None,
            several_paths: OnceCell::new(),
        }
    }

    pub(super) fn params(&self) -> &Params {
        &self.setup.params
    }

    fn carriers(&self) -> impl Iterator<Item = Carrier> {
        let of_label = self.setup.carriers.iter().zip(&self.has_flows);
        of_label.filter(|(_, has)| **has).map(|(&carrier, _)| carrier)
    }

    fn controls(&self) -> impl Iterator<Item = &ControlSetup> {
        self.carriers().filter_map(|carrier| match carrier {
            Carrier::Rdma(index) => Some(&self.setup.controls[index]),
            Carrier::Transport(_) => None,
        })
    }

    fn transports(&self) -> impl Iterator<Item = &Transport> {
        self.carriers().filter_map(|carrier| match carrier {
            Carrier::Rdma(_) => None,
            Carrier::Transport(index) => Some(&self.setup.transports[index]),
        })
    }

    pub(super) fn uses_transport(&self, transport: &Transport) -> Verdict {
        unless(self.transports().any(|one| one == transport), "no flow of this scheme has this transport")
    }

    pub(super) fn rdma(&self) -> Verdict {
        unless(self.controls().next().is_some(), "no flow uses RDMA")
    }

    pub(super) fn other_transports(&self) -> Verdict {
        unless(self.transports().next().is_some(), "all flows use RDMA")
    }

    /// `host.nic_queue = "port"`: the limit is that of switch ports.
    pub(super) fn nic_queue(&self) -> Verdict {
        self.other_transports()?;
        let params = self.params();
        let endless = params.host.nic_queue == NicQueue::Port && params.switch.queues == QueueParams::Shared;
        unless(
            !endless,
            "switch.queues = \"shared\" has no limit for a port; write `switch.queues.drop-tail.limit = \"150kB\"`",
        )
    }

    pub(super) fn shares_buffers(&self) -> Verdict {
        self.switches()?;
        let shared = self.params().switch.queues == QueueParams::Shared;
        unless(shared, "switch.queues gives every port its own buffer; write `switch.queues = \"shared\"`")
    }

    pub(super) fn cuts_through(&self) -> Verdict {
        self.switches()?;
        let cuts = self.params().switch.forwarding != Forwarding::StoreAndForward;
        unless(cuts, "switch.forwarding is \"store-and-forward\"; write `switch.forwarding = \"cut-through\"`")
    }

    pub(super) fn tcp(&self, holds: fn(&TcpParams) -> bool, otherwise: &'static str) -> Verdict {
        let other = matches!(self.transport, Some(Transport::Tcp(params)) if !holds(params));
        unless(!other, otherwise)
    }

    pub(super) fn rates_found(&self, holds: fn(&RateParams) -> bool, otherwise: &'static str) -> Verdict {
        let rate = self.params().hypervisor.as_ref().and_then(Hypervisor::rate);
        unless(rate.is_none_or(holds), otherwise)
    }

    pub(super) fn measures_timeouts(&self) -> Verdict {
        self.tcp(|tcp| tcp.rto.is_none(), "rto is given: the timeout is constant")
    }

    pub(super) fn uses(&self, control: &Control) -> Verdict {
        unless(self.controls().any(|one| one.control == *control), "no flow of this scheme has this control")
    }

    pub(super) fn switches(&self) -> Verdict {
        unless(self.prepared.fabric.switches().next().is_some(), "the fabric has no switch")
    }

    pub(super) fn pfc_is_on(&self) -> Verdict {
        self.shares_buffers()?;
        unless(self.params().switch.pfc, "switch.pfc is false: every priority is lossy; write `switch.pfc = true`")
    }

    pub(super) fn lossless(&self) -> Verdict {
        self.shares_buffers()?;
        unless(
            !self.params().switch.lossless.is_empty(),
            "switch.lossless is empty: every priority is lossy; write `switch.lossless = [3]`",
        )
    }

    /// `lossless = []` and `pfc = false` say the same.
    pub(super) fn lossless_priorities(&self) -> Verdict {
        if self.params().switch.lossless.is_empty() { self.shares_buffers() } else { self.pfc_is_on() }
    }

    pub(super) fn pauses(&self) -> Verdict {
        self.pfc_is_on()?;
        self.lossless()
    }

    pub(super) fn headroom(&self) -> Verdict {
        // Reserves buffer with or without PFC, as in HPCC's ns-3.
        if self.params().switch.headroom == Headroom::ThreeDelays { self.shares_buffers() } else { self.pauses() }
    }

    pub(super) fn profiles_by_rate(&self) -> Verdict {
        self.pauses()?;
        let profiles = &self.params().switch.by_rate;
        let fabric = &self.prepared.fabric;
        let used = |port| PortProfile::of(profiles, fabric.rate(port), fabric.delay(port)).is_some();
        let mut ports = fabric.switches().flat_map(|switch| fabric.ports_of(switch));
        unless(ports.any(used), "no port has any of these rates and delays")
    }

    /// Priorities of all packets, also after demotion, isolation and tagging.
    fn priorities(&self) -> u8 {
        let rdma = &self.params().rdma;
        let classes = &self.params().host.classes;
        let demoted = if classes.by == ClassBy::Sent { 1 << classes.elephants } else { 0 };
        let isolation = &self.params().switch.isolation;
        let isolated = if isolation.enabled { 1 << isolation.queue } else { 0 };
        let data = self.setup.flows.flows.iter().fold(demoted, |mask, flow| mask | 1u8 << flow.priority);
        let acks = rdma.ack_priority.map_or(data, |priority| 1 << priority);
        let cnps = if self.cnps().is_ok() { 1 << rdma.cnp_priority } else { 0 };
        let own = self.transports().fold(0, |mask, one| mask | one.priorities());
        data | acks | cnps | own | isolated | self.tagged()
    }

    fn tagged(&self) -> u8 {
        let switch = &self.params().switch;
        match &self.setup.tags {
            Some(rules) => {
                switch.lossless.iter().take(rules.tags().into()).fold(0, |mask, prio| mask | 1 << prio)
                    | 1 << switch.tagging.lossy_priority
            }
            None => 0,
        }
    }

    pub(super) fn lossy_traffic(&self) -> Verdict {
        self.shares_buffers()?;
        let lossy = self.priorities() & !self.params().switch.paused_priorities();
        unless(lossy != 0, "all packets have lossless priorities")
    }

    pub(super) fn several_priorities(&self) -> Verdict {
        let ranked = matches!(self.params().switch.queues, QueueParams::Pfabric { .. });
        unless(!ranked, "pFabric queues have their own order")?;
        unless(self.priorities().count_ones() > 1, "all packets have one priority")
    }

    pub(super) fn classes(&self) -> Verdict {
        unless(
            self.params().host.classes.by != ClassBy::Given,
            "host.classes.by is \"given\": flows have the workload's priorities; write `host.classes.by = \"size\"`",
        )
    }

    pub(super) fn own_priority(&self) -> Verdict {
        let given = self.params().host.classes.by == ClassBy::Given;
        unless(given, "host.classes.by sets the priorities of flows")?;
        let entry = self.entry.map(|index| &self.prepared.scenario.workload[index]);
        unless(entry.is_none_or(|entry| entry.ns3.is_none()), "the flow file sets the priority of every flow")
    }

    fn drawn_tenants(&self) -> bool {
        let drawn = |tenant: &TenantSpec| {
            let file = matches!(tenant.placement, Placement::File(_));
            tenant.placement == Placement::Random || (matches!(tenant.vms, VmCount::Uniform(_)) && !file)
        };
        self.prepared.scenario.tenant.iter().any(drawn)
    }

    pub(super) fn guarantees(&self) -> Verdict {
        let some = self.prepared.tenancy.as_ref().is_some_and(|tenancy| tenancy.guarantees());
        unless(some, "no tenant has a guarantee")
    }

    pub(super) fn mappers(&self) -> Verdict {
        let scenario = &self.prepared.scenario;
        let Some(tenant) = self.tenant.and_then(|index| scenario.tenant.get(index)) else { return Ok(()) };
        let tenants = self.prepared.tenancy.as_ref().map_or(&[][..], |tenancy| tenancy.tenants());
        let its = |name: &String| {
            tenants.iter().any(|one| one.group == tenant.name && (one.name == *name || one.group == *name))
        };
        let shuffles = scenario.workload.iter().any(|entry| {
            let open = entry.shuffle.as_ref().is_some_and(|one| one.mappers.is_none() || one.reducers.is_none());
            open && entry.tenant.as_ref().is_some_and(its)
        });
        let placed = tenant.placement == Placement::Unbalanced;
        unless(
            shuffles || placed,
            "its placement is not \"unbalanced\", and no shuffle of this tenant uses its mappers by default",
        )
    }

    pub(super) fn several_paths(&self) -> Verdict {
        let (fabric, network) = (&self.prepared.fabric, &self.params().network);
        let found = self.several_paths.get_or_init(|| {
            let routes = Routes::of(fabric, network.routing, network.next_hop_order);
            let routed = self.prepared.flows.flows.iter().any(|flow| flow.path.is_none());
            let hosts = || (0..fabric.hosts().len() as u32).map(incast_model::fabric::HostId);
            let nodes = (0..fabric.nodes().len() as u32).map(incast_model::fabric::NodeId);
            // Given routes and failures may open longer paths.
            let others = !network.route.is_empty() || !network.failure.is_empty();
            routed && (others || { nodes }.any(|node| hosts().any(|host| routes.next_hops(node, host).len() > 1)))
        });
        unless(*found, "there is only one path between any two hosts")
    }

    pub(super) fn failures(&self) -> Verdict {
        unless(!self.params().network.failure.is_empty(), "network.failure is empty")
    }

    pub(super) fn marks_are_read(&self) -> Verdict {
        self.switches()?;
        // CNP packets take capacity even if no control reads marks.
        let reads = self.controls().any(|one| !one.control.ignores(Input::Marks))
            || self.transports().any(|one| one.ecn().is_some())
            || self.params().hypervisor.as_ref().is_some_and(|one| one.ecn().is_some());
        let rdma = self.controls().next().is_some();
        unless(rdma || reads, "no packet here is ECN-capable, so none is marked")?;
        unless(
            reads || self.params().rdma.cnp == CnpMode::Packet,
            "no control here reads ECN marks; they are only counted",
        )
    }

    pub(super) fn marks(&self) -> Verdict {
        self.marks_are_read()?;
        unless(self.params().ecn.enabled, "ecn.enabled is false; write `ecn.enabled = true`")
    }

    pub(super) fn marked(&self) -> Verdict {
        self.switches()?;
        unless(
            self.params().ecn.enabled,
            "ecn.enabled is false: there is no mark to react to; write `ecn.enabled = true`",
        )
    }

    pub(super) fn cnps(&self) -> Verdict {
        unless(
            self.params().rdma.cnp == CnpMode::Packet,
            "rdma.cnp is \"echo\": marks return in ACKs; write `rdma.cnp = \"packet\"`",
        )?;
        self.marks()
    }

    fn rates(&self) -> impl Iterator<Item = Rate> {
        let fabric = &self.prepared.fabric;
        fabric.switches().flat_map(|switch| fabric.ports_of(switch)).map(|port| fabric.rate(port))
    }

    pub(super) fn scaled_thresholds(&self) -> Verdict {
        self.marks()?;
        let exact = &self.params().ecn.by_rate;
        let scaled = self.rates().any(|rate| exact.iter().all(|one| one.rate != rate));
        unless(scaled, "ecn.by_rate has thresholds for every rate of the fabric")
    }

    pub(super) fn slope(&self) -> Verdict {
        self.scaled_thresholds()?;
        unless(self.params().ecn.kmin < self.params().ecn.kmax, "kmin equals kmax: marking is a step")
    }

    pub(super) fn thresholds_by_rate(&self) -> Verdict {
        self.marks()?;
        let exact = &self.params().ecn.by_rate;
        let used = exact.iter().any(|one| self.rates().any(|rate| rate == one.rate));
        unless(used, "no port has any of these rates")
    }

    pub(super) fn carries(&self, telemetry: Telemetry, otherwise: &'static str) -> Verdict {
        unless(self.controls().any(|one| one.control.telemetry() == telemetry), otherwise)
    }

    pub(super) fn int(&self) -> Verdict {
        self.carries(Telemetry::Int, "no control here uses INT (computed headroom includes it nevertheless)")
    }

    pub(super) fn int_units(&self) -> Verdict {
        self.carries(Telemetry::Int, "no control here uses INT")?;
        match self.params().arithmetic {
            Arithmetic::Ns3 => Ok(()),
            Arithmetic::Exact => Err("only `ns3` arithmetic rounds INT counters"),
        }
    }

    fn acks(&self) -> impl Iterator<Item = u64> {
        let packets = &self.params().packets;
        self.controls().map(|one| packets.ack.0 + packets.telemetry_bytes(one.control.telemetry()))
    }

    pub(super) fn acks_unpadded(&self) -> Verdict {
        let least = self.params().packets.min_ack.0;
        unless(self.acks().any(|ack| ack > least), "ACKs are padded to packets.min_ack, which is at least as large")
    }

    pub(super) fn acks_padded(&self) -> Verdict {
        let least = self.params().packets.min_ack.0;
        unless(self.acks().any(|ack| ack < least), "ACKs are that large without padding")
    }

    pub(super) fn acks_are_paused(&self) -> Verdict {
        self.pauses()?;
        let paused = self.params().switch.paused_priorities();
        let lossless = self.params().rdma.ack_priority.is_none_or(|priority| paused & 1 << priority != 0);
        unless(lossless, "rdma.ack_priority is lossy: ACKs are never paused")
    }

    pub(super) fn recovers(&self, by: Recovery, otherwise: &'static str) -> Verdict {
        unless(self.params().rdma.recovery == by, otherwise)
    }

    pub(super) fn selective(&self) -> Verdict {
        self.recovers(
            Recovery::SelectiveRepeat,
            "go-back-n discards out-of-order packets; write `rdma.recovery = \"selective-repeat\"`",
        )
    }

    pub(super) fn low_timeout(&self) -> Verdict {
        self.selective()?;
        unless(self.params().rdma.rto.is_some(), "rdma.rto is \"none\": timeouts are off; write `rdma.rto = \"4ms\"`")
    }

    pub(super) fn looked_at(&self, input: Input, otherwise: &'static str) -> Verdict {
        unless(self.controls().any(|one| !one.control.ignores(input)), otherwise)
    }

    pub(super) fn windows(&self) -> Verdict {
        if self.controls().any(|one| one.window != WindowMode::Off) {
            return Ok(());
        }
        self.looked_at(Input::Bdp, "no flow here has a window")
    }

    pub(super) fn scheme_window(&self) -> Verdict {
        unless(self.own_window, "every label has its own window or control")
    }

    pub(super) fn samples(&self) -> Verdict {
        unless(
            self.params().measure.sample_every.is_some(),
            "measure.sample_every is \"none\"; write `measure.sample_every = \"10us\"`",
        )
    }

    pub(super) fn histogram(&self) -> Verdict {
        self.switches()?;
        unless(
            self.params().measure.queue_histogram,
            "measure.queue_histogram is false; write `measure.queue_histogram = true`",
        )
    }

    pub(super) fn dcqcn(&self, paper: bool, otherwise: &'static str) -> Verdict {
        use incast_sim::congestion::DcqcnVariant::Paper;
        let other = matches!(self.control, Some(Control::Dcqcn(params)) if (params.variant == Paper) != paper);
        unless(!other, otherwise)
    }

    pub(super) fn random(&self) -> Verdict {
        let written_out = |entry: &incast_model::workload::WorkloadSpec| {
            entry.list.is_some() || entry.trace.is_some() || entry.ns3.is_some()
        };
        let params = self.params();
        let flows = !self.prepared.scenario.workload.iter().all(written_out) || self.drawn_tenants();
        let by_hash = params.network.load_balancing == Balance::Ecmp && params.network.hash == EcmpHash::Murmur3;
        let paths = !by_hash && self.several_paths().is_ok();
        let exact = params.ecn.by_rate.iter().any(|one| one.kmin < one.kmax);
        let drawn = self.slope().is_ok() || (exact && self.thresholds_by_rate().is_ok());
        // With ns-3 arithmetic, marks follow a fixed sequence.
        let marks = drawn && params.arithmetic != Arithmetic::Ns3;
        // Each hypervisor draws a phase.
        let clocks = params.hypervisor.as_ref().is_some_and(|one| !one.periods().is_empty());
        let telemetry = self.controls().any(|one| matches!(one.control, Control::HpccPint(_)));
        let pauses = params.network.pause.iter().any(|pause| pause.random.is_some());
        let changes = params.switch.tagging.change.iter().any(|change| change.within > Time::ZERO);
        let events = pauses || changes || params.switch.isolation.enabled || self.failures().is_ok();
        unless(
            flows || paths || marks || clocks || telemetry || events || params.host.jitter > Time::ZERO,
            "nothing in this scenario is random",
        )
    }
}

pub(super) fn unless(holds: bool, otherwise: &'static str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise) }
}
