use incast_model::fabric::{BaseRtts, Fabric, NodeId, NodeKind, PortId};
use incast_model::field::FieldError;
use incast_model::flow::FlowSet;
use incast_model::tenant::Tenancy;
use incast_model::units::{Bytes, Rate, Time};

use super::buffer::{BufferPlan, alpha, headroom, host_rate};
use super::jitter::Jitter;
use super::transports::Transports;
use super::{Config, ControlState, HostConfig, Network, Port, QueueConfig, Routing, SwitchConfig, WHOLE_PACKETS};
use crate::congestion::{Control, FlowContext, IntFormat, Telemetry};
use crate::guards::Tagging;
use crate::guards::isolation::Isolation;
use crate::host::Carrier;
use crate::host::{Gates, NicQueue, Recovery};
use crate::kernel::{IdVec, flag};
use crate::network::{Faults, Resolved};
use crate::outcome::FlowRecord;
use crate::setup::{Arithmetic, Params, Setup};
use crate::switch::{Buffer, EcnPort, Forwarding, Ingress, MarkAt, Pint, QueueParams, Rule, Storage, fixed_alpha};
use crate::tenant::Hypervisors;

fn check(holds: bool, field: &str, message: impl FnOnce() -> String) -> Result<(), FieldError> {
    if holds { Ok(()) } else { Err(FieldError::new(field, message())) }
}

impl Network {
    pub(crate) fn new(setup: Setup) -> Result<Self, FieldError> {
        let Setup { fabric, flows, controls, transports, carriers, tenancy, tags, params } = setup;
        let ns3 = params.arithmetic == Arithmetic::Ns3;
        let telemetry = controls.iter().any(|setup| setup.control.telemetry().is_written_by_switches());
        let needs_int = controls.iter().any(|setup| setup.control.telemetry() == Telemetry::Int);
        let ports = fabric.ports().len();
        let rates = rate_table(&fabric)?;
        let resolved = params.network.resolve(&fabric, params.seed)?;
        let given = resolved.fixed_at(Time::ZERO);
        let routes = params.network.with_fixed(&fabric, &given);
        let choice = (params.network.hash, &params.network.load_balancing);
        let routing = Routing::new(&fabric, &flows, routes, choice, params.seed)?;
        let longest = longest_serialisation(&fabric, &params, needs_int);
        let config = config(&params, ns3, &fabric, mixed(&carriers, &flows), telemetry);
        let (base_rtt, bdp) = BaseRtts::new(&fabric, params.packets.payload).max();
        let mut network = Self {
            controls: controls
                .into_iter()
                .map(|setup| ControlState {
                    flags: match setup.control.telemetry() {
                        Telemetry::None => 0,
                        Telemetry::Timestamp => flag::STAMP,
                        Telemetry::Pint => flag::PINT,
                        Telemetry::Int => flag::INT,
                    },
                    moves_next_send: setup.control.moves_next_send(),
                    window: setup.window,
                    control: setup.control,
                })
                .collect(),
            slot_bits: slot_bits(&fabric, &params, longest),
            ports: IdVec::new(),
            ingress: vec![Ingress::default(); 8 * ports],
            buffers: vec![None; fabric.nodes().len()],
            tagging: tags
                .filter(|_| params.switch.tagging.enabled)
                .map(|rules| Box::new(Tagging::new(rules, &params.switch.tagging, &params.switch.lossless))),
            isolation: None,
            switch: params.switch.clone(),
            rule: Rule::new(&params.switch.scheduler, is_ranked(&params)),
            ecn: fabric.ports().iter().map(|port| EcnPort::new(&params.ecn, fabric.link(port.link).rate)).collect(),
            pint: None,
            routing,
            jitter: Jitter::new(params.host.jitter.0, ports, params.seed, |port| {
                let (from, to) = (fabric.ports()[port].node, fabric.neighbour(PortId(port as u32)));
                let server = |node| fabric.servers().contains(&node);
                let to_switch = fabric.node(to).kind == NodeKind::Switch;
                fabric.node(from).kind == NodeKind::Host || server(from) && to_switch
            }),
            faults: None,
            base_rtt: params.rdma.base_rtt.unwrap_or(base_rtt),
            bdp: params.rdma.window.unwrap_or(bdp).0.min(config.host.in_flight),
            config,
            transports: Transports::default(),
            hypervisors: None,
            gates: Gates::new(&flows),
            end: flows
                .flows
                .iter()
                .filter_map(|flow| flow.until)
                .max()
                .map(|end| end.min(params.horizon.unwrap_or(end))),
            records: vec![FlowRecord::default(); flows.flows.len()],
            measure: params.measure.clone(),
            rates,
            carriers,
            flows,
            fabric,
        };
        network.add_ports(&params);
        network.config.plain_wires = network.has_plain_wires();
        network.add_buffers(&params)?;
        network.add_isolation(&params);
        network.add_pint()?;
        network.add_transports(transports);
        network.add_hypervisors(tenancy.as_deref(), &params);
        network.find_ideals(&params)?;
        network.add_faults(resolved, &params)?;
        Ok(network)
    }

