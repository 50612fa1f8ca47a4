use incast_model::fabric::{Fabric, NodeId, PortId};
use incast_model::field::FieldError;
use incast_model::units::Rate;

use super::jitter::has_jitter;
use crate::setup::Params;
use crate::switch::{Alpha, Headroom, PfcMode, PortProfile, QueueParams, most_occupied};

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
        let of_port = |port| {
            // Three delays: one per port (NS3).
            let once = params.switch.headroom == Headroom::ThreeDelays && own_headroom(fabric, params, port).is_none();
            headroom(fabric, params, largest, port).saturating_mul(if once { 1 } else { lossless })
        };
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

    /// Headroom of a port in bytes, per lossless priority.
    pub fn headroom_of(fabric: &Fabric, params: &Params, largest: u64, port: PortId) -> u64 {
        headroom(fabric, params, largest, port)
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
    if let Some(bytes) = own_headroom(fabric, params, port) {
        return bytes;
    }
    let (rate, delay) = (fabric.rate(port), fabric.delay(port));
    match params.switch.headroom {
        Headroom::Bytes(bytes) => bytes.0,
        // NS3 (`third.cc`): rate times whole nanoseconds, to bytes, times 3.
        Headroom::ThreeDelays => (u128::from(rate.0) * u128::from(delay.0 / 1000) / 8 / 1_000_000_000 * 3) as u64,
        Headroom::Sonic(sonic) => sonic.bytes(params.switch.cell, rate, delay),
        Headroom::Computed => {
            // The pause frame and data cross the link once each, data of hosts with jitter; packets: trigger, one in transmission
            // at each end; one frame per priority.
            let jitter = if has_jitter(fabric, fabric.port(port).peer) { params.host.jitter.0 } else { 0 };
            let flight = (u128::from(rate.0) * (2 * u128::from(delay.0) + u128::from(jitter)))
                .div_ceil(8_000_000_000_000) as u64;
            let packet = largest + params.packets.gap.0;
            let lossless = params.switch.paused_priorities().count_ones();
            let frames = u64::from(lossless) * (params.packets.pfc.0 + params.packets.gap.0);
            most_occupied(params.switch.cell, &params.packets, flight + 3 * packet + frames)
        }
    }
}

fn own_headroom(fabric: &Fabric, params: &Params, port: PortId) -> Option<u64> {
    let profile = PortProfile::of(&params.switch.by_rate, fabric.rate(port), fabric.delay(port))?;
    profile.headroom.map(|bytes| bytes.0)
}

pub(crate) fn alpha(params: &Params, rate: Rate, host_rate: Rate) -> f64 {
    if let Some(alpha) = PortProfile::alpha_of(&params.switch.by_rate, rate) {
        return alpha;
    }
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

#[cfg(test)]
mod tests {
    use incast_model::fabric::FabricBuilder;
    use incast_model::units::{Bytes, Time};

    use super::*;
    use crate::host::HostParams;
    use crate::switch::SwitchParams;

    #[test]
    fn ports_have_the_headroom_and_alpha_of_their_rate_and_delay() {
        let mut builder = FabricBuilder::new();
        let [near, far] = ["h0", "h1"].map(|name| builder.host(name));
        let [low, high] = ["s0", "s1"].map(|name| builder.switch(name, 1));
        builder.link(near, low, Rate::gbps(100), Time::ns(25));
        builder.link(far, low, Rate::gbps(100), Time::us(1));
        builder.link(low, high, Rate::gbps(400), Time::us(1));
        let fabric = builder.finish().unwrap();
        let profile = |gbps, max_delay, headroom, alpha| PortProfile {
            rate: Rate::gbps(gbps),
            max_delay,
            headroom: Some(Bytes(headroom)),
            alpha,
        };
        let by_rate = vec![profile(100, Some(Time::ns(26)), 1000, Some(1.0)), profile(400, None, 9000, None)];
        let switch = SwitchParams { by_rate, lossless: vec![3, 4], ..SwitchParams::default() };
        let params = Params { switch, ..Params::default() };
        let ports: Vec<PortId> = fabric.ports_of(low).collect();
        let headrooms =
            |params: &Params| ports.iter().map(|&port| headroom(&fabric, params, 1000, port)).collect::<Vec<_>>();
        // 2·100 Gb/s·1 us = 25,000 B, 3 packets and 2 pause frames with their gaps.
        let gap = params.packets.gap.0;
        let computed = 25_000 + 3 * (1000 + gap) + 2 * (params.packets.pfc.0 + gap);
        assert_eq!(headrooms(&params), [1000, computed, 9000]);
        // 1 us of jitter at 100 Gb/s: 12,500 B more arrive after XOFF.
        let host = HostParams { jitter: Time::us(1), ..HostParams::default() };
        assert_eq!(headrooms(&Params { host, ..params.clone() }), [1000, computed + 12_500, 9000]);
        let plan = BufferPlan::new(&fabric, &params, 1000, low).unwrap();
        let alphas: Vec<_> = plan.ports(&fabric, &params, 1000, low).iter().map(|port| port.alpha).collect();
        // By rate: 1/8 at the hosts' rate, doubled twice for 400 Gb/s.
        assert_eq!(alphas, [1.0, 1.0, 0.5].map(Some));
        assert_eq!(plan.headroom, 2 * (1000 + computed + 9000));
        let mut three = params.clone();
        three.switch.headroom = Headroom::ThreeDelays;
        // Three delays count once per port: 3·100 Gb/s·1 us = 37,500 B; own headrooms count for both priorities.
        assert_eq!(BufferPlan::new(&fabric, &three, 1000, low).unwrap().headroom, 37_500 + 2 * (1000 + 9000));
    }
}
