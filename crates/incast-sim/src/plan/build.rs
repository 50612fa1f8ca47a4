use std::sync::Arc;

use incast_model::fabric::{Fabric, NodeKind, PortId};
use incast_model::field::FieldError;
use incast_model::flow::FlowSet;
use incast_model::routing::Routes;
use incast_model::tenant::Tenancy;
use incast_model::units::{Rate, Time};

use super::jitter::Jitter;
use super::{Config, Hosts, Network, Order, Port, Routing, Switches, WHOLE_PACKETS};
use crate::congestion::{FlowContext, Telemetry};
use crate::host::Carrier;
use crate::kernel::IdVec;
use crate::network::Resolved;
use crate::outcome::FlowRecord;
use crate::setup::{Arithmetic, Params, Setup};
use crate::switch::Forwarding;
use crate::tenant::Hypervisors;

impl Network {
    pub(crate) fn new(setup: Setup) -> Result<Self, FieldError> {
        let order = Order::new(&setup);
        let Setup { fabric, flows, controls, transports, carriers, tenancy, tags, params } = setup;
        let telemetry = controls.iter().any(|setup| setup.control.telemetry().is_written_by_switches());
        let needs_int = controls.iter().any(|setup| setup.control.telemetry() == Telemetry::Int);
        let rates = rate_table(&fabric)?;
        let resolved = params.network.resolve(&fabric, params.seed)?;
        let given = resolved.fixed_at(Time::ZERO);
        let routes = params.network.with_fixed(&fabric, &given);
        let choice = (params.network.hash, &params.network.load_balancing);
        let routing = Routing::new(&fabric, &flows, routes, choice, params.seed)?;
        let longest = longest_serialisation(&fabric, &params, needs_int);
        let config = Config::new(&params, &fabric, mixed(&carriers, &flows), telemetry);
        let mut network = Self {
            slot_bits: slot_bits(&fabric, &params, longest),
            ports: IdVec::new(),
            rates,
            switches: Switches::new(&params, &fabric, config.queues.ranked, tags),
            hosts: Hosts::new(controls, carriers, &flows, full_path(&fabric, &params, config.host.in_flight)),
            routing,
            jitter: Jitter::new(params.host.jitter.0, params.seed, &fabric),
            faults: None,
            horizon: params.horizon,
            end: end(&flows, params.horizon),
            records: vec![FlowRecord::default(); flows.flows.len()].into(),
            measure: params.measure.clone(),
            config,
            order,
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
        network.find_ideals(&params, &*starting_routes(&params, &network)?)?;
        network.add_faults(resolved, &params)?;
        Ok(network)
    }

    fn add_faults(&mut self, resolved: Resolved, params: &Params) -> Result<(), FieldError> {
        let timed = resolved.fixed.iter().any(|one| one.from > Time::ZERO || one.until.is_some());
        if !resolved.outages.is_empty() || !resolved.holds.is_empty() || timed {
            let faults = params.network.faults(&self.fabric, resolved, params.seed);
            self.check_detours(&faults, params.packets.int_records)?;
            self.faults = Some(Box::new(faults));
        }
        Ok(())
    }

    fn add_hypervisors(&mut self, tenancy: Option<&Tenancy>, params: &Params) {
        let (Some(hypervisor), Some(tenancy)) = (&params.hypervisor, tenancy) else { return };
        let packet = self.config.packets.mss.0 + self.config.packets.segment_header.0 + self.config.packets.gap.0;
        let mut all = Hypervisors::new(hypervisor, tenancy, &self.fabric, &self.flows, packet, params.seed);
        all.reserve(|flow| self.hosts.transports.of_flows.most(flow));
        self.hosts.hypervisors = Some(Box::new(all));
    }

    fn has_plain_wires(&self) -> bool {
        let whole = self.ports.iter().all(|port| port.ps_per_byte != 0);
        whole && !self.config.ns3 && self.config.packets.gap.0 == 0 && self.jitter.is_none()
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

    pub(crate) fn context(&self, port: PortId) -> FlowContext {
        let packets = &self.config.packets;
        let state = &self.ports[port];
        let ack_age = self.wire_time(port, packets.ack.0.max(packets.min_ack.0)) + state.delay;
        FlowContext {
            line: Rate(self.rates[usize::from(state.rate)]),
            base_rtt: self.hosts.base_rtt,
            bdp: self.hosts.bdp,
            mtu: packets.payload.0,
            tick: if self.config.ns3 { 1e-9 } else { 1e-12 },
            rtt_ticks: self.hosts.rtt_ticks(self.config.ns3),
            int: self.config.switch.int,
            ack_age: if self.config.ns3 { Time(ack_age) } else { Time::ZERO },
        }
    }
}

fn full_path(fabric: &Fabric, params: &Params, in_flight: u64) -> (Time, u64) {
    let payload = params.packets.payload;
    let (base_rtt, bdp) = match params.arithmetic {
        Arithmetic::Exact => params.longest_rtt(fabric, payload),
        Arithmetic::Ns3 => fabric.longest_rtt_of_first_paths(payload),
    };
    (params.rdma.base_rtt.unwrap_or(base_rtt), params.rdma.window.unwrap_or(bdp).0.min(in_flight))
}

/// Around links that are down from the start.
fn starting_routes(params: &Params, network: &Network) -> Result<Arc<Routes>, FieldError> {
    if params.network.failure.is_empty() {
        return Ok(network.routing.routes.clone());
    }
    params.network.starting_routes(&network.fabric, params.seed)
}

fn end(flows: &FlowSet, horizon: Option<Time>) -> Option<Time> {
    let latest = flows.flows.iter().filter_map(|flow| flow.until).max();
    latest.map(|end| end.min(horizon.unwrap_or(end)))
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
    if rates.len() > 256 {
        let message = format!("links have {} different rates, at most 256 are possible", rates.len());
        return Err(FieldError::new("fabric", message));
    }
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
