use incast_model::units::{Rate, Time};

use super::{Ack, FlowContext, IntFormat};

/// 100 Gb/s, 12 us, exact arithmetic, packets of 1000 B, window of 150 packets.
pub(crate) fn flow() -> FlowContext {
    FlowContext {
        line: Rate::gbps(100),
        base_rtt: Time::us(12),
        bdp: 150_000,
        mtu: 1000,
        tick: 1e-12,
        rtt_ticks: 12_000_000,
        int: IntFormat::Exact,
        ack_age: Time::ZERO,
    }
}

/// Unmarked, without telemetry, at time 0.
pub(crate) fn ack(flow: &FlowContext, seq: u64, next: u64) -> Ack<'_> {
    let (now, rtt) = (Time::ZERO, Time::ZERO);
    Ack { now, seq, next, marked: false, lost: false, rtt, int: &[], pint: 0, draw: None, flow, rates: &[] }
}
