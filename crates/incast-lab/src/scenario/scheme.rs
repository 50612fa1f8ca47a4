//! Schemes: RDMA congestion control or another transport.

use incast_sim::congestion::{Control, WindowMode};
use incast_sim::host::{HostParams, PacketParams, RdmaParams};
use incast_sim::network::NetworkParams;
use incast_sim::switch::{EcnParams, SwitchParams};
use incast_sim::tenant::Hypervisor;
use incast_sim::transport::Transport;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Patch, profiles};

/// A scheme to compare: a congestion control of RDMA or another transport, and the parameters that differ from the
/// scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// Congestion control of RDMA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "profiles::control_schema")]
    pub control: Option<Control>,
    /// Transport, if not RDMA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "profiles::transport_schema")]
    pub transport: Option<Transport>,
    /// Hypervisor between VMs and the network. Default none: VMs send without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "profiles::hypervisor_schema")]
    pub hypervisor: Option<Hypervisor>,
    /// Limit of RDMA's bytes in flight. Default: the control's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowMode>,
    /// Congestion controls of flows with these labels.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(schema_with = "profiles::controls_schema")]
    pub control_by_label: IndexMap<String, Control>,
    /// Transports of flows with these labels.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(schema_with = "profiles::transports_schema")]
    pub transport_by_label: IndexMap<String, Transport>,
    /// Windows of flows with these labels. Default: the scheme's if they have its control, else the control's own.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub window_by_label: IndexMap<String, WindowMode>,
    /// Network parameters that differ from the scenario.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub network: Patch<NetworkParams>,
    /// Switch parameters that differ from the scenario. Default: those of the scheme's transport.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub switch: Patch<SwitchParams>,
    /// ECN parameters that differ from the scenario. Default: those of the scheme's control or transport.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub ecn: Patch<EcnParams>,
    /// Packet sizes that differ from the scenario.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    #[schemars(schema_with = "profiles::packets_schema")]
    pub packets: Patch<PacketParams>,
    /// Host parameters that differ from the scenario.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub host: Patch<HostParams>,
    /// RDMA parameters that differ from the scenario.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub rdma: Patch<RdmaParams>,
}

impl Scheme {
    /// Scheme of a control.
    pub fn new(control: Control) -> Self {
        Self { control: Some(control), ..Self::empty() }
    }

    /// Scheme of a transport.
    pub fn of_transport(transport: Transport) -> Self {
        Self { transport: Some(transport), ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            control: None,
            transport: None,
            hypervisor: None,
            window: None,
            control_by_label: IndexMap::new(),
            transport_by_label: IndexMap::new(),
            window_by_label: IndexMap::new(),
            network: Patch::default(),
            switch: Patch::default(),
            ecn: Patch::default(),
            packets: Patch::default(),
            host: Patch::default(),
            rdma: Patch::default(),
        }
    }

    /// Window of RDMA flows without their own; `None` with another transport.
    pub fn window(&self) -> Option<WindowMode> {
        let control = self.control.as_ref()?;
        Some(self.window.unwrap_or(control.default_window()))
    }

    /// Name of the control or transport.
    pub fn carrier(&self) -> &'static str {
        let control = self.control.as_ref().map(Control::name);
        control.or(self.transport.as_ref().map(Transport::name)).unwrap_or("nothing")
    }

    /// `None`: the general default.
    pub(crate) fn wanted_ecn(&self) -> Option<EcnParams> {
        if let Some(wanted) = self.hypervisor.as_ref().and_then(Hypervisor::ecn) {
            return Some(wanted);
        }
        match (&self.control, &self.transport) {
            (Some(control), _) => control.ecn(),
            // No marking for transports that ignore marks.
            (None, Some(transport)) => {
                Some(transport.ecn().unwrap_or(EcnParams { enabled: false, ..EcnParams::default() }))
            }
            (None, None) => None,
        }
    }

    pub(crate) fn wanted_switch(&self) -> SwitchParams {
        match (&self.control, &self.transport) {
            (None, Some(transport)) => transport.switch(),
            _ => SwitchParams::default(),
        }
    }
}

pub(crate) fn marking(ecn: &EcnParams) -> String {
    let EcnParams { kmin, kmax, pmax, per_rate, .. } = ecn;
    let marks = match (ecn.enabled, kmin == kmax) {
        (false, _) => return "off".into(),
        (true, true) => format!("Kmin = Kmax = {kmin:#} at {per_rate:#}"),
        (true, false) => format!("Kmin {kmin:#}, Kmax {kmax:#} at {per_rate:#}, Pmax {pmax}"),
    };
    match ecn.by_rate.len() {
        0 => marks,
        1 => format!("{marks}; ports of 1 rate have their own thresholds"),
        rates => format!("{marks}; ports of {rates} rates have their own thresholds"),
    }
}
