//! Buffers of switches, and PFC and ECN thresholds of their ports.

use std::fmt;

use incast_model::echo::grouped;
use incast_model::fabric::{Fabric, NodeId};
use incast_model::units::{Rate, Time};
use incast_sim::switch::{EcnThreshold, QueueParams};
use incast_sim::{BufferPlan, PortPlan};
use serde::Serialize;

use super::sources::{self, Setting};
use crate::scenario::{Prepared, PreparedScheme};
use crate::thresholds::is_physical;

/// Buffers and thresholds of schemes with equal ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BufferShow {
    /// Schemes.
    pub schemes: Vec<String>,
    /// Priorities that PFC pauses.
    pub lossless: Vec<u8>,
    /// Bytes of each port's own buffer; `None` if ports share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_buffer: Option<u64>,
    /// Bytes between an ingress queue's XOFF threshold and its XON.
    pub resume_offset: u64,
    /// Switches with equal ports.
    pub switches: Vec<SwitchShow>,
    /// ECN thresholds by port rate; empty if switches do not mark.
    pub ecn: Vec<EcnThreshold>,
    /// Parameters and their sources.
    pub settings: Vec<Setting>,
}

/// Buffer of switches with equal ports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SwitchShow {
    /// First such switch.
    pub name: String,
    /// Number of such switches.
    pub switches: usize,
    /// Bytes of the whole buffer.
    pub buffer: u64,
    /// Bytes for packets that arrive after XOFF, all ports and lossless priorities.
    pub headroom: u64,
    /// Bytes of reserves, one per port.
    pub reserved: u64,
    /// Bytes that ports share.
    pub shared: u64,
    /// Equal ports.
    pub ports: Vec<PortShow>,
}

/// Equal ports of a switch: thresholds per ingress port and lossless priority.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PortShow {
    /// Rate.
    pub rate: Rate,
    /// Delay of the link.
    pub delay: Time,
    /// Number of such ports.
    pub ports: usize,
    /// Bytes for packets that arrive after XOFF.
    pub headroom: u64,
    /// XOFF threshold beyond the reserve if only this queue is congested, in bytes.
    pub xoff_one: u64,
    /// XOFF threshold beyond the reserve if all ports and lossless priorities of the switch are congested, in bytes.
    pub xoff_all: u64,
    /// XON threshold beyond the reserve if only this queue is congested, in bytes; with 0, an empty queue resumes.
    pub xon_one: u64,
    /// Share of the free buffer; `None` with static thresholds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// SONiC's name for it, log2 alpha; a switch needs an integer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_th: Option<f64>,
}

/// Shows of all schemes, equal ones merged.
pub(super) fn of_schemes(prepared: &Prepared) -> Vec<BufferShow> {
    let mut found: Vec<BufferShow> = Vec::new();
    for scheme in &prepared.schemes {
        let one = of_scheme(prepared, scheme);
        let same = |other: &&mut BufferShow| BufferShow { schemes: Vec::new(), ..(**other).clone() } == one;
        match found.iter_mut().find(same) {
            Some(other) => other.schemes.push(scheme.name.clone()),
            None => found.push(BufferShow { schemes: vec![scheme.name.clone()], ..one }),
        }
    }
    found
}

fn of_scheme(prepared: &Prepared, scheme: &PreparedScheme) -> BufferShow {
    let (fabric, setup) = (&*prepared.fabric, &scheme.setup);
    let (switch, ecn) = (&setup.params.switch, &setup.params.ecn);
    let paused = switch.paused_priorities();
    let mut switches: Vec<SwitchShow> = Vec::new();
    for one in
        fabric.switches().filter(|&node| is_physical(fabric, node)).filter_map(|node| of_switch(fabric, setup, node))
    {
        let same = |other: &&mut SwitchShow| {
            SwitchShow { name: String::new(), switches: 1, ..(**other).clone() }
                == SwitchShow { name: String::new(), ..one.clone() }
        };
        match switches.iter_mut().find(same) {
            Some(other) => other.switches += 1,
            None => switches.push(one),
        }
    }
    let mut rates: Vec<Rate> =
        fabric.switches().flat_map(|node| fabric.ports_of(node)).map(|port| fabric.rate(port)).collect();
    rates.sort_unstable();
    rates.dedup();
    BufferShow {
        schemes: Vec::new(),
        lossless: (0..8).filter(|prio| paused & 1 << prio != 0).collect(),
        port_buffer: switch.queues.limit().map(|limit| limit.0),
        resume_offset: switch.resume_offset.0.max(1),
        switches,
        ecn: if ecn.enabled { rates.into_iter().map(|rate| ecn.at(rate)).collect() } else { Vec::new() },
        settings: sources::settings(prepared, scheme),
    }
}

