//! What is compared: a congestion control and what goes with it.

use incast_sim::congestion::{Control, WindowMode};
use incast_sim::host::{PacketParams, RdmaParams};
use incast_sim::network::NetworkParams;
use incast_sim::switch::{EcnParams, SwitchParams};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Patch, profiles};

/// One of the things compared: a congestion control, and parameters that differ from the scenario's under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// The congestion control: its name, or its name with parameters.
    #[schemars(schema_with = "profiles::control_schema")]
    pub control: Control,
    /// How bytes in flight are limited. Default: what the control is meant to be used with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowMode>,
    /// Controls of the flows with these tags, where they are not the scheme's.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(schema_with = "profiles::controls_schema")]
    pub control_by_tag: IndexMap<String, Control>,
    /// Windows of the flows with these tags. Default: what their control is meant to be used with; where they have the
    /// scheme's control, the scheme's window.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub window_by_tag: IndexMap<String, WindowMode>,
    /// Load balancing, routes and failures that differ from the scenario's.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub network: Patch<NetworkParams>,
    /// Parameters of the switch that differ from the scenario's.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub switch: Patch<SwitchParams>,
    /// Parameters of ECN marking that differ from the scenario's. Default: as the scheme's control wants them.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub ecn: Patch<EcnParams>,
    /// Packet sizes that differ from the scenario's.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    #[schemars(schema_with = "profiles::packets_schema")]
    pub packets: Patch<PacketParams>,
    /// Parameters of the host that differ from the scenario's.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub rdma: Patch<RdmaParams>,
}

impl Scheme {
    /// A scheme of a control alone.
    pub fn new(control: Control) -> Self {
        Self {
            window: None,
            control_by_tag: IndexMap::new(),
            window_by_tag: IndexMap::new(),
            network: Patch::default(),
            switch: Patch::default(),
            ecn: Patch::default(),
            packets: Patch::default(),
            rdma: Patch::default(),
            control,
        }
    }

    /// The window in use by flows without one of their own.
    pub fn window(&self) -> WindowMode {
        self.window.unwrap_or(self.control.default_window())
    }
}
