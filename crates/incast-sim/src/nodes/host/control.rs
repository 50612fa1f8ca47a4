use super::params::HostParams;
use crate::congestion::{Controller, FlowContext, State, WindowMode};
use crate::plan::ControlState;

/// Congestion control of a pair, with its last answers.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Controlled {
    pub(super) last_size: u64,
    pub(super) rate: u64,
    pub(super) window: u64,
    pub(super) own_window: u64,
    mode: WindowMode,
    pub(super) moves_next_send: bool,
    pub(super) cc: State,
}

impl Controlled {
    pub(super) fn new(setup: &ControlState, context: &FlowContext, hops: u8) -> Self {
        let mut cc = setup.control.start(context);
        cc.on_path(hops);
        Self {
            last_size: 0,
            rate: 0,
            window: 0,
            own_window: 0,
            mode: setup.window,
            moves_next_send: setup.moves_next_send,
            cc,
        }
    }

    /// Returns the change of the gap behind the last packet.
    #[inline]
    pub(super) fn adopt<const RUN: u8>(
        &mut self,
        params: &HostParams,
        context: &FlowContext,
        (rate, own_window): (u64, u64),
    ) -> i64 {
        let window = match self.mode {
            WindowMode::Off => params.in_flight,
            WindowMode::Fixed => context.bdp,
            WindowMode::Rate => (u128::from(context.bdp) * u128::from(rate) / u128::from(context.line.0)) as u64,
        };
        let shift = if self.moves_next_send && rate != self.rate && self.last_size > 0 {
            params.pacing_gap::<RUN>(self.last_size, rate) as i64
                - params.pacing_gap::<RUN>(self.last_size, self.rate) as i64
        } else {
            0
        };
        let answered = match params.rdma.ack_every {
            1 => 1,
            packets => u64::from(packets) * context.mtu,
        };
        self.rate = rate;
        self.own_window = own_window;
        self.window = window.min(own_window).max(answered);
        shift
    }
}