    fn add_faults(&mut self, resolved: Resolved, params: &Params) -> Result<(), FieldError> {
        let timed = resolved.fixed.iter().any(|one| one.from > Time::ZERO || one.until.is_some());
        if !resolved.outages.is_empty() || !resolved.holds.is_empty() || timed {
            let size = (self.fabric.links().len(), self.ports.len());
            let network = &params.network;
            let rule = (network.routing, network.next_hop_order);
            let faults = Faults::new(resolved, network.reroute_after, rule, params.seed, size);
            self.check_detours(&faults, params.packets.int_records)?;
            self.faults = Some(Box::new(faults));
        }
        Ok(())
    }

    fn add_buffers(&mut self, params: &Params) -> Result<(), FieldError> {
        let fabric = self.fabric.clone();
        let (host_rate, largest) = (host_rate(&fabric), params.packets.largest(&self.carriers));
        let nodes = (0u32..).map(NodeId).zip(fabric.nodes());
        for (id, _) in nodes.filter(|(_, node)| node.kind == NodeKind::Switch) {
            for port in fabric.ports_of(id) {
                let each = headroom(&fabric, params, largest, port);
                let alpha = fixed_alpha(alpha(params, fabric.rate(port), host_rate));
                for prio in 0..8 {
                    let at = self.at(port, prio);
                    let headroom_limit = if self.config.queues.lossless & 1 << prio != 0 { each as u32 } else { 0 };
                    self.ingress[at] = Ingress { headroom_limit, alpha, ..Ingress::default() };
                }
            }
            let plan = BufferPlan::new(&fabric, params, largest, id)?;
            self.buffers[id.index()] = Some(match self.config.queues.storage {
                Storage::Shared => Buffer::new(plan.shared as i64, &params.switch),
                Storage::Own(_) | Storage::Ranked(_) => Buffer::unused(),
            });
        }
        Ok(())
    }

    fn add_hypervisors(&mut self, tenancy: Option<&Tenancy>, params: &Params) {
        let (Some(hypervisor), Some(tenancy)) = (&params.hypervisor, tenancy) else { return };
        let packet = self.config.packets.mss.0 + self.config.packets.segment_header.0 + self.config.packets.gap.0;
        let all = Hypervisors::new(hypervisor, tenancy, &self.fabric, &self.flows, packet, params.seed);
        self.hypervisors = Some(Box::new(all));
    }

    fn has_plain_wires(&self) -> bool {
        let whole = self.ports.iter().all(|port| port.ps_per_byte != 0);
        whole && !self.config.ns3 && self.config.packets.gap.0 == 0 && self.jitter.is_none()
    }

    fn add_isolation(&mut self, params: &Params) {
        if params.switch.isolation.enabled {
            let rates: Vec<u64> = self.ports.iter().map(|port| self.rates[usize::from(port.rate)]).collect();
            let isolation = Isolation::new(
                params.switch.isolation,
                params.switch.paused_priorities(),
                &rates,
                &self.fabric,
                params.seed,
            );
            self.isolation = Some(Box::new(isolation));
        }
    }

    fn add_ports(&mut self, params: &Params) {
        let cut = match params.switch.forwarding {
            Forwarding::StoreAndForward => WHOLE_PACKETS,
            Forwarding::CutThrough | Forwarding::CutThroughUnderrun => params.switch.cut_through_header.0 as u16,
        };
        let fabric = self.fabric.clone();
        let is_host = |port: PortId| fabric.node(fabric.port(port).node).kind == NodeKind::Host;
        for (index, port) in fabric.ports().iter().enumerate() {
            let id = PortId(index as u32);
            let rate = fabric.rate(id);
            self.ports.push(Port {
                delay: fabric.delay(id).0,
                ps_per_byte: rate.ps_per_byte().and_then(|ps| u32::try_from(ps).ok()).unwrap_or(0),
                peer: port.peer,
                rate: self.rates.iter().position(|&known| known == rate.0).expect("the table has every rate") as u8,
                at_host: is_host(id),
                at_server: fabric.servers().contains(&port.node),
                cut: if is_host(port.peer) { WHOLE_PACKETS } else { cut },
            });
        }
    }

    /// PINT controls share one base.
    fn add_pint(&mut self) -> Result<(), FieldError> {
        let mut bases = self.controls.iter().filter_map(|state| match &state.control {
            Control::HpccPint(params) => Some(params.log_base),
            _ => None,
        });
        let Some(base) = bases.next() else { return Ok(()) };
        check(bases.all(|other| other == base), "control.hpcc_pint.log_base", || {
            "controls of one run have different bases; switches write in one".into()
        })?;
        let (rtt, tick) = (self.rtt_ticks(), if self.config.ns3 { 1000 } else { 1 });
        self.pint = Some(Box::new(Pint::new(self.ports.len(), base, rtt, tick, self.config.ns3)));
        Ok(())
    }

