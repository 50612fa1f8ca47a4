use incast_model::flow::FlowSet;
use incast_model::units::Time;

use super::transports::Transports;
use crate::congestion::{Control, Telemetry, WindowMode};
use crate::host::{Carrier, Gates};
use crate::kernel::flag;
use crate::setup::ControlSetup;
use crate::tenant::Hypervisors;

#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) controls: Vec<ControlState>,
    pub(crate) carriers: Vec<Carrier>,
    /// Longest base RTT; bytes in flight that fill it.
    pub(crate) base_rtt: Time,
    pub(crate) bdp: u64,
    pub(crate) transports: Transports,
    pub(crate) hypervisors: Option<Box<Hypervisors>>,
    pub(crate) gates: Gates,
}

#[derive(Debug, Clone)]
pub(crate) struct ControlState {
    pub(crate) control: Control,
    pub(crate) window: WindowMode,
    /// [`flag`] bits of data.
    pub(crate) flags: u8,
    pub(crate) moves_next_send: bool,
}

impl ControlState {
    fn new(setup: ControlSetup) -> Self {
        Self {
            flags: match setup.control.telemetry() {
                Telemetry::None => 0,
                Telemetry::Timestamp => flag::STAMP,
                Telemetry::Pint => flag::PINT,
                Telemetry::Int => flag::INT,
            },
            moves_next_send: setup.control.moves_next_send(),
            window: setup.window,
            control: setup.control,
        }
    }
}

impl Hosts {
    pub(super) fn new(
        controls: Vec<ControlSetup>,
        carriers: Vec<Carrier>,
        flows: &FlowSet,
        (base_rtt, bdp): (Time, u64),
    ) -> Self {
        Self {
            controls: controls.into_iter().map(ControlState::new).collect(),
            carriers,
            base_rtt,
            bdp,
            transports: Transports::default(),
            hypervisors: None,
            gates: Gates::new(flows),
        }
    }

    pub(super) const fn rtt_ticks(&self, ns3: bool) -> u64 {
        if ns3 { self.base_rtt.0 / 1000 } else { self.base_rtt.0 }
    }
}