fn of_switch(fabric: &Fabric, setup: &incast_sim::Setup, node: NodeId) -> Option<SwitchShow> {
    let params = &setup.params;
    if params.switch.queues != QueueParams::Shared {
        return None;
    }
    let largest = params.packets.largest(&setup.carriers);
    let plan = BufferPlan::new(fabric, params, largest, node).ok()?;
    let offset = params.switch.resume_offset.0.max(1);
    let mut ports: Vec<PortShow> = Vec::new();
    for one in plan.ports(fabric, params, largest, node).iter().map(|port| PortShow::new(fabric, port, offset)) {
        match ports.iter_mut().find(|other| PortShow { ports: 1, ..(**other).clone() } == one) {
            Some(other) => other.ports += 1,
            None => ports.push(one),
        }
    }
    Some(SwitchShow {
        name: fabric.node(node).name.clone(),
        switches: 1,
        buffer: params.switch.buffer.0,
        headroom: plan.headroom,
        reserved: plan.reserved,
        shared: plan.shared,
        ports,
    })
}

impl PortShow {
    fn new(fabric: &Fabric, plan: &PortPlan, offset: u64) -> Self {
        Self {
            rate: fabric.rate(plan.port),
            delay: fabric.delay(plan.port),
            ports: 1,
            headroom: plan.headroom,
            xoff_one: plan.xoff_one,
            xoff_all: plan.xoff_all,
            xon_one: plan.xoff_one.saturating_sub(offset),
            alpha: plan.alpha,
            dynamic_th: plan.alpha.map(f64::log2),
        }
    }
}

/// Alpha as switches have it, `1/8` or `2`; others as decimals.
fn share(alpha: f64) -> String {
    let inverse = 1.0 / alpha;
    if alpha < 1.0 && inverse.fract() == 0.0 { format!("1/{inverse}") } else { alpha.to_string() }
}

fn exponent(power: f64) -> String {
    if power.fract() == 0.0 { power.to_string() } else { format!("{power:.2}") }
}

impl BufferShow {
    /// Writes the show of one of `all` schemes or more.
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, all: usize) -> fmt::Result {
        let of = match self.schemes.len() {
            count if count == all => String::new(),
            _ => format!(" of scheme {}", self.schemes.join(", ")),
        };
        if let Some(bytes) = self.port_buffer {
            write!(f, "\nbuffers    {} B at each port{of}, no PFC", grouped(bytes))?;
        } else if self.lossless.is_empty() {
            write!(f, "\nbuffers    shared by ports{of}, no PFC")?;
        } else {
            let priorities: Vec<String> = self.lossless.iter().map(u8::to_string).collect();
            write!(f, "\nbuffers    PFC thresholds{of} in bytes, per port and lossless priority")?;
            write!(f, " ({})", priorities.join(", "))?;
            self.write_ports(f)?;
        }
        for switch in &self.switches {
            let set_aside = switch.headroom + switch.reserved;
            write!(
                f,
                "\n           {}: {} of {} B set aside ({:.1} %): headrooms {}, reserves {}",
                switch.label(),
                grouped(set_aside),
                grouped(switch.buffer),
                set_aside as f64 / switch.buffer as f64 * 100.0,
                grouped(switch.headroom),
                grouped(switch.reserved)
            )?;
        }
        for (index, ecn) in self.ecn.iter().enumerate() {
            let label = if index == 0 { "ECN" } else { "   " };
            write!(f, "\n           {label} at {:#}: Kmin {}, ", ecn.rate, grouped(ecn.kmin.0))?;
            write!(f, "Kmax {} B, Pmax {}", grouped(ecn.kmax.0), ecn.pmax)?;
        }
        sources::write(f, &self.settings)
    }

    fn write_ports(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\n  {:<15} {:<22} {:>8} {:>10} {:>10} {:>10} {:>6} {:>10}",
            "switches", "ports", "headroom", "XOFF one", "XOFF all", "XON one", "alpha", "dynamic_th"
        )?;
        for switch in &self.switches {
            for (index, port) in switch.ports.iter().enumerate() {
                let label = if index == 0 { switch.label() } else { String::new() };
                write!(
                    f,
                    "\n  {label:<15} {:<22} {:>8} {:>10} {:>10} {:>10} {:>6} {:>10}",
                    format!("{} of {:#}, {:#}", port.ports, port.rate, port.delay),
                    grouped(port.headroom),
                    grouped(port.xoff_one),
                    grouped(port.xoff_all),
                    grouped(port.xon_one),
                    port.alpha.map_or_else(|| "-".into(), share),
                    port.dynamic_th.map_or_else(|| "-".into(), exponent),
                )?;
            }
        }
        write!(
            f,
            "\n           XOFF, XON: above the port's reserve; XON = XOFF - {} B\
             \n           one, all: only this queue, or all of the switch, congested",
            grouped(self.resume_offset)
        )
    }
}

impl SwitchShow {
    fn label(&self) -> String {
        if self.switches == 1 { self.name.clone() } else { format!("{} as {}", self.switches, self.name) }
    }
}

#[cfg(test)]
#[path = "buffers_tests.rs"]
mod tests;
