use incast_model::fabric::{Fabric, NodeId, PortId};
use incast_model::field::FieldError;
use incast_model::units::Rate;

use crate::setup::Params;
use crate::switch::{Alpha, Headroom, PfcMode, QueueParams, most_occupied};

/// Divided buffer of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferPlan {
    /// Bytes for packets that arrive after XOFF, all ports.
    pub headroom: u64,
    /// Reserves set aside: one per port, whatever its priorities (NS3).
    pub reserved: u64,
    /// Bytes shared by ports.
    pub shared: u64,
}

/// PFC thresholds of one port, per lossless priority.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PortPlan {
    /// Port of a switch.
    pub port: PortId,
    /// Bytes for packets that arrive after XOFF.
    pub headroom: u64,
    /// Share of the free buffer; `None` with static thresholds.
    pub alpha: Option<f64>,
    /// XOFF threshold beyond the reserve if only this queue is congested, in bytes.
    pub xoff_one: u64,
    /// XOFF threshold beyond the reserve if all ports and lossless priorities of the switch are congested, in bytes.
    pub xoff_all: u64,
}

impl BufferPlan {
    /// Plan of one switch, all 0 if ports have their own buffers. Fails if nothing is left to share, or less than static
    /// thresholds. `largest`: [`PacketParams::largest`](crate::host::PacketParams::largest).
    pub fn new(fabric: &Fabric, params: &Params, largest: u64, switch: NodeId) -> Result<Self, FieldError> {
        if params.switch.queues != QueueParams::Shared {
            return Ok(Self { headroom: 0, reserved: 0, shared: 0 });
        }
        let lossless = u64::from(params.switch.paused_priorities().count_ones());
        let count = fabric.ports_of(switch).len() as u64;
        // One per port (NS3).
        let times = if params.switch.headroom == Headroom::ThreeDelays { 1 } else { lossless };
        let of_port = |port| headroom(fabric, params, largest, port).saturating_mul(times);
        let headroom = fabric.ports_of(switch).map(of_port).fold(0, u64::saturating_add);
        let reserved = params.switch.reserve.0.saturating_mul(count);
        let set_aside = headroom.saturating_add(reserved);
        let refuse = |field: &str, message: String| Err(FieldError::new(field, message));
        let shared = match params.switch.buffer.0.checked_sub(set_aside) {
            Some(shared) if shared > 0 => shared,
            _ => {
                let message = format!(
                    "{} cannot hold the headroom ({headroom} B) and the reserves ({reserved} B) of the {count} ports of {}; it \
                     must be more than {set_aside} B",
                    params.switch.buffer,
                    fabric.node(switch).name,
                );
                return refuse("switch.buffer", message);
            }
        };
        if let PfcMode::Static { xoff } = params.switch.pfc_mode {
            let promised = xoff.0.saturating_mul(count * lossless);
            if promised > shared {
                let message = format!(
                    "{xoff} for each of {lossless} lossless priorities of the {count} ports of {} is {promised} B, more \
                     than the {shared} B that are shared; at most {}B",
                    fabric.node(switch).name,
                    shared / (count * lossless).max(1)
                );
                return refuse("switch.pfc_mode.static.xoff", message);
            }
        }
        Ok(Self { headroom, reserved, shared })
    }

    /// XOFF threshold in bytes beyond the reserve, with other queues empty.
    pub fn lone_xoff(&self, fabric: &Fabric, params: &Params, rate: Rate) -> u64 {
        // The queue takes alpha times the bytes that it leaves free.
        self.xoff(params, |shared| {
            let alpha = alpha(params, rate, host_rate(fabric));
            alpha / (1.0 + alpha) * shared
        })
    }

    /// Largest XOFF threshold (empty buffer), in bytes beyond the reserve.
    pub fn largest_xoff(&self, fabric: &Fabric, params: &Params, rate: Rate) -> u64 {
        self.xoff(params, |shared| alpha(params, rate, host_rate(fabric)) * shared)
    }

    /// Thresholds of a switch's ports, in order.
    pub fn ports(&self, fabric: &Fabric, params: &Params, largest: u64, switch: NodeId) -> Vec<PortPlan> {
        let alphas: Vec<f64> =
            fabric.ports_of(switch).map(|port| alpha(params, fabric.rate(port), host_rate(fabric))).collect();
        let lossless = f64::from(params.switch.paused_priorities().count_ones());
        // With all at their thresholds, each takes alpha times the bytes that all leave free.
        let free = self.shared as f64 / (1.0 + lossless * alphas.iter().sum::<f64>());
        let of_port = |(port, alpha): (PortId, f64)| PortPlan {
            port,
            headroom: headroom(fabric, params, largest, port),
            alpha: matches!(params.switch.pfc_mode, PfcMode::Dynamic { .. }).then_some(alpha),
            xoff_one: self.lone_xoff(fabric, params, fabric.rate(port)),
            xoff_all: self.xoff(params, |_| alpha * free),
        };
        fabric.ports_of(switch).zip(alphas).map(of_port).collect()
    }

    fn xoff(&self, params: &Params, dynamic: impl FnOnce(f64) -> f64) -> u64 {
        match params.switch.pfc_mode {
            PfcMode::Static { xoff } => xoff.0,
            PfcMode::Dynamic { .. } => dynamic(self.shared as f64) as u64,
        }
    }
}

/// Headroom of a port in bytes, per lossless priority.
pub(crate) fn headroom(fabric: &Fabric, params: &Params, largest: u64, port: PortId) -> u64 {
    let (rate, delay) = (fabric.rate(port), fabric.delay(port));
    match params.switch.headroom {
        Headroom::Bytes(bytes) => bytes.0,
        // NS3 (`third.cc`): rate times whole nanoseconds, to bytes, times 3.
        Headroom::ThreeDelays => (u128::from(rate.0) * u128::from(delay.0 / 1000) / 8 / 1_000_000_000 * 3) as u64,
        Headroom::Sonic(sonic) => sonic.bytes(params.switch.cell, rate, delay),
        Headroom::Computed => {
            // The pause frame and data cross the link once each; packets: trigger, one in transmission at each end; one frame
            // per priority.
            let flight = (u128::from(rate.0) * 2 * u128::from(delay.0)).div_ceil(8_000_000_000_000) as u64;
            let packet = largest + params.packets.gap.0;
            let lossless = params.switch.paused_priorities().count_ones();
            let frames = u64::from(lossless) * (params.packets.pfc.0 + params.packets.gap.0);
            most_occupied(params.switch.cell, &params.packets, flight + 3 * packet + frames)
        }
    }
}

pub(crate) fn alpha(params: &Params, rate: Rate, host_rate: Rate) -> f64 {
    match params.switch.pfc_mode {
        PfcMode::Dynamic { alpha: Alpha::Value(alpha) } => alpha,
        _ => {
            let mut shift = 3;
            let mut at = rate.0;
            while at > host_rate.0 && shift > 0 {
                shift -= 1;
                at /= 2;
            }
            1.0 / f64::from(1 << shift)
        }
    }
}

/// The first host's rate: NS3 uses it for all NICs.
pub(crate) fn host_rate(fabric: &Fabric) -> Rate {
    fabric.rate(fabric.ports_of(fabric.hosts()[0]).next().expect("hosts are plugged in"))
}