    pub(crate) fn context(&self, port: PortId) -> FlowContext {
        let packets = &self.config.packets;
        let state = &self.ports[port];
        let ack_age = self.wire_time(port, packets.ack.0.max(packets.min_ack.0)) + state.delay;
        FlowContext {
            line: Rate(self.rates[usize::from(state.rate)]),
            base_rtt: self.base_rtt,
            bdp: self.bdp,
            mtu: packets.payload.0,
            tick: if self.config.ns3 { 1e-9 } else { 1e-12 },
            rtt_ticks: self.rtt_ticks(),
            int: self.config.switch.int,
            ack_age: if self.config.ns3 { Time(ack_age) } else { Time::ZERO },
        }
    }

    const fn rtt_ticks(&self) -> u64 {
        if self.config.ns3 { self.base_rtt.0 / 1000 } else { self.base_rtt.0 }
    }
}

fn config(params: &Params, ns3: bool, fabric: &Fabric, mixed: bool, telemetry: bool) -> Config {
    let nic = host_rate(fabric);
    Config {
        ns3,
        seed: params.seed,
        packets: params.packets,
        queues: queues(params),
        switch: SwitchConfig {
            mark_at_enqueue: params.ecn.mark_at == MarkAt::Enqueue,
            ttl: params.network.ttl,
            underrun: params.switch.forwarding == Forwarding::CutThroughUnderrun,
            telemetry,
            int: if ns3 {
                IntFormat::Quantised { multi: ((nic.0 / 25_000_000_000) as u32).max(1) }
            } else {
                IntFormat::Exact
            },
        },
        host: host(params, fabric),
        mixed,
        plain_wires: false,
    }
}

fn queues(params: &Params) -> QueueConfig {
    let storage = Storage::new(&params.switch.queues);
    QueueConfig {
        lossless: params.switch.paused_priorities(),
        storage,
        host_storage: match params.host.nic_queue {
            NicQueue::Unlimited => storage.without_limit(),
            NicQueue::Port => storage,
        },
        server: params.server_queue.0.min(u64::from(u32::MAX)) as u32,
        ranked: is_ranked(params),
        port_rank: is_ranked(params).into(),
    }
}

fn host(params: &Params, fabric: &Fabric) -> HostConfig {
    let selective = params.rdma.recovery == Recovery::SelectiveRepeat;
    let payload = params.packets.payload;
    let bdp = if selective { BaseRtts::new(fabric, payload).max().1 } else { Bytes::ZERO };
    HostConfig {
        rdma: params.rdma.clone(),
        demotion: params.host.classes.demotion(),
        elephants: params.host.classes.elephants,
        in_flight: if selective && params.rdma.bdp_bound { bdp.0 } else { u64::MAX },
        selective,
        reorder_window: params.rdma.reorder_packets(&params.network.load_balancing, bdp, payload).into(),
    }
}

const fn is_ranked(params: &Params) -> bool {
    matches!(params.switch.queues, QueueParams::Pfabric { .. })
}

fn mixed(carriers: &[Carrier], flows: &FlowSet) -> bool {
    let mut rdma = flows.flows.iter().map(|flow| matches!(carriers[usize::from(flow.label)], Carrier::Rdma(_)));
    let first = rdma.next();
    rdma.any(|one| Some(one) != first)
}

fn longest_serialisation(fabric: &Fabric, params: &Params, needs_int: bool) -> Time {
    let packets = &params.packets;
    let telemetry = if needs_int { packets.telemetry_bytes(Telemetry::Int) } else { 0 };
    let data = packets.data_header.0 + packets.payload.0 + telemetry;
    let size = data.max(packets.segment_header.0 + packets.mss.0) + packets.gap.0;
    fabric.links().iter().map(|link| link.rate.time_for(size) + link.delay).max().unwrap_or_default()
}

fn rate_table(fabric: &Fabric) -> Result<Vec<u64>, FieldError> {
    let mut rates: Vec<u64> = fabric.links().iter().map(|link| link.rate.0).collect();
    rates.sort_unstable();
    rates.dedup();
    check(rates.len() <= 256, "fabric", || {
        format!("links have {} different rates, at most 256 are possible", rates.len())
    })?;
    Ok(rates)
}

/// A power of two in ps: a few events per slot at half load; the longest link fits.
fn slot_bits(fabric: &Fabric, params: &Params, longest: Time) -> u32 {
    let packets_per_ps: f64 =
        fabric.links().iter().map(|link| 2.0 * link.rate.0 as f64 / (8e12 * params.packets.payload.0 as f64)).sum();
    let wanted = libm::log2(4.0 / packets_per_ps).round().clamp(8.0, 20.0) as u32;
    let needed = libm::log2(longest.0 as f64 * 1.5 / 8192.0).ceil().max(0.0) as u32;
    wanted.max(needed)
}
