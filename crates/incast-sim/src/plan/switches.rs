use std::sync::Arc;

use incast_model::fabric::{Fabric, NodeId, NodeKind};
use incast_model::field::FieldError;

use super::Network;
use super::buffer::{BufferPlan, alpha, headroom, host_rate};
use crate::congestion::Control;
use crate::guards::isolation::Isolation;
use crate::guards::{TagRules, Tagging};
use crate::setup::Params;
use crate::switch::{Buffer, EcnPort, Ingress, Pint, Rule, Storage, SwitchParams, fixed_alpha};

#[derive(Debug)]
pub(crate) struct Switches {
    pub(crate) params: SwitchParams,
    pub(crate) rule: Rule,
    /// Empty ingress queues, by priority, then port.
    pub(crate) ingress: Vec<Ingress>,
    /// Empty switch buffers.
    pub(crate) buffers: Vec<Option<Buffer>>,
    pub(crate) ecn: Vec<EcnPort>,
    pub(crate) pint: Option<Box<Pint>>,
    pub(crate) tagging: Option<Box<Tagging>>,
    pub(crate) isolation: Option<Box<Isolation>>,
}

impl Switches {
    pub(super) fn new(params: &Params, fabric: &Fabric, ranked: bool, tags: Option<Arc<TagRules>>) -> Self {
        let switch = &params.switch;
        let tags = tags.filter(|_| switch.tagging.enabled);
        Self {
            params: switch.clone(),
            rule: Rule::new(&switch.scheduler, ranked),
            ingress: vec![Ingress::default(); 8 * fabric.ports().len()],
            buffers: vec![None; fabric.nodes().len()],
            ecn: fabric.ports().iter().map(|port| EcnPort::new(&params.ecn, fabric.link(port.link).rate)).collect(),
            pint: None,
            tagging: tags.map(|rules| Box::new(Tagging::new(rules, &switch.tagging, &switch.lossless))),
            isolation: None,
        }
    }
}

impl Network {
    pub(super) fn add_buffers(&mut self, params: &Params) -> Result<(), FieldError> {
        let fabric = self.fabric.clone();
        let (host_rate, largest) = (host_rate(&fabric), params.packets.largest(&self.hosts.carriers));
        let nodes = (0u32..).map(NodeId).zip(fabric.nodes());
        for (id, _) in nodes.filter(|(_, node)| node.kind == NodeKind::Switch) {
            for port in fabric.ports_of(id) {
                let each = headroom(&fabric, params, largest, port);
                let alpha = fixed_alpha(alpha(params, fabric.rate(port), host_rate));
                for prio in 0..8 {
                    let at = self.at(port, prio);
                    let headroom_limit = if self.config.queues.lossless & 1 << prio != 0 { each as u32 } else { 0 };
                    self.switches.ingress[at] = Ingress { headroom_limit, alpha, ..Ingress::default() };
                }
            }
            let plan = BufferPlan::new(&fabric, params, largest, id)?;
            self.switches.buffers[id.index()] = Some(match self.config.queues.storage {
                Storage::Shared => Buffer::new(plan.shared as i64, &params.switch),
                Storage::Own(_) | Storage::Ranked(_) => Buffer::unused(),
            });
        }
        Ok(())
    }

    pub(super) fn add_isolation(&mut self, params: &Params) {
        if params.switch.isolation.enabled {
            let rates: Vec<u64> = self.ports.iter().map(|port| self.rates[usize::from(port.rate)]).collect();
            let isolation = Isolation::new(
                params.switch.isolation,
                params.switch.paused_priorities(),
                &rates,
                &self.fabric,
                params.seed,
            );
            self.switches.isolation = Some(Box::new(isolation));
        }
    }

    /// PINT controls share one base.
    pub(super) fn add_pint(&mut self) -> Result<(), FieldError> {
        let mut bases = self.hosts.controls.iter().filter_map(|state| match &state.control {
            Control::HpccPint(params) => Some(params.log_base),
            _ => None,
        });
        let Some(base) = bases.next() else { return Ok(()) };
        if bases.any(|other| other != base) {
            let message = "controls of one run have different bases; switches write in one";
            return Err(FieldError::new("control.hpcc_pint.log_base", message));
        }
        let (rtt, tick) = (self.hosts.rtt_ticks(self.config.ns3), if self.config.ns3 { 1000 } else { 1 });
        self.switches.pint = Some(Box::new(Pint::new(self.ports.len(), base, rtt, tick, self.config.ns3)));
        Ok(())
    }
}
